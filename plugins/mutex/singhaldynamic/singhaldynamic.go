// Package singhaldynamic is Singhal's algorithm with a dynamic information structure (IEEE TPDS 1992), as
// Kshemkalyani and Singhal's textbook has it (Distributed Computing, 2008, section 9.5).
//
// Each process has a request set, the processes that it asks before it enters, and an inform set, those
// that it answers when it leaves. Of two processes one at least always has the other in its request set, so
// that one asks the other. The request sets are a staircase: at the start each process asks those with
// smaller IDs. A process that gives its permission away has to ask for it the next time. So a process that
// was inside last asks nobody, and a process that seldom enters drops out of the request sets of others.
package singhaldynamic

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "singhal-dynamic",
		Summary: "ask the processes of a request set, which follows who was inside last",
		Paper: algo.Paper{
			Authors: "M. Singhal",
			Title:   "A dynamic information-structure mutual exclusion algorithm for distributed systems",
			Venue:   "IEEE Transactions on Parallel and Distributed Systems 3(1), 121-125", Year: 1992,
			Deviations: "Request sets and inform sets leave the process itself out. The rules are those of " +
				"A. D. Kshemkalyani, M. Singhal, Distributed Computing, 2008, section 9.5.",
		},
		Messages: []algo.Message{Request{}, Reply{}},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "0 to 2(N-1), N-1 on average",
				Bound: algo.Within(0.10, func(n int) float64 { return float64(n - 1) })},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "N-1 on average, as the request sets are a staircase",
				Bound: algo.Exactly(func(n int) float64 { return float64(n - 1) })},
		},
		Breaks: "The permissions of a process that crashes are lost: each process that has it in its " +
			"request set waits forever.",
	}, New)
}

type node struct {
	algo.Config
	clock      uint64
	own        algo.Stamp // of the present request
	requesting bool
	executing  bool
	request    []algo.ID // the request set, ascending
	inform     []algo.ID // the inform set, in the order of arrival
}

// New has the processes with smaller IDs in its request set.
func New(c algo.Config) algo.Mutex {
	n := &node{Config: c}
	for _, p := range c.Peers {
		if p < c.ID {
			n.request = append(n.request, p)
		}
	}
	return n
}

// Request asks all of the request set.
func (n *node) Request(env algo.Env) {
	n.clock++
	n.requesting, n.own = true, algo.Stamp{Number: n.clock, ID: n.ID}
	algo.Broadcast(env, algo.None, n.request, Request{n.own})
	n.enterIfAllowed(env)
}

// Release answers all of the inform set, which have to be asked the next time.
func (n *node) Release(env algo.Env) {
	n.executing = false
	for _, p := range n.inform {
		n.allow(env, p)
	}
	n.inform = n.inform[:0]
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.clock = max(n.clock, m.Stamp.Number)
		n.onRequest(env, from, m.Stamp)
	case Reply:
		n.clock = max(n.clock, m.Clock)
		n.onReply(env, from)
	}
}

// onRequest lets a process that asks later wait, and a process that asks earlier go first. That one may not
// know of this request yet, and is asked.
func (n *node) onRequest(env algo.Env, from algo.ID, s algo.Stamp) {
	if n.executing || n.requesting && n.own.Before(s) {
		n.inform = append(n.inform, from)
		return
	}
	asked := slices.Contains(n.request, from)
	n.allow(env, from)
	if n.requesting && !asked {
		env.Send(from, Request{n.own})
	}
}

func (n *node) onReply(env algo.Env, from algo.ID) {
	if i, is := slices.BinarySearch(n.request, from); is {
		n.request = slices.Delete(n.request, i, i+1)
	}
	n.enterIfAllowed(env)
}

// allow gives p permission, and has it in the request set.
func (n *node) allow(env algo.Env, p algo.ID) {
	if i, is := slices.BinarySearch(n.request, p); !is {
		n.request = slices.Insert(n.request, i, p)
	}
	env.Send(p, Reply{n.clock})
}

func (n *node) enterIfAllowed(env algo.Env) {
	if n.requesting && len(n.request) == 0 {
		n.requesting, n.executing = false, true
		env.Granted()
	}
}

// Invariant: a process that is inside has nobody left to ask, and only a process that wants to enter, or is
// inside, lets others wait.
func (n *node) Invariant() error {
	if n.executing && len(n.request) > 0 {
		return fmt.Errorf("inside, and %v are in the request set", n.request)
	}
	if !n.requesting && !n.executing && len(n.inform) > 0 {
		return errors.New("not requesting, but answers are due")
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
