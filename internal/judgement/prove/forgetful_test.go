package prove_test

import (
	"context"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/raft"
)

// forgetful is a Raft that saves its term, and forgets its vote.
const forgetful = "election/test-raft-forgets-its-vote"

func init() {
	a, err := algo.Lookup("election/raft")
	if err != nil {
		panic(err)
	}
	spec := a.Spec
	spec.Name = strings.TrimPrefix(forgetful, "election/")
	algo.RegisterElector(spec, func(c algo.Config) algo.Elector {
		if saved, ok := c.Saved.(raft.Stable); ok {
			c.Saved = raft.Stable{Term: saved.Term}
		}
		return raft.New(c)
	})
}

// TestSearch_Forgetful: those that voted restart, one after the other, and vote again, so that a term has two
// leaders. At most one of them is down at a time. Of four processes two have to forget; the original does not.
func TestSearch_Forgetful(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id                    string
		nodes, crashes, steps int
	}{{"election/raft", 3, 1, 0}, {forgetful, 3, 1, 8}, {forgetful, 4, 2, 14}} {
		if test.nodes > 3 && !slowtest.Night() {
			continue
		}
		s, err := prove.Search(context.Background(), test.id, prove.System{
			Nodes: test.nodes, Requests: 2, Budget: prove.Budget{Crashes: test.crashes}, Canonical: true,
		}, prove.Limits{})
		switch {
		case err != nil:
			t.Fatal(err)
		case test.steps == 0:
			if s.Find != nil || s.Bound != "" {
				t.Errorf("%s: %d states, %q: %v", test.id, s.States, s.Bound, s.Find)
			}
		case s.Find == nil:
			t.Errorf("%s, %d processes: no broken promise in %d states", test.id, test.nodes, s.States)
		case !strings.Contains(s.Find.Broken, " leads term 1, which p") || len(s.Find.Schedule) != test.steps:
			t.Errorf("%s, %d processes: %d steps, want %d: %v", test.id, test.nodes, len(s.Find.Schedule),
				test.steps, s.Find)
		}
		t.Logf("%d states, depth %d, frontier %d, %v", s.States, s.Depth, s.Frontier, s.Elapsed)
	}
}
