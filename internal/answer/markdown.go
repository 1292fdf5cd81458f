package answer

import (
	"fmt"
	"io"

	"github.com/conclave-bench/conclave/internal/console"
)

// writeMarkdown renders for a forge.
func writeMarkdown(w io.Writer, d *Document) error {
	if d.Title != "" {
		fmt.Fprintf(w, "## %s\n\n", console.Markdown(d.Title))
	}
	for _, b := range d.For(People) {
		switch b := b.(type) {
		case Text:
			fmt.Fprintf(w, "%s\n\n", console.Markdown(string(b)))
		case Note:
			fmt.Fprintf(w, "> %s\n\n", console.Markdown(b.Text))
		case Picture:
			if line := b.line(); line != "" {
				fmt.Fprintf(w, "- %s\n\n", console.Markdown(line))
			}
		case Facts:
			for _, line := range b.lines() {
				fmt.Fprintf(w, "- %s\n", console.Markdown(line))
			}
			fmt.Fprintln(w)
		case *Table:
			if b.Title != "" {
				fmt.Fprintf(w, "### %s\n\n", console.Markdown(b.Title))
			}
			if len(b.Rows) == 0 && b.Empty != "" {
				fmt.Fprintf(w, "%s\n\n", console.Markdown(b.Empty))
				continue
			}
			plain := *b
			plain.Terms = false
			plain.grid().Markdown(w)
		}
	}
	_, err := fmt.Fprintf(w, "Verdict: %s (exit code %d)\n", console.Markdown(d.Verdict), d.Exit)
	return err
}
