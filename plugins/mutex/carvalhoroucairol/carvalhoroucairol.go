// Package carvalhoroucairol is Ricart and Agrawala's algorithm as Carvalho and Roucairol
// improved it (CACM 1983): a permission is kept until the other side asks for it.
//
// Each pair of processes shares one permission, and a process that has that of every pair may
// enter. A process that wants to enter asks only those whose permission it lacks. So a process
// that enters again and again, while no other wants to, sends nothing. A process that is asked
// hands the permission over, unless it is inside or its own request came earlier: then it does so
// when it leaves. A process that hands one over while its own, later request is under way asks
// for it again at once.
package carvalhoroucairol

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "carvalho-roucairol",
		Summary: "one permission for each pair, kept until the other asks; a process that has all enters",
		Paper: algo.Paper{
			Authors: "O. S. F. Carvalho, G. Roucairol",
			Title:   "On mutual exclusion in computer networks",
			Venue:   "CACM 26(2), 146-147", Year: 1983,
			Deviations: "At the start no process has a permission: the first request of a pair makes " +
				"it. A process that comes back after a crash has none, and numbers its requests beyond " +
				"those of its former life.",
		},
		Messages: []algo.Message{Request{}, Reply{}},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "0 to 2(N-1), N-1 on average",
				Bound: algo.Within(0.10, func(n int) float64 { return float64(n - 1) })},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "2(N-1)",
				Bound: algo.Exactly(func(n int) float64 { return 2 * float64(n-1) })},
		},
		Breaks: "The permissions of a process that crashes are lost, and the processes that need one of " +
			"them wait forever. A pair whose permission is with the live process is not blocked until " +
			"that process gives it away.",
	}, New)
}

type node struct {
	algo.Config
	own        algo.Stamp // of the present request, otherwise of the last one
	highest    uint64     // sequence number seen in any request
	requesting bool       // from the request until the release
	inside     bool       // between entry and release
	has        []algo.ID  // with whom it has the pair's permission, ascending
	deferred   []algo.ID  // who gets it at the release
}

// New starts with no permission.
func New(c algo.Config) algo.Mutex { return &node{Config: c, highest: uint64(c.Incarnation) << 32} }

// Request asks those whose permission is missing.
func (n *node) Request(env algo.Env) {
	n.requesting = true
	n.own = algo.Stamp{Number: n.highest + 1, ID: n.ID}
	for _, p := range n.Peers {
		if _, has := slices.BinarySearch(n.has, p); p != n.ID && !has {
			env.Send(p, Request{n.own})
		}
	}
	n.enterIfAllowed(env)
}

// Release hands over the permissions that others wait for.
func (n *node) Release(env algo.Env) {
	n.requesting, n.inside = false, false
	for _, p := range n.deferred {
		n.handOver(env, p)
	}
	n.deferred = n.deferred[:0]
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, from, m.Stamp)
	case Reply:
		n.onReply(env, from)
	}
}

// onRequest lets a process that asks later wait, and a process that asks earlier go first. The permission
// given away is needed again; it is asked for once: if it was not here, the request that was
// sent for it is still to be answered.
func (n *node) onRequest(env algo.Env, from algo.ID, s algo.Stamp) {
	n.highest = max(n.highest, s.Number)
	if n.inside || n.requesting && n.own.Before(s) {
		n.deferred = append(n.deferred, from)
		return
	}
	had := n.handOver(env, from)
	if n.requesting && had {
		env.Send(from, Request{n.own})
	}
}

func (n *node) onReply(env algo.Env, from algo.ID) {
	i, _ := slices.BinarySearch(n.has, from)
	n.has = slices.Insert(n.has, i, from)
	n.enterIfAllowed(env)
}

// handOver gives p the permission, and says whether it was here before.
func (n *node) handOver(env algo.Env, p algo.ID) (had bool) {
	i, had := slices.BinarySearch(n.has, p)
	if had {
		n.has = slices.Delete(n.has, i, i+1)
	}
	env.Send(p, Reply{})
	return had
}

func (n *node) enterIfAllowed(env algo.Env) {
	if len(n.has) == len(n.Peers)-1 {
		n.inside = true
		env.Granted()
	}
}

// Invariant: only a requester lets others wait; a process that is inside has every permission; and no
// permission is there twice.
func (n *node) Invariant() error {
	if !n.requesting && len(n.deferred) > 0 {
		return errors.New("not requesting, but permissions are due")
	}
	if n.inside && len(n.has) < len(n.Peers)-1 {
		return fmt.Errorf("inside with the permissions of %v alone", n.has)
	}
	for i, p := range n.has {
		if i > 0 && n.has[i-1] == p {
			return fmt.Errorf("two permissions of %d", p)
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
