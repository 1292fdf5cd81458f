package invitation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/invitation"
)

const (
	id = "election/invitation"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

func invite(at time.Duration, p, target algo.ID) harness.Event {
	return harness.Event{At: at, Do: "invite", Node: p, Target: target}
}

var event = algotest.At

// run is a script in the unit-delay model with T = 2d.
func run(t *testing.T, n int, change func(*harness.Plan), given map[string]any,
	events ...harness.Event) algotest.Outcome {
	t.Helper()
	params := algotest.With(map[string]any{"t_answer": 2 * ms}, given)
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, params)
	p.TimeLimit = time.Minute
	if change != nil {
		change(&p)
	}
	return algotest.MustSimulate(t, p)
}

func detect(p *harness.Plan) { p.Detector = harness.PerfectDetector(5 * ms) }

// named is whom each process names in the end.
func named(o algotest.Outcome) string {
	out := map[uint32]uint32{}
	for _, r := range o.Trace {
		switch r.Type {
		case trace.Elected:
			out[r.Process] = r.Peer
		case trace.Crash:
			delete(out, r.Process)
		}
	}
	return fmt.Sprint(out)
}

// TestMerges: each merge costs one more than the group that is absorbed has
// members, and two more when the invitation meets no leader.
func TestMerges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		n      int
		events []harness.Event
		sent   int64
		want   string
	}{
		"two": {2,
			[]harness.Event{invite(0, 1, 2)},
			2, "map[1:1 2:1]"},
		"the inviter leads": {2,
			[]harness.Event{invite(0, 2, 1)},
			2, "map[1:2 2:2]"},
		"through a member": {3,
			[]harness.Event{invite(0, 1, 2), invite(4*ms, 3, 2)},
			6, "map[1:1 2:1 3:1]"},
		"a larger group": {3,
			[]harness.Event{invite(0, 1, 2), invite(4*ms, 3, 1)},
			4, "map[1:1 2:1 3:1]"},
		"of itself": {2,
			[]harness.Event{invite(0, 1, 1)},
			0, "map[1:1 2:2]"},
		"of a member": {2,
			[]harness.Event{invite(0, 1, 2), invite(4*ms, 1, 2)},
			2, "map[1:1 2:1]"},
		"by a member": {3,
			[]harness.Event{invite(0, 1, 2), invite(4*ms, 2, 3)},
			2, "map[1:1 2:1 3:3]"},
		"two at once by one": {3,
			[]harness.Event{invite(0, 1, 2), invite(0, 1, 3)},
			2, "map[1:1 2:1 3:3]"},
		"two at once of one": {3,
			[]harness.Event{invite(0, 1, 3), invite(0, 2, 3)},
			6, "map[1:1 2:1 3:1]"},
		"of one who is inviting": {3,
			[]harness.Event{invite(0, 1, 2), invite(ms/2, 3, 1)},
			4, "map[1:1 2:1 3:3]"},
	} {
		o := run(t, test.n, func(p *harness.Plan) { p.Scenario.Set("until", 500*ms) }, nil, test.events...)
		if got := named(o); got != test.want || o.Totals.Sent != test.sent {
			t.Errorf("%s: %s, %d sent; want %s, %d", name, got, o.Totals.Sent, test.want, test.sent)
		}
	}
}

// TestCounts: singletons absorbed one by one cost 2(N-1), balanced pairing
// (N/2)log N + N - 1.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 16; n++ {
		p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.ColdStart{Initiators: 1}}, nil)
		o, err := algotest.Simulate(p)
		if err != nil || o.Status != trace.OK || o.Totals.Sent != int64(2*(n-1)) {
			t.Errorf("n = %d: %s %s, %d sent, want 2(N-1): %v", n, o.Status, o.Reason, o.Totals.Sent, err)
		}
	}
	for n, log := 2, 1; n <= 32; n, log = 2*n, log+1 {
		var events []harness.Event
		for k := range log {
			for p := 1; p <= n; p += 2 << k {
				events = append(events, invite(time.Duration(5*k)*ms, algo.ID(p), algo.ID(p+1<<k)))
			}
		}
		o := run(t, n, nil, nil, events...)
		if want := int64(n/2*log + n - 1); o.Status != trace.OK || o.Totals.Sent != want {
			t.Errorf("n = %d, balanced: %s %s, %d sent, want %d", n, o.Status, o.Reason, o.Totals.Sent, want)
		}
	}
}

