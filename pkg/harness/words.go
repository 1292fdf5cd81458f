package harness

import (
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Words are a record as a sentence: "p3 sends ELECTION to p5". Kinds are the names of the algorithm's
// kinds of messages, and holds, if not empty, is what the message holds: "p3 sends ELECTION{ID:3} to p5".
func Words(r *trace.Record, kinds []string, holds string) string {
	p, q := fmt.Sprintf("p%d", r.Process), fmt.Sprintf("p%d", r.Peer)
	switch r.Type {
	case trace.Send:
		return p + " sends " + KindName(r.Plane, r.Kind, kinds) + holds + " to " + q
	case trace.Duplicate:
		return "the network duplicates " + KindName(r.Plane, r.Kind, kinds) + holds + " of " + p + " to " + q
	case trace.Deliver:
		return p + " receives " + KindName(r.Plane, r.Kind, kinds) + holds + " from " + q
	case trace.Lose:
		return KindName(r.Plane, r.Kind, kinds) + holds + " from " + q + " to " + p + " is lost"
	case trace.Undelivered:
		return KindName(r.Plane, r.Kind, kinds) + holds + " from " + q + " finds " + p + " down"
	case trace.Up:
		if r.Incarnation > 0 {
			return p + " is up again"
		}
		return p + " is up"
	case trace.Cause:
		return "what is measured begins"
	case trace.Elected:
		return naming(p, q, r)
	case trace.Do:
		return strings.TrimSuffix(p+" is instructed: "+r.Text, ": ")
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
		verb := [...]string{trace.Kept: "saves", trace.Forgotten: "saves in vain",
			trace.Refused: "cannot save"}[r.Peer]
		return strings.TrimSpace(p + " " + verb + " its state " + holds)
	case trace.Written, trace.Unwritten:
		return written(p, q, r)
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
	trace.Elect:    "starts an election",
	trace.Done:     "has had all its entries",
	trace.Handled:  "has handled this until now",
}

// written is how a write of a client, or of the holder of a lock, ended.
func written(p, q string, r *trace.Record) string {
	began := time.Duration(r.Arg).String()
	switch {
	case r.Seq == 0 && r.Type == trace.Written:
		return "what " + p + " began to write at " + began + " as the holder is accepted"
	case r.Seq == 0:
		return "what " + p + " began to write at " + began + " as the holder is refused"
	case r.Type == trace.Written:
		return q + " acknowledges the write that the client of " + p + " began at " + began
	case r.Peer == 0:
		return "the client of " + p + " has no leader to write to"
	}
	return q + " does not acknowledge the write that the client of " + p + " began at " + began
}

func naming(p, q string, r *trace.Record) string {
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

// KindName is the name of a kind of messages, of the algorithm's own or of the detector's.
func KindName(plane, kind uint8, kinds []string) string {
	switch {
	case plane == trace.Detection && kind == Heartbeat:
		return "HEARTBEAT"
	case int(kind) < len(kinds):
		return kinds[kind]
	}
	return fmt.Sprintf("kind %d", kind)
}
