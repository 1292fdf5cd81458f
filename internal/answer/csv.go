package answer

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// writeCSV renders the main table. A figure takes a column each for its value, the bounds of
// its interval and the numbers of observations.
func writeCSV(w io.Writer, d *Document) error {
	t := d.main()
	out := csv.NewWriter(w)
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
	out.Flush()
	return out.Error()
}

// main is the table that stands for the document; one of its facts, if it has none.
func (d *Document) main() *Table {
	var first *Table
	facts := &Table{Columns: []Column{{Name: "name", Kind: Words}, {Name: "value", Kind: Words}}}
	for _, b := range d.For(Programs) {
		switch b := b.(type) {
		case *Table:
			if b.Main {
				return b
			}
			if first == nil {
				first = b
			}
		case Facts:
			for _, fact := range b {
				facts.Row(fact.Name, exact(fact.Value))
			}
		}
	}
	return cmp.Or(first, facts)
}

// record is what a value takes in a row.
func (c *Column) record(v Value) []string {
	if x, ok := plain(v).(float64); ok && c.Digits > 0 {
		return []string{strconv.FormatFloat(x, 'f', c.Digits, 64)}
	}
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
