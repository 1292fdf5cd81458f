package harness

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// told is instructions as text: "5ms crash 3".
func told(list []Instruction) []string {
	out := []string{}
	for _, i := range list {
		text := fmt.Sprintf("%v %s", i.At, i.Do)
		if i.Node != 0 {
			text += fmt.Sprintf(" %d", i.Node)
		}
		if i.Of != 0 {
			text += fmt.Sprintf(" of %d", i.Of)
		}
		out = append(out, text)
	}
	return out
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id   string
		sc   Scenario
		want []string
	}{
		"cold start, all": {"election/test-puppet", Scenario{Plot: &ColdStart{}},
			[]string{"0s elect 1", "0s elect 2", "0s elect 3", "0s elect 4", "0s elect 5"}},
		"cold start, as many as there are": {"election/test-puppet",
			Scenario{Plot: &ColdStart{Initiators: 5}},
			[]string{"0s elect 1", "0s elect 2", "0s elect 3", "0s elect 4", "0s elect 5"}},
		"burst, all": {"mutex/test-lock", Scenario{Plot: &Burst{}},
			[]string{"0s request 1", "0s request 2", "0s request 3", "0s request 4", "0s request 5"}},
		"sequential waits for quiet": {"mutex/test-lock", Scenario{Plot: &Sequential{Requests: 3}}, nil},
		"sequential without quiet": {"mutex/test-spinning",
			Scenario{Plot: &Sequential{Requests: 3, Requesters: "in-turn"}}, []string{"0s request 1"}},
		"closed plans itself": {"mutex/test-lock", Scenario{Plot: &Closed{Requests: 3}}, nil},
		"open plans itself":   {"mutex/test-lock", Scenario{Plot: &Open{Requests: 3, Rate: 1}}, nil},
		"script, by instant, then as written": {"election/test-puppet",
			Scenario{Plot: &Script{Until: 9 * ms, Events: []Event{
				{At: 5 * ms, Do: DoCrash, Node: 3}, {Do: DoSuspect, Node: 1, Of: 2},
				{After: "quiet", Do: DoElect, Node: 4}, {At: 5 * ms, Do: DoRestart, Node: 2},
				{Do: "invite", Node: 1, Target: 5}}}},
			[]string{"0s suspect 1 of 2", "0s invite 1 of 5", "5ms crash 3", "5ms restart 2", "9ms finish"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, test.id, 5, test.sc, nil))
			same(t, "timeline", told(d.Timeline()), test.want)
		})
	}
}

func TestInitiators(t *testing.T) {
	t.Parallel()
	chosen := map[string]int{}
	for seed := range uint64(200) {
		choose := func(id string, plot Plot) []string {
			s := mustSetup(t, id, 5, Scenario{Plot: plot}, func(p *Plan) { p.Seed = seed })
			return told(NewCoordinator(s).Timeline())
		}
		one, two := choose("election/test-puppet", &ColdStart{Initiators: 2}), choose("election/test-restless", &ColdStart{Initiators: 2})
		same(t, "the same for all algorithms", one, two)
		if len(one) != 2 || one[0] >= one[1] {
			t.Fatalf("seed %d: %q, want two different ones, ascending", seed, one)
		}
		for _, i := range one {
			chosen[i]++
		}
	}
	for p := 1; p <= 5; p++ {
		if n := chosen[fmt.Sprintf("0s elect %d", p)]; n < 50 || n > 110 {
			t.Errorf("process %d initiates %d of 200 trials, want about 80", p, n)
		}
	}
}

// TestLeaderCrashPhase: the crash falls anywhere from settle to twice settle.
func TestLeaderCrashPhase(t *testing.T) {
	t.Parallel()
	var least, most time.Duration = time.Hour, 0
	for seed := range uint64(200) {
		s := mustSetup(t, "election/test-puppet", 5, Scenario{Plot: &LeaderCrash{Settle: 100 * ms}},
			func(p *Plan) { p.Seed, p.Leader = seed, 4 })
		d := NewCoordinator(s)
		list := d.Timeline()
		if len(list) != 1 || !list[0].Strike() {
			t.Fatalf("timeline %q, want one strike", told(list))
		}
		if crash := d.Strike(list[0].At, list[0]); len(crash) != 1 || crash[0].Do != DoCrash || crash[0].Node != 4 {
			t.Fatalf("%q, want the crash of 4", told(crash))
		}
		least, most = min(least, list[0].At), max(most, list[0].At)
	}
	if least < 100*ms || least > 105*ms || most < 195*ms || most >= 200*ms {
		t.Errorf("crashes from %v to %v, want all over 100ms to 200ms", least, most)
	}
}

