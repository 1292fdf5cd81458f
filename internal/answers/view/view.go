// Package view is a run as its readers see it, whether they print, compare, draw, export, keep or serve it:
// its cells, what each is called, which of them a filter takes, and their figures. A cell is called by
// what tells it apart from the others of its run, and by nothing else.
package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Label is what a cell is called first of all.
func Label(design []metric.Field) string {
	return cmp.Or(metric.Get(design, "label"), metric.Get(design, "algorithm"), "all")
}

// Designs are those of the cells.
func Designs(cells []*results.Cell) [][]metric.Field {
	out := make([][]metric.Field, len(cells))
	for i, c := range cells {
		out[i] = c.Design
	}
	return out
}

// Varying finds the columns in which cells of one label differ. What follows from the
// algorithm, such as its topology, is not among them.
func Varying(designs [][]metric.Field) (out []string) {
	for _, c := range metric.ColumnsOf(designs...) {
		name := c.Name
		first := map[string]string{}
		if name != "label" && slices.ContainsFunc(designs, func(d []metric.Field) bool {
			label, v := Label(d), metric.Get(d, name)
			was, seen := first[label]
			if !seen {
				first[label] = v
			}
			return seen && was != v
		}) {
			out = append(out, name)
		}
	}
	return out
}

// VaryingIn are those of the cells of a table.
func VaryingIn(t *results.Table) []string { return Varying(Designs(t.Cells())) }

// Telling finds, among columns, those by which a reader tells the cells apart: the label, and what
// varies besides. It is the label if there is nothing to tell.
func Telling(designs [][]metric.Field, columns []string) (out []string) {
	labels := slices.Contains(columns, "label") && differs(designs, "label")
	varying := Varying(designs)
	for _, name := range columns {
		tells := differs(designs, name)
		if labels {
			tells = name == "label" || slices.Contains(varying, name)
		}
		if tells {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		out = []string{"label"}
	}
	return out
}

func differs(designs [][]metric.Field, column string) bool {
	return slices.ContainsFunc(designs, func(d []metric.Field) bool {
		return metric.Get(d, column) != metric.Get(designs[0], column)
	})
}

// Place is what a design has in some columns.
func Place(design []metric.Field, columns []string) []metric.Field {
	out := make([]metric.Field, 0, len(columns))
	for _, name := range columns {
		out = append(out, metric.Field{Name: name, Value: metric.Get(design, name)})
	}
	return out
}

// Name is what those columns of a cell are in a sentence, as "bully, nodes=5".
func Name(design []metric.Field, columns []string) string { return Joined(design, columns, ", ") }

// Path is a cell in one word, as "bully/nodes=5".
func Path(design []metric.Field, columns []string) string {
	return strings.TrimSuffix(Label(design)+"/"+Joined(design, columns, "/"), "/")
}

// Joined is the columns of a cell that it has, with a separator.
func Joined(design []metric.Field, columns []string, separator string) string {
	return Worded(design, columns, separator, func(column string) string { return column + "=" })
}

// Worded is Joined with other words in front of the values than the columns' names.
func Worded(design []metric.Field, columns []string, separator string,
	word func(column string) string) string {
	var parts []string
	for _, name := range columns {
		for _, f := range design {
			switch {
			case f.Name != name:
			case name == "label" || name == "algorithm":
				parts = append(parts, f.Value)
			default:
				parts = append(parts, word(name)+f.Value)
			}
		}
	}
	return strings.Join(parts, separator)
}

// ReadWhere reads the values of --where.
func ReadWhere(texts []string) (out metric.Where, err error) {
	for _, text := range texts {
		f, ok := metric.ReadField(text)
		if !ok {
			return nil, answer.Mistaken("--where %q, expected COLUMN=VALUE, as nodes=5", text)
		}
		out = append(out, f)
	}
	return out, nil
}

// Columns lists the columns of the tables that a filter may name, with the values that they may have.
func Columns(tables ...*results.Table) []metric.Column {
	var designs [][]metric.Field
	for _, t := range tables {
		last := ""
		for _, c := range t.Cells() {
			designs = append(designs, c.Design)
		}
		for i := range t.Trials {
			if host := t.Trials[i].Host; host != last {
				designs, last = append(designs, []metric.Field{{Name: results.HostColumn, Value: host}}), host
			}
		}
	}
	return Declared(metric.ColumnsOf(designs...))
}

// Declared adds the values that are right though no cell has them.
func Declared(columns []metric.Column) []metric.Column {
	for i := range columns {
		columns[i].Declared = experiment.Declared(columns[i].Name)
	}
	return columns
}

// Filter is t with the trials that the filter takes. A column that the table does not have chooses nothing:
// it is one of another run, which is read beside this one.
func Filter(t *results.Table, where metric.Where) *results.Table {
	where = slices.DeleteFunc(slices.Clone(where), func(f metric.Field) bool {
		return !slices.Contains(t.Design, f.Name) && !(f.Name == results.HostColumn && Hosted(t))
	})
	if len(where) == 0 {
		return t
	}
	f := *t
	f.Trials = nil
	for _, trial := range t.Trials {
		host := metric.Field{Name: results.HostColumn, Value: trial.Host}
		if where.Covers(append(slices.Clip(trial.Design), host)) {
			f.Trials = append(f.Trials, trial)
		}
	}
	return &f
}

// Hosted says whether trials of the table name the machine that they ran on.
func Hosted(t *results.Table) bool {
	return slices.ContainsFunc(t.Trials, func(t results.Trial) bool { return t.Host != "" })
}

// None says that a filter takes nothing, though its values are right.
func None(where metric.Where) string { return "no cell has " + where.String() }
