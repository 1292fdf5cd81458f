package check

import (
	"math"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const (
	fair   = "mutex/test-fair"
	unfair = "mutex/test-unfair"
)

// entry is a whole passage: meant and asked for, granted, released.
func entry(p uint32, asked, granted, released float64) []trace.Record {
	return []trace.Record{requested(asked, p, asked), at(granted, trace.Granted, p),
		at(released, trace.Released, p)}
}

func TestMutualExclusion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		records    []trace.Record
		reason     string
		violations int
		pairs      float64
	}{
		"one after the other": {join(entry(1, 0, 0, 5), entry(2, 6, 6, 9)), "", 0, 0},
		"at the instant of a release, after it": {join(requested(0, 1, 0), requested(0, 2, 0),
			at(0, trace.Granted, 1), at(5, trace.Released, 1), at(5, trace.Granted, 2),
			at(6, trace.Released, 2)), "", 0, 0},
		"at the instant of a release, before it": {join(requested(0, 1, 0), requested(0, 2, 0),
			at(0, trace.Granted, 1), at(5, trace.Granted, 2), at(5, trace.Released, 1),
			at(6, trace.Released, 2)), "mutual-exclusion: p2 granted at 5ms while p1 is inside since 0s", 1, 1},
		"two inside": {join(requested(1000, 7, 1000), requested(1000, 3, 1000),
			at(1201, trace.Granted, 7), at(1204, trace.Granted, 3), at(1300, trace.Released, 3),
			at(1301, trace.Released, 7)), "mutual-exclusion: p3 granted at 1.204s while p7 is inside since 1.201s", 1, 1},
		"three inside are three pairs": {join(requested(0, 1, 0), requested(0, 2, 0), requested(0, 3, 0),
			at(1, trace.Granted, 1), at(2, trace.Granted, 2), at(3, trace.Granted, 3),
			at(4, trace.Released, 1), at(4, trace.Released, 2), at(4, trace.Released, 3)),
			"mutual-exclusion: p2 granted at 2ms while p1 is inside since 1ms", 3, 3},
		"without a request": {join(entry(1, 0, 0, 5), at(6, trace.Granted, 2)),
			"mutual-exclusion: p2 granted at 6ms without a request", 1, 0},
		"granted twice": {join(requested(0, 1, 0), at(1, trace.Granted, 1), at(2, trace.Granted, 1),
			at(3, trace.Released, 1)), "mutual-exclusion: p1 granted at 2ms while p1 is inside since 1ms", 2, 1},
		"a crash inside makes room": {join(requested(0, 1, 0), at(1, trace.Granted, 1),
			at(2, trace.Crash, 1), entry(2, 3, 4, 5)), "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 8, records: test.records}.judge(t)
			status := trace.OK
			if test.violations > 0 {
				status = trace.Violated
			}
			hasStatus(t, v, status, test.reason)
			if len(v.Violations) != test.violations {
				t.Errorf("violations %q, want %d", v.Violations, test.violations)
			}
			hasMetrics(t, v, map[string]float64{"violations": test.pairs})
		})
	}
}

// TestViolationsAreBounded: of very many violations some are told, all counted.
func TestViolationsAreBounded(t *testing.T) {
	t.Parallel()
	var records []trace.Record
	for p := uint32(1); p <= 50; p++ {
		records = append(records, requested(0, p, 0), at(float64(p), trace.Granted, p))
	}
	v := trial{id: fair, nodes: 50, records: records}.judge(t)
	if len(v.Violations) != maxViolations {
		t.Errorf("%d violations in words, want %d", len(v.Violations), maxViolations)
	}
	hasMetrics(t, v, map[string]float64{"violations": 50 * 49 / 2})
}

