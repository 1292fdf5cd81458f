// Package tree is the election on a tree of Tel's textbook (chapter 7), with its
// wake-up phase. Comments cite the numbered rules of that form.
//
// Some processes want an election. They wake their neighbors, which wake
// theirs, so that each has started when it has been woken over each of its
// edges. Then a wave runs from the leaves inwards: a process that has a TOKEN
// from all neighbors but one sends that one the best rank that it knows. On one
// edge two such TOKENs meet. Both its ends then know the best rank of all and
// decide, and the news runs back to the leaves.
//
// The wave needs every leaf to start, which is what the wake-up phase is for. A
// TOKEN may come before its receiver has started: it is kept, never dropped.
package tree

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "tree",
		Summary: "all are woken; the best rank runs in from the leaves and back out",
		Paper: algo.Paper{
			Authors: "G. Tel",
			Title:   "Introduction to Distributed Algorithms, section 7.2.1",
			Venue:   "Cambridge University Press, 2nd edition", Year: 2000,
			DOI: "10.1017/CBO9781139168724",
			Deviations: "Ranks are pairs (est, ID) and travel in the TOKEN, since estimates may be equal " +
				"and are not known to others. WAKEUP goes to the neighbors alone. A process that has " +
				"every TOKEN before it starts sends its own to its first neighbor, and one without " +
				"neighbors decides at once: the text covers neither case. There is one election: a later " +
				"request for another is ignored.",
		},
		Messages: []algo.Message{Wakeup{}, Token{}},
		Params: []algo.Param{
			{Name: "est", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "estimate: the rank's first part, the ID is its second"},
		},
		Needs:    algo.Needs{Topology: algo.Tree},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne, Highest: true},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "worst", Source: algo.FromNotes,
			Text:  "4N-4, whichever process starts",
			Bound: algo.Exactly(func(n int) float64 { return float64(4*n - 4) }),
		}, {
			Metric: "messages/election", Load: "best", Source: algo.FromNotes,
			Text:  "4N-4, whichever process starts",
			Bound: algo.Exactly(func(n int) float64 { return float64(4*n - 4) }),
		}},
		Breaks: "Any crash, or a lost message, blocks it: a process with a silent neighbor waits " +
			"for its WAKEUP or TOKEN forever, and the part beyond that neighbor never hears of " +
			"the election. A leader that dies is not replaced.",
	}, New)
}

type state uint8

const (
	sleep       state = iota // not decided yet
	coordinator              // decided: this process leads
	lost                     // decided: another does
)

// String is what the state is called where states are shown.
func (s state) String() string { return [...]string{"sleep", "coordinator", "lost"}[s] }

type node struct {
	algo.Config
	neighbors []algo.ID
	sentWake  bool
	wakes     int    // WAKEUPs received
	rec       []bool // a TOKEN has come from this neighbor
	best      Rank   // of those that this process has heard of
	q0        int    // the neighbor that our TOKEN went to; unset: none yet
	state     state
}

const unset = -1

// New is asleep and knows but its own rank.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c, best: Rank{c.Params.Int("est"), c.ID}, q0: unset}
	for _, q := range c.Neighbors {
		if q != algo.None { // the root's parent
			n.neighbors = append(n.neighbors, q)
		}
	}
	n.rec = make([]bool, len(n.neighbors))
	return n
}

// Elect is rule 1 at an initiator.
func (n *node) Elect(env algo.Env) {
	if !n.sentWake {
		n.wakeNeighbors(env)
		n.progress(env) // rule 6: without neighbors there is nobody to wait for
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Wakeup:
		n.onWakeup(env)
	case Token:
		n.onToken(env, from, m)
	}
}

// wakeNeighbors is the body of rule 1.
func (n *node) wakeNeighbors(env algo.Env) {
	n.sentWake = true
	env.Elected(algo.None, 0)
	algo.Broadcast(env, n.ID, n.neighbors, Wakeup{})
}

// onWakeup is rule 2.
func (n *node) onWakeup(env algo.Env) {
	n.wakes++
	if !n.sentWake {
		n.wakeNeighbors(env)
	}
	n.progress(env)
}

// onToken is rule 3. What comes before the start counts from the start on.
func (n *node) onToken(env algo.Env, from algo.ID, m Token) {
	n.rec[slices.Index(n.neighbors, from)] = true
	if m.Best.above(n.best) {
		n.best = m.Best
	}
	n.progress(env)
}

// started says whether a WAKEUP has come over every edge.
func (n *node) started() bool { return n.sentWake && n.wakes == len(n.neighbors) }

// progress is rule 4.
func (n *node) progress(env algo.Env) {
	if !n.started() || n.state != sleep { // rule 7: a TOKEN after the decision says nothing new
		return
	}
	if n.q0 == unset && len(n.neighbors) > 0 && n.missing() <= 1 {
		n.q0 = max(slices.Index(n.rec, false), 0) // any, if none is missing
		env.Send(n.neighbors[n.q0], Token{n.best})
	}
	if len(n.neighbors) == 0 || n.q0 != unset && n.rec[n.q0] {
		n.decide(env)
	}
}

// missing is how many neighbors have sent no TOKEN.
func (n *node) missing() (count int) {
	for _, r := range n.rec {
		if !r {
			count++
		}
	}
	return count
}

// decide is rule 5: everybody's rank is in, so the best of them leads.
func (n *node) decide(env algo.Env) {
	n.state = lost
	if n.best.ID == n.ID {
		n.state = coordinator
	}
	env.Elected(n.best.ID, 0)
	for q, p := range n.neighbors {
		if q != n.q0 {
			env.Send(p, Token{n.best})
		}
	}
}

// Invariant: a process that was woken wakes others; our TOKEN is out when all but one
// neighbor's are in, and not before; and a process that has all of them decides.
func (n *node) Invariant() error {
	switch {
	case n.wakes > len(n.neighbors) || n.wakes > 0 && !n.sentWake:
		return fmt.Errorf("%d WAKEUPs from %d neighbors, own sent: %t",
			n.wakes, len(n.neighbors), n.sentWake)
	case n.started() && len(n.neighbors) > 0 && (n.q0 != unset) != (n.missing() <= 1):
		return fmt.Errorf("started, own TOKEN sent: %t, with %d missing", n.q0 != unset, n.missing())
	case n.started() && (n.state != sleep) != (n.missing() == 0):
		return fmt.Errorf("started, state %v with %d TOKENs missing", n.state, n.missing())
	case !n.started() && (n.q0 != unset || n.state != sleep):
		return fmt.Errorf("not started, but state %v, TOKEN sent: %t", n.state, n.q0 != unset)
	case n.state != sleep && (n.state == coordinator) != (n.best.ID == n.ID):
		return fmt.Errorf("state %v, and %d is the best", n.state, n.best.ID)
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
