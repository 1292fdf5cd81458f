package algotest

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// Candidate is a number on its way round the ring.
type Candidate struct{ ID algo.ID }

// Leader is the result on its way round.
type Leader struct{ ID algo.ID }

// Kind is CANDIDATE.
func (Candidate) Kind() string { return "CANDIDATE" }

// Kind is LEADER.
func (Leader) Kind() string { return "LEADER" }

// node is the elector that docs/adding-an-algorithm.md shows: E. Chang and R. Roberts,
// An improved algorithm for decentralized extrema-finding in circular configurations
// of processes, CACM 22(5), 1979.
type node struct {
	algo.Config
	participant bool
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Candidate:
		n.onCandidate(env, m.ID)
	case Leader:
		n.onLeader(env, m.ID)
	}
}

// Elect wakes this process up as an initiator.
func (n *node) Elect(env algo.Env) {
	if !n.participant {
		n.participant = true
		env.Send(n.next(), Candidate{n.ID})
	}
}

func (n *node) onCandidate(env algo.Env, id algo.ID) {
	switch {
	case id > n.ID: // pass a larger one on
		n.participant = true
		env.Send(n.next(), Candidate{id})
	case id < n.ID: // swallow a smaller one; answer with ours, once
		n.Elect(env)
	default: // ours went all the way round
		env.Elected(n.ID, 1)
		env.Send(n.next(), Leader{n.ID})
	}
}

func (n *node) onLeader(env algo.Env, leader algo.ID) {
	n.participant = false
	if leader != n.ID { // else it has come round
		env.Elected(leader, 1)
		env.Send(n.next(), Leader{leader})
	}
}

// next is the successor on the ring.
func (n *node) next() algo.ID { return n.Neighbors[0] }

// TestElectorOfTheDocument: the elector of the page elects, whoever begins. If all do,
// on a ring of ascending numbers, each number but the largest goes one step.
func TestElectorOfTheDocument(t *testing.T) {
	err := algo.AddElector(algo.Spec{
		Name: "test-chang-roberts", Summary: "for tests: the elector of the page",
		Paper:    algo.Paper{Authors: "E. Chang, R. Roberts", Title: "of the page", Year: 1979},
		Messages: []algo.Message{Candidate{}, Leader{}},
		Needs:    algo.Needs{Topology: algo.Ring},
		Promises: algo.Promises{Leadership: algo.AtMostOne, Highest: true, Announced: true},
	}, func(c algo.Config) algo.Elector { return &node{Config: c} })
	if err != nil {
		t.Fatal(err)
	}
	defer algo.Remove("election/test-chang-roberts")
	for n := 2; n <= 9; n++ {
		for _, initiators := range []int{1, n} {
			p, err := Plan("election/test-chang-roberts", n,
				harness.Scenario{Kind: harness.ColdStart, Initiators: initiators}, nil)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Simulate(p)
			if err != nil {
				t.Fatal(err)
			}
			if v := out.Verdict; v.Status != "ok" || initiators == n && v.Totals.Sent != int64(3*n-1) {
				t.Errorf("%d of %d begin: %s %s, %d messages", initiators, n, v.Status, v.Reason, v.Totals.Sent)
			}
		}
	}
}