// TestEntryMetrics: an example small enough to be worked out by hand.
//
//	p1 asks at 0, is in from 0 to 10
//	p2 means to ask at 1, asks at 2, is in from 12 to 22
//	p3 asks at 3, is in from 25 to 30
func TestEntryMetrics(t *testing.T) {
	t.Parallel()
	records := join(requested(0, 1, 0), at(0, trace.Granted, 1), requested(2, 2, 1),
		requested(3, 3, 3),
		flights(4, 6), at(10, trace.Released, 1), at(12, trace.Granted, 2), at(22, trace.Released, 2),
		at(25, trace.Granted, 3), at(30, trace.Released, 3))
	v := trial{id: fair, nodes: 4, records: records, end: harness.End{At: 50 * ms1}}.judge(t)
	hasStatus(t, v, trace.OK, "")
	hasOperations(t, v,
		op(1, 0, 0, 0, "ok"), op(2, 1*ms1, 2*ms1, 12*ms1, "ok"),
		op(3, 3*ms1, 3*ms1, 25*ms1, "ok"))
	hasMetrics(t, v, map[string]float64{
		"messages_per_entry": 6.0 / 3, "bytes_per_entry": 60.0 / 3,
		"waiting_ms": (0 + 11 + 22) / 3.0, "waiting_p99_ms": 11 + 0.98*11,
		"turnaround_ms": (10 + 21 + 27) / 3.0, "sync_delay_ms": (2 + 3) / 2.0,
		"throughput_per_s": 3 / 0.050, "fairness": 9.0 / (4 * 3), "max_bypass": 0, "violations": 0,
	})
	if v.Completed != 3 {
		t.Errorf("completed %d, want 3", v.Completed)
	}
}

func TestSyncDelay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		records []trace.Record
		want    float64
	}{
		"nobody waits": {join(entry(1, 0, 0, 5), entry(2, 6, 8, 9)), math.NaN()},
		"one waits": {join(requested(0, 1, 0), at(0, trace.Granted, 1), requested(1, 2, 1),
			at(5, trace.Released, 1), at(8, trace.Granted, 2), at(9, trace.Released, 2)), 3},
		"one waits, and another that came later goes first": {join(requested(0, 1, 0),
			at(0, trace.Granted, 1), requested(1, 2, 1), at(5, trace.Released, 1), requested(6, 3, 6),
			at(7, trace.Granted, 3), at(8, trace.Released, 3), at(12, trace.Granted, 2),
			at(13, trace.Released, 2)), (2 + 4) / 2.0},
		"the one that waited has crashed": {join(requested(0, 1, 0), at(0, trace.Granted, 1),
			requested(1, 2, 1), at(5, trace.Released, 1), at(6, trace.Crash, 2), entry(3, 90, 99, 100)),
			math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 3, records: test.records}.judge(t)
			hasStatus(t, v, trace.OK, "")
			hasMetrics(t, v, map[string]float64{"sync_delay_ms": test.want})
		})
	}
}

func TestFairness(t *testing.T) {
	t.Parallel()
	asked := func(p ...uint32) (out []trace.Record) {
		for i, q := range p {
			out = append(out, requested(float64(i), q, float64(i)))
		}
		return out
	}
	granted := func(p ...uint32) (out []trace.Record) {
		for i, q := range p {
			out = append(out, at(float64(10+i), trace.Granted, q), at(float64(10+i), trace.Released, q))
		}
		return out
	}
	for name, test := range map[string]struct {
		records       []trace.Record
		jain, bypass  float64
		warmup, nodes int
	}{
		"in order":             {join(asked(1, 2, 3), granted(1, 2, 3)), 1, 0, 0, 3},
		"in reverse":           {join(asked(1, 2, 3), granted(3, 2, 1)), 1, 2, 0, 3},
		"one overtakes":        {join(asked(1, 2, 3), granted(2, 1, 3)), 1, 1, 0, 3},
		"one that still waits": {join(asked(1, 2, 3), granted(2, 3)), 4.0 / 6, 2, 0, 3},
		"one gets all":         {join(asked(1), granted(1), asked(1), granted(1)), 0.25, 0, 0, 4},
		"two of four": {join(asked(1), granted(1), asked(2), granted(2)), 0.5, 0,
			0, 4},
		"warm-up excluded": {join(asked(1, 2, 3), granted(3, 1, 2)), 2.0 / 3, 1, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: unfair, nodes: test.nodes, records: test.records,
				change: func(p *harness.Plan) { p.Scenario.Plot = warm{n: test.warmup} }}.judge(t)
			hasMetrics(t, v, map[string]float64{"fairness": test.jain, "max_bypass": test.bypass})
		})
	}
}

