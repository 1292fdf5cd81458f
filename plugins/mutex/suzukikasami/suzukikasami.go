// Package suzukikasami is the broadcast token algorithm of Suzuki and Kasami
// (ACM TOCS 1985). Comments cite procedures P1 and P2 of the paper.
//
// One token; a process that has it may enter. A process that wants it asks all others, since none
// knows where it is. Every process remembers the number of each process's last request, RN; the
// token remembers the last one served, LN. Where RN is one ahead of LN, a request is waiting, and
// the holder puts its process into the token's queue when it leaves. A request that arrives late,
// behind its own service, is not ahead, and so does nothing.
package suzukikasami

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "suzuki-kasami",
		Summary: "one token with a queue; requests are broadcast and numbered",
		Paper: algo.Paper{
			Authors: "I. Suzuki, T. Kasami",
			Title:   "A distributed mutual exclusion algorithm",
			Venue:   "ACM TOCS 3(4), 344-349", Year: 1985, DOI: "10.1145/6110.214406",
			Deviations: "The queue is filled beginning behind the process that leaves, not with process " +
				"1: none is preferred. A process that comes back after a crash has no token, and " +
				"numbers its requests beyond those of its former life.",
		},
		Token:    "TOKEN",
		Messages: []algo.Message{Request{}, Token{}},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.FromPaper,
				Text:  "N, and 0 for the holder: N-1 on average",
				Bound: algo.Within(0.10, messages)},
			{Metric: "messages/entry", Load: "burst", Source: algo.FromPaper,
				Text:  "N, and 0 for the holder: N-1",
				Bound: algo.Exactly(messages)},
		},
		Breaks: "When the holder crashes, or the token is lost on its way, there is no token any " +
			"more, and a process that asks waits forever. The crash of a process that neither has the " +
			"token nor waits for it does no harm.",
	}, New)
}

func messages(n int) float64 { return float64(n - 1) }

// node has the paper's variables; HavePrivilege is token.LN.
type node struct {
	algo.Config
	rn         []uint64 // number of each process's last request that is known, as in Peers
	token      Token    // no LN: it is elsewhere
	requesting bool     // from the request until the release
}

// New gives the token to the holder.
func New(c algo.Config) algo.Mutex {
	n := &node{Config: c, rn: make([]uint64, len(c.Peers))}
	n.rn[c.ID.Index()] = uint64(c.Incarnation) << 32
	if c.Holder == c.ID && c.Incarnation == 0 {
		n.token.LN = make([]uint64, len(c.Peers))
	}
	return n
}

func (n *node) holds() bool { return n.token.LN != nil }

// Request is the first half of P1.
func (n *node) Request(env algo.Env) {
	n.requesting = true
	if n.holds() {
		env.Granted()
		return
	}
	i := n.ID.Index()
	n.rn[i]++
	algo.Broadcast(env, n.ID, n.Peers, Request{n.rn[i]})
}

// Release is the second half of P1: note that the own request is served, queue
// those that wait and hand the token to the first.
func (n *node) Release(env algo.Env) {
	n.requesting = false
	i := n.ID.Index()
	n.token.LN[i] = n.rn[i]
	for k := 1; k < len(n.Peers); k++ {
		j := n.Peers[(i+k)%len(n.Peers)]
		if n.waits(j) && !slices.Contains(n.token.Q, j) {
			n.token.Q = append(n.token.Q, j)
		}
	}
	if len(n.token.Q) > 0 {
		head := n.token.Q[0]
		n.token.Q = n.token.Q[1:]
		n.handOver(env, head)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, from, m.N)
	case Token:
		n.onToken(env, m)
	}
}

// onRequest is P2.
func (n *node) onRequest(env algo.Env, j algo.ID, number uint64) {
	i := j.Index()
	n.rn[i] = max(n.rn[i], number)
	if n.holds() && !n.requesting && n.waits(j) { // idle holder
		n.handOver(env, j)
	}
}

// onToken ends the wait of P1.
func (n *node) onToken(env algo.Env, t Token) {
	n.token = t
	env.Granted()
}

// waits says whether a request of j is known that is not served yet: the next in the paper, unless a
// crash of j lies between.
func (n *node) waits(j algo.ID) bool {
	i := j.Index()
	return n.rn[i] > n.token.LN[i]
}

func (n *node) handOver(env algo.Env, to algo.ID) {
	env.Send(to, n.token)
	n.token = Token{}
}

// Invariant is what the paper's proof says of the holder: no request is more
// than one ahead of those served, but the first after a crash; none is queued
// twice, and none waits for an idle holder.
func (n *node) Invariant() error {
	if !n.holds() {
		return nil
	}
	for i, p := range n.Peers {
		if n.rn[i] > n.token.LN[i]+1 && uint32(n.rn[i]) > 1 {
			return fmt.Errorf("request %d of process %d, but %d served", n.rn[i], p, n.token.LN[i])
		}
		if !n.requesting && n.waits(p) {
			return fmt.Errorf("idle with the token, but process %d waits", p)
		}
	}
	if q := slices.Sorted(slices.Values(n.token.Q)); len(slices.Compact(q)) != len(n.token.Q) {
		return fmt.Errorf("queue %v holds a process twice", n.token.Q)
	}
	if !n.requesting && len(n.token.Q) > 0 {
		return errors.New("idle with the token, but its queue is not empty")
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
