package all

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// TestConformance holds every linked algorithm against the kit.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			algotest.Run(t, a.ID)
		})
	}
}
