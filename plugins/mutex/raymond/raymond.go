// Package raymond is the tree-based token algorithm of Raymond (ACM TOCS 1989).
// Comments cite the paper's procedures and events.
//
// The processes form a tree. Each knows in which direction the privilege is,
// and keeps a queue of the neighbors that want it, itself among them. It asks
// in the direction of the privilege once for all that wait, and when the
// privilege comes, passes it to the first of its queue. If others still wait,
// it asks again at once. So a request climbs only as far as the first process
// that has asked already.
package raymond

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "raymond",
		Summary: "a token in a tree; every process asks once for all that wait behind it",
		Paper: algo.Paper{
			Authors: "K. Raymond",
			Title:   "A tree-based algorithm for distributed mutual exclusion",
			Venue:   "ACM TOCS 7(1), 61-77", Year: 1989, DOI: "10.1145/58564.59295",
			Deviations: "The paper sends INITIALIZE messages to tell all where the privilege is; here " +
				"that follows from the topology. Its recovery after a crash is left out: a process that " +
				"comes back does not have the privilege.",
		},
		Messages: []algo.Message{Request{}, Privilege{}},
		Token:    "PRIVILEGE",
		Needs:    algo.Needs{Topology: algo.Tree},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "light", Source: algo.Derived,
			Text:  "twice the distance to the holder; on average, in a binary tree",
			Bound: algo.Within(0.10, messages),
		}},
		Breaks: "A crash cuts the tree: a process that has the crashed process between itself and the " +
			"privilege waits forever, and with the holder the privilege is lost.",
	}, New)
}

// messages is twice the mean distance of two processes in a binary tree: each
// edge lies between the processes below it and all others.
func messages(n int) float64 {
	below, sum := make([]int, n+1), 0.0
	for i := n; i > 1; i-- { // the parent of i is i/2
		below[i]++
		below[i/2] += below[i]
		sum += float64(4 * below[i] * (n - below[i]))
	}
	return sum / float64(n) / float64(n)
}

// node has the paper's variables.
type node struct {
	algo.Config
	holder algo.ID // in whose direction the privilege is; or this process; None: lost
	using  bool
	queue  []algo.ID // neighbors that want the privilege, and this process
	asked  bool      // the holder, for the first of the queue
}

// New: the first neighbor is the one in the direction of the privilege.
func New(c algo.Config) algo.Mutex {
	n := &node{Config: c, holder: c.Neighbors[0]}
	if c.Holder == c.ID && c.Incarnation == 0 {
		n.holder = c.ID
	}
	return n
}

// Request is the event "a node wishes to enter".
func (n *node) Request(env algo.Env) {
	n.queue = append(n.queue, n.ID)
	n.proceed(env)
}

// Release is the event "a node exits".
func (n *node) Release(env algo.Env) {
	n.using = false
	n.proceed(env)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m.(type) {
	case Request:
		n.queue = append(n.queue, from)
	case Privilege:
		n.holder = n.ID
	}
	n.proceed(env)
}

// proceed is what every event ends with. To ask comes second: where others wait
// still, the privilege that was just given away is asked back.
func (n *node) proceed(env algo.Env) {
	n.assignPrivilege(env)
	n.makeRequest(env)
}

// assignPrivilege is ASSIGN_PRIVILEGE.
func (n *node) assignPrivilege(env algo.Env) {
	if n.holder != n.ID || n.using || len(n.queue) == 0 {
		return
	}
	n.holder, n.queue = n.queue[0], n.queue[1:]
	n.asked = false
	if n.holder == n.ID {
		n.using = true
		env.Granted()
	} else {
		env.Send(n.holder, Privilege{})
	}
}

// makeRequest is MAKE_REQUEST.
func (n *node) makeRequest(env algo.Env) {
	if n.holder != n.ID && n.holder != algo.None && len(n.queue) > 0 && !n.asked {
		n.asked = true
		env.Send(n.holder, Request{})
	}
}

// Invariant holds after both procedures: none waits for an idle holder, and a
// process that waits elsewhere has asked.
func (n *node) Invariant() error {
	here := n.holder == n.ID
	switch {
	case n.using && !here:
		return fmt.Errorf("inside, but the privilege is at %d", n.holder)
	case here && !n.using && len(n.queue) > 0:
		return fmt.Errorf("idle with the privilege, but %v wait", n.queue)
	case here && n.asked, !here && n.holder != algo.None && n.asked != (len(n.queue) > 0):
		return fmt.Errorf("asked is %t with the privilege at %d and %v waiting",
			n.asked, n.holder, n.queue)
	}
	if q := slices.Sorted(slices.Values(n.queue)); len(slices.Compact(q)) != len(n.queue) {
		return fmt.Errorf("queue %v holds a process twice", n.queue)
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
