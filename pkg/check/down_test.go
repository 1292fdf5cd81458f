package check_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// lapse is a crash at that instant, of one process or of whomever a word stands for, with a return.
func lapse(at, lasts time.Duration, p algo.ID, who string) harness.Event {
	return harness.Event{At: at, Do: harness.DoCrash, Node: p, Who: who, For: lasts}
}

// TestDownAtOnce: a plan is beyond the model if more processes are down at once than the algorithm
// survives, however they go down, and not if they go down one after the other.
func TestDownAtOnce(t *testing.T) {
	t.Parallel()
	on := func(e harness.Event, trigger string, times int) harness.Event {
		e.On, e.Times = trigger, times
		return e
	}
	every := func(e harness.Event, gap time.Duration, times int) harness.Event {
		e.Every, e.Times = gap, times
		return e
	}
	after := func(e harness.Event) harness.Event { e.After = "quiet"; return e }
	rate := func(most int) func(*harness.Plan) {
		return func(p *harness.Plan) {
			p.Faults = harness.Faults{CrashRate: 1, MaxDown: most, Downtime: link.Constant(20 * ms)}
		}
	}
	type events = []harness.Event
	for name, test := range map[string]struct {
		id     string
		nodes  int
		events events
		change func(*harness.Plan)
		want   string // "": within the model
	}{
		"rolling": {"raft", 4, events{lapse(20*ms, 10*ms, 2, ""), lapse(50*ms, 10*ms, 3, "")}, nil, ""},
		"all in turn": {"raft", 3, events{lapse(0, 10*ms, 1, ""), lapse(20*ms, 10*ms, 2, ""),
			lapse(40*ms, 10*ms, 3, "")}, nil, ""},
		"one returns as the next crashes": {"raft", 3, events{lapse(0, 10*ms, 2, ""),
			lapse(10*ms, 10*ms, 1, "")}, nil, ""},
		"they overlap": {"raft", 4, events{lapse(20*ms, 31*ms, 2, ""), lapse(50*ms, 10*ms, 3, "")}, nil,
			"survives 1 of 4 processes crashed, not 2"},
		"the first stays away": {"raft", 4, events{lapse(20*ms, 0, 2, ""), lapse(50*ms, 10*ms, 3, "")}, nil,
			"not 2"},
		"restarted by hand": {"raft", 4, events{lapse(20*ms, 0, 2, ""), algotest.Restart(30*ms, 2),
			lapse(50*ms, 10*ms, 3, "")}, nil, ""},
		"all restarted by hand": {"raft", 4, events{lapse(20*ms, 0, 0, "random"),
			{At: 30 * ms, Do: harness.DoRestart}, lapse(50*ms, 10*ms, 3, "")}, nil, ""},
		"another is restarted": {"raft", 4, events{lapse(20*ms, 0, 2, ""), algotest.Restart(30*ms, 1),
			lapse(50*ms, 10*ms, 3, "")}, nil, "not 2"},
		"a restart is no resume": {"raft", 4, events{{Do: harness.DoPause, Node: 1},
			algotest.Restart(30*ms, 1), lapse(50*ms, 10*ms, 3, "")}, nil, "not 2"},
		"chosen in turn": {"raft", 3, events{lapse(0, 10*ms, 0, "random"), lapse(20*ms, 10*ms, 0, "leader")},
			nil, ""},
		"chosen at once": {"raft", 3, events{lapse(0, 30*ms, 0, "random"), lapse(20*ms, 10*ms, 0, "leader")},
			nil, "not 2"},
		"in step": {"raft", 3, events{every(lapse(100*ms, 10*ms, 1, ""), 100*ms, 0),
			every(lapse(150*ms, 10*ms, 2, ""), 100*ms, 0)}, nil, ""},
		"out of step": {"raft", 3, events{every(lapse(100*ms, 10*ms, 1, ""), 100*ms, 0),
			every(lapse(110*ms, 10*ms, 2, ""), 99*ms, 0)}, nil, "not 2"},
		"again before it is over": {"raft", 4, events{every(lapse(100*ms, 25*ms, 0, "random"), 10*ms, 9)},
			nil, "not 3"},
		"whenever one is elected": {"raft", 3, events{on(lapse(0, 10*ms, 0, "leader"), "elected", 5)}, nil, ""},
		"whenever, for good":      {"raft", 5, events{on(lapse(0, 0, 0, "leader"), "elected", 3)}, nil, "not 3"},
		"some time":               {"raft", 3, events{on(lapse(0, 10*ms, 1, ""), "elected", 0), lapse(ms, ms, 2, "")}, nil, "not 2"},
		"line after line": {"raft", 3, events{after(algotest.Crash(0, 1)), after(algotest.Restart(0, 1)),
			after(algotest.Crash(0, 2))}, nil, ""},
		"lines that overlap": {"raft", 3, events{after(lapse(0, ms, 1, "")), after(lapse(0, ms, 2, ""))},
			nil, "not 2"},
		"down at the start": {"raft", 3, events{lapse(ms, ms, 1, "")}, func(p *harness.Plan) {
			p.Crashed = []algo.ID{2}
		}, "not 2"},
		"back from the start": {"raft", 3, events{algotest.Restart(ms, 2), lapse(2*ms, ms, 1, "")},
			func(p *harness.Plan) { p.Crashed = []algo.ID{2} }, ""},
		"a rate":             {"raft", 5, nil, rate(2), ""},
		"too high a rate":    {"raft", 5, nil, rate(3), "survives 2 of 5 processes crashed, not 3"},
		"a rate and a line":  {"raft", 5, events{lapse(ms, ms, 1, "")}, rate(2), "not 3"},
		"a rate, unsaved":    {"viewstamped-replication", 5, nil, rate(2), "not 3"},
		"a low rate":         {"viewstamped-replication", 5, nil, rate(1), ""},
		"rolling, unsaved":   {"viewstamped-replication", 5, events{lapse(0, ms, 1, ""), lapse(20*ms, ms, 2, ""), lapse(40*ms, ms, 3, "")}, nil, ""},
		"without recovery":   {"ring-list", 3, events{lapse(0, ms, 1, ""), lapse(20*ms, ms, 2, ""), lapse(40*ms, ms, 3, "")}, nil, "survives 2 of 3 processes crashed, not 3"},
		"of hosts, in turn":  {"raft", 5, events{{Do: harness.DoCrash, Nodes: []algo.ID{1, 2}, For: ms}, {At: 2 * ms, Do: harness.DoCrash, Nodes: []algo.ID{3, 4}, For: ms}}, nil, ""},
		"of hosts, too many": {"raft", 5, events{{Do: harness.DoCrash, Nodes: []algo.ID{1, 2, 3}, For: ms}}, nil, "not 3"},
	} {
		p, err := algotest.Plan("election/"+test.id, test.nodes, harness.Scenario{Plot: &harness.Script{
			Events: test.events, Until: time.Second}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if test.change != nil {
			test.change(&p)
		}
		why, _ := p.Beyond()
		got := ""
		for _, sentence := range why {
			if strings.Contains(sentence, "processes crashed") {
				got = sentence
			}
		}
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestRecoveringCountsAsDown: who has come back to viewstamped replication counts as down until it
// knows the view, which the records show. Two of five may be down, so that a third crash right
// after two returns is beyond the model, and one that comes when both know the view is not.
func TestRecoveringCountsAsDown(t *testing.T) {
	t.Parallel()
	for id, tests := range map[string]map[time.Duration]string{
		"election/viewstamped-replication": {
			time.Millisecond:      "survives 2 of 5 processes down or recovering at once, not 3 as at 71ms",
			20 * time.Millisecond: "",
		},
		"election/raft": {time.Millisecond: ""}, // has all that it needs on its disk
	} {
		for gap, want := range tests {
			p := algotest.MustPlan(t, id, 5, harness.Scenario{Plot: &harness.Script{Until: time.Second,
				Events: []harness.Event{lapse(50*ms, 20*ms, 1, ""), lapse(50*ms, 20*ms, 2, ""),
					lapse(70*ms+gap, 20*ms, 3, "")}}}, nil)
			p.Leader = 5
			if why, _ := p.Beyond(); why != nil {
				t.Errorf("%s, %v: beyond its model by its plan: %q", id, gap, why)
			}
			o := algotest.MustSimulate(t, p)
			if o.Beyond != want || o.Within(&p) != (want == "") {
				t.Errorf("%s, %v: %q, want %q", id, gap, o.Beyond, want)
			}
			if out := o.Outside(&p); (len(out) > 0) != (want != "") {
				t.Errorf("%s, %v: outside for %q", id, gap, out)
			}
		}
	}
}

// TestBrokenBeforehand: a promise that is broken before too many are down is broken within the model,
// and one that is broken later is not. Both fall at one instant: the crash comes first.
func TestBrokenBeforehand(t *testing.T) {
	t.Parallel()
	crash := func(at time.Duration, p uint32) trace.Record {
		return trace.Record{Type: trace.Crash, At: at, Process: p}
	}
	lead := func(at time.Duration, p uint32) trace.Record {
		return trace.Record{Type: trace.Elected, At: at, Process: p, Peer: p, Arg: 7}
	}
	for name, test := range map[string]struct {
		records []trace.Record
		beyond  bool
	}{
		"before":     {[]trace.Record{lead(ms, 1), lead(2*ms, 2), crash(3*ms, 3), crash(4*ms, 1)}, false},
		"after":      {[]trace.Record{crash(ms, 3), crash(2*ms, 4), lead(3*ms, 1), lead(4*ms, 2)}, true},
		"the same":   {[]trace.Record{crash(ms, 3), lead(ms, 1), crash(2*ms, 4), lead(2*ms, 2)}, true},
		"not at all": {[]trace.Record{crash(ms, 3), lead(ms, 1), lead(2*ms, 2)}, false},
	} {
		plan := algotest.MustPlan(t, "election/raft", 4, harness.Scenario{Plot: &harness.Script{}}, nil)
		setup, err := plan.Setup()
		if err != nil {
			t.Fatal(err)
		}
		setup.Virtual = true
		j := check.NewJudge(setup)
		for i := range test.records {
			j.Record(&test.records[i])
		}
		v := j.Finish(harness.End{At: 5 * ms, Reason: harness.Finished})
		if len(v.Violations) != 1 || !strings.HasPrefix(v.Violations[0], "leadership: ") ||
			(v.Beyond != "") != test.beyond {
			t.Errorf("%s: %q, beyond the model for %q", name, v.Violations, v.Beyond)
		}
	}
}
