package diagram

import (
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// sentence is a record in words, such as "p3 sends ELECTION to p5".
func sentence(r *trace.Record, kinds []string) string { return inFull(r, kinds, "") }

// inFull is a record in words with what its message holds: "p3 sends ELECTION{ID:3} to p5".
func inFull(r *trace.Record, kinds []string, holds string) string {
	p, q := fmt.Sprintf("p%d", r.Process), fmt.Sprintf("p%d", r.Peer)
	switch r.Type {
	case trace.Send:
		return p + " sends " + kindOf(r, kinds) + holds + " to " + q
	case trace.Duplicate:
		return "the network duplicates " + kindOf(r, kinds) + holds + " of " + p + " to " + q
	case trace.Deliver:
		return p + " receives " + kindOf(r, kinds) + holds + " from " + q
	case trace.Lose:
		return kindOf(r, kinds) + holds + " from " + q + " to " + p + " is lost"
	case trace.Undelivered:
		return kindOf(r, kinds) + holds + " from " + q + " finds " + p + " down"
	case trace.Up:
		if r.Incarnation > 0 {
			return p + " is up again"
		}
		return p + " is up"
	case trace.Cause:
		return "what is measured begins"
	case trace.Elected:
		return elected(p, q, r)
	case trace.Do:
		return strings.TrimSuffix(p+" is told: "+r.Text, ": ")
	case trace.Timeout:
		return p + " times out: " + r.Text
	case trace.Log:
		return p + " notes: " + r.Text
	case trace.Unsound:
		return "the invariant of " + p + " does not hold: " + r.Text
	case trace.Suspect:
		return p + " suspects " + q
	case trace.Restore:
		return p + " trusts " + q + " again"
	case trace.Save:
		return strings.TrimSpace(p + " saves its state " + holds)
	}
	if text := fault.Sentence(r); text != "" {
		return text
	}
	if verb, ok := verbs[r.Type]; ok {
		if (r.Type == trace.Request || r.Type == trace.Granted) && r.Peer != 0 {
			verb += fmt.Sprintf(" in session %d", r.Peer)
		}
		return p + " " + verb
	}
	return fmt.Sprintf("%s: %v", p, r.Type)
}

// verbs are the records that are about one process and nothing else.
var verbs = map[trace.Type]string{
	trace.Request:  "requests the critical section",
	trace.Granted:  "enters the critical section",
	trace.Released: "leaves the critical section",
	trace.Elect:    "is made an initiator",
	trace.Done:     "has had all its entries",
	trace.Handled:  "has handled this until now",
}

func elected(p, q string, r *trace.Record) string {
	switch {
	case r.Peer == 0 && r.Arg > 0:
		return fmt.Sprintf("%s stands for election in term %d", p, r.Arg)
	case r.Peer == 0:
		return p + " names no leader"
	}
	if r.Peer == r.Process {
		q = "itself"
	}
	text := p + " names " + q + " leader"
	if r.Arg > 0 {
		text += fmt.Sprintf(" in term %d", r.Arg)
	}
	return text
}

// kindOf is the name of the kind of r's message.
func kindOf(r *trace.Record, kinds []string) string { return kindName(r.Plane, r.Kind, kinds) }

func kindName(plane, kind uint8, kinds []string) string {
	switch {
	case plane == trace.Detection && kind == harness.Heartbeat:
		return "HEARTBEAT"
	case int(kind) < len(kinds):
		return kinds[kind]
	}
	return fmt.Sprintf("kind %d", kind)
}

// words are a message with both of its ends.
func (d *Diagram) words(m *message) string {
	text := fmt.Sprintf("%s%s p%d→p%d, sent at %v", kindName(m.plane, m.kind, d.trace.Kinds),
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
		text += ", still on its way at the end"
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
