package raft_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
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

// TestSplitVotes_Mean: with a spread of N times the mean latency a third of the terms elect a leader, also
// where the 99.9th percentile of the latency is many times its mean; with a fifth of that, fewer do.
func TestSplitVotes_Mean(t *testing.T) {
	t.Parallel()
	const n, trials = 5, 150
	latency := link.Latency{Law: &link.Lognormal{Median: 2 * ms, Sigma: 1.2}}
	enough := n * latency.Average()
	if d, _ := latency.Bound(); d < 15*latency.Average() {
		t.Fatalf("d %v, mean %v: want a long tail", d, latency.Average())
	}
	won := map[time.Duration]float64{}
	for _, spread := range []time.Duration{enough, enough / 5} {
		terms, elected := 0.0, 0.0
		for seed := range uint64(trials) {
			p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.LeaderCrash{Settle: 500 * ms}},
				params{"heartbeat": 50 * ms, "t_election": 250 * ms, "t_election_spread": spread})
			p.Seed, p.Network.Latency, p.TimeLimit, p.InModel = seed+1, latency, time.Minute, false
			o := run(t, p)
			for _, v := range o.Metrics {
				if v.Name == metric.TermsPerElection.Name && v.Value > 0 {
					terms, elected = terms+v.Value, elected+1
				}
			}
		}
		won[spread] = elected / terms
	}
	if won[enough] < 0.41 || won[enough/5] > won[enough]-0.1 {
		t.Errorf("share of terms that elect: %v", won)
	}
	alg := algotest.Lookup(t, id)
	net := algo.Network{Nodes: n, Latency: 40 * ms, Mean: 3 * ms}
	for spread, in := range map[time.Duration]bool{15*ms - 1: false, 15 * ms: true} {
		p, _ := alg.Spec.Resolve(params{"t_election": 250 * ms, "t_election_spread": spread}, net)
		if err := alg.Spec.Needs.Params(net, p); (err == nil) != in {
			t.Errorf("spread %v: %v", spread, err)
		}
	}
}
