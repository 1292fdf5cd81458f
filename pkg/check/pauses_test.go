package check

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestPauses: who is paused neither agrees nor disagrees, and leads nobody, until it
// goes on. Process 5 leads at first.
func TestPauses(t *testing.T) {
	t.Parallel()
	others := all(20, 4, 4, 3, 2, 1)
	for name, test := range map[string]struct {
		records []trace.Record
		want    []trace.Operation
		metrics map[string]float64
	}{
		"a follower": {join(at(10, trace.Pause, 1), at(30, trace.Resume, 1), at(40, trace.Crash, 5),
			all(50, 4, 1, 2, 3, 4)), []trace.Operation{op(4, 40*ms1, 40*ms1, 53*ms1, "ok")},
			map[string]float64{"availability": (40 + 47) / 100.0, "split_brain_ms": 0}},
		"the leader": {join(at(10, trace.Pause, 5), others, at(60, trace.Resume, 5),
			at(65, trace.Elected, 5, 4)), []trace.Operation{op(4, 10*ms1, 10*ms1, 23*ms1, "ok"),
			op(4, 60*ms1, 60*ms1, 65*ms1, "ok")},
			map[string]float64{"split_brain_ms": 5, "leader_changes": 1, "availability": (10 + 37 + 35) / 100.0}},
		"the leader, and nobody notices": {join(at(10, trace.Pause, 5), at(60, trace.Resume, 5),
			at(70, trace.Crash, 5)), []trace.Operation{op(0, 70*ms1, -1, -1, "pending")},
			map[string]float64{"availability": (10 + 10) / 100.0}},
		"one that missed the election": {join(at(10, trace.Pause, 1), at(15, trace.Crash, 5),
			all(20, 4, 4, 3, 2), at(40, trace.Resume, 1), at(45, trace.Elected, 1, 4)),
			[]trace.Operation{op(4, 15*ms1, 15*ms1, 22*ms1, "ok"),
				op(4, 40*ms1, 40*ms1, 45*ms1, "ok")}, nil},
		"its last word comes late": {join(at(15, trace.Crash, 5), at(20, trace.Elected, 4, 4),
			at(21, trace.Pause, 1), at(21.5, trace.Elected, 1, 1), all(22, 4, 3, 2),
			at(40, trace.Resume, 1), at(41, trace.Elected, 1, 4)),
			[]trace.Operation{op(4, 15*ms1, 15*ms1, 23*ms1, "ok"),
				op(4, 40*ms1, 40*ms1, 41*ms1, "ok")}, map[string]float64{"split_brain_ms": 1}},
		"and then it crashes": {join(at(10, trace.Pause, 5), at(12, trace.Crash, 5), others),
			[]trace.Operation{op(4, 10*ms1, 10*ms1, 23*ms1, "ok")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 5, change: led(5), records: test.records,
				end: harness.End{At: 100 * ms1}}.judge(t)
			hasOperations(t, v, test.want...)
			hasMetrics(t, v, test.metrics)
		})
	}
}

// TestPausedLeaders: two that never lead at once may do so while one is paused.
func TestPausedLeaders(t *testing.T) {
	t.Parallel()
	records := join(at(1, trace.Elected, 3, 3), at(5, trace.Pause, 3), at(9, trace.Elected, 2, 2))
	for name, test := range map[string]struct {
		then []trace.Record
		want []string
	}{
		"for good": {nil, nil},
		"crashes":  {join(at(12, trace.Crash, 3)), nil},
		"goes on":  {join(at(12, trace.Resume, 3)), []string{"leadership: p3 holds itself leader at 12ms, while another does"}},
		"says so once more": {join(at(10, trace.Elected, 1, 1), at(11, trace.Elected, 3, 0),
			at(12, trace.Elected, 3, 3)), []string{"leadership: p1 holds itself leader at 10ms, while another does"}},
		"goes on, the other gone": {join(at(11, trace.Crash, 2), at(12, trace.Resume, 3)), nil},
		"another goes on":         {join(at(10, trace.Pause, 1), at(11, trace.Resume, 1)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: "election/test-one", nodes: 3, records: join(records, test.then),
				end: harness.End{Reason: harness.TimeLimit, At: time.Second}}.judge(t)
			if !slices.Equal(v.Violations, test.want) {
				t.Errorf("violations %q, want %q", v.Violations, test.want)
			}
		})
	}
}

