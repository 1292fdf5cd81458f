package all

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// TestConformance holds every linked algorithm against the kit. Its own tests
// run more schedules; here none is left out.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			if err := algotest.Verify(a.ID, algotest.Options{Schedules: 20}); err != nil {
				t.Error(err)
			}
		})
	}
}
