package host_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// metric is the value of the verdict's metric of that name.
func metric(tb testing.TB, v check.Verdict, name string) float64 {
	tb.Helper()
	for _, m := range v.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	tb.Fatalf("no metric %s", name)
	return 0
}

// beats is a heartbeat detector that a busy machine does not fool.
var beats = harness.HeartbeatDetector(ms(50), ms(400))

// failing is a plan with faults, out of the algorithm's model or not.
func failing(tb testing.TB, id string, n int, s harness.Scenario, events ...harness.Event) harness.Plan {
	tb.Helper()
	p := plan(tb, id, n, s, nil)
	p.Faults.Events = events
	p.InModel = false
	return p
}

// inBothWorlds holds the trial against what is wrong with it, simulated and on
// nodes. What a busy machine spoils there is tried again.
func inBothWorlds(t *testing.T, m *host.Machine, p harness.Plan,
	wrong func(list trace.List, v check.Verdict) error) (want algotest.Outcome, got outcome) {
	t.Helper()
	want = simulate(t, p)
	if err := wrong(want.Trace, want.Verdict); err != nil {
		t.Fatalf("simulated: %v", err)
	}
	return want, run(t, m, p, func(o outcome) error { return wrong(o.Trace, o.Verdict) })
}

// TestTrial_SplitBrain: of two halves each has a leader of its own, from the time
// that it takes to notice and to elect until the cut is healed; then there is one.
func TestTrial_SplitBrain(t *testing.T) {
	t.Parallel()
	const whole = 900
	p := failing(t, "election/bully", 5, harness.Scenario{Plot: &harness.Partition{
		Shape: "halves", Settle: ms(50), Duration: ms(whole),
	}})
	p.Leader, p.Detector = 5, beats
	inBothWorlds(t, newMachine(t, 5), p, func(_ trace.List, v check.Verdict) error {
		split := metric(t, v, "split_brain_ms")
		// A suspicion comes at most an interval before the time-out has passed since
		// the cut; the election lasts as long as its time-outs.
		if lo, hi := whole-400.0-150, float64(whole-400+50)+40; split < lo || split > hi {
			return fmt.Errorf("%.1f ms of split brain, want %.0f to %.0f", split, lo, hi)
		}
		if v.Status != trace.OK {
			return fmt.Errorf("%s: %s", v.Status, v.Reason)
		}
		return nil
	})
	p.Detector = harness.PerfectDetector(ms(10))
	if split := metric(t, simulate(t, p).Verdict, "split_brain_ms"); split != 0 {
		t.Errorf("a perfect detector has seen the partition: %.1f ms of split brain", split)
	}
}

// TestTrial_Pause: a leader that is stopped for a while is replaced, thinks that it
// leads when it goes on, and is told.
func TestTrial_Pause(t *testing.T) {
	t.Parallel()
	p := failing(t, "election/bully", 4, script(), harness.Event{
		At: ms(100), Do: harness.DoPause, Who: "leader", For: ms(900),
	})
	p.Leader, p.Detector = 4, beats
	p.Scenario.Set("until", ms(1800))
	m := newMachine(t, 4, func(c *host.MachineConfig) { c.Pause = ms(900) })
	inBothWorlds(t, m, p, func(list trace.List, v check.Verdict) error {
		var at []time.Duration
		for _, r := range list {
			if r.Process == 4 && (r.Type == trace.Pause || r.Type == trace.Resume) {
				at = append(at, r.At)
			}
			if len(at) == 1 && r.Process == 4 && r.Type == trace.Deliver && r.At > at[0]+ms(20) {
				return fmt.Errorf("p4 handled a message at %v, stopped since %v", r.At, at[0])
			}
		}
		if len(at) != 2 || at[1]-at[0] < ms(890) || at[1]-at[0] > ms(1000) {
			return fmt.Errorf("stopped and resumed at %v", at)
		}
		if changes := metric(t, v, "leader_changes"); changes < 2 {
			return fmt.Errorf("%v changes of leader, want one away and one back", changes)
		}
		return nil
	})
}

// TestTrial_Slow: each event takes a slow process its time.
func TestTrial_Slow(t *testing.T) {
	p := failing(t, "mutex/central", 3, harness.Scenario{Plot: &harness.Sequential{
		Requests: 4, Requesters: "in-turn",
	}}, harness.Event{Do: harness.DoSlow, Node: 1, Args: fault.SlowBy(ms(20))})
	p.Scenario.Set("hold", link.Constant(ms(1)))
	m := newMachine(t, 3)
	want, got := inBothWorlds(t, m, p, func(_ trace.List, v check.Verdict) error {
		if waiting := metric(t, v, "waiting_ms"); waiting < 20 || waiting > 40 {
			return fmt.Errorf("waiting %.2f ms", waiting)
		}
		return nil
	})
	if err := same(want, got); err != nil {
		t.Error(err)
	}
}

