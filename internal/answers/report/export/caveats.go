package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
)

// mostNamed is how many cells a caveat names.
const mostNamed = 3

// caveats are what a reader of the exported cells has to know: what the run said of itself, and what is
// wrong with cells, a line each.
func (s *selection) caveats() (out []string) {
	switch m := s.run.Manifest; {
	case m != nil:
		out = slices.Clone(m.Notes)
	case s.run.Header != nil:
		out = []string{"the folder has no manifest: what the run noted about itself is missing"}
	}
	var texts []string
	cells := map[string][]string{}
	for _, c := range s.cells {
		for _, caveat := range view.Caveats(c) {
			text := caveat.String()
			if cells[text] == nil {
				texts = append(texts, text)
			}
			cells[text] = append(cells[text], s.name(c))
		}
	}
	for _, text := range texts {
		named := cells[text]
		more := ""
		if n := len(named) - mostNamed; n > 0 {
			named, more = named[:mostNamed], fmt.Sprintf(" and %d more", n)
		}
		out = append(out, text+": "+strings.Join(named, ", ")+more)
	}
	return out
}

// comments are the caveats behind the sign of a comment, a paragraph each; "" if there are none.
func (s *selection) comments(sign string) string {
	var b bytes.Buffer
	for i, text := range s.caveats() {
		text = console.WrapTo(fmt.Sprintf("Caveat %d: %s.", i+1, printable(text)), 0, 90)
		fmt.Fprintf(&b, "%s %s\n", sign, strings.ReplaceAll(text, "\n", "\n"+sign+" "))
	}
	return b.String()
}

// listed are the caveats in Markdown; "" if there are none.
func (s *selection) listed() string {
	var b bytes.Buffer
	for i, text := range s.caveats() {
		if i == 0 {
			b.WriteString("\nCaveats:\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", inText(text))
	}
	return b.String()
}

// beside is a file with the caveats of one that has no place for them; nothing if there are none.
func (s *selection) beside(name string) (out []File) {
	var b bytes.Buffer
	for _, text := range s.caveats() {
		fmt.Fprintf(&b, "- %s\n", text)
	}
	if b.Len() > 0 {
		out = append(out, File{Name: name + ".caveats.txt", Data: b.Bytes(), Beside: true})
	}
	return out
}
