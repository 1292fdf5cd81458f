package export

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// restrictedColumns stand behind those of summary.csv.
var restrictedColumns = []string{"restricted_mean", "restricted_low", "restricted_high", "restricted_to"}

// restricted are the restricted means of the selected cells, by metric. How far they reach
// depends on the whole run and not on the selection.
func (s *selection) restricted() ([]map[*metric.Metric]report.Restricted, error) {
	spells, err := report.ReadSpells(s.run.Table, s.all, nil)
	if err != nil {
		return nil, err
	}
	var out []map[*metric.Metric]report.Restricted
	for i, of := range spells.Restricted() {
		if slices.Contains(s.cells, s.all[i]) {
			out = append(out, of)
		}
	}
	return out, nil
}

// writeCSV writes the rows of summary.csv for the selection, and the restricted means.
func writeCSV(s *selection) ([]File, error) {
	restricted, err := s.restricted()
	if err != nil {
		return nil, err
	}
	t := s.sheet(append(results.SummaryColumns(), restrictedColumns...))
	if s.doubts() {
		t.Columns = append(t.Columns, answer.Column{Name: results.DoubtColumn, Kind: answer.Number})
	}
	for i, c := range s.cells {
		for _, m := range s.metrics {
			d := c.Describe(m.Name)
			texts, known := results.SummaryRow(c, m.Name, d), []string{"", "", "", ""}
			if r, there := restricted[i][m]; there {
				known = []string{results.Number(r.Mean), results.Number(r.Low), results.Number(r.High),
					results.Number(r.To)}
			}
			if texts = append(texts, known...); s.doubts() {
				texts = append(texts, results.Doubt(d.Doubtful()))
			}
			row(t, c, texts)
		}
	}
	files, err := written("csv", s.base()+".csv", &answer.Document{Blocks: []answer.Block{t}})
	return append(files, s.beside(s.base()+".csv")...), err
}

// sheet is a table with the columns of the design and some of figures, as texts.
func (s *selection) sheet(figures []string) *answer.Table {
	t := &answer.Table{}
	for _, name := range s.run.Design {
		kind := answer.Number
		if slices.Contains(texts, name) {
			kind = answer.Words
		}
		t.Columns = append(t.Columns, answer.Column{Name: answer.Inert(name, true), Kind: kind})
	}
	for _, name := range figures {
		t.Columns = append(t.Columns, answer.Column{Name: name, Kind: answer.Number})
	}
	return t
}

// row adds a row about a cell to a sheet.
func row(t *answer.Table, c *results.Cell, figures []string) {
	var values []answer.Value
	for _, f := range c.Design {
		values = append(values, f.Value)
	}
	for _, text := range figures {
		values = append(values, text)
	}
	t.Row(values...)
}

// written is a file with an answer in a format.
func written(format, name string, d *answer.Document) ([]File, error) {
	b, err := d.In(format)
	return []File{{Name: name, Data: b}}, err
}

// doubts says whether nodes had several clocks, so that figures may be marked.
func (s *selection) doubts() bool {
	return slices.ContainsFunc(s.run.Cells(), func(c *results.Cell) bool { return c.ClockError() > 0 })
}

// doubtful are remarks on the marked figures of a cell, for formats whose figures have no place for
// a mark: a line each.
func (s *selection) doubtful(c *results.Cell) (notes []string) {
	for _, m := range s.metrics {
		if doubt := c.Describe(m.Name).Doubtful(); doubt > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s %s", s.name(c), m.Name, view.DoubtNote(doubt)))
		}
	}
	return notes
}

// texts are the columns of the design that never hold numbers.
var texts = []string{"", "problem", "algorithm", "label", "transport", "topology", "scenario",
	"latency_model"}