// TestTrial_LoseOnce: the second token is lost, whoever sends it, and nothing else.
func TestTrial_LoseOnce(t *testing.T) {
	p := failing(t, "mutex/suzuki-kasami", 4, harness.Scenario{Plot: &harness.Sequential{
		Requests: 6, Requesters: "in-turn",
	}}, harness.Event{Do: harness.DoDrop, Kind: "TOKEN", Count: 2})
	m := newMachine(t, 4)
	want, got := simulate(t, p), run(t, m, p)
	for world, list := range map[string]trace.List{"simulated": want.Trace, "on nodes": got.Trace} {
		sent, lost := 0, []int{}
		for _, r := range list {
			switch {
			case r.Type == trace.Send && r.Kind == 1:
				sent++
			case r.Type == trace.Lose:
				if lost = append(lost, sent); r.Arg != trace.Omitted || r.Kind != 1 {
					t.Errorf("%s: lost %+v", world, r)
				}
			}
		}
		if !slices.Equal(lost, []int{2}) {
			t.Errorf("%s: lost after so many tokens sent: %v, want the second", world, lost)
		}
	}
	if err := same(want, got); err != nil {
		t.Error(err)
	}
	if got.Completed != 2 || got.Status != trace.TimedOut || got.End.Skipped != 0 {
		t.Errorf("%d entries, %s, %d skipped: the token was not needed?", got.Completed, got.Status,
			got.End.Skipped)
	}
	p.Faults.Events[0].Count = 100
	for world, skipped := range map[string]int{
		"simulated": simulate(t, p).End.Skipped, "on nodes": run(t, m, p).End.Skipped,
	} {
		if skipped != 1 {
			t.Errorf("%s: %d faults skipped, want the one that never came to be", world, skipped)
		}
	}
}

// TestTrial_Flaky: on chosen links, for a while, messages are lost and late as
// asked for, the same ones in both worlds; elsewhere none.
func TestTrial_Flaky(t *testing.T) {
	loss, latency := 0.5, link.Constant(ms(12))
	p := failing(t, "election/test-numbered", 3, harness.Scenario{Plot: &harness.ColdStart{}},
		harness.Event{Do: harness.DoFlaky, Links: [][2]uint32{{1, 2}, {3, 1}}, Args: fault.Lossy(loss), Latency: &latency})
	p.Params = map[string]any{"messages": int64(300)}
	m := newMachine(t, 3)
	want, got := simulate(t, p), run(t, m, p)
	a, b := fates(t, want.Trace), fates(t, got.Trace)
	lost := map[string]int{}
	for k, f := range b {
		if f != a[k] {
			t.Fatalf("%+v: simulated %+v, on nodes %+v", k, a[k], f)
		}
		name := fmt.Sprintf("%d>%d", k.from, k.to)
		flaky := name == "1>2" || name == "3>1"
		if flaky != (f.takes == ms(12)) || !flaky && f.what != trace.Deliver {
			t.Fatalf("%s: %+v", name, f)
		}
		if f.what == trace.Lose {
			lost[name]++
		}
	}
	for name, n := range lost {
		if lo, hi := stats.BinomialInterval(n, 300, 0.999); lo > loss || hi < loss {
			t.Errorf("%s: %d of 300 lost: %v is not in [%.3f, %.3f]", name, n, loss, lo, hi)
		}
	}
	if len(lost) != 2 || len(a) != len(b) {
		t.Errorf("lost on %v, %d fates simulated, %d on nodes", lost, len(a), len(b))
	}
}

// TestTrial_OneWay: a mute process hears the others, who do not hear it.
func TestTrial_OneWay(t *testing.T) {
	p := failing(t, "election/test-numbered", 3, harness.Scenario{Plot: &harness.ColdStart{}},
		harness.Event{Do: harness.DoCut, Shape: "mute", Node: 2})
	p.Params = map[string]any{"messages": int64(20)}
	m := newMachine(t, 3)
	want, got := simulate(t, p), run(t, m, p)
	for world, list := range map[string]trace.List{"simulated": want.Trace, "on nodes": got.Trace} {
		for k, f := range fates(t, list) {
			if (f.what == trace.Lose) != (k.from == 2) {
				t.Fatalf("%s: %+v: %v", world, k, f.what)
			}
		}
	}
}

