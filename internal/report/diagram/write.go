package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// Formats are the names of what a diagram can be written as; the first is the usual
// one.
var Formats = []string{"svg", "shiviz", "perfetto", "mermaid", "events"}

// Write writes the diagram in one of Formats, and returns what it leaves out, a
// sentence each.
func (d *Diagram) Write(w io.Writer, format string) ([]string, error) {
	switch format {
	case "svg":
		return d.SVG(w)
	case "shiviz":
		return d.shiViz(w)
	case "perfetto":
		return d.perfetto(w)
	case "mermaid":
		return d.mermaid(w)
	case "events":
		return nil, WriteEvents(w, d.trace.Records, d.trace.Kinds, d.kept)
	}
	return nil, fmt.Errorf("unknown format %q, want one of: %s", format, strings.Join(Formats, ", "))
}

// WriteEvents writes records in words, a line each: its number, which Window.Event
// means, when it was, and what happened. Those that kept leaves out are not written; a
// nil kept leaves out none.
func WriteEvents(w io.Writer, list trace.List, kinds []string, kept []bool) error {
	out := bufio.NewWriter(w)
	width := len(fmt.Sprint(len(list)))
	for i := range list {
		if r := &list[i]; kept == nil || kept[i] {
			fmt.Fprintf(out, "%*d %12s  %s\n", width, i+1, r.At.Round(time.Microsecond),
				oneLine(sentence(r, kinds)))
		}
	}
	return out.Flush()
}
