// Package gallagerhumbletspira is the election that builds the minimum spanning tree of a
// graph whose links have weights (Gallager, Humblet, and Spira, ACM TOPLAS 5(1), 1983).
//
// The tree grows from fragments, at first of one process each, and each fragment looks for the
// lightest link that leads out of it. Two fragments of one level that want the same link merge
// over it, which is then the core of a fragment one level higher, and one of a lower level is
// absorbed by a higher one. The ends of the core make all processes TEST their links and REPORT.
// A process leaves a TEST of a higher level unanswered until it reaches that level itself: until
// then it may belong to that very fragment without knowing it. A CONNECT goes over the lightest
// link that was reported. If there is none, the fragment is the minimum spanning tree, and the
// larger end of its core leads.
package gallagerhumbletspira

import (
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "gallager-humblet-spira",
		Summary: "on any connected graph with weights; fragments grow into the minimum spanning tree",
		Paper: algo.Paper{
			Authors: "R. G. Gallager, P. A. Humblet, P. M. Spira",
			Title:   "A distributed algorithm for minimum-weight spanning trees",
			Venue:   "ACM Trans. Programming Languages and Systems 5(1)", Year: 1983,
			Deviations: "The paper builds the tree and stops. The larger end of its last core leads, and " +
				"tells the others over the tree. There is one election: a later request for another is " +
				"ignored.",
		},
		Messages: []algo.Message{Connect{}, Initiate{}, Test{}, Accept{}, Reject{}, Report{}, ChangeRoot{},
			Leader{}},
		Needs:    algo.Needs{Topology: algo.Weighted, FIFO: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "2E+2N+1 to 2E+5N log2 N+N-1, with E edges: one wants an election",
			Bound: messages,
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "2E+2N+1 to 2E+5N log2 N+N-1: all do",
			Bound: messages,
		}},
		Breaks: "A REPORT that overtakes the INITIATE of its sender counts as one from below, and is " +
			"missing later. Any crash, or a lost message, leaves a fragment waiting as well, and in the " +
			"end all others that wait for it: no process leads.",
	}, New)
}

// messages is the paper's bound and the news, on the random graph of n processes; and the least: each
// process wakes with a CONNECT, and in the last fragment gets an INITIATE and sends a REPORT, and
// all links outside the tree are rejected.
func messages(n int) (float64, float64) {
	if n == 1 {
		return 0, 0
	}
	links := float64(algo.RandomEdges(n, algo.MeanDegree))
	size := float64(n)
	return 2*links + float64(2*size) + 1, 2*links + float64(5*size*math.Log2(size)) + size - 1
}

// What a process knows of a link.
type state uint8

const (
	basic    state = iota // nothing yet
	branch                // of the tree
	rejected              // it leads to its own fragment
)

// String is what the state is called where states are shown.
func (s state) String() string { return [...]string{"basic", "branch", "rejected"}[s] }

// A node has the paper's variables by its names: states is SE, level LN, fragment FN, find the state
// Find of SN.
type node struct {
	algo.Config
	awake      bool
	states     []state // of the links, in the order of Neighbors
	level      uint32
	fragment   algo.Weight // the weight of its core
	inBranch   algo.ID     // the neighbor on the way to the core
	find       bool        // it has not reported yet
	testEdge   algo.ID     // the neighbor whose answer to a TEST it waits for; None: of none
	findCount  int         // the reports that it waits for
	bestWeight algo.Weight // of the lightest way out that it knows of; 0: it knows of none
	bestEdge   algo.ID     // the neighbor that is there, or on the way
	deferred   []deferred
	told       bool // it knows the leader
}

// A deferred message waits until the process is at its level.
type deferred struct {
	from algo.ID
	m    algo.Message
}

// New sleeps.
func New(c algo.Config) algo.Elector {
	return &node{Config: c, states: make([]state, len(c.Neighbors))}
}

func (n *node) link(to algo.ID) int { return slices.Index(n.Neighbors, to) }

// lighter says whether a is a way out, and lighter than b.
func lighter(a, b algo.Weight) bool { return a != 0 && (b == 0 || a < b) }

// Elect wakes the process.
func (n *node) Elect(env algo.Env) { n.wake(env) }

// wake asks for the lightest link, which is always of the tree (1).
func (n *node) wake(env algo.Env) {
	if n.awake {
		return
	}
	n.awake = true
	if to := n.lightest(); to != algo.None {
		n.connect(env, to)
	} else {
		n.hearsWho(env, algo.None, n.ID) // alone
	}
}

// connect wants to merge over a link.
func (n *node) connect(env algo.Env, to algo.ID) {
	n.states[n.link(to)] = branch
	env.Send(to, Connect{n.level})
}

// lightest is the neighbor over the lightest basic link; None if no link is basic.
func (n *node) lightest() (to algo.ID) {
	var least algo.Weight
	for i, w := range n.Weights {
		if n.states[i] == basic && lighter(w, least) {
			to, least = n.Neighbors[i], w
		}
	}
	return to
}

