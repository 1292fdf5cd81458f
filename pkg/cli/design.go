package cli

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/console"
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
	for i, name := range e.Columns {
		first := map[string]string{}
		differs := slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool {
			v := c.Design[i].Value
			if was, ok := first[c.Label]; ok {
				return was != v
			}
			first[c.Label] = v
			return false
		})
		if differs {
			d.columns, d.at = append(d.columns, name), append(d.at, i)
		}
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

// declared are the columns for a document.
func (d design) declared(e *experiment.Experiment) (all []answer.Column) {
	for i, name := range d.columns {
		var values []string
		for k := range e.Cells {
			values = append(values, e.Cells[k].Design[d.at[i]].Value)
		}
		all = append(all, answer.Levels(name, values))
	}
	return all
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
	var b strings.Builder
	b.WriteString(c.Label)
	for i, v := range d.values(c) {
		b.WriteString("/" + d.columns[i] + "=" + v)
	}
	return b.String()
}
