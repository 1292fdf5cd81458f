package check

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func churning(p *harness.Plan) {
	p.Leader, p.Scenario = 3, harness.Scenario{Plot: &harness.Churn{Duration: 100 * ms1}}
	p.Detector = harness.HeartbeatDetector(ms1, 5*ms1)
}

func back(ms float64, p uint32) trace.Record {
	r := at(ms, trace.Up, p)
	r.Incarnation = 1
	return r
}

// TestFailures: what elections cost while processes come and go.
func TestFailures(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	elects := func(ms float64, leader uint32, who ...uint32) (out []trace.Record) {
		for _, p := range who {
			out = append(out, electedIn(ms, p, leader, 0))
		}
		return out
	}
	for name, test := range map[string]struct {
		records []trace.Record
		change  func(*harness.Plan)
		status  trace.Status
		metrics map[string]float64
		ops     []string // their statuses
	}{
		"nothing goes wrong": {nil, churning, trace.OK, map[string]float64{
			"election_ms": nan, "availability": 1, "crashes": 0, "crash_rate_achieved": 0}, nil},
		"a crash of the leader counts": {join(at(10, trace.Crash, 3), at(14, trace.Suspect, 1, 3),
			elects(15, 2, 1, 2)), churning, trace.OK, map[string]float64{"downtime_ms": 5, "crashes": 1,
			"suspicion_ms": 4, "false_suspicions": 0, "availability": 0.95}, []string{"ok"}},
		"a return that changes nothing does not": {join(at(10, trace.Crash, 1), back(20, 1),
			elects(23, 3, 1)), churning, trace.OK, map[string]float64{"downtime_ms": nan,
			"leader_changes": 0, "crashes": 1}, []string{"joined"}},
		"one that brings another leader is no loss of one": {join(at(10, trace.Crash, 3), elects(12, 2, 1, 2),
			back(20, 3), elects(26, 3, 1, 2, 3)), churning, trace.OK,
			map[string]float64{"downtime_ms": 2, "leader_changes": 2}, []string{"ok", "restart"}},
		"a heal is none": {join(cut(10, "1|2 3"), elects(20, 1, 1),
			heal(40), elects(46, 3, 1)), churning, trace.OK,
			map[string]float64{"downtime_ms": nan, "leader_changes": 0}, []string{"other"}},
		"an election that goes on at the end is no failure": {join(at(10, trace.Crash, 3),
			elects(12, 2, 1, 2), at(99, trace.Crash, 2)), churning, trace.OK,
			map[string]float64{"downtime_ms": 3, "never_recovered": 0}, []string{"ok", "pending"}},
		"the living are suspected": {join(at(10, trace.Suspect, 1, 3), at(20, trace.Crash, 3),
			at(25, trace.Suspect, 2, 3), at(27, trace.Suspect, 1, 3), elects(30, 2, 1, 2)), churning, trace.OK,
			map[string]float64{"false_suspicions": 1, "suspicion_ms": 5}, []string{"ok"}},
		"a paused one is not suspected falsely": {join(at(10, trace.Pause, 3), at(12, trace.Suspect, 1, 3),
			at(50, trace.Resume, 3), at(60, trace.Suspect, 1, 3)), churning, trace.OK,
			map[string]float64{"false_suspicions": 1}, nil},
		"a paused leader does not lead": {join(at(10, trace.Pause, 3), elects(20, 2, 1, 2),
			at(50, trace.Resume, 3), elects(60, 2, 3)), churning, trace.OK,
			map[string]float64{"pauses": 1, "split_brain_ms": 10, "downtime_ms": 10, "crashes": 0,
				"availability": 0.8}, []string{"ok", "joined"}},
		"again and again: returns prepare the next": {join(at(10, trace.Crash, 3), elects(12, 2, 1, 2),
			back(20, 3), elects(26, 3, 1, 2, 3), at(40, trace.Crash, 3), elects(46, 2, 1, 2)),
			func(p *harness.Plan) {
				p.Leader = 3
				p.Scenario = harness.Scenario{Plot: &harness.LeaderCrash{Elections: 2}}
			}, trace.OK, map[string]float64{"downtime_ms": 4}, []string{"ok", "restart", "ok"}},
		"a return that leaves the leader in place, behind them": {join(at(10, trace.Crash, 3), elects(12, 2, 1, 2), back(20, 3),
			elects(26, 2, 3)),
			func(p *harness.Plan) {
				p.Leader = 3
				p.Scenario = harness.Scenario{Plot: &harness.LeaderCrash{Elections: 2}}
			}, trace.OK, map[string]float64{"downtime_ms": 2}, []string{"ok", "joined"}},
		"a heal until all agree": {join(cut(10, "1 2|3"), elects(20, 2, 1, 2), heal(40),
			elects(47, 3, 1, 2)), func(p *harness.Plan) {
			churning(p)
			p.Scenario.Plot = &harness.Partition{}
		}, trace.OK, map[string]float64{"heal_ms": 7, "split_brain_ms": 27}, []string{"ok", "ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: "election/test-eventual", nodes: 3, records: test.records, change: test.change,
				end: harness.End{At: 100 * ms1}}.judge(t)
			hasStatus(t, v, test.status, "")
			hasMetrics(t, v, test.metrics)
			var ops []string
			for _, o := range v.Operations {
				ops = append(ops, string(o.Status))
			}
			if len(ops) != len(test.ops) {
				t.Fatalf("operations %v, want %v", ops, test.ops)
			}
			for i := range ops {
				if ops[i] != test.ops[i] {
					t.Errorf("operations %v, want %v", ops, test.ops)
				}
			}
		})
	}
}

