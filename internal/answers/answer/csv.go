package answer

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
)

// writeCSV renders the main table. A figure takes a column each for its value, the bounds of
// its interval and the numbers of observations.
func writeCSV(w io.Writer, d *Document) error {
	t, sections := d.main()
	out := csv.NewWriter(w)
	var head []string
	at := t.places(Programs)
	if sections != nil {
		head = append(head, "section")
	}
	for _, i := range at {
		name := t.Columns[i].Name
		head = append(head, name)
		if t.Columns[i].Kind == Figure {
			head = append(head, name+"_low", name+"_high", name+"_n", name+"_censored")
		}
	}
	_ = out.Write(head) // an error stays, and Error has it
	for k, row := range t.Rows {
		var record []string
		if sections != nil {
			record = append(record, Inert(sections[k], true))
		}
		for _, i := range at {
			record = append(record, t.Columns[i].record(row[i])...)
		}
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}

// main is the table that stands for the document; one of its facts, if it has none. Of a document with
// sections it has the rows of all tables of its name and columns, and what section each row is of.
func (d *Document) main() (main *Table, sections []string) {
	var first *Table
	facts := &Table{Columns: []Column{{Name: "name", Kind: Words}, {Name: "value", Kind: Words}}}
	for _, b := range d.For(Programs) {
		switch b := b.(type) {
		case *Table:
			first = cmp.Or(first, b)
			if b.Main {
				main = cmp.Or(main, b)
			}
		case Facts:
			for _, fact := range b {
				facts.Row(fact.Name, exact(fact.Value))
			}
		case File:
			facts.Row(b.Name, cmp.Or(b.Path, b.Text))
		}
	}
	main = cmp.Or(main, first, facts)
	if !d.sectioned() {
		return main, nil
	}
	all, section := *main, ""
	all.Rows = nil
	for _, b := range d.For(Programs) {
		switch b := b.(type) {
		case Section:
			section = b.Name
		case *Table:
			if b.Name == main.Name && slices.Equal(b.Columns, main.Columns) {
				all.Rows = append(all.Rows, b.Rows...)
				sections = append(sections, slices.Repeat([]string{section}, len(b.Rows))...)
			}
		}
	}
	return &all, append(sections, "")
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
