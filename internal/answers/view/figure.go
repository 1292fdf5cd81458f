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
	own   bool
	never bool
	doubt float64
}

// Estimate is the median of a metric with its interval, for a row that says of so many trials
// that they count. An end that the sample does not have, because trials timed out, stays open.
func (l *Legend) Estimate(m *metric.Metric, s stats.Summary, trials int) string {
	if s.N+s.Censored == 0 {
		return "n/a"
	}
	text := OrBeyond(s.Median) + l.Mark(s.Doubtful())
	if math.IsNaN(s.Median) && m.AtLeast {
		text = m.Cut()
	}
	text += " " + Interval(s.CILow, s.CIHigh)
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
	if l.doubt > 0 {
		list = append(list, DoubtNote(l.doubt))
	}
	return list
}

// DoubtNote explains the mark of a figure that can be wrong by so many milliseconds.
func DoubtNote(ms float64) string {
	return fmt.Sprintf(Mark+": smaller than what the clocks of the hosts can be wrong by (%s ms)",
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

// tailText is a quantile over operations with its mark and its interval.
func tailText(t *stats.Tail, mark string) string {
	value := console.Number(t.Value) + mark
	if math.IsNaN(t.Value) {
		value = "pending" // the operation that the quantile falls on
	}
	switch {
	case t.N == 0:
		return "none"
	case t.Groups < stats.MinimumGroups:
		return fmt.Sprintf("%s [refused: needs %d trials]", value, max(t.GroupsNeeded(), stats.MinimumGroups))
	case t.Refused():
		return fmt.Sprintf("%s [refused: worth %s, needs n >= %d]", value,
			console.Number(math.Floor(t.Independent)), t.Needed)
	}
	return value + " " + Interval(t.Low, t.High)
}

// TailN is how many operations there are: those that ended, and behind a + those pending.
func TailN(t *stats.Tail) string {
	if t.Censored > 0 {
		return fmt.Sprintf("%d+%d", t.N-t.Censored, t.Censored)
	}
	return strconv.Itoa(t.N)
}

// TailNote says what stands in a table of quantiles over operations.
const TailNote = "quantiles of all operations of the trials together [95 % interval]; design effect: how " +
	"many times as many operations it takes as if they were independent; refused: the operations are worth " +
	"too few independent ones for an interval; pending: it is among those that had not ended with their trial"

// Refusal says why the operations are too few for a quantile, and how many it takes.
func Refusal(t *stats.Tail) string {
	if t.Groups < stats.MinimumGroups {
		return fmt.Sprintf("trials: %d, and it takes %d", t.Groups,
			max(t.GroupsNeeded(), stats.MinimumGroups))
	}
	return fmt.Sprintf("worth %s independent operations, and it takes %d: about %d trials like these",
		console.Number(math.Floor(t.Independent)), t.Needed, t.GroupsNeeded())
}
