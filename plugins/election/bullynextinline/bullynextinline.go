// Package bullynextinline is the bully election with a fail-over list, after
// Gholipour, Kordafshari, Jahanshahi and Rahmani (2009). Comments cite its rules
// as numbered below.
//
// With its announcement a leader publishes its successors in order. When it is gone,
// a process that notices asks the first of these. That one takes over at once,
// without an election, and publishes a new list. If it does not answer the next one
// is asked. Only if all alternatives are dead is a full election held, as in plain
// bully.
//
//  1. Start: ask the first alternative; start T. If it is oneself: rule 4.
//  2. T expires: ask the next one. When the list is exhausted, a full election.
//  3. ELECTION: answer ALIVE, and unless already leader: rule 4.
//  4. Take over: publish a new list to all but the replaced leader.
//  5. ALIVE: ask no other; if ELECTED does not come within T": rule 1.
//  6. ELECTED: if the epoch is newer, follow its leader, with its list.
package bullynextinline

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type status uint8

const (
	idle    status = iota
	probing        // ELECTION is out, no answer yet
	waiting        // somebody answered
)

// String is what the status is called where states are shown.
func (s status) String() string { return [...]string{"idle", "probing", "waiting"}[s] }

type node struct {
	algo.Config
	status   status
	leader   algo.ID   // None: none is known
	epoch    Epoch     // the newest announced; the leader's if there is one
	list     []algo.ID // the alternatives that came with it
	newest   Epoch     // heard of, announced to this process or not
	k        int       // position in list that is being probed
	full     bool      // it is not the list that is being probed, but all of higher ID
	old      algo.ID   // the leader that is being replaced
	word     algo.ID   // on whose word alone this process has replaced it; None: nobody's
	attempt  Attempt   // the newest one
	suspects []algo.ID
	back     []algo.ID // trusted again; to be told of the next leader but itself
	t        time.Duration
	tElected time.Duration
}

const (
	answerTimer  algo.Timer = "T"
	electedTimer algo.Timer = "T\""
	doubtTimer   algo.Timer = "doubt" // of an announced leader that is suspected
)

// New starts idle. The leader that is settled, if one is, published its list.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, leader: c.Leader, epoch: Epoch{Leader: c.Leader}, newest: Epoch{Leader: c.Leader},
		attempt: Attempt{Incarnation: c.Incarnation},
		t:       c.Params.Duration("t_answer"), tElected: c.Params.Duration("t_elected"),
	}
	if c.Leader != algo.None {
		n.list = n.alternatives(c.Leader, algo.None)
	}
	if m, ok := c.Saved.(Memory); ok {
		n.epoch, n.newest = m.Epoch, m.Epoch
	}
	return n
}

// alternatives are the highest processes, without these two.
func (n *node) alternatives(leader, old algo.ID) (list []algo.ID) {
	length := int(n.Params.Int("list_length"))
	for i := len(n.Peers) - 1; i >= 0 && len(list) < length; i-- {
		if p := n.Peers[i]; p != leader && p != old {
			list = append(list, p)
		}
	}
	return list
}

// Elect without a suspicion replaces nobody: it is a full election, unless one is
// in progress here.
func (n *node) Elect(env algo.Env) {
	if n.status == idle {
		n.join(env)
	}
}

// Start: a process that comes back knows neither leader nor list.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.start(env)
	}
}

// Suspect is rule 1 if it is about the leader; during an election there is none.
func (n *node) Suspect(env algo.Env, p algo.ID) {
	if !slices.Contains(n.suspects, p) {
		n.suspects = append(n.suspects, p)
	}
	n.back = without(n.back, p)
	n.doubt(env)
	if p == n.leader {
		n.start(env)
	}
}

// doubt tells the leader that was replaced on another's word, if that one is gone and cannot take
// its word back: it may have been mistaken.
func (n *node) doubt(env algo.Env) {
	if n.leader == n.ID && n.old != algo.None && slices.Contains(n.suspects, n.word) &&
		!slices.Contains(n.suspects, n.old) {
		n.word = algo.None
		env.Send(n.old, Elected{n.epoch, n.list})
	}
}

// Restore: p may not know which process leads, above all if it has been replaced.
func (n *node) Restore(env algo.Env, p algo.ID) {
	n.suspects = without(n.suspects, p)
	n.back = append(without(n.back, p), p)
	if n.leader != algo.None {
		n.tellReturned(env)
	}
}

// tellReturned tells those that are back who leads. The leader itself is told when it no
// longer is: some who were asked to replace it may do so yet.
func (n *node) tellReturned(env algo.Env) {
	for _, p := range n.back {
		if p != n.leader {
			env.Send(p, Elected{n.epoch, n.list})
		}
	}
	n.back = slices.DeleteFunc(n.back, func(p algo.ID) bool { return p != n.leader })
}

