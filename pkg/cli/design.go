package cli

import (
	"slices"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/view"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A design is the columns that tell the cells of an experiment apart, besides their labels.
type design []string

func designOf(e *experiment.Experiment) design { return view.Varying(e.Designs()) }

// head adds the columns to a table of e's cells.
func (d design) head(t *console.Table, e *experiment.Experiment) {
	for _, name := range d {
		t.Column(name, !slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool {
			return !console.IsNumber(metric.Get(c.Design, name))
		}))
	}
}

// declared are the columns for a document.
func (d design) declared(e *experiment.Experiment) (all []answer.Column) {
	for _, name := range d {
		var values []string
		for k := range e.Cells {
			values = append(values, metric.Get(e.Cells[k].Design, name))
		}
		all = append(all, answer.Levels(name, values))
	}
	return all
}

func (d design) values(c *experiment.Cell) []string {
	out := make([]string, len(d))
	for i, name := range d {
		out[i] = metric.Get(c.Design, name)
	}
	return out
}

// name is a cell in one word, as bully/nodes=9/loss=0.05.
func (d design) name(c *experiment.Cell) string { return view.Path(c.Design, d) }
