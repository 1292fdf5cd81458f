package stableleader_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/stableleader"
)

const id = "election/stable-leader"

type params = map[string]any

const ms = time.Millisecond

// unit is the reference's: an OK in every unit, a time-out of three.
func unit() params { return params{"ok_period": ms, "timeout": 3 * ms} }

func simulate(t *testing.T, n int, given params, s harness.Scenario,
	leader algo.ID) algotest.Outcome {
	t.Helper()
	p := algotest.MustPlan(t, id, n, s, given)
	p.Leader, p.TimeLimit = leader, time.Minute
	o := algotest.MustSimulate(t, p)
	if o.Status != trace.OK {
		t.Errorf("n = %d: %s: %s", n, o.Status, o.Reason)
	}
	return o
}

// sent counts the messages of a kind that were sent in (from, to].
func sent(o algotest.Outcome, kind int, from, to time.Duration) (count int) {
	for _, r := range o.Trace {
		if r.Type == trace.Send && int(r.Kind) == kind && r.At > from && r.At <= to {
			count++
		}
	}
	return count
}

const (
	ok = iota
	start
	stop
)

func script(until time.Duration, events ...harness.Event) harness.Scenario {
	return harness.Scenario{Plot: &harness.Script{Until: until, Events: events}}
}

// TestConformance is the kit with fewer schedules: TestSchedules has a thousand of
// its own.
func TestConformance(t *testing.T) {
	t.Parallel()
	if err := algotest.Verify(id, algotest.Options{Schedules: int(algotest.Schedules() / 5)}); err != nil {
		t.Error(err)
	}
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestBoot is STABLE-01 and STABLE-03: N-1 START, then N-1 OK in each period and
// nothing else.
func TestBoot(t *testing.T) {
	for n := 2; n <= 9; n++ {
		o := simulate(t, n, unit(), script(121*ms), algo.None)
		if got := sent(o, ok, 20*ms, 120*ms); got != 100*(n-1) {
			t.Errorf("n = %d: %d OK in 100 periods, want %d", n, got, 100*(n-1))
		}
		got := [2]int{sent(o, start, -1, 121*ms), sent(o, stop, -1, 121*ms)}
		if got != [2]int{n - 1, 0} {
			t.Errorf("n = %d: %d START and STOP, want %d and 0", n, got, n-1)
		}
		if op := o.Operations[0]; op.Process != 1 || op.End != 2*ms {
			t.Errorf("n = %d: %+v, want process 1 from its second OK on, at 2 ms", n, op)
		}
	}
}

// TestFailover is STABLE-02, at other sizes and with several dead leaders in a
// row as well: N-1 STOP, which are lost, and N-2 START for each, but one less
// START for each that is dead already.
func TestFailover(t *testing.T) {
	for n := 3; n <= 9; n++ {
		for dead := 1; dead < n-1; dead++ {
			var events []harness.Event
			for p := range dead {
				crash := harness.Event{At: 121 * ms, Do: "crash", Node: algo.ID(p + 1)}
				events = append(events, crash)
			}
			until := 150*ms + time.Duration(dead)*10*ms
			o := simulate(t, n, unit(), script(until, events...), algo.None)
			live := n - dead
			stops, starts := live*dead, live*dead-1
			got := [2]int{sent(o, stop, 120*ms, time.Hour), sent(o, start, 120*ms, time.Hour)}
			if got != [2]int{stops, starts} {
				t.Errorf("n = %d, %d dead: %d STOP, START, want %d, %d", n, dead, got, stops, starts)
			}
			// The last OK comes at 121 ms. Each dead leader costs a time-out, the new one two OK.
			at := 121*ms + time.Duration(dead)*3*ms + 2*ms
			op := o.Operations[1]
			if op.Process != uint32(dead+1) || op.End != at {
				t.Errorf("n = %d, %d dead: %+v, want process %d at %v", n, dead, op, dead+1, at)
			}
		}
	}
}

// TestClaim is 4N-5 as results report it: messages from the crash to agreement.
func TestClaim(t *testing.T) {
	for n := 3; n <= 9; n++ {
		crash := harness.Scenario{Plot: &harness.LeaderCrash{Settle: 50 * ms}}
		o := simulate(t, n, nil, crash, algo.ID(n))
		for _, m := range o.Metrics {
			if m.Name == "messages_per_election" && m.Value != float64(4*n-5) {
				t.Errorf("n = %d: %v messages, want %d", n, m.Value, 4*n-5)
			}
		}
	}
}

// TestStable: a leader that says OK stays, whoever crashes, comes back, or would
// have led an earlier round.
func TestStable(t *testing.T) {
	s := script(2*time.Second,
		harness.Event{At: 100 * ms, Do: "crash", Node: 1},
		harness.Event{At: 300 * ms, Do: "restart", Node: 1},
		harness.Event{At: 500 * ms, Do: "crash", Node: 5},
		harness.Event{At: 501 * ms, Do: "restart", Node: 5},
		harness.Event{At: 700 * ms, Do: "suspect", Node: 4},
		harness.Event{At: 700 * ms, Do: "elect", Node: 3})
	o := simulate(t, 5, nil, s, 3)
	for _, r := range o.Trace {
		if r.Type == trace.Elected && r.Peer != 3 && r.Process != 1 && r.Process != 5 {
			t.Errorf("p%d names %d at %v", r.Process, r.Peer, r.At)
		}
	}
	// Of 1 to 3; of 5 to 1, which led round 0, and to 3.
	if got := sent(o, start, -1, time.Hour); got != 3 {
		t.Errorf("%d START, want 3", got)
	}
}

// TestColdStart ends in agreement at every size.
func TestColdStart(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for _, v := range []string{"stable", "basic", "lossy"} {
			cold := harness.Scenario{Plot: &harness.ColdStart{}}
			simulate(t, n, params{"variant": v}, cold, algo.None)
		}
	}
}

