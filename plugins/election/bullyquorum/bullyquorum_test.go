package bullyquorum_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bullyquorum"
)

const (
	id = "election/bully-quorum"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// named is whom each process named last.
func named(list trace.List) map[uint32]uint32 {
	out := map[uint32]uint32{}
	for _, r := range list {
		if r.Type == trace.Elected {
			out[r.Process] = r.Peer
		}
	}
	return out
}

var event = algotest.At

func cut(at time.Duration, groups ...[]uint32) harness.Event {
	return harness.Event{At: at, Do: harness.DoCut, Groups: groups}
}

func heal(at time.Duration) harness.Event { return harness.Event{At: at, Do: harness.DoHeal} }

// run is a script in the unit-delay model with T = 2d and leader 1.
func run(t *testing.T, n int, change func(*harness.Plan), given map[string]any,
	events ...harness.Event) algotest.Outcome {
	t.Helper()
	params := algotest.With(map[string]any{"t_answer": 2 * ms}, given)
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, params)
	p.Leader, p.TimeLimit = 1, time.Minute
	if change != nil {
		change(&p)
	}
	return algotest.MustSimulate(t, p)
}

func kinds(o algotest.Outcome) map[string]int64 {
	out := map[string]int64{}
	for _, k := range o.Kinds {
		if k.Sent > 0 {
			out[k.Name] = k.Sent
		}
	}
	return out
}

func detect(p *harness.Plan) { p.Detector = harness.PerfectDetector(5 * ms) }

// TestCounts: all m = N-1 others notice the crash at once.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 9; n++ {
		for _, claims := range []bool{false, true} {
			var events []harness.Event
			for p := 2; p <= n; p++ {
				events = append(events, event(0, harness.DoSuspect, algo.ID(p)))
			}
			o := run(t, n, func(p *harness.Plan) { p.Crashed = []algo.ID{1} },
				map[string]any{"claim_phase": claims}, events...)
			m := int64(n - 1)
			want, at := m*m+m*(m-1)+2*(m-1), 4*ms
			if claims {
				want, at = want+2*(m-1), 6*ms
			}
			op := o.Operations[0]
			if o.Status != trace.OK || op.Process != 2 || o.Totals.Sent != want || op.End != at {
				t.Errorf("n = %d, claims %t: %s %s, leader %d at %v, %d sent %v; want 2 at %v, %d",
					n, claims, o.Status, o.Reason, op.Process, op.End, o.Totals.Sent, kinds(o), at, want)
			}
		}
	}
}

// TestSplit is the worked example: A to E are 1 to 5 and quorum is 3. At no
// instant do two processes lead, and after the heal all follow the new leader.
func TestSplit(t *testing.T) {
	t.Parallel()
	split := func(p *harness.Plan) { p.Scenario.Set("until", 400*ms) }
	for _, claims := range []bool{false, true} {
		o := run(t, 5, split, map[string]any{"claim_phase": claims},
			cut(0, []uint32{1, 2}, []uint32{3, 4, 5}),
			event(0, "abdicate", 1), event(0, harness.DoSuspect, 2), event(0, harness.DoSuspect, 3),
			event(0, harness.DoSuspect, 4), event(0, harness.DoSuspect, 5), heal(100*ms))
		if got := fmt.Sprint(named(o.Trace)); got != "map[1:3 2:3 3:3 4:3 5:3]" || o.Status != trace.OK {
			t.Errorf("claims %t: %s %s: %s", claims, o.Status, o.Reason, got)
		}
		leads := map[uint32]bool{}
		for _, r := range o.Trace {
			if r.Type == trace.Elected {
				if delete(leads, r.Process); r.Peer == r.Process {
					leads[r.Process] = true
				}
			}
			if len(leads) > 1 {
				t.Fatalf("claims %t: at %v both of %v lead", claims, r.At, leads)
			}
		}
	}
}

// TestNewestState: the newest version is the best, then the least ID.
func TestNewestState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		versions []any
		want     algo.ID
	}{
		"equal":     {[]any{int64(9), int64(4), int64(4), int64(4), int64(4)}, 2},
		"newest":    {[]any{int64(9), int64(4), int64(4), int64(5), int64(4)}, 4},
		"two of it": {[]any{int64(9), int64(4), int64(6), int64(5), int64(6)}, 3},
	} {
		o := run(t, 5, detect, map[string]any{"version": test.versions}, event(0, harness.DoCrash, 1))
		if got := algo.ID(o.Operations[0].Process); o.Status != trace.OK || got != test.want {
			t.Errorf("%s: %s %s: leader %d, want %d", name, o.Status, o.Reason, got, test.want)
		}
	}
}

// TestSettledTerm: what is settled at the start is term 1, and on stable
// storage: a majority that crashes and returns does not lead it again.
func TestSettledTerm(t *testing.T) {
	t.Parallel()
	o := run(t, 3, detect, nil, event(0, harness.DoCrash, 2), event(0, harness.DoCrash, 3),
		event(20*ms, harness.DoRestart, 2), event(20*ms, harness.DoRestart, 3))
	for _, r := range o.Trace {
		if r.Type == trace.Elected && r.Peer != 0 && r.Arg < 2 {
			t.Errorf("%d follows %d in term %d", r.Process, r.Peer, r.Arg)
		}
	}
	saved := 0
	for _, r := range o.Trace {
		if r.Type == trace.Save && r.At == 0 {
			saved++
		}
	}
	if o.Status != trace.OK || saved != 3 {
		t.Errorf("%s %s: %d have saved the settled term", o.Status, o.Reason, saved)
	}
}

