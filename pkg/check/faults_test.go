package check

import (
	"math"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestBeyond: who is down at the start counts until it is back, and the verdict names the first
// instant at which too many were.
func TestBeyond(t *testing.T) {
	t.Parallel()
	const two = "mutex/test-new-token" // survives two crashes among three
	for name, test := range map[string]struct {
		id      string
		crashed []algo.ID
		records []trace.Record
		want    string
	}{
		"none":         {two, nil, nil, ""},
		"not too many": {two, []algo.ID{1}, join(at(5, trace.Crash, 2)), ""},
		"too many": {two, []algo.ID{1}, join(at(5, trace.Crash, 2), at(7, trace.Crash, 3)),
			"survives 2 of 3 processes down at once, not 3 as at 7ms"},
		"the first is back": {two, []algo.ID{1},
			join(back(5, 1), at(6, trace.Crash, 2), at(7, trace.Crash, 3)), ""},
		"from the start": {eventual, []algo.ID{3}, nil,
			"survives 0 of 3 processes down at once, not 1 as at 0s"},
		"two, one after the other": {eventual, nil, join(at(5, trace.Crash, 1), at(7, trace.Crash, 2)),
			"survives 0 of 3 processes down at once, not 1 as at 5ms"},
		"one names a leader again meanwhile": {"election/test-surviving", nil, join(at(1, trace.Crash, 3),
			back(2, 3), at(5, trace.Crash, 1), at(5, trace.Crash, 2), at(6, trace.Elected, 3, 3),
			at(6, trace.Crash, 3)), "survives 1 of 3 processes down at once, not 2 as at 5ms"},
		"it has to learn": {"election/test-forgetful", nil, join(at(5, trace.Crash, 1)),
			"survives 0 of 3 processes down or recovering at once, not 1 as at 5ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: test.id, nodes: 3, records: test.records,
				change: func(p *harness.Plan) { p.Crashed = test.crashed }}.judge(t)
			if v.Beyond != test.want {
				t.Errorf("beyond the model for %q, want %q", v.Beyond, test.want)
			}
		})
	}
}

// TestSuspicions: which suspicions are false, and which notice a crash, of three processes.
func TestSuspicions(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	scripted := func(p *harness.Plan) {
		churning(p)
		p.Detector = harness.NoDetector()
	}
	crash := at(10, trace.Crash, 1)
	for name, test := range map[string]struct {
		records []trace.Record
		change  func(*harness.Plan)
		falsely float64
		after   float64
	}{
		"of the first":            {join(at(10, trace.Suspect, 2, 1)), churning, 1, absent},
		"of nobody":               {join(at(10, trace.Suspect, 2)), churning, 0, absent},
		"a script's own":          {join(at(10, trace.Suspect, 2, 1)), scripted, 0, absent},
		"a script's, of the dead": {join(crash, at(15, trace.Suspect, 2, 1)), scripted, 0, absent},
		"of the dead":             {join(crash, at(15, trace.Suspect, 2, 1)), churning, 0, 5},
		"of the dead, twice": {join(crash, at(15, trace.Suspect, 2, 1), at(19, trace.Suspect, 3, 1)),
			churning, 0, 5},
		"of two": {join(crash, at(15, trace.Suspect, 2, 1), at(20, trace.Crash, 3),
			at(27, trace.Suspect, 2, 3)), churning, 0, 6},
		"a crash that nobody notices": {join(crash), churning, 0, none},
		"back, and paused then": {join(crash, back(20, 1), at(30, trace.Pause, 1),
			at(35, trace.Suspect, 2, 1)), churning, 0, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, change: test.change, records: test.records,
				end: harness.End{At: 100 * ms1}}.judge(t)
			hasMetrics(t, v, map[string]float64{"false_suspicions": test.falsely, "suspicion_ms": test.after})
		})
	}
}

// TestUptime: open load of a request per millisecond is compared with how long processes were up
// while it lasted, which it does for 100 ms of 200; two of three make no request.
func TestUptime(t *testing.T) {
	t.Parallel()
	var requests []trace.Record
	for i := range 60 {
		requests = append(requests, requested(0, 2, float64(i)))
	}
	for name, test := range map[string]struct {
		crashed []algo.ID
		records []trace.Record
		uptime  float64 // ms
	}{
		"all are up":               {nil, nil, 300},
		"one is down":              {[]algo.ID{1}, nil, 200},
		"it crashes":               {nil, join(at(40, trace.Crash, 1)), 240},
		"and is back":              {nil, join(at(40, trace.Crash, 1), back(90, 1)), 250},
		"back from the start":      {[]algo.ID{1}, join(back(10, 1)), 290},
		"too late to matter":       {nil, join(at(150, trace.Crash, 1)), 300},
		"back too late":            {nil, join(at(40, trace.Crash, 1), back(150, 1)), 240},
		"all of it behind the end": {nil, join(at(150, trace.Crash, 1), back(160, 1)), 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 3, records: join(requests, test.records),
				change: func(p *harness.Plan) {
					p.Crashed = test.crashed
					p.Scenario = harness.Scenario{Plot: &harness.Open{Rate: 600, Duration: 100 * ms1,
						Hold: link.Constant(ms1)}}
				}, end: harness.End{At: 200 * ms1, Reason: harness.Finished}}.judge(t)
			hasMetrics(t, v, map[string]float64{"arrival_rate_achieved": 60 * 3 / (test.uptime / 1000)})
		})
	}
}

// TestExposed: of three processes those that are up count while fewer are down than the rate of
// crashes may take down.
func TestExposed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		most    int
		crashed []algo.ID
		records []trace.Record
		want    float64 // crashes per second
	}{
		"none":                  {1, nil, nil, 0},
		"down from the start":   {1, []algo.ID{2}, join(at(10, trace.Crash, 1)), math.NaN()},
		"and one more may be":   {2, []algo.ID{2}, join(at(10, trace.Crash, 1)), 1 / 0.020},
		"which is back":         {2, []algo.ID{2}, join(at(10, trace.Crash, 1), back(60, 1)), 1 / 0.100},
		"it was down at first":  {2, []algo.ID{2}, join(back(10, 2), at(20, trace.Crash, 1)), 1 / 0.210},
		"two crash at once":     {2, nil, join(at(10, trace.Crash, 1), at(10, trace.Crash, 2)), 2 / 0.030},
		"the end is before all": {2, nil, join(at(110, trace.Crash, 1)), 1 / 0.330},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, records: test.records, change: func(p *harness.Plan) {
				churning(p)
				p.Crashed, p.Faults.MaxDown = test.crashed, test.most
			}, end: harness.End{At: 100 * ms1}}.judge(t)
			hasMetrics(t, v, map[string]float64{"crash_rate_achieved": test.want})
		})
	}
}
