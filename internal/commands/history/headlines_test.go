package history

import (
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestHeadlines: availability is followed only where the scenario says how long a trial lasts. Elsewhere it
// would change with the length of the trials alone.
func TestHeadlines(t *testing.T) {
	t.Parallel()
	for scenario, want := range map[string]bool{"leader-crash": false, "churn": true} {
		p := &past{design: Design{{Name: "problem", Value: "election"}, {Name: "scenario", Value: scenario}}}
		main := p.headlines()
		some := slices.ContainsFunc(main, func(name string) bool {
			return metric.Named(name).Kind == metric.Share
		})
		if len(main) == 0 || some != want {
			t.Errorf("%s: %v", scenario, main)
		}
	}
}
