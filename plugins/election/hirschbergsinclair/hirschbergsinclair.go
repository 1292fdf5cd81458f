// Package hirschbergsinclair is the election of Hirschberg and Sinclair on a ring with links in both
// directions (CACM 1980).
//
// A process that wants an election is a candidate, and sends its ID both ways, in phase
// p up to 2^p steps. A larger candidate swallows it; all others pass it on, and the one
// that it reaches last sends a reply. With both replies a candidate knows that it is the
// largest so far, and begins the next phase. The farther candidates look, the fewer are
// left, so no phase costs more than 8N messages. The candidate whose ID comes round
// leads, and says so in one lap.
package hirschbergsinclair

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "hirschberg-sinclair",
		Summary: "on a ring with both directions; candidates look twice as far in each phase",
		Paper: algo.Paper{
			Authors: "D. S. Hirschberg, J. B. Sinclair",
			Title:   "Decentralized extrema-finding in circular configurations of processors",
			Venue:   "CACM 23(11), 627-628", Year: 1980, DOI: "10.1145/359024.359029",
			Deviations: "A process that has passed an ID on does not want to lead any more. There is one " +
				"election: a later request for another is ignored.",
		},
		Messages: []algo.Message{Probe{}, Reply{}, lap.Elected{}},
		Needs:    algo.Needs{Topology: algo.BidirectionalRing},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text: "6N + 4*2^ceil(log2 N) - 8: all want one, on a ring in ascending order",
			Bound: algo.Exactly(func(n int) float64 {
				power := 1
				for power < n {
					power *= 2
				}
				return float64(6*n + 4*power - 8)
			}),
		}},
		Breaks: "Any crash opens the ring, and a lost message is not sent again: no process leads, or " +
			"some never learn of the leader.",
	}, New)
}

type node struct {
	lap.Place
	taken     bool // part in the election, if only by passing messages on
	candidate bool
	phase     uint32
	replies   int // of this phase
}

// New has heard of no election.
func New(c algo.Config) algo.Elector { return &node{Place: lap.At(c)} }

// Elect begins phase 0, unless it is too late.
func (n *node) Elect(env algo.Env) {
	if !n.taken {
		n.taken, n.candidate = true, true
		n.probe(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Probe:
		n.onProbe(env, from, m)
	case Reply:
		n.onReply(env, from, m)
	case lap.Elected:
		n.Announce(env, m.ID)
	}
}

func (n *node) onProbe(env algo.Env, from algo.ID, m Probe) {
	n.taken = true
	switch {
	case m.ID == n.ID: // round; that of the other direction will be, too
		n.Announce(env, n.ID)
		return
	case n.candidate && m.ID < n.ID: // swallowed
		return
	}
	n.candidate = false
	if m.Hop < 1<<m.Phase {
		env.Send(n.Beyond(from), Probe{m.ID, m.Phase, m.Hop + 1})
	} else {
		env.Send(from, Reply{m.ID, m.Phase})
	}
}

func (n *node) onReply(env algo.Env, from algo.ID, m Reply) {
	if m.ID != n.ID {
		env.Send(n.Beyond(from), m)
	} else if n.replies++; n.replies == 2 && n.candidate {
		n.phase, n.replies = n.phase+1, 0
		n.probe(env)
	}
}

func (n *node) probe(env algo.Env) {
	for _, p := range n.Neighbors {
		env.Send(p, Probe{ID: n.ID, Phase: n.phase, Hop: 1})
	}
}