// TestSchedules: once faults stop, all name one leader, and keep it, with the variants of the
// paper that the kit's schedules do not have.
func TestSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		if seed%2 == 0 {
			return params{"variant": "basic"}
		}
		return params{"variant": "lossy", "timeout": 10 * 60 * ms} // ten OK may be lost
	}, func(p *harness.Plan) {
		if p.Params["variant"] == "lossy" {
			p.Network.Loss = 0.05
			return
		}
		d, _ := p.Network.Latency.Bound()
		p.Network.Latency, p.Network.Unordered = link.Constant(d), false
	})
}

// rule is process 3 of four, settled on process 2: in round 1.
func rule(t *testing.T, variant string) *algotest.Transcript {
	r := algotest.NewTranscript(t, id, 4, algo.Config{ID: 3, Leader: 2}, params{"variant": variant})
	r.Starts("silence+")
	return r
}

// TestRules is one rule after the other.
func TestRules(t *testing.T) {
	r := rule(t, "stable")
	r.Hears(2, stableleader.OK{K: 1}, "silence+")
	for _, m := range []algo.Message{ // rule 7
		stableleader.OK{K: 0}, stableleader.Start{K: 0}, stableleader.Stop{K: 0},
		stableleader.Start{K: 1},
	} {
		r.Hears(1, m, "")
	}
	// Rules 4 and 1: a higher round, led by 4. Its leader is trusted after two OK.
	r.Hears(1, stableleader.OK{K: 3}, "period- leader=0/0 START{3}>4 silence+")
	r.Hears(4, stableleader.OK{K: 3}, "silence+")
	r.Elects("")
	r.Hears(2, stableleader.OK{K: 1}, "") // late, of one that was given up
	r.Hears(4, stableleader.OK{K: 3}, "leader=4/3 silence+")
	r.Hears(4, stableleader.OK{K: 3}, "silence+")
	// Rule 5.
	r.Expires("silence", "STOP{3}>4 period- leader=0/0 START{4}>1 silence+")
	// Rules 6, 1 and 2: the round after the one to stop is led by 2, a later one by us.
	r.Hears(2, stableleader.Stop{K: 4}, "period- leader=0/0 START{5}>2 silence+")
	r.Hears(2, stableleader.Stop{K: 8}, "period- leader=0/0 START{9}>2 silence+")
	lead := "silence+ OK{14}>1 OK{14}>2 OK{14}>4 period+ silence+"
	r.Hears(1, stableleader.Start{K: 14}, "period- leader=0/0 "+lead)
	r.Expires("period", "OK{14}>1 OK{14}>2 OK{14}>4 period+ leader=3/14 silence+")
	r.Elects("")
	r.Hears(4, stableleader.Stop{K: 14}, "period- leader=0/0 START{15}>4 silence+")
}

// TestVariants: what basic and lossy do otherwise. In basic a late OK of round 2,
// which all have left but this process, is enough to change whom it names.
func TestVariants(t *testing.T) {
	b := rule(t, "basic")
	b.Hears(4, stableleader.OK{K: 3}, "period- leader=0/0 START{3}>4 silence+ leader=4/3")
	b.Expires("silence", "period- leader=0/0 START{4}>1 silence+ leader=1/4")

	l := rule(t, "lossy")
	l.Elects("period- leader=0/0 START{2}>1 START{2}>2 START{2}>4 silence+ " +
		"OK{2}>1 OK{2}>2 OK{2}>4 period+ silence+")
	l.Hears(2, stableleader.OK{K: 1}, "START{2}>2")
	l.Hears(2, stableleader.Start{K: 1}, "")
}

// TestTiming: the paper wants a time-out of more than 2δ.
func TestTiming(t *testing.T) {
	alg := algotest.Lookup(t, id)
	for given, want := range map[time.Duration]bool{40 * ms: false, 40*ms + 1: true} {
		net := algo.Network{Nodes: 3, Latency: 20 * ms, Bounded: true}
		p, _ := alg.Spec.Resolve(params{"ok_period": ms, "timeout": given}, net)
		if err := alg.Spec.Needs.Params(net, p); (err == nil) != want {
			t.Errorf("timeout %v: %v", given, fmt.Sprint(err))
		}
	}
}
