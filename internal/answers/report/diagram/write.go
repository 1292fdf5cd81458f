package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Formats are the names of what a diagram can be written as; the first is the usual
// one.
var Formats = []string{"svg", "shiviz", "perfetto", "mermaid", "events", "html"}

// Tells says whether a format of Formats shows Details and Breaches.
func Tells(format string) bool { return format == "svg" || format == "html" }

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
	case "html":
		return d.html(w)
	case "events":
		return nil, WriteEvents(w, d.trace.Records, d.trace.Kinds, d.kept, nil)
	}
	return nil, fmt.Errorf("unknown format %q, expected one of: %s", format, strings.Join(Formats, ", "))
}

// WriteEvents writes records in words, a line each: its number, which Window.Event
// means, when it was, and what happened. Those that kept leaves out are not written; a
// nil kept leaves out none. With details, messages are written with what they hold, and
// each event is followed by what it changed, in lines of 80 columns.
func WriteEvents(w io.Writer, list trace.List, kinds []string, kept []bool,
	details []harness.Detail) error {
	out := bufio.NewWriter(w)
	width := len(fmt.Sprint(len(list)))
	for i := range list {
		r := &list[i]
		if kept != nil && !kept[i] {
			continue
		}
		head := fmt.Sprintf("%*d %12s  ", width, i+1, r.At.Round(time.Microsecond))
		if details == nil {
			fmt.Fprintf(out, "%s%s\n", head, oneLine(sentence(r, kinds)))
			continue
		}
		room := 80 - len(head)
		for _, line := range fold([]string{harness.Words(r, kinds, details[i].Message)}, room) {
			fmt.Fprintf(out, "%s%s\n", head, line)
			head = strings.Repeat(" ", len(head))
		}
		for _, line := range fold(changes(details[i].Changes), room-2) {
			fmt.Fprintf(out, "%s  %s\n", head, line)
		}
	}
	return out.Flush()
}

// An Event is a record, for programs.
type Event struct {
	Number  int      `json:"event"` // from 1
	At      int64    `json:"at_ns"`
	Type    string   `json:"type"`
	Process uint32   `json:"process,omitempty"` // none: it is of the network
	Peer    uint32   `json:"peer,omitempty"`
	Text    string   `json:"text"`              // in words
	Message string   `json:"message,omitempty"` // its kind
	Holds   string   `json:"holds,omitempty"`   // what it holds
	Changes []Change `json:"changes,omitempty"`
}

// A Change is of a variable of an event's process.
type Change struct {
	Name   string `json:"variable"`
	Before string `json:"before,omitempty"` // absent: the process comes up
	After  string `json:"after"`
}

// Events are the records, for programs; details may be nil.
func Events(list trace.List, kinds []string, details []harness.Detail) []Event {
	t := Trace{Details: details}
	out := make([]Event, len(list))
	for i := range list {
		r, d := &list[i], t.detail(i)
		e := Event{Number: i + 1, At: int64(r.At), Type: r.Type.String(), Process: r.Process, Peer: r.Peer,
			Text: harness.Words(r, kinds, d.Message), Holds: d.Message}
		if r.Type.IsMessage() {
			e.Message = harness.KindName(r.Plane, r.Kind, kinds)
		}
		for _, c := range d.Changes {
			e.Changes = append(e.Changes, Change(c))
		}
		out[i] = e
	}
	return out
}

// Listed are the records that are drawn, for programs.
func (d *Diagram) Listed() (out []Event) {
	for i, e := range Events(d.trace.Records, d.trace.Kinds, d.trace.Details) {
		if d.kept[i] {
			out = append(out, e)
		}
	}
	return out
}

// fold puts parts into lines of so many columns, with commas between them. A part that is
// longer than a line is broken, at a space if there is one.
func fold(parts []string, columns int) (lines []string) {
	var line []rune
	for i, part := range parts {
		if part = oneLine(part); i+1 < len(parts) {
			part += ","
		}
		next := []rune(part)
		if len(line) > 0 && len(line)+1+len(next) <= columns {
			line = append(append(line, ' '), next...)
			continue
		}
		if len(line) > 0 {
			lines = append(lines, string(line))
		}
		for line = next; len(line) > columns; {
			at, skip := columns, 0
			for k := columns; k > columns/2; k-- {
				if line[k] == ' ' {
					at, skip = k, 1
					break
				}
			}
			lines, line = append(lines, string(line[:at])), line[at+skip:]
		}
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}