// TestWarmup: the first entries are neither measured nor paid for. What is sent for
// those that wait at their end is paid for, whenever it is sent.
func TestWarmup(t *testing.T) {
	t.Parallel()
	one := func(p *harness.Plan) { p.Scenario.Plot = warm{n: 1} }
	idle := join(requested(0, 1, 0), flights(1, 5), at(10, trace.Granted, 1),
		at(20, trace.Released, 1), flights(20, 7),
		requested(30, 2, 30), answers(30, 3), at(34, trace.Granted, 2), at(35, trace.Released, 2),
		answers(35, 1))
	busy := join(requested(0, 1, 0), flights(0, 5), requested(0, 2, 0), answers(0, 4), at(10, trace.Granted, 1),
		at(20, trace.Released, 1), flights(20, 1), at(34, trace.Granted, 2), at(35, trace.Released, 2),
		answers(35, 2))
	crashed := join(requested(0, 1, 0), flights(1, 5), at(10, trace.Granted, 1),
		at(20, trace.Crash, 1),
		requested(30, 2, 30), answers(30, 3), at(34, trace.Granted, 2), at(35, trace.Released, 2))
	for name, test := range map[string]struct {
		records []trace.Record
		want    map[string]float64
	}{
		"idle between": {idle, map[string]float64{"messages_per_entry": 4, "bytes_per_entry": 40,
			"waiting_ms": 4, "throughput_per_s": 1 / 0.030, "turnaround_ms": 5, "fairness": 0.5,
			"sync_delay_ms": math.NaN()}},
		// p1 answers at its release what p2 has asked before
		"one waits": {busy, map[string]float64{"messages_per_entry": 7, "bytes_per_entry": 70,
			"waiting_ms": 34, "throughput_per_s": 1 / 0.030, "turnaround_ms": 35, "fairness": 0.5,
			"sync_delay_ms": 14}},
		"crashed inside": {crashed, map[string]float64{"messages_per_entry": 3,
			"throughput_per_s": 1 / 0.030}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 2, records: test.records, change: one,
				end: harness.End{At: 50 * ms1}}.judge(t)
			if got := v.Operations[0].Status; got != "warmup" {
				t.Errorf("the first entry is %s, want warmup", got)
			}
			hasMetrics(t, v, test.want)
		})
	}
}

// TestOwners: whose each message is. Every case begins with an entry of p1, the
// warm-up, which is over before p2 and p3 ask.
func TestOwners(t *testing.T) {
	t.Parallel()
	type leg struct {
		ms       float64
		from, to uint32
	}
	seq := uint64(0)
	legs := func(list ...leg) (out []trace.Record) {
		for _, l := range list {
			seq++
			sent, got := flight(l.ms, l.from, l.to, seq, 1)
			got.At, sent.Due, got.Due = sent.At, sent.At, sent.At
			out = append(out, sent, got)
		}
		return out
	}
	// p1 is the warm-up; p2 waits at its end; what p2 pays for is counted
	begin := join(requested(0, 1, 0), legs(leg{0, 1, 4}), at(1, trace.Granted, 1), requested(5, 2, 5))
	over := join(at(10, trace.Released, 1))
	end := join(at(20, trace.Granted, 2), at(21, trace.Released, 2))
	for name, test := range map[string]struct {
		before, after []trace.Record // the release of p1
		want          float64
	}{
		"asking":                       {legs(leg{5, 2, 1}, leg{5, 2, 3}), nil, 2},
		"passed on":                    {legs(leg{5, 2, 3}, leg{5, 3, 4}, leg{5, 4, 1}), nil, 3},
		"answered at once":             {legs(leg{5, 2, 3}, leg{5, 3, 2}), nil, 2},
		"answered at last":             {legs(leg{5, 2, 1}), legs(leg{10, 1, 2}), 2},
		"answered in full":             {legs(leg{5, 2, 1}, leg{6, 1, 2}), legs(leg{10, 1, 2}, leg{10, 1, 3}), 2},
		"owed by way of one":           {legs(leg{5, 2, 3}, leg{5, 3, 1}), legs(leg{10, 1, 3}, leg{10, 3, 2}), 4},
		"told by the warm-up":          {nil, legs(leg{10, 1, 2}, leg{10, 1, 3}, leg{10, 3, 4}), 0},
		"a timer of its own":           {nil, join(at(12, trace.Timeout, 2), legs(leg{12, 2, 3}, leg{12, 3, 4})), 2},
		"a timer of nobody's, in time": {join(at(6, trace.Timeout, 3), legs(leg{6, 3, 4})), nil, 0},
		"a timer of nobody's":          {nil, join(at(12, trace.Timeout, 3), legs(leg{12, 3, 4})), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 4, records: join(begin, test.before, over, test.after, end),
				change: func(p *harness.Plan) { p.Scenario.Plot = warm{n: 1} }}.judge(t)
			hasMetrics(t, v, map[string]float64{"messages_per_entry": test.want})
		})
	}
}