// TestDirectedCuts: those have to agree that reach each other, there and back.
func TestDirectedCuts(t *testing.T) {
	t.Parallel()
	lost := func(at time.Duration) []trace.Operation {
		return []trace.Operation{op(0, at, -1, -1, "pending")}
	}
	const lowToHigh = "1>3 1>4 1>5 2>3 2>4 2>5"
	for name, test := range map[string]struct {
		records []trace.Record
		want    []trace.Operation
	}{
		"one link in one direction": {join(cut(10, "5>1")), nil},
		"one link":                  {join(cut(10, "5>1 1>5")), nil},
		"the leader is mute":        {join(cut(10, "5>1 5>2 5>3 5>4")), lost(10 * ms1)},
		"the leader is deaf":        {join(cut(10, "1>5 2>5 3>5 4>5")), lost(10 * ms1)},
		"a follower is deaf":        {join(cut(10, "2>1 3>1 4>1 5>1")), nil},
		"halves, in one direction":  {join(cut(10, lowToHigh)), nil},
		"the other one leads":       {join(cut(10, "1>4 1>5 2>4 2>5 3>4 3>5")), lost(10 * ms1)},
		"by way of the bridge":      {join(cut(10, "1>4 1>5 2>4 2>5 4>1 5>1 4>2 5>2")), nil},
		"the bridge crashes": {join(cut(10, "1>4 1>5 2>4 2>5 4>1 5>1 4>2 5>2"), at(20, trace.Crash, 3)),
			lost(20 * ms1)},
		"the bridge is paused": {join(cut(10, "1>4 1>5 2>4 2>5 4>1 5>1 4>2 5>2"), at(20, trace.Pause, 3)),
			lost(20 * ms1)},
		"round in a circle": {join(cut(10, "1>3 1>4 1>5 2>1 2>4 2>5 3>1 3>2 3>5 4>1 4>2 4>3 5>2 5>3 5>4")),
			nil},
		"one of two directions healed": {join(cut(10, "1 2 3|4 5"), heal(20, "1>4 1>5 2>4")),
			lost(10 * ms1)},
		"mute once more": {join(cut(10, "1>5"), heal(20), cut(30, "5>1 5>2 5>3 5>4")), lost(30 * ms1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 5, change: led(5), records: test.records,
				end: harness.End{At: 100 * ms1, Reason: harness.TimeLimit}}.judge(t)
			hasOperations(t, v, test.want...)
		})
	}
}

// TestHeals: the time from the heal of the last link until all agree.
func TestHeals(t *testing.T) {
	t.Parallel()
	own := join(cut(10, "1 2|3 4 5"), all(20, 2, 1, 2)) // the minority elects
	for name, test := range map[string]struct {
		records []trace.Record
		want    float64
	}{
		"never cut":         {join(heal(20)), absent},
		"not healed":        {own, absent},
		"healed":            {join(own, heal(50), all(60, 5, 1, 2)), 11},
		"what comes later":  {join(own, heal(50), all(60, 5, 1, 2), at(80, trace.Elected, 1, 5), at(90, trace.Crash, 1)), 11},
		"nobody noticed":    {join(cut(10, "1|2 3 4 5"), heal(20)), 0},
		"nobody gives in":   {join(own, heal(50)), math.NaN()},
		"not all":           {join(own, heal(50, "1>3 3>1"), all(60, 5, 1, 2)), absent},
		"link by link":      {join(cut(10, "1>2 2>1"), heal(50, "1>2"), heal(60, "2>1")), 0},
		"said twice":        {join(own, heal(50), heal(55), all(60, 5, 1, 2)), 11},
		"cut again":         {join(own, heal(50), cut(55, "1|2"), heal(70), all(75, 5, 1, 2)), 6},
		"twice":             {join(own, heal(50), all(60, 5, 1, 2), own, heal(70), all(75, 5, 1, 2)), (11 + 6) / 2.0},
		"one died meantime": {join(own, heal(50), at(55, trace.Elected, 1, 5), at(58, trace.Crash, 2)), 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 5, change: led(5), records: test.records,
				end: harness.End{At: 100 * ms1}}.judge(t)
			hasMetrics(t, v, map[string]float64{"heal_ms": test.want})
		})
	}
}

// TestLeaderCrashes: of leader-crash only what a crash has caused is measured.
func TestLeaderCrashes(t *testing.T) {
	t.Parallel()
	first := join(at(10, trace.Crash, 3), flights(11, 3), at(20, trace.Elected, 1, 0), all(25, 2, 1, 2))
	back := join(back(40, 3), flights(41, 9), all(50, 3, 3, 2, 1))
	second := join(at(70, trace.Crash, 3), flights(71, 5), all(80, 2, 1, 2))
	for name, test := range map[string]struct {
		leader  algo.ID
		records []trace.Record
		want    []string
		status  trace.Status
		metrics map[string]float64
	}{
		"one": {3, first, []string{"ok"}, trace.OK, map[string]float64{"detection_ms": 10, "election_ms": 6,
			"downtime_ms": 16, "messages_per_election": 3}},
		"and its return": {3, join(first, back), []string{"ok", "restart"}, trace.OK, map[string]float64{
			"detection_ms": 10, "election_ms": 6, "downtime_ms": 16, "messages_per_election": 3}},
		"two": {3, join(first, back, second), []string{"ok", "restart", "ok"}, trace.OK, map[string]float64{
			"detection_ms": (10 + 0) / 2.0, "election_ms": (6 + 11) / 2.0, "downtime_ms": (16 + 11) / 2.0,
			"messages_per_election": (3 + 5) / 2.0}},
		"while another is going on": {3, join(at(5, trace.Elect, 1), at(5, trace.Elected, 1, 0), flights(6, 9), first),
			[]string{"ok"}, trace.OK, map[string]float64{"detection_ms": 10, "downtime_ms": 16, "messages_per_election": 3}},
		"nobody led at first": {0, join(all(1, 3, 1, 2, 3), first), []string{"other", "ok"}, trace.OK,
			map[string]float64{"downtime_ms": 16}},
		"nobody but a follower": {0, join(all(1, 3, 1, 2, 3)), []string{"other"}, trace.Unknown,
			map[string]float64{"downtime_ms": math.NaN()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, records: test.records, change: func(p *harness.Plan) {
				p.Leader, p.Scenario.Plot = test.leader, &harness.LeaderCrash{}
			}}.judge(t)
			var got []string
			for _, op := range v.Operations {
				got = append(got, string(op.Status))
			}
			if !slices.Equal(got, test.want) || v.Status != test.status {
				t.Errorf("%s (%s): operations %q, want %s: %q", v.Status, v.Reason, got, test.status, test.want)
			}
			hasMetrics(t, v, test.metrics)
		})
	}
}

