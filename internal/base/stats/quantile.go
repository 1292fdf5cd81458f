package stats

import (
	"math"
	"sort"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// QuantileInterval returns the pair of order statistics of sorted that covers
// the p-quantile of its distribution with at least the given confidence,
// whatever the distribution: each end misses with at most half of what is
// left. Both are NaN where no pair does: at 95 % below 6 observations for the
// median, 36 for p90, 72 for p95, 368 for p99 and 3688 for p99.9. Infinite
// members are ordinary ones.
//
// David and Nagaraja, Order Statistics, 3rd edition (2003), section 7.1: how
// many of n observations lie below the p-quantile is binomial (n, p), so that
// the k-th smallest lies above it with probability P(B < k).
func QuantileInterval(sorted []float64, p, confidence float64) (lo, hi float64) {
	return intervalOf(len(sorted), func(i int) float64 { return sorted[i] }, p, confidence)
}

// intervalOf is QuantileInterval of n observations, of which at gives the one at an index.
func intervalOf(n int, at func(int) float64, p, confidence float64) (lo, hi float64) {
	tail := (1 - confidence) / 2
	below := rank(n, p, tail)
	above := rank(n, 1-p, tail)
	if below == 0 || above == 0 {
		return math.NaN(), math.NaN()
	}
	return at(below - 1), at(n - above)
}

// minimumN is the least number of observations for which QuantileInterval
// has an interval: the outermost two must lie outside with (1-confidence)/2 each.
// At 95 % it is 6 for the median, 36 for p90, 72 for p95, 368 for p99 and 3688
// for p99.9. Where no number will do, it is the largest int.
func minimumN(p, confidence float64) int {
	tail := (1 - confidence) / 2
	if !(p > 0 && p < 1 && tail < 0.5) {
		return math.MaxInt
	}
	n := math.Ceil(exact.Log(tail)/exact.Log(max(p, 1-p)) - rounding)
	if !(n < math.MaxInt32) { // so near to 0 or 1 that the logarithm vanishes, or there is no tail
		return math.MaxInt
	}
	return int(n)
}

// rank returns the largest k for which the k-th smallest of n observations lies
// above the p-quantile with probability tail at most, or 0 if there is none.
func rank(n int, p, tail float64) int {
	if !(p > 0 && p < 1 && tail > 0 && tail < 0.5) {
		return 0
	}
	return sort.Search(n, func(k int) bool { // of binomial (n, p), more than k at most
		return betaInc(1-p, float64(n-k), float64(k)+1) > tail*(1+rounding)
	})
}

// rounding is allowed for where an exact probability meets its limit, as that
// of 3 observations all below the median, 1/8, does at a confidence of 0.75.
const rounding = 1e-9

func lgamma(x float64) float64 {
	v, _ := exact.Lgamma(x)
	return v
}
