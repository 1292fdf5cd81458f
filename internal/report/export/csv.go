package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/view"
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
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	restricted, err := s.restricted()
	if err != nil {
		return nil, err
	}
	columns := slices.Concat(s.designHead(), results.SummaryColumns(), restrictedColumns)
	if s.doubts() {
		columns = append(columns, results.DoubtColumn)
	}
	if err := w.Write(columns); err != nil {
		return nil, err
	}
	for i, c := range s.cells {
		for _, m := range s.metrics {
			var row []string
			for _, f := range c.Design {
				row = append(row, inert(f))
			}
			row = append(row, results.SummaryRow(m.Name, c.Describe(m.Name))...)
			if r, there := restricted[i][m]; there {
				row = append(row, results.Number(r.Mean), results.Number(r.Low), results.Number(r.High),
					results.Number(r.To))
			} else {
				row = append(row, "", "", "", "")
			}
			if s.doubts() {
				row = append(row, results.Doubt(c.Describe(m.Name).Doubtful()))
			}
			if err := w.Write(row); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	return []File{{Name: s.base() + ".csv", Data: b.Bytes()}}, w.Error()
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

// designHead is the columns of the design for a spreadsheet.
func (s *selection) designHead() (head []string) {
	for _, name := range s.run.Design {
		head = append(head, inert(metric.Field{Value: name}))
	}
	return head
}

// texts are the columns of the design that never hold numbers.
var texts = []string{"", "problem", "algorithm", "label", "transport", "topology", "scenario",
	"latency_model"}

// inert is the value of a column such that a spreadsheet does not take it for a formula. Names that an
// experiment may give never begin like one; those of a foreign file may. In columns that may hold
// numbers, these stay as they are, negative ones too.
func inert(f metric.Field) string {
	if f.Value != "" && strings.ContainsRune("=+-@\t\r\n", rune(f.Value[0])) &&
		(!isNumber(f.Value) || slices.Contains(texts, f.Name)) {
		return "'" + f.Value
	}
	return f.Value
}
