package ringmax_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/ringmax"
)

const (
	id = "election/ring-max"
	ms = time.Millisecond
)

func suspect(at time.Duration, p algo.ID) harness.Event {
	return algotest.At(at, harness.DoSuspect, p)
}

var (
	crash   = algotest.Crash
	restart = algotest.Restart
)

// run is a script in the unit-delay model, with the highest of n as settled
// leader, and T = 2d unless given.
func run(t *testing.T, n int, change func(*harness.Plan), given map[string]any,
	events ...harness.Event) algotest.Outcome {
	t.Helper()
	params := algotest.With(map[string]any{"skip_timeout": 2 * ms}, given)
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, params)
	p.Leader = algo.ID(n)
	if change != nil {
		change(&p)
	}
	return algotest.MustSimulate(t, p)
}

// down has the processes crashed from the start.
func down(ids ...algo.ID) func(*harness.Plan) {
	return func(p *harness.Plan) { p.Crashed = ids }
}

func want(t *testing.T, o algotest.Outcome, leader algo.ID, sent, delivered int64) {
	t.Helper()
	last := o.Last()
	if o.Status != trace.OK || last != leader || o.Totals.Sent != sent ||
		o.Totals.Delivered != delivered {
		t.Errorf("%s %s: leader %d, sent %d, delivered %d; want %d, %d, %d", o.Status, o.Reason,
			last, o.Totals.Sent, o.Totals.Delivered, leader, sent, delivered)
	}
}

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestFigure is figure 10-5: 6 has crashed and 3 notices; the lost sends are
// those of 5 to 6, one in each lap unless 5 remembers.
func TestFigure(t *testing.T) {
	t.Parallel()
	o := run(t, 6, down(6), nil, suspect(0, 3))
	want(t, o, 5, 12, 10)
	if e, c := o.Kinds[0].Sent, o.Kinds[1].Sent; e != 6 || c != 6 {
		t.Errorf("ELECTION %d, COORDINATOR %d, want 6, 6", e, c)
	}
	o = run(t, 6, down(6), map[string]any{"remember_dead": true}, suspect(0, 3))
	want(t, o, 5, 11, 10)
}

// TestConstantSize: a message is as long after the last hop as after the first, and holds
// what the text says and the era: a byte each, behind two that every message has.
func TestConstantSize(t *testing.T) {
	t.Parallel()
	o := run(t, 9, nil, nil, suspect(0, 1))
	for _, r := range o.Trace {
		if r.Type == trace.Send && r.Plane == trace.Data && r.Bytes != []uint32{6, 5}[r.Kind] {
			t.Errorf("%s of %d bytes, want 6 of an ELECTION, 5 of a COORDINATOR",
				o.Kinds[r.Kind].Name, r.Bytes)
		}
	}
}

// TestCounts: n live processes and k simultaneous initiators deliver 2kn, and
// lose a send for each dead process in each lap.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 4; n <= 8; n++ {
		for _, dead := range []int{0, 1} {
			for k := 1; k <= n-dead; k++ {
				var events []harness.Event
				for p := range k {
					events = append(events, suspect(0, algo.ID(p+1)))
				}
				live := n - dead
				o := run(t, n, func(p *harness.Plan) {
					if dead > 0 {
						p.Crashed = []algo.ID{p.Leader}
					}
				}, nil, events...)
				t.Logf("n = %d, %d dead, %d initiators", n, dead, k)
				want(t, o, algo.ID(live), int64(2*k*(live+dead)), int64(2*k*live))
			}
		}
	}
}

// TestStaggered is pitfall P4: an initiator that starts before the lap of
// another has come by goes round itself; one that starts later does not.
func TestStaggered(t *testing.T) {
	t.Parallel()
	for at := time.Duration(0); at < 12*ms; at += ms / 2 {
		o := run(t, 6, down(6), nil, suspect(0, 1), suspect(at, 4))
		laps := int64(1)
		if at < 3*ms { // the ELECTION of 1 reaches 4 at 3
			laps = 2
		}
		if at >= 10*ms { // and the COORDINATOR of 1 at 10: a new election
			laps = 2
		}
		want(t, o, 5, laps*12, laps*10)
	}
}

