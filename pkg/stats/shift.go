package stats

import (
	"math"
	"slices"

	mm "github.com/aclements/go-moremath/stats"
)

// HodgesLehmann returns the shift from a to b (Hodges and Lehmann, 1963), the
// median of the differences of all pairs, and the interval of those shifts that
// MannWhitney would not reject, the one that R's wilcox.test gives. If b's
// distribution is a's shifted it covers with at least the given confidence (nearly
// so, beyond 50 values a side), whatever the distribution.
//
// An end is NaN if the samples are too small for it. So is every figure that
// censored values leave open, and those that are not hold however large these are.
func HodgesLehmann(a, b []float64, confidence float64) (shift, lo, hi float64) {
	x, y := sample(a), sample(b)
	pairs := len(x) * len(y)
	if pairs == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	// A censored value lies anywhere from the largest known one to infinity.
	seen := largest(x, y)
	least, most := newDifferences(x, atMost(y, seen)), newDifferences(atMost(x, seen), y)
	median := func(d differences) float64 { return middle(d.find((pairs+1)/2), d.find(pairs/2+1)) }
	shift, lo, hi = median(least), math.NaN(), math.NaN()
	if shift != median(most) {
		shift = math.NaN()
	}
	if k := shiftRank(len(x), len(y), confidence); k > 0 {
		lo, hi = least.find(k), most.find(pairs+1-k)
	}
	return shift, lo, hi
}

// largest returns the largest value that is not censored, or -Inf.
func largest(samples ...[]float64) float64 {
	most := math.Inf(-1)
	for _, xs := range samples {
		for _, x := range xs {
			if !math.IsInf(x, 1) {
				most = max(most, x)
			}
		}
	}
	return most
}

// atMost returns a copy of xs with nothing beyond limit.
func atMost(xs []float64, limit float64) []float64 {
	out := slices.Clone(xs)
	for i, x := range out {
		out[i] = min(x, limit)
	}
	return out
}

// shiftRank returns the largest k with P(U < k) of (1-confidence)/2 at most.
func shiftRank(n, m int, confidence float64) int {
	tail := (1 - confidence) / 2
	if !(tail > 0 && tail < 0.5) {
		return 0
	}
	u := float64(float64(n) * float64(m) / 2)
	k := max(0, int(u+float64(normalQuantile(tail)*deviation(n, m, nil))+0.5))
	if n > exactLimit || m > exactLimit {
		return k
	}
	// From the normal distribution's rank it is never far to the exact one.
	beyond := func(k int) bool { return mm.UDist{N1: n, N2: m}.CDF(float64(k)) > tail*(1+rounding) }
	for k > 0 && beyond(k-1) {
		k--
	}
	for !beyond(k) {
		k++
	}
	return k
}

// Differences are those of all pairs, found by their rank without being listed,
// for they are as many as the product of the sizes.
type differences struct {
	x, y  []float64 // the finite values, ascending
	least int       // pairs with an infinite x: smaller than all others
}

// newDifferences is for samples of which one at most has infinite values.
func newDifferences(x, y []float64) differences {
	n, _ := slices.BinarySearch(x, math.Inf(1))
	m, _ := slices.BinarySearch(y, math.Inf(1))
	return differences{x: x[:n], y: y[:m], least: (len(x) - n) * len(y)}
}

// find returns the k-th smallest difference, or NaN if it is infinite. It bisects
// the float64s, whose bits order them as integers do.
func (d differences) find(k int) float64 {
	k -= d.least
	if k < 1 || k > len(d.x)*len(d.y) {
		return math.NaN()
	}
	hi := int64(math.Float64bits(math.Inf(1)))
	lo := -hi
	for lo < hi {
		if mid := lo&hi + (lo^hi)>>1; d.upTo(ordered(mid)) < k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return known(ordered(lo))
}

// ordered returns the i-th float64 from zero.
func ordered(i int64) float64 {
	if i < 0 {
		return -math.Float64frombits(uint64(-i))
	}
	return math.Float64frombits(uint64(i))
}

// upTo counts the differences that are v at most.
func (d differences) upTo(v float64) int {
	n, j := 0, 0
	for _, x := range d.x {
		for j < len(d.y) && d.y[j]-x <= v {
			j++
		}
		n += j
	}
	return n
}
