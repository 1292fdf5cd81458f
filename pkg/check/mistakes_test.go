package check

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestMistakes: three processes, all up for 100 ms, are six pairs: 600 ms of asking.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		records                        []trace.Record
		duration, recurrence, accuracy float64
	}{
		"none": {nil, absent, absent, 1},
		"one":  {join(at(10, trace.Suspect, 1, 3), at(30, trace.Restore, 1, 3)), 20, 600, 1 - 20/600.0},
		"two of a pair": {join(at(10, trace.Suspect, 1, 3), at(30, trace.Restore, 1, 3),
			at(50, trace.Suspect, 1, 3), at(60, trace.Restore, 1, 3)), 15, 300, 1 - 30/600.0},
		"two pairs at once": {join(at(10, trace.Suspect, 1, 3), at(10, trace.Suspect, 2, 3),
			at(30, trace.Restore, 1, 3), at(40, trace.Restore, 2, 3)), 25, 300, 1 - 50/600.0},
		"it lasts": {join(at(40, trace.Suspect, 1, 3)), absent, 600, 1 - 60/600.0},
		// From 20 on two processes are up: 6 x 20 ms and 2 x 80 ms.
		"it comes true":       {join(at(10, trace.Suspect, 1, 3), at(20, trace.Crash, 3)), 10, 280, 1 - 10/280.0},
		"the suspicious dies": {join(at(10, trace.Suspect, 1, 3), at(20, trace.Crash, 1)), 10, 280, 1 - 10/280.0},
		"rightly":             {join(at(20, trace.Crash, 3), at(30, trace.Suspect, 1, 3)), absent, absent, 1},
		"who came back is not heard of yet": {join(at(20, trace.Crash, 3), at(30, trace.Suspect, 1, 3),
			back(60, 3), at(70, trace.Restore, 1, 3)), absent, absent, 1},
		"suspended": {join(at(20, trace.Pause, 3), at(30, trace.Suspect, 1, 3), at(60, trace.Resume, 3),
			at(70, trace.Restore, 1, 3)), absent, absent, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, change: churning, records: test.records,
				end: harness.End{At: 100 * ms1}}.judge(t)
			hasMetrics(t, v, map[string]float64{"mistake_duration_ms": test.duration,
				"mistake_recurrence_ms": test.recurrence, "query_accuracy": test.accuracy})
		})
	}
}

// TestLoad: whose messages they are, and what is written to stable storage.
func TestLoad(t *testing.T) {
	t.Parallel()
	sent, got := flight(5, 1, 2, 1, 1)
	again, _ := flight(7, 1, 3, 1, 1)
	v := trial{id: eventual, nodes: 3, change: churning, end: harness.End{At: 100 * ms1, Pending: 1},
		records: join(sent, got, again, at(8, trace.Save, 1), at(9, trace.Save, 2))}.judge(t)
	hasMetrics(t, v, map[string]float64{"saves": 2, "busiest_share": 2 / 3.0})
}
