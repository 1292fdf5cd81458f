package raft_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestSplitVotes: with equal time-outs every vote is split, and nobody is ever elected; the
// further apart they are, the fewer. What the judge counts is what a second look at the
// records finds.
func TestSplitVotes(t *testing.T) {
	t.Parallel()
	const trials = 40
	for _, test := range []struct {
		spread      time.Duration
		least, most float64 // share of split votes, over all trials
	}{{0, 1, 1}, {3 * ms, 0.4, 0.9}, {30 * ms, 0.005, 0.2}, {10 * time.Second, 0, 0.01}} {
		terms, split := 0.0, 0.0
		for seed := range uint64(trials) {
			p := algotest.MustPlan(t, id, 5, harness.Scenario{Plot: &harness.LeaderCrash{Settle: 200 * ms}},
				params{"t_election": 100 * ms, "t_election_spread": test.spread})
			p.Seed, p.Network.Latency, p.TimeLimit = seed+1, link.Uniform(ms, 2*ms), 2*time.Second+test.spread
			p.InModel = false // equal time-outs promise nothing
			o := run(t, p)
			if over := o.Status == trace.OK; over == (test.spread == 0) {
				t.Fatalf("spread %v, seed %d: %s %s", test.spread, seed, o.Status, o.Reason)
			}
			began, won := map[uint64]bool{}, map[uint64]bool{}
			for _, r := range o.Trace {
				switch {
				case r.Type == trace.Elected && r.Peer == 0 && r.Arg > 0:
					began[r.Arg] = true
				case r.Type == trace.Elected && r.Peer == r.Process:
					won[r.Arg] = true
				}
			}
			if test.spread == 0 { // what becomes of the last is not known
				delete(began, slices.Max(slices.Collect(maps.Keys(began))))
			} else if want := metric.TermsPerElection.Of(float64(len(began))); !slices.Contains(o.Metrics, want) {
				t.Errorf("spread %v, seed %d: want %v among %v", test.spread, seed, want, o.Metrics)
			}
			for _, want := range []metric.Value{
				metric.SplitVoteShare.Of(float64(len(began)-len(won)) / float64(len(began))),
			} {
				if !slices.Contains(o.Metrics, want) {
					t.Errorf("spread %v, seed %d: want %v among %v", test.spread, seed, want, o.Metrics)
				}
			}
			terms += float64(len(began))
			split += float64(len(began) - len(won))
		}
		share := split / terms
		t.Logf("spread %v: %.2f terms per election, %.3f of the votes split", test.spread, terms/trials, share)
		if share < test.least || share > test.most {
			t.Errorf("spread %v: %.3f of the votes split, want %v to %v", test.spread, share, test.least, test.most)
		}
	}
}
