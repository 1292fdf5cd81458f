package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
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
	return fmt.Sprintf("%s: %s over %s%s", name, view.Marked(h.Value, h.Tail.Doubt),
		Resting(&h.Tail, h.Threshold.Stat), view.DoubtIn(stats.Doubtful(h.Value, h.Tail.Doubt)))
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
		text += ", " + view.IntervalText(t)
	}
	if !math.IsNaN(t.Effect) {
		text += ", design effect " + console.Number(t.Effect)
	}
	return text
}

// overOperations finds the figure of the operations, and says what is wrong with it.
func (h *Held) overOperations(groups [][]float64, doubt float64) {
	t := &h.Threshold
	figure := stats.FigureNamed(t.Stat)
	quantile := figure.P > 0
	h.Tail = stats.GroupedQuantile(groups, cmp.Or(figure.P, 0.5), stats.Confidence).Doubted(doubt)
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
		h.Why = "it is larger than every observed value: " + rests
	case t.Max != nil && h.Value > *t.Max:
		h.Why = beyond(h.Value, *t.Max, doubt, "more") + ", over " + rests
	case t.Min != nil && h.Value < *t.Min:
		h.Why = beyond(h.Value, *t.Min, doubt, "less") + ", over " + rests
	case quantile && h.Tail.Refused():
		h.Why = fmt.Sprintf("it is not known: %s of too few, %s", console.Number(h.Value), rests)
	}
}
