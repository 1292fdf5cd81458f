package check

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	for problem, promises := range map[algo.Problem]algo.Promises{
		algo.Election:        {Leadership: algo.AtMostOne},
		algo.MutualExclusion: {StarvationFree: true},
	} {
		err := algo.AddObserved(problem, algo.Spec{
			Name: "test-observed", Summary: "runs elsewhere", Promises: promises,
			Paper: algo.Paper{Authors: "test", Title: "test", Year: 2026},
		})
		if err != nil {
			panic(err)
		}
	}
}

// TestObserved: of a subject that runs elsewhere it is judged what is seen. Its messages
// are not: nobody misses them, and no metric speaks of them.
func TestObserved(t *testing.T) {
	t.Parallel()
	burst := func(p *harness.Plan) { p.Scenario.Plot = &harness.Burst{} }
	start := func(p *harness.Plan) { p.Scenario.Plot = &harness.ColdStart{} }
	ups := []trace.Record{at(0, trace.Up, 1), at(0, trace.Up, 2)}
	for name, c := range map[string]struct {
		id      string
		change  func(*harness.Plan)
		records []trace.Record
		status  trace.Status
		reason  string
		measure *metric.Metric
		want    float64
	}{
		"locks": {"mutex/test-observed", burst, []trace.Record{
			at(1, trace.Request, 1), at(1, trace.Request, 2), at(2, trace.Granted, 1),
			at(4, trace.Released, 1), at(5, trace.Granted, 2), at(6, trace.Released, 2),
		}, trace.OK, "", metric.SyncDelay, 1},
		"two inside": {"mutex/test-observed", burst, []trace.Record{
			at(1, trace.Request, 1), at(1, trace.Request, 2), at(2, trace.Granted, 1),
			at(3, trace.Granted, 2), at(4, trace.Released, 1), at(6, trace.Released, 2),
		}, trace.Violated, "mutual-exclusion", metric.Violations, 1},
		"leader": {"election/test-observed", start, []trace.Record{
			at(1, trace.Elect, 1), electedIn(3, 2, 2, 0), electedIn(4, 1, 2, 0),
		}, trace.OK, "", metric.Election, 3},
		"two leaders": {"election/test-observed", start, []trace.Record{
			at(1, trace.Elect, 1), electedIn(3, 2, 2, 0), electedIn(4, 1, 1, 0), electedIn(6, 1, 2, 0),
		}, trace.Violated, "leadership", metric.SplitBrain, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// What is seen on the wire by chance is nobody's message.
			stray := at(2, trace.Send, 1, 2)
			stray.Kind = 7
			v := trial{id: c.id, nodes: 2, change: c.change, real: true,
				records: append(append(ups, c.records...), stray)}.judge(t)
			if v.Status != c.status || !strings.HasPrefix(v.Reason, c.reason) {
				t.Errorf("%s: %s, want %s: %s", v.Status, v.Reason, c.status, c.reason)
			}
			if !v.Unseen || v.Totals.Sent != 0 || len(v.Kinds) != 0 {
				t.Errorf("unseen is %v, and there are messages: %+v, %+v", v.Unseen, v.Totals, v.Kinds)
			}
			found := false
			for _, m := range v.Metrics {
				if metric.Named(m.Name).Traffic {
					t.Errorf("%s = %v is about messages", m.Name, m.Value)
				}
				if m.Name == c.measure.Name {
					found = true
					if m.Value != c.want {
						t.Errorf("%s = %v, want %v", m.Name, m.Value, c.want)
					}
				}
			}
			if !found {
				t.Errorf("no %s among %v", c.measure.Name, v.Metrics)
			}
		})
	}
}
