package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// A list is a table whose rows people read as sentences: the first column is a head that rows may
// share, the second the sentence, the third lines below it.

// listText renders it for a terminal.
func (t *Table) listText(w io.Writer) {
	last := ""
	for _, row := range t.Rows {
		cells := t.cells(row)
		if cells[0] != last {
			last = cells[0]
			fmt.Fprintf(w, "\n%s\n", last)
		}
		fmt.Fprintf(w, "  %s\n", cells[1])
		for line := range strings.Lines(cells[2]) {
			fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	fmt.Fprintln(w)
}

// listMarkdown renders its newest rows, which are the last ones, and all of them folded.
func (t *Table) listMarkdown(w io.Writer) {
	item := func(row []Value) []string {
		cells := t.cells(row)
		fmt.Fprintf(w, "- %s: %s", console.Markdown(cells[0]), console.Markdown(cells[1]))
		return cells
	}
	shown := t.Urgent
	for i := range t.Rows {
		if t.Urgent == nil {
			shown = append(shown, i)
		}
	}
	if len(shown) > t.Newest {
		fmt.Fprintf(w, "The newest %d of %d:\n\n", t.Newest, len(shown))
		shown = shown[len(shown)-t.Newest:]
	}
	for _, i := range slices.Backward(shown) {
		item(t.Rows[i])
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n<details><summary>all %d</summary>\n\n", len(t.Rows))
	for _, row := range t.Rows {
		below := item(row)[2]
		if head, rest, several := strings.Cut(below, "\n"); several {
			fmt.Fprintf(w, "\n\n  ```\n  %s\n  %s\n  ```", head, strings.ReplaceAll(rest, "\n", "\n  "))
		} else if below != "" {
			fmt.Fprintf(w, "; %s", console.Markdown(below))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "\n</details>\n\n")
}