// Receive defers a message that comes too early, and retries it when anything has changed (10). The
// recursion ends: a message that is deferred again retries nothing, and one that is handled leaves one
// less.
func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	n.wake(env)
	inTime := true
	switch m := m.(type) {
	case Connect:
		inTime = n.onConnect(env, from, m.Level)
	case Initiate:
		n.onInitiate(env, from, m)
	case Test:
		inTime = n.onTest(env, from, m)
	case Accept:
		n.testEdge = algo.None
		n.wayOut(env, from, n.Weights[n.link(from)])
	case Reject:
		n.reject(from)
		n.test(env)
	case Report:
		inTime = n.onReport(env, from, m.Best)
	case ChangeRoot:
		n.changeRoot(env)
	case Leader:
		n.hearsWho(env, from, m.ID)
	}
	if !inTime {
		n.deferred = append(n.deferred, deferred{from, m})
		return
	}
	again := n.deferred
	n.deferred = nil
	for _, d := range again {
		n.Receive(env, d.from, d.m)
	}
}

// onConnect absorbs a lower fragment, or merges with one that wants the same link (2).
func (n *node) onConnect(env algo.Env, from algo.ID, level uint32) bool {
	link := n.link(from)
	switch {
	case level < n.level:
		n.states[link] = branch
		n.initiate(env, from, Initiate{n.level, n.fragment, n.find})
	case n.states[link] == basic:
		return false
	default:
		env.Send(from, Initiate{n.level + 1, n.Weights[link], true})
	}
	return true
}

// initiate expects a report if the other side has to find a way out.
func (n *node) initiate(env algo.Env, to algo.ID, m Initiate) {
	env.Send(to, m)
	if m.Find {
		n.findCount++
	}
}

// onInitiate joins another fragment (3).
func (n *node) onInitiate(env algo.Env, from algo.ID, m Initiate) {
	n.level, n.fragment, n.find = m.Level, m.Fragment, m.Find
	n.inBranch, n.bestWeight = from, 0
	for i, to := range n.Neighbors {
		if to != from && n.states[i] == branch {
			n.initiate(env, to, m)
		}
	}
	if m.Find {
		n.test(env)
	}
}

// test asks where the lightest link leads to (4).
func (n *node) test(env algo.Env) {
	if n.testEdge = n.lightest(); n.testEdge != algo.None {
		env.Send(n.testEdge, Test{n.level, n.fragment})
	} else {
		n.report(env)
	}
}

// onTest answers, unless it may belong to that fragment and not know it (5).
func (n *node) onTest(env algo.Env, from algo.ID, m Test) bool {
	if m.Level > n.level {
		return false
	}
	if m.Fragment != n.fragment {
		env.Send(from, Accept{})
		return true
	}
	n.reject(from)
	if n.testEdge == from { // which has this process's own TEST for an answer
		n.test(env)
	} else {
		env.Send(from, Reject{})
	}
	return true
}

// reject notes that a link leads to its own fragment, unless the link is a branch by now.
func (n *node) reject(to algo.ID) {
	if i := n.link(to); n.states[i] == basic {
		n.states[i] = rejected
	}
}

// wayOut keeps the lightest (6).
func (n *node) wayOut(env algo.Env, towards algo.ID, w algo.Weight) {
	if lighter(w, n.bestWeight) {
		n.bestWeight, n.bestEdge = w, towards
	}
	n.report(env)
}

// report tells the core when all below have told (7).
func (n *node) report(env algo.Env) {
	if n.find && n.findCount == 0 && n.testEdge == algo.None {
		n.find = false
		env.Send(n.inBranch, Report{n.bestWeight})
	}
}

// onReport comes from below, or from the other end of the core: then both know the lightest way out (8).
func (n *node) onReport(env algo.Env, from algo.ID, best algo.Weight) bool {
	switch {
	case from != n.inBranch:
		n.findCount--
		n.wayOut(env, from, best)
	case n.find:
		return false
	case lighter(n.bestWeight, best):
		n.changeRoot(env)
	case best == 0 && n.ID > from:
		n.hearsWho(env, algo.None, n.ID)
	}
	return true
}

// changeRoot goes to the way out, and wants to merge over it (9).
func (n *node) changeRoot(env algo.Env) {
	switch to := n.link(n.bestEdge); {
	case to < 0: // it has come back, and has forgotten
	case n.states[to] == branch:
		env.Send(n.bestEdge, ChangeRoot{})
	default:
		n.connect(env, n.bestEdge)
	}
}

// hearsWho passes the news on over the tree.
func (n *node) hearsWho(env algo.Env, from, leader algo.ID) {
	n.told = true
	env.Elected(leader, 0)
	for i, to := range n.Neighbors {
		if to != from && n.states[i] == branch {
			env.Send(to, Leader{leader})
		}
	}
}

// Invariant: a fragment of level L has 2^L processes, and when it is the tree, nothing waits.
func (n *node) Invariant() error {
	if 1<<n.level > len(n.Peers) ||
		n.told && (len(n.deferred) > 0 || n.find || n.findCount != 0 || n.testEdge != algo.None) {
		return fmt.Errorf("level %d among %d processes, knows the leader: %t; waits for %d reports and %d, "+
			"%d messages deferred", n.level, len(n.Peers), n.told, n.findCount, n.testEdge, len(n.deferred))
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