// TestCrossed is pitfall P17: two leaders invite each other, at the same instant
// or nearly. One leads, and nobody is lost.
func TestCrossed(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {1, 3}, {3, 2}, {2, 3}} {
		for gap := time.Duration(0); gap <= ms; gap += ms / 2 {
			for _, merge := range []string{"larger-group", "larger-id"} {
				a, b := sizes[0], sizes[1]
				left, right, want := algo.ID(1), algo.ID(a+1), 1
				if b > a {
					want = a + 1
				}
				if merge == "larger-id" {
					left, right, want = algo.ID(a), algo.ID(a+b), a+b
				}
				var events []harness.Event
				for p := algo.ID(1); p <= algo.ID(a+b); p++ { // each of the two absorbs its own
					lead := left
					if p > algo.ID(a) {
						lead = right
					}
					events = append(events, invite(time.Duration(3*p)*ms, lead, p))
				}
				events = append(events, invite(20*ms, left, right), invite(20*ms+gap, right, left))
				o := run(t, a+b, nil, map[string]any{"merge": merge}, events...)
				if o.Status != trace.OK || o.Last() != algo.ID(want) {
					t.Errorf("%s, sizes %v, %v apart: %s %s, %s, want %d",
						merge, sizes, gap, o.Status, o.Reason, named(o), want)
				}
			}
		}
	}
}

// TestLargerID: as some notes have it, against their own figure.
func TestLargerID(t *testing.T) {
	t.Parallel()
	o := run(t, 4, nil, map[string]any{"merge": "larger-id"},
		invite(0, 1, 2), invite(0, 3, 4), invite(4*ms, 2, 4))
	if o.Status != trace.OK || named(o) != "map[1:4 2:4 3:4 4:4]" {
		t.Errorf("%s %s: %s", o.Status, o.Reason, named(o))
	}
}

// TestLeaderDies is rule 9: the members find each other again.
func TestLeaderDies(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 8; n++ {
		o := run(t, n, func(p *harness.Plan) {
			detect(p)
			p.Leader = algo.ID(n)
		}, nil, event(0, harness.DoCrash, algo.ID(n)), event(500*ms, harness.DoRestart, algo.ID(n)))
		if o.Status != trace.OK || len(o.Operations) < 2 {
			t.Errorf("n = %d: %s %s: %v", n, o.Status, o.Reason, o.Operations)
		}
	}
}

// TestMemberReturns: a member that was away comes back into the group.
func TestMemberReturns(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{ms, 3 * ms, 20 * ms, 200 * ms} {
		o := run(t, 5, func(p *harness.Plan) {
			detect(p)
			p.Leader = 1
		}, nil, event(0, harness.DoCrash, 4), event(away, harness.DoRestart, 4))
		if o.Status != trace.OK || o.Last() != 1 {
			t.Errorf("away for %v: %s %s: %v", away, o.Status, o.Reason, o.Operations)
		}
	}
}

