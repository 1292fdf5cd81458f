package answer

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// writeCSV renders the first table. A figure takes a column each for its value, the bounds of
// its interval and the numbers of observations.
func writeCSV(w io.Writer, d *Document) error {
	out := csv.NewWriter(w)
	for _, b := range d.For(Programs) {
		t, ok := b.(*Table)
		if !ok {
			continue
		}
		var head []string
		at := t.places(Programs)
		for _, i := range at {
			name := t.Columns[i].Name
			head = append(head, name)
			if t.Columns[i].Kind == Figure {
				head = append(head, name+"_low", name+"_high", name+"_n", name+"_censored")
			}
		}
		_ = out.Write(head) // an error stays, and Error has it
		for _, row := range t.Rows {
			var record []string
			for _, i := range at {
				record = append(record, t.Columns[i].record(row[i])...)
			}
			_ = out.Write(record)
		}
		break
	}
	out.Flush()
	return out.Error()
}

// record is what a value takes in a row.
func (c *Column) record(v Value) []string {
	if c.Kind != Figure {
		return []string{Inert(exact(v), c.Kind == Words || c.Kind == List)}
	}
	e, ok := plain(v).(Estimate)
	if !ok {
		return make([]string, 5)
	}
	return []string{exact(e.Value), exact(e.Low), exact(e.High), strconv.Itoa(e.N), strconv.Itoa(e.Censored)}
}

// Inert is text such that a spreadsheet does not take it for a formula. In columns of words
// numbers are quoted, too.
func Inert(text string, words bool) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && !words {
		return text
	}
	return "'" + text
}
