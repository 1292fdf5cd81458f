package check

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A haste tells the elections that the loss of a leader caused from those that were on their way
// already, and to which it only happened. With lossy links processes give up leaders that are
// live: if the leader crashes just then, the crash is not what the time until the next leader
// was needed for, and an algorithm would seem to recover the faster the more is lost.
//
// An election is hastened if a live process had given up the leader before it was lost, or if
// the first that gave it up afterwards had missed it before: a message between the two had been
// lost within a period of what a leader repeats before the loss.
type haste struct {
	period time.Duration // 0: nothing is repeated, so that no process misses anything
	missed []time.Duration
	// leader is the one that was lost at an instant, until the first process gives it up; None:
	// nothing is awaited.
	leader algo.ID
	at     time.Duration
	ever   bool // a leader was lost
	n      int  // hastened elections that came to their end
	now    bool // the present one is hastened
}

// never is an instant before all others.
const never = -1 << 62

func newHaste(s *harness.Setup) haste {
	return haste{period: s.Period().Length, missed: slices.Repeat([]time.Duration{never}, s.Nodes)}
}

// lose notes a lost message between a process and the leader that it names, unless the crash or a
// cut is what lost it. An algorithm that needs no detector misses none of its heartbeats.
func (e *elections) lose(r *trace.Record) {
	if r.Arg == trace.Severed || r.Arg == trace.WithSender ||
		r.Plane == trace.Detection && e.setup.Alg.Spec.Needs.Detector == algo.NoDetector {
		return
	}
	for _, way := range [][2]uint32{{r.Process, r.Peer}, {r.Peer, r.Process}} {
		p, q := way[0]-1, algo.ID(way[1])
		if e.Belief[p] == q && (e.faults.up[q-1] || r.Sent < e.faults.crashedAt[q-1]) {
			e.haste.missed[p] = r.Sent
		}
	}
}

// bereave notes that a leader is lost. Underway says that a process had given it up before.
func (e *elections) bereave(leader algo.ID, at time.Duration, underway bool) {
	e.haste.leader, e.haste.at, e.haste.ever = leader, at, true
	if underway {
		e.hasten()
	}
}

// gives notes that a process names another leader, or none, instead of the old one.
func (e *elections) gives(p, old algo.ID) {
	h := &e.haste
	missed := h.missed[p-1]
	h.missed[p-1] = never
	if h.leader == algo.None || old != h.leader {
		return
	}
	if missed >= h.at-h.period && missed < h.at {
		e.hasten()
	}
	h.leader = algo.None
}

func (e *elections) hasten() {
	e.haste.leader, e.haste.now = algo.None, true
	for _, o := range e.outages {
		o.hastened = o.down
	}
}
