package tokenring_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/mutex/tokenring"
)

const (
	id = "mutex/token-ring"
	ms = time.Millisecond
	ns = time.Nanosecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestRandomSchedules: with and without a rest, and with links that take no time.
func TestRandomSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return map[string]any{"rest": time.Duration(seed%3) * 2 * ms}
	}, func(p *harness.Plan) {
		if p.Params["rest"] == 2*ms && p.Seed%4 == 1 {
			p.Network.Latency = link.Constant(0)
		}
	})
}

// TestHops: the token is 0 to N-1 hops away, of one message and one unit each;
// it sets out a nanosecond after the start. A rest lasts as long as it should.
func TestHops(t *testing.T) {
	t.Parallel()
	const n = 5
	for holder := algo.ID(1); holder <= n; holder++ {
		for p := algo.ID(1); p <= n; p++ {
			hops := time.Duration(n+p-holder) % n
			e := algotest.Entries{
				Nodes: n, Holder: holder, Events: algotest.Together(p), Order: []algo.ID{p},
				// the one that it sends when it leaves is the last
				Kinds: map[string]int64{"TOKEN": int64(hops) + 1}, Waiting: []time.Duration{0},
			}
			if hops > 0 {
				e.Waiting[0] = hops*ms + ns
			}
			e.Run(t, id)
			if e.Params = map[string]any{"rest": 2 * ms}; hops > 0 {
				e.Waiting[0] = hops * (ms + 2*ms)
			}
			e.Run(t, id)
		}
	}
}

// TestRing: the token follows the order of the ring. Nobody enters twice in a
// lap, also not who asks again at once.
func TestRing(t *testing.T) {
	t.Parallel()
	order := []algo.ID{3, 1, 4, 2}
	algotest.Entries{
		Nodes: 4, Holder: 4, Shape: algo.Shape{Kind: "ring", Order: order},
		Events: algotest.Together(1, 2, 3, 4, 4), Order: []algo.ID{4, 2, 3, 1, 4},
		Kinds: map[string]int64{"TOKEN": 5}, SyncMax: ms,
	}.Run(t, id)
}

// TestRest: a request during the rest enters at once, and cancels what is left
// of it.
func TestRest(t *testing.T) {
	t.Parallel()
	e := algotest.Entries{
		Nodes: 3, Holder: 1, Params: map[string]any{"rest": 4 * ms},
		Events: []harness.Event{
			{At: 3500 * time.Microsecond, Do: harness.DoRequest, Node: 1},
			{At: 7 * ms, Do: harness.DoRequest, Node: 2}, // gets the token at 5.5 ms
		},
		Order: []algo.ID{1, 2}, Kinds: map[string]int64{"TOKEN": 2}, Waiting: []time.Duration{0, 0},
	}
	e.Run(t, id)
	e.Events[1] = harness.Event{At: 10 * ms, Do: harness.DoRequest, Node: 2} // it left at 9.5 ms
	e.Waiting[1] = 3*(ms+4*ms) - 4*ms - 500*time.Microsecond
	e.Kinds["TOKEN"] = 5
	e.Run(t, id)
}

// TestIdle: where nobody asks, N messages go round in each lap for ever. Who is
// alone sends nothing.
func TestIdle(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int64{1: 0, 2: 100, 5: 100} {
		p := algotest.Entries{Nodes: n, Until: 100 * ms}.Plan(t, id)
		o, err := algotest.Simulate(p)
		if err != nil || o.Totals.Sent != want || o.Status != trace.Unknown {
			t.Errorf("n = %d: %d messages, %s: %s, %v", n, o.Totals.Sent, o.Status, o.Reason, err)
		}
	}
}

// TestLivelock: without latency and without a rest the token goes round without
// end in one instant. That is said, and does not hang the simulation.
func TestLivelock(t *testing.T) {
	t.Parallel()
	e := algotest.Entries{
		Nodes: 2, Params: map[string]any{"rest": time.Duration(0)},
		Events: []harness.Event{{At: ms, Do: harness.DoRequest, Node: 2}},
	}
	p := e.Plan(t, id)
	p.Network.Latency = link.Constant(0)
	o, err := algotest.Simulate(p)
	if err != nil || !strings.Contains(o.Reason, "livelock") && o.End.Reason != harness.Livelock {
		t.Errorf("%s: %s, %v", o.Status, o.Reason, err)
	}
}

// TestRest_Default: it follows from the latency.
func TestRest_Default(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	for latency, want := range map[time.Duration]time.Duration{0: ms, ns: 0, ms: 0} {
		params, errs := alg.Spec.Resolve(nil, algo.Network{Nodes: 3, Latency: latency})
		if got := params.Duration("rest"); got != want || errs != nil {
			t.Errorf("latency %v: a rest of %v, want %v; %v", latency, got, want, errs)
		}
	}
}

// TestCrash: any crash stops the ring, also if the process comes back: the token
// was lost with it, or on its way to it, and is not made anew.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim := algo.ID(1); victim <= 3; victim++ {
		o := algotest.Entries{Nodes: 3, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 1},
			{At: 500 * time.Microsecond, Do: harness.DoCrash, Node: victim},
			{At: 50 * ms, Do: harness.DoRestart, Node: victim},
			{At: 60 * ms, Do: harness.DoRequest, Node: 2},
			{At: 61 * ms, Do: harness.DoRequest, Node: 1},
			{At: 61 * ms, Do: harness.DoRequest, Node: 3},
		}, Until: time.Second}.RunBeyond(t, id, fmt.Sprint("crash of ", victim), trace.TimedOut)
		if o.Completed != 1 {
			t.Errorf("crash of %d: %d entries", victim, o.Completed)
		}
	}
}
