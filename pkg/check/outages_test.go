package check

import (
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestAvailability: what each definition asks for. Four processes, nobody leads at first; a
// client beside each asks at 0, 1, ... 99.
func TestAvailability(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leader              algo.ID
		records             []trace.Record
		agreed, led, served float64
	}{
		"half":           {0, all(0, 4, 4, 3), 0, 0, (1 + 99*2) / 400.0},
		"more than half": {0, all(0, 4, 4, 3, 2), 0, 0.98, (1 + 2 + 98*3) / 400.0},
		"all":            {0, all(0, 4, 4, 3, 2, 1), 0.97, 0.98, (1 + 2 + 3 + 97*4) / 400.0},
		"half of those that are left": {0, join(at(0, trace.Elected, 4, 4), at(10, trace.Crash, 1),
			at(20, trace.Crash, 2)), 0, 0, 20 / (40 + 30 + 80*2.0)},
		"all that are left, but no majority": {4, join(at(10, trace.Crash, 1), at(20, trace.Crash, 2)),
			1, 0.2, (40 + 30) / (40 + 30 + 80*2.0)},
		"the named one does not lead": {0, join(all(0, 4, 3, 2, 1), at(10, trace.Crash, 4)), 0, 0, 0},
		"cut off from a minority":     {4, join(cut(10, "1|2 3 4")), 1, 1, (10*4 + 90*3) / 400.0},
		"one link":                    {4, join(cut(10, "1>4 4>1")), 1, 1, (10*4 + 90*3) / 400.0},
		"one direction of it":         {4, join(cut(10, "1>4")), 1, 1, (10*4 + 90*3) / 400.0},
		"cut off with a minority":     {4, join(cut(10, "1 2 3|4")), 0.1, 0.1, 0.1},
		"no majority anywhere":        {4, join(cut(10, "1 2|3 4")), 0.1, 0.1, 0.1},
		"suspended":                   {4, join(at(10, trace.Pause, 4), at(50, trace.Resume, 4)), 0.6, 0.6, 0.6},
		"the leader's disk hangs":     {4, join(disk(10, 4, "hung-disk"), disk(50, 4, "hung-disk undone")), 1, 1, 0.6},
		"it is slow":                  {4, join(disk(10, 4, "slow-disk by 100ms")), 1, 1, 1},
		"one other is full":           {4, join(disk(10, 1, "full-disk")), 1, 1, 1},
		"two others are full":         {4, join(disk(10, 1, "full-disk"), disk(20, 2, "full-disk")), 1, 1, 0.2},
		"they start again with room": {4, join(disk(10, 1, "full-disk"), disk(10, 2, "full-disk"), at(20, trace.Crash, 1),
			back(30, 1), at(30, trace.Elected, 1, 4)), 1, 1, (40 + 70*4.0) / (40 + 40 + 30 + 70*4)},
		"a suspended follower": {4, join(at(10, trace.Pause, 1), at(50, trace.Resume, 1)), 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 4, records: test.records, change: led(test.leader),
				end: harness.End{At: 100 * ms1, Reason: harness.TimeLimit}}.judge(t)
			hasMetrics(t, v, map[string]float64{"availability": test.agreed,
				"availability_agreed": test.agreed, "availability_led": test.led,
				"availability_served": test.served})
		})
	}
}

func began(by trace.Origin, o trace.Operation) trace.Operation {
	o.Origin = by
	return o
}

// disk is the record of a fault of p's disk.
func disk(ms float64, p uint32, text string) trace.Record {
	r := at(ms, trace.Fault, p)
	r.Text = text
	return r
}

