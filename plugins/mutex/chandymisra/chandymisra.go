// Package chandymisra is the algorithm of Chandy and Misra for dining philosophers (ACM TOPLAS
// 1984), any two of which are neighbors: one eats at a time.
//
// Each pair shares one fork, and one token to ask for it; a process that has all of its forks may
// enter. Forks become dirty when they are used. A process that is asked for a dirty fork cleans it
// and hands it over; a clean one it keeps until it has been inside. So the order of any two is
// known: the one that did not use their fork last goes first. No clock or number is needed. At the
// start the forks are dirty and with the smaller process of each pair.
package chandymisra

import (
	"errors"
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "chandy-misra",
		Summary: "one fork for each pair; a used fork goes to the process that asks, a clean one is kept",
		Paper: algo.Paper{
			Authors: "K. M. Chandy, J. Misra",
			Title:   "The drinking philosophers problem",
			Venue:   "ACM TOPLAS 6(4), 632-646", Year: 1984, DOI: "10.1145/1780.1804",
			Deviations: "The paper's conflict graph is arbitrary; here each process conflicts with all " +
				"others. A process that comes back after a crash has no fork and no request token.",
		},
		Messages: []algo.Message{Request{}, Fork{}},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text:  "0 to 2(N-1), N-1 on average",
				Bound: algo.Within(0.10, func(n int) float64 { return float64(n - 1) })},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text:  "2(N-1)^2 for N entries",
				Bound: algo.Exactly(func(n int) float64 { return 2 * float64((n-1)*(n-1)) / float64(n) })},
		},
		Breaks: "The forks of a process that crashes are lost. The processes that need one of them " +
			"wait forever, and so do those that share a fork with a waiting process, since it keeps " +
			"its clean ones.",
	}, New)
}

// node has the paper's variables, each as in Peers; those of the process itself are not used.
type node struct {
	algo.Config
	fork   []bool // the pair's fork is here
	dirty  []bool // and was used
	token  []bool // the pair's request token is here: with the fork, that it is asked for
	hungry bool   // from the request to the entry
	eating bool   // from the entry to the release
}

// New gives the fork of each pair, dirty, to the smaller process, and the request token to the larger.
func New(c algo.Config) algo.Mutex {
	all := len(c.Peers)
	n := &node{Config: c, fork: make([]bool, all), dirty: make([]bool, all), token: make([]bool, all)}
	if c.Incarnation > 0 {
		return n
	}
	for i, p := range c.Peers {
		n.fork[i], n.dirty[i], n.token[i] = c.ID < p, c.ID < p, c.ID > p
	}
	return n
}

// Request asks for the forks that are elsewhere: rule R1. A process that does not want to enter has
// either the fork or the token of each pair.
func (n *node) Request(env algo.Env) {
	n.hungry = true
	for i := range n.Peers {
		if n.token[i] {
			n.ask(env, i)
		}
	}
	n.eatIfPossible(env)
}

// Release hands over the forks that were asked for, all of them are here: rule R2.
func (n *node) Release(env algo.Env) {
	n.eating = false
	for i := range n.Peers {
		if n.token[i] {
			n.handOver(env, i)
		}
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	i := from.Index()
	switch m.(type) {
	case Request:
		n.onRequest(env, i)
	case Fork:
		n.onFork(env, i)
	}
}

// onRequest is rules R3 and R2: who gives up a fork that it needs asks for it again at once.
func (n *node) onRequest(env algo.Env, i int) {
	n.token[i] = true
	if n.dirty[i] && !n.eating { // and here
		n.handOver(env, i)
		if n.hungry {
			n.ask(env, i)
		}
	}
}

// onFork is rule R4: a fork arrives clean.
func (n *node) onFork(env algo.Env, i int) {
	n.fork[i], n.dirty[i] = true, false
	n.eatIfPossible(env)
}

func (n *node) ask(env algo.Env, i int) {
	n.token[i] = false
	env.Send(n.Peers[i], Request{})
}

func (n *node) handOver(env algo.Env, i int) {
	n.fork[i], n.dirty[i] = false, false
	env.Send(n.Peers[i], Fork{})
}

// eatIfPossible enters with all forks, which become dirty.
func (n *node) eatIfPossible(env algo.Env) {
	if n.missing() > 0 {
		return
	}
	for i, p := range n.Peers {
		n.dirty[i] = p != n.ID
	}
	n.hungry, n.eating = false, true
	env.Granted()
}

// missing is how many forks are elsewhere.
func (n *node) missing() int {
	k := -1 // its own
	for _, here := range n.fork {
		if !here {
			k++
		}
	}
	return k
}

// Invariant: a process that is inside has all forks; one that neither is nor
// waits has none that is clean or asked for.
func (n *node) Invariant() error {
	if n.eating && n.missing() > 0 {
		return errors.New("inside without all forks")
	}
	for i, p := range n.Peers {
		if idle := !n.hungry && !n.eating; idle && n.fork[i] && (n.token[i] || !n.dirty[i]) {
			return fmt.Errorf("idle with the fork of %d: asked for: %t, dirty: %t", p, n.token[i], n.dirty[i])
		}
		if n.dirty[i] && !n.fork[i] {
			return fmt.Errorf("the fork of %d is dirty, and not here", p)
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
