// Package changroberts is the election on a ring of Chang and Roberts (CACM 1979).
//
// A process that wants an election sends its ID round the ring, in one direction. A
// process that takes part itself passes larger IDs on, and swallows smaller ones. So the
// largest comes round, and its process leads. It says so in a second lap. How many
// messages that takes depends on the order of the IDs: about twice N if they ascend in
// the direction of the messages, half of N squared if they descend, and N times the N-th
// harmonic number on average.
package changroberts

import (
	"errors"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "chang-roberts",
		Summary: "on a ring; each passes larger IDs on, so that the largest returns to its sender",
		Paper: algo.Paper{
			Authors: "E. Chang, R. Roberts",
			Title: "An improved algorithm for decentralized extrema-finding in circular " +
				"configurations of processes",
			Venue: "CACM 22(5), 281-283", Year: 1979, DOI: "10.1145/359104.359108",
			Deviations: "With mode initiators-only, a process that has passed an ID on does not want to " +
				"lead any more. With mode join, it puts its own ID in place of a smaller one, so that " +
				"the largest of all processes leads. There is one election: a later request for another " +
				"is ignored.",
		},
		Messages: []algo.Message{Probe{}, lap.Elected{}},
		Needs:    algo.Needs{Topology: algo.Ring, Params: passive},
		Params: []algo.Param{{Name: "mode", Type: algo.Enum, Default: algo.Const("initiators-only"),
			Choices: []string{"initiators-only", "join"},
			Doc:     "which processes may lead: those that wanted an election, or all",
		}, {Name: passing, Type: algo.Bool, Default: algo.Const(true),
			Doc: "a process that has passed an ID on does not want to lead any more; without this rule " +
				"two may"}},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "2N: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * n) }),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "3N-1: all do, on a ring in ascending order",
			Bound: algo.Exactly(func(n int) float64 { return float64(3*n - 1) }),
		}, {
			Metric: "messages/election", Load: "worst", Source: algo.Derived,
			Text:  "N(N+1)/2, and N for the lap: all do, on a ring in descending order",
			Bound: algo.Exactly(func(n int) float64 { return float64(n*(n+1)/2 + n) }),
		}},
		Breaks: "Any crash opens the ring, and a lost message is not sent again: no process leads, or " +
			"some never learn of the leader.",
	}, New)
}

// passing is the parameter that says what passing an ID on does.
const passing = "relay_makes_passive"

// passive says whether the promises hold.
func passive(_ algo.Network, p algo.Params) error {
	if !p.Bool(passing) {
		return errors.New(passing + " is false: a process whose ID comes behind that of the winner wins too")
	}
	return nil
}

type node struct {
	lap.Place
	join      bool
	passive   bool // it does not want to lead once it has passed an ID on
	taken     bool // part in the election, if only by passing an ID on
	candidate bool // its own ID went out
}

// New has heard of no election.
func New(c algo.Config) algo.Elector {
	return &node{Place: lap.At(c), join: c.Params.Enum("mode") == "join",
		passive: c.Params.Bool(passing)}
}

// Elect sends the own ID out, unless it is too late.
func (n *node) Elect(env algo.Env) {
	if !n.taken {
		n.taken, n.candidate = true, true
		env.Send(n.Next(), Probe{n.ID})
	}
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Probe:
		n.onProbe(env, m.ID)
	case lap.Elected:
		n.Announce(env, m.ID)
	}
}

func (n *node) onProbe(env algo.Env, id algo.ID) {
	switch {
	case id == n.ID: // it has come round
		n.Announce(env, n.ID)
	case id < n.ID && n.candidate: // swallowed
	case id < n.ID && n.join && !n.taken:
		n.Elect(env)
	default:
		n.taken = n.taken || n.passive
		env.Send(n.Next(), Probe{id})
	}
}
