package check

import (
	"math"
	"testing"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestHastened: an election and an outage that were on their way when the leader was lost are
// not put down to its loss. Process 3 of three leads, whose detector sends a heartbeat every
// 10 ms, and crashes at 50 ms; process 1 is the first to give it up.
func TestHastened(t *testing.T) {
	t.Parallel()
	lost := func(sent float64, from, to uint32, plane uint8, why uint64) trace.Record {
		r := at(sent+1, trace.Lose, to, from)
		r.Sent, r.Plane, r.Arg = at(sent, trace.Lose, to).At, plane, why
		return r
	}
	crash := join(at(50, trace.Crash, 3))
	elects := join(at(60, trace.Elected, 1, 0), at(61, trace.Elected, 2, 0), all(70, 2, 2, 1))
	const watched, bare = "election/test-suspicious", "election/test-parts"
	for name, test := range map[string]struct {
		id       string
		records  []trace.Record
		hastened bool
	}{
		"nothing was lost":     {watched, join(crash, elects), false},
		"a heartbeat was lost": {watched, join(lost(45, 3, 1, trace.Detection, 0), crash, elects), true},
		"still under way":      {watched, join(crash, lost(49.5, 3, 1, trace.Detection, 0), elects), true},
		"by a fault": {watched, join(
			lost(45, 3, 1, trace.Detection, trace.Omitted), crash, elects), true},
		"a question to the leader": {watched, join(lost(45, 1, 3, trace.Data, 0), crash, elects), true},
		"more than a period ago":   {watched, join(lost(39, 3, 1, trace.Detection, 0), crash, elects), false},
		"after the crash":          {watched, join(crash, lost(51, 1, 3, trace.Data, 0), elects), false},
		"to a later process":       {watched, join(lost(45, 3, 2, trace.Detection, 0), crash, elects), false},
		"between two others":       {watched, join(lost(45, 2, 1, trace.Data, 0), crash, elects), false},
		"with its sender": {watched, join(
			crash, lost(49.5, 3, 1, trace.Data, trace.WithSender), elects), false},
		"on a link that was cut": {watched, join(
			lost(45, 3, 1, trace.Data, trace.Severed), crash, elects), false},
		"a detector not asked":   {bare, join(lost(45, 3, 1, trace.Detection, 0), crash, elects), false},
		"it was given up before": {watched, join(at(49, trace.Elected, 1, 0), crash, elects), true},
		"and named again": {watched, join(at(40, trace.Elected, 1, 0), at(41, trace.Elected, 1, 3), crash, elects),
			false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: test.id, nodes: 3, records: test.records, change: func(p *harness.Plan) {
				p.Scenario.Plot, p.Leader = &harness.LeaderCrash{}, 3
				p.Detector = harness.HeartbeatDetector(10*ms1, 30*ms1)
			}, end: harness.End{At: 100 * ms1, Reason: harness.Finished}}.judge(t)
			status, share, down := trace.Completed, 0.0, 21.0
			if test.hastened {
				status, share, down = trace.Hastened, 1, math.NaN()
			}
			op := v.Operations[len(v.Operations)-1]
			if op.Status != status { // the status of the trial misses the messages before those lost
				t.Errorf("%s (%s), operation %+v, want it %s", v.Status, v.Reason, op, status)
			}
			for _, o := range v.Outages {
				if o.Origin == trace.LeaderCrashed && o.Status != status {
					t.Errorf("outage %+v, want it %s", o, status)
				}
			}
			hasMetrics(t, v, map[string]float64{"hastened_share": share, "downtime_agreed_ms": down,
				"downtime_led_ms": down})
		})
	}
}

// TestHastened_NeverOver: what does not end counts as an outage without end, whatever began it.
func TestHastened_NeverOver(t *testing.T) {
	t.Parallel()
	v := trial{id: eventual, nodes: 3, records: join(at(49, trace.Elected, 1, 0), at(50, trace.Crash, 3)),
		change: func(p *harness.Plan) { p.Scenario.Plot, p.Leader = &harness.LeaderCrash{}, 3 },
		end:    harness.End{At: 1e6 * ms1, Reason: harness.Finished}}.judge(t)
	if v.Status == trace.OK {
		t.Errorf("ok: %+v", v.Operations)
	}
	hasMetrics(t, v, map[string]float64{"never_recovered": 1})
}
