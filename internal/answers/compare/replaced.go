package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Replacement is what the trials that the machine spoilt at their first attempt may have
// hidden. A later attempt took the place of most of them. If slow trials spoil more easily
// than quick ones, those that took their place flatter.
type Replacement struct {
	Trials, Replaced int // trials of the cell; those of them whose first attempt was invalid
	Median           float64
	// Low and High are what the median would be if each of the replaced trials had been
	// like the smallest, or like the largest, that the cell observed: bounds in the manner of
	// Manski (Nonparametric bounds on treatment effects, American Economic Review 80, 1990),
	// with what was observed for what is possible. NaN: nothing was observed, or the median
	// would lie among the time-outs.
	Low, High float64
	Doubt     float64 // what clocks can be wrong by, if that is more than the median; else 0
}

// Share is how many of the trials were replaced.
func (r Replacement) Share() float64 { return float64(r.Replaced) / float64(r.Trials) }

// replacedMuch is the share from which on a run says so by itself.
const replacedMuch = 0.05

// ReplacedOf looks at the trials of a cell that have a metric.
func ReplacedOf(c *results.Cell, m *metric.Metric) Replacement {
	r := Replacement{Trials: len(c.Trials)}
	var kept []float64
	cut := 0 // of those kept
	for _, t := range c.Trials {
		if t.Attempts > 1 || t.Status == trace.Invalid {
			r.Replaced++
			continue
		}
		switch v := observed(t, m); {
		case math.IsInf(v, 1):
			cut++
		case !math.IsNaN(v):
			kept = append(kept, v)
		}
	}
	values, censored := c.Sample(m.Name)
	r.Median = stats.Describe(values, censored).Median
	r.Doubt = stats.Doubtful(r.Median, c.Doubt(m))
	r.Low, r.High = math.NaN(), math.NaN()
	if len(values) == 0 {
		return r
	}
	all := func(v float64) []float64 {
		return slices.Concat(kept, slices.Repeat([]float64{v}, r.Replaced))
	}
	r.Low = stats.Describe(all(slices.Min(values)), cut).Median
	if censored > 0 {
		r.High = stats.Describe(kept, cut+r.Replaced).Median
	} else {
		r.High = stats.Describe(all(slices.Max(values)), 0).Median
	}
	return r
}

// ReplacedNotes says of the cell with the largest share of replaced trials what its
// figure could have been, if that share is not small.
func ReplacedNotes(t *results.Table) []string {
	var worst Replacement
	var where *results.Cell
	var of *metric.Metric
	more := -1
	columns := append([]string{"label"}, view.VaryingIn(t)...)
	for _, c := range t.Cells() {
		m := telling(c)
		if m == nil {
			continue
		}
		r := ReplacedOf(c, m)
		if r.Share() <= replacedMuch {
			continue
		}
		more++
		if where == nil || r.Share() > worst.Share() {
			worst, where, of = r, c, m
		}
	}
	if where == nil {
		return nil
	}
	others := ""
	if more > 0 {
		others = " (" + console.Plural(more, "more cell", "more cells") + " like it)"
	}
	name := view.Name(where.Design, columns)
	return []string{fmt.Sprintf("%s: %d of %d trials were invalid and rerun%s; best and worst case, the "+
		"median of %s is %s to %s (reported: %s); bench report has all cells", name, worst.Replaced,
		worst.Trials, others, of.Name, view.OrBeyond(worst.Low), view.OrBeyond(worst.High),
		view.OrBeyond(worst.Median)+new(view.Legend).Mark(worst.Doubt)) +
		view.DoubtIn(worst.Doubt)}
}

// telling is the figure that a cell is about: that by which algorithms are ranked, or of a
// ramp what it looks for.
func telling(c *results.Cell) *metric.Metric {
	if values, beyond := c.Sample(metric.Knee.Name); len(values)+beyond > 0 {
		return metric.Knee
	}
	return metric.Ranked(algo.Problem(c.Get("problem")))
}
