package console

import (
	"fmt"
	"io"
	"strings"
)

// Markdown keeps text from being read as a table, a tag or a mention.
func Markdown(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "'",
		"@", "&#64;", "[", `\[`, "]", `\]`, "~", `\~`).Replace(text)
}

// Markdown writes the table for a forge, of whose cells escape makes text.
func (t *Table) Markdown(w io.Writer, escape func(string) string) {
	line := func(cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.Head)
	rule := make([]string, len(t.Head))
	for i, right := range t.Right {
		rule[i] = "---"
		if right {
			rule[i] = "---:"
		}
	}
	line(rule)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = escape(cell)
		}
		line(cells)
	}
	fmt.Fprintln(w)
}
