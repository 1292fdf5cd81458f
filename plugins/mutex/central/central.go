// Package central is mutual exclusion by a central coordinator, as textbooks
// teach it. Comments cite its rules by number.
//
// One process is the coordinator. A process that wants to enter asks it, and tells it
// when it leaves; the coordinator lets one in at a time, in the order in which the
// requests arrive. The coordinator asks and answers itself without a message. It is
// the cheapest algorithm of all, and the yardstick for the distributed ones. All its
// load and all its risk are in one place.
package central

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "central",
		Summary: "a coordinator lets one in at a time, in the order of the requests",
		Paper: algo.Paper{
			Authors: "A. S. Tanenbaum, M. van Steen",
			Title:   "Distributed Systems: Principles and Paradigms, section 6.3.2",
			Venue:   "Prentice Hall, 2nd edition", Year: 2007,
			Deviations: "Requests are numbered, so that a second copy of a message changes nothing. No " +
				"process takes over when the coordinator is gone, and one that comes back lets none in: " +
				"it does not know which process is inside.",
		},
		Messages: []algo.Message{Request{}, Grant{}, Release{}},
		Params: []algo.Param{{
			Name: "coordinator", Type: algo.Int, Min: int64(1), Process: true,
			Default: algo.Const(int64(1)), Doc: "the process that lets the others in",
		}},
		Survives: algo.Faults{Duplication: true},
		// Between a REQUEST and its GRANT a process sends nothing, so who knows of a
		// request knows from the coordinator, where it stands in the queue already.
		Promises: algo.Promises{StarvationFree: true, RequestOrder: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "3, and 0 for the coordinator: 3(N-1)/N",
				Bound: algo.Within(0.10, messages)},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "3, and 0 for the coordinator: 3(N-1)/N",
				Bound: algo.Exactly(messages)},
		},
		Breaks: "When the coordinator crashes the queue dies with it, and all wait forever. A process " +
			"that crashes inside never releases, and all wait as well.",
	}, New)
}

func messages(n int) float64 { return 3 * float64(n-1) / float64(n) }

type node struct {
	algo.Config
	coordinator algo.ID
	own         Turn // the present request, otherwise the last one
	waiting     bool // for the GRANT

	// Of the coordinator alone.
	busy   Turn     // who is inside; no ID: nobody
	queue  []Turn   // who is to come, first come first
	latest []uint64 // number of the last request seen of each, as in Peers
}

// New starts with none inside.
func New(c algo.Config) algo.Mutex {
	n := &node{Config: c, coordinator: algo.ID(c.Params.Int("coordinator")), own: Turn{ID: c.ID}}
	if n.coordinator == n.ID {
		n.latest = make([]uint64, len(c.Peers))
		if c.Incarnation > 0 { // somebody may be inside
			n.busy = Turn{ID: c.ID}
		}
	}
	return n
}

// Request is rule 1.
func (n *node) Request(env algo.Env) {
	n.own.Number++
	n.waiting = true
	env.Send(n.coordinator, Request{n.own})
}

// Release is rule 4.
func (n *node) Release(env algo.Env) { env.Send(n.coordinator, Release{n.own}) }

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, m.Turn)
	case Grant:
		n.onGrant(env, m.Turn)
	case Release:
		n.onRelease(env, m.Turn)
	}
}

// onRequest is rule 2, at the coordinator.
func (n *node) onRequest(env algo.Env, t Turn) {
	latest := &n.latest[t.ID.Index()]
	switch {
	case t.Number <= *latest: // a second copy
		return
	case n.busy.ID == algo.None: // free
		n.busy = t
		env.Send(t.ID, Grant{t})
	default: // wait for those before
		n.queue = append(n.queue, t)
	}
	*latest = t.Number
}

// onGrant is rule 3.
func (n *node) onGrant(env algo.Env, t Turn) {
	if n.waiting && t == n.own {
		n.waiting = false
		env.Granted()
	}
}

// onRelease is rule 5, at the coordinator.
func (n *node) onRelease(env algo.Env, t Turn) {
	if t != n.busy { // a second copy
		return
	}
	n.busy = Turn{}
	if len(n.queue) > 0 {
		n.busy, n.queue = n.queue[0], n.queue[1:]
		env.Send(n.busy.ID, Grant{n.busy})
	}
}

// Invariant: no process waits for a free critical section, none waits twice,
// and only the coordinator keeps a queue.
func (n *node) Invariant() error {
	if n.ID != n.coordinator && (n.busy.ID != algo.None || len(n.queue) > 0) {
		return fmt.Errorf("not the coordinator, but keeps a queue: %v, %v", n.busy, n.queue)
	}
	if n.busy.ID == algo.None && len(n.queue) > 0 {
		return fmt.Errorf("free, but %v wait", n.queue)
	}
	if last := len(n.queue) - 1; last >= 0 { // it grows at its end: the others were looked at before
		t := n.queue[last]
		if slices.ContainsFunc(n.queue[:last], func(u Turn) bool { return u.ID == t.ID }) {
			return fmt.Errorf("process %d waits twice: %v", t.ID, n.queue)
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
