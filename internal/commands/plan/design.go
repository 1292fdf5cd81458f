package plan

import (
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// A Design is what tells the cells of an experiment apart.
type Design struct {
	Columns []string
	at      []int // their places among the experiment's columns
}

// DesignOf finds the columns in which the cells of one algorithm differ. What
// follows from the algorithm, such as its topology, is not among them: its label
// stands first everywhere.
func DesignOf(e *experiment.Experiment) Design {
	var d Design
	for _, name := range view.Varying(e.Designs()) {
		d.Columns, d.at = append(d.Columns, name), append(d.at, slices.Index(e.Columns, name))
	}
	return d
}

// Head are the columns of a table of e's cells.
func (d Design) Head(e *experiment.Experiment) (out []answer.Column) {
	for i, name := range d.Columns {
		kind := answer.Number
		if slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool {
			return !console.IsNumber(c.Design[d.at[i]].Value)
		}) {
			kind = answer.Words
		}
		out = append(out, answer.Column{Name: name, Kind: kind, Only: answer.People})
	}
	return out
}

// Values are those of a cell in these columns.
func (d Design) Values(c *experiment.Cell) []string {
	out := make([]string, len(d.at))
	for i, at := range d.at {
		out[i] = c.Design[at].Value
	}
	return out
}

// Name is a cell in one word, as bully/nodes=9/loss=0.05.
func (d Design) Name(c *experiment.Cell) string {
	return view.Path(c.Design, d.Columns)
}