// TestSettled: what the end of a trial shows, once the system is quiescent.
func TestSettled(t *testing.T) {
	t.Parallel()
	const group, term = "election/test-group", "election/test-term"
	names := func(leaders ...uint32) (out []trace.Record) {
		for i, l := range leaders {
			out = append(out, at(float64(20+i), trace.Elected, uint32(i+1), l))
		}
		return out
	}
	const none = "p1 names none p2 names none p3 names none"
	detector := func(kind string) func(*harness.Plan) {
		return func(p *harness.Plan) { p.Detector = harness.DetectorOf(kind).New() }
	}
	for name, test := range map[string]struct {
		id      string
		records []trace.Record
		change  func(*harness.Plan)
		want    []string // violations; nil: none
	}{
		"the dead is named": {eventual, join(names(3, 3, 3), at(30, trace.Crash, 3)), nil, []string{
			"leader-alive: no agreement on a leader: p1 names p3 p2 names p3, and the system is quiescent"}},
		"the dead is named in a group": {group, join(names(3, 2, 3), at(30, trace.Crash, 3)), nil,
			[]string{"leader-alive: p1 names p3, which is down, and the system is quiescent"}},
		"two groups": {group, names(1, 1, 3), nil, nil},
		"two groups, one headless": {group, names(2, 1, 3), nil, []string{
			"leadership: p1 names p2, which names p1, and the system is quiescent",
			"leadership: p2 names p1, which names p2, and the system is quiescent"}},
		"its leader is cut off": {group, join(cut(10, "1 2|3"), names(3, 2, 2)), nil, nil},
		"nobody says who is dead": {"election/test-told", join(names(3, 2, 3), at(30, trace.Crash, 3)), detector("none"),
			nil},
		"healed, and two lead": {eventual, join(cut(10, "1|2 3"), names(1, 3, 3), heal(30)), nil,
			[]string{"after-heal: no agreement on a leader: p1 names p1 p2 names p3 p3 names " +
				"p3, and the system is quiescent"}},
		"healed, of one term":       {term, join(cut(10, "1|2 3"), heal(11), names(3, 3, 3)), nil, nil},
		"healed, in groups":         {group, join(cut(10, "1|2 3"), names(1, 3, 3), heal(30)), nil, nil},
		"cut, and the others agree": {eventual, join(cut(10, "1|2 3"), names(1, 3, 3)), nil, nil},
		"cut, and they do not": {eventual, join(cut(10, "1|2 3"), names(1, 2, 3)), nil,
			[]string{"agreement: no agreement on a leader: p1 names p1 p2 names p2 p3 names p3, and " +
				"the system is quiescent"}},
		"a link is cut in one direction": {eventual, join(cut(10, "1>2"), names(1, 2, 3)), nil, nil},
		"one is paused":                  {eventual, join(at(10, trace.Pause, 1), at(21, trace.Elected, 2, 2)), nil, nil},
		"one was paused, and died": {eventual, join(at(10, trace.Pause, 1), at(11, trace.Crash, 1), names(0, 2, 3)),
			nil, []string{"agreement: no agreement on a leader: p2 names p2 p3 names p3, and the system is quiescent"}},
		"out of model": {eventual, join(names(3, 3, 3), at(30, trace.Crash, 3)),
			func(p *harness.Plan) { p.InModel = false }, nil},
		"nobody": {eventual, nil, nil, []string{"agreement: no agreement on a leader: " + none +
			", and the system is quiescent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := trial{id: test.id, nodes: 3, records: test.records, end: harness.End{Reason: harness.Stuck},
				change: func(p *harness.Plan) {
					p.Detector = harness.PerfectDetector(0)
					if test.change != nil {
						test.change(p)
					}
				}}
			if v := tr.judge(t); !slices.Equal(v.Violations, test.want) {
				t.Errorf("%s (%s): violations\n got %q\nwant %q", v.Status, v.Reason, v.Violations, test.want)
			}
			tr.end.Reason = harness.TimeLimit // more could still come
			if v := tr.judge(t); len(v.Violations) > 0 {
				t.Errorf("not settled, but %q", v.Violations)
			}
		})
	}
}
