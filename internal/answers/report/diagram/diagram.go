// Package diagram draws what happened in a trial: a line for each process, time
// along it, and an arrow for each message, as an SVG; and the same for other
// tools, as a ShiViz log, as a trace for Perfetto, and as a sequence diagram for
// Mermaid; or a list of events in words. It runs nothing and reads no folder: it is
// handed records.
package diagram

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Trace is what a diagram is drawn of.
type Trace struct {
	Title   string
	Kinds   []string // names of the kinds that records of messages index
	Records trace.List
	Nodes   int       // how many processes; 0: as many as the records name
	Leader  uint32    // settled before the start; 0: none
	Room    algo.Room // whom the critical section holds; the zero value: one
	// Details are what the records do not say, for each of them; nil: nobody knows.
	Details  []harness.Detail
	Breaches []check.Breach // broken promises, in the order of their records
	Verdict  string         // how the trial ended, in words; "": not known
	Note     string         // why Details are missing or uncertain; "": they are not
	Back     string         // address of the run's trials, for the page; "": it stands alone
}

// detail is what record i does not say.
func (t *Trace) detail(i int) (d harness.Detail) {
	if i >= 0 && i < len(t.Details) {
		d = t.Details[i]
	}
	return d
}

// A Window is the part of a trace that is drawn. The zero Window is all of it but
// the messages of failure detectors.
type Window struct {
	From, To time.Duration // zero: from the first record, to the last one
	// Event is a record, counted from 1: its causal past alone is drawn, which is
	// all that could have led to it. 0: no such limit.
	Event    int
	Detector bool // messages of failure detectors, and acknowledgements, too
	Most     int  // events of a page to step through; 0: mostPlayed
}

// A Diagram is a trace and what of it is drawn.
type Diagram struct {
	trace Trace
	win   Window
	story *story
	kept  []bool // which records are drawn
	from  time.Duration
	to    time.Duration
}

// New chooses what of t is drawn.
func New(t Trace, w Window) (*Diagram, error) {
	if len(t.Records) == 0 {
		return nil, fmt.Errorf("the trace is empty: there is nothing to draw")
	}
	if w.Event < 0 || w.Event > len(t.Records) {
		return nil, fmt.Errorf("event %d: the trace has events 1 to %d", w.Event, len(t.Records))
	}
	d := &Diagram{trace: t, win: w, story: tell(&t), kept: make([]bool, len(t.Records))}
	first, last := t.Records[0].At, t.Records[0].At
	for i := range t.Records {
		first, last = min(first, t.Records[i].At), max(last, t.Records[i].At)
	}
	if w.Event > 0 {
		last = t.Records[w.Event-1].At
		d.story.past(w.Event-1, d.kept)
	} else {
		for i := range d.kept {
			d.kept[i] = true
		}
	}
	any := false
	d.from, d.to = last, first
	for i := range d.kept {
		r := &t.Records[i]
		inside := (w.From == 0 || r.At >= w.From) && (w.To == 0 || r.At <= w.To)
		d.kept[i] = d.kept[i] && inside && (w.Detector || !detection(r))
		if d.kept[i] {
			any, d.from, d.to = true, min(d.from, r.At), max(d.to, r.At)
		}
	}
	if !any {
		return nil, fmt.Errorf("nothing happens there: the records go from %v to %v", first, last)
	}
	if w.From != 0 {
		d.from = max(w.From, first)
	}
	if w.To != 0 {
		d.to = min(w.To, last)
	}
	return d, nil
}

func detection(r *trace.Record) bool { return r.Type.IsMessage() && r.Plane == trace.Detection }

// own says whether r is an event of its process: something that it did or noticed.
// The others are done to the network, or to a message whose receiver knows nothing
// of it.
func own(r *trace.Record) bool {
	switch r.Type {
	case trace.Duplicate, trace.Lose, trace.Undelivered, trace.Cut, trace.Heal, trace.Flaky,
		trace.Cause:
		return false
	}
	return r.Process != 0
}

// shown is whether a message is drawn: it was sent, or came to its end, within what
// is drawn, or passes through it. In an event's causal past it must have arrived there,
// or nowhere.
func (d *Diagram) shown(m *message) bool {
	switch sent := m.send >= 0 && d.kept[m.send]; {
	case m.end >= 0 && d.kept[m.end]:
		return true
	case d.win.Event > 0:
		return false
	default:
		return sent || (d.win.Detector || m.plane == trace.Data) && m.sent < d.from && m.at > d.to
	}
}

// processes are those of whom something is drawn, ascending; all if there are few.
func (d *Diagram) processes() (out []uint32) {
	if d.story.nodes <= few {
		for p := range d.story.nodes {
			out = append(out, uint32(p+1))
		}
		return out
	}
	for i := range d.kept {
		if r := &d.trace.Records[i]; d.kept[i] && r.Process > 0 && r.Type != trace.Up {
			out = append(out, r.Process)
			if r.Type.IsMessage() {
				out = append(out, r.Peer)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// few is how many processes are drawn even if nothing happens to some of them.
const few = 12
