package raft_test

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// TestLive: while which links a leader is promised, and within how many time-outs, to five.
func TestLive(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, id).Spec
	on := func(names ...string) params {
		p := params{}
		for _, name := range names {
			p[name] = true
			if name == "sticky" {
				p[name] = "refuse"
			}
		}
		return p
	}
	behind := on("pre_vote", "check_quorum")
	behind["last_index"] = list(1, 2, 2, 2, 2)
	ranked := on("pre_vote", "check_quorum")
	ranked["priority"] = list(100, 80, -1, 10, 64)
	takeover := on("pre_vote", "check_quorum")
	takeover["priority"], takeover["priority_mode"] = list(-1, 1, 1, 1, 1), "takeover"
	none := on("pre_vote", "check_quorum")
	none["priority_mode"] = "takeover"
	older := on("check_quorum")
	older["last_term"] = list(2, 2, 2, 2, 1)
	for name, test := range map[string]struct {
		given params
		want  algo.Liveness
	}{
		"as in the paper":          {nil, algo.Liveness{Under: algo.InParts, Timeouts: 100}},
		"check_quorum":             {on("check_quorum"), algo.Liveness{Under: algo.MajorityConnected, Timeouts: 500}},
		"pre_vote":                 {on("pre_vote"), algo.Liveness{Under: algo.InParts, Timeouts: 100}},
		"sticky":                   {on("sticky"), algo.Liveness{Under: algo.InParts, Timeouts: 100}},
		"both":                     {on("pre_vote", "sticky"), algo.Liveness{Under: algo.InParts, Timeouts: 100}},
		"etcd's without pre-vote":  {on("check_quorum", "sticky"), algo.Liveness{Under: algo.MajorityConnected, Timeouts: 500}},
		"etcd's with it":           {on("pre_vote", "check_quorum", "sticky"), algo.Liveness{Under: algo.QuorumConnected, Timeouts: 100}},
		"pre-vote and quorum":      {on("pre_vote", "check_quorum"), algo.Liveness{Under: algo.QuorumConnected, Timeouts: 100}},
		"10 waits for 16 others":   {ranked, algo.Liveness{Under: algo.QuorumConnected, Timeouts: 1700}},
		"takeovers":                {takeover, algo.Liveness{Under: algo.InParts, Timeouts: 600}},
		"takeover, no priorities":  {none, algo.Liveness{Under: algo.QuorumConnected, Timeouts: 100}},
		"the centre may be behind": {behind, algo.Liveness{Under: algo.MajorityConnected, Timeouts: 500}},
		"one log is older":         {older, algo.Liveness{Under: algo.MajorityConnected, Timeouts: 2500}},
	} {
		p, errs := spec.Resolve(test.given, algo.Network{Nodes: 5, Latency: ms, Bounded: true})
		if got := spec.LiveOf(5, p); len(errs) > 0 || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, errs, test.want)
		}
	}
}
