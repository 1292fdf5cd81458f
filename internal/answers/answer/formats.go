package answer

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Format renders documents.
type Format struct {
	Name, Doc string
	Extension string // of a file of the format
	Write     func(io.Writer, *Document) error
}

// Formats are the formats, in the order in which they are listed. The first is the usual one.
func Formats() []Format {
	return []Format{
		{"text", "for a terminal", "txt", writeText},
		{"json", "for programs: everything, with the notes", "json", writeJSON},
		{"csv", "the main table, for a spreadsheet", "csv", writeCSV},
		{"markdown", "for a forge or a wiki", "md", writeMarkdown},
		{"latex", "tables for booktabs", "tex", writeLatex},
		{"junit", "a test report in XML", "xml", writeJUnit},
		{"html", "a page that stands alone", "html", writeHTML},
	}
}

// Named is the format of that name; nil: there is none. What was once called a table is text.
func Named(name string) *Format {
	if name == "table" {
		name = "text"
	}
	all := Formats()
	if i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// In is the document in the format of that name, which has to be one of Formats. The error is that of a
// value that the format cannot hold.
func (d *Document) In(format string) ([]byte, error) {
	var b bytes.Buffer
	err := Named(format).Write(&b, d)
	return b.Bytes(), err
}

// text is a value as people read it.
func text(v Value) string {
	switch v := v.(type) {
	case Shown:
		return v.Text
	case []string:
		return strings.Join(v, ", ")
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.UTC().Format(time.DateTime)
	case Estimate:
		if plain(v.Value) == nil {
			return ""
		}
		return fmt.Sprintf("%s [%s, %s]", short(v.Value), short(v.Low), short(v.High))
	case float64:
		if plain(v) == nil {
			return ""
		}
		return short(v)
	case map[string]string:
		return pairs(v)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

// pairs are words by name, sorted.
func pairs(of map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, name+"="+of[name])
	}
	return strings.Join(out, " ")
}

// short is a number with four digits that count.
func short(v float64) string {
	if plain(v) == nil {
		return "?"
	}
	exact, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(exact, 'f', -1, 64)
}

// exact is a value as programs read it in a table of text.
func exact(v Value) string {
	switch v := plain(v).(type) {
	case nil:
		return ""
	case float64:
		if size := math.Abs(v); size >= 1e-4 && size < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		return strings.Join(v, " ")
	case map[string]string:
		return pairs(v)
	default:
		return fmt.Sprint(v)
	}
}

// heads and cells are a table as people read it.
func (t *Table) heads() (heads []string) {
	for _, i := range t.places(People) {
		heads = append(heads, t.Columns[i].head())
	}
	return heads
}

func (t *Table) cells(row []Value) (cells []string) {
	for _, i := range t.places(People) {
		cells = append(cells, text(row[i]))
	}
	return cells
}

// lines are the facts that people read.
func (f Facts) lines() (lines []string) {
	for _, fact := range f {
		if fact.Line != "" {
			lines = append(lines, fact.Line)
		}
	}
	return lines
}
