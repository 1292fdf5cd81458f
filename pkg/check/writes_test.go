package check

import (
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// wrote is the end of the writes that the clients of some processes began then, of so many; of 3 leads.
func wrote(ms float64, t trace.Type, leader uint32, began float64, of uint64, clients ...uint32) (out []trace.Record) {
	for _, p := range clients {
		r := at(ms, t, p, leader)
		r.Arg, r.Seq = uint64(began*float64(ms1)), of
		out = append(out, r)
	}
	return out
}

// acked and failed are the end of the writes of all three.
func acked(ms float64, leader uint32, began float64) []trace.Record {
	return wrote(ms, trace.Written, leader, began, 3, 1, 2, 3)
}

func failed(ms float64, leader uint32, began float64) []trace.Record {
	return wrote(ms, trace.Unwritten, leader, began, 3, 1, 2, 3)
}

// TestWrites: what clients had written decides when there was service. Process 3 of three leads at first. The
// scenario measures losses.
func TestWrites(t *testing.T) {
	t.Parallel()
	of := func(begin, cause, end int, origin trace.Origin, status trace.Progress, operation int) trace.Outage {
		o := trace.Outage{Definition: "served", Begin: time.Duration(begin) * ms1, Cause: time.Duration(cause) * ms1,
			End: time.Duration(end) * ms1, Origin: origin, Status: status, Operation: operation}
		if end < 0 {
			o.End = -1
		}
		return o
	}
	newLeader := all(30, 2, 2, 1) // at 30 and 31
	for name, test := range map[string]struct {
		records      []trace.Record
		want         []trace.Outage
		availability float64
		downtime     float64
		never        float64
	}{
		"all are acknowledged": {join(acked(12, 3, 10), acked(22, 3, 20)), nil, 1, absent, 0},
		"one client is refused": {join(wrote(10, trace.Unwritten, 3, 10, 3, 1), wrote(12, trace.Written, 3, 10, 3, 2, 3)),
			nil, 2 / 3.0, absent, 0},
		"the leader leads, and acknowledges nothing": {join(acked(12, 3, 10), disk(15, 3, "hung-disk"),
			failed(40, 3, 20), failed(50, 3, 30)), []trace.Outage{of(20, 20, -1, "disk", "pending", 0)}, 3 / 9.0, absent, 1},
		"until it does again": {join(disk(15, 3, "hung-disk"), failed(40, 3, 20), acked(52, 3, 50)),
			[]trace.Outage{of(20, 20, 52, "disk", "ok", 0)}, 0.5, 32, 0},
		"its disk hangs, and yet it acknowledges": {join(disk(15, 3, "hung-disk"), acked(22, 3, 20)), nil, 1, absent, 0},
		"the disk hangs while they write": {join(disk(15, 3, "hung-disk"), failed(40, 3, 14), acked(52, 3, 50)),
			[]trace.Outage{of(14, 14, 52, "disk", "ok", 0)}, 0.5, 38, 0},
		"for no reason that is known": {join(failed(40, 3, 20), acked(52, 3, 50)),
			[]trace.Outage{of(20, 20, 52, "unneeded", "other", 0)}, 0.5, absent, 0},
		"the leader crashes": {join(acked(12, 3, 10), at(15, trace.Crash, 3), wrote(20, trace.Unwritten, 3, 20, 2, 1, 2),
			newLeader, wrote(42, trace.Written, 2, 40, 2, 1, 2)),
			[]trace.Outage{of(15, 15, 42, "leader-crash", "ok", 1)}, 5 / 7.0, 27, 0},
		"it crashes while they write": {join(at(12, trace.Crash, 3), failed(12, 3, 10), newLeader,
			wrote(42, trace.Written, 2, 40, 2, 1, 2)), []trace.Outage{of(10, 10, 42, "leader-crash", "ok", 1)}, 2 / 5.0, 32, 0},
		"what began before the loss does not end the outage": {join(at(15, trace.Crash, 3),
			wrote(17, trace.Written, 3, 10, 3, 1), newLeader, wrote(42, trace.Written, 2, 40, 2, 1, 2)),
			[]trace.Outage{of(15, 15, 42, "leader-crash", "ok", 1)}, 1, 27, 0},
		"a crash in an outage that does not count": {join(failed(14, 3, 10), at(15, trace.Crash, 3), newLeader,
			wrote(42, trace.Written, 2, 40, 2, 1, 2)), []trace.Outage{of(10, 15, 42, "leader-crash", "ok", 1)}, 2 / 5.0, 27, 0},
		"there is a leader, and no write any more": {join(at(15, trace.Crash, 3), newLeader),
			[]trace.Outage{of(15, 15, -1, "leader-crash", "pending", 1)}, absent, absent, 1},
		"the end of the trial cuts a write short": {join(acked(12, 3, 10), wrote(95, trace.Unwritten, 3, 95, 3, 1)),
			nil, 3 / 4.0, absent, 0},
		"two outages": {join(disk(15, 3, "hung-disk"), failed(30, 3, 20), acked(42, 3, 40),
			failed(60, 3, 50), acked(72, 3, 70)),
			[]trace.Outage{of(20, 20, 42, "disk", "ok", 0), of(50, 50, 72, "disk", "ok", 0)}, 0.5, 22, 0},
		"the second begins as the first ends": {join(disk(15, 3, "hung-disk"), failed(30, 3, 20), acked(50, 3, 40),
			failed(60, 3, 50), acked(72, 3, 70)), []trace.Outage{of(20, 20, 72, "disk", "ok", 0)}, 0.5, 52, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := 100 * ms1
			if test.never > 0 { // so that what is open outlasts every election
				end = time.Hour
			}
			v := trial{id: eventual, nodes: 3, records: test.records, end: harness.End{At: end},
				change: func(p *harness.Plan) { churning(p); p.WritesEvery = 10 * ms1 }}.judge(t)
			got := slices.DeleteFunc(v.Outages, func(o trace.Outage) bool { return o.Definition != "served" })
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			want := map[string]float64{"never_recovered_served": test.never, "outages_served": float64(len(test.want))}
			for name, w := range map[string]float64{"availability_served": test.availability, "downtime_served_ms": test.downtime} {
				if w != absent {
					want[name] = w
				}
			}
			hasMetrics(t, v, want)
		})
	}
}

// TestWrites_Unasked: without the key, records of writes change nothing.
func TestWrites_Unasked(t *testing.T) {
	t.Parallel()
	v := trial{id: eventual, nodes: 3, records: failed(20, 3, 10), change: churning, end: harness.End{At: 100 * ms1}}.judge(t)
	hasMetrics(t, v, map[string]float64{"availability_served": 1, "outages_served": 0})
}
