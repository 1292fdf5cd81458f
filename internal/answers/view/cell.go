package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Cell is what the trials of one cell came to, taken in one by one: none of them is kept.
type Cell struct {
	Design   []metric.Field
	Statuses map[trace.Status]int
	Marked   int // trials with status ok, see results.Trial.Marked
	Beyond   int // trials that are beyond the model

	method  stats.Method
	samples map[string]*results.Sample
	clocks  float64       // largest clock_error_us
	folded  *results.Cell // that describes itself; nil: the samples do
}

// FoldedCell is what is kept of trials of which none is there.
func FoldedCell(of *results.Cell) *Cell {
	c := &Cell{Design: of.Design, Statuses: map[trace.Status]int{}, Marked: of.Fold.Marked,
		Beyond: of.Fold.Beyond, folded: of}
	for _, status := range trace.Statuses() {
		c.Statuses[status] = of.Count(status)
	}
	return c
}

// NewCell has no trials yet. It describes those metrics, with intervals by the method.
func NewCell(design []metric.Field, method stats.Method, metrics []string) *Cell {
	c := &Cell{Design: design, Statuses: map[trace.Status]int{}, method: method,
		samples: map[string]*results.Sample{}}
	for _, name := range metrics {
		c.samples[name] = results.NewSample(name)
	}
	return c
}

// Add takes in the last attempt at a trial.
func (c *Cell) Add(t *results.Trial) {
	c.Statuses[t.Status]++
	if t.Marked() {
		c.Marked++
	}
	if !t.InModel {
		c.Beyond++
	}
	for _, sample := range c.samples {
		sample.Add(t)
	}
	if v, seen := t.Observe(metric.ClockError.Name); seen == results.Observed {
		c.clocks = max(c.clocks, v)
	}
}

// Describe condenses what the trials observed of a metric.
func (c *Cell) Describe(name string) stats.Summary {
	if c.folded != nil {
		return c.folded.Describe(name)
	}
	return c.samples[name].Describe(c.method).Doubted(metric.Named(name).Doubt(c.clocks))
}

// Brief lists the metrics that a table for people has. Where what goes wrong lasts, it is the span and
// not the single election that counts.
func Brief(designs [][]metric.Field) []*metric.Metric { return listed(designs, metric.Shown) }

// Headlines lists the main metrics of cells.
func Headlines(designs [][]metric.Field) []*metric.Metric { return listed(designs, metric.Headlines) }

// listed are the metrics that of lists for the problems of cells and the tables of their scenarios.
func listed(designs [][]metric.Field,
	of func(algo.Problem, metric.Tables) []*metric.Metric) (out []*metric.Metric) {
	tables := map[algo.Problem]metric.Tables{}
	for _, d := range designs {
		p := algo.Problem(metric.Get(d, "problem"))
		if table := check.Brief(harness.ScenarioOf(metric.Get(d, "scenario"))); table != metric.Brief {
			tables[p] = table
		}
	}
	for _, d := range designs {
		p := algo.Problem(metric.Get(d, "problem"))
		for _, m := range of(p, cmp.Or(tables[p], metric.Brief)) {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return Unmixed(designs, out)
}

// Statuses tells how the trials of a cell ended, as "ok 5, timeout 2".
func Statuses(c *results.Cell) string {
	var parts []string
	for _, status := range trace.Statuses() {
		if n := c.Count(status); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", status, n))
		}
	}
	text := strings.Join(parts, ", ")
	if !c.InModel() {
		text += " (in_model=false)"
	}
	return text
}
