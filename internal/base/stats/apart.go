package stats

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// Apart returns the distance of two distributions, from samples of them: the largest difference of the
// distribution functions (Kolmogorov and Smirnov). An observation of +Inf is known only to be larger than
// all others. The interval covers the distance of the distributions themselves with at least the confidence,
// whatever they are: each sample's function is off by no more than Massart's bound (1990, the tight constant
// of the inequality of Dvoretzky, Kiefer and Wolfowitz), at half of the error each. A bootstrap would not do:
// resamples are further apart than the samples, and most so where the distributions are equal. All are NaN
// without a value in both samples.
func Apart(x, y []float64, confidence float64) (distance, lo, hi float64) {
	if len(x) == 0 || len(y) == 0 || !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	for i, j := 0, 0; i < len(x) && j < len(y); {
		at := min(x[i], y[j])
		i, j = i+run(x[i:], at), j+run(y[j:], at)
		distance = max(distance, math.Abs(share(i, x)-share(j, y)))
	}
	off := 0.0
	for _, n := range []int{len(x), len(y)} {
		off += math.Sqrt(exact.Log(4/(1-confidence)) / float64(2*n))
	}
	return distance, max(0, distance-off), min(1, distance+off)
}

// run is how many values at the beginning of sorted ones are v.
func run(sorted []float64, v float64) (n int) {
	for n < len(sorted) && sorted[n] == v {
		n++
	}
	return n
}

func share(n int, of []float64) float64 { return float64(n) / float64(len(of)) }
