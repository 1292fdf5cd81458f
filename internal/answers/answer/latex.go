package answer

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// writeLatex renders each table for booktabs; text and notes are comments.
func writeLatex(w io.Writer, d *Document) error {
	comment := func(text string) { fmt.Fprintf(w, "%% %s\n", strings.ReplaceAll(text, "\n", "\n% ")) }
	comment(strings.TrimSpace("conclave " + d.Verb + ": " + d.Title))
	for _, b := range d.For(People) {
		switch b := b.(type) {
		case Text:
			comment(string(b))
		case Lines:
			comment(string(b))
		case File:
			comment(strings.TrimSpace(b.line() + "\n" + b.Text))
		case Note:
			comment(b.kind() + ": " + b.Text)
		case Section:
			comment(b.Name)
		case Picture:
			if line := b.line(); line != "" {
				comment(line)
			}
		case Facts:
			for _, line := range b.lines() {
				comment(line)
			}
		case *Table:
			b.latex(w)
		}
	}
	_, err := fmt.Fprintf(w, "%% verdict: %s\n", d.Verdict)
	return err
}

func (t *Table) latex(w io.Writer) {
	if title := cmp.Or(t.Title, t.Fold); title != "" {
		fmt.Fprintf(w, "%% %s\n", title)
	}
	var form strings.Builder
	for _, i := range t.places(People) {
		if t.Columns[i].Kind.right() {
			form.WriteByte('r')
		} else {
			form.WriteByte('l')
		}
	}
	line := func(cells []string) {
		for i, cell := range cells {
			cells[i] = Latex(cell)
		}
		if strings.HasPrefix(cells[0], "[") { // it would be taken for an option of the line above
			cells[0] = "{}" + cells[0]
		}
		fmt.Fprintf(w, "  %s \\\\\n", strings.Join(cells, " & "))
	}
	fmt.Fprintf(w, "\\begin{tabular}{%s}\n  \\toprule\n", &form)
	line(t.heads())
	fmt.Fprint(w, "  \\midrule\n")
	for _, row := range t.Rows {
		line(t.cells(row))
	}
	fmt.Fprint(w, "  \\bottomrule\n\\end{tabular}\n")
}

var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`,
	"#", `\#`, "%", `\%`, "_", `\_`, "^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "\n", " ",
	"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, `"`, `{''}`, "*", `{*}`)

// Latex is text for LaTeX.
func Latex(text string) string { return latexEscapes.Replace(text) }
