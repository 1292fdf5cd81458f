package check

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestOutrun: two leaders are the algorithm's mistake, unless the machine took
// longer for a message than a synchronous algorithm can reckon with.
func TestOutrun(t *testing.T) {
	t.Parallel()
	const broken = "the machine was too slow for a synchronous algorithm: a message took 12ms, " +
		"so that t 23ms is below 2d = 24ms; it came to: "
	leaders := "leadership: p2 holds itself leader at 30ms, while another does"
	for name, test := range map[string]struct {
		id     string
		took   time.Duration
		real   bool
		change func(*harness.Plan)
		want   trace.Status
	}{
		"too slow":            {"test-synchronous", 12 * ms1, true, nil, trace.Invalid},
		"in time":             {"test-synchronous", 11 * ms1, true, nil, trace.Violated},
		"no time to spare":    {"test-tight", 11 * ms1, true, nil, trace.Violated}, // its own fault
		"in simulation":       {"test-synchronous", 12 * ms1, false, nil, trace.Violated},
		"whatever the delays": {"test-one", 12 * ms1, true, nil, trace.Violated},
		"beyond its model": {"test-synchronous", 12 * ms1, true,
			func(p *harness.Plan) { p.InModel = false }, trace.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, got := flight(5, 1, 2, 1, 1)
			got.At = sent.At + test.took
			v := trial{id: "election/" + test.id, nodes: 2, change: test.change, real: test.real,
				records: join([]trace.Record{sent, got}, all(30, 1, 1), all(30, 2, 2)),
				end:     harness.End{At: 50 * ms1}}.judge(t)
			if v.Status != test.want {
				t.Errorf("%s: %s", v.Status, v.Reason)
			}
			if want := broken + leaders; v.Status == trace.Invalid && v.Reason != want {
				t.Errorf("%q, want %q", v.Reason, want)
			}
		})
	}
}
