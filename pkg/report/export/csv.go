package export

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/results"
)

// figures are the columns of summary.csv behind the design.
var figures = []string{
	"metric", "n", "censored", "mean", "sd", "min", "median", "p90", "p95", "p99", "max", "ci_low", "ci_high",
}

// writeCSV writes the rows of summary.csv for the selection.
func writeCSV(s *selection) ([]File, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(slices.Concat(s.run.Design, figures)); err != nil {
		return nil, err
	}
	for _, c := range s.cells {
		for _, m := range s.metrics {
			d := describe(c, m)
			var row []string
			for _, f := range c.Design {
				row = append(row, inert(f.Value))
			}
			row = append(row, inert(m), strconv.Itoa(d.N), strconv.Itoa(d.Censored))
			for _, v := range []float64{
				d.Mean, d.SD, d.Min, d.Median, d.P90, d.P95, d.P99, d.Max, d.CILow, d.CIHigh,
			} {
				row = append(row, results.Number(v))
			}
			if err := w.Write(row); err != nil {
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
