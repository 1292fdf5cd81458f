// Package neilsenmizuno is the token algorithm of Neilsen and Mizuno on a directed acyclic graph (ICDCS
// 1991).
//
// The processes form a tree that never changes; its edges are directed, and following LAST
// leads to the sink, the last process to have asked. Following NEXT from the one that has the
// privilege gives the queue of those that wait. A request goes from neighbor to neighbor to
// the sink, and reverses the edges on its way. The privilege is sent straight to the process
// that is next. So on a star an entry costs three messages at most.
package neilsenmizuno

import (
	"errors"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "neilsen-mizuno",
		Summary: "a token; requests go along a fixed tree and reverse its edges",
		Paper: algo.Paper{
			Authors: "M. L. Neilsen, M. Mizuno",
			Title:   "A DAG-based algorithm for distributed mutual exclusion",
			Venue:   "ICDCS, 354-360", Year: 1991,
			Deviations: "The paper sends INITIALIZE messages to turn the edges towards the first holder; " +
				"here all know the tree and the holder. A process that comes back after a crash has no " +
				"privilege.",
		},
		Token:    "PRIVILEGE",
		Messages: []algo.Message{Request{}, Privilege{}},
		Promises: algo.Promises{StarvationFree: true},
		Params: []algo.Param{{Name: "tree", Type: algo.Enum, Default: algo.Const("star"),
			Choices: []string{"star", "path", "binary", "balanced"},
			Doc:     "the tree: process 1 is its root, IDs are breadth-first; balanced: sqrt(N) children"}},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text: "on a star, 3 - 5/N + 2/N^2 on average",
				Bound: algo.Within(0.10, func(n int) float64 {
					return 3 - 5/float64(n) + 2/float64(n*n)
				})},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "on a star whose center has the privilege, 3N-4 for N entries",
				Bound: algo.Exactly(func(n int) float64 { return float64(max(3*n-4, 0)) / float64(n) })},
		},
		Breaks: "The crash of the process that has the privilege, or waits in the queue, loses it. That of " +
			"an inner process of the tree cuts it: on a star, of the center. A second copy of " +
			"a message is fatal too: two privileges, or a request that never ends.",
	}, New)
}

// node has the paper's variables, under its names.
type node struct {
	algo.Config
	last    algo.ID // neighbor towards the sink; None: this is a sink
	next    algo.ID // gets the privilege after this process; None: nobody
	holding bool    // the privilege is here, and idle
}

// New directs the edges of the tree towards the holder.
func New(c algo.Config) algo.Mutex {
	n := &node{Config: c}
	if c.Holder == c.ID && c.Incarnation == 0 {
		n.holding = true
	} else {
		n.last = towards(c.ID, c.Holder, degree(c.Params.Enum("tree"), len(c.Peers)))
	}
	return n
}

// degree is how many children a process of such a tree of n has at most.
func degree(tree string, n int) algo.ID {
	d := algo.ID(1) // of a path
	switch tree {
	case "star":
		d = algo.ID(n)
	case "binary":
		d = 2
	case "balanced":
		for d*d < algo.ID(n) {
			d++
		}
	}
	return d
}

// towards is the neighbor of p on the way to another process, or the parent, where there is
// none. The root, if it is alone or has lost the privilege in a crash, asks process 2.
func towards(p, to, degree algo.ID) algo.ID {
	parent := func(q algo.ID) algo.ID { return (q-2)/degree + 1 }
	for q := to; q > p; q = parent(q) {
		if parent(q) == p {
			return q
		}
	}
	if p == 1 {
		return 2
	}
	return parent(p)
}

// Request makes this process the sink.
func (n *node) Request(env algo.Env) {
	if n.holding {
		n.holding = false
		env.Granted()
		return
	}
	env.Send(n.last, Request{X: n.ID, Y: n.ID})
	n.last = algo.None
}

// Release hands the privilege to the next.
func (n *node) Release(env algo.Env) {
	if n.next == algo.None {
		n.holding = true
		return
	}
	env.Send(n.next, Privilege{})
	n.next = algo.None
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, m)
	case Privilege:
		n.onPrivilege(env)
	}
}

// onRequest: the edge on which it came is turned round, whichever process wants the privilege.
func (n *node) onRequest(env algo.Env, m Request) {
	switch {
	case n.last != algo.None: // no sink: pass it on
		env.Send(n.last, Request{X: n.ID, Y: m.Y})
	case n.holding: // an idle sink gives up the privilege at once
		n.holding = false
		env.Send(m.Y, Privilege{})
	default: // a sink that waits, or is inside
		n.next = m.Y
	}
	n.last = m.X
}

func (n *node) onPrivilege(env algo.Env) { env.Granted() }

// Invariant: an idle holder is a sink, and none waits behind it.
func (n *node) Invariant() error {
	if n.holding && (n.last != algo.None || n.next != algo.None) {
		return errors.New("idle with the privilege, but a process has asked")
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
