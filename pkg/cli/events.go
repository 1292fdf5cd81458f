package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// printEvents writes what happened, a line for each record.
func printEvents(w io.Writer, list trace.List, kinds []string) {
	for i := range list {
		r := &list[i]
		if text := sentence(r, kinds); text != "" {
			fmt.Fprintf(w, "%12s  %s\n", r.At.Round(time.Microsecond), text)
		}
	}
}

// sentence is a record in words, such as "p3 sends ELECTION to p5".
func sentence(r *trace.Record, kinds []string) string {
	p, q := fmt.Sprintf("p%d", r.Process), fmt.Sprintf("p%d", r.Peer)
	switch r.Type {
	case trace.Send:
		return p + " sends " + kindOf(r, kinds) + " to " + q
	case trace.Duplicate:
		return "the network duplicates " + kindOf(r, kinds) + " of " + p + " to " + q
	case trace.Deliver:
		return p + " receives " + kindOf(r, kinds) + " from " + q
	case trace.Lose:
		return kindOf(r, kinds) + " from " + q + " to " + p + " is lost"
	case trace.Undelivered:
		return kindOf(r, kinds) + " from " + q + " finds " + p + " down"
	case trace.Up:
		if r.Incarnation > 0 {
			return p + " is up again"
		}
		return p + " is up"
	case trace.Cut:
		return "links are cut: " + r.Text
	case trace.Heal:
		return "links heal: " + r.Text
	case trace.Cause:
		return "what is measured begins"
	case trace.Elected:
		return elected(p, q, r)
	case trace.Do:
		return p + " is told: " + r.Text
	case trace.Timeout:
		return p + " times out: " + r.Text
	case trace.Log:
		return p + " notes: " + r.Text
	case trace.Suspect:
		return p + " suspects " + q
	case trace.Restore:
		return p + " trusts " + q + " again"
	}
	if verb, ok := verbs[r.Type]; ok {
		return p + " " + verb
	}
	return fmt.Sprintf("%s: %v", p, r.Type)
}

// verbs are the records that are about one process and nothing else.
var verbs = map[trace.Type]string{
	trace.Crash:    "crashes",
	trace.Request:  "requests the critical section",
	trace.Granted:  "enters the critical section",
	trace.Released: "leaves the critical section",
	trace.Elect:    "is made an initiator",
	trace.Save:     "saves its state",
	trace.Pause:    "is paused",
	trace.Resume:   "goes on",
	trace.Done:     "has had all its entries",
}

func elected(p, q string, r *trace.Record) string {
	if r.Peer == 0 {
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

// kindOf is the name of a message's kind.
func kindOf(r *trace.Record, kinds []string) string {
	switch {
	case r.Plane == trace.Detection && r.Kind == harness.Heartbeat:
		return "HEARTBEAT"
	case int(r.Kind) < len(kinds):
		return kinds[r.Kind]
	}
	return fmt.Sprintf("kind %d", r.Kind)
}
