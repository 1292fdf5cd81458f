// Package ricartagrawala is the permission algorithm of Ricart and Agrawala
// (CACM 1981).
//
// A process that wants to enter asks all others and enters when all have replied. A
// process that wants to enter itself, or is inside, compares the two requests:
// to the later one it replies only when it leaves. Requests are ordered by the
// sequence number that each carries, one above the highest that its sender had
// seen, and equal numbers by process. So of any two requests one waits for the
// other, and never both. There is no RELEASE: the deferred replies take its
// place.
package ricartagrawala

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "ricart-agrawala",
		Summary: "ask all others; a process that asked earlier or is inside replies when it leaves",
		Paper: algo.Paper{
			Authors: "G. Ricart, A. K. Agrawala",
			Title:   "An optimal algorithm for mutual exclusion in computer networks",
			Venue:   "CACM 24(1), 9-17", Year: 1981, DOI: "10.1145/358527.358537",
			Deviations: "A REPLY names the request that it answers, and those that have replied are kept " +
				"as a set; the paper counts bare REPLYs. So duplicates change nothing. A process that " +
				"comes back numbers its requests beyond those of its former life.",
		},
		Messages: []algo.Message{Request{}, Reply{}},
		Survives: algo.Faults{Duplication: true},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.FromPaper,
				Text: "2(N-1)", Bound: algo.Exactly(messages)},
			{Metric: "messages/entry", Load: "burst", Source: algo.FromPaper,
				Text: "2(N-1)", Bound: algo.Exactly(messages)},
		},
		Breaks: "Any crash blocks it, also of a process that does not want to enter, and so does a lost " +
			"message: a process that asks afterwards lacks one reply forever.",
	}, New)
}

func messages(n int) float64 { return float64(2 * (n - 1)) }

// node has the paper's variables; Outstanding_Reply_Count is the set needed.
type node struct {
	algo.Config
	own        algo.Stamp   // of the present request, otherwise of the last one
	highest    uint64       // sequence number seen in any request
	requesting bool         // from the request until the release
	needed     []algo.ID    // whose replies are still to come, ascending
	deferred   []algo.Stamp // requests to be answered at the release
}

// New starts with no request and no number seen. A process that comes back from a crash counts
// on beyond its former life, or its requests would come before those inside.
func New(c algo.Config) algo.Mutex { return &node{Config: c, highest: uint64(c.Incarnation) << 32} }

// Request is rule 1: choose a number above all that were seen, and ask.
func (n *node) Request(env algo.Env) {
	n.requesting = true
	n.own = algo.Stamp{Number: n.highest + 1, ID: n.ID}
	n.needed = slices.DeleteFunc(append(n.needed, n.Peers...), func(p algo.ID) bool { return p == n.ID })
	algo.Broadcast(env, n.ID, n.Peers, Request{n.own})
	n.enterIfAllowed(env)
}

// Release is rule 4: the answers that others have been waiting for.
func (n *node) Release(env algo.Env) {
	n.requesting = false
	for _, s := range n.deferred {
		env.Send(s.ID, Reply{s})
	}
	n.deferred = n.deferred[:0]
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, m.Stamp)
	case Reply:
		n.onReply(env, from, m.Stamp)
	}
}

// onRequest is rule 2. What counts is the number of the own request, not the
// highest seen since. Inside the critical section, too: whatever comes before
// the own request was over when its sender replied.
func (n *node) onRequest(env algo.Env, s algo.Stamp) {
	n.highest = max(n.highest, s.Number)
	if n.requesting && n.own.Before(s) { // ours comes first
		n.deferred = append(n.deferred, s)
		return
	}
	env.Send(s.ID, Reply{s})
}

// onReply is rule 3. A reply to an earlier request changes nothing.
func (n *node) onReply(env algo.Env, from algo.ID, s algo.Stamp) {
	i, waiting := slices.BinarySearch(n.needed, from)
	if s == n.own && waiting {
		n.needed = slices.Delete(n.needed, i, i+1)
		n.enterIfAllowed(env)
	}
}

func (n *node) enterIfAllowed(env algo.Env) {
	if len(n.needed) == 0 {
		env.Granted()
	}
}

// Invariant is what the paper's proof rests on: only a requester waits or makes
// others wait, and those come after it.
func (n *node) Invariant() error {
	if !n.requesting && len(n.needed)+len(n.deferred) > 0 {
		return errors.New("not requesting, but replies are due")
	}
	for _, s := range n.deferred {
		if !n.own.Before(s) {
			return fmt.Errorf("request %v is deferred, but comes before ours, %v", s, n.own)
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
