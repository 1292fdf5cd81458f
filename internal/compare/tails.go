package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Quantile says whether the figure is a quantile, and so may have an interval.
func (h *Held) Quantile() bool { return stats.FigureNamed(h.Threshold.Stat).P > 0 }

// String says what the figure rests on.
func (h *Held) String() string {
	name := h.Threshold.Stat + " of " + h.Threshold.Metric
	if h.Cell != "" {
		name = h.Cell + ": " + name
	}
	return fmt.Sprintf("%s: %s over %s%s", name, Marked(h.Value, h.Tail.Doubt),
		Resting(&h.Tail, h.Threshold.Stat), doubtIn(stats.Doubtful(h.Value, h.Tail.Doubt)))
}

// MainTails lists the main times that single operations or outages of a problem have, as far
// as all runs recorded them.
func MainTails(p algo.Problem, runs ...*results.Table) []*metric.Metric {
	return Recorded(slices.DeleteFunc(metric.OfOperations(p),
		func(m *metric.Metric) bool { return !m.In(metric.Main) }), runs...)
}

// Recorded are those of metrics that single operations, or outages, of all runs have. Where a
// run has no outages, agreement is what ends a downtime.
func Recorded(of []*metric.Metric, runs ...*results.Table) (out []*metric.Metric) {
	lost := slices.ContainsFunc(of, func(m *metric.Metric) bool { return m.Definition != "" }) &&
		slices.ContainsFunc(runs, func(t *results.Table) bool { return t.HasOutages() != nil })
	for _, m := range of {
		if lost && m == metric.Downtime && !slices.Contains(of, metric.Agreed.Downtime) {
			m = metric.Agreed.Downtime
		}
		if m.OfOperations() && !(lost && m.Definition != "") {
			out = append(out, m)
		}
	}
	return out
}

// Resting says how many operations and trials a figure rests on, with its interval and the
// design effect.
func Resting(t *stats.Tail, stat string) string {
	text := fmt.Sprintf("%d operations in %d trials", t.N, t.Groups)
	if t.Censored > 0 {
		text += fmt.Sprintf(" (%d still pending, taken as longer than all others)", t.Censored)
	}
	if stats.FigureNamed(stat).P > 0 {
		text += ", " + IntervalText(t)
	}
	if !math.IsNaN(t.Effect) {
		text += ", design effect " + console.Number(t.Effect)
	}
	return text
}

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

// overOperations finds the figure of the operations, and says what is wrong with it.
func (h *Held) overOperations(groups [][]float64, doubt float64) {
	t := &h.Threshold
	figure := stats.FigureNamed(t.Stat)
	quantile := figure.P > 0
	h.Tail = stats.GroupedQuantile(groups, cmp.Or(figure.P, 0.5), stats.Confidence)
	h.Tail.Doubt = doubt
	h.Value = h.Tail.Value
	if !quantile {
		d := stats.Describe(slices.Concat(groups...), h.Tail.Censored)
		h.Value = figure.Of(&d)
	}
	rests := Resting(&h.Tail, t.Stat)
	switch {
	case h.Tail.N == 0:
		h.Why = "no trial has an operation that counts"
	case math.IsNaN(h.Value) && t.Max == nil:
		h.Why = "" // what is pending is longer than any other: no lower bound can be missed
	case math.IsNaN(h.Value):
		h.Why = "it is beyond what was seen: " + rests
	case t.Max != nil && h.Value > *t.Max:
		h.Why = beyond(h.Value, *t.Max, doubt, "more") + ", over " + rests
	case t.Min != nil && h.Value < *t.Min:
		h.Why = beyond(h.Value, *t.Min, doubt, "less") + ", over " + rests
	case quantile && h.Tail.Refused():
		h.Why = fmt.Sprintf("it is not known: %s of too few, %s", console.Number(h.Value), rests)
	}
}
