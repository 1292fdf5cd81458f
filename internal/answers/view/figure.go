package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// Percent is a change as a percentage with its sign.
func Percent(fraction float64) string {
	switch {
	case math.IsNaN(fraction):
		return "n/a"
	case math.IsInf(fraction, 0):
		return "from 0"
	}
	if math.Abs(fraction) >= 1e13 {
		return fmt.Sprintf("%+.3g%%", fraction*100)
	}
	return fmt.Sprintf("%+.2f%%", 100*fraction)
}

// Change is a change as a percentage, with its interval if there is one.
func Change(change, lo, hi float64) string {
	text := Percent(change)
	if math.IsNaN(lo) && math.IsNaN(hi) {
		return text
	}
	return fmt.Sprintf("%s [%s, %s]", text, Percent(lo), Percent(hi))
}

// Share is a part of a whole as a percentage, without a sign: 5%.
func Share(fraction float64) string { return strconv.FormatFloat(100*fraction, 'f', -1, 64) + "%" }

// P is a probability as statisticians write it.
func P(p float64) string {
	switch {
	case math.IsNaN(p):
		return "n/a"
	case p < 0.001:
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// FigureNote says what the figures of a table are.
func FigureNote(m stats.Method) string {
	if m == stats.Anytime {
		return "median over trials [95 % interval, anytime: it holds whenever a cell stops]"
	}
	return "median over trials [95 % interval]"
}

// BeyondLimit is what stands for a figure that lies among the time-outs: it is known only to be
// beyond what the time limit lets be seen.
const BeyondLimit = "> limit"

// OrBeyond is a figure of a sample some of which timed out: NaN lies among those.
func OrBeyond(v float64) string {
	if math.IsNaN(v) {
		return BeyondLimit
	}
	return console.Number(v)
}

// Interval is one in brackets, whose ends stay open where they are not known; "[n/a]" if none is.
func Interval(lo, hi float64) string {
	end := func(v float64) string {
		if math.IsNaN(v) {
			return "..."
		}
		return console.Number(v)
	}
	if math.IsNaN(lo) && math.IsNaN(hi) {
		return "[n/a]"
	}
	return fmt.Sprintf("[%s, %s]", end(lo), end(hi))
}

// A Legend writes figures, and explains what they turned out to need.
type Legend struct {
	own    bool
	never  bool
	pooled bool
	doubt  float64
}

// Estimate is the figure of a metric with its interval, for a row that says of so many trials
// that they count. An end that the sample does not have, because trials timed out, stays open.
func (l *Legend) Estimate(m *metric.Metric, s stats.Summary, trials int) string {
	if s.N+s.Censored == 0 {
		return "n/a"
	}
	text := OrBeyond(s.Center()) + l.Mark(s.Doubtful())
	if math.IsNaN(s.Center()) && m.AtLeast {
		text = m.Cut()
	}
	if text += " " + Interval(s.CILow, s.CIHigh); m.Kind.Pooled() {
		text += l.seen(m, s)
	}
	switch own := OwnN(s, trials); {
	case own == "":
	case m.Open != "" && s.Censored > 0:
		text += fmt.Sprintf(" %s: %d of %d", m.Cut(), s.Censored, s.N+s.Censored)
		l.never = true
	default:
		l.own = true
		text += " n=" + own
	}
	return text
}

// seen says in how many of the trials the metric is not what it is where nothing happened, unless it
// is in all.
func (l *Legend) seen(m *metric.Metric, s stats.Summary) string {
	l.pooled = true
	if s.Seen == s.N {
		return ""
	}
	below := ""
	if m.Calm() != 0 {
		below = " below " + console.Number(m.Calm())
	}
	lo, hi := s.SeenInterval()
	share := float64(s.Seen) / float64(s.N)
	return fmt.Sprintf("%s in %s [%s, %s]", below, WholePercent(share), WholePercent(lo), WholePercent(hi))
}

// WholePercent is a share as a percentage without decimals, but for what would be 0 % or 100 % and is not.
func WholePercent(share float64) string {
	percent := 100 * share
	if whole := math.Round(percent); whole > 0 && whole < 100 || share == 0 || share == 1 {
		return console.Number(whole) + " %"
	}
	return console.Number(percent) + " %"
}

// Mark is what stands behind a figure that is doubtful by so much, see stats.Summary.
func (l *Legend) Mark(doubt float64) string {
	if doubt == 0 {
		return ""
	}
	l.doubt = max(l.doubt, doubt)
	return Mark
}

// Tail is a quantile over operations with its interval, for a table.
func (l *Legend) Tail(t *stats.Tail) string { return tailText(t, l.Mark(t.Doubtful())) }

// Mark stands behind a figure that is smaller than what clocks can be wrong by.
const Mark = "?"

// Marked is a figure with its mark, or without.
func Marked(v, doubt float64) string {
	return console.Number(v) + new(Legend).Mark(stats.Doubtful(v, doubt))
}

// DoubtIn explains the mark within a sentence; "" if none of its figures has one.
func DoubtIn(doubts ...float64) string {
	if most := slices.Max(doubts); most > 0 {
		return "; " + DoubtNote(most)
	}
	return ""
}

// Notes explain what was written, a line each.
func (l *Legend) Notes() (list []string) {
	if l.own {
		list = append(list, ownNote)
	}
	if l.never {
		list = append(list, neverNote)
	}
	if l.pooled {
		list = append(list, pooledNote)
	}
	if l.doubt > 0 {
		list = append(list, DoubtNote(l.doubt))
	}
	return list
}

// DoubtNote explains the mark of a figure that can be wrong by so many milliseconds.
func DoubtNote(ms float64) string {
	return fmt.Sprintf(Mark+": smaller than the clock error of the hosts (%s ms)",
		console.Number(ms))
}

// OwnN is the n of a figure where it is not that of its row, so many trials: how many of
// them have a value and, where trials timed out, how many more are known only to be larger,
// as 20+10. It is empty where the row says it, and where there is no figure.
func OwnN(s stats.Summary, trials int) string {
	switch {
	case s.Censored > 0:
		return fmt.Sprintf("%d+%d", s.N, s.Censored)
	case s.N > 0 && s.N != trials:
		return strconv.Itoa(s.N)
	}
	return ""
}

// neverNote explains what stands beside a downtime.
const neverNote = "never recovered: the outage had not ended when the trial did; such trials count as " +
	"larger than all others; " + BeyondLimit + ": the median lies among them"

// pooledNote explains what stands for shares, rates, and what need not happen.
const pooledNote = "shares, rates and what need not happen are means over all trials together; " +
	"in A % [B %, C %]: the share of trials in which it happened at all, and its interval"

// ownNote explains what OwnN writes beside a figure.
const ownNote = "n=A beside a figure: it has a value in A trials, not in all n of the row; n=A+B: B more " +
	"timed out, or were beyond the load, and count as larger than all of them; " + BeyondLimit +
	": the median lies among those"

// IntervalText is the interval of a quantile over operations, or why there is none.
func IntervalText(t *stats.Tail) string {
	if t.Refused() {
		return "interval n/a: " + Refusal(t)
	}
	return "95 % interval " + Interval(t.Low, t.High)
}

// tailText is a quantile over operations with its mark and its interval, or why there is none.
func tailText(t *stats.Tail, mark string) string {
	value, interval := tailParts(t, mark)
	if interval != "" {
		return value + " " + interval
	}
	switch {
	case t.N == 0:
		return value
	case t.Groups < stats.MinimumGroups:
		return fmt.Sprintf("%s [refused: needs %d trials]", value, max(t.GroupsNeeded(), stats.MinimumGroups))
	case t.Lopsided():
		return fmt.Sprintf("%s [refused: few trials have most of them]", value)
	}
	return fmt.Sprintf("%s [refused: worth %s, needs n >= %d]", value,
		console.Number(math.Floor(t.Independent)), t.Needed)
}

// TailParts are a quantile over operations and its interval, each for itself; "" if that is refused.
func (l *Legend) TailParts(t *stats.Tail) (value, interval string) {
	return tailParts(t, l.Mark(t.Doubtful()))
}

func tailParts(t *stats.Tail, mark string) (value, interval string) {
	switch value = console.Number(t.Value) + mark; {
	case t.N == 0:
		return "none", ""
	case math.IsNaN(t.Value):
		value = "pending" // the operation that the quantile falls on
	}
	if t.Groups < stats.MinimumGroups || t.Refused() {
		return value, ""
	}
	return value, Interval(t.Low, t.High)
}

// TailN is how many operations there are: those that ended, and behind a + those pending.
func TailN(t *stats.Tail) string {
	if t.Censored > 0 {
		return fmt.Sprintf("%d+%d", t.N-t.Censored, t.Censored)
	}
	return strconv.Itoa(t.N)
}

// TailMeans says what quantiles over operations are, Pending what stands for one that is not known.
const (
	TailMeans = "quantiles of all operations of the trials together [95 % interval]; design effect: how " +
		"many times as many operations are needed as if they were independent"
	Pending = "pending: the quantile falls among those that had not ended with their trial"
)

// TailNote says what stands in a table of quantiles over operations.
const TailNote = TailMeans + "; refused: the operations amount to too few independent ones for an " +
	"interval; " + Pending

// Refusal says why the operations are too few for a quantile, and how many it takes.
func Refusal(t *stats.Tail) string {
	if t.Groups < stats.MinimumGroups {
		return fmt.Sprintf("%d trials, of %d needed", t.Groups,
			max(t.GroupsNeeded(), stats.MinimumGroups))
	}
	if t.Lopsided() {
		return fmt.Sprintf("few of the %d trials have most of the operations: they amount to %s trials "+
			"of equal size", t.Groups, console.Number(math.Floor(t.Alike)))
	}
	return fmt.Sprintf("equivalent to %s independent operations, of %d needed: about %d trials like these",
		console.Number(math.Floor(t.Independent)), t.Needed, t.GroupsNeeded())
}