// TestLeaderCrash_Cold: where nobody leads at the start, the crash comes after the first leader has settled, and
// the election of that one does not end the trial.
func TestLeaderCrash_Cold(t *testing.T) {
	t.Parallel()
	s := mustSetup(t, "election/test-restless", 3, Scenario{Plot: &LeaderCrash{Settle: 100 * ms}},
		func(p *Plan) { p.Leader = algo.None })
	d := NewCoordinator(s)
	if list := d.Timeline(); len(list) != 0 {
		t.Fatalf("timeline %q, want nothing: nobody leads", told(list))
	}
	const agreed = 700 * ms
	var out []Instruction
	for p := uint32(1); p <= 3; p++ {
		out = slices.Clone(d.Observe(&trace.Record{At: agreed, Type: trace.Elected, Process: p, Peer: 2, Arg: 1}))
		if p < 3 && len(out) > 0 {
			t.Fatalf("%q, and p3 names nobody yet", told(out))
		}
	}
	i := slices.IndexFunc(out, func(i Instruction) bool { return i.Strike() && i.Fault > 0 })
	if i < 0 || out[i].At < agreed+100*ms || out[i].At >= agreed+200*ms ||
		slices.ContainsFunc(out, func(i Instruction) bool { return i.Finish() }) {
		t.Fatalf("%q, want a strike from %v to %v", told(out), agreed+100*ms, agreed+200*ms)
	}
	if crash := d.Strike(out[i].At, out[i]); len(crash) == 0 || crash[0].Do != DoCrash || crash[0].Node != 2 {
		t.Errorf("%q, want the crash of 2", told(crash))
	}
	if toll := d.Toll(); toll.Drawn != 1 || toll.Settled != 1 {
		t.Errorf("%+v: the leader had settled", toll)
	}
}

func TestRequesters(t *testing.T) {
	t.Parallel()
	issue := func(id, requesters string, down algo.ID) (out []algo.ID) {
		d := NewCoordinator(mustSetup(t, id, 4,
			Scenario{Plot: &Sequential{Requests: 400, Requesters: requesters}}, nil))
		if down != 0 {
			d.Observe(&trace.Record{Type: trace.Crash, Process: uint32(down)})
		}
		for activity := uint64(0); ; activity++ {
			list := d.Quiet(0, activity, true)
			if len(list) != 1 {
				t.Fatalf("told %q, want one instruction", told(list))
			}
			if list[0].Finish() {
				return out
			}
			out = append(out, list[0].Node)
		}
	}
	one, two := issue("mutex/test-lock", "uniform", 0), issue("mutex/test-spinning", "uniform", 0)
	if !slices.Equal(one, two) {
		t.Error("two algorithms meet different requesters")
	}
	counts := make([]int, 5)
	for _, p := range one {
		counts[p]++
	}
	for p := 1; p <= 4; p++ {
		if counts[p] < 60 || counts[p] > 140 {
			t.Errorf("process %d asks %d of 400 times, want about 100", p, counts[p])
		}
	}
	if turn := issue("mutex/test-lock", "in-turn", 0); !slices.Equal(turn[:6],
		[]algo.ID{1, 2, 3, 4, 1, 2}) {
		t.Errorf("in turn: %v", turn[:6])
	}
	if slices.Contains(issue("mutex/test-lock", "uniform", 2), 2) {
		t.Error("a crashed process is asked to request")
	}
}

// A step is what a coordinator is told, and what it answers.
type step struct {
	record   trace.Record
	done     algo.ID
	quiet    bool
	strike   bool // of the first event
	at       time.Duration
	activity uint64
	idle     bool
	want     []string
}

