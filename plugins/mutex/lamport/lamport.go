// Package lamport is the mutual exclusion of Lamport's "Time, clocks" (CACM
// 1978), the example for which logical clocks were made. Comments cite the five
// rules that the paper numbers.
//
// Every process keeps the same queue of requests, ordered by the logical time
// at which they were made. It enters when its own request is the first. It may
// trust its copy of the queue once it has heard from all others at a later
// time. Links keep order, so no earlier message can still be under way. Without
// that order the algorithm is wrong.
package lamport

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "lamport",
		Summary: "all keep the same queue, ordered by logical time; the first enters",
		Paper: algo.Paper{
			Authors: "L. Lamport",
			Title:   "Time, clocks, and the ordering of events in a distributed system",
			Venue:   "CACM 21(7), 558-565", Year: 1978, DOI: "10.1145/359545.359563",
			Deviations: "Every request is acknowledged. The paper's footnote, that no acknowledgement is " +
				"needed behind a later message to the same process, is not used. A process that comes " +
				"back has lost the queue, so it answers others and asks no more.",
		},
		Messages: []algo.Message{Request{}, Reply{}, Release{}},
		Needs:    algo.Needs{FIFO: true},
		Survives: algo.Faults{Duplication: true}, // in order, a second copy says nothing new
		Promises: algo.Promises{StarvationFree: true, RequestOrder: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "3(N-1), as Ricart and Agrawala count it",
				Bound: algo.Exactly(messages)},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "3(N-1), as Ricart and Agrawala count it",
				Bound: algo.Exactly(messages)},
		},
		Breaks: "Where links do not keep order it is unsafe: a REPLY or RELEASE that overtakes a " +
			"REQUEST of its sender lets two in at once. After any crash or loss a process that asks " +
			"waits forever.",
	}, New)
}

func messages(n int) float64 { return float64(3 * (n - 1)) }

type node struct {
	algo.Config
	clock  uint64
	queue  []uint64 // time of each process's request, as in Peers; 0: it has none
	last   []uint64 // latest time of a message from each, as in Peers
	inside bool
}

// New starts with an empty queue.
func New(c algo.Config) algo.Mutex {
	return &node{Config: c, queue: make([]uint64, len(c.Peers)), last: make([]uint64, len(c.Peers))}
}

// Request is rule 1: put the request into its own queue and all others'. A
// process that came back from a crash does not know what is in the queue already.
func (n *node) Request(env algo.Env) {
	if n.Incarnation > 0 {
		return
	}
	n.clock++
	n.queue[n.ID.Index()] = n.clock
	algo.Broadcast(env, n.ID, n.Peers, Request{n.clock})
	n.enterIfFirst(env)
}

// Release is rule 3.
func (n *node) Release(env algo.Env) {
	n.inside = false
	n.queue[n.ID.Index()] = 0
	n.clock++
	algo.Broadcast(env, n.ID, n.Peers, Release{n.clock})
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.hear(from, m.TS)
		n.onRequest(env, from, m.TS)
	case Reply:
		n.hear(from, m.TS)
	case Release:
		n.hear(from, m.TS)
		n.queue[from.Index()] = 0 // rule 4
	}
	n.enterIfFirst(env)
}

// hear advances the clock beyond a message's, and notes how far its sender is.
func (n *node) hear(from algo.ID, ts uint64) {
	n.clock = max(n.clock, ts) + 1
	n.last[from.Index()] = ts
}

// onRequest is rule 2: put the request into the queue and acknowledge it.
func (n *node) onRequest(env algo.Env, from algo.ID, ts uint64) {
	n.queue[from.Index()] = ts
	env.Send(from, Reply{n.clock})
}

// enterIfFirst is rule 5: the own request comes before any other in the queue,
// and everybody has been heard from since.
func (n *node) enterIfFirst(env algo.Env) {
	own := stamp{n.queue[n.ID.Index()], n.ID}
	if own.ts == 0 || n.inside {
		return
	}
	for i, p := range n.Peers {
		if p == n.ID {
			continue
		}
		if n.queue[i] > 0 && (stamp{n.queue[i], p}).before(own) {
			return // an earlier request
		}
		if !own.before(stamp{n.last[i], p}) {
			return // an earlier request may still be on its way
		}
	}
	n.inside = true
	env.Granted()
}

// Invariant: the clock is beyond everything heard and asked for, and a process that is
// inside has a request.
func (n *node) Invariant() error {
	for i, p := range n.Peers {
		if n.clock < n.last[i] || n.clock < n.queue[i] {
			return fmt.Errorf("clock %d, but heard %d and a request of %d from %d",
				n.clock, n.last[i], n.queue[i], p)
		}
	}
	if n.inside && n.queue[n.ID.Index()] == 0 {
		return fmt.Errorf("inside without a request in the queue")
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
