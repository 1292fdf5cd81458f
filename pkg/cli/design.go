package cli

import (
	"slices"

	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// A design is what tells the cells of an experiment apart.
type design struct {
	columns []string
	at      []int // their places among the experiment's columns
}

// designOf finds the columns in which the cells of one algorithm differ. What
// follows from the algorithm, such as its topology, is not among them: its label
// stands first everywhere.
func designOf(e *experiment.Experiment) design {
	var d design
	for _, name := range outcome.Varying(e) {
		d.columns, d.at = append(d.columns, name), append(d.at, slices.Index(e.Columns, name))
	}
	return d
}

// head adds the columns to a table of e's cells.
func (d design) head(t *console.Table, e *experiment.Experiment) {
	for i, name := range d.columns {
		t.Column(name, !slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool {
			return !console.IsNumber(c.Design[d.at[i]].Value)
		}))
	}
}

func (d design) values(c *experiment.Cell) []string {
	out := make([]string, len(d.at))
	for i, at := range d.at {
		out[i] = c.Design[at].Value
	}
	return out
}

// name is a cell in one word, as bully/nodes=9/loss=0.05.
func (d design) name(c *experiment.Cell) string {
	return outcome.Name(c, d.columns)
}