// TestOrigins: what began an election, whether it counts in a scenario that lasts, and what
// the outages come to. Process 3 of three leads at first.
func TestOrigins(t *testing.T) {
	t.Parallel()
	type figures map[string]float64
	for name, test := range map[string]struct {
		records []trace.Record
		want    []trace.Operation
		metrics figures
	}{
		"the leader crashes": {join(at(10, trace.Crash, 3), all(20, 2, 1, 2)),
			[]trace.Operation{began("leader-crash", op(2, 10*ms1, 10*ms1, 21*ms1, "ok"))},
			figures{"downtime_ms": 11, "downtime_led_ms": 11, "longest_outage_agreed_ms": 11,
				"outages_agreed": 1, "unneeded_elections_per_s": 0, "unjustified_demotions_per_s": 0}},
		"it is suspended": {join(at(10, trace.Pause, 3), all(20, 2, 1, 2)),
			[]trace.Operation{began("leader-crash", op(2, 10*ms1, 10*ms1, 21*ms1, "ok"))}, nil},
		"the largest part is without it": {join(cut(10, "1 2|3"), all(20, 2, 1, 2)),
			[]trace.Operation{began("partition", op(2, 10*ms1, 10*ms1, 21*ms1, "ok"))},
			figures{"downtime_ms": 11, "downtime_agreed_ms": 11, "outages_agreed": 1}},
		"a return": {join(at(10, trace.Crash, 1), back(20, 1), at(24, trace.Elected, 1, 3)),
			[]trace.Operation{began("return", op(3, 20*ms1, 20*ms1, 24*ms1, "joined"))},
			figures{"outages_agreed": 1, "longest_outage_agreed_ms": 4, "outages_led": 0,
				"longest_outage_led_ms": 0, "availability_led": 1}},
		"a heal": {join(cut(10, "1|2 3"), at(15, trace.Elected, 1, 1), heal(20),
			at(24, trace.Elected, 1, 3)),
			[]trace.Operation{began("heal", op(3, 20*ms1, 20*ms1, 24*ms1, "other"))}, nil},
		"the detector errs": {join(at(10, trace.Suspect, 1, 3), at(10, trace.Elected, 1, 0),
			at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("false-suspicion", op(3, 10*ms1, 10*ms1, 14*ms1, "other"))},
			figures{"unneeded_elections_per_s": 10, "unjustified_demotions_per_s": 0}},
		"it erred some time before": {join(at(10, trace.Suspect, 1, 3), at(12, trace.Elected, 1, 0),
			at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("false-suspicion", op(3, 12*ms1, 12*ms1, 14*ms1, "other"))}, nil},
		"it errs while a disk is slow": {join(disk(5, 2, "slow-disk by 100ms"), at(10, trace.Suspect, 1, 3),
			at(12, trace.Elected, 1, 0), at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("disk", op(3, 12*ms1, 12*ms1, 14*ms1, "ok"))}, nil},
		"it errs when that is over": {join(disk(5, 2, "slow-disk by 100ms"), disk(6, 2, "slow-disk"),
			at(10, trace.Suspect, 1, 3), at(12, trace.Elected, 1, 0), at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("false-suspicion", op(3, 12*ms1, 12*ms1, 14*ms1, "other"))}, nil},
		"it errs after a crash of the slow one": {join(disk(5, 2, "slow-disk by 100ms"), at(6, trace.Crash, 2),
			at(10, trace.Suspect, 1, 3), at(12, trace.Elected, 1, 0), at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("false-suspicion", op(3, 12*ms1, 12*ms1, 14*ms1, "other"))}, nil},
		"it trusts again": {join(at(10, trace.Suspect, 1, 3), at(11, trace.Restore, 1, 3),
			at(12, trace.Elected, 1, 0), at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("unneeded", op(3, 12*ms1, 12*ms1, 14*ms1, "other"))}, nil},
		"a time-out of its own": {join(at(10, trace.Timeout, 1), at(10, trace.Elected, 1, 0),
			at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("false-suspicion", op(3, 10*ms1, 10*ms1, 14*ms1, "other"))}, nil},
		"another takes over": {all(10, 2, 2, 1, 3),
			[]trace.Operation{began("unneeded", op(2, 10*ms1, 10*ms1, 12*ms1, "other"))},
			// Whether 3 hears of it first or last.
			figures{"unneeded_elections_per_s": 10, "unjustified_demotions_per_s": 10,
				"leader_changes": 1}},
		"another took over while it was cut off": {join(cut(10, "1 2|3"), all(20, 2, 1, 2), heal(30),
			at(34, trace.Elected, 3, 2)), []trace.Operation{
			began("partition", op(2, 10*ms1, 10*ms1, 21*ms1, "ok")),
			began("heal", op(2, 30*ms1, 30*ms1, 34*ms1, "other"))},
			figures{"unjustified_demotions_per_s": 0}},
		"another took over while it was suspended": {join(at(10, trace.Pause, 3), all(20, 2, 1, 2),
			at(30, trace.Resume, 3), at(34, trace.Elected, 3, 2)), []trace.Operation{
			began("leader-crash", op(2, 10*ms1, 10*ms1, 21*ms1, "ok")),
			began("return", op(2, 30*ms1, 30*ms1, 34*ms1, "joined"))},
			figures{"unjustified_demotions_per_s": 0}},
		"trusted again after a heal, long after a crash": {join(at(4, trace.Crash, 2), back(6, 2),
			at(8, trace.Elected, 2, 3), cut(10, "1|2 3"), at(12, trace.Suspect, 1, 2), heal(20),
			at(22, trace.Restore, 1, 2), at(22, trace.Elected, 1, 0), at(24, trace.Elected, 1, 3)),
			[]trace.Operation{began("return", op(3, 6*ms1, 6*ms1, 8*ms1, "joined")),
				began("heal", op(3, 22*ms1, 22*ms1, 24*ms1, "other"))}, nil},
		"trusted again after a return": {join(at(4, trace.Crash, 2), at(5, trace.Suspect, 1, 2), back(6, 2),
			at(8, trace.Elected, 2, 3), at(9, trace.Restore, 1, 2), at(9, trace.Elected, 1, 0),
			at(10, trace.Elected, 1, 3)),
			[]trace.Operation{began("return", op(3, 6*ms1, 6*ms1, 8*ms1, "joined")),
				began("return", op(3, 9*ms1, 9*ms1, 10*ms1, "joined"))}, nil},
		"it names who came back, and whom its detector suspects": {join(at(4, trace.Crash, 2), at(5, trace.Suspect, 1, 2),
			back(6, 2), at(7, trace.Elected, 1, 2), at(7, trace.Elected, 3, 2), at(8, trace.Elected, 2, 2),
			at(10, trace.Elect, 1), at(10, trace.Elected, 1, 0), at(12, trace.Elected, 1, 2)),
			[]trace.Operation{began("return", op(2, 6*ms1, 6*ms1, 8*ms1, "restart")),
				began("return", op(2, 10*ms1, 10*ms1, 12*ms1, "joined"))}, nil},
		"it names whom its detector suspects by mistake": {join(at(5, trace.Suspect, 1, 3), at(10, trace.Elect, 1),
			at(10, trace.Elected, 1, 0), at(12, trace.Elected, 1, 3)),
			[]trace.Operation{began("false-suspicion", op(3, 10*ms1, 10*ms1, 12*ms1, "other"))},
			figures{"unneeded_elections_per_s": 10}},
		"nothing called for it, and it goes on at the end": {join(at(10, trace.Elected, 1, 0)),
			[]trace.Operation{began("unneeded", op(0, 10*ms1, 10*ms1, -1, "pending"))},
			figures{"unneeded_elections_per_s": 10}},
		"who gave the leader up is cut off": {join(at(10, trace.Elected, 1, 0), cut(20, "1|2 3")),
			[]trace.Operation{began("unneeded", op(3, 10*ms1, 10*ms1, 20*ms1, "other"))},
			figures{"unneeded_elections_per_s": 10, "outages_agreed": 1}},
		"the leader gives up": {join(at(10, trace.Elected, 3, 0), all(12, 2, 2, 1, 3)),
			[]trace.Operation{began("unneeded", op(2, 10*ms1, 10*ms1, 14*ms1, "other"))},
			figures{"unjustified_demotions_per_s": 10}},
		"it gives up where it reaches no majority": {join(at(5, trace.Crash, 1), at(5, trace.Crash, 2),
			at(10, trace.Elected, 3, 0), at(20, trace.Elected, 3, 3)),
			[]trace.Operation{began("crash", op(3, 10*ms1, 10*ms1, 20*ms1, "ok"))},
			figures{"unjustified_demotions_per_s": 0, "unneeded_elections_per_s": 0}},
		"asked to": {join(at(10, trace.Elect, 1), at(10, trace.Elected, 1, 0),
			at(14, trace.Elected, 1, 3)),
			[]trace.Operation{began("script", op(3, 10*ms1, 10*ms1, 14*ms1, "ok"))}, nil},
		"at one instant again and again": {join(at(10, trace.Crash, 1), back(20, 1),
			at(20, trace.Elected, 1, 3), at(20, trace.Elected, 1, 0), at(20, trace.Elected, 1, 3),
			at(20, trace.Elected, 1, 0), at(25, trace.Elected, 1, 3)),
			[]trace.Operation{began("return", op(3, 20*ms1, 20*ms1, 25*ms1, "joined"))},
			figures{"outages_agreed": 1, "longest_outage_agreed_ms": 5}},
		"at one instant and no more": {join(at(10, trace.Crash, 1), back(20, 1),
			at(20, trace.Elected, 1, 3)), nil, figures{"outages_agreed": 0, "availability": 1}},
		"the leader crashes meanwhile": {join(at(10, trace.Crash, 1), back(20, 1), at(22, trace.Crash, 3),
			all(30, 2, 2, 1)),
			[]trace.Operation{began("leader-crash", op(2, 22*ms1, 22*ms1, 31*ms1, "ok"))},
			figures{"downtime_ms": 9, "outages_agreed": 1, "longest_outage_agreed_ms": 11}},
		"it goes on at the end": {join(at(10, trace.Crash, 3)),
			[]trace.Operation{began("leader-crash", op(0, 10*ms1, -1, -1, "pending"))},
			figures{"outages_agreed": 1, "longest_outage_agreed_ms": 90, "availability": 0.1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, change: churning, records: test.records,
				end: harness.End{At: 100 * ms1}}.judge(t)
			hasOperations(t, v, test.want...)
			hasMetrics(t, v, test.metrics)
		})
	}
}