func without(list []algo.ID, p algo.ID) []algo.ID {
	return slices.DeleteFunc(list, func(q algo.ID) bool { return q == p })
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.hear(m.Epoch)
		env.Send(from, Alive{m.Attempt, m.K})
		if m.K == 0 {
			n.onFull(env, from)
		} else {
			n.onElection(env, from, m)
		}
	case Alive:
		n.onAlive(env, m)
	case Elected:
		n.onElected(env, from, m)
	}
}

func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch {
	case t == doubtTimer:
		if slices.Contains(n.suspects, n.leader) {
			n.start(env)
		}
	case t == electedTimer: // rule 5: a process that answered died
		n.start(env)
	case n.full: // nobody of higher ID is alive
		n.takeOver(env, n.old)
	default: // rule 2
		n.k++
		n.probe(env)
	}
}

// start is rule 1.
func (n *node) start(env algo.Env) {
	if n.leader != algo.None {
		n.old = n.leader
	}
	n.k = 0
	n.begin(env)
	n.probe(env)
}

func (n *node) begin(env algo.Env) {
	n.attempt.Count++
	n.leader = algo.None
	env.Elected(algo.None, 0)
}

// probe asks the alternative at position k.
func (n *node) probe(env algo.Env) {
	switch {
	case n.k >= len(n.list):
		n.askAll(env)
	case n.list[n.k] == n.ID:
		n.takeOver(env, n.old)
	default:
		n.status, n.full = probing, false
		env.Send(n.list[n.k], Election{n.attempt, uint32(n.k + 1), n.old, n.newest})
		env.SetTimer(answerTimer, n.t)
	}
}

// onElection is rule 3.
func (n *node) onElection(env algo.Env, from algo.ID, m Election) {
	switch {
	case n.leader == n.ID && n.epoch.newer(m.Epoch): // already leader: ELECTED is on its way
	case n.leader == n.ID:
		n.affirm(env, from)
	case n.leader == algo.None, n.leader == m.Old && !n.epoch.newer(m.Epoch):
		n.takeOver(env, m.Old)
		n.word, n.old = from, m.Old
		n.doubt(env)
	default: // the sender has not heard which process leads since
		env.Send(from, Elected{n.epoch, n.list})
	}
}

// takeOver is rule 4. If old is trusted again, it is told as well.
func (n *node) takeOver(env algo.Env, old algo.ID) {
	if slices.Contains(n.back, old) {
		old = algo.None
	}
	n.newest, n.word = Epoch{n.newest.Number + 1, n.ID}, algo.None
	n.settle(env, n.newest, n.alternatives(n.ID, old))
	for _, p := range n.Peers {
		if p != n.ID && p != old {
			env.Send(p, Elected{n.epoch, n.list})
		}
	}
	n.back = nil
}

// onAlive is rule 5. An answer of one that was asked before is too late.
func (n *node) onAlive(env algo.Env, m Alive) {
	k := uint32(n.k + 1)
	if n.full {
		k = 0
	}
	if n.status == probing && m.Attempt == n.attempt && m.K == k {
		n.status = waiting
		env.CancelTimer(answerTimer)
		env.SetTimer(electedTimer, n.tElected)
	}
}

// onElected is rule 6.
func (n *node) onElected(env algo.Env, from algo.ID, m Elected) {
	n.hear(m.Epoch)
	switch known := m.Epoch == n.epoch && n.leader != algo.None; {
	case known:
	case n.epoch.newer(m.Epoch):
		if n.leader == n.ID {
			env.Send(from, Elected{n.epoch, n.list})
		}
	case m.Epoch.Leader < n.ID:
		n.onLower(env, m.Epoch)
	default:
		n.settle(env, m.Epoch, m.List)
		n.tellReturned(env)
		if slices.Contains(n.suspects, n.leader) { // it is back, or it died again
			env.SetTimer(doubtTimer, n.tElected)
		}
	}
}

func (n *node) hear(e Epoch) {
	if e.newer(n.newest) {
		n.newest = e
	}
}

// settle ends the election here.
func (n *node) settle(env algo.Env, e Epoch, list []algo.ID) {
	n.status, n.leader, n.epoch, n.list = idle, e.Leader, e, list
	env.CancelTimer(answerTimer)
	env.CancelTimer(electedTimer)
	env.Save(Memory{n.newest})
	env.Elected(e.Leader, e.Number)
}

// Invariant: a process that takes part in an election follows none; a leader has its own
// epoch, is not in its own list, and there is none newer that it has announced.
func (n *node) Invariant() error {
	switch {
	case n.status != idle && n.leader != algo.None:
		return fmt.Errorf("status %v but follows %d", n.status, n.leader)
	case n.leader != algo.None && n.epoch.Leader != n.leader:
		return fmt.Errorf("follows %d in an epoch of %d", n.leader, n.epoch.Leader)
	case n.leader != algo.None && slices.Contains(n.list, n.leader):
		return fmt.Errorf("%d is its own alternative in %v", n.leader, n.list)
	case n.epoch.newer(n.newest):
		return fmt.Errorf("epoch %v announced, but the newest heard of is %v", n.epoch, n.newest)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Monitor = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