// TestPartition: each side has a leader while the network is cut, and all have
// one when it has healed.
func TestPartition(t *testing.T) {
	t.Parallel()
	split := [][]uint32{{1, 2, 3}, {4, 5, 6}}
	events := []harness.Event{
		{At: 20 * ms, Do: harness.DoCut, Groups: split},
		{At: 400 * ms, Do: harness.DoHeal, Groups: split},
	}
	for _, until := range []time.Duration{399 * ms, 800 * ms} {
		o := run(t, 6, func(p *harness.Plan) {
			p.Leader = 5
			p.Scenario.Set("until", until)
			p.Detector = harness.HeartbeatDetector(5*ms, 15*ms)
		}, nil, events...)
		sides := map[algo.ID]bool{}
		belief := []algo.ID{5, 5, 5, 5, 5, 5}
		for _, r := range o.Trace {
			if r.Type == trace.Elected {
				belief[r.Process-1] = algo.ID(r.Peer)
			}
		}
		for p, l := range belief {
			sides[l] = true
			if until < 400*ms && (p < 3) != (l <= 3) {
				t.Errorf("%d follows %d across the cut", p+1, l)
			}
		}
		want := 2
		if until > 400*ms {
			want = 1
		}
		if len(sides) != want {
			t.Errorf("at %v: %v, want %d groups", until, belief, want)
		}
	}
}

// TestPartitionHeals: a cut of any length that the detectors notice heals, and
// one group remains.
func TestPartitionHeals(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		split := [][]uint32{{1, 2}, {3, 4, 5}}
		if seed%2 == 0 {
			split = [][]uint32{{5}, {1, 2, 3, 4}}
		}
		from := time.Duration(rng.Int64N(int64(60 * ms)))
		o := run(t, 5, func(p *harness.Plan) {
			p.Seed = seed
			p.Scenario.Set("until", time.Second)
			p.Network.Latency = link.Uniform(ms/100, ms)
			p.Detector = harness.HeartbeatDetector(5*ms, 15*ms)
		}, nil, event(0, harness.DoElect, 1), event(0, harness.DoElect, 4),
			harness.Event{At: from, Do: harness.DoCut, Groups: split},
			harness.Event{At: from + 40*ms, Do: harness.DoHeal, Groups: split})
		if o.Status != trace.OK {
			t.Errorf("seed %d: %s %s", seed, o.Status, o.Reason)
		}
	}
}

// TestSchedules: random initiators, delays with overtaking, and commands of
// scripts among them; all groups that can meet become one, and nobody follows a
// process that does not lead.
func TestSchedules(t *testing.T) {
	t.Parallel()
	for seed := range algotest.Schedules() {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 2 + rng.IntN(9)
		events := []harness.Event{event(0, harness.DoElect, algo.ID(1+rng.IntN(n)))}
		for range rng.IntN(3 * n) {
			at := time.Duration(rng.Int64N(int64(20 * ms)))
			events = append(events, invite(at, algo.ID(1+rng.IntN(n)), algo.ID(1+rng.IntN(n))))
		}
		merge := []string{"larger-group", "larger-id"}[rng.IntN(2)]
		o := run(t, n, func(p *harness.Plan) {
			p.Seed = seed
			p.Network = link.Network{Latency: link.Uniform(ms/100, ms), Unordered: rng.IntN(2) == 0}
		}, map[string]any{"merge": merge, "pause": 3 * ms}, events...)
		if o.Status != trace.OK {
			t.Fatalf("seed %d: %s %s", seed, o.Status, o.Reason)
		}
	}
}

// TestTooShort is a negative control: with T below the round trip the answer of
// one who accepted comes when another invitation is out.
func TestTooShort(t *testing.T) {
	t.Parallel()
	bad := 0
	for seed := range uint64(200) {
		o := run(t, 6, func(p *harness.Plan) {
			p.Seed, p.InModel = seed, false
			p.Scenario.Set("until", 300*ms)
			p.Network.Latency = link.Uniform(ms/100, ms)
		}, map[string]any{"t_answer": ms / 4, "pause": ms / 4}, event(0, harness.DoElect, 1),
			event(0, harness.DoElect, 3), event(0, harness.DoElect, 5))
		if o.Status != trace.OK {
			bad++
		}
	}
	t.Logf("%d of 200 runs do not end in one group", bad)
	if bad == 0 {
		t.Error("no run suffers from a time-out below the round trip")
	}
}
