package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// context notes what differs between the runs besides what is measured.
func (r *Report) context(base, new *results.Table) {
	if text := differenceNote(r.settings); text != "" {
		if slices.ContainsFunc(r.Rows, func(row Row) bool { return !row.Exact && row.sameLuck }) {
			text += "; affected counts are compared like times, since the program need not be the " +
				"cause of a difference"
		}
		if shorterLimit(r.settings) != 0 {
			text += "; trials that timed out under the shorter time_limit are not compared"
		}
		r.Notes = append(r.Notes, text)
	}
	for side, t := range []*results.Table{base, new} {
		name := strings.ToLower(sides[side])
		if m := t.Manifest; m != nil && m.Shard != nil {
			r.Warnings = append(r.Warnings, name+": "+m.Shard.Note())
		}
		if m := t.Manifest; m != nil && !m.Complete {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: the run is not complete, of %d planned trials; "+
				"%s continues it", name, m.Planned, program.Command("run", "--resume", t.Path)))
		}
		r.Notes = append(r.Notes, untilNote(name, t)...)
		if text := metric.Unknown(t.Undeclared); text != "" {
			r.Notes = append(r.Notes, name+": "+text)
		}
		for _, text := range Drifts(t) {
			r.Notes = append(r.Notes, name+": "+text)
		}
	}
}

// untilNote says that the trials of a run decided how many they are, if they did.
func untilNote(name string, t *results.Table) []string {
	rule := t.Until()
	if rule == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: its results decided the number of trials, by %s: %s", name, rule.Metric,
		rule.Promise())}
}

// Drifts says which of the main metrics rose or fell over the course of a run on
// real processes: each trial against the median of its cell, in the order of
// execution. Blocks in random order keep such a drift from favouring a cell, but
// it says that the machine was not the same throughout.
func Drifts(t *results.Table) []string {
	if !measured(t) {
		return nil
	}
	cells := t.Cells()
	var out []string
	for _, problem := range []algo.Problem{algo.Election, algo.MutualExclusion} {
		metric := metric.Shown(problem, metric.Brief)[0].Name
		type point struct {
			order    int
			residual float64
		}
		var points []point
		for _, c := range cells {
			values, _ := c.Sample(metric)
			center := stats.Describe(values, 0).Median
			for _, trial := range c.Trials {
				if v, seen := trial.Observe(metric); seen == results.Observed && center > 0 {
					points = append(points, point{trial.RunOrder, v / center})
				}
			}
		}
		slices.SortFunc(points, func(a, b point) int { return a.order - b.order })
		residuals := make([]float64, len(points))
		for i, p := range points {
			residuals[i] = p.residual
		}
		rho, p := stats.Drift(residuals)
		if p <= driftAlpha && math.Abs(rho) >= driftLeast {
			out = append(out, fmt.Sprintf("%s drifts over the order of execution (Spearman's rho %+.2f, "+
				"p %s): the machine was not the same throughout; run it again on an idle one", metric, rho,
				view.P(p)))
		}
	}
	return out
}

// A drift is reported when it is beyond doubt and not small.
const (
	driftAlpha = 0.01
	driftLeast = 0.3
)