func elected(at time.Duration, p, leader uint32) trace.Record {
	return trace.Record{Type: trace.Elected, At: at, Process: p, Peer: leader}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	finish := []string{"0s finish"}
	crash3 := trace.Record{Type: trace.Crash, Process: 3}
	released := func(at time.Duration) trace.Record {
		return trace.Record{Type: trace.Released, Process: 1, At: at}
	}
	crashed := func(p uint32) trace.Record { return trace.Record{Type: trace.Crash, Process: p} }
	back := func(p uint32) trace.Record {
		return trace.Record{Type: trace.Up, Process: p, Incarnation: 1}
	}
	beats := func(p *Plan) {
		p.Detector = HeartbeatDetector(10*ms, 20*ms)
	}
	for name, test := range map[string]struct {
		id     string
		sc     Scenario
		change func(*Plan)
		steps  []step
		stuck  bool
	}{
		"all agree": {"election/test-puppet", Scenario{Plot: &ColdStart{}}, nil, []step{
			{record: elected(0, 1, 3)}, {record: elected(0, 2, 3)}, {record: elected(0, 3, 3)},
			{quiet: true, idle: true, want: finish},
		}, false},
		"they never agree": {"election/test-puppet", Scenario{Plot: &ColdStart{}}, nil, []step{
			{record: elected(0, 1, 3)}, {record: elected(0, 2, 3)},
			{quiet: true, want: nil}, {quiet: true, idle: true, want: finish},
		}, true},
		"the first names nobody": {"election/test-restless", Scenario{Plot: &ColdStart{}}, nil, []step{
			{record: elected(0, 2, 3)}, {record: elected(0, 3, 3), want: nil},
			{record: elected(0, 1, 3), want: finish},
		}, false},
		"one restless: at agreement": {"election/test-restless", Scenario{Plot: &ColdStart{}}, nil, []step{
			{record: elected(0, 1, 3)}, {record: elected(0, 2, 3)},
			{record: elected(0, 3, 3), want: finish}, {record: elected(0, 3, 3), want: nil},
		}, false},
		"a leader that does not exist is none": {"election/test-restless", Scenario{Plot: &ColdStart{}}, nil,
			[]step{
				{record: elected(0, 1, 9)}, {record: elected(0, 2, 9)}, {record: elected(0, 3, 9)},
				{quiet: true, idle: true, want: finish},
			}, true},
		"leader crash: not before the crash, and a live leader": {"election/test-puppet",
			Scenario{Plot: &LeaderCrash{Settle: ms}}, func(p *Plan) { p.Leader = 3 }, []step{
				{quiet: true, want: nil}, {strike: true, want: []string{"0s crash 3"}}, {record: crash3},
				{quiet: true, want: nil}, {record: elected(0, 1, 2)}, {quiet: true, want: nil},
				{record: elected(0, 2, 2)}, {quiet: true, want: finish},
			}, false},
		"whoever comes back knows no leader": {"election/test-puppet",
			Scenario{Plot: &LeaderCrash{Settle: ms}}, func(p *Plan) { p.Leader = 3 }, []step{
				{strike: true, want: []string{"0s crash 3"}}, {record: crash3},
				{record: elected(0, 1, 2)}, {record: elected(0, 2, 2)},
				{record: trace.Record{Type: trace.Up, Process: 3, Incarnation: 1}},
				{quiet: true, want: nil}, {record: elected(0, 3, 2)}, {quiet: true, want: finish},
			}, false},
		"a heartbeat detector is given time": {"election/test-puppet", Scenario{Plot: &ColdStart{}}, beats,
			[]step{
				{quiet: true, at: 5 * ms, activity: 7, want: []string{"87ms alarm"}},
				{quiet: true, at: 50 * ms, activity: 7, want: nil},
				{quiet: true, at: 60 * ms, activity: 8, want: []string{"142ms alarm"}},
				{quiet: true, at: 142 * ms, activity: 8, want: finish},
			}, true},
		"burst: at quiet": {"mutex/test-lock", Scenario{Plot: &Burst{}}, nil,
			[]step{{quiet: true, idle: true, want: finish}}, false},
		"burst, restless: at the last release": {"mutex/test-spinning",
			Scenario{Plot: &Burst{Initiators: 2}},
			nil, []step{{record: released(0)}, {record: released(0), want: finish}}, false},
		"sequential, restless: release by release": {"mutex/test-spinning",
			Scenario{Plot: &Sequential{Requests: 2, Requesters: "in-turn"}}, nil, []step{
				{record: released(3 * ms), want: []string{"3ms request 2"}},
				{record: released(9 * ms), want: finish},
			}, false},
		"closed: all done, then quiet": {"mutex/test-lock", Scenario{Plot: &Closed{Requests: 3}}, nil,
			[]step{
				{done: 1}, {done: 2}, {quiet: true, want: nil}, {done: 3}, {quiet: true, want: finish},
			}, false},
		"closed: one crashes, the others are done": {"mutex/test-lock",
			Scenario{Plot: &Closed{Requests: 3}}, nil, []step{
				{done: 1}, {record: crashed(2)}, {quiet: true, want: nil}, {done: 3},
				{quiet: true, want: finish},
			}, false},
		"closed: it comes back, and asks again": {"mutex/test-lock",
			Scenario{Plot: &Closed{Requests: 3}}, nil, []step{
				{record: crashed(2)}, {done: 1}, {record: back(2)}, {done: 3}, {quiet: true, want: nil},
				{done: 2}, {quiet: true, want: finish},
			}, false},
		"closed, restless: all done": {"mutex/test-spinning", Scenario{Plot: &Closed{Requests: 3}}, nil,
			[]step{{done: 1}, {done: 2}, {done: 3, want: finish}}, false},
		"closed, restless: the last that is not done crashes": {"mutex/test-spinning",
			Scenario{Plot: &Closed{Requests: 3}}, nil,
			[]step{{done: 1}, {done: 2}, {record: crashed(3), want: finish}}, false},
		"open: nobody is done, and nothing moves": {"mutex/test-lock",
			Scenario{Plot: &Open{Requests: 3, Rate: 1}}, nil,
			[]step{{quiet: true, want: nil}, {quiet: true, idle: true, want: finish}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, test.id, 3, test.sc, test.change))
			d.Timeline()
			for i, s := range test.steps {
				s.play(t, d, i)
			}
			if d.Stuck() != test.stuck {
				t.Errorf("stuck: %t, want %t", d.Stuck(), test.stuck)
			}
		})
	}
}

