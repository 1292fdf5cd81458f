package check

import (
	"math"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestPending: an outage that is open at the end counts with what was seen of it, for each that
// ended; one that lasts for longer than ten time-outs of 4 ms never ends. Process 3 of three leads
// at first, and crashes at 10 ms.
func TestPending(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	churning := func(p *harness.Plan) {
		p.Leader, p.Scenario = 3, harness.Scenario{Plot: &harness.Churn{Duration: 1}}
	}
	crash := join(at(10, trace.Crash, 3))
	elected := join(crash, all(20, 2, 2, 1))
	for name, test := range map[string]struct {
		records []trace.Record
		end     float64
		want    map[string]float64
	}{
		"none":              {elected, 400, map[string]float64{"downtime_ms": 11, "never_recovered": 0}},
		"one, and no other": {crash, 50, map[string]float64{"downtime_ms": none, "never_recovered": 0}},
		"for too long":      {crash, 51, map[string]float64{"downtime_ms": none, "never_recovered": 1}},
		"cut short": {join(elected, at(50, trace.Crash, 2)), 90,
			map[string]float64{"downtime_ms": 51, "never_recovered": 0}},
		"and never over": {join(elected, at(50, trace.Crash, 2)), 400,
			map[string]float64{"downtime_ms": 361, "never_recovered": 1, "longest_outage_agreed_ms": 350}},
		"by one definition": {elected, 400, map[string]float64{
			"never_recovered_agreed": 0, "never_recovered_led": 0, "never_recovered_served": 0}},
		"without a majority": {join(crash, at(10, trace.Crash, 1), at(20, trace.Elected, 2, 2)), 400,
			map[string]float64{"never_recovered": 0, "never_recovered_agreed": 0, "never_recovered_led": 1,
				"downtime_agreed_ms": 10, "never_recovered_served": 1}},
		"of what is not measured": {join(at(10, trace.Elected, 1, 0)), 400,
			map[string]float64{"downtime_ms": none, "never_recovered": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: "election/test-parts", nodes: 3, change: churning, records: test.records,
				end: harness.End{At: time.Duration(test.end) * ms1, Reason: harness.Finished}}.judge(t)
			hasMetrics(t, v, test.want)
		})
	}
}

// TestEndless: a trial within its model that ends in an outage longer than the promise allows is
// not ok, though something happens again and again that begins the promise anew. Process 5 of five
// leads at first, and crashes at 10 ms; a leader may be missing for 20 ms.
func TestEndless(t *testing.T) {
	t.Parallel()
	churning := func(p *harness.Plan) {
		p.Leader, p.Scenario = 5, harness.Scenario{Plot: &harness.Churn{Duration: 1}}
	}
	busy := func(from, to float64) (out []trace.Record) {
		for ms := from; ms < to; ms += 20 {
			out = append(out, at(ms, trace.Crash, 1), back(ms+10, 1))
		}
		return out
	}
	crash := at(10, trace.Crash, 5)
	const endless = "no leader (led) from 10ms to the end at 100ms, for longer than the 20ms promised"
	for name, test := range map[string]struct {
		id      string
		records []trace.Record
		change  func(*harness.Plan)
		end     float64
		reason  string
	}{
		"never":             {"election/test-quorum", join(crash, busy(12, 90)), nil, 100, endless},
		"just in time":      {"election/test-quorum", join(crash, busy(12, 30)), nil, 30, ""},
		"one is elected":    {"election/test-quorum", join(crash, busy(12, 90), all(92, 2, 2, 3, 4)), nil, 100, ""},
		"beyond its model":  {"election/test-quorum", join(crash, busy(12, 90)), func(p *harness.Plan) { p.InModel = false }, 100, ""},
		"no promise":        {"election/test-restless", join(crash, busy(12, 90)), nil, 100, ""},
		"no majority is up": {"election/test-quorum", join(crash, at(10, trace.Crash, 4), busy(12, 90)), nil, 100, ""},
		"who forgot counts": {"election/test-forgetful", join(crash, busy(12, 90)), nil, 100, endless},
		"cut apart": {"election/test-quorum", join(crash, cut(11, "1|2|3|4"), busy(12, 90)), nil,
			100, ""},
		"one is paused": {"election/test-quorum", join(crash, busy(12, 90), at(95, trace.Pause, 2)), nil, 100, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: test.id, nodes: 5, records: test.records, change: func(p *harness.Plan) {
				churning(p)
				if test.change != nil {
					test.change(p)
				}
			}, end: harness.End{At: time.Duration(test.end) * ms1, Reason: harness.Finished}}.judge(t)
			want := trace.OK
			if test.reason != "" {
				want = trace.TimedOut
			}
			if v.Status != want || v.Reason != test.reason {
				t.Errorf("%s: %q, want %s: %q", v.Status, v.Reason, want, test.reason)
			}
		})
	}
}
