// Package ricartagrawalatoken is the broadcast token algorithm of Ricart and Agrawala (CACM 1983),
// their answer to Carvalho and Roucairol.
//
// One token; a process that has it may enter. A process that wants it asks all others, since none
// knows where it is, with the number of this request. The token remembers the number of each process's
// last request that was served. A process that leaves looks round the ring of processes, from its
// successor on, for the first whose request is newer than that, and hands the token over. So none is
// passed over, and no queue is kept.
package ricartagrawalatoken

import (
	"errors"
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "ricart-agrawala-token",
		Summary: "one token; requests are broadcast, and a process that leaves looks round for the next",
		Paper: algo.Paper{
			Authors: "G. Ricart, A. K. Agrawala",
			Title:   "Author's response to \"On mutual exclusion in computer networks\"",
			Venue:   "CACM 26(2), 147-148", Year: 1983,
			Deviations: "The numbers of requests are those of a counter, not of a logical clock: they " +
				"only need to grow. A process that comes back after a crash has no token, and numbers " +
				"its requests beyond those of its former life.",
		},
		Token:    "TOKEN",
		Messages: []algo.Message{Request{}, Token{}},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "N, and 0 for the holder: N-1 on average",
				Bound: algo.Within(0.10, messages)},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "N, and 0 for the holder: N-1",
				Bound: algo.Exactly(messages)},
		},
		Breaks: "When the holder crashes, or the token is lost on its way, there is no token any more, " +
			"and a process that asks waits forever. The same happens when the token goes to a process " +
			"that crashed while it waited. The crash of any other does no harm.",
	}, New)
}

func messages(n int) float64 { return float64(n - 1) }

type node struct {
	algo.Config
	clock   uint64   // number of the last own request
	request []uint64 // largest number of a request of each process, as in Peers
	token   []uint64 // number of each one's last request that was served; nil: the token is elsewhere
	inside  bool
}

// New gives the token to the holder.
func New(c algo.Config) algo.Mutex {
	n := &node{Config: c, clock: uint64(c.Incarnation) << 32, request: make([]uint64, len(c.Peers))}
	if c.Holder == c.ID && c.Incarnation == 0 {
		n.token = make([]uint64, len(c.Peers))
	}
	return n
}

// Request asks all others, unless the token is here.
func (n *node) Request(env algo.Env) {
	if n.token != nil {
		n.enter(env)
		return
	}
	n.clock++
	algo.Broadcast(env, n.ID, n.Peers, Request{n.clock})
}

// Release notes that the own request is served, and hands the token over.
func (n *node) Release(env algo.Env) {
	n.inside = false
	n.token[n.ID.Index()] = n.clock
	n.handOver(env)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, from, m.N)
	case Token:
		n.onToken(env, m.Served)
	}
}

// onRequest: an idle holder hands the token over at once.
func (n *node) onRequest(env algo.Env, j algo.ID, number uint64) {
	i := j.Index()
	n.request[i] = max(n.request[i], number)
	if n.token != nil && !n.inside {
		n.handOver(env)
	}
}

func (n *node) onToken(env algo.Env, served []uint64) {
	n.token = served
	n.enter(env)
}

func (n *node) enter(env algo.Env) {
	n.inside = true
	env.Granted()
}

// handOver gives the token to the first behind this process that waits, if one does. That it
// asked itself, nobody tells it.
func (n *node) handOver(env algo.Env) {
	self := n.ID.Index()
	for k := range n.Peers {
		if i := (self + k) % len(n.Peers); n.request[i] > n.token[i] {
			env.Send(n.Peers[i], Token{n.token})
			n.token = nil
			return
		}
	}
}

// Invariant: none waits for an idle holder, and a process that is inside has the token.
func (n *node) Invariant() error {
	if n.inside && n.token == nil {
		return errors.New("inside without the token")
	}
	if n.token == nil || n.inside {
		return nil
	}
	for i, p := range n.Peers {
		if p != n.ID && n.request[i] > n.token[i] {
			return fmt.Errorf("idle with the token, but process %d waits", p)
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
