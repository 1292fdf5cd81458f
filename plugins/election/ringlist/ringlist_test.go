package ringlist_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/ringlist"
)

const (
	id = "election/ring-list"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// simulate runs a script on the ring 1..n, or in the order given, with T = 2.
func simulate(t *testing.T, n int, change func(*harness.Plan),
	events ...harness.Event) algotest.Outcome {
	t.Helper()
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}},
		map[string]any{"skip_timeout": 2 * ms})
	change(&p)
	o := algotest.MustSimulate(t, p)
	if o.End.Err != nil {
		t.Error(o.End.Err)
	}
	return o
}

func elect(processes ...algo.ID) []harness.Event {
	return algotest.Each(harness.DoElect, processes...)
}

// TestCounts: 2kn messages are delivered for k initiators among n live processes,
// and one more is sent to each dead process in each lap.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 4; n <= 8; n++ {
		for name, crashed := range map[string][]algo.ID{
			"all live": nil, "the top dead": {algo.ID(n)}, "two dead": {2, algo.ID(n)},
			"two neighbors dead": {algo.ID(n - 1), algo.ID(n)},
		} {
			var live []algo.ID
			for p := 1; p <= n; p++ {
				if !slices.Contains(crashed, algo.ID(p)) {
					live = append(live, algo.ID(p))
				}
			}
			for k := 1; k <= len(live); k++ {
				t.Run(fmt.Sprintf("N=%d, %s, %d start", n, name, k), func(t *testing.T) {
					t.Parallel()
					o := simulate(t, n, func(p *harness.Plan) { p.Crashed = crashed }, elect(live[:k]...)...)
					delivered, lost := int64(2*k*len(live)), int64(2*k*len(crashed))
					last := o.Last()
					if o.Status != trace.OK || last != live[len(live)-1] ||
						o.Totals.Delivered != delivered || o.Totals.Sent != delivered+lost {
						t.Errorf("%s %s: leader %d, %d sent, %d delivered; want %d, %d, %d", o.Status, o.Reason,
							last, o.Totals.Sent, o.Totals.Delivered, live[len(live)-1], delivered+lost,
							delivered)
					}
				})
			}
		}
	}
}

// TestRememberDead: a dead process is tried once in an election, not in each lap.
func TestRememberDead(t *testing.T) {
	t.Parallel()
	for n := 4; n <= 8; n++ {
		for dead := 1; dead <= 2; dead++ {
			o := simulate(t, n, func(p *harness.Plan) {
				p.Params["remember_dead"] = true
				for d := range dead {
					p.Crashed = append(p.Crashed, algo.ID(n-d))
				}
			}, elect(1)...)
			live := int64(n - dead)
			if o.Status != trace.OK || o.Totals.Delivered != 2*live || o.Totals.Sent != 2*live+int64(dead) {
				t.Errorf("N=%d, %d dead: %s, %d sent, %d delivered; want %d, %d", n, dead, o.Status,
					o.Totals.Sent, o.Totals.Delivered, 2*live+int64(dead), 2*live)
			}
		}
	}
}

// TestForgetsTheDead: what was remembered in one election is not in the next, so
// that a process that came back is found.
func TestForgetsTheDead(t *testing.T) {
	t.Parallel()
	o := simulate(t, 4, func(p *harness.Plan) {
		p.Params["remember_dead"] = true
		p.Crashed = []algo.ID{4}
	}, append(elect(3), harness.Event{After: "quiet", Do: harness.DoRestart, Node: 4},
		harness.Event{After: "quiet", Do: harness.DoElect, Node: 3})...)
	last := o.Last()
	if o.Status != trace.OK || last != 4 {
		t.Errorf("%s %s: leader %d, want 4", o.Status, o.Reason, last)
	}
}

// TestSize: both laps carry the list, with a byte for its length and one for each ID,
// and nothing for acknowledgements. Every message has two bytes in front; an announcement
// names leader, converter and round.
func TestSize(t *testing.T) {
	t.Parallel()
	const n = 9
	o := simulate(t, n, func(*harness.Plan) {}, elect(1)...)
	if want := int64(n*(2+1) + n*(n+1)/2); o.Kinds[0].Bytes != want {
		t.Errorf("ELECTION: %d bytes, want %d", o.Kinds[0].Bytes, want)
	}
	if want := int64(n * (2 + 1 + (1 + n) + 1 + 2)); o.Kinds[1].Bytes != want {
		t.Errorf("COORDINATOR: %d bytes, want %d", o.Kinds[1].Bytes, want)
	}
}

