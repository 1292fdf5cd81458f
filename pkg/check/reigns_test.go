package check

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestReigns: a takeover is from the crash of the only leader to the next process that considers itself leader,
// and two leaders at once stand with both of their times. A process that is paused goes on considering itself
// leader.
func TestReigns(t *testing.T) {
	t.Parallel()
	first := at(1, trace.Elected, 3, 3)
	for name, test := range map[string]struct {
		records  []trace.Record
		takeover float64 // ms; 0: there is none
		want     []string
	}{
		"a crash, and others learn of it later": {join(first, at(10, trace.Crash, 3), at(14, trace.Elected, 2, 2),
			at(20, trace.Elected, 1, 2)), 4, nil},
		"two crashes": {join(first, at(10, trace.Crash, 3), at(14, trace.Elected, 2, 2), at(20, trace.Crash, 2),
			at(26, trace.Elected, 1, 1)), 5, nil},
		"a follower": {join(first, at(10, trace.Crash, 2), at(14, trace.Elected, 1, 3)), 0, nil},
		"gives up before another leads": {join(first, at(10, trace.Elected, 3, 0), at(14, trace.Elected, 2, 2)), 0,
			nil},
		"a pause": {join(first, at(5, trace.Pause, 3), at(9, trace.Elected, 2, 2), at(12, trace.Resume, 3),
			at(13, trace.Elected, 3, 2)), 0,
			[]string{"leadership: p3 holds itself leader at 12ms, while another does: p3 from 1ms to 13ms, p2 from 9ms " +
				"to the end, 1s"}},
		"at once": {join(first, at(5, trace.Elected, 2, 2), at(6, trace.Elected, 3, 0), at(8, trace.Elected, 1, 1),
			at(9, trace.Crash, 2)), 0,
			[]string{"leadership: p2 holds itself leader at 5ms, while another does: p3 from 1ms to 6ms, p2 from 5ms " +
				"to 9ms",
				"leadership: p1 holds itself leader at 8ms, while another does: p2 from 5ms to 9ms, p1 from 8ms to the " +
					"end, 1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: "election/test-one", nodes: 3, records: test.records,
				change: func(p *harness.Plan) { p.Reigns = true },
				end:    harness.End{Reason: harness.TimeLimit, At: time.Second}}.judge(t)
			if !slices.Equal(v.Violations, test.want) {
				t.Errorf("violations %q, want %q", v.Violations, test.want)
			}
			i := slices.IndexFunc(v.Metrics, func(m metric.Value) bool { return m.Name == metric.Takeover.Name })
			if got := v.Metrics[i].Value; test.takeover > 0 && got != test.takeover ||
				test.takeover == 0 && !math.IsNaN(got) {
				t.Errorf("a takeover of %v ms, want %v", got, test.takeover)
			}
		})
	}
}
