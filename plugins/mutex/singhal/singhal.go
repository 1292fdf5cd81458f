// Package singhal is Singhal's heuristic token algorithm (IEEE Trans. Computers 1989).
//
// Each process keeps what it knows of every other: whether it wants to enter, and the number
// of its last request. It asks only those that want to enter themselves, since one of them
// has the token or gets it. At the start each process assumes that those before it request,
// like the steps of a staircase, so that of any two one asks the other. Every rule preserves
// this. The token carries what its holders knew, and a process that leaves gives it to the
// next, round the ring, that wants to enter.
package singhal

import (
	"errors"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "singhal",
		Summary: "one token; only those that may have it are asked",
		Paper: algo.Paper{
			Authors: "M. Singhal",
			Title:   "A heuristically-aided algorithm for mutual exclusion in distributed systems",
			Venue:   "IEEE Trans. Computers 38(5), 651-662", Year: 1989,
			Deviations: "A REQUEST that arrives after it has been served is not dropped: where the token " +
				"is, one is sent back. Otherwise a slow REQUEST leads to a deadlock, in which two " +
				"processes rely on each other to ask. The paper leaves open which of the waiting " +
				"processes gets the token: here the first behind the process that leaves, in the order " +
				"of IDs. The staircase begins at the process that has the token. A process that comes " +
				"back after a crash has no token, and numbers its requests beyond those of its former " +
				"life.",
		},
		Token:    "TOKEN",
		Messages: []algo.Message{Request{}, Token{}},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "0 to N, (N+1)/2 on average",
				Bound: algo.Within(0.10, func(n int) float64 { return float64(n+1) / 2 })},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "N(N-1) for N entries: N-1",
				Bound: algo.Exactly(func(n int) float64 { return float64(n - 1) })},
		},
		Breaks: "When the holder crashes, or the token is lost on its way, there is no token any more. " +
			"Unlike in suzuki-kasami the crash of an idle process may do harm too: the token may go to a " +
			"process that is believed to request.",
	}, New)
}

// node has the paper's variables, under its names, each as in Peers.
type node struct {
	algo.Config
	sv    []State  // what is known of each process, and the own state
	sn    []uint64 // number of each one's last request
	token Token    // no State: it is elsewhere
}

// New builds the staircase: behind the holder, in the order of IDs round the ring, each assumes
// that those before it request.
func New(c algo.Config) algo.Mutex {
	n := &node{Config: c, sv: make([]State, len(c.Peers)), sn: make([]uint64, len(c.Peers))}
	first, self := c.Holder.Index(), c.ID.Index()
	for i := first; i != self; i = (i + 1) % len(c.Peers) {
		n.sv[i] = Requesting
	}
	n.sn[self] = uint64(c.Incarnation) << 32
	if c.Holder == c.ID && c.Incarnation == 0 {
		n.sv[self] = Holding
		n.token = Token{State: make([]State, len(c.Peers)), Number: make([]uint64, len(c.Peers))}
	}
	return n
}

// Request asks those that may have the token.
func (n *node) Request(env algo.Env) {
	self := n.ID.Index()
	if n.sv[self] == Holding {
		n.sv[self] = Executing
		env.Granted()
		return
	}
	n.sn[self]++
	for i, p := range n.Peers {
		if n.sv[i] == Requesting {
			env.Send(p, Request{n.sn[self]})
		}
	}
	n.sv[self] = Requesting
}

// Release merges what the token and this process know, the later request of each process; then
// the token goes to the next that wants it. If the token says that a process was served, and
// this process believes that it requests, it has asked it: before it was inside it asked all of
// those, and inside it learned only of later requests.
func (n *node) Release(env algo.Env) {
	self := n.ID.Index()
	n.token.State[self], n.token.Number[self] = Neither, n.sn[self]
	for i := range n.Peers {
		if n.sn[i] > n.token.Number[i] {
			n.token.State[i], n.token.Number[i] = n.sv[i], n.sn[i]
		} else {
			n.sv[i], n.sn[i] = n.token.State[i], n.token.Number[i]
		}
	}
	for k := range n.Peers {
		if i := (self + k) % len(n.Peers); n.token.State[i] == Requesting {
			n.handOver(env, n.Peers[i])
			return
		}
	}
	n.sv[self] = Holding
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, from, m.N)
	case Token:
		n.onToken(env, m)
	}
}

// onRequest: of two that want to enter one has to have asked the other, so who learns of another
// here asks it. Where the token is, a REQUEST that was served before it came is answered by one: its
// sender may want to enter again, and rely on this process to ask.
func (n *node) onRequest(env algo.Env, j algo.ID, number uint64) {
	i, self := j.Index(), n.ID.Index()
	late := number <= n.sn[i]
	if n.sv[self] == Executing && n.token.State[i] == Neither {
		late = number <= n.token.Number[i]
	}
	n.sn[i] = max(n.sn[i], number)
	if n.sv[i] == Requesting { // it was asked, or will be
		return
	}
	if late && n.token.State != nil {
		env.Send(j, Request{n.sn[self]})
		return
	}
	n.sv[i] = Requesting
	switch n.sv[self] {
	case Requesting:
		env.Send(j, Request{n.sn[self]})
	case Holding:
		n.sv[self] = Neither
		n.token.State[i], n.token.Number[i] = Requesting, number
		n.handOver(env, j)
	}
}

func (n *node) onToken(env algo.Env, t Token) {
	n.token = t
	n.sv[n.ID.Index()] = Executing
	env.Granted()
}

func (n *node) handOver(env algo.Env, to algo.ID) {
	env.Send(to, n.token)
	n.token = Token{}
}

// Invariant: a process that is inside or idle with the token has it, no other does; and an idle
// holder knows of none that wants it.
func (n *node) Invariant() error {
	own := n.sv[n.ID.Index()]
	if (own == Executing || own == Holding) != (n.token.State != nil) {
		return errors.New("the own state and the token disagree")
	}
	if own == Holding && slices.Contains(n.sv, Requesting) {
		return errors.New("idle with the token, but a process wants it")
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
