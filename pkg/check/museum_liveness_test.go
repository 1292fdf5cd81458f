package check_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// star is the quorum loss of Omni-Paxos (EuroSys 2023, figure 1): 5 leads, and of five
// processes 1 alone reaches a majority from 1 s on.
func star(lasts time.Duration) harness.Event {
	e := harness.Event{At: time.Second, Do: harness.DoCut, For: lasts}
	for p := uint32(2); p <= 5; p++ {
		for q := uint32(2); q <= 5; q++ {
			if p != q {
				e.Links = append(e.Links, [2]uint32{p, q})
			}
		}
	}
	return e
}

// overconfident is raft with pre-vote, and without leaders that check their quorum, that
// claims what only both give: to need one process that reaches a majority.
func overconfident() exhibit {
	a, err := algo.Lookup("election/raft")
	if err != nil {
		panic(err)
	}
	spec := a.Spec
	spec.Params = slices.Clone(spec.Params)
	for i := range spec.Params {
		if spec.Params[i].Name == "pre_vote" {
			spec.Params[i].Default = algo.Const(true)
		}
	}
	spec.Promises.Live = func(int, algo.Params) algo.Liveness {
		return algo.Liveness{Under: algo.QuorumConnected, Timeouts: 100}
	}
	return exhibit{
		flaw: "keeps a leader without a quorum", least: 100, rule: "liveness", fixed: true, spec: spec,
		says: "while one process reaches a majority of all in both directions and nothing else happened",
		trial: harness.Scenario{Plot: &harness.Script{Until: 16 * time.Second,
			Events: []harness.Event{star(14 * time.Second)}}},
		elector: func(c algo.Config) algo.Elector { return a.New(c).(algo.Elector) },
	}
}

// TestQuorumLoss: what each form of Raft comes to there. None is live that does not promise
// it; none that promises it fails.
func TestQuorumLoss(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		params   map[string]any
		under    algo.Connectivity
		recovers bool // within the promised time
		outOfIt  bool
	}{
		"as in the paper": {nil, algo.InParts, true, true},
		"pre-vote":        {map[string]any{"pre_vote": true}, algo.InParts, false, true},
		"sticky":          {map[string]any{"sticky": "drop"}, algo.InParts, false, true},
		"pre-vote and check-quorum": {map[string]any{"pre_vote": true, "check_quorum": true},
			algo.QuorumConnected, true, false},
		"all": {map[string]any{"pre_vote": true, "check_quorum": true, "sticky": "drop"},
			algo.QuorumConnected, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := algotest.Plan("election/raft", 5, harness.Scenario{Plot: &harness.Script{
				Until: 16 * time.Second, Events: []harness.Event{star(14 * time.Second)}}}, test.params)
			if err != nil {
				t.Fatal(err)
			}
			p.Leader = 5
			alg, err := algo.Lookup(p.Algorithm)
			if err != nil {
				t.Fatal(err)
			}
			if l := alg.Spec.LiveOf(5, p.Params); l.Under != test.under {
				t.Errorf("promised while %v", l.Under)
			}
			if why, _ := p.Beyond(); (len(why) > 0) != test.outOfIt {
				t.Errorf("beyond its model: %q", why)
			}
			o, err := algotest.Simulate(p)
			if err != nil || o.Status != trace.OK {
				t.Errorf("%s: %s: %v", o.Status, o.Reason, err)
			}
			for _, m := range o.Metrics {
				if m.Name == "longest_outage_led_ms" && (m.Value < 10_000) != test.recovers {
					t.Errorf("no leader for %v ms", m.Value)
				}
			}
		})
	}
}

// TestExploreFindsNoLiveness: what is found of the exhibit is not found of the real one.
func TestExploreFindsNoLiveness(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]map[string]any{
		"as in the paper":           nil,
		"pre-vote":                  {"pre_vote": true},
		"check-quorum":              {"check_quorum": true},
		"pre-vote and check-quorum": {"pre_vote": true, "check_quorum": true},
	} {
		r, err := explore.Run(context.Background(), "election/raft", explore.Options{Params: params,
			Faults: explore.Survived, Rule: "liveness", Seed: 1, Schedules: 100, Workers: 1})
		if err != nil || r.Find != nil {
			t.Errorf("%s: %+v, %v", name, r.Find, err)
		}
	}
}
