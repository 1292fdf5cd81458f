package stats_test

import (
	"fmt"
	"math"

	"github.com/conclave-bench/conclave/internal/base/stats"
)

// Two cells of ten trials; one of the second ran into the time limit.
func Example() {
	before := []float64{31, 28, 35, 30, 33, 29, 34, 32, 27, 36}
	after := []float64{41, 38, 47, 39, 36, 44, 40, 45, 37, math.Inf(1)}

	test := stats.MannWhitney(before, after)
	ratio, lo, hi := stats.RatioInterval(before, after, 0.95, 1)
	fmt.Printf("P = %.2g, delta = %.2f\n", test.P, test.Delta)
	fmt.Printf("%.2f times as long [%.2f, %.2f]\n", ratio, lo, hi)

	fmt.Printf("of three metrics: %.2g\n", stats.Holm([]float64{test.P, 0.03, 0.2}))
	// Output:
	// P = 2.2e-05, delta = 0.99
	// 1.29 times as long [1.14, 1.53]
	// of three metrics: [6.5e-05 0.06 0.2]
}
