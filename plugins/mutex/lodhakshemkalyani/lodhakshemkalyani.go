// Package lodhakshemkalyani is the fair mutual exclusion algorithm of Lodha and Kshemkalyani (IEEE TPDS
// 2000).
//
// Entries follow the stamps of the requests, as in Ricart and Agrawala's algorithm. But
// of two concurrent requests each answers the other, so no replies are sent between
// processes that both wait. Each keeps a queue of the requests that it knows to be
// concurrent with its own. A process that leaves tells the next in its queue, with one message. So
// the more processes ask at once, the fewer messages an entry costs.
package lodhakshemkalyani

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name: "lodha-kshemkalyani",
		Summary: "ask everybody; concurrent requests answer each other, and a process that leaves tells " +
			"the next",
		Paper: algo.Paper{
			Authors: "S. Lodha, A. Kshemkalyani",
			Title:   "A fair distributed mutual exclusion algorithm",
			Venue:   "IEEE TPDS 11(6), 537-549", Year: 2000,
			Deviations: "Every message says up to which stamp requests are known to have been served, " +
				"and an answer names the request that it answers: without both, a process would wait in " +
				"vain for a request that arrives after the FLUSH that covers it. A process that comes " +
				"back after a crash numbers its requests beyond those of its former life.",
		},
		Messages: []algo.Message{Request{}, Reply{}, Flush{}},
		Needs:    algo.Needs{FIFO: true},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "2(N-1)",
				Bound: algo.Exactly(func(n int) float64 { return 2 * float64(n-1) })},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "N^2-1 for N entries",
				Bound: algo.Exactly(func(n int) float64 { return float64(n*n-1) / float64(n) })},
		},
		Breaks: "Any crash blocks it, also of a process that does not want to enter: the answers of all " +
			"are needed. So does a lost message. On links that do not keep order a REQUEST may come " +
			"after the FLUSH that passes it over.",
	}, New)
}

// node has the paper's variables.
type node struct {
	algo.Config
	own        algo.Stamp // of the present request, otherwise of the last one
	highest    uint64
	done       algo.Stamp // the largest that is known to have been served
	requesting bool       // from the request until the release
	inside     bool
	answered   []algo.ID    // who has answered the present request: the paper's RV, ascending
	queue      []algo.Stamp // requests concurrent with the present one, and this: the paper's LRQ
	deferred   []algo.Stamp // requests to be answered at the release
}

// New starts with no request and no number seen.
func New(c algo.Config) algo.Mutex { return &node{Config: c, highest: uint64(c.Incarnation) << 32} }

// Request chooses a number above all that were seen, and asks.
func (n *node) Request(env algo.Env) {
	n.requesting = true
	n.highest++
	n.own = algo.Stamp{Number: n.highest, ID: n.ID}
	n.answered = append(n.answered[:0], n.ID)
	n.queue = append(n.queue[:0], n.own)
	algo.Broadcast(env, n.ID, n.Peers, Request{Stamp: n.own, Done: n.done})
	n.enterIfAllowed(env)
}

// Release tells the next in the queue, and answers those that came too late for it.
func (n *node) Release(env algo.Env) {
	n.requesting, n.inside = false, false
	n.serve(n.own)
	if len(n.queue) > 0 {
		env.Send(n.queue[0].ID, Flush{Of: n.queue[0], Done: n.done})
	}
	for _, s := range n.deferred {
		env.Send(s.ID, Reply{Of: s, Done: n.done})
	}
	n.deferred = n.deferred[:0]
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.serve(m.Done)
		n.onRequest(env, m.Stamp)
	case Reply:
		n.serve(m.Done)
		n.onAnswer(env, from, m.Of)
	case Flush:
		n.serve(m.Done)
		n.onAnswer(env, from, m.Of)
	}
}

// serve notes that all requests up to s have been served.
func (n *node) serve(s algo.Stamp) {
	if n.done.Compare(s) < 0 {
		n.done = s
	}
	n.queue = slices.DeleteFunc(n.queue, func(q algo.Stamp) bool { return q.Compare(n.done) <= 0 })
}

// onRequest: a concurrent request is the answer to the own one. A further request of a process that
// has answered comes after the own one.
func (n *node) onRequest(env algo.Env, s algo.Stamp) {
	n.highest = max(n.highest, s.Number)
	i, answered := slices.BinarySearch(n.answered, s.ID)
	switch {
	case !n.requesting:
		env.Send(s.ID, Reply{Of: s, Done: n.done})
	case answered:
		n.deferred = append(n.deferred, s)
	default:
		n.answered = slices.Insert(n.answered, i, s.ID)
		if s.Compare(n.done) > 0 {
			at, _ := slices.BinarySearchFunc(n.queue, s, algo.Stamp.Compare)
			n.queue = slices.Insert(n.queue, at, s)
		}
		n.enterIfAllowed(env)
	}
}

// onAnswer is of a REPLY and of a FLUSH. A request that is over has been answered by all.
func (n *node) onAnswer(env algo.Env, from algo.ID, of algo.Stamp) {
	if i, answered := slices.BinarySearch(n.answered, from); of == n.own && !answered {
		n.answered = slices.Insert(n.answered, i, from)
	}
	n.enterIfAllowed(env)
}

// enterIfAllowed: all have answered, and the own request is the first of those that are not served.
func (n *node) enterIfAllowed(env algo.Env) {
	if n.requesting && !n.inside && len(n.answered) == len(n.Peers) && n.queue[0] == n.own {
		n.inside = true
		env.Granted()
	}
}

// Invariant: the queue is in order, holds the own request as long as it waits, and nothing that has been
// served.
func (n *node) Invariant() error {
	if !n.requesting && len(n.deferred) > 0 {
		return errors.New("not requesting, but replies are due")
	}
	if n.requesting && !slices.Contains(n.queue, n.own) {
		return fmt.Errorf("the own request %v is not in the queue %v", n.own, n.queue)
	}
	if !slices.IsSortedFunc(n.queue, algo.Stamp.Compare) {
		return fmt.Errorf("queue %v is not in order", n.queue)
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
