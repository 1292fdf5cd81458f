// Package ringmax is the ring election that carries one ID, a variation that
// Petrov mentions in Database Internals (2019, chapter 10). Comments cite the
// numbered rules of ring-list elections, which it shares.
//
// Everybody knows the whole ring. An ELECTION goes round and keeps the largest
// ID that it has met; a process that does not acknowledge within T is skipped.
// The initiator closes the lap, and a COORDINATOR goes round to say who leads.
// The maximum may be taken in any order and more than once, so that laps that
// cross do no harm. But none but the initiator can tell that the lap is closed:
// if it dies the message would go round for ever, were its hops not counted.
//
// Elections are numbered by era. Whoever starts begins the era after the newest
// that it knows, and a newer one makes an older one void.
package ringmax

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type node struct {
	algo.Config
	leader    algo.ID
	era       uint64    // of the newest election that this process knows
	announced bool      // leader is that of this era
	closed    bool      // our own lap of this era is
	open      []algo.ID // initiators of this era whose announcement has not come
	done      []algo.ID // and of those whose has
	pending   []hop     // not yet acknowledged; nil message: a free place
	dead      []algo.ID // did not acknowledge in this era
	limit     uint32
	skip, lap time.Duration
	remember  bool
}

// A hop is a message that waits for its acknowledgement.
type hop struct {
	msg algo.Message
	to  algo.ID
}

// New starts with the leader that is settled, if one is, or in the era saved.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, leader: c.Leader, announced: true, limit: uint32(c.Params.Int("hop_limit")),
		skip: c.Params.Duration("skip_timeout"), lap: c.Params.Duration("lap_timeout"),
		remember: c.Params.Bool("remember_dead"),
	}
	if saved, ok := c.Saved.(Era); ok {
		n.era = saved.N
	}
	return n
}

const lapTimer algo.Timer = "T'"

// Elect is rule 1. A suspicion during an election changes nothing; but it may
// have been withdrawn, so that somebody who was dead is not.
func (n *node) Elect(env algo.Env) {
	n.dead = nil
	if n.announced {
		n.start(env, n.era+1)
	}
}

// Start: whoever comes back does not know the leader and asks round the ring.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.start(env, n.era+1)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.acknowledge(env, from, m)
		n.onElection(env, from, m)
	case Coordinator:
		n.acknowledge(env, from, m)
		n.onCoordinator(env, m)
	case Ack:
		n.onAck(env, from, m)
	}
}

func (n *node) acknowledge(env algo.Env, from algo.ID, m algo.Message) {
	if from != n.ID {
		env.Send(from, ackOf(m))
	}
}

// start is the body of rule 1.
func (n *node) start(env algo.Env, era uint64) {
	n.enter(env, era)
	n.await(env, n.ID)
	n.forward(env, Election{Era: era, Initiator: n.ID, Max: n.ID, Hops: 1}, n.ID)
}

// enter begins an era: what belonged to older ones is void.
func (n *node) enter(env algo.Env, era uint64) {
	n.era, n.leader = era, algo.None
	n.announced, n.closed, n.open, n.done, n.dead = false, false, nil, nil, nil
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
	n.dead = slices.DeleteFunc(n.dead, func(p algo.ID) bool { return p == m.Initiator })
	m.Max = max(m.Max, n.ID)
	m.Hops++
	n.forward(env, m, n.ID)
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
	n.forward(env, m, n.ID)
}

// finish ends the wait for p's announcement.
func (n *node) finish(env algo.Env, p algo.ID) {
	n.open = slices.DeleteFunc(n.open, func(q algo.ID) bool { return q == p })
	n.done = append(n.done, p)
	if len(n.open) == 0 {
		env.CancelTimer(lapTimer)
	}
}

// forward is rule 2: send m to the first process after p that is not known to
// be dead. When all others are, that is this process itself.
func (n *node) forward(env algo.Env, m algo.Message, p algo.ID) {
	to := n.successor(p)
	for n.remember && to != n.ID && slices.Contains(n.dead, to) {
		to = n.successor(to)
	}
	if to == n.ID {
		env.Send(to, m)
		return
	}
	place := slices.IndexFunc(n.pending, func(h hop) bool { return h.msg == nil })
	if place < 0 {
		place = len(n.pending)
		n.pending = append(n.pending, hop{})
	}
	n.pending[place] = hop{m, to}
	env.Send(to, m)
	env.SetTimer(timer(place), n.skip)
}

func (n *node) successor(p algo.ID) algo.ID {
	return n.Ring[(slices.Index(n.Ring, p)+1)%len(n.Ring)]
}

// onAck ends the wait of its hop, unless that was given up before.
func (n *node) onAck(env algo.Env, from algo.ID, m Ack) {
	place := slices.IndexFunc(n.pending, func(h hop) bool {
		return h.msg != nil && h.to == from && ackOf(h.msg) == m
	})
	if place >= 0 {
		n.pending[place] = hop{}
		env.CancelTimer(timer(place))
	}
}

// Timeout: the message died with its holder, so start afresh; or, rule 2, the
// successor is silent, so try the one after it.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == lapTimer {
		n.start(env, n.era+1)
		return
	}
	place, _ := strconv.Atoi(string(t[len("skip "):]))
	h := n.pending[place]
	n.pending[place] = hop{}
	if ackOf(h.msg).Era == n.era {
		n.dead = append(n.dead, h.to)
	}
	n.forward(env, h.msg, h.to)
}

func timer(place int) algo.Timer { return algo.Timer("skip " + strconv.Itoa(place)) }

// Invariant: a process without an announcement follows nobody and waits for
// one; no lap is both open and done; no message forgets the ID of its holder.
func (n *node) Invariant() error {
	if !n.announced && (n.leader != algo.None || len(n.open) == 0) {
		return fmt.Errorf("era %d: electing, follows %d, waits for %v", n.era, n.leader, n.open)
	}
	for _, p := range n.open {
		if slices.Contains(n.done, p) {
			return fmt.Errorf("era %d: the lap of %d is open and done", n.era, p)
		}
	}
	for _, h := range n.pending {
		if m, ok := h.msg.(Election); ok && m.Max < n.ID {
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