// TestFigure105 is the worked example of the notes, hop by hop: the ring 1 to 6,
// of which 6 is dead, and 3 notices.
func TestFigure105(t *testing.T) {
	t.Parallel()
	o := simulate(t, 6, func(p *harness.Plan) { p.Leader, p.Crashed = 6, []algo.ID{6} },
		harness.Event{Do: harness.DoSuspect, Node: 3})
	const want = `0s ELECTION 3>4, 1ms ELECTION 4>5, 2ms ELECTION 5>6, 4ms ELECTION 5>1,
5ms ELECTION 1>2, 6ms ELECTION 2>3, 7ms COORDINATOR 3>4, 8ms COORDINATOR 4>5,
9ms COORDINATOR 5>6, 11ms COORDINATOR 5>1, 12ms COORDINATOR 1>2, 13ms COORDINATOR 2>3`
	if got := o.Messages(); got != strings.ReplaceAll(want, "\n", " ") {
		t.Errorf("messages\n got %s\nwant %s", got, want)
	}
	if o.Status != trace.OK || o.Operations[0].Process != 5 {
		t.Errorf("%s %s: %+v, want leader 5", o.Status, o.Reason, o.Operations)
	}
}

// TestRingOrder: the ring need not be in the order of IDs.
func TestRingOrder(t *testing.T) {
	t.Parallel()
	o := simulate(t, 5, func(p *harness.Plan) { p.Shape.Order = []algo.ID{3, 1, 5, 2, 4} },
		elect(1)...)
	var hops []uint32
	for _, r := range o.Trace {
		if r.Type == trace.Deliver && r.Plane == trace.Data && len(hops) < 5 {
			hops = append(hops, r.Process)
		}
	}
	if !slices.Equal(hops, []uint32{5, 2, 4, 3, 1}) || o.Operations[0].Process != 5 {
		t.Errorf("went %v, leader %d", hops, o.Operations[0].Process)
	}
}

// TestDeathMidLap: any process dies at any hop of the election, the initiator and
// the converter included. The lap ends all the same, and all survivors follow
// the largest of them (P13).
func TestDeathMidLap(t *testing.T) {
	t.Parallel()
	const n, initiator = 6, 3
	for _, crashed := range [][]algo.ID{nil, {6}} {
		top := algo.ID(n - len(crashed))
		for victim := algo.ID(1); victim <= top; victim++ {
			for half := range 40 {
				at := time.Duration(half) * ms / 2
				o := simulate(t, n, func(p *harness.Plan) {
					p.Leader, p.Crashed = 6, crashed
					p.Detector = harness.PerfectDetector(10 * ms)
				}, append(elect(initiator), harness.Event{At: at, Do: harness.DoCrash, Node: victim})...)
				want := top
				if victim == top {
					want--
				}
				if victim == initiator && half == 0 && crashed == nil {
					continue // nobody starts, and the leader is well
				}
				last := o.Last()
				if o.Status != trace.OK || last != want {
					t.Errorf("crashed %v, %d dies at %v: %s %s: leader %d, want %d", crashed, victim, at, o.Status,
						o.Reason, last, want)
				}
			}
		}
	}
}

// TestAlone: who finds nobody else leads itself, without a message.
func TestAlone(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		o := simulate(t, n, func(p *harness.Plan) {
			for q := 2; q <= n; q++ {
				p.Crashed = append(p.Crashed, algo.ID(q))
			}
		}, elect(1)...)
		if o.Status != trace.OK || o.Operations[0].Process != 1 || o.Totals.Delivered != 0 {
			t.Errorf("N=%d: %s %s: %+v", n, o.Status, o.Reason, o.Totals)
		}
	}
}

