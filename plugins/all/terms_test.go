package all

import (
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestCandidates: who promises one leader per term says in which one a process stands, so
// that terms without a leader are seen. Nobody else has figures of terms.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		if a.Problem != algo.Election {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			for kind, plot := range map[string]harness.Plot{
				"cold-start": &harness.ColdStart{}, "leader-crash": &harness.LeaderCrash{Settle: 200 * time.Millisecond},
			} {
				o := algotest.MustSimulate(t, algotest.MustPlan(t, a.ID, 5,
					harness.Scenario{Plot: plot}, nil))
				i := slices.IndexFunc(o.Metrics, func(v metric.Value) bool {
					return v.Name == metric.TermsPerElection.Name
				})
				if perTerm := a.Spec.Promises.Leadership == algo.PerTerm; perTerm != (i >= 0) {
					t.Errorf("%s: one leader per term promised: %t; figures of terms: %t", kind, perTerm, i >= 0)
				} else if perTerm && !(o.Metrics[i].Value >= 1) {
					t.Errorf("%s: %v", kind, o.Metrics[i])
				}
			}
		})
	}
}
