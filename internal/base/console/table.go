// Package console lays out text for people: lines that fit a terminal, and tables.
package console

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Table is text in columns for people; files and --json are for programs.
type Table struct {
	Head  []string
	Right []bool // columns of numbers
	Rows  [][]string
	keys  int // columns that tell the rows apart; 0: one
	Most  int // columns of text that it may take; 0: the fewest of a terminal
}

// Column adds a column; numbers stand at its right edge.
func (t *Table) Column(name string, number bool) {
	t.Head, t.Right = append(t.Head, name), append(t.Right, number)
}

func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Keyed says that the first n columns tell the rows apart.
func (t *Table) Keyed(n int) { t.keys = n }

// DropEmpty drops the columns in which no row says anything.
func (t *Table) DropEmpty() {
	for i := len(t.Head) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }) {
			t.Head, t.Right = slices.Delete(t.Head, i, i+1), slices.Delete(t.Right, i, i+1)
			for j, row := range t.Rows {
				t.Rows[j] = slices.Delete(row, i, i+1)
			}
		}
	}
}

// Write prints the table. If it is wider than a terminal, what all rows have in common stands above it,
// once. The columns that still have no room stand below, beside those that tell the rows apart, or beside
// numbers if those take too much room.
func (t *Table) Write(w io.Writer) {
	total := -2
	_, widths := t.measure()
	for _, wide := range widths {
		total += wide + 2
	}
	if total <= t.room() {
		t.parts(w)
		return
	}
	short, common := t.apart()
	if common != nil {
		fmt.Fprintln(w, fold("all: "+strings.Join(common, ", "), t.room()))
	}
	short.parts(w)
}

func (t *Table) room() int { return cmp.Or(t.Most, Columns) }

// apart is the table without the columns in which all rows say the same; the first one stays.
func (t *Table) apart() (short *Table, common []string) {
	short = &Table{keys: t.keys, Most: t.Most, Rows: make([][]string, len(t.Rows))}
	for i, name := range t.Head {
		other := func(row []string) bool { return i >= len(row) || row[i] == "" || row[i] != t.Rows[0][i] }
		if i > 0 && len(t.Rows) > 1 && !slices.ContainsFunc(t.Rows, other) {
			common = append(common, name+" "+t.Rows[0][i])
			if i < t.keys {
				short.keys--
			}
			continue
		}
		short.Column(name, t.Right[i])
		for j, row := range t.Rows {
			if i < len(row) {
				short.Rows[j] = append(short.Rows[j], row[i])
			}
		}
	}
	return short, common
}

// parts prints the table, in several parts if it is too wide.
func (t *Table) parts(w io.Writer) {
	all, widths := t.measure()
	part := make([]int, min(max(t.keys, 1), len(t.Head)))
	room := t.room()
	for i := range part {
		part[i], room = i, room-widths[i]-2
	}
	next := len(part)
	if rest := widths[next:]; room < t.room()/2 && len(rest) > 0 && slices.Max(rest) > room {
		t.numbered().parts(w)
		return
	}
	for keys := len(part); ; part = part[:keys] {
		for left := room; next < len(t.Head) && (len(part) == keys || widths[next] <= left); next++ {
			part, left = append(part, next), left-widths[next]-2
		}
		for n, row := range all {
			if n > 0 && next > len(part) && blank(row, part[keys:]) {
				continue // a further part would repeat its keys for nothing
			}
			writeRow(w, t, row, part, widths)
		}
		if next == len(t.Head) {
			return
		}
		fmt.Fprintln(w)
	}
}

// Lines are the head and the rows, however wide.
func (t *Table) Lines() []string {
	var text strings.Builder
	all, widths := t.measure()
	every := make([]int, len(widths))
	for i := range every {
		every[i] = i
	}
	for _, row := range all {
		writeRow(&text, t, row, every, widths)
	}
	return strings.Split(text.String(), "\n")
}

// measure is the table with its head, and how wide each column is.
func (t *Table) measure() (all [][]string, widths []int) {
	all, widths = append([][]string{t.Head}, t.Rows...), make([]int, len(t.Head))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	return all, widths
}

// blank says whether a row says nothing in some columns; in no columns at all, it does not.
func blank(row []string, part []int) bool {
	says := func(i int) bool { return i >= len(row) || row[i] != "" }
	return len(part) > 0 && !slices.ContainsFunc(part, says)
}

// numbered is the table with a number for each row, which alone tells them apart.
func (t *Table) numbered() *Table {
	n := &Table{Head: append([]string{"#"}, t.Head...), Right: append([]bool{true}, t.Right...), keys: 1,
		Most: t.Most}
	for i, row := range t.Rows {
		n.Add(append([]string{strconv.Itoa(i + 1)}, row...)...)
	}
	return n
}

// writeRow prints some columns of a row.
func writeRow(w io.Writer, t *Table, row []string, part, widths []int) {
	var line strings.Builder
	for n, i := range part {
		if i >= len(row) {
			break
		}
		pad := strings.Repeat(" ", widths[i]-Width(row[i]))
		if n > 0 {
			line.WriteString("  ")
		}
		if t.Right[i] {
			line.WriteString(pad + row[i])
		} else {
			line.WriteString(row[i] + pad)
		}
	}
	fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
}

// IsNumber says whether s would stand at the right edge of a column.
func IsNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || s == ""
}
