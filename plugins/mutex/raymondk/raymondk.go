// Package raymondk is Raymond's algorithm for at most k processes in the critical section at
// once (IPL 1989).
//
// It is the permission algorithm of Ricart and Agrawala with one number changed. A process that wants to
// enter asks all others and enters when all but k-1 of the others have replied. A process that is
// inside, or whose own request is earlier, replies when it leaves. So k+1 processes cannot be inside:
// the latest to ask would need the permission of one of the others, which gives none. The replies that
// come after the entry are taken too, and a process that has deferred several requests of another
// answers them with one REPLY.
package raymondk

import (
	"errors"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "raymond-k",
		Summary: "at most k inside: ask all others, and enter when all but k-1 have replied",
		Paper: algo.Paper{
			Authors: "K. Raymond",
			Title:   "A distributed algorithm for multiple entries to a critical section",
			Venue:   "Information Processing Letters 30(4), 189-193", Year: 1989,
			Deviations: "A REPLY names the latest request that it answers, and each process notes which " +
				"of its requests each other process has answered. In the paper a REPLY carries the " +
				"number of requests that it answers. So duplicates change nothing here. A process that " +
				"comes back numbers its requests beyond those of its former life.",
		},
		Messages: []algo.Message{Request{}, Reply{}},
		Admits:   algo.Admits{Places: "k"},
		Params: []algo.Param{{Name: "k", Type: algo.Int, Default: algo.Const(int64(2)), Min: int64(1),
			Doc: "how many may be inside at once"}},
		Survives: algo.Faults{Duplication: true, Crashes: func(n int, p algo.Params) int {
			return min(int(p.Int("k"))-1, n-1)
		}},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "2(N-1), one less for each late reply that answers two requests",
				Bound: algo.Exactly(messages)},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text: "2(N-1)", Bound: algo.Exactly(messages)},
		},
		Breaks: "Each dead process is one that never replies, which takes a place away: with k - 1 of " +
			"them there is one place left, and with k all requests wait forever. A lost message " +
			"takes a place away from one request, or for a REQUEST from the request alone.",
	}, New)
}

func messages(n int) float64 { return float64(2 * (n - 1)) }

type state uint8

const (
	idle state = iota
	waiting
	inside
)

// String is what the state is called where states are shown.
func (s state) String() string { return [...]string{"idle", "waiting", "inside"}[s] }

// node has a number for each process in place of the paper's two counts: so it knows what a
// message is about, however often it comes.
type node struct {
	algo.Config
	k        int
	state    state
	own      uint64   // number of the present request, otherwise of the last one
	highest  uint64   // number seen or used
	answered []uint64 // by ID - 1: the latest own request that each has replied to
	deferred []uint64 // by ID - 1: the latest request of each that is to be answered; 0: none
}

// New starts with no request and no number seen. A process that comes back from a crash counts on beyond
// its former life, or its requests would come before those inside.
func New(c algo.Config) algo.Mutex {
	n, former := len(c.Peers), uint64(c.Incarnation)<<32
	return &node{
		Config: c, k: int(c.Params.Int("k")), own: former, highest: former,
		answered: make([]uint64, n), deferred: make([]uint64, n),
	}
}

// Request takes a number above all that were seen or used, and asks. The own ones count: late
// replies to the request before must not count for this one.
func (n *node) Request(env algo.Env) {
	n.highest++
	n.own, n.state = n.highest, waiting
	algo.Broadcast(env, n.ID, n.Peers, Request{n.own})
	n.enterIfAllowed(env)
}

// Release answers all that wait, once each.
func (n *node) Release(env algo.Env) {
	n.state = idle
	for i, number := range n.deferred {
		if number > 0 {
			env.Send(n.Peers[i], Reply{number})
		}
	}
	clear(n.deferred)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, from, m.N)
	case Reply:
		n.answered[from.Index()] = max(n.answered[from.Index()], m.N)
		n.enterIfAllowed(env)
	}
}

// onRequest puts off the answer inside, whatever the stamps say: there is one place less. A
// process that waits puts off what comes after its own request.
func (n *node) onRequest(env algo.Env, from algo.ID, number uint64) {
	n.highest = max(n.highest, number)
	first := n.own < number || n.own == number && n.ID < from
	if n.state == inside || n.state == waiting && first {
		n.deferred[from.Index()] = max(n.deferred[from.Index()], number)
		return
	}
	env.Send(from, Reply{number})
}

// enterIfAllowed counts processes, not replies: of the others N-k are enough.
func (n *node) enterIfAllowed(env algo.Env) {
	if n.state != waiting {
		return
	}
	replied := 0
	for _, number := range n.answered {
		if number == n.own {
			replied++
		}
	}
	if replied >= len(n.Peers)-n.k {
		n.state = inside
		env.Granted()
	}
}

// Invariant: only a requester lets others wait, and no process has answered what was never
// asked.
func (n *node) Invariant() error {
	if n.state == idle && slices.Max(n.deferred) > 0 {
		return errors.New("idle, but replies are due")
	}
	if slices.Max(n.answered) > n.own {
		return errors.New("a process has answered a request that was never made")
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
