package stats

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Paired says how the second members of pairs lie to the first, where the members of
// a pair have common random numbers: one seed, one round, one machine.
type Paired struct {
	N        int // pairs that are compared
	Equal    int // of N: both members are the same
	Rises    int // of N: the second is the larger
	Censored int // of N: one member is censored, so that the order alone is known
	Left     int // pairs left out: a member is missing, or both are censored

	// P is of the two-sided test that the sign of each difference is a matter of chance.
	P float64
	// Tendency is the sum of the ranks of rises less that of falls, as a part of all (the
	// matched-pairs rank biserial correlation of Kerby, Comprehensive Psychology 3, 2014): 1 if
	// every second member is larger, -1 if every one is smaller, 0 if nothing differs.
	Tendency float64
	Change
	// SameShift and SameRatio say that all pairs differ by one and the same amount or
	// factor, to a thousandth of the change: that is no estimate, but what happened.
	SameShift, SameRatio bool
	// Differences are what was ranked, pair by pair: logarithms of quotients, or differences,
	// infinite where a member is censored, and NaN where the pair is left out.
	Differences []float64
}

// A Change is by how much second values differ from first ones: Shift is the median of the differences
// by Hodges and Lehmann, Ratio that of the quotients, each with its interval. A figure that does not
// exist is NaN: an interval of so few, a quotient where one is not positive, what censoring hides.
type Change struct {
	Shift, ShiftLow, ShiftHigh float64
	Ratio, RatioLow, RatioHigh float64
}

// Relative is the change as a part: of the quotients, or, where a value is not positive, of the
// differences in terms of a center.
func (c *Change) Relative(center float64) (change, lo, hi float64) {
	if !math.IsNaN(c.Ratio) || !math.IsNaN(c.RatioLow) || !math.IsNaN(c.RatioHigh) {
		return c.Ratio - 1, c.RatioLow - 1, c.RatioHigh - 1
	}
	if !(center > 0) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return c.Shift / center, c.ShiftLow / center, c.ShiftHigh / center
}

// Pairs compares b with a, whose members of one index are a pair. Under the hypothesis that
// nothing but chance tells the members of a pair apart, each difference is as likely to
// have the other sign, whatever the distribution and however the pairs differ among each
// other. P counts the choices of signs whose sum of ranks is as extreme as that found
// (Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1, 1945; with
// ties every choice is counted, as Pratt and Gibbons, Concepts of Nonparametric Theory,
// 1981, chapter 3): exactly up to 50 pairs that differ, by the normal distribution beyond.
// Pairs of equal members say nothing about the sign and are left out of P alone. P is
// never less than MinPairedP.
//
// What is ranked are the logarithms of quotients where all values are positive, else
// differences. The estimates are medians of Walsh averages, and their intervals the
// order statistics among these that the test does not reject (Hodges and Lehmann, Annals
// of Mathematical Statistics 34, 1963; Hollander and Wolfe, Nonparametric Statistical
// Methods, 1999, sections 3.2 and 3.3).
//
// NaN is a missing value, +Inf a censored one, larger than every other: a pair with one of
// them has a sign, the largest rank, and a difference of which only a bound is known.
func Pairs(a, b []float64, confidence float64) Paired {
	p := Paired{P: math.NaN()}
	largest := math.Inf(-1) // of what is known, which censored values exceed
	positive := true
	var x, y []float64
	var kept []int
	for i := range min(len(a), len(b)) {
		p.Differences = append(p.Differences, math.NaN())
		if unknownPair(a[i], b[i]) {
			p.Left++
			continue
		}
		kept = append(kept, i)
		x, y = append(x, a[i]), append(y, b[i])
		positive = positive && a[i] > 0 && b[i] > 0
		for _, v := range []float64{a[i], b[i]} {
			if !math.IsInf(v, 1) {
				largest = max(largest, v)
			}
		}
	}
	p.N = len(x)
	signed := make([]float64, 0, p.N) // of what is ranked; infinite if censored
	shifts, logs := bounds{}, bounds{}
	for i := range x {
		p.count(x[i], y[i])
		shifts.add(x[i], y[i], largest)
		if positive {
			logs.add(exact.Log(x[i]), exact.Log(y[i]), exact.Log(largest))
			signed = append(signed, exact.Log(y[i])-exact.Log(x[i]))
		} else {
			signed = append(signed, y[i]-x[i])
		}
	}
	if p.N > 0 {
		p.P, p.Tendency = signP(signed)
	}
	for k, i := range kept {
		p.Differences[i] = signed[k]
	}
	p.Shift, p.ShiftLow, p.ShiftHigh = shifts.estimate(confidence)
	p.SameShift = shifts.same(func(v float64) float64 { return v })
	ratio, lo, hi := logs.estimate(confidence)
	p.Ratio, p.RatioLow, p.RatioHigh = exact.Exp(ratio), exact.Exp(lo), exact.Exp(hi)
	p.SameRatio = logs.same(math.Expm1)
	return p
}

// unknownPair says whether nothing is known of which member is the larger.
func unknownPair(a, b float64) bool {
	return math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 1) && math.IsInf(b, 1)
}

func (p *Paired) count(x, y float64) {
	switch {
	case math.IsInf(x, 1) || math.IsInf(y, 1):
		p.Censored++
	case x == y:
		p.Equal++
	}
	if y > x {
		p.Rises++
	}
}

// MinPairedP returns the least P that Pairs can give for so many pairs: 2 of the 2^n
// choices of signs are all alike. With five pairs it is 0.06, with six 0.03.
func MinPairedP(n int) float64 {
	if n < 1 {
		return math.NaN()
	}
	return math.Ldexp(1, 1-n)
}

