// Package ringmax is the ring election that carries one ID, a variation that
// Petrov mentions in Database Internals (2019, chapter 10). Comments cite the
// numbered rules of ring-list elections; rule 2, how the dead are skipped, is package
// ring.
//
// Every process knows the whole ring. An ELECTION goes round and keeps the
// largest ID that it has met; a process that does not acknowledge within T is
// skipped. The initiator closes the lap, and a COORDINATOR goes round to name
// the leader. The maximum does not depend on order or repetition, so laps that
// cross do no harm. But only the initiator can tell that the lap is closed: if
// it dies, the message would go round forever, so its hops are counted.
//
// Elections are numbered by era. A process that starts begins the era after the newest
// that it knows, and a newer one makes an older one void.
package ringmax

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/ring"
)

type node struct {
	algo.Config
	leader    algo.ID
	era       uint64    // of the newest election that this process knows
	announced bool      // leader is that of this era
	closed    bool      // our own lap of this era is
	open      []algo.ID // initiators of this era whose announcement has not come
	done      []algo.ID // and of those whose has
	ring.Hops
	limit uint32
	lap   time.Duration
}

// New starts with the leader that is settled, if one is, or in the era saved.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, leader: c.Leader, announced: true, limit: uint32(c.Params.Int("hop_limit")),
		Hops: ring.New(c), lap: c.Params.Duration("lap_timeout"),
	}
	if saved, ok := c.Saved.(Era); ok {
		n.era = saved.N
	}
	return n
}

const lapTimer algo.Timer = "T'"

// Elect is rule 1. A suspicion during an election changes nothing; but it may
// have been withdrawn, so that a process that counted as dead is alive.
func (n *node) Elect(env algo.Env) {
	n.ForgetDead()
	if n.announced {
		n.start(env, n.era+1)
	}
}

// Start: a process that comes back does not know the leader and asks round the ring.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.start(env, n.era+1)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.Acknowledge(env, from, ackOf(m))
		n.onElection(env, from, m)
	case Coordinator:
		n.Acknowledge(env, from, ackOf(m))
		n.onCoordinator(env, m)
	case Ack:
		n.onAck(env, from, m)
	}
}

// start is the body of rule 1.
func (n *node) start(env algo.Env, era uint64) {
	n.enter(env, era)
	n.await(env, n.ID)
	n.Forward(env, Election{Era: era, Initiator: n.ID, Max: n.ID, Hops: 1}, n.ID)
}

// enter begins an era: what belonged to older ones is void.
func (n *node) enter(env algo.Env, era uint64) {
	n.era, n.leader = era, algo.None
	n.announced, n.closed, n.open, n.done = false, false, nil, nil
	n.ForgetDead()
	env.Save(Era{era})
	env.Elected(algo.None, 0)
}

// await waits for the announcement of p's lap, T' at most.
func (n *node) await(env algo.Env, p algo.ID) {
	n.open = append(n.open, p)
	if n.lap > 0 {
		env.SetTimer(lapTimer, n.lap)
	}
}

// onElection is rules 3 and 4: the initiator closes the lap, others pass it on.
func (n *node) onElection(env algo.Env, from algo.ID, m Election) {
	switch {
	case m.Era < n.era && len(n.open) > 0: // void: the newer one comes by everybody
	case m.Era < n.era: // of one who missed the newer one
		n.start(env, n.era+1)
	case m.Initiator == n.ID:
		n.closeLap(env, m)
	case from == n.ID: // nobody else lives, so the initiator does not
		n.start(env, n.era+1)
	default:
		n.pass(env, m)
	}
}

func (n *node) closeLap(env algo.Env, m Election) {
	if n.closed { // a second copy
		return
	}
	n.closed = true
	n.announce(env, Coordinator{Era: m.Era, Initiator: n.ID, Leader: m.Max})
}

// pass joins the election and keeps the larger ID.
func (n *node) pass(env algo.Env, m Election) {
	if m.Era > n.era {
		n.enter(env, m.Era)
	}
	if n.limit > 0 && m.Hops >= n.limit { // the initiator must have died: start afresh
		n.start(env, n.era+1)
		return
	}
	if !slices.Contains(n.open, m.Initiator) && !slices.Contains(n.done, m.Initiator) {
		n.await(env, m.Initiator)
	}
	n.Revive(m.Initiator)
	m.Max = max(m.Max, n.ID)
	m.Hops++
	n.Forward(env, m, n.ID)
}

// onCoordinator is rule 5: adopt and pass on, once. The initiator removes it.
func (n *node) onCoordinator(env algo.Env, m Coordinator) {
	switch {
	case m.Era < n.era || slices.Contains(n.done, m.Initiator) && m.Era == n.era: // void, or old
	case m.Initiator == n.ID: // home
		n.finish(env, m.Initiator)
	default:
		if m.Era > n.era {
			n.enter(env, m.Era)
		}
		n.finish(env, m.Initiator)
		n.announce(env, m)
	}
}

// announce adopts the leader and passes it on, unless the lap missed somebody:
// this process, or one that another lap of the era has found.
func (n *node) announce(env algo.Env, m Coordinator) {
	if m.Leader < n.ID || n.announced && n.leader != m.Leader {
		n.start(env, n.era+1)
		return
	}
	n.announced, n.leader = true, m.Leader
	env.Elected(m.Leader, 0)
	n.Forward(env, m, n.ID)
}

// finish ends the wait for p's announcement.
func (n *node) finish(env algo.Env, p algo.ID) {
	n.open = slices.DeleteFunc(n.open, func(q algo.ID) bool { return q == p })
	n.done = append(n.done, p)
	if len(n.open) == 0 {
		env.CancelTimer(lapTimer)
	}
}

// onAck ends the wait of its hop.
func (n *node) onAck(env algo.Env, from algo.ID, m Ack) {
	n.Acknowledged(env, from, func(sent algo.Message) bool { return ackOf(sent) == m })
}

// Timeout: the message died with its holder, so start afresh; or, rule 2, the
// successor is silent, so try the one after it.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == lapTimer {
		n.start(env, n.era+1)
		return
	}
	m, silent := n.GiveUp(t)
	if ackOf(m).Era == n.era {
		n.Bury(silent)
	}
	n.Forward(env, m, silent)
}

// Invariant: a process without an announcement follows none and waits for one;
// no lap is both open and done; no message forgets the ID of its holder.
func (n *node) Invariant() error {
	if !n.announced && (n.leader != algo.None || len(n.open) == 0) {
		return fmt.Errorf("era %d: electing, follows %d, waits for %v", n.era, n.leader, n.open)
	}
	open, done := len(n.open)-1, len(n.done)-1 // both grow at their ends: the others were looked at before
	if open >= 0 && slices.Contains(n.done, n.open[open]) ||
		done >= 0 && slices.Contains(n.open, n.done[done]) {
		return fmt.Errorf("era %d: a lap is open and done: %v, %v", n.era, n.open, n.done)
	}
	for _, m := range n.Waiting() {
		if m, ok := m.(Election); ok && m.Max < n.ID {
			return fmt.Errorf("the maximum %d is below %d, which it has passed", m.Max, n.ID)
		}
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
