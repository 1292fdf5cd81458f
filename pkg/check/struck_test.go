package check

import (
	"math"
	"testing"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestStruck: how long faults waited for a leader, and how many leaders had settled. Where
// one still waits at the end no election was called for, and the trial has not come to its end.
func TestStruck(t *testing.T) {
	t.Parallel()
	crashing := func(p *harness.Plan) { p.Scenario.Plot, p.Leader = &harness.LeaderCrash{}, 3 }
	none := math.NaN()
	for name, test := range map[string]struct {
		records []trace.Record
		toll    harness.Toll
		want    map[string]float64
		status  trace.Status
		reason  string
	}{
		"at once": {join(at(10, trace.Crash, 3), all(20, 2, 2, 1)),
			harness.Toll{Due: 1, Struck: 1, Drawn: 1, Settled: 1},
			map[string]float64{"leader_wait_ms": 0, "settled_share": 1}, trace.OK, ""},
		"some later": {join(at(10, trace.Crash, 3), all(20, 2, 2, 1)),
			harness.Toll{Due: 4, Struck: 3, Waited: 6 * ms1, Drawn: 3, Settled: 1},
			map[string]float64{"leader_wait_ms": 2, "settled_share": 1.0 / 3}, trace.OK, ""},
		"never": {nil, harness.Toll{Due: 1}, map[string]float64{"leader_wait_ms": none}, trace.TimedOut,
			"no process led (agreed) when a fault was to happen to the leader, nor until 100ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, change: crashing, records: test.records,
				end: harness.End{At: 100 * ms1, Reason: harness.Finished, Toll: test.toll}}.judge(t)
			if v.Status != test.status || v.Reason != test.reason {
				t.Errorf("%s: %q, want %s: %q", v.Status, v.Reason, test.status, test.reason)
			}
			hasMetrics(t, v, test.want)
		})
	}
}

// TestOutages_CrashMeanwhile: if the leader crashes while something else has it missing already,
// the election and all outages count from that crash, whatever began them.
func TestOutages_CrashMeanwhile(t *testing.T) {
	t.Parallel()
	crashing := func(p *harness.Plan) { p.Scenario.Plot, p.Leader = &harness.LeaderCrash{}, 3 }
	for name, begins := range map[string][]trace.Record{
		"asked to": join(at(10, trace.Elect, 1), at(10, trace.Elected, 1, 0), at(10, trace.Elected, 2, 0)),
		"a return": join(at(9, trace.Crash, 1), back(10, 1)),
		"a cut":    join(cut(10, "1|2|3")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, change: crashing,
				records: join(begins, at(20, trace.Crash, 3), heal(25), all(30, 2, 2, 1)),
				end:     harness.End{At: 100 * ms1, Reason: harness.Finished}}.judge(t)
			if n := len(v.Operations); n != 1 || v.Operations[0].Cause != 20*ms1 ||
				v.Operations[0].Status != trace.Completed {
				t.Errorf("operations %+v, want one from 20ms on", v.Operations)
			}
			for _, o := range v.Outages {
				if o.Cause != 20*ms1 || o.Status != trace.Completed || o.Origin != trace.LeaderCrashed {
					t.Errorf("outage %+v, want it to count from 20ms on", o)
				}
			}
			hasMetrics(t, v, map[string]float64{"downtime_ms": 11, "downtime_agreed_ms": 11, "downtime_led_ms": 11})
		})
	}
}
