// Package echoextinction is the election on any connected graph by waves, of which
// the strongest survives (Chang, IEEE TSE 1982; Tel's textbook, chapter 7).
//
// A process that wants an election sends a TOKEN with its ID to all neighbors, the wave of its own.
// A process joins the wave of the largest ID that it hears of, and drops the TOKENs of others. It
// passes on the first TOKEN of a wave, and when it has one of that wave from each neighbor, it
// answers the neighbor that sent the first. So only the largest wave gets everywhere and comes
// back, over two messages for each edge. Its initiator then leads, and may flood the graph with the
// news.
package echoextinction

import (
	"errors"
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "echo-extinction",
		Summary: "on any connected graph; waves go out, and only that of the largest ID comes back",
		Paper: algo.Paper{
			Authors: "E. J. H. Chang",
			Title:   "Echo algorithms: depth parallel operations on general graphs",
			Venue:   "IEEE Trans. Software Engineering", Year: 1982,
			Deviations: "Waves extinguish each other as in chapter 7 of Tel's textbook; the paper has " +
				"one wave. A process that has joined the wave of another does not want to lead any more. " +
				"The leader floods the graph with its name, unless announce is false. There is one " +
				"election: a later request for another is ignored.",
		},
		Messages: []algo.Message{Token{}, Leader{}},
		Params: []algo.Param{{Name: "announce", Type: algo.Bool, Default: algo.Const(true),
			Doc: "whether the leader announces itself; otherwise no other process knows"}},
		Needs: algo.Needs{Topology: algo.Connected, Params: func(_ algo.Network, p algo.Params) error {
			if !p.Bool("announce") {
				return errors.New("announce is false: only the leader knows which process leads")
			}
			return nil
		}},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "4E-N+1 with E edges, 2N in the graph of topology auto: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return waves(1, n) }),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "4E-N+1 to 2(N+1)E-N+1: all do",
			Bound: func(n int) (float64, float64) { return waves(1, n), waves(n, n) },
		}},
		Breaks: "Any crash, or a lost message, stops every wave that comes there: none returns, and no " +
			"process leads.",
	}, New)
}

// waves is how many messages k waves on the random graph of n processes have at most, and the news.
func waves(k, n int) float64 {
	edges := algo.RandomEdges(n, algo.MeanDegree)
	return float64(2*k*edges + 2*edges - (n - 1))
}

type node struct {
	algo.Config
	wave   algo.ID // the largest that it has heard of; None: of none
	parent algo.ID // who told it
	heard  int     // TOKENs of that wave
	told   bool    // who leads
}

// New has heard of no wave.
func New(c algo.Config) algo.Elector { return &node{Config: c} }

// Elect begins a wave, unless it has joined one.
func (n *node) Elect(env algo.Env) {
	if n.wave == algo.None {
		n.join(env, n.ID, algo.None)
		n.echo(env)
	}
}

// join passes a wave on.
func (n *node) join(env algo.Env, wave, parent algo.ID) {
	n.wave, n.parent, n.heard = wave, parent, 0
	algo.Broadcast(env, parent, n.Neighbors, Token{wave})
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Token:
		n.onToken(env, from, m.Wave)
	case Leader:
		n.hearsWho(env, from, m.ID)
	}
}

func (n *node) onToken(env algo.Env, from, wave algo.ID) {
	if wave < n.wave {
		return // extinct here
	}
	if wave > n.wave {
		n.join(env, wave, from)
	}
	n.heard++
	n.echo(env)
}

// echo answers when the wave has come from everywhere. That of a process itself is then back.
func (n *node) echo(env algo.Env) {
	switch {
	case n.heard < len(n.Neighbors):
	case n.wave != n.ID:
		env.Send(n.parent, Token{n.wave})
	case n.Params.Bool("announce"):
		n.hearsWho(env, algo.None, n.ID)
	default:
		env.Elected(n.ID, 0)
	}
}

// hearsWho passes the news on, once.
func (n *node) hearsWho(env algo.Env, from, leader algo.ID) {
	if !n.told {
		n.told = true
		env.Elected(leader, 0)
		algo.Broadcast(env, from, n.Neighbors, Leader{leader})
	}
}

// Invariant: a wave has a parent but at its initiator, and comes over each edge once.
func (n *node) Invariant() error {
	if (n.parent == algo.None) != (n.wave == algo.None || n.wave == n.ID) || n.heard > len(n.Neighbors) {
		return fmt.Errorf("in wave %d by %d, heard of %d times from %d neighbors",
			n.wave, n.parent, n.heard, len(n.Neighbors))
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