// TestAbdicate: the followers of a leader that gives up probe as well, whether
// or not they suspect it, and a leader emerges with a newer term.
func TestAbdicate(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 6; n++ {
		o := run(t, n, nil, nil, event(0, "abdicate", 1), event(0, "abdicate", algo.ID(n)))
		if o.Status != trace.OK || o.Operations[0].Process != 1 {
			t.Errorf("n = %d: %s %s", n, o.Status, o.Reason)
		}
	}
}

// TestQuorumLost is rule 9: a leader that suspects so many that no quorum is
// left abdicates, one that suspects fewer does not; and without a quorum nobody
// is served, until one is back.
func TestQuorumLost(t *testing.T) {
	t.Parallel()
	o := run(t, 5, detect, nil, event(0, harness.DoCrash, 4), event(0, harness.DoCrash, 5))
	if o.Status != trace.Unknown || o.Totals.Sent != 0 {
		t.Errorf("two of five dead: %s %s, %d sent", o.Status, o.Reason, o.Totals.Sent)
	}
	down := []harness.Event{
		event(0, harness.DoCrash, 3), event(0, harness.DoCrash, 4), event(0, harness.DoCrash, 5),
	}
	o = run(t, 5, func(p *harness.Plan) { detect(p); p.Scenario.Set("until", 300*ms) }, nil, down...)
	if got := fmt.Sprint(named(o.Trace)); got != "map[1:0 2:0]" || kinds(o)["JOIN"] != 0 {
		t.Errorf("three of five dead: %s, %v", got, kinds(o))
	}
	o = run(t, 5, detect, nil, append(down, event(300*ms, harness.DoRestart, 4))...)
	if got := fmt.Sprint(named(o.Trace)); o.Status != trace.OK || got != "map[1:1 2:1 4:1]" {
		t.Errorf("one is back: %s %s: %s", o.Status, o.Reason, got)
	}
}

// TestLateComer finds the leader by probing and follows it: FOLLOW, ELECTED.
func TestLateComer(t *testing.T) {
	t.Parallel()
	o := run(t, 5, func(p *harness.Plan) { p.Crashed = []algo.ID{5} }, nil,
		event(0, harness.DoRestart, 5))
	if got := kinds(o); o.Status != trace.OK || got["FOLLOW"] != 1 || got["ELECTED"] != 1 ||
		got["JOIN"] != 0 || o.Operations[0].Process != 1 || o.Operations[0].End != 4*ms {
		t.Errorf("%s %s: %v %v", o.Status, o.Reason, got, o.Operations)
	}
}

// TestSuspicionDuringElection is pitfall P5.
func TestSuspicionDuringElection(t *testing.T) {
	t.Parallel()
	dead := func(p *harness.Plan) { p.Crashed = []algo.ID{1} }
	var events []harness.Event
	for p := algo.ID(2); p <= 5; p++ {
		events = append(events, event(0, harness.DoSuspect, p))
	}
	a := run(t, 5, dead, nil, events...)
	for at := ms / 2; at < 5*ms; at += ms {
		events = append(events, event(at, harness.DoSuspect, 3), event(at, harness.DoElect, 2))
	}
	b := run(t, 5, dead, nil, events...)
	if a.Totals != b.Totals || b.Status != trace.OK {
		t.Errorf("%+v, without the suspicions %+v", b.Totals, a.Totals)
	}
}

// TestPartialPartition is pitfall P19: one link is cut and everybody else is in
// reach of everybody. A leader emerges; who cannot reach it stays without one.
func TestPartialPartition(t *testing.T) {
	t.Parallel()
	o := run(t, 5, func(p *harness.Plan) {
		detect(p)
		p.Scenario.Set("until", time.Second)
	}, nil, cut(0, []uint32{1}, []uint32{2}),
		harness.Event{Do: harness.DoHeal, Groups: [][]uint32{{1, 2}}}, // all links but that of 1 and 2
		event(0, harness.DoCrash, 5), event(0, "abdicate", 1), event(0, harness.DoSuspect, 2))
	if got := fmt.Sprint(named(o.Trace)); got != "map[1:1 2:0 3:1 4:1]" {
		t.Errorf("%s", got)
	}
}

// TestSchedules: the kit's schedules, with time-outs that only just cover a round trip, so that
// much happens at once.
func TestSchedules(t *testing.T) {
	t.Parallel()
	algotest.RunSchedules(t, id, func(uint64) map[string]any {
		return map[string]any{"t_answer": 100 * ms, "backoff": 200 * ms}
	}, nil)
}

// TestSurvives: as many crashes as leave a quorum.
func TestSurvives(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	for quorum, want := range map[int64]int{0: 2, 3: 2, 4: 1, 5: 0, 6: 0} { // 0: the default
		given := map[string]any{"quorum": quorum}
		if quorum == 0 {
			given = nil
		}
		p, _ := alg.Spec.Resolve(given, algo.Network{Nodes: 5, Latency: ms, Bounded: true})
		if got := alg.Spec.Survives.CrashesOf(5, p); got != want {
			t.Errorf("quorum %d: survives %d crashes, want %d", quorum, got, want)
		}
	}
}