// TestTrial_CrashAfterElected: an event that waits for an election strikes whoever
// was elected, so long after it.
func TestTrial_CrashAfterElected(t *testing.T) {
	p := failing(t, "election/bully", 4, harness.Scenario{Plot: &harness.LeaderCrash{Settle: ms(30)}},
		harness.Event{On: "elected", Wait: ms(40), Do: harness.DoCrash, Who: "leader"})
	m := newMachine(t, 4)
	inBothWorlds(t, m, p, func(list trace.List, v check.Verdict) error {
		var crashes []algo.ID
		var took time.Duration
		for _, r := range list {
			switch {
			case r.Type == trace.Crash:
				if crashes = append(crashes, algo.ID(r.Process)); len(crashes) == 2 {
					took += r.At
				}
			case r.Type == trace.Elected && r.Process == r.Peer && r.Process == 3:
				took = -r.At
			}
		}
		if !slices.Equal(crashes, []algo.ID{4, 3}) || took < ms(40) || took > ms(60) {
			return fmt.Errorf("crashed %v, the second %v after its election", crashes, took)
		}
		if v.Status != trace.OK || len(v.Operations) != 2 {
			return fmt.Errorf("%s: %s; %d elections", v.Status, v.Reason, len(v.Operations))
		}
		return nil
	})
}

// TestTrial_Churn: processes crash and return as planned, on nodes at the same
// instants as simulated.
func TestTrial_Churn(t *testing.T) {
	t.Parallel()
	p := failing(t, "election/bully", 5, harness.Scenario{Plot: &harness.Churn{Duration: ms(3000)}})
	p.Faults = harness.Faults{CrashRate: 0.3, Downtime: link.Uniform(ms(50), ms(200)), MaxDown: 2}
	// A busy machine may take a third of a second to start a process. With this seed no crash finds one that is
	// so late.
	const tolerance = 350
	p.Leader, p.Seed = 5, 42
	m := newMachine(t, 5)
	count := func(list trace.List, k trace.Type) (at []time.Duration) {
		for _, r := range list {
			if r.Type == k && (k != trace.Up || r.Incarnation > 0) {
				at = append(at, r.At)
			}
		}
		return at
	}
	want := simulate(t, p)
	inBothWorlds(t, m, p, func(list trace.List, v check.Verdict) error {
		for _, k := range []trace.Type{trace.Crash, trace.Up} {
			a, b := count(want.Trace, k), count(list, k)
			if len(a) < 3 || len(a) != len(b) {
				return fmt.Errorf("%v: simulated at %v, now at %v", k, a, b)
			}
			for i := range a {
				if late := b[i] - a[i]; late < 0 || late > ms(tolerance) {
					return fmt.Errorf("%v %d: simulated at %v, now at %v", k, i+1, a[i], b[i])
				}
			}
		}
		if available := metric(t, v, "availability"); available >= 1 {
			return fmt.Errorf("availability %v", available)
		}
		return nil
	})
}

// TestTrial_Elections: the leader crashes again and again, each time after the one
// before is back.
func TestTrial_Elections(t *testing.T) {
	p := failing(t, "election/bully", 4, harness.Scenario{Plot: &harness.LeaderCrash{
		Settle: ms(20), Elections: 4,
	}})
	m := newMachine(t, 4)
	want, got := simulate(t, p), run(t, m, p)
	for world, o := range map[string]check.Verdict{"simulated": want.Verdict, "on nodes": got.Verdict} {
		if o.Status != trace.OK || o.Completed < 4 {
			t.Errorf("%s: %s: %s; %d elections", world, o.Status, o.Reason, o.Completed)
		}
	}
}

// TestTrial_EndsQuiet: a trial ends with the last event of its algorithm. What the failure detector does until the
// nodes are stopped is no part of it.
func TestTrial_EndsQuiet(t *testing.T) {
	p := failing(t, "election/bully", 4, harness.Scenario{Plot: &harness.LeaderCrash{Settle: ms(50), Elections: 1}})
	p.Detector = harness.HeartbeatDetector(ms(2), ms(40))
	o := run(t, newMachine(t, 4), p) // which looks at the last record
	if o.Totals.Detector == 0 || o.Status != trace.OK {
		t.Errorf("%d heartbeats, %s: %s", o.Totals.Detector, o.Status, o.Reason)
	}
}

// TestTrial_MutexUnderFire: processes crash while they want the critical section;
// the load goes on with those that live, and ends.
func TestTrial_MutexUnderFire(t *testing.T) {
	t.Parallel()
	p := failing(t, "mutex/naimi-trehel-ft", 5, harness.Scenario{Plot: &harness.Closed{
		Duration: ms(1000), Think: link.Constant(ms(20)),
	}}, harness.Event{At: ms(300), Do: harness.DoCrash, Who: "token-holder", For: ms(300)})
	p.Detector = harness.PerfectDetector(ms(20))
	m := newMachine(t, 5)
	want, got := simulate(t, p), run(t, m, p)
	for world, o := range map[string]check.Verdict{"simulated": want.Verdict, "on nodes": got.Verdict} {
		if o.Completed < 20 {
			t.Errorf("%s: %s: %s; %d entries", world, o.Status, o.Reason, o.Completed)
		}
	}
	t.Logf("simulated %s (%s) %d, on nodes %s (%s) %d", want.Status, want.Reason, want.Completed, got.Status,
		got.Reason, got.Completed)
}
