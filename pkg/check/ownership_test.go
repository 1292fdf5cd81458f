package check

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func onWire(p *harness.Plan) { p.Network.Wire = true }

// holderWrote is a write of the holder of a lock that began earlier, and what became of it.
func holderWrote(ms float64, p uint32, began float64, t trace.Type) trace.Record {
	r := at(ms, t, p)
	r.Arg = uint64(time.Duration(began * float64(ms1)))
	return r
}

// TestOwnership: p1 stands still inside while p2 enters; then it writes late.
func TestOwnership(t *testing.T) {
	t.Parallel()
	outlived := "mutual-exclusion: p2 granted at 5ms while p1 is inside since 1ms"
	split := join(requested(0, 1, 0), requested(0, 2, 0), at(1, trace.Granted, 1), at(2, trace.Pause, 1),
		at(5, trace.Granted, 2))
	ends := join(at(8, trace.Resume, 1), at(8, trace.Released, 1))
	after := at(12, trace.Released, 2)
	for name, test := range map[string]struct {
		records []trace.Record
		reason  string
		split   float64
		writes  map[string]float64 // nil: none has a figure
	}{
		"none writes":   {join(split, ends, after), outlived, 3, nil},
		"one inside":    {join(entry(1, 0, 0, 1), entry(2, 2, 2, 3)), "", 0, nil},
		"owner crashes": {join(split, at(6, trace.Crash, 1), after), outlived, 1, nil},
		"refused": {join(split, ends, holderWrote(9, 1, 8, trace.Unwritten), after), outlived, 3,
			map[string]float64{"writes_refused": 1, "writes_late": 0}},
		"accepted": {join(split, ends, holderWrote(9, 1, 8, trace.Written), after),
			outlived, 3,
			map[string]float64{"writes_refused": 0, "writes_late": 1}},
		"begun before": {join(split, holderWrote(9, 1, 4, trace.Written), ends, after), outlived, 3,
			map[string]float64{"writes_refused": 0, "writes_late": 0}},
		"alone": {join(entry(1, 0, 0, 1), entry(2, 2, 2, 3), holderWrote(9, 1, 8, trace.Written)),
			"fencing: p1 wrote as the holder at 8ms, and was not refused: p2 had entered at 2ms", 0,
			map[string]float64{"writes_refused": 0, "writes_late": 1}},
		"by the last": {join(split, ends, holderWrote(9, 2, 8, trace.Written), after), outlived, 3,
			map[string]float64{"writes_refused": 0, "writes_late": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 2, records: test.records, change: onWire}.judge(t)
			status := trace.OK
			if test.reason != "" {
				status = trace.Violated
			}
			hasStatus(t, v, status, test.reason)
			hasMetrics(t, v, map[string]float64{"split_ownership_ms": test.split})
			hasMetrics(t, v, test.writes)
			for _, m := range v.Metrics {
				if test.writes == nil && (m.Name == "writes_refused" || m.Name == "writes_late") {
					t.Errorf("%s %v of processes that never wrote", m.Name, m.Value)
				}
			}
		})
	}
}

// TestStandstill: nobody enters while p1 waits for 3 ms, while p2 waits for 4 although p1 is inside, and when the
// only process that waits crashes.
func TestStandstill(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		records []trace.Record
		want    float64
	}{
		"waits alone": {entry(1, 1, 4, 5), 3},
		"since the last entry": {join(requested(0, 1, 0), requested(1, 2, 1), at(2, trace.Granted, 1),
			at(3, trace.Released, 1), at(6, trace.Granted, 2), at(7, trace.Released, 2)), 4},
		"nobody waits in between": {join(entry(1, 0, 1, 2), entry(2, 50, 52, 53)), 2},
		"a crash ends it": {join(entry(1, 0, 1, 2), requested(3, 2, 3), at(5, trace.Crash, 2),
			entry(1, 20, 21, 22)), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 2, records: test.records, change: onWire}.judge(t)
			hasMetrics(t, v, map[string]float64{"standstill_ms": test.want})
		})
	}
}
