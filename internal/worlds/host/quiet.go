package host

import (
	"cmp"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// lookForQuiet tells the coordinator when the algorithm has fallen quiet. Two
// looks one after the other have to show the same: between them nothing can
// have happened that neither shows (F. Mattern, Distributed Computing 2, 1987).
func (t *trial) lookForQuiet() {
	now := t.now()
	if t.setup.Alg.Service || now < t.changeAt { // what a system does is not seen: it may never rest
		return
	}
	first, ok := t.takeView(now)
	if !ok {
		return
	}
	idle := first.planned == 0 && t.planned == 0 && first.scheduled == 0 &&
		!t.setup.Detector.Restless()
	told := first.activity+1 == t.quietAt && (t.quietIdle || !idle)
	if told && (!idle || t.queue.Len() > 0) {
		return
	}
	second, ok := t.takeView(now)
	if !ok || first != second {
		return
	}
	begun := now
	now = t.now() // after the looks: what they have seen is part of the trial
	if t.cameDue(begun, now) {
		return
	}
	if told { // what the coordinator answered has changed nothing, and nothing else will
		t.finish(now, harness.Stuck)
		return
	}
	t.quietAt, t.quietIdle = first.activity+1, idle
	t.obeyInstructions(t.coordinator.Quiet(now, first.activity, idle), now)
}

// cameDue says whether an instruction has come due between two instants: looks of that time may not
// show what it led to, and the scenario would take it for done.
func (t *trial) cameDue(after, now time.Duration) bool {
	return t.queue.Due(now) || slices.ContainsFunc(t.timeline, func(i harness.Instruction) bool {
		return i.Inside() && after < i.At && i.At <= now
	})
}

// A view is what one look at all nodes shows.
type view struct {
	activity  uint64
	planned   uint64
	scheduled int // instructions of the timeline still to come
	sent      uint64
}

// takeView looks at what the nodes count, and says whether all of them are quiet. Links come
// last, and only if nothing else speaks against it: there are many.
func (t *trial) takeView(now time.Duration) (v view, quiet bool) {
	whole := true // no process has been down
	for _, n := range t.nodes {
		if n.joining() {
			return v, false
		}
		whole = whole && !n.dead && n.Incarnation == 0
	}
	if !t.readCounters(false) {
		return v, false
	}
	v.activity = t.obeyed
	for _, i := range t.timeline {
		switch {
		case !i.Inside():
		case i.At <= now:
			v.activity++
		default:
			v.scheduled++
		}
	}
	got := uint64(0)
	for _, n := range t.all {
		if n.dead {
			v.activity++
		}
		if !n.ready {
			continue
		}
		c := n.counters
		if now < c.LastDue { // if only to find its receiver down
			return v, false
		}
		v.activity += c.Activity
		if n.dead {
			continue
		}
		if c.Busy() || c.Executed < n.ordered(now) || c.Reports > n.heard {
			return v, false
		}
		v.planned += c.Planned
		v.sent, got = v.sent+c.Sent, got+c.Got
	}
	if whole { // each copy comes to somebody; what somebody forged may come as well
		return v, v.sent <= got
	}
	return v, t.readCounters(true) && t.nothingInFlight()
}

// readCounters asks all agents, and says whether they told of all nodes that are ready.
func (t *trial) readCounters(links bool) bool {
	for _, n := range t.all {
		n.counters = nil
	}
	for _, s := range t.sites {
		list, err := s.agent.Counters(links)
		if err != nil {
			t.checkAgent(err)
			return false
		}
		for i := range list {
			if n := t.incarnation(list[i].Node); n != nil {
				n.counters = &list[i]
			}
		}
	}
	for _, n := range t.all {
		if n.ready && n.counters == nil {
			return false
		}
	}
	return true
}

// ordered is how many instructions and orders n must have executed by now.
func (n *node) ordered(now time.Duration) uint64 {
	due := n.orders
	for _, i := range n.own {
		if i.At <= now {
			due++
		}
	}
	return due
}

// nothingInFlight says whether every copy that was sent to a live process has
// come to it: by the last one, since a link of the bus keeps order. What was sent before the
// receiver joined never comes.
func (t *trial) nothingInFlight() bool {
	for _, from := range t.nodes {
		if !from.ready {
			continue
		}
		for _, sent := range from.counters.Links {
			to := t.nodes[sent.Peer-1]
			if sent.Sent == 0 || to == from || to.dead || linkOf(to.counters, from.ID).Got == sent.Sent {
				continue
			}
			switch {
			case sent.SentAt < to.upAt: // never to come
			case from.dead && t.now() > from.downAt+grace+t.slowest(): // died with its sender
			default:
				return false
			}
		}
	}
	return true
}

// linkOf is the account of c with a peer.
func linkOf(c *agent.Counters, peer algo.ID) agent.Link {
	if i := int(peer) - 1; i < len(c.Links) && c.Links[i].Peer == peer { // most talk to all
		return c.Links[i]
	}
	i, found := slices.BinarySearchFunc(c.Links, peer, func(l agent.Link, p algo.ID) int {
		return cmp.Compare(l.Peer, p)
	})
	if !found {
		return agent.Link{}
	}
	return c.Links[i]
}