// TestSuspicionDuringElection is pitfall P5.
func TestSuspicionDuringElection(t *testing.T) {
	t.Parallel()
	want(t, run(t, 6, nil, nil, suspect(0, 3), suspect(1*ms, 3), suspect(2*ms, 4)), 6, 12, 12)
}

// TestOrphan: the initiator dies while its message travels. Nobody else can close
// the lap: without a hop limit the message goes round for ever; with one, or
// with a time-out, the election ends.
func TestOrphan(t *testing.T) {
	t.Parallel()
	orphan := []harness.Event{suspect(0, 3), crash(2*ms, 3)}
	forever := func(p *harness.Plan) { p.Crashed = []algo.ID{6}; p.Scenario.Set("until", 3*time.Second) }
	literal := map[string]any{"hop_limit": int64(0), "lap_timeout": time.Duration(0)}
	o := run(t, 6, forever, literal, orphan...)
	if o.Status != trace.TimedOut || o.Totals.Sent < 2000 || o.End.At != 3*time.Second {
		t.Errorf("literal text: %s, %d sent: want a message that circulates for ever",
			o.Status, o.Totals.Sent)
	}
	for name, given := range map[string]map[string]any{
		"hop limit":   {"lap_timeout": time.Duration(0)},
		"lap timeout": {"hop_limit": int64(0)},
		"both":        nil,
	} {
		o := run(t, 6, down(6), given, orphan...)
		if o.Status != trace.OK || o.Last() != 5 {
			t.Errorf("%s: %s %s", name, o.Status, o.Reason)
		}
	}
}

// TestHopLimit: at 2N hops the holder starts afresh, at 2N - 1 it does not.
func TestHopLimit(t *testing.T) {
	t.Parallel()
	o := run(t, 4, nil, map[string]any{"lap_timeout": time.Duration(0)}, suspect(0, 1), crash(1*ms, 1))
	// 1 sends to 2, then 2-3-4-(1†)-2 costs three delivered hops a lap: the
	// eighth is made by 2; three lost sends to 1; then two laps of three, each
	// with one loss.
	want(t, o, 4, 8+3+2*(3+1)-1, 8+2*3)
}

// TestInitiatorDies is pitfall P13: the initiator crashes at every instant of
// both laps, alone and with its neighbor or the leader; it comes back or not.
func TestInitiatorDies(t *testing.T) {
	t.Parallel()
	detect := func(p *harness.Plan) { p.Detector = harness.PerfectDetector(5 * ms) }
	for at := ms; at < 24*ms; at += ms {
		for other := algo.ID(1); other <= 6; other++ {
			for _, gap := range []time.Duration{0, ms, 4 * ms} {
				events := []harness.Event{suspect(0, 3), crash(at, 3)}
				if other != 3 {
					events = append(events, crash(at+gap, other))
				}
				if gap > 0 {
					events = append(events, restart(at+gap+2*ms, 3))
				}
				o := run(t, 6, detect, nil, events...)
				if o.Status != trace.OK && o.Status != trace.Unknown { // nobody but 3 and 4 knew of it
					t.Errorf("3 at %v, %d %v later: %s %s", at, other, gap, o.Status, o.Reason)
				}
			}
		}
	}
}

// TestStaleEra: a restarted process does not take its old ELECTION for its own.
func TestStaleEra(t *testing.T) {
	t.Parallel()
	o := run(t, 4, nil, nil, suspect(0, 2), crash(1*ms, 2), restart(2*ms, 2))
	eras := 0
	for _, r := range o.Trace {
		if r.Type == trace.Save && r.Process == 2 {
			eras++
		}
	}
	if o.Status != trace.OK || eras < 2 {
		t.Errorf("%s %s: 2 took part in %d eras, want one in each life at least",
			o.Status, o.Reason, eras)
	}
}

