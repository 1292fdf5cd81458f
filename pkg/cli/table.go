package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A table is text in columns for people; files and --json are for programs.
type table struct {
	head  []string
	right []bool // columns of numbers
	rows  [][]string
	keys  int // columns that tell the rows apart; 0: one
}

// column adds a column; numbers stand at its right edge.
func (t *table) column(name string, number bool) {
	t.head, t.right = append(t.head, name), append(t.right, number)
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// keyed says that the first n columns tell the rows apart.
func (t *table) keyed(n int) { t.keys = n }

// dropEmpty drops the columns in which no row says anything.
func (t *table) dropEmpty() {
	for i := len(t.head) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			t.head, t.right = slices.Delete(t.head, i, i+1), slices.Delete(t.right, i, i+1)
			for j, row := range t.rows {
				t.rows[j] = slices.Delete(row, i, i+1)
			}
		}
	}
}

// write prints the table. If it is wider than a terminal, what all rows have in common is said
// below. The columns that still have no room stand below, too, beside those that tell the rows
// apart, or beside numbers if those take too much room.
func (t *table) write(w io.Writer) {
	total := -2
	_, widths := t.measure()
	for _, wide := range widths {
		total += wide + 2
	}
	if total <= columns {
		t.parts(w)
		return
	}
	short, common := t.apart()
	short.parts(w)
	if common != nil {
		fmt.Fprintf(w, "each row: %s\n", strings.Join(common, ", "))
	}
}

// apart is the table without the columns, but for those of keys, in which all rows say the same.
func (t *table) apart() (short *table, common []string) {
	short = &table{keys: t.keys, rows: make([][]string, len(t.rows))}
	for i, name := range t.head {
		other := func(row []string) bool { return i >= len(row) || row[i] == "" || row[i] != t.rows[0][i] }
		if i >= max(t.keys, 1) && len(t.rows) > 1 && !slices.ContainsFunc(t.rows, other) {
			common = append(common, name+" "+t.rows[0][i])
			continue
		}
		short.column(name, t.right[i])
		for j, row := range t.rows {
			if i < len(row) {
				short.rows[j] = append(short.rows[j], row[i])
			}
		}
	}
	return short, common
}

// parts prints the table, in several parts if it is too wide.
func (t *table) parts(w io.Writer) {
	all, widths := t.measure()
	part := make([]int, min(max(t.keys, 1), len(t.head)))
	room := columns
	for i := range part {
		part[i], room = i, room-widths[i]-2
	}
	next := len(part)
	if rest := widths[next:]; room < columns/2 && len(rest) > 0 && slices.Max(rest) > room {
		t.numbered().parts(w)
		return
	}
	for keys := len(part); ; part = part[:keys] {
		for left := room; next < len(t.head) && (len(part) == keys || widths[next] <= left); next++ {
			part, left = append(part, next), left-widths[next]-2
		}
		for n, row := range all {
			if n > 0 && next > len(part) && blank(row, part[keys:]) {
				continue // a further part would repeat its keys for nothing
			}
			writeRow(w, t, row, part, widths)
		}
		if next == len(t.head) {
			return
		}
		fmt.Fprintln(w)
	}
}

// lines are the head and the rows, however wide.
func (t *table) lines() []string {
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
func (t *table) measure() (all [][]string, widths []int) {
	all, widths = append([][]string{t.head}, t.rows...), make([]int, len(t.head))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
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
func (t *table) numbered() *table {
	n := &table{head: append([]string{"#"}, t.head...), right: append([]bool{true}, t.right...), keys: 1}
	for i, row := range t.rows {
		n.add(append([]string{strconv.Itoa(i + 1)}, row...)...)
	}
	return n
}

// writeRow prints some columns of a row.
func writeRow(w io.Writer, t *table, row []string, part, widths []int) {
	var line strings.Builder
	for n, i := range part {
		if i >= len(row) {
			break
		}
		pad := strings.Repeat(" ", widths[i]-width(row[i]))
		if n > 0 {
			line.WriteString("  ")
		}
		if t.right[i] {
			line.WriteString(pad + row[i])
		} else {
			line.WriteString(row[i] + pad)
		}
	}
	fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
}

// isNumber says whether s would stand at the right edge of a column.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || s == ""
}