// TestHighest: where it is promised, the highest live process leads in the end.
func TestHighest(t *testing.T) {
	t.Parallel()
	list := join(electedIn(1, 1, 2, 0), electedIn(1, 2, 2, 0), electedIn(1, 3, 2, 0))
	for name, test := range map[string]struct {
		change func(*harness.Plan)
		more   []trace.Record
		status trace.Status
		reason string
	}{
		"a lower one":   {nil, nil, trace.Violated, "highest: p2 leads at the end, but p3 is live"},
		"it is down":    {func(p *harness.Plan) { p.Crashed = []algo.ID{3} }, nil, trace.OK, ""},
		"it is paused":  {nil, join(at(2, trace.Pause, 3)), trace.OK, ""},
		"it is cut off": {nil, join(cut(2, "3")), trace.OK, ""},
		"out of model":  {func(p *harness.Plan) { p.InModel = false }, nil, trace.OK, ""},
		"ranks are other than numbers": {func(p *harness.Plan) {
			p.Params = map[string]any{"est": []any{int64(3), int64(2), int64(1)}}
		}, nil, trace.OK, ""},
		"it lasts": {func(p *harness.Plan) { p.Scenario.Plot = &harness.Churn{} }, nil, trace.OK, ""},
	} {
		v := trial{id: "election/test-highest", nodes: 3, records: join(list, test.more),
			change: test.change}.judge(t)
		if v.Status != test.status || v.Reason != test.reason {
			t.Errorf("%s: %s: %q", name, v.Status, v.Reason)
		}
	}
}

