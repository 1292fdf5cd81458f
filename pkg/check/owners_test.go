package check_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestWarmupCosts: what every entry costs exactly is what the measured ones cost,
// wherever the warm-up ends, under any load and latency.
func TestWarmupCosts(t *testing.T) {
	t.Parallel()
	closed := func(requests, warmup int, think time.Duration) harness.Scenario {
		return harness.Scenario{Plot: &harness.Closed{Requests: requests, Warmup: warmup,
			Think: link.Constant(think), Hold: link.Constant(3 * ms)}}
	}
	for load, sc := range map[string]harness.Scenario{
		"saturated, few":  closed(30, 10, 0),
		"saturated, more": closed(100, 10, 0),
		"most of it warm": closed(100, 97, 0),
		"thinking":        closed(60, 7, 9*ms),
		"hardly any load": closed(60, 7, 300*ms),
		"open": {Plot: &harness.Open{Rate: 90, Requests: 80, Warmup: 20,
			Hold: link.Constant(3 * ms)}},
		"one by one": {Plot: &harness.Sequential{Requests: 30, Warmup: 11, Hold: link.Constant(ms)}},
	} {
		for id, want := range map[string]float64{"mutex/ricart-agrawala": 8, "mutex/lamport": 12} {
			for name, latency := range map[string]link.Latency{
				"constant": link.Constant(5 * ms), "random": link.Uniform(ms/10, 10*ms),
			} {
				t.Run(fmt.Sprint(load, " ", id, " ", name), func(t *testing.T) {
					t.Parallel()
					for seed := range uint64(5) {
						costs(t, id, seed, sc, latency, want)
					}
				})
			}
		}
	}
}

// costs wants the measured entries of a simulated trial to have cost so many messages
// each.
func costs(t *testing.T, id string, seed uint64, sc harness.Scenario, latency link.Latency, want float64) {
	t.Helper()
	o := simulate(t, id, seed, sc, func(p *harness.Plan) { p.Network.Latency = latency })
	if o.Status != trace.OK {
		t.Fatalf("%s, seed %d: %s: %s", id, seed, o.Status, o.Reason)
	}
	for _, m := range o.Metrics {
		if m.Name == "messages_per_entry" && m.Value != want {
			t.Errorf("%s, seed %d: %v messages per entry, want %v", id, seed, m.Value, want)
		}
	}
}

// TestWarmupOfATokenInDemand: the holder of a token pays nothing, but while all wait,
// the next is always another. A token that never rests goes to the next once for each
// entry, and once more behind the last.
func TestWarmupOfATokenInDemand(t *testing.T) {
	t.Parallel()
	sc := harness.Scenario{Plot: &harness.Closed{Requests: 105, Warmup: 5,
		Think: link.Constant(0), Hold: link.Constant(3 * ms)}}
	costs(t, "mutex/suzuki-kasami", 1, sc, link.Constant(ms), 5)
	costs(t, "mutex/token-ring", 1, sc, link.Constant(ms), 1.01)
}
