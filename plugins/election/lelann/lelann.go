// Package lelann is the election on a ring of Le Lann (IFIP 1977).
//
// A process that wants an election sends a token with its ID round the ring, in one
// direction. Every process passes every token on, and notes the largest ID that it has
// seen. As links keep order, the tokens of all others have passed a process before its
// own comes round. Then it knows all that want to lead, and the largest of them is the
// leader. This is the simplest election on a ring, and the most expensive: N messages for
// each that wants one.
package lelann

import "github.com/conclave-bench/conclave/pkg/algo"

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "lelann",
		Summary: "on a ring; all IDs go round, and the largest leads",
		Paper: algo.Paper{
			Authors: "G. Le Lann",
			Title:   "Distributed systems: towards a formal approach",
			Venue:   "IFIP Congress 77, 155-160", Year: 1977,
			Deviations: "A process that only passes tokens on would not learn which process leads. Here " +
				"it names the largest ID that it has seen so far. In the end that is the leader, though " +
				"the process cannot tell when; no message is added for this. A process that has passed a " +
				"token on does not want to lead any more. There is one election: a later request for " +
				"another is ignored.",
		},
		Messages: []algo.Message{Token{}},
		Needs:    algo.Needs{Topology: algo.Ring, FIFO: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "N: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(n) }),
		}, {
			Metric: "messages/election", Load: "worst", Source: algo.Derived,
			Text:  "N^2: all do, in any order",
			Bound: algo.Exactly(func(n int) float64 { return float64(n * n) }),
		}},
		Breaks: "Any crash opens the ring, and a lost token is not sent again: no process leads, or some " +
			"name another. On links that do not keep order a token may come round before a larger one " +
			"that set out earlier: then several lead.",
	}, New)
}

type node struct {
	algo.Config
	taken     bool // part in the election, if only by passing a token on
	initiator bool
	largest   algo.ID // seen so far, if it is an initiator its own among them
}

// New has heard of no election.
func New(c algo.Config) algo.Elector { return &node{Config: c} }

// Elect sends a token out, unless it is too late.
func (n *node) Elect(env algo.Env) {
	if !n.taken {
		n.taken, n.initiator, n.largest = true, true, n.ID
		env.Send(n.next(), Token{n.ID})
	}
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Token:
		n.onToken(env, m)
	}
}

func (n *node) onToken(env algo.Env, m Token) {
	if m.ID == n.ID { // round, behind those of all others
		env.Elected(n.largest, 1)
		return
	}
	if m.ID > n.largest {
		n.largest = m.ID
		if !n.initiator {
			env.Elected(n.largest, 1)
		}
	}
	n.taken = true
	env.Send(n.next(), m)
}

// next is the successor on the ring.
func (n *node) next() algo.ID { return n.Neighbors[0] }