// signP is the P of the signed ranks of differences that are not zero, and their tendency.
func signP(differences []float64) (p, tendency float64) {
	f := newFlips(Signed{Differences: differences, Keys: make([]int, len(differences))})
	if f.total == 0 {
		return 1, 0
	}
	asTheyAre := []bool{false}
	return f.p(asTheyAre), float64(2*f.rising(asTheyAre)-f.total) / float64(f.total)
}

// ranksOf are twice the ranks of differences that are sorted by size, of which equal ones
// have the middle, and their sum.
func ranksOf(d []float64) (ranks []int, total int) {
	ranks = make([]int, len(d))
	for i := 0; i < len(d); {
		end := i
		for end < len(d) && math.Abs(d[end]) == math.Abs(d[i]) {
			end++
		}
		for j := i; j < end; j++ {
			ranks[j] = i + 1 + end
			total += ranks[j]
		}
		i = end
	}
	return ranks, total
}

// spreadOf is the standard deviation of the sum of a random subset of ranks.
func spreadOf(ranks []int) float64 {
	squares := 0.0
	for _, r := range ranks {
		squares += float64(float64(r) * float64(r))
	}
	return math.Sqrt(squares) / 2
}

// normalSignP is the P of the least of the sums of rising and falling ranks, by the normal
// distribution.
func normalSignP(total, least int, spread float64) float64 {
	off := max(0, float64(float64(total)/2)-float64(least)-1) // 1 for continuity: twice a half
	return exact.Erfc(off / spread / math.Sqrt2)
}

// cumulated are the probabilities that a random subset of ranks has a sum of 0 at most, of 1
// at most, and so on up to most.
func cumulated(ranks []int, most int) []float64 {
	ways := make([]float64, most+1)
	ways[0] = 1
	for _, r := range ranks {
		for s := most; s >= r; s-- {
			ways[s] += ways[s-r]
		}
	}
	all := 0.0
	for s, w := range ways {
		all += w
		ways[s] = math.Ldexp(all, -len(ranks))
	}
	return ways
}

// bounds are differences, each known to lie between two values that are equal but for
// those of censored members.
type bounds struct{ low, high []float64 }

func (d *bounds) add(x, y, largest float64) {
	switch {
	case math.IsInf(y, 1): // more than the largest seen, by nobody knows how much
		d.low, d.high = append(d.low, largest-x), append(d.high, y)
	case math.IsInf(x, 1):
		d.low, d.high = append(d.low, math.Inf(-1)), append(d.high, y-largest)
	default:
		d.low, d.high = append(d.low, y-x), append(d.high, y-x)
	}
}

// estimate is the median of the Walsh averages, and its interval.
func (d *bounds) estimate(confidence float64) (center, lo, hi float64) {
	n := len(d.low)
	nan := math.NaN()
	if n == 0 {
		return nan, nan, nan
	}
	slices.Sort(d.low)
	slices.Sort(d.high)
	averages := n * (n + 1) / 2
	median := func(sorted []float64) float64 {
		return float64(walsh(sorted, (averages+1)/2)/2) + float64(walsh(sorted, averages/2+1)/2)
	}
	center = median(d.low)
	if center != median(d.high) { // as censoring hides it
		center = nan
	}
	if k := signRank(n, confidence); k > 0 {
		return known(center), known(walsh(d.low, k)), known(walsh(d.high, averages+1-k))
	}
	return known(center), nan, nan
}

// same says whether all differences are one amount, as it is seen through scale.
func (d *bounds) same(scale func(float64) float64) bool {
	if len(d.low) == 0 {
		return false
	}
	least, most := scale(slices.Min(d.low)), scale(slices.Max(d.high))
	const part = 1e-3
	return most-least <= part*min(math.Abs(least), math.Abs(most))
}

// signRank is the largest k for which the k-th smallest Walsh average of n differences
// lies above their centre with a probability of at most half of what confidence leaves;
// 0 if there is none.
func signRank(n int, confidence float64) int {
	tail := (1 - confidence) / 2
	if !(tail > 0 && tail < 0.5) {
		return 0
	}
	averages := n * (n + 1) / 2
	if n > exactLimit {
		deviation := math.Sqrt(float64(averages) * float64(2*n+1) / 12)
		return max(0, int(float64(float64(averages)/2)+0.5+float64(NormalQuantile(tail)*deviation)))
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return slices.IndexFunc(cumulated(ranks, averages), func(p float64) bool { return p > tail*(1+rounding) })
}

// walsh is the k-th smallest of the averages of two members of sorted, or of one with itself.
func walsh(sorted []float64, k int) float64 {
	upTo := func(v float64) int { return averagesUpTo(sorted, v) }
	return smallest(k, sorted[0], sorted[len(sorted)-1], upTo)
}

// smallest is the k-th smallest of values that lie between two, of which so many are at most v. It
// halves the values between which it lies, for there are too many to write them down.
func smallest(k int, least, most float64, upTo func(v float64) int) float64 {
	low, high := ordinal(least), ordinal(most)
	for low < high {
		mid := low + (high-low)/2
		if upTo(fromOrdinal(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return fromOrdinal(low)
}

// averagesUpTo counts the averages that are at most v.
func averagesUpTo(sorted []float64, v float64) (count int) {
	j := len(sorted) - 1
	for i := 0; i <= j; i++ {
		for j >= i && float64(sorted[i]/2)+float64(sorted[j]/2) > v {
			j--
		}
		count += max(0, j-i+1)
	}
	return count
}

// ordinal numbers the floating-point numbers in ascending order.
func ordinal(v float64) uint64 {
	bits := math.Float64bits(v)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func fromOrdinal(n uint64) float64 {
	if n>>63 == 0 {
		return math.Float64frombits(^n)
	}
	return math.Float64frombits(n &^ (1 << 63))
}
