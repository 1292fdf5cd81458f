package harness

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestByRole: what happens to a leader happens to the process that leads at that instant, and
// waits while nobody does. Process 3 of three leads at first, by agreement; the leader settles
// for 10 ms.
func TestByRole(t *testing.T) {
	t.Parallel()
	none := func(at time.Duration, p uint32) trace.Record { return elected(at, p, 0) }
	strike := func(at time.Duration, want ...string) step { return step{strike: true, at: at, want: want} }
	told := func(r trace.Record, want ...string) step { return step{record: r, want: want} }
	crash, restart := Scenario{Plot: &LeaderCrash{Settle: 10 * ms}}, Scenario{Plot: &LeaderRestart{Settle: 10 * ms}}
	churn := func(e Event) (Scenario, func(*Plan)) {
		return Scenario{Plot: &Churn{Duration: time.Hour}},
			func(p *Plan) { p.Leader, p.Faults.Events = 3, []Event{e} }
	}
	leader := func(p *Plan) { p.Leader = 3 }
	at := func(at time.Duration, what trace.Type, p uint32) trace.Record {
		return trace.Record{At: at, Type: what, Process: p}
	}
	pause, pausing := churn(Event{At: 15 * ms, Every: 20 * ms, Do: DoPause, Who: "leader"})
	cut, cutting := churn(Event{At: 15 * ms, Do: DoCut, Shape: "isolate"})
	trigger, triggered := churn(Event{On: "elected", Do: DoCrash, Who: "leader"})
	for name, test := range map[string]struct {
		scenario Scenario
		change   func(*Plan)
		steps    []step
		want     Toll
		skipped  int
	}{
		"the leader of the start": {crash, leader, []step{strike(15*ms, "15ms crash 3")}, Toll{1, 1, 0, 1, 1}, 0},
		"the leader of then": {crash, leader, []step{
			told(elected(2*ms, 1, 2)), told(elected(2*ms, 2, 2)), told(elected(3*ms, 3, 2)),
			strike(15*ms, "15ms crash 2")}, Toll{1, 1, 0, 1, 1}, 0},
		"it has not settled": {crash, leader, []step{
			told(elected(6*ms, 1, 2)), told(elected(6*ms, 2, 2)), told(elected(6*ms, 3, 2)),
			strike(15*ms, "15ms crash 2")}, Toll{1, 1, 0, 1, 0}, 0},
		"it was gone for no time": {crash, leader, []step{
			told(none(6*ms, 1)), told(elected(6*ms, 1, 3)), strike(15*ms, "15ms crash 3")},
			Toll{1, 1, 0, 1, 1}, 0},
		"it was gone for some": {crash, leader, []step{
			told(none(6*ms, 1)), told(elected(7*ms, 1, 3)), strike(15*ms, "15ms crash 3")},
			Toll{1, 1, 0, 1, 0}, 0},
		"nobody leads": {crash, leader, []step{told(none(6*ms, 1)), strike(15 * ms)},
			Toll{Due: 1}, 1},
		"until one does": {crash, leader, []step{
			told(none(6*ms, 1)), strike(15 * ms), told(elected(19*ms, 1, 2)), told(elected(20*ms, 3, 2)),
			told(elected(21*ms, 2, 2), "21ms strike"), told(at(21*ms, trace.Pause, 1)),
			strike(21*ms, "21ms crash 2")}, Toll{1, 1, 6 * ms, 1, 0}, 0},
		"it is gone again before the strike": {crash, leader, []step{
			told(none(6*ms, 1)), strike(15 * ms), told(elected(19*ms, 1, 3), "19ms strike"),
			told(none(19*ms, 1)), strike(19 * ms), told(elected(22*ms, 1, 3), "22ms strike"),
			strike(22*ms, "22ms crash 3")}, Toll{1, 1, 7 * ms, 1, 0}, 0},
		"a return": {restart, func(p *Plan) { p.Leader, p.Crashed = 2, []algo.ID{3} }, []step{
			told(none(6*ms, 1)), strike(15 * ms), told(elected(18*ms, 1, 2), "18ms strike"),
			strike(18*ms, "18ms restart 3")}, Toll{1, 1, 3 * ms, 1, 0}, 0},
		"again and again from then on": {pause, pausing, []step{
			told(none(6*ms, 1)), strike(15 * ms), told(elected(19*ms, 1, 3), "19ms strike"),
			strike(19*ms, "19ms pause 3", "39ms strike")}, Toll{Due: 1, Struck: 1, Waited: 4 * ms}, 0},
		"a cut around the leader": {cut, cutting, []step{
			told(none(6*ms, 1)), strike(15 * ms), told(elected(19*ms, 1, 3), "19ms strike"),
			strike(19*ms, "19ms cut")}, Toll{Due: 1, Struck: 1, Waited: 4 * ms}, 0},
		"a leader that is cut off leads no more": {pause, pausing, []step{
			told(trace.Record{At: 5 * ms, Type: trace.Cut, Text: "3"}), strike(15 * ms),
			told(trace.Record{At: 17 * ms, Type: trace.Heal}, "17ms strike"),
			strike(17*ms, "17ms pause 3", "37ms strike")}, Toll{Due: 1, Struck: 1, Waited: 2 * ms}, 0},
		"on a trigger the one that claims to lead": {trigger, triggered, []step{
			told(elected(6*ms, 1, 1), "6ms crash 1")}, Toll{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustSetup(t, "election/test-puppet", 3, test.scenario, test.change)
			d := NewCoordinator(s)
			d.Timeline()
			for i, one := range test.steps {
				if one.want == nil {
					one.want = []string{}
				}
				one.play(t, d, i)
			}
			if got := d.Toll(); got != test.want {
				t.Errorf("toll %+v, want %+v", got, test.want)
			}
			if got := d.Skipped(time.Hour); got != test.skipped {
				t.Errorf("%d skipped, want %d", got, test.skipped)
			}
		})
	}
}

