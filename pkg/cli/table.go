package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A table is text in columns for people; files and --json are for programs.
type table struct {
	head  []string
	right []bool // columns of numbers
	rows  [][]string
	keys  int // columns that tell the rows apart; 0: lines may be as wide as they are
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

// write prints the table. If it is wider than a terminal, the columns that have no room stand
// below, beside those that tell the rows apart; a table without such columns is not parted.
func (t *table) write(w io.Writer) {
	widths := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var keys []int
	room := columns
	for i := range t.keys {
		keys = append(keys, i)
		room -= widths[i] + 2
	}
	for next := t.keys; next < len(t.head); {
		part, left := slices.Clone(keys), room
		for next < len(t.head) && (t.keys == 0 || len(part) == t.keys || widths[next] <= left) {
			part, left = append(part, next), left-widths[next]-2
			next++
		}
		for _, row := range all {
			writeRow(w, t, row, part, widths)
		}
		if next < len(t.head) {
			fmt.Fprintln(w)
		}
	}
}

// writeRow prints some columns of a row.
func writeRow(w io.Writer, t *table, row []string, part, widths []int) {
	var line strings.Builder
	for n, i := range part {
		if i >= len(row) {
			break
		}
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(row[i]))
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