func (s step) play(t *testing.T, d *Coordinator, i int) {
	t.Helper()
	var got []Instruction
	switch {
	case s.done != algo.None:
		got = d.Done(s.done)
	case s.strike:
		got = d.Strike(s.at, Instruction{At: s.at, Do: fault.Strike, Fault: 1})
	case s.quiet:
		got = d.Quiet(s.at, s.activity, s.idle)
	default:
		got = d.Observe(&s.record)
	}
	same(t, fmt.Sprintf("step %d", i+1), told(got), s.want)
}

func TestScriptLines(t *testing.T) {
	t.Parallel()
	finish := []string{"0s finish"}
	release := func(at time.Duration) trace.Record {
		return trace.Record{Type: trace.Released, Process: 1, At: at}
	}
	req := func(after string, node algo.ID) Event {
		return Event{After: after, Do: DoRequest, Node: node}
	}
	for name, test := range map[string]struct {
		id     string
		script Script
		change func(*Plan)
		steps  []step
		stuck  bool
	}{
		"one line at each quiet": {"mutex/test-lock",
			Script{Events: []Event{req("quiet", 1), req("quiet", 2)}}, nil, []step{
				{quiet: true, at: 0, idle: true, want: []string{"0s request 1"}},
				{quiet: true, at: 5 * ms, idle: true, want: []string{"5ms request 2"}},
				{quiet: true, at: 9 * ms, idle: true, want: finish},
			}, false},
		"one line at each release": {"mutex/test-lock",
			Script{Events: []Event{{Do: DoRequest, Node: 1}, req("release", 2), req("release", 3)}}, nil,
			[]step{
				{record: release(2 * ms), want: []string{"2ms request 2"}},
				{record: release(7 * ms), want: []string{"7ms request 3"}},
				{record: release(9 * ms), want: nil},
				{quiet: true, at: 9 * ms, idle: true, want: finish},
			}, false},
		"in the order written": {"mutex/test-lock",
			Script{Events: []Event{req("quiet", 1), req("release", 2)}}, nil, []step{
				{record: release(ms), want: nil},
				{quiet: true, at: 2 * ms, idle: true, want: []string{"2ms request 1"}},
				{quiet: true, at: 3 * ms, idle: false, want: nil},
				{record: release(4 * ms), want: []string{"4ms request 2"}},
			}, false},
		"a release that never comes": {"mutex/test-lock",
			Script{Events: []Event{req("release", 1)}}, nil,
			[]step{{quiet: true, idle: true, want: finish}}, true},
		"quiet of the lines before, with an instant to come": {"mutex/test-lock",
			Script{Events: []Event{{At: 50 * ms, Do: DoRequest, Node: 1}, req("quiet", 2)}}, nil, []step{
				{quiet: true, at: 5 * ms, want: []string{"50ms alarm"}},
				{quiet: true, at: 55 * ms, idle: true, want: []string{"55ms request 2"}},
			}, false},
		"a release before an earlier line does not count": {"mutex/test-lock",
			Script{Events: []Event{{Do: DoRequest, Node: 1}, {At: 50 * ms, Do: DoRequest, Node: 1},
				req("release", 2)}}, nil,
			[]step{{record: release(5 * ms), want: nil},
				{record: release(55 * ms), want: []string{"55ms request 2"}}}, false},
		"quiet between two instants does not end it": {"mutex/test-lock",
			Script{Events: []Event{{Do: DoRequest, Node: 1}, {At: 50 * ms, Do: DoRequest, Node: 1}}}, nil,
			[]step{{quiet: true, at: 5 * ms, want: []string{"50ms alarm"}},
				{quiet: true, at: 55 * ms, idle: true, want: finish}}, false},
		"until: quiet does not end it": {"mutex/test-lock",
			Script{Until: time.Second, Events: []Event{{Do: DoRequest, Node: 1}}}, nil,
			[]step{{quiet: true, at: 5 * ms, want: nil}}, false},
		"a detector that will speak is waited for": {"election/test-puppet",
			Script{Events: []Event{{Do: DoCrash, Node: 3}}}, perfect(10 * ms), []step{
				{quiet: true, at: 0, activity: 1, want: []string{"42ms alarm"}},
				{quiet: true, at: 30 * ms, activity: 2, idle: true, want: finish},
			}, false},
		"a heartbeat detector never rests": {"election/test-puppet",
			Script{Events: []Event{{Do: DoCrash, Node: 3}}}, heartbeat(10*ms, 20*ms), []step{
				{quiet: true, at: 0, activity: 1, want: []string{"82ms alarm"}},
				{quiet: true, at: 82 * ms, activity: 1, want: finish},
			}, false},
		"restless: when all lines are told": {"election/test-restless",
			Script{Events: []Event{{At: 5 * ms, Do: DoElect, Node: 3}}}, nil, []step{
				{record: elected(ms, 1, 3)}, {record: elected(ms, 2, 3)}, {record: elected(ms, 3, 3)},
				{record: elected(6*ms, 3, 3), want: finish},
			}, false},
		"restless, until: not at agreement": {"election/test-restless",
			Script{Until: time.Second, Events: []Event{{Do: DoElect, Node: 3}}}, nil, []step{
				{record: elected(ms, 1, 3)}, {record: elected(ms, 2, 3)}, {record: elected(ms, 3, 3)},
			}, false},
		"restless: at the last release": {"mutex/test-spinning",
			Script{Events: []Event{{Do: DoRequest, Node: 1}, {Do: DoRequest, Node: 2}}}, nil,
			[]step{{record: release(ms)}, {record: release(5 * ms), want: finish}}, false},
		"restless, and rests: not at its end": {"mutex/test-spinning",
			Script{Events: []Event{{Do: DoRequest, Node: 1}}}, nil,
			[]step{{quiet: true, at: ms, idle: true, want: finish}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, test.id, 3, Scenario{Plot: &test.script}, test.change))
			d.Timeline()
			for i, s := range test.steps {
				s.play(t, d, i)
			}
			if d.Stuck() != test.stuck {
				t.Errorf("stuck: %t, want %t", d.Stuck(), test.stuck)
			}
		})
	}
}