// TestPhase_OfALeader: who leads no longer repeats nothing.
func TestPhase_OfALeader(t *testing.T) {
	t.Parallel()
	for leader, want := range map[algo.ID]float64{2: 0.5, 1: 0, algo.None: 0} {
		e := elections{last: 2, Leadership: &harness.Leadership{Belief: []algo.ID{2, leader}}, phases: phases{
			period: harness.Period{Length: 20 * ms1}, last: []time.Duration{-1, 5 * ms1}}}
		if got := e.phase(&trace.Record{Type: trace.Crash, Process: 2, At: 15 * ms1}); got != want {
			t.Errorf("2 names %d when it crashes: phase %v, want %v", leader, got, want)
		}
	}
}

// TestOutagesOneByOne: each outage has its instants, what began it, and the operation that went
// on; the downtime counts from a later loss of the leader. Process 3 of three leads at first.
func TestOutagesOneByOne(t *testing.T) {
	t.Parallel()
	of := func(definition string, begin, cause, end int, origin trace.Origin, status trace.Progress,
		operation int) trace.Outage {
		o := trace.Outage{Definition: definition, Spec: definition == "agreed", Begin: time.Duration(begin) * ms1,
			Cause: time.Duration(cause) * ms1, End: time.Duration(end) * ms1, Origin: origin, Status: status,
			Operation: operation}
		if end < 0 {
			o.End = -1
		}
		return o
	}
	for name, test := range map[string]struct {
		records []trace.Record
		want    []trace.Outage
	}{
		"the leader crashes while another comes back": {join(at(10, trace.Crash, 1), back(20, 1), at(22, trace.Crash, 3),
			all(30, 2, 2, 1)), []trace.Outage{
			of("agreed", 20, 22, 31, "leader-crash", "ok", 1),
			of("led", 22, 22, 31, "leader-crash", "ok", 1),
			of("served", 22, 22, 30, "leader-crash", "ok", 1),
		}},
		"a return, and later a crash that lasts": {join(at(10, trace.Crash, 1), back(20, 1), at(24, trace.Elected, 1, 3),
			at(30, trace.Crash, 3)), []trace.Outage{
			of("agreed", 20, 20, 24, "return", "other", 1),
			of("agreed", 30, 30, -1, "leader-crash", "pending", 2),
			of("led", 30, 30, -1, "leader-crash", "pending", 2),
			of("served", 30, 30, -1, "leader-crash", "pending", 2),
		}},
		"no majority, though those that are left agree": {join(at(10, trace.Crash, 1), at(20, trace.Crash, 2)),
			[]trace.Outage{
				of("led", 20, 20, -1, "crash", "pending", 0),
				of("served", 20, 20, -1, "crash", "pending", 0),
			}},
		"over, and on again at that instant": {join(at(10, trace.Crash, 3), at(20, trace.Elected, 2, 2),
			at(20, trace.Elected, 1, 2), at(20, trace.Elected, 1, 0), at(25, trace.Elected, 1, 2)),
			[]trace.Outage{
				of("agreed", 10, 10, 25, "leader-crash", "ok", 1),
				of("led", 10, 10, 25, "leader-crash", "ok", 1),
				of("served", 10, 10, 20, "leader-crash", "ok", 1),
			}},
		"two that follow each other": {join(at(10, trace.Crash, 3), at(20, trace.Elected, 2, 2),
			at(20, trace.Elected, 1, 2), at(21, trace.Elected, 1, 0), at(25, trace.Elected, 1, 2)),
			[]trace.Outage{
				of("agreed", 10, 10, 20, "leader-crash", "ok", 1),
				of("agreed", 21, 21, 25, "unneeded", "other", 2),
				of("led", 10, 10, 20, "leader-crash", "ok", 1),
				of("led", 21, 21, 25, "unneeded", "other", 2),
				of("served", 10, 10, 20, "leader-crash", "ok", 1),
			}},
		"the next one crashes as well": {join(at(10, trace.Crash, 3), at(12, trace.Elected, 2, 2),
			at(15, trace.Crash, 2), at(20, trace.Elected, 1, 1)), []trace.Outage{
			of("agreed", 10, 10, 20, "leader-crash", "ok", 1),
			of("led", 10, 10, -1, "leader-crash", "pending", 1),
			of("served", 10, 10, 12, "leader-crash", "ok", 1),
			of("served", 15, 15, -1, "leader-crash", "pending", 1),
		}},
		"over as the leader crashes": {join(at(10, trace.Elected, 1, 0), at(20, trace.Elected, 1, 3),
			at(20, trace.Crash, 3)), []trace.Outage{
			of("agreed", 10, 20, -1, "leader-crash", "pending", 1),
			of("led", 20, 20, -1, "leader-crash", "pending", 1),
			of("served", 20, 20, -1, "leader-crash", "pending", 1),
		}},
		"asked to, and nothing came of it": {join(at(10, trace.Elect, 1), at(10, trace.Elected, 1, 0),
			at(10, trace.Elected, 1, 3)), []trace.Outage{
			of("agreed", 10, 10, 10, "script", "ok", 1),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, change: churning, records: test.records,
				end: harness.End{At: 100 * ms1}}.judge(t)
			if !slices.Equal(v.Outages, test.want) {
				t.Errorf("got  %+v\nwant %+v", v.Outages, test.want)
			}
		})
	}
}

