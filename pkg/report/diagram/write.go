package diagram

import (
	"fmt"
	"io"
	"strings"
)

// Formats are the names of what a diagram can be written as; the first is the usual
// one.
var Formats = []string{"svg", "shiviz", "perfetto", "mermaid"}

// Write writes the diagram in one of Formats, and returns what it leaves out, a
// sentence each.
func (d *Diagram) Write(w io.Writer, format string) ([]string, error) {
	switch format {
	case "svg":
		return d.SVG(w)
	case "shiviz":
		return d.ShiViz(w)
	case "perfetto":
		return d.Perfetto(w)
	case "mermaid":
		return d.Mermaid(w)
	}
	return nil, fmt.Errorf("unknown format %q, want one of: %s", format, strings.Join(Formats, ", "))
}
