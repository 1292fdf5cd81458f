package stats

import (
	"math"
	"sort"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// MedianSequence returns the interval of a confidence sequence for the median, as it is at
// len(sorted) observations. The probability is at least confidence that the intervals of
// all n hold the median at once. So one may look after every observation, and stop by
// whatever was seen, until now and in other samples too: the interval at the stop still
// holds the median with that confidence. QuantileInterval promises that only for an n that
// does not depend on the observations.
//
// Observations must be independent of each other and of one distribution, which may be
// any: equal values cost nothing, and infinite members are ordinary ones. Both ends are NaN
// where no pair of order statistics will do: at 95 % below 9 observations.
//
// Howard and Ramdas, Sequential estimation of quantiles with applications to A/B testing
// and best-arm identification, Bernoulli 28 (2022): the beta-binomial mixture for a fixed
// quantile. How many of n observations lie below the median is binomial (n, 1/2). The
// likelihood of that number under a share drawn from the distribution Beta(a, a), divided
// by its likelihood under 1/2, is a martingale that begins at 1, which ever reaches 1/t
// with probability t at most (Ville, 1939). Values equal to the median count to either
// side, whichever is the more likely.
func MedianSequence(sorted []float64, confidence float64) (lo, hi float64) {
	n, limit := len(sorted), -exact.Log(1-confidence)
	below := sort.Search(n, func(k int) bool { return 2*k >= n || evidence(k, n) < limit })
	if below == 0 || !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN()
	}
	return sorted[below-1], sorted[n-below]
}

// mixtureShape is the a of MedianSequence, which is 2r in the paper's formula. It decides
// at which n the interval is the narrowest: 1.5 is best near 32. Whatever n from 10 to 1000
// another is best for, its interval is narrower by little more than an eighth there.
const mixtureShape = 1.5

// evidence is the logarithm of the martingale, where k of n observations lie on one side.
func evidence(k, n int) float64 {
	const a = mixtureShape
	one, other := a+float64(k), a+float64(n-k)
	return lgamma(one) + lgamma(other) - lgamma(one+other) -
		(2*lgamma(a) - lgamma(2*a)) + float64(float64(n)*math.Ln2)
}
