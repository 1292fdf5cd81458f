// Package franklin is Franklin's election on a ring with links in both directions (CACM 1982).
//
// A process that wants an election is active, and sends its ID both ways, to the next active
// process on each side. A process that has a larger one beside it gives up, and from then on
// passes messages on. The others begin the next phase. So at least half of the active
// processes give up in each phase. The last one meets its own ID; it leads, and says so in
// one lap.
package franklin

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "franklin",
		Summary: "on a ring with both directions; the largest among neighbors survive, phase by phase",
		Paper: algo.Paper{
			Authors: "W. R. Franklin",
			Title: "On an improved algorithm for decentralized extrema finding in circular " +
				"configurations of processors",
			Venue: "CACM 25(5), 336-337", Year: 1982,
			Deviations: "Messages carry the number of the phase, so that links need not keep order. " +
				"There is one election: a later request for another is ignored.",
		},
		Messages: []algo.Message{ID{}, lap.Elected{}},
		Needs:    algo.Needs{Topology: algo.BidirectionalRing},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "3N: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(3 * n) }),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "5N: all do, on a ring in ascending order",
			Bound: algo.Exactly(func(n int) float64 { return float64(5 * n) }),
		}},
		Breaks: "Any crash opens the ring, and a lost message is not sent again: no process leads, or " +
			"some never learn of the leader.",
	}, New)
}

type node struct {
	lap.Place
	taken  bool // part in the election, if only by passing messages on
	active bool
	phase  uint32
	heard  []heard // of this phase and of later ones
}

// heard is an ID, and from which side it came.
type heard struct {
	from algo.ID
	m    ID
}

// New has heard of no election.
func New(c algo.Config) algo.Elector { return &node{Place: lap.At(c)} }

// Elect begins phase 0, unless it is too late.
func (n *node) Elect(env algo.Env) {
	if !n.taken {
		n.taken, n.active = true, true
		n.sendBothWays(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case ID:
		n.onID(env, from, m)
	case lap.Elected:
		n.Announce(env, m.ID)
	}
}

// onID: who is active compares when it has heard both sides of its phase.
func (n *node) onID(env algo.Env, from algo.ID, m ID) {
	n.taken = true
	n.heard = append(n.heard, heard{from, m})
	for n.active {
		var of []algo.ID
		for _, h := range n.heard {
			if h.m.Phase == n.phase {
				of = append(of, h.m.ID)
			}
		}
		if len(of) < 2 {
			return
		}
		n.heard = slices.DeleteFunc(n.heard, func(h heard) bool { return h.m.Phase == n.phase })
		switch largest := slices.Max(of); {
		case largest == n.ID: // round, from both sides
			n.Announce(env, n.ID)
		case largest > n.ID:
			n.active = false
		default:
			n.phase++
			n.sendBothWays(env)
		}
	}
	for _, h := range n.heard {
		env.Send(n.Beyond(h.from), h.m)
	}
	n.heard = nil
}

func (n *node) sendBothWays(env algo.Env) {
	for _, p := range n.Neighbors {
		env.Send(p, ID{n.ID, n.phase})
	}
}

// Invariant: only an active process keeps IDs, none of a phase that is over, and of its own phase one.
func (n *node) Invariant() error {
	own := 0
	for _, h := range n.heard {
		if h.m.Phase == n.phase {
			own++
		}
		if !n.active || h.m.Phase < n.phase || own > 1 {
			return fmt.Errorf("active %t, in phase %d, keeps %v", n.active, n.phase, n.heard)
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