// TestInitiators: whoever starts, together or staggered, one leader comes out (P4).
func TestInitiators(t *testing.T) {
	t.Parallel()
	const n = 5
	for _, stagger := range []time.Duration{0, ms / 3} {
		for set := 1; set < 1<<n; set++ {
			var events []harness.Event
			for p := 1; p <= n; p++ {
				if set>>(p-1)&1 == 1 {
					e := elect(algo.ID(p))[0]
					e.At = time.Duration(p%3) * stagger
					events = append(events, e)
				}
			}
			o := simulate(t, n, func(*harness.Plan) {}, events...)
			last := o.Last()
			if want := int64(2 * n * len(events)); o.Status != trace.OK || last != n ||
				o.Totals.Sent != want {
				t.Errorf("initiators %b, stagger %v: %s %s, leader %d, %d sent; want %d sent", set, stagger,
					o.Status, o.Reason, last, o.Totals.Sent, want)
			}
		}
	}
}

// TestSuspicionDuringElection: who takes part in an election starts no other (P5).
func TestSuspicionDuringElection(t *testing.T) {
	t.Parallel()
	again := func(at time.Duration, p algo.ID) harness.Event {
		return harness.Event{At: at, Do: harness.DoSuspect, Node: p}
	}
	o := simulate(t, 4, func(*harness.Plan) {}, again(0, 1), again(ms/2, 1), again(3*ms/2, 2))
	if o.Status != trace.OK || o.Totals.Sent != 8 {
		t.Errorf("%s %s: %d sent, want 8", o.Status, o.Reason, o.Totals.Sent)
	}
}

// TestConverterDies: the one that closed the lap dies while its announcement
// travels. Whoever has handled that already removes it, and the survivors agree.
func TestConverterDies(t *testing.T) {
	t.Parallel()
	for half := range 8 { // the lap closes at 4 ms, the announcement is home at 8
		at := 4*ms + time.Duration(half)*ms/2
		o := simulate(t, 4, func(*harness.Plan) {}, append(elect(2),
			harness.Event{At: at, Do: harness.DoCrash, Node: 2})...)
		if last := o.Last(); o.Status != trace.OK || last != 4 {
			t.Errorf("at %v: %s %s: leader %d, want 4", at, o.Status, o.Reason, last)
		}
	}
}

// TestAcknowledgedAtTheLastInstant: T is a round trip here, so every
// acknowledgement comes in the instant in which T expires. It counts (P36).
func TestAcknowledgedAtTheLastInstant(t *testing.T) {
	t.Parallel()
	o := simulate(t, 4, func(*harness.Plan) {}, elect(1)...)
	for _, r := range o.Trace {
		if r.Type == trace.Timeout {
			t.Errorf("a timer of process %d fired at %v", r.Process, r.At)
		}
	}
}

// TestTooShort is a negative control: a time-out below the round trip skips the
// living, so that a hop is sent to two of them and two laps take more than 2N.
func TestTooShort(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		o := simulate(t, 5, func(p *harness.Plan) {
			p.Seed, p.InModel = seed, false
			p.Scenario.Set("until", 100*ms)
			p.Params["skip_timeout"] = ms / 4
			p.Network.Latency = link.Uniform(ms/100, ms)
		}, elect(1)...)
		if o.Totals.Sent > 2*5 {
			return // one is enough
		}
	}
	t.Error("no run suffers from a time-out below the round trip")
}

// TestTiming: what the time-outs must keep to.
func TestTiming(t *testing.T) {
	t.Parallel()
	algotest.RunFits(t, id, map[string]map[string]any{
		"defaults":   nil,
		"skip of 2d": {"skip_timeout": 2 * ms},
		"lap":        {"skip_timeout": 2 * ms, "lap_timeout": 30 * ms},
	}, map[string]map[string]any{
		"skip below 2d": {"skip_timeout": 2*ms - 1},
		"lap below":     {"skip_timeout": 2 * ms, "lap_timeout": 30*ms - 1},
	})
}

// TestSchedules: the kit's schedules, with the dead remembered.
func TestSchedules(t *testing.T) {
	t.Parallel()
	algotest.RunSchedules(t, id, func(uint64) map[string]any {
		return map[string]any{"remember_dead": true}
	}, nil)
}
