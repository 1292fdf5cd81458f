package check

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const (
	several = "mutex/test-several" // admits two
	grouped = "mutex/test-grouped" // admits those of one session
)

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
			change: func(p *harness.Plan) { two(p); p.Scenario.Plot = warm{n: warmup} }}.judge(t)
		hasMetrics(t, v, want)
	}
	for _, m := range (trial{id: fair, nodes: 3, records: records}).judge(t).Metrics {
		if m.Name == "concurrency" || m.Name == "most_inside" {
			t.Errorf("%s of an algorithm that admits one", m.Name)
		}
	}
}

// of is a record of a request for a session, or of its grant.
func of(session uint32, r trace.Record) trace.Record {
	r.Peer = session
	return r
}

// TestSessions: any number of one session may be inside, and nobody of another; the switches of
// sessions are counted.
func TestSessions(t *testing.T) {
	t.Parallel()
	asked := join(requested(0, 1, 0), requested(0, 2, 0), requested(0, 3, 0),
		of(1, at(1, trace.Granted, 1)), of(1, at(2, trace.Granted, 2)))
	for name, test := range map[string]struct {
		records        []trace.Record
		reason         string
		bars, switches float64
	}{
		"three of one": {join(asked, of(1, at(3, trace.Granted, 3))), "", 0, 0},
		"another behind them": {join(asked, at(3, trace.Released, 1), at(3, trace.Released, 2),
			of(2, at(3, trace.Granted, 3)), requested(4, 2, 4), at(5, trace.Released, 3),
			of(1, at(6, trace.Granted, 2))), "", 0, 2},
		"another beside them": {join(asked, at(3, trace.Released, 1), of(2, at(3, trace.Granted, 3))),
			"mutual-exclusion: p3 granted at 3ms while p2 is inside since 2ms, in session 1 and not 2", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: grouped, nodes: 3, records: test.records, change: fromScenario}.judge(t)
			status := trace.OK
			if test.reason != "" {
				status = trace.Violated
			}
			hasStatus(t, v, status, test.reason)
			hasMetrics(t, v, map[string]float64{"violations": test.bars, "session_switches": test.switches})
		})
	}
}

func fromScenario(p *harness.Plan) {
	p.Params, p.InModel = algo.Params{"session": int64(0)}, true
}

// TestStarvation_Sessions: while 1 stays, 2 may enter beside it as often as it likes; that 1 and 2
// take turns in keeping their session open is starvation.
func TestStarvation_Sessions(t *testing.T) {
	t.Parallel()
	stay := join(requested(0, 1, 0), requested(0, 3, 0), of(1, at(0, trace.Granted, 1)))
	turns := stay
	for k := range 100 {
		from := float64(10 * k)
		stay = join(stay, requested(from+1, 2, from+1), of(1, at(from+2, trace.Granted, 2)),
			at(from+3, trace.Released, 2))
		turns = join(turns, requested(from+1, 2, from+1), of(1, at(from+2, trace.Granted, 2)),
			at(from+3, trace.Released, 1), requested(from+4, 1, from+4), of(1, at(from+5, trace.Granted, 1)),
			at(from+6, trace.Released, 2))
	}
	last := of(2, at(1001, trace.Granted, 3))
	v := trial{id: grouped, nodes: 3, change: fromScenario,
		records: join(stay, at(1000, trace.Released, 1), last)}.judge(t)
	hasStatus(t, v, trace.OK, "")
	v = trial{id: grouped, nodes: 3, change: fromScenario,
		records: join(turns, at(1000, trace.Released, 1), last)}.judge(t)
	if v.Status != trace.Violated || len(v.Violations) != 1 ||
		!strings.HasPrefix(v.Reason, "starvation: p3 waits since 0s, and at ") ||
		!strings.Contains(v.Reason, "others have entered 37 times") {
		t.Errorf("%s: %q", v.Status, v.Violations)
	}
}
