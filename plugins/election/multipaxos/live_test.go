package multipaxos_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// TestLive: none is promised where losers of a duel come back too soon, or are too many.
func TestLive(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, "election/multi-paxos").Spec
	for _, test := range []struct {
		nodes   int
		backoff time.Duration // 0: the default
		want    int
	}{{1, 0, 51}, {3, 0, 83}, {5, 0, 141}, {5, 52 * time.Millisecond, 141}, {5, 51 * time.Millisecond, 0}, {100, 0, 0}} {
		given := map[string]any{}
		if test.backoff > 0 {
			given["backoff"] = test.backoff
		}
		p, errs := spec.Resolve(given, algo.Network{Nodes: test.nodes, Latency: 2 * time.Millisecond, Bounded: true})
		if l := spec.LiveOf(test.nodes, p); len(errs) > 0 || l.Timeouts != test.want ||
			(l.Under == algo.InParts) != (test.want > 0) {
			t.Errorf("%d processes, backoff %v: %+v, want %d", test.nodes, test.backoff, l, test.want)
		}
	}
}
