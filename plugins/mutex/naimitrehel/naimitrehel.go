// Package naimitrehel is the path-reversal token algorithm of Naimi, Trehel
// and Arnold (JPDC 1996). Comments cite its Figure 1 and its lemmas.
//
// Two structures share the processes. Following father leads to the root, the
// last process to have asked. Following next from the token's holder gives the
// queue of those that wait. A request climbs the father path, and every process
// it passes makes the requester its father. So paths stay short.
package naimitrehel

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "naimi-trehel",
		Summary: "one token; requests follow a tree that path reversal keeps shallow",
		Paper: algo.Paper{
			Authors: "M. Naimi, M. Trehel, A. Arnold",
			Title:   "A log(N) distributed mutual exclusion algorithm based on path reversal",
			Venue:   "JPDC 34(1), 1-13", Year: 1996, DOI: "10.1006/jpdc.1996.0041",
			Deviations: "The first holder, if it crashes and comes back, makes no second token; the " +
				"paper knows no crashes.",
		},
		Token:    "TOKEN",
		Messages: []algo.Message{Req{}, Token{}},
		Promises: algo.Promises{StarvationFree: true}, // Theorem 1
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "light", Source: algo.FromPaper,
			Text:  "H(n-1) on average (Theorem 5)",
			Bound: algo.Within(0.10, func(n int) float64 { return algo.Harmonic(n - 1) }),
		}},
		Breaks: "When the holder crashes, or the token is lost on its way, no process enters any more. " +
			"With a process that crashes on the way to the root, or in the queue, the requests behind it " +
			"are lost.",
	}, New)
}

// node holds the paper's variables, under the paper's names, and no others.
type node struct {
	algo.Config
	father       algo.ID // towards the root; None: this is the root
	next         algo.ID // gets the token after us; None: nobody waits behind us
	tokenPresent bool
	requestingCS bool // from Request_CS to Release_CS
}

// New is Initialization: the holder has the token and is everyone's father. If
// the holder comes back after a crash, it has the token no more and asks another.
func New(c algo.Config) algo.Mutex {
	switch {
	case c.Holder != c.ID:
		return &node{Config: c, father: c.Holder}
	case c.Incarnation > 0:
		next := (c.ID.Index() + 1) % len(c.Peers)
		return &node{Config: c, father: c.Peers[next]}
	}
	return &node{Config: c, tokenPresent: true}
}

// Request is Request_CS.
func (n *node) Request(env algo.Env) {
	n.requestingCS = true
	if n.father == algo.None { // then we have the token: Lemma 3
		env.Granted()
		return
	}
	env.Send(n.father, Req{K: n.ID})
	n.father = algo.None
}

// Release is Release_CS.
func (n *node) Release(env algo.Env) {
	n.requestingCS = false
	if n.next != algo.None {
		env.Send(n.next, Token{})
		n.tokenPresent = false
		n.next = algo.None
	}
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Req:
		n.onReq(env, m.K)
	case Token:
		n.onToken(env)
	}
}

// onReq is "upon receiving the message Req(k)".
func (n *node) onReq(env algo.Env, k algo.ID) {
	switch {
	case n.father != algo.None: // not the root: pass it on
		env.Send(n.father, Req{K: k})
	case n.requestingCS: // root, waiting or inside: k is next
		n.next = k
	default: // idle root: give up the token at once
		n.tokenPresent = false
		env.Send(k, Token{})
	}
	n.father = k // path reversal
}

// onToken is "upon receiving the message Token()".
func (n *node) onToken(env algo.Env) {
	n.tokenPresent = true
	env.Granted()
}

// Invariant is Lemmas 3 and 4. Lemma 3 is checked in both directions.
func (n *node) Invariant() error {
	if root := n.father == algo.None; !n.requestingCS && root != n.tokenPresent {
		return fmt.Errorf("lemma 3: idle with root=%t, token=%t", root, n.tokenPresent)
	}
	if queued := n.requestingCS && n.father != algo.None; queued != (n.next != algo.None) {
		return fmt.Errorf("lemma 4: requesting=%t, father=%d, next=%d", n.requestingCS, n.father, n.next)
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