func TestEntriesThatDoNotComplete(t *testing.T) {
	t.Parallel()
	waiting := join(entry(1, 0, 0, 5), requested(6, 2, 6))
	const what = "1 requests not granted, the first of p2 at 6ms"
	until := func(p *harness.Plan) {
		p.Scenario = harness.Scenario{Plot: &harness.Script{
			Until: 90 * ms1}}
	}
	outside := func(p *harness.Plan) { p.InModel = false }
	for name, test := range map[string]struct {
		trial
		status trace.Status
		reason string
	}{
		"stuck": {trial{id: fair, records: waiting, end: harness.End{Reason: harness.Stuck}},
			trace.Violated, "deadlock: " + what + ", and the system is quiescent"},
		"finished": {trial{id: fair, records: waiting}, trace.Violated, "deadlock: " + what + ", and the system is quiescent"},
		"stuck, out of model": {trial{id: fair, records: waiting, change: outside,
			end: harness.End{Reason: harness.Stuck}}, trace.TimedOut, what + "; the system is quiescent"},
		"stuck, not promised": {trial{id: unfair, records: waiting,
			end: harness.End{Reason: harness.Stuck}},
			trace.TimedOut, what + "; the system is quiescent"},
		"time limit": {trial{id: fair, records: waiting,
			end: harness.End{Reason: harness.TimeLimit, At: time.Second}}, trace.TimedOut, what + " within 1s"},
		"livelock": {trial{id: fair, records: waiting, end: harness.End{Reason: harness.Livelock}},
			trace.TimedOut, what + "; livelock: messages without end at 6ms"},
		"until": {trial{id: fair, records: waiting, change: until}, trace.TimedOut, what + " within 6ms"},
		"time limit, all granted": {trial{id: fair, records: entry(1, 0, 0, 5),
			end: harness.End{Reason: harness.TimeLimit, At: time.Second}},
			trace.TimedOut, "the scenario did not come to its end within 1s"},
		"nothing happened": {trial{id: fair}, trace.Unknown, "no process entered the critical section"},
		"it crashed waiting": {trial{id: fair, records: join(entry(1, 0, 0, 5), requested(6, 2, 6),
			at(7, trace.Crash, 2))}, trace.OK, ""},
		"alone, and crashed": {trial{id: fair, records: join(requested(6, 2, 6), at(7, trace.Crash, 2))},
			trace.Unknown, "no process entered the critical section"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.nodes = 2
			hasStatus(t, test.judge(t), test.status, test.reason)
		})
	}
	v := trial{id: fair, nodes: 2, records: join(entry(1, 0, 0, 5), requested(6, 2, 6),
		at(7, trace.Crash, 2), requested(8, 1, 8))}.judge(t)
	hasOperations(t, v, op(1, 0, 0, 0, "ok"), op(2, 6*ms1, 6*ms1, -1, "crashed"),
		op(1, 8*ms1, 8*ms1, -1, "pending"))
}
