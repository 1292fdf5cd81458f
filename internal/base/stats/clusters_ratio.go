package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// RatioInterval returns the ratio of b's median to a's, and its interval. It is QuantileRatio of values
// that belong together with none.
func RatioInterval(a, b []float64, confidence float64, _ uint64) (ratio, lo, hi float64) {
	return QuantileRatio(singles(a), singles(b), 0.5, confidence, false, 0)
}

func singles(values []float64) (groups [][]float64) {
	for v := range slices.Values(values) {
		groups = append(groups, []float64{v})
	}
	return groups
}

// QuantileRatio returns the ratio of the p-quantile of all members of b to that of a, and its interval.
// It is for values that have ratios: if one is negative, or a side is empty, everything is NaN, and so is
// the ratio to zero. Below MinimumGroups groups on a side there is no interval. An end is NaN where
// censored members or zeros below the line leave it open, where the samples are too small for that
// confidence, and unless it lies between 0 and 1. Swapped sides give the reciprocals.
//
// How sure each side is that its quantile lies below a value is known: of groups by the test of
// GroupedQuantile, of single values by the binomial distribution, as in QuantileInterval. In terms of
// normal deviates, the interval reaches over all quantiles of both sides that are together at most as
// unlikely as one normal deviate that is beyond the ends: those on a circle, or, of pairs, on the ellipse
// of their correlation (jointly). For normal estimates that is the interval of their difference. It needs no
// density at the quantile, which a bootstrap takes from the sample, and which is anything where the
// quantile lies between two peaks. (Such a profile, for the ratio of medians: R. M. Price and D. G. Bonett,
// Distribution-Free Confidence Intervals for Difference and Ratio of Medians, Journal of Statistical
// Computation and Simulation 72, 2002, with estimated densities; without them, for empirical likelihood:
// A. B. Owen, Empirical Likelihood, 2001, section 3.4.)
//
// In pairs, group i of a and of b belong together; their correlation is that of what they have below the
// quantiles. What shifts all of them alike is found exactly. Pairs of single values, none of which is
// censored, may be much more alike than that tells: their interval is smoothPairs.
func QuantileRatio(a, b [][]float64, p, confidence float64, paired bool, seed uint64) (
	ratio, lo, hi float64) {
	x, sizesX := pooled(a)
	y, sizesY := pooled(b)
	nan := math.NaN()
	if len(x) == 0 || len(y) == 0 || x[0].value < 0 || y[0].value < 0 {
		return nan, nan, nan
	}
	base, new := newLadder(x, sizesX, p), newLadder(y, sizesY, p)
	qx, qy := Quantile(base.values, p), Quantile(new.values, p)
	ratio = known(quotient(qx, qy))
	if min(len(sizesX), len(sizesY)) < MinimumGroups || !(confidence > 0 && confidence < 1) {
		return ratio, nan, nan
	}
	common := 0.0
	if paired && len(sizesX) == len(sizesY) {
		if first, second, ok := singlePairs(a, b); ok && p > 0 && p < 1 {
			lo, hi = smoothPairs(first, second, p, confidence, seed)
			return ratio, min(lo, ratio), max(hi, ratio)
		}
		common = correlation(shares(x, sizesX, qx, p), shares(y, sizesY, qy, p))
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	largest := max(base.largest(), new.largest())
	for _, h := range jointly(-NormalQuantile((1-confidence)/2), common) {
		atX, atY := base.at(h[0]), new.at(h[1])
		// What is censored is at least the largest that was seen.
		lo = min(lo, quotient(atX, min(atY, largest)))
		hi = max(hi, quotient(min(atX, largest), atY))
	}
	return ratio, known(lo), known(hi)
}

// singlePairs are the members of groups, if each is a pair of one value and one, and all are known.
func singlePairs(a, b [][]float64) (x, y []float64, ok bool) {
	for i := range min(len(a), len(b)) {
		if len(a[i]) != 1 || len(b[i]) != 1 || !isLength(a[i][0]) || !isLength(b[i][0]) {
			return nil, nil, false
		}
		x, y = append(x, a[i][0]), append(y, b[i][0])
	}
	return x, y, len(a) == len(b)
}

// smoothPairs is the interval of the ratio of the p-quantile of y to that of x, whose values of one index
// are a pair: percentiles of resamples of pairs, of which the quantiles are those of Harrell and Davis (A New
// Distribution-Free Quantile Estimator, Biometrika 69, 1982). Those of order statistics jump from pair to
// pair, for which an interval of tight pairs would be twice as wide. Resamples of n pairs vary by (n-1)/n of
// what samples vary by, so that the percentiles are those of a normal deviate that is larger by the root of
// n/(n-1) (T. C. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69,
// 2015).
func smoothPairs(x, y []float64, p, confidence float64, seed uint64) (lo, hi float64) {
	n := len(x)
	weights := make([]float64, n+1) // of so many of the smallest values
	for i := range weights {
		weights[i] = betaInc(float64(i)/float64(n), float64(n+1)*p, float64(n+1)*(1-p))
	}
	a, b := byRank(x), byRank(y)
	luck := newDraw(seed, 0)
	taken := make([]int32, n)
	replicates := make([]float64, resamples(2*n, confidence))
	for i := range replicates {
		clear(taken)
		for range n {
			taken[luck.index(n)]++
		}
		replicates[i] = b.quantile(y, taken, weights) / a.quantile(x, taken, weights)
	}
	slices.Sort(replicates) // NaN, of zero by zero, come first
	reach := NormalQuantile((1-confidence)/2) * math.Sqrt(float64(n)/float64(n-1))
	k := int(normal(reach) * float64(len(replicates)+1))
	if k < 1 {
		return math.NaN(), math.NaN()
	}
	return known(replicates[k-1]), known(replicates[len(replicates)-k])
}

// ranked are the indices of values in ascending order.
type ranked []int

func byRank(values []float64) ranked {
	out := make(ranked, len(values))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	return out
}

// quantile is the mean of a resample, which took each value so many times, with weights by rank.
func (r ranked) quantile(values []float64, taken []int32, weights []float64) (sum float64) {
	before := int32(0)
	for _, i := range r {
		if n := taken[i]; n > 0 {
			sum += float64(values[i] * (weights[before+n] - weights[before]))
			before += n
		}
	}
	return sum
}

// directions is how many points of the circle stand for all of it.
const directions = 96

// jointly are pairs of heights that are as unlikely as one normal deviate that is reach away, or less, where
// both correlate. Where they do, only the ends of what they have in common are among them: on the way
// between these, samples go up and down together, and the largest of all those ratios says little.
func jointly(reach, common float64) (out [][2]float64) {
	ends := float64(reach * math.Sqrt((1+common)/2))
	out = [][2]float64{{0, 0}, {ends, ends}, {-ends, -ends}}
	for i := range directions {
		sin, cos := exact.Sincos(2 * math.Pi * float64(i) / directions)
		x := float64(reach * cos)
		y := float64(reach * (float64(common*cos) + float64(math.Sqrt(1-float64(common*common))*sin)))
		if common <= 0 || x*y <= 0 {
			out = append(out, [2]float64{x, y})
		}
	}
	return out
}

// quotient is y/x, where a censored x is known to be large and no more: -Inf
// stands for what it may be at least.
func quotient(x, y float64) float64 {
	if math.IsInf(x, 1) && !math.IsInf(y, 1) {
		return math.Inf(-1)
	}
	return y / x
}

// A ladder is a sample in ascending order, and how far each value lies above a quantile, in normal
// deviates.
type ladder struct{ values, heights []float64 }

// ladderT is the statistic of a ladder: one that leaps nowhere, so that both sides of pairs keep in step.
func ladderT(student, hall float64) float64 { return (student + hall) / 2 }

// sure is a height that no confidence asks for.
const sure = 40

func newLadder(all []member, sizes []int, p float64) ladder {
	n := len(all)
	l := ladder{make([]float64, n), make([]float64, n)}
	if n > len(sizes) {
		l.heights = standing(all, sizes, p, ladderT)
	}
	freedom := float64(len(sizes) - 1)
	for i, x := range all {
		l.values[i] = x.value
		height := 0.0
		if n == len(sizes) {
			height = NormalQuantile(betaInc(1-p, float64(n-i), float64(i+1)))
		} else {
			t := l.heights[i]
			height = math.Copysign(NormalQuantile(studentTail(math.Abs(t), freedom)), t)
		}
		l.heights[i] = max(-sure, min(height, sure))
	}
	return l
}

// at is the value that lies so far above the quantile, on the line between those of the sample. Between
// the outermost two values is nothing to go by: there it is the outermost one. Beyond that it is not known.
func (l *ladder) at(height float64) float64 {
	n := len(l.values)
	i := sort.SearchFloat64s(l.heights, height)
	switch {
	case i == n || i == 0 && height < l.heights[0]:
		return math.NaN()
	case l.heights[i] == height:
		return l.values[i]
	case i == 1:
		return l.values[0]
	case i == n-1:
		return l.values[n-1]
	}
	from, to := l.values[i-1], l.values[i]
	if from == to || math.IsInf(to, 1) {
		return to
	}
	part := (height - l.heights[i-1]) / (l.heights[i] - l.heights[i-1])
	return from + float64(part*(to-from))
}

// largest is the largest value that is not censored.
func (l *ladder) largest() float64 {
	for _, v := range slices.Backward(l.values) {
		if !math.IsInf(v, 1) {
			return v
		}
	}
	return 0
}

// shares are how much more each group has up to a value than its part p.
func shares(all []member, sizes []int, value, p float64) []float64 {
	out := make([]float64, len(sizes))
	for i, size := range sizes {
		out[i] = -float64(p * float64(size))
	}
	for _, x := range all {
		if x.value <= value {
			out[x.group]++
		}
	}
	return out
}

// correlation is Pearson's; 0 where one side is the same throughout.
func correlation(x, y []float64) float64 {
	meanX, sx := moments(x)
	meanY, sy := moments(y)
	if sx == 0 || sy == 0 {
		return 0
	}
	sum := 0.0
	for i := range x {
		sum += float64((x[i] - meanX) / sx * (y[i] - meanY) / sy)
	}
	if sum /= float64(len(x)); math.Abs(sum) > 1-rounding { // all are shifted alike
		return math.Copysign(1, sum)
	}
	return sum
}