// TestOutages_LostMeanwhile: if the leader crashes while an election goes on that the scenario does not measure,
// whatever began that, operations and outages count from there.
func TestOutages_LostMeanwhile(t *testing.T) {
	t.Parallel()
	for _, began := range []trace.Record{at(10, trace.Elect, 1), at(10, trace.Do, 1), cut(10, "1 2|3")} {
		v := trial{id: eventual, nodes: 3, change: func(p *harness.Plan) {
			p.Scenario.Plot, p.Leader = &harness.LeaderCrash{}, 3
		}, records: join(began, at(10, trace.Elected, 1, 0), at(20, trace.Crash, 3),
			at(30, trace.Elected, 2, 2), at(31, trace.Elected, 1, 2)), end: harness.End{At: 100 * ms1}}.judge(t)
		if len(v.Operations) != 1 || len(v.Outages) == 0 {
			t.Fatalf("%v: %+v and %+v, want one election", began.Type, v.Operations, v.Outages)
		}
		op, out := v.Operations[0], v.Outages[0]
		if op.Cause != 20*ms1 || op.Origin != trace.LeaderCrashed || op.Status != trace.Completed ||
			out.Begin != 10*ms1 || out.Cause != op.Cause || out.Origin != op.Origin || out.Status != op.Status {
			t.Errorf("%v: operation %+v and outage %+v, want both to count from the crash at 20 ms", began.Type, op, out)
		}
	}
}

