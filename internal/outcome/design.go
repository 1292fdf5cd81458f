package outcome

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// Varying finds the columns in which the cells of one algorithm differ. What follows from the algorithm,
// such as its topology, is not among them: its label stands first everywhere.
func Varying(e *experiment.Experiment) (columns []string) {
	for i, name := range e.Columns {
		first := map[string]string{}
		if slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool {
			v := c.Design[i].Value
			was, known := first[c.Label]
			if !known {
				first[c.Label] = v
			}
			return known && was != v
		}) {
			columns = append(columns, name)
		}
	}
	return columns
}

// Name is a cell in one word, as bully/nodes=9/loss=0.05.
func Name(c *experiment.Cell, columns []string) string {
	var b strings.Builder
	b.WriteString(c.Label)
	for _, name := range columns {
		b.WriteString("/" + name + "=" + metric.ByName(c.Design)[name])
	}
	return b.String()
}
