package diagram

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// What Mermaid, and the forges that show its diagrams, take at once.
const (
	mermaidMessages = 100
	mermaidNotes    = 150
	mermaidBytes    = 40_000
)

// A mermaidLine is a line of a sequence diagram, of these processes.
type mermaidLine struct {
	text    string
	message bool
	of      []uint32
}

// mermaid writes a sequence diagram. Its order is that of what the receivers see; how
// long a message took it cannot show.
func (d *Diagram) mermaid(w io.Writer) ([]string, error) {
	lines := d.mermaidLines()
	drawn := fitting(lines, d.win.Event > 0)
	var notes []string
	if len(drawn) < len(lines) {
		notes = append(notes, fmt.Sprintf("shows %d of %s, since Mermaid takes few: choose others with "+
			"--from, --to and --event", messages(drawn),
			console.Plural(messages(lines), "message", "messages")))
	}
	var who []uint32
	for _, l := range drawn {
		who = append(who, l.of...)
	}
	slices.Sort(who)
	var out strings.Builder
	out.WriteString("sequenceDiagram\n")
	for _, p := range slices.Compact(who) {
		fmt.Fprintf(&out, "    participant p%d\n", p)
	}
	for _, l := range drawn {
		fmt.Fprintf(&out, "    %s\n", l.text)
	}
	_, err := io.WriteString(w, out.String())
	return notes, err
}

func messages(lines []mermaidLine) (n int) {
	for _, l := range lines {
		if l.message {
			n++
		}
	}
	return n
}

// fitting is as many lines as there is room for, the first ones or the last ones.
func fitting(lines []mermaidLine, last bool) []mermaidLine {
	sent, notes, size := 0, 0, 0
	for i := range lines {
		l := lines[i]
		if last {
			l = lines[len(lines)-1-i]
		}
		size += len(l.text) + 5
		if l.message {
			sent++
		} else {
			notes++
		}
		if sent > mermaidMessages || notes > mermaidNotes || size > mermaidBytes {
			if last {
				return lines[len(lines)-i:]
			}
			return lines[:i]
		}
	}
	return lines
}

// mermaidLines are all that is to be drawn.
func (d *Diagram) mermaidLines() (out []mermaidLine) {
	for i := range d.trace.Records {
		r := &d.trace.Records[i]
		if !d.kept[i] {
			continue
		}
		if m, ok := d.story.byEnd[i]; ok {
			out = append(out, d.mermaidMessage(&d.story.messages[m]))
			continue
		}
		at := r.At.Round(time.Microsecond)
		text := fmt.Sprintf("%s, %v", mermaidText(sentence(r, d.trace.Kinds)), at)
		switch {
		case r.Process == 0:
			text = fmt.Sprintf("Note over p1,p%d: %s", d.story.nodes, text)
			out = append(out, mermaidLine{text: text, of: []uint32{1, uint32(d.story.nodes)}})
		case silent(r):
		default:
			out = append(out, mermaidLine{text: fmt.Sprintf("Note over p%d: %s", r.Process, text),
				of: []uint32{r.Process}})
		}
	}
	for i := range d.story.messages {
		m := &d.story.messages[i]
		if d.shown(m) && (m.end < 0 || !d.kept[m.end]) {
			onItsWay := message{from: m.from, to: m.to, kind: m.kind, plane: m.plane}
			out = append(out, d.mermaidMessage(&onItsWay))
		}
	}
	return out
}

// silent says whether a record needs no note: it stands in an arrow, or says little.
func silent(r *trace.Record) bool {
	switch r.Type {
	case trace.Send, trace.Duplicate, trace.Save, trace.Done, trace.Written:
		return true
	}
	return r.Type == trace.Up && r.Incarnation == 0
}

func (d *Diagram) mermaidMessage(m *message) mermaidLine {
	arrow, what := "-)", " (in flight)"
	switch m.fate {
	case delivered:
		arrow, what = "->>", ""
	case lost:
		arrow, what = "-x", " (lost)"
	case undelivered:
		arrow, what = "--x", " (down)"
	}
	text := fmt.Sprintf("p%d%sp%d: %s%s", m.from, arrow, m.to,
		mermaidText(harness.KindName(m.plane, m.kind, d.trace.Kinds)), what)
	return mermaidLine{text, true, []uint32{m.from, m.to}}
}

// mermaidEntities are what means something else to Mermaid. Its escapes begin with #
// and end with a semicolon.
var mermaidEntities = strings.NewReplacer("#", "#35;", ";", "#59;", "<", "#60;", ">", "#62;", "%", "#37;",
	"{", "#123;", "}", "#125;", "\\", "#92;")

// mermaidText is text that Mermaid shows as it is. The word end would end a block.
func mermaidText(text string) string {
	words := strings.Split(mermaidEntities.Replace(short(oneLine(text), 200)), " ")
	for i, w := range words {
		if strings.EqualFold(strings.Trim(w, ".,:()[]"), "end") {
			words[i] = strings.NewReplacer("e", "#101;", "E", "#69;").Replace(w)
		}
	}
	return strings.Join(words, " ")
}
