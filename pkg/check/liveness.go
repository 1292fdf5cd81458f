package check

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A vigil waits for a leader where the Spec promises one: while the processes are connected
// as the promise wants it, and nothing happens that could delay an election, so long a time
// passes only where nobody will ever lead. Whatever happens to a process, a link or a
// message begins it anew.
type vigil struct {
	promise algo.Liveness
	within  time.Duration // how long a leader may be missing; 0: without end

	connected bool          // as the promise wants it
	missing   bool          // there is no leader, as Spec.Service defines one
	since     time.Duration // when that began
	disturbed time.Duration // when something happened last
	underway  time.Duration // until when a message that a fault delays is on its way
	bound     time.Duration // that no other message exceeds
	due       time.Duration // when there has to be a leader; negative: nobody waits

	// Whatever happens meanwhile: a leader could be there since then, and is not. Negative: there
	// is one, or none could be.
	lacking time.Duration
}

func newVigil(s *harness.Setup) vigil {
	v := vigil{due: -1, lacking: -1, connected: true}
	if s.InModel {
		v.promise, v.within = s.Live(&s.Alg.Spec)
		v.bound, _ = s.Network.Bound()
	}
	return v
}

// sent takes note of a message that takes longer than the model says: in order, all behind it on
// its link arrive no sooner, however long the fault that delayed it is over.
func (e *elections) sent(j *Judge, r *trace.Record) {
	if v := &e.vigil; r.Due-r.Sent > v.bound && r.Due > v.underway && v.within > 0 {
		e.overdue(j, r.At)
		v.underway = r.Due
		e.wait(j)
	}
}

// disturbed begins the vigil anew. Links says whether other links may be cut now.
func (e *elections) disturbed(j *Judge, at time.Duration, links bool) {
	v := &e.vigil
	if v.within == 0 {
		return
	}
	e.overdue(j, at)
	v.disturbed = max(at, 0)
	if links {
		v.connected = e.connected(at, v.promise.Learns)
	}
	e.wait(j)
	if links {
		e.lacks(at)
	}
}

// missed takes note of whether there is a leader from now on.
func (e *elections) missed(j *Judge, at time.Duration) {
	v, there := &e.vigil, e.there
	if v.within == 0 {
		return
	}
	if v.missing = !there; there || v.due < 0 {
		v.since = max(at, 0)
	}
	e.wait(j)
	e.lacks(at)
}

// lacks takes note of whether a leader is missing from now on that could be there. A process that has
// forgotten what it knew counts as live: what it has to learn is the algorithm's affair.
func (e *elections) lacks(at time.Duration) {
	v := &e.vigil
	connected := v.connected || v.promise.Learns && e.connected(at, false)
	switch {
	case !v.missing || !connected || !e.begun() || !e.seen():
		v.lacking = -1
	case v.lacking < 0:
		v.lacking = max(at, 0)
	}
}

// endless says that a trial ended in an outage that has lasted longer than the promise of a
// leader allows, although things kept happening that begin it anew; "": it did not.
func (e *elections) endless(j *Judge, at time.Duration) string {
	v := &e.vigil
	if v.within == 0 || v.lacking < 0 || at-max(v.lacking, v.underway) <= v.within || !j.untouched() {
		return ""
	}
	return fmt.Sprintf("no leader (%s) from %v to the end at %v, for longer than the %v promised",
		e.setup.Alg.Spec.Service, v.lacking, at, v.within)
}

// wait works out when there has to be a leader. Before anybody has begun an election none
// need come, unless the processes begin one by themselves.
func (e *elections) wait(j *Judge) {
	v := &e.vigil
	if v.due = -1; v.missing && v.connected && e.begun() && j.untouched() && e.seen() {
		v.due = max(v.since, v.disturbed, v.underway) + v.within
	}
}

// begun says whether somebody has begun an election, or all do by themselves.
func (e *elections) begun() bool {
	return e.setup.Alg.Spec.Perpetual || e.open && e.current.Begin >= 0
}

// overdue objects to a leader that is still missing, once.
func (e *elections) overdue(j *Judge, at time.Duration) {
	v := &e.vigil
	if v.due < 0 || at <= v.due {
		return
	}
	j.violate(liveness, "no leader (%s) from %v to %v, while %s and nothing else happened, for longer "+
		"than the %v promised", e.setup.Alg.Spec.Service, v.due-v.within, at, v.promise.Under, v.within)
	v.within, v.due = 0, -1
}

// learnt takes note of a leader's name at process p.
func (e *elections) learnt(j *Judge, p uint32, at time.Duration) {
	if e.faults.forgot[p-1] {
		e.faults.learnt(p, at)
		if e.vigil.promise.Learns {
			e.disturbed(j, at, true)
		}
	}
}

// connected says whether the processes are connected as the promise wants it. Where they have
// to have learned what they forgot, those that have not count as down.
func (e *elections) connected(at time.Duration, learned bool) bool {
	n, majority := e.setup.Nodes, e.setup.Alg.Spec.Service != algo.Agreed
	up, live := 0, make([]bool, n)
	for i := range live {
		live[i] = e.faults.up[i] && !(learned && e.faults.forgot[i])
		if live[i] {
			up++
		}
	}
	if !e.links.Apart { // all of them reach each other
		return up > 0 && (!majority || 2*up > n)
	}
	return e.vigil.promise.Under.Holds(n, majority, func(p, q algo.ID) bool {
		return live[p-1] && live[q-1] && !e.links.Cuts.Severed(uint32(p), uint32(q), at, at)
	})
}

// seen says whether the processes have a way to learn what happened: a detector, if they
// need one, and none that never suspects the living where links are cut.
func (e *elections) seen() bool {
	if e.setup.Alg.Spec.Needs.Detector == algo.NoDetector {
		return true
	}
	class := e.setup.Detector.Class()
	return class != algo.NoDetector && !(e.links.Apart && class == algo.Perfect)
}

// untouched says whether nothing is done to any process, and all links that are not cut are
// as the model says.
func (j *Judge) untouched() bool { return j.faults.impaired+j.network.Overrides == 0 }

// late says whether something happened on a real machine so long after it was due that
// time-outs may not allow for it.
func (j *Judge) late(r *trace.Record) bool {
	if j.setup.Virtual || r.At-r.Due <= room {
		return false
	}
	return r.Type == trace.Deliver || r.Type == trace.Timeout
}