// TestBehindTheLastLine: what a restless algorithm is to come to may be there when the
// last line of a script is told. The coordinator looks right behind it.
func TestBehindTheLastLine(t *testing.T) {
	t.Parallel()
	agreed := []trace.Record{elected(ms, 1, 3), elected(ms, 2, 3), elected(ms, 3, 3)}
	released := []trace.Record{{Type: trace.Released, Process: 1, At: ms}}
	for name, test := range map[string]struct {
		id      string
		do      string
		records []trace.Record
		writes  time.Duration
		want    []string
	}{
		"a leader":    {"election/test-restless", DoElect, agreed, 0, []string{"0s finish"}},
		"no write":    {"election/test-restless", DoElect, agreed, ms, nil},
		"none":        {"election/test-restless", DoElect, agreed[:2], 0, nil},
		"an entry":    {"mutex/test-spinning", DoRequest, released, 0, []string{"0s finish"}},
		"one to come": {"mutex/test-spinning", DoRequest, nil, 0, nil},
	} {
		d := NewCoordinator(mustSetup(t, test.id, 3, Scenario{Plot: &Script{Events: []Event{
			{Do: test.do, Node: 1}, {At: 5 * ms, Do: DoHeal},
		}}}, func(p *Plan) { p.WritesEvery = test.writes }))
		timeline := d.Timeline()
		last := timeline[len(timeline)-1]
		if !last.Strike() || last.At != 5*ms+1 {
			t.Errorf("%s: the last of %v is not to look right behind the heal", name, told(timeline))
		}
		for _, r := range test.records {
			same(t, name+": before", told(d.Observe(&r)), nil)
		}
		same(t, name, told(d.Strike(last.At, last)), test.want)
	}
}