// TestByRole_Definitions: who leads depends on what the Spec calls an outage.
func TestByRole_Definitions(t *testing.T) {
	t.Parallel()
	links := Links{Nodes: 5}
	up, paused := []bool{true, true, true, true, true}, make([]bool, 5)
	l := NewLeadership(5, up, paused, &links)
	check := func(what string, agreed, led, served algo.ID) {
		t.Helper()
		for service, want := range map[algo.Service]algo.ID{
			algo.Agreed: agreed, algo.Led: led, algo.Served: served} {
			if got := l.By(service, 0); got != want {
				t.Errorf("%s: by %v p%d leads, want p%d", what, service, got, want)
			}
		}
	}
	check("all name 5", 5, 5, 5)
	l.Name(1, 2)
	check("1 names 2", 0, 5, 5)
	l.Name(2, 1)
	l.Name(3, 2)
	check("5 leads a minority that reaches all", 0, 0, 5)
	links.Record(&trace.Record{Type: trace.Cut, Text: "5 4"})
	l.Regroup(0)
	check("and is cut off with it", 0, 0, 0)
	for _, p := range []algo.ID{1, 2, 3} {
		l.Name(p, 2)
	}
	check("2 leads the majority, and 5 the rest", 2, 2, 2)
	paused[1] = true
	l.Regroup(0)
	check("2 is paused", 0, 0, 0)
	paused[1], up[0] = false, false
	l.Regroup(0)
	check("1 is down", 2, 0, 0)
}

// TestByLeader: which events wait for a leader.
func TestByLeader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		event Event
		want  bool
	}{
		"a process":             {Event{Do: DoCrash, Node: 2}, false},
		"one at random":         {Event{Do: DoCrash, Who: "random"}, false},
		"the leader":            {Event{Do: DoCrash, Who: "leader"}, true},
		"the one behind it":     {Event{Do: DoPause, Who: "successor-of-leader"}, true},
		"halves":                {Event{Do: DoCut, Shape: "halves"}, false},
		"around the leader":     {Event{Do: DoCut, Shape: "isolate"}, true},
		"around another":        {Event{Do: DoCut, Shape: "isolate", Node: 1}, false},
		"with the leader":       {Event{Do: DoCut, Shape: "minority"}, true},
		"on a trigger":          {Event{On: "elected", Do: DoCrash, Who: "leader"}, false},
		"of a scenario, a rule": {Event{Do: fault.Restart, Led: true}, true},
	} {
		if got := test.event.ByLeader(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
