package raft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// TestSpread: the timer is drawn from τ to 2τ, and from more if that is needed.
func TestSpread(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	for n, want := range map[int]time.Duration{5: 130 * ms, 65: 130 * ms, 66: 132 * ms, 1000: 2 * time.Second} {
		p := alg.Spec.Defaults(algo.Network{Nodes: n, Latency: 2 * ms, Bounded: true})
		if tau, spread := p.Duration("t_election"), p.Duration("t_election_spread"); tau != 130*ms || spread != want {
			t.Errorf("n = %d: τ %v and a spread of %v, want %v", n, tau, spread, want)
		}
	}
}

// TestParams: with which parameters no leader is promised. Figure 16 of the paper shows
// what the least spread is for.
func TestParams(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	for name, test := range map[string]struct {
		nodes int
		given map[string]any
		want  string // "": in the model
	}{
		"defaults":            {5, nil, ""},
		"of many":             {1000, nil, ""},
		"no spread":           {5, map[string]any{"t_election_spread": 0 * ms}, "t_election_spread 0"},
		"little spread":       {9, map[string]any{"t_election_spread": 18*ms - 1}, "is below N·m = 18ms, m the mean latency"},
		"enough spread":       {9, map[string]any{"t_election_spread": 18 * ms}, ""},
		"silent leader":       {5, map[string]any{"heartbeat_rounds": int64(3)}, "heartbeat_rounds 3"},
		"fixed":               {5, map[string]any{"t_election_fixed": 200 * ms}, "t_election_fixed"},
		"never stands":        {5, map[string]any{"priority": int64(0)}, "priority 0"},
		"stands nevertheless": {5, map[string]any{"priority": int64(0), "priority_mode": "takeover"}, ""},
		"is behind": {5, map[string]any{"priority": int64(2), "priority_mode": "takeover",
			"last_index": list(1, 2, 2, 2, 2)}, "priority_mode takeover"},
		"is behind, without priority": {5, map[string]any{"priority_mode": "takeover",
			"last_index": list(1, 2, 2, 2, 2)}, ""},
		"impatient":          {5, map[string]any{"t_election": 29 * ms}, "t_election 29ms is below"},
		"patient":            {5, map[string]any{"t_election": 30 * ms}, ""},
		"no time for a vote": {1, map[string]any{"heartbeat": time.Microsecond}, "t_election 5µs is below"},
	} {
		net := algo.Network{Nodes: test.nodes, Latency: 2 * ms, Bounded: true}
		p, errs := alg.Spec.Resolve(test.given, net)
		err := alg.Spec.Needs.Params(net, p.Of(1))
		if len(errs) > 0 || (err == nil) != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v, want %q", name, errs, err, test.want)
		}
	}
}
