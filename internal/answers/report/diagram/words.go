package diagram

import (
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// sentence is a record in words, such as "p3 sends ELECTION to p5".
func sentence(r *trace.Record, kinds []string) string { return harness.Words(r, kinds, "") }

// words are a message with both of its ends.
func (d *Diagram) words(m *message) string {
	text := fmt.Sprintf("%s%s p%d→p%d, sent at %v", harness.KindName(m.plane, m.kind, d.trace.Kinds),
		short(d.trace.detail(max(m.send, m.end)).Message, mostDetail), m.from, m.to,
		m.sent.Round(time.Microsecond))
	if m.copy > 0 {
		text = "second copy of " + text
	}
	at := m.at.Round(time.Microsecond)
	switch m.fate {
	case delivered:
		text += fmt.Sprintf(", delivered at %v", at)
		if late := m.late(d.trace.Records); late > 0 {
			text += fmt.Sprintf(", %v after it was due", late)
		}
	case lost:
		text += ", lost" + reasons[m.why]
	case undelivered:
		text += fmt.Sprintf(": p%d was down at %v", m.to, at)
	default:
		text += ", still in flight at the end"
	}
	return text + d.changed(m.end)
}

// mostDetail is how long a text is, in runes, that tells what a message holds or what changed.
const mostDetail = 400

// changed says what record i changed in its process, behind what is said of it: "; p2:
// status 1 → 2".
func (d *Diagram) changed(i int) string {
	parts := changes(d.trace.detail(i).Changes)
	if parts == nil {
		return ""
	}
	text := short(strings.Join(parts, ", "), mostDetail)
	return fmt.Sprintf("; p%d: %s", d.trace.Records[i].Process, text)
}

// changes are the changes of a process in words, such as "open [3] → []".
func changes(list []harness.Change) (parts []string) {
	for _, c := range list {
		text := c.Name + " " + c.After
		if c.Before != "" {
			text = c.Name + " " + c.Before + " → " + c.After
		}
		parts = append(parts, text)
	}
	return parts
}

// reasons say why a message was lost.
var reasons = map[uint64]string{
	0:                " by the network",
	trace.WithSender: ": it died with its sender",
	trace.Omitted:    ": a scheduled fault",
	trace.Severed:    ": the link was cut",
}

// oneLine is text without what ends a line or cannot be printed.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t', r == '\u2028', r == '\u2029', r == '\u0085':
			return ' '
		case r < ' ', r == 0x7f:
			return -1
		}
		return r
	}, text)
}
