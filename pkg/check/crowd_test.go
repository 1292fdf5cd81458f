package check

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const several = "mutex/test-several" // admits two

func two(p *harness.Plan) { p.Params = algo.Params{"k": int64(2)} }

// TestPlaces: two may be inside at once, and the third may not.
func TestPlaces(t *testing.T) {
	t.Parallel()
	third := "mutual-exclusion: p3 granted at 3ms while p2 is inside since 2ms, and at most 2 may be"
	asked := join(requested(0, 1, 0), requested(0, 2, 0), requested(0, 3, 0), requested(0, 4, 0),
		at(1, trace.Granted, 1), at(2, trace.Granted, 2))
	for name, test := range map[string]struct {
		records []trace.Record
		reason  string
		bars    float64
	}{
		"two": {join(asked, at(3, trace.Released, 1), at(3, trace.Granted, 3), at(4, trace.Released, 2),
			at(4, trace.Granted, 4)), "", 0},
		"a crash makes room": {join(asked, at(3, trace.Crash, 2), at(3, trace.Granted, 3),
			at(4, trace.Released, 1), at(4, trace.Granted, 4)), "", 0},
		"three": {join(asked, at(3, trace.Granted, 3), at(4, trace.Released, 2), at(4, trace.Released, 3),
			at(4, trace.Granted, 4)), third, 1},
		"four": {join(asked, at(3, trace.Granted, 3), at(3, trace.Granted, 4)), third, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: several, nodes: 4, records: test.records, change: two}.judge(t)
			status := trace.OK
			if test.reason != "" {
				status = trace.Violated
			}
			hasStatus(t, v, status, test.reason)
			hasMetrics(t, v, map[string]float64{"violations": test.bars})
		})
	}
}

// TestCrowd: one inside for 2 ms, two for 3, nobody for 4, one for 1; and the same without what
// lies before the second grant, which ends a warm-up.
func TestCrowd(t *testing.T) {
	t.Parallel()
	records := join(requested(0, 1, 0), requested(0, 2, 0), requested(8, 3, 8), at(1, trace.Granted, 1),
		at(3, trace.Granted, 2), at(6, trace.Released, 1), at(6, trace.Crash, 2), at(10, trace.Granted, 3))
	for warmup, want := range []map[string]float64{
		{"concurrency": (2 + 2*3 + 1) / 6.0, "most_inside": 2, "throughput_per_s": 3 / 0.011},
		{"concurrency": (2 + 2*3 + 1) / 6.0, "most_inside": 2, "throughput_per_s": 2 / 0.010},
		{"concurrency": (2*3 + 1) / 4.0, "most_inside": 2, "throughput_per_s": 1 / 0.008},
		{"concurrency": 1, "most_inside": 1},
	} {
		v := trial{id: several, nodes: 3, records: records, end: harness.End{At: 11 * ms1},
			change: func(p *harness.Plan) { two(p); p.Scenario.Warmup = warmup }}.judge(t)
		hasMetrics(t, v, want)
	}
	for _, m := range (trial{id: fair, nodes: 3, records: records}).judge(t).Metrics {
		if m.Name == "concurrency" || m.Name == "most_inside" {
			t.Errorf("%s of an algorithm that admits one", m.Name)
		}
	}
}
