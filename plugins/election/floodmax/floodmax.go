// Package floodmax is FloodMax, the election on any connected graph of Lynch's textbook (Distributed
// Algorithms, 1996, section 4.1.2).
//
// Each process tells all neighbors the largest ID that it knows, its own at first, in as many rounds as
// the graph has a diameter, or as a bound on that says. A process is in the next round once it has
// heard from all neighbors in this one. After the last round all know the largest ID of the graph,
// whose process leads. So the number of messages is always the same: two for each edge and round.
package floodmax

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "flood-max",
		Summary: "on any connected graph; all tell the largest ID for as many rounds as the diameter",
		Paper: algo.Paper{
			Authors: "N. A. Lynch",
			Title:   "Distributed algorithms",
			Venue:   "Morgan Kaufmann", Year: 1996,
			Deviations: "Rounds have numbers, and a process waits for those of its neighbors, as " +
				"section 15.2 has it for networks without rounds. A process that does not want an " +
				"election joins when it hears of the first round. All processes learn which process " +
				"leads; in the textbook the leader alone does. There is one election: a later request for " +
				"another is ignored.",
		},
		Messages: []algo.Message{Largest{}},
		Params: []algo.Param{{Name: "diameter", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)),
			Doc: "how many rounds there are: the diameter of the graph, or more, N-1 at most, which is " +
				"always enough; 0: N-1"}},
		Needs:    algo.Needs{Topology: algo.Connected, Params: enough},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "2(N-1)E with E edges: one wants an election",
			Bound: algo.Exactly(rounds),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "2(N-1)E: all do",
			Bound: algo.Exactly(rounds),
		}},
		Breaks: "After a crash, or a lost message, the neighbors wait forever, and their neighbors a round " +
			"later. With a bound below the diameter, which no process can notice, processes name " +
			"different leaders. So fewer than N-1 rounds are beyond the model, whatever the graph.",
	}, New)
}

// enough says whether the rounds are enough on every graph.
func enough(net algo.Network, p algo.Params) error {
	if d := p.Int("diameter"); d != 0 && d < int64(net.Nodes-1) {
		return fmt.Errorf("diameter %d is below N-1 = %d: a graph of %d processes may be wider", d,
			net.Nodes-1, net.Nodes)
	}
	return nil
}

// rounds is how many messages N-1 rounds on the random graph of n processes have.
func rounds(n int) float64 { return float64(2 * (n - 1) * algo.RandomEdges(n, algo.MeanDegree)) }

type node struct {
	algo.Config
	rounds  uint32
	round   uint32  // that it is in; 0: of no election
	largest algo.ID // that it knows
	// heard is what neighbors have told in this round, and in the next: none of them can be further ahead.
	heard [2][]algo.ID
}

// New has heard of no election.
func New(c algo.Config) algo.Elector {
	most := int64(len(c.Peers) - 1)
	rounds := c.Params.Int("diameter")
	if rounds == 0 {
		rounds = most
	}
	return &node{Config: c, largest: c.ID, rounds: uint32(min(rounds, most))}
}

// Elect begins the first round, unless that has begun.
func (n *node) Elect(env algo.Env) {
	if n.round == 0 {
		n.tell(env)
	}
}

// tell begins the next round, or ends the election.
func (n *node) tell(env algo.Env) {
	n.round++
	n.heard[0], n.heard[1] = n.heard[1], nil
	if n.round > n.rounds {
		env.Elected(n.largest, 1)
		return
	}
	algo.Broadcast(env, algo.None, n.Neighbors, Largest{n.round, n.largest})
	n.advance(env)
}

// advance begins the next round once all neighbors have told in this one.
func (n *node) advance(env algo.Env) {
	if len(n.heard[0]) < len(n.Neighbors) {
		return
	}
	for _, id := range n.heard[0] {
		n.largest = max(n.largest, id)
	}
	n.tell(env)
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Largest:
		n.onLargest(env, m)
	}
}

// onLargest takes in what a neighbor tells, in this round or in the next. The first round begins with that.
func (n *node) onLargest(env algo.Env, l Largest) {
	if n.round > n.rounds {
		return
	}
	ahead := l.Round - n.round
	n.heard[ahead] = append(n.heard[ahead], l.ID)
	if n.round == 0 {
		n.tell(env)
		return
	}
	n.advance(env)
}

// Invariant: no neighbor is more than a round ahead, or tells twice.
func (n *node) Invariant() error {
	for i, heard := range n.heard {
		if len(heard) > len(n.Neighbors) {
			return fmt.Errorf("heard %d times of round %d from %d neighbors", len(heard), int(n.round)+i,
				len(n.Neighbors))
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