// TestOutages_NotMeasured: an outage that is over when a follower crashes stays what it was.
func TestOutages_NotMeasured(t *testing.T) {
	t.Parallel()
	v := trial{id: eventual, nodes: 3, change: func(p *harness.Plan) {
		p.Scenario.Plot, p.Leader = &harness.LeaderCrash{}, 3
	}, records: join(at(10, trace.Elected, 1, 0), at(20, trace.Elected, 1, 3), at(20, trace.Crash, 2)),
		end: harness.End{At: 100 * ms1}}.judge(t)
	want := trace.Outage{Definition: "agreed", Spec: true, Begin: 10 * ms1, Cause: 10 * ms1, End: 20 * ms1,
		Origin: trace.Unneeded, Status: trace.Unasked, Operation: 1}
	if len(v.Outages) != 1 || v.Outages[0] != want {
		t.Errorf("got  %+v\nwant %+v", v.Outages, want)
	}
}

// TestOutages_AtOnce: who agrees on a leader at the start after all has been without one for no time.
func TestOutages_AtOnce(t *testing.T) {
	t.Parallel()
	v := trial{id: eventual, nodes: 2, records: join(at(0, trace.Elected, 1, 2), at(0, trace.Elected, 2, 2)),
		end: harness.End{At: 100 * ms1}}.judge(t)
	hasMetrics(t, v, map[string]float64{"outages_agreed": 1, "outages_led": 1, "outages_served": 1,
		"downtime_ms": 0, "availability": 1})
}

