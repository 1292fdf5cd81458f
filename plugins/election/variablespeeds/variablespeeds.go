// Package variablespeeds is VariableSpeeds, the election on a ring of Lynch's textbook (Distributed
// Algorithms, 1996, section 3.5.2), which takes more time and fewer messages.
//
// A process that wants an election sends its ID round the ring, in one direction. The token of ID v
// takes 2^v rounds for each step, so it waits at each process for the rest of them. A process passes a
// token on only if it has heard of no smaller ID. So the smallest comes round, and its process leads.
// Each other token has come half as far as the next smaller one by then, so that all of them have taken
// fewer than 2N steps together. That takes N times 2^v rounds, v the smallest ID: the number of
// messages is linear in N, and the time exponential in an ID.
package variablespeeds

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "variable-speeds",
		Summary: "on a ring; the token of ID v takes 2^v rounds a step, and the smallest returns",
		Paper: algo.Paper{
			Authors: "N. A. Lynch",
			Title:   "Distributed algorithms",
			Venue:   "Morgan Kaufmann", Year: 1996,
			Deviations: "A last lap tells all which process leads; in the textbook the leader alone " +
				"knows. The smallest ID of those that want an election leads; a process that has " +
				"passed a token on does not want to any more. There is no preliminary phase in which " +
				"tokens go fast. Safety needs no rounds: where messages take longer, only their " +
				"number grows. Tokens of IDs above slowest are no slower, so that elections end. " +
				"There is one election: a later request for another is ignored.",
		},
		Messages: []algo.Message{Token{}, lap.Elected{}},
		Params: []algo.Param{{Name: "t_round", Type: algo.Duration, Min: time.Microsecond,
			Doc:     "how long a round lasts; default d, the largest latency",
			Default: func(net algo.Network) any { return max(net.Latency, time.Microsecond) }},
			{Name: "slowest", Type: algo.Int, Min: int64(1), Max: int64(30),
				Default: algo.Const(int64(usualSlowest)),
				Doc:     "the ID from which on tokens are no slower: 2^6 rounds a step by default"}},
		Needs: algo.Needs{Topology: algo.Ring, Synchrony: algo.Synchronous,
			Params: func(net algo.Network, p algo.Params) error {
				if t := p.Duration("t_round"); t < net.Latency {
					return fmt.Errorf("t_round %v is below d = %v: tokens are slower than their speeds", t,
						net.Latency)
				}
				return nil
			}},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "2N: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * n) }),
		}, {
			Metric: "messages/election", Load: "worst", Source: algo.Derived,
			Text: "below 3N + N floor(2N/64): all do; N steps of the smallest, N/2 of the next, and so on, " +
				"floor(2N/64) of each that is no slower than 6, and N for the lap",
			Bound: func(n int) (float64, float64) {
				return float64(2 * n), float64(3*n + n*(2*n>>usualSlowest))
			},
		}},
		Breaks: "Any crash opens the ring, and a lost token is not sent again: no process leads. " +
			"Where a message takes longer than a round, there are more of them.",
	}, New)
}

// usualSlowest lets elections among a few processes end in seconds.
const usualSlowest = 6

type node struct {
	lap.Place
	taken    bool    // part in the election, if only by passing a token on
	smallest algo.ID // that it has heard of, its own included if it wants to lead
}

// hold is for the token that waits here: there is one at most, that of the smallest.
const hold algo.Timer = "hold"

// New has heard of no election.
func New(c algo.Config) algo.Elector { return &node{Place: lap.At(c)} }

// Elect sends the own token out, unless it is too late.
func (n *node) Elect(env algo.Env) {
	if !n.taken {
		n.pass(env, n.ID)
	}
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Token:
		n.onToken(env, m.ID)
	case lap.Elected:
		n.Announce(env, m.ID)
	}
}

func (n *node) onToken(env algo.Env, id algo.ID) {
	switch {
	case n.taken && id == n.ID: // it has come round
		n.Announce(env, n.ID)
	case n.taken && id > n.smallest: // swallowed
	default:
		n.pass(env, id)
	}
}

// pass has a token wait here, in place of a larger one, until its step has taken 2^v rounds.
func (n *node) pass(env algo.Env, id algo.ID) {
	n.taken, n.smallest = true, id
	// One of the rounds is that in which the token crosses the link.
	rounds := 1<<min(int64(id), n.Params.Int("slowest")) - 1
	env.SetTimer(hold, time.Duration(rounds)*n.Params.Duration("t_round"))
}

// Timeout sends the token on that has waited.
func (n *node) Timeout(env algo.Env, _ algo.Timer) { env.Send(n.Next(), Token{n.smallest}) }

var _ algo.Timed = (*node)(nil)