// TestWatches: the coordinator is told of what it needs and nothing else, since
// each such record costs a real node a message to the runner.
func TestWatches(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id   string
		sc   Scenario
		want []trace.Type // besides those that change who is there
	}{
		"election": {"election/test-puppet", Scenario{Plot: &ColdStart{}}, []trace.Type{trace.Elected}},
		"mutex":    {"mutex/test-lock", Scenario{Plot: &Closed{}}, nil},
		"script":   {"mutex/test-lock", Scenario{Plot: &Script{}}, nil},
		"script that waits for a release": {"mutex/test-lock",
			Scenario{Plot: &Script{Events: []Event{{After: "release", Do: DoRequest, Node: 1}}}},
			[]trace.Type{trace.Released}},
		"restless":         {"mutex/test-spinning", Scenario{Plot: &Burst{}}, []trace.Type{trace.Released}},
		"restless, closed": {"mutex/test-spinning", Scenario{Plot: &Closed{}}, nil},
		"who is inside": {"mutex/test-lock",
			Scenario{Plot: &Script{Events: []Event{{Do: DoCrash, Who: "in-critical-section"}}}},
			[]trace.Type{trace.Granted, trace.Released}},
		"a message": {"mutex/test-lock",
			Scenario{Plot: &Script{Events: []Event{{On: "sent", Kind: "NOTE", Do: DoHeal}}}},
			[]trace.Type{trace.Send}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, test.id, 3, test.sc, nil))
			var got []trace.Type
			for k := trace.Up; k <= trace.Done; k++ {
				if d.Watches(k) {
					got = append(got, k)
				}
			}
			want := append([]trace.Type{trace.Up, trace.Crash, trace.Heal, trace.Pause, trace.Resume},
				test.want...)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("watches %v, want %v", got, want)
			}
		})
	}
}

// TestAgreement_Written: with writes of clients a scenario ends with the first that is acknowledged and that began when
// all agreed, and not before.
func TestAgreement_Written(t *testing.T) {
	t.Parallel()
	written := func(at, began time.Duration) trace.Record {
		return trace.Record{At: at, Type: trace.Written, Process: 1, Peer: 3, Arg: uint64(began)}
	}
	agreed := []trace.Record{elected(ms, 1, 3), elected(ms, 2, 3), elected(5*ms, 3, 3)}
	for name, test := range map[string]struct {
		every   time.Duration
		records []trace.Record
		want    []string
	}{
		"none asked for":                  {0, agreed, []string{"0s finish"}},
		"none yet":                        {ms, agreed, nil},
		"one that began before":           {ms, append(slices.Clone(agreed), written(6*ms, 4*ms)), nil},
		"one that began then":             {ms, append(slices.Clone(agreed), written(6*ms, 5*ms)), []string{"0s finish"}},
		"one while they do not all agree": {ms, append(slices.Clone(agreed[:2]), written(6*ms, 5*ms)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, "election/test-restless", 3, Scenario{Plot: &ColdStart{}},
				func(p *Plan) { p.WritesEvery = test.every }))
			d.Timeline()
			var out []string
			for i := range test.records {
				out = append(out, told(d.Observe(&test.records[i]))...)
			}
			same(t, "instructions", out, test.want)
		})
	}
}