// TestExcused: a message is not late because its receiver was paused or slow when it was due, at
// 2 ms, or went on later. It comes at 22 ms.
func TestExcused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, meanwhile []trace.Record
		due               time.Duration
		late              int64
	}{
		"neither":                {nil, nil, 2 * ms1, 1},
		"paused":                 {join(at(0, trace.Pause, 2)), join(at(21, trace.Resume, 2)), 2 * ms1, 0},
		"paused then":            {join(at(0, trace.Pause, 2)), join(at(2, trace.Resume, 2)), 2 * ms1, 0},
		"paused before":          {join(at(0, trace.Pause, 2), at(1, trace.Resume, 2)), nil, 2 * ms1, 1},
		"still paused":           {join(at(0, trace.Pause, 2)), nil, 2 * ms1, 0},
		"another":                {join(at(0, trace.Pause, 1)), join(at(21, trace.Resume, 1)), 2 * ms1, 1},
		"slow":                   {join(slowed(0, 2, ms1)), nil, 2 * ms1, 0},
		"slow until later":       {join(slowed(0, 2, ms1)), join(slowed(21, 2, 0)), 2 * ms1, 0},
		"slow before":            {join(slowed(0, 2, ms1), slowed(1, 2, 0)), nil, 2 * ms1, 1},
		"due at the very start":  {nil, nil, 0, 1},
		"due before it was slow": {nil, join(slowed(10, 2, ms1), slowed(21, 2, 0)), 2 * ms1, 0},
	} {
		sent, got := flight(0, 1, 2, 1, 1)
		sent.Due, got.Due, got.At, got.Arg = test.due, test.due, 22*ms1, uint64(20*ms1)
		v := trial{id: eventual, nodes: 2, records: join(test.before, sent, test.meanwhile, got)}.judge(t)
		off := math.NaN()
		if test.late > 0 {
			off = ms(22*ms1 - test.due)
		}
		hasMetrics(t, v, map[string]float64{"delay_error_p50_ms": off})
		if v.Totals.Late != test.late {
			t.Errorf("%s: %d late, want %d", name, v.Totals.Late, test.late)
		}
	}
}

// TestRuleNames: every rule has a sentence, and a name that no other has.
func TestRuleNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules {
		if r.Name == "" || r.Sentence == "" || seen[r.Name] {
			t.Errorf("rule %+v", r)
		}
		seen[r.Name] = true
	}
	for _, name := range []string{mutualExclusion, requestOrder, starvation, deadlock, tokenUniqueness,
		leadership, agreement, leaderAlive, highest, afterHeal, expectation} {
		if !seen[name] {
			t.Errorf("no rule is called %s", name)
		}
	}
}

// TestWhatIsBroken: parts that disagree for ever break another rule after a heal than
// without, and those that name the dead another.
func TestWhatIsBroken(t *testing.T) {
	t.Parallel()
	for rule, records := range map[string][]trace.Record{
		"agreement":  join(electedIn(1, 1, 2, 0), electedIn(1, 2, 2, 0), electedIn(1, 3, 1, 0)),
		"after-heal": join(cut(1, "1 2|3"), heal(5), electedIn(6, 1, 2, 0), electedIn(6, 2, 2, 0)),
		"leader-alive": join(at(1, trace.Crash, 3), electedIn(2, 1, 3, 0),
			electedIn(2, 2, 3, 0)),
	} {
		v := trial{id: "election/test-eventual", nodes: 3, records: records,
			end: harness.End{Reason: harness.Stuck}}.judge(t)
		if v.Status != trace.Violated || !strings.HasPrefix(v.Reason, rule+": ") {
			t.Errorf("%s: %s: %s", rule, v.Status, v.Reason)
		}
	}
}

// TestOutages: how long processes were down stands beside how long they were to be.
// What never came back is in neither.
func TestOutages(t *testing.T) {
	t.Parallel()
	due := func(ms float64, r trace.Record) trace.Record {
		r.Arg = uint64(ms * float64(ms1))
		return r
	}
	v := trial{id: eventual, nodes: 4, records: join(
		due(10, at(10.5, trace.Crash, 1)), due(20, at(21, trace.Crash, 2)),
		due(30, back(42, 1)), due(50, at(50, trace.Crash, 3)), due(60, back(67, 2)),
	)}.judge(t)
	hasMetrics(t, v, map[string]float64{
		"outage_requested_ms": (20.0 + 40) / 2, "outage_achieved_ms": (31.5 + 46) / 2, "crashes": 3,
	})
	once := trial{id: eventual, nodes: 4, records: join(due(10, at(10.5, trace.Crash, 1)),
		due(30, back(42, 1)))}
	hasMetrics(t, once.judge(t), map[string]float64{"outage_requested_ms": 20, "outage_achieved_ms": 31.5})
	// What starts has not come back.
	never := trial{id: eventual, nodes: 4, records: join(at(1, trace.Up, 1), at(10, trace.Crash, 1))}
	hasMetrics(t, never.judge(t), map[string]float64{"outage_requested_ms": absent,
		"outage_achieved_ms": absent})
}