// TestAttribute: an outage is put down to the first operation that went on while it lasted, or that
// has the same cause.
func TestAttribute(t *testing.T) {
	t.Parallel()
	span := func(from, to time.Duration) trace.Operation {
		return trace.Operation{Cause: from * ms1, End: to * ms1}
	}
	operations := []trace.Operation{span(0, 0), span(10, 20), span(20, 22), span(40, -1)}
	for _, test := range []struct{ begin, end, want time.Duration }{
		{0, 0, 1}, {0, 10, 1}, {0, -1, 1}, // it has the same cause
		{5, 9, 0}, {5, 10, 0}, // none has begun
		{5, 11, 2}, {5, -1, 2}, {10, 10, 2}, {12, 12, 2}, {19, 30, 2}, {19, -1, 2},
		{20, 21, 3}, {21, 30, 3},
		{22, 30, 0}, {30, 40, 0}, // all are over
		{30, 41, 4}, {30, -1, 4}, {40, 40, 4}, {50, 60, 4}, {50, -1, 4}, // it is never over
	} {
		o := outages{over: []trace.Outage{{Begin: test.begin * ms1, End: test.end * ms1}}}
		if o.attribute(operations); o.over[0].Operation != int(test.want) {
			t.Errorf("from %v to %v: operation %d, want %d", test.begin, test.end, o.over[0].Operation,
				test.want)
		}
	}
	o := outages{over: []trace.Outage{{}}}
	if o.attribute(operations[1:]); o.over[0].Operation != 0 {
		t.Errorf("over at the very start: operation %d, which began later", o.over[0].Operation)
	}
}

