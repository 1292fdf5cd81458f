// Package raynaloriginal is Raynal's mutual exclusion by prime numbers (IPL
// 1989), in its first form. Comments cite the numbered rules of that form.
//
// Each process has a number A, and no two of these have a factor in common. It keeps
// a fraction X, at first A, but 1 at one process. The product T of all X says whose
// turn it is: process i's, if T = Q/A(i), Q being the product of all A. A process
// that wants to enter asks all others for X, computes T, and polls again after a
// pause if it is the turn of another. A process that leaves multiplies its X by
// A(i)/A(i+1), and so passes the turn to its successor without any message.
//
// After s passes X is A(i)^(s+1)/A(i+1)^s, without the 1 where it was 1. X outgrows
// any number, so s stands for it in messages.
//
// The turn passes only when a process leaves: if the process whose turn it is
// does not want to enter, no other ever enters, and those that want to poll
// forever.
package raynaloriginal

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/raynal"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "raynal-original",
		Summary: "a product of fractions says whose turn it is; poll for it; may block forever",
		Paper: algo.Paper{
			Authors: "M. Raynal",
			Title:   "Prime numbers as a tool to design distributed algorithms",
			Venue:   "Information Processing Letters 33", Year: 1989,
			Deviations: "T is compared with Q/A when every process has replied, not before. Polls are " +
				"numbered and replies name their poll, so that duplicates do no harm. Fractions " +
				"have no bound: A and X outgrow any fixed width after a few laps, so X travels as its " +
				"exponent, as in raynal-modified. A request that is not granted polls forever, as in " +
				"the paper, unless poll_limit is set.",
		},
		Messages: []algo.Message{Request{}, Reply{}},
		Params: []algo.Param{
			{Name: "poll_interval", Type: algo.Duration, Min: 10 * time.Microsecond,
				Doc: "pause between an unsuccessful poll and the next; default 2d, 1 ms at least",
				Default: func(net algo.Network) any {
					return max(2*net.Latency, time.Millisecond)
				}},
			{Name: "poll_limit", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)),
				Doc: "polls of one request before the process gives up; 0: never"},
			{Name: "a", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "A, above 1 and without a common factor; 0: process i takes the i-th odd prime"},
		},
		Needs:    algo.Needs{Params: raynal.Coprime},
		Survives: algo.Faults{Duplication: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "best", Source: algo.Derived,
			Text:  "2(N-1): one poll, by the process whose turn it is",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * (n - 1)) }),
		}},
		Breaks: "If the process whose turn it is does not want to enter, no other process ever enters: " +
			"those that want to poll forever, a livelock. Any crash has that effect too, since a poll " +
			"needs every reply.",
	}, New)
}

const pollTimer algo.Timer = "poll"

type node struct {
	algo.Config
	a       []int64  // A of every process, by ID - 1
	s       uint64   // how often this process has passed the turn
	x       fraction // X of this process
	turn    fraction // Q/A: it is this process's turn if T equals it
	wanting bool     // from the request to the grant
	inside  bool
	round   uint64    // number of the last poll
	awaited []algo.ID // who has not replied to it
	t       fraction  // T, of the replies so far
	polls   int64     // of this request
}

// New is the initialization: X is A, but 1 where the turn is first.
func New(c algo.Config) algo.Mutex {
	a := raynal.Attributes(c.Params, len(c.Peers))
	n := &node{Config: c, a: a, turn: ratio(1, a[c.ID.Index()])}
	n.x = n.xOf(c.ID, 0)
	for _, a := range a {
		n.turn = n.turn.times(ratio(a, 1))
	}
	return n
}

// step is A(p)/A(p+1), p+1 being the successor in the ring of IDs.
func (n *node) step(p algo.ID) fraction { return ratio(n.a[p.Index()], n.a[int(p)%len(n.a)]) }

// xOf is X of process p when it has passed the turn s times.
func (n *node) xOf(p algo.ID, s uint64) fraction {
	x := n.step(p).power(s)
	if p != n.Holder {
		x = x.times(ratio(n.a[p.Index()], 1))
	}
	return x
}

// Request is rule 1.
func (n *node) Request(env algo.Env) {
	n.wanting, n.polls = true, 0
	n.poll(env)
}

// poll asks everybody for X.
func (n *node) poll(env algo.Env) {
	n.round++
	n.polls++
	n.t, n.awaited = n.x, nil
	for _, p := range n.Peers {
		if p != n.ID {
			n.awaited = append(n.awaited, p)
			env.Send(p, Request{n.round})
		}
	}
	n.decide(env)
}

// Release is rule 3: the turn passes to the successor, without a message.
func (n *node) Release(algo.Env) {
	n.inside = false
	n.s++
	n.x = n.x.times(n.step(n.ID))
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request: // rule 4
		env.Send(from, Reply{m.Round, n.s})
	case Reply:
		n.onReply(env, from, m)
	}
}

// onReply collects one reply of each process, to this poll alone.
func (n *node) onReply(env algo.Env, from algo.ID, m Reply) {
	i := slices.Index(n.awaited, from)
	if i < 0 || m.Round != n.round { // a duplicate, or of an earlier poll
		return
	}
	n.awaited = slices.Delete(n.awaited, i, i+1)
	n.t = n.t.times(n.xOf(from, m.S))
	n.decide(env)
}

// decide is rule 2, once everybody has replied.
func (n *node) decide(env algo.Env) {
	limit := n.Params.Int("poll_limit")
	switch {
	case len(n.awaited) > 0:
	case n.t.equals(n.turn):
		n.wanting, n.inside = false, true
		env.Granted()
	case n.polls == limit:
		env.Logf("gives up after %d polls: another has the turn, and may never pass it on", limit)
	default:
		env.SetTimer(pollTimer, n.Params.Duration("poll_interval"))
	}
}

// Timeout: the pause is over.
func (n *node) Timeout(env algo.Env, _ algo.Timer) { n.poll(env) }

// Invariant: X is what s says it is, and a poll is open only for a process that
// wants to enter.
func (n *node) Invariant() error {
	if !n.x.equals(n.xOf(n.ID, n.s)) {
		return fmt.Errorf("fraction X is not of the form A^(s+1)/A'^s at s = %d", n.s)
	}
	switch {
	case n.wanting && n.inside:
		return errors.New("inside and wanting to enter")
	case len(n.awaited) > 0 && !n.wanting:
		return fmt.Errorf("awaits replies of %d without wanting to enter", n.awaited)
	}
	return nil
}

var (
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
