package answer

import (
	"fmt"
	"io"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// writeMarkdown renders for a forge.
func writeMarkdown(w io.Writer, d *Document) error {
	careful, rest := d.paged()
	for _, n := range careful {
		n.markdown(w)
	}
	if d.Title != "" {
		fmt.Fprintf(w, "## %s\n\n", console.Markdown(d.Title))
	}
	for _, b := range rest {
		switch b := b.(type) {
		case Section:
			fmt.Fprintf(w, "## %s\n\n", console.Markdown(b.Name))
			if b.Title != "" {
				fmt.Fprintf(w, "### %s\n\n", console.Markdown(b.Title))
			}
		case Text:
			if text := strings.Trim(string(b), "\n"); text != "" {
				fmt.Fprintf(w, "%s\n\n", strings.ReplaceAll(console.Markdown(text), "\n", "  \n"))
			}
		case Lines:
			fence(w, string(b))
		case File:
			fmt.Fprintf(w, "%s\n\n", console.Markdown(b.line()))
			fence(w, b.Text)
		case Note:
			b.markdown(w)
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
			if b.Fold != "" {
				fmt.Fprintf(w, "<details><summary>%s</summary>\n\n", console.Markdown(b.Fold))
				b.grid(0).Markdown(w, console.Markdown)
				for line := range strings.Lines(b.Below) {
					fmt.Fprintf(w, "- %s\n", console.Markdown(strings.TrimSpace(line)))
				}
				fmt.Fprint(w, "\n</details>\n\n")
				continue
			}
			if len(b.Rows) == 0 && b.Empty != "" {
				fmt.Fprintf(w, "%s\n\n", console.Markdown(b.Empty))
				continue
			}
			if b.Newest > 0 {
				b.listMarkdown(w)
				continue
			}
			plain := *b
			plain.Terms = false
			plain.grid(0).Markdown(w, console.Markdown)
		}
	}
	_, err := fmt.Fprintf(w, "Verdict: %s (exit code %d)\n", console.Markdown(d.Verdict), d.Exit)
	return err
}

// fence writes text as it is, if there is any.
func fence(w io.Writer, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		marks := "```"
		for strings.Contains(text, marks) {
			marks += "`"
		}
		fmt.Fprintf(w, "%s\n%s\n%s\n\n", marks, text, marks)
	}
}

// markdown is the note, with what is wrong in bold type.
func (n *Note) markdown(w io.Writer) {
	text := console.Markdown(n.Text)
	if n.Kind != "" {
		text = "**" + n.Kind + "**: " + text
	}
	if n.Hint != "" {
		text += "\n  `" + n.Hint + "`"
	}
	mark := "> "
	if n.Kind != "" && n.Kind != Careful {
		mark = "- "
	}
	fmt.Fprintf(w, "%s%s\n\n", mark, text)
}
