package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Held is what a threshold came to in a cell that it is about.
type Held struct {
	Cell      string // its columns that differ between cells
	Number    int    // of the cell
	Threshold experiment.Threshold
	Value     float64    // NaN: there is none
	Why       string     // it misses, in words: by how much, or why there is no value; "": it is kept
	Tail      stats.Tail // of a threshold over operations
}

// Miss is the miss in a sentence.
func (h *Held) Miss() string { return fmt.Sprintf("%s: %v, but %s", h.Cell, h.Threshold, h.Why) }

// Misses holds the cells of a run against thresholds. A figure that does not exist misses: a gate that
// nothing passed through is not a gate. The values of those over operations are reported whether they are
// kept or not.
func Misses(t *results.Table, thresholds []experiment.Threshold) (misses, told []Held, err error) {
	spans, err := readSpans(t, thresholds)
	if err != nil {
		return nil, nil, err
	}
	cells := t.Cells()
	columns := view.Telling(view.Designs(cells), t.Design)
	var others []Held
	for _, threshold := range thresholds {
		for _, c := range cells {
			if !threshold.Where.Covers(c.Design) {
				continue
			}
			h := Held{Cell: view.Name(c.Design, columns), Number: c.Number, Threshold: threshold}
			if m := metric.Named(threshold.Metric); threshold.Over == experiment.OverOperations {
				h.overOperations(spans.Of(c, m), c.Doubt(m))
				if told = append(told, h); h.Why != "" {
					misses = append(misses, h)
				}
			} else if h.Value, h.Why = held(c, &threshold); h.Why != "" {
				others = append(others, h)
			}
		}
	}
	return append(misses, others...), told, nil
}

// readSpans reads the operations that thresholds are about; nil: none is about any.
func readSpans(t *results.Table, thresholds []experiment.Threshold) (*results.Spans, error) {
	var metrics []*metric.Metric
	for _, threshold := range thresholds {
		if m := metric.Named(threshold.Metric); threshold.Over == experiment.OverOperations && m != nil {
			metrics = append(metrics, m)
		}
	}
	if len(metrics) == 0 {
		return nil, nil
	}
	slices.SortFunc(metrics, func(a, b *metric.Metric) int { return strings.Compare(a.Name, b.Name) })
	return t.ReadSpans(slices.Compact(metrics))
}

// held is the figure of a cell, and what is wrong with it.
func held(c *results.Cell, t *experiment.Threshold) (v float64, why string) {
	d := c.Describe(t.Metric)
	v = stats.FigureNamed(t.Stat).Of(&d)
	doubt := c.Doubt(metric.Named(t.Metric))
	switch {
	case math.IsNaN(v) && d.Censored > 0 && t.Max == nil:
		return v, "" // what timed out is larger than any other, so that no lower bound can be missed
	case math.IsNaN(v) && d.Censored > 0:
		m := metric.Named(t.Metric)
		if m.AtLeast {
			return v, fmt.Sprintf("it is beyond the range that %d of %d trials "+
				"covered", d.Censored, d.N+d.Censored)
		}
		return v, fmt.Sprintf("it is beyond the time limit: %d of %d trials %s", d.Censored,
			d.N+d.Censored, m.Cut())
	case math.IsNaN(v):
		return v, fmt.Sprintf("no trial of %d has a value", len(c.Trials))
	case t.Max != nil && v > *t.Max:
		return v, beyond(v, *t.Max, doubt, "more")
	case t.Min != nil && v < *t.Min:
		return v, beyond(v, *t.Min, doubt, "less")
	}
	return v, ""
}

// beyond says how far v, which can be wrong by doubt, is from a bound.
func beyond(v, bound, doubt float64, direction string) string {
	text := fmt.Sprintf("it is %s: %s %s", view.Marked(v, doubt), console.Number(math.Abs(v-bound)),
		direction)
	if bound > 0 {
		text += fmt.Sprintf(" (%s)", view.Percent(v/bound-1))
	}
	return text + view.DoubtIn(stats.Doubtful(v, doubt))
}