// TestMissedByTheLap: one that comes back behind the lap is larger than the
// leader announced; it holds an election of its own and leads.
func TestMissedByTheLap(t *testing.T) {
	t.Parallel()
	for at := time.Duration(0); at < 40*ms; at += ms / 2 {
		for n := 3; n <= 6; n++ {
			o := run(t, n, down(algo.ID(n)), nil, suspect(0, 1), restart(at, algo.ID(n)))
			last := o.Last()
			if o.Status != trace.OK || last != algo.ID(n) {
				t.Errorf("n = %d, back at %v: %s %s, leader %d", n, at, o.Status, o.Reason, last)
			}
		}
	}
}

// TestOrderOfTheRing: IDs stand around the ring in any order.
func TestOrderOfTheRing(t *testing.T) {
	t.Parallel()
	shuffled := func(p *harness.Plan) { p.Shape.Order = []algo.ID{3, 5, 1, 4, 2} }
	o := run(t, 5, shuffled, nil, suspect(0, 4))
	want(t, o, 5, 10, 10)
	var path []uint32
	for _, r := range o.Trace {
		if r.Type == trace.Deliver && r.Plane == trace.Data {
			path = append(path, r.Process)
		}
	}
	if got := fmt.Sprint(path); got != "[2 3 5 1 4 2 3 5 1 4]" {
		t.Errorf("path %s", got)
	}
}

// TestAlone: with everybody else dead, and with nobody else.
func TestAlone(t *testing.T) {
	t.Parallel()
	want(t, run(t, 4, down(2, 3, 4), nil, suspect(0, 1)), 1, 6, 0)
	o := run(t, 1, func(p *harness.Plan) { p.Leader = algo.None }, nil,
		harness.Event{Do: harness.DoElect, Node: 1})
	want(t, o, 1, 0, 0)
	// The last survivor holds the message of a dead initiator.
	o = run(t, 3, nil, map[string]any{"hop_limit": int64(0)},
		suspect(0, 1), crash(1*ms, 1), crash(1*ms, 3))
	if o.Status != trace.OK || o.Last() != 2 {
		t.Errorf("last survivor: %s %s", o.Status, o.Reason)
	}
}

// TestTooShort is a negative control: a time-out below the round trip skips the
// living, and several processes lead.
func TestTooShort(t *testing.T) {
	t.Parallel()
	bad := 0
	for seed := range uint64(10) {
		o := run(t, 5, func(p *harness.Plan) {
			p.Seed, p.InModel = seed, false
			p.Scenario.Set("until", 50*ms)
			p.Network.Latency = link.Uniform(ms/100, ms)
		}, map[string]any{"skip_timeout": ms / 2}, suspect(0, 1))
		if o.Status != trace.OK {
			bad++
		}
	}
	if bad == 0 {
		t.Error("no run suffers from a time-out below the round trip")
	}
}

func TestTiming(t *testing.T) {
	t.Parallel()
	algotest.RunFits(t, id, map[string]map[string]any{
		"defaults":       nil,
		"skip of 2d":     {"skip_timeout": 2 * ms},
		"lap":            {"skip_timeout": 2 * ms, "lap_timeout": 30 * ms},
		"limit of a lap": {"hop_limit": int64(5)},
	}, map[string]map[string]any{
		"skip below 2d":     {"skip_timeout": 2*ms - 1},
		"lap below":         {"skip_timeout": 2 * ms, "lap_timeout": 30*ms - 1},
		"lap of 0":          {"lap_timeout": time.Duration(0)},
		"no limit":          {"hop_limit": int64(0)},
		"limit below a lap": {"hop_limit": int64(4)},
	})
}

// TestSchedules: random delays and overtaking, crashes and restarts at random
// instants: no promise is broken and every run comes to its end.
func TestSchedules(t *testing.T) {
	t.Parallel()
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return map[string]any{"remember_dead": seed%3 == 0}
	}, nil)
}
