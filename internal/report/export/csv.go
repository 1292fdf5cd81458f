package export

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/results"
)

// writeCSV writes the rows of summary.csv for the selection.
func writeCSV(s *selection) ([]File, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(slices.Concat(s.run.Design, results.SummaryColumns())); err != nil {
		return nil, err
	}
	for _, c := range s.cells {
		for _, m := range s.metrics {
			var row []string
			for _, f := range c.Design {
				row = append(row, inert(f.Value))
			}
			if err := w.Write(append(row, results.SummaryRow(m.Name, describe(c, m))...)); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	return []File{{s.base() + ".csv", b.Bytes()}}, w.Error()
}

// inert keeps a spreadsheet from taking a text for a formula. Names that an
// experiment may give never begin like one; those of a foreign file may. Numbers
// stay as they are, negative ones too.
func inert(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) && !isNumber(text) {
		return "'" + text
	}
	return text
}