// TestClients: a client asks at every whole millisecond, and none asks twice at one: what comes too
// late to be told in its place changes nothing that was counted.
func TestClients(t *testing.T) {
	t.Parallel()
	var c clients
	for _, step := range []struct {
		until            time.Duration
		asking, answered int // from then on
		sent, received   int64
	}{
		{0, 3, 2, 0, 0},
		{1, 3, 2, 3, 2}, // at 0
		{ms1, 3, 2, 3, 2},
		{ms1 + 1, 3, 3, 6, 4},
		{5 * ms1, 2, 1, 15, 13}, // at 2, 3, 4
		{3 * ms1, 5, 5, 15, 13},
		{6 * ms1, 0, 0, 20, 18}, // at 5
		{9 * ms1, 0, 0, 20, 18},
	} {
		c.elapse(step.until)
		c.asking, c.answered = step.asking, step.answered
		if c.sent != step.sent || c.received != step.received {
			t.Errorf("until %v: %d sent and %d received, want %d and %d", step.until, c.sent, c.received,
				step.sent, step.received)
		}
	}
}

// TestDemoted: who gives up without need had a majority behind it. Process 3 of three.
func TestDemoted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		records []trace.Record
		want    float64
	}{
		"nobody followed": {join(at(5, trace.Elected, 3, 3), at(10, trace.Elected, 3, 0)), 0},
		"one did": {join(at(5, trace.Elected, 3, 3), at(6, trace.Elected, 2, 3),
			at(10, trace.Elected, 3, 0)), 1},
		"one did, until then": {join(at(5, trace.Elected, 3, 3), at(6, trace.Elected, 2, 3),
			at(8, trace.Elected, 2, 0), at(10, trace.Elected, 3, 0)), 1},
		"again": {join(at(5, trace.Elected, 3, 3), at(6, trace.Elected, 2, 3), at(10, trace.Elected, 3, 0),
			at(11, trace.Elected, 3, 3), at(12, trace.Elected, 3, 0)), 2},
		"out of reach since": {join(at(5, trace.Elected, 3, 3), at(6, trace.Elected, 2, 3),
			cut(7, "1 2|3"), at(10, trace.Elected, 3, 0)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, records: test.records,
				end: harness.End{At: time.Second}}.judge(t)
			hasMetrics(t, v, map[string]float64{"unjustified_demotions_per_s": test.want})
		})
	}
}

// TestLongestOutage: the longest outage is that, also if a shorter one comes later.
func TestLongestOutage(t *testing.T) {
	t.Parallel()
	v := trial{id: eventual, nodes: 3, change: churning, records: join(at(10, trace.Crash, 3),
		all(30, 2, 2, 1), back(40, 3), at(41, trace.Elected, 3, 2), at(60, trace.Crash, 2), all(65, 1, 1, 3)),
		end: harness.End{At: 100 * ms1}}.judge(t)
	hasMetrics(t, v, map[string]float64{"longest_outage_agreed_ms": 21, "longest_outage_led_ms": 21,
		"longest_outage_served_ms": 20})
}

// TestCrashRateAchieved: crashes are counted over the time in which the rate allowed one, which it
// did not while max_down processes were down.
func TestCrashRateAchieved(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]float64{
		1: 1 / 0.150, // three processes for 10 ms and for 40 ms
		2: 1 / 0.250, // and two of them for 50 ms
	} {
		v := trial{id: eventual, nodes: 3, change: func(p *harness.Plan) {
			churning(p)
			p.Faults.MaxDown = most
		}, records: join(at(10, trace.Crash, 1), back(60, 1), at(61, trace.Elected, 1, 3)),
			end: harness.End{At: 100 * ms1}}.judge(t)
		hasMetrics(t, v, map[string]float64{"crash_rate_achieved": want})
	}
}
