package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A table is text in columns for people; files and --json are for programs.
type table struct {
	head  []string
	right []bool // columns of numbers
	rows  [][]string
}

// column adds a column; numbers stand at its right edge.
func (t *table) column(name string, number bool) {
	t.head, t.right = append(t.head, name), append(t.right, number)
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	widths := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if t.right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// isNumber says whether s would stand at the right edge of a column.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || s == ""
}
