package stats

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Part is what one trial says of a pooled figure: a value, and the exposure that it weighs with. One
// without a finite value or a positive weight says nothing.
type Part struct{ Value, Weight float64 }

func (p Part) known() bool {
	return !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) && p.Weight > 0 && !math.IsInf(p.Weight, 1)
}

// whole is the weighted mean of parts, and their weight.
func whole(parts []Part) (mean, weight float64) {
	sum := 0.0
	for _, p := range parts {
		sum += float64(p.Value * p.Weight)
		weight += p.Weight
	}
	return sum / weight, weight
}

// telling are the parts that say something.
func telling(parts []Part) []Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return !p.known() })
}

// Together is what parts say as one.
func Together(parts []Part) Part {
	mean, weight := whole(telling(parts))
	return Part{mean, weight}
}

// Pooled returns the weighted mean of parts, which is the figure of all of them together, and its
// interval. It is for values that are 0 unless something rare happened: those of PoissonInterval
// for as many events as the sum is worth, which is the sum divided by its dispersion between parts
// (McCullagh and Nelder, Generalized Linear Models, 1989, section 6.2.3). Where few parts are above 0
// the dispersion is known badly, for which it is larger by the square of the ratio of Student's t with
// as many degrees of freedom to the normal quantile. Fay and Feuer have such an interval for weighted
// sums of counts (Confidence Intervals for Directly Adjusted Rates, Statistics in Medicine 16, 1997).
// Where parts have a longer tail than counts, the interval also reaches as far as hallInterval does.
//
// Both ends are NaN below MinimumBootstrap parts, and where all values are 0: how rare what never
// happened is, BinomialInterval says.
func Pooled(parts []Part, confidence float64) (mean, lo, hi float64) {
	parts = telling(parts)
	mean, exposure := whole(parts)
	sum, seen := mean*exposure, 0.0
	for _, p := range parts {
		if p.Value != 0 {
			seen++
		}
	}
	n := float64(len(parts))
	if n < MinimumBootstrap || seen == 0 || !(confidence > 0 && confidence < 1) {
		return mean, math.NaN(), math.NaN()
	}
	spread, beyond := 0.0, make([]float64, len(parts))
	for i, p := range parts {
		if off := float64((p.Value - mean) * p.Weight); math.Abs(off) > rounding*sum {
			spread += float64(off*off) / float64(mean*p.Weight)
			beyond[i] = off
		}
	}
	tail := (1 - confidence) / 2
	wide := studentQuantile(tail, min(seen, n-1)) / NormalQuantile(tail)
	dispersion := spread / (n - 1) * float64(wide*wide)
	if dispersion == 0 {
		return mean, mean, mean
	}
	lo, hi = gammaEnds(sum/dispersion, confidence)
	_, variance, third := thirdMoments(beyond)
	deviation := math.Sqrt(variance/(n-1)) * n / exposure
	least, most := hallInterval(mean, deviation, meanSkewness(variance, third, n), studentQuantile(tail, n-1))
	lo, hi = lo*dispersion/exposure, max(hi*dispersion/exposure, most)
	if third < 0 { // the tail is below
		lo = min(lo, least)
	}
	if lo < rounding*mean {
		lo = 0
	}
	return mean, lo, hi
}

// gammaEnds is PoissonInterval, and for many events the approximation by Wilson and Hilferty (The
// Distribution of Chi-Square, PNAS 17, 1931), which is as exact there and takes no time.
func gammaEnds(events, confidence float64) (lo, hi float64) {
	const many = 10_000
	if events < many {
		return PoissonInterval(events, confidence)
	}
	end := func(shape, z float64) float64 {
		root := 1 - 1/(9*shape) + z/float64(3*math.Sqrt(shape))
		return shape * root * root * root
	}
	z := NormalQuantile((1 - confidence) / 2)
	return end(events, z), end(events+1, -z)
}

// DescribeWhole condenses parts whose values are calm where nothing happened, which is 0 or 1. Those of
// one group, such as a round, are correlated and count as one. The mean is weighted, and has
// the interval of Pooled, for what the values lack of calm; all else takes the values as they are.
func DescribeWhole(groups [][]Part, calm float64) Summary {
	var parts, sums []Part
	for _, g := range groups {
		if len(g) > 0 {
			parts, sums = append(parts, g...), append(sums, Together(g))
		}
	}
	values, seen := make([]float64, len(parts)), 0
	for i, p := range parts {
		if values[i] = p.Value; p.Value != calm {
			seen++
		}
	}
	s := Describe(values, 0)
	s.Method, s.Seen = Whole, seen
	if len(sums) > 1 {
		parts = sums
	}
	if calm == 0 {
		s.Mean, s.CILow, s.CIHigh = Pooled(parts, Confidence)
		return s
	}
	for i := range parts {
		parts[i].Value = calm - parts[i].Value
	}
	mean, lo, hi := Pooled(parts, Confidence)
	s.Mean, s.CILow, s.CIHigh = calm-mean, calm-hi, calm-lo
	return s
}

// PooledPairs compares the pooled means of b and a, whose parts of one index are a pair: what Pairs is
// to medians. Shift and Ratio are those of the means, with the intervals of changeOf. P is of the test
// that chance alone decides which member of a pair is which: the share of choices
// whose difference of means is at least as far from 0. A part that says nothing leaves its pair out.
func PooledPairs(a, b []Part, confidence float64, seed uint64) Paired {
	p := Paired{P: math.NaN(), Change: noChange()}
	var x, y []Part
	var kept []int
	for i := range min(len(a), len(b)) {
		p.Differences = append(p.Differences, math.NaN())
		if !a[i].known() || !b[i].known() {
			p.Left++
			continue
		}
		kept, x, y = append(kept, i), append(x, a[i]), append(y, b[i])
		p.count(a[i].Value, b[i].Value)
	}
	if p.N = len(x); p.N == 0 {
		return p
	}
	meanX, weightX := whole(x)
	meanY, weightY := whole(y)
	both, n := float64((meanX+meanY)/2), float64(p.N)
	share := func(part Part, weight float64) float64 {
		return float64((part.Value - both) * part.Weight / weight * n)
	}
	s := Signed{Mean: true}
	for k, i := range kept {
		if d := share(y[k], weightY) - share(x[k], weightX); x[k] != y[k] {
			p.Differences[i] = d
		} else {
			p.Differences[i] = 0
		}
		s.Differences, s.Keys = append(s.Differences, p.Differences[i]), append(s.Keys, k)
	}
	p.P = newSums(s).p(make([]bool, p.N))
	switch {
	case meanY > meanX:
		p.Tendency = 1
	case meanY < meanX:
		p.Tendency = -1
	}
	p.Change = changeOfPairs(x, y, p.N-p.Equal, confidence, newDraw(seed, 0))
	return p
}

// changeOfPairs is that of their pooled means; some of them differ.
func changeOfPairs(x, y []Part, differ int, confidence float64, luck draw) Change {
	n := len(x)
	meanX, _ := whole(x)
	meanY, _ := whole(y)
	drawnX, drawnY := make([]Part, n), make([]Part, n)
	return changeOf(meanX, meanY, n, 0, differ, confidence, func() (float64, float64) {
		for k := range drawnX {
			j := luck.index(n)
			drawnX[k], drawnY[k] = x[j], y[j]
		}
		mx, _ := whole(drawnX)
		my, _ := whole(drawnY)
		return mx, my
	})
}

// noChange knows nothing.
func noChange() Change {
	nan := math.NaN()
	return Change{nan, nan, nan, nan, nan, nan}
}

// changeOf is that from mean x to y of n pairs, or of n and m parts that are none if m is not 0, of which
// some differ. The intervals are those of skewedInterval, with the variance and the skewness of the means of
// resamples: none where so few differ that resamples hardly do. The interval of the ratio holds every r
// for which that of y - r x holds 0 (E. C. Fieller, Some Problems in Interval Estimation, Journal of the
// Royal Statistical Society B 16, 1954): its upper end is NaN where x may as well be 0.
func changeOf(x, y float64, n, m, differ int, confidence float64, resample func() (x, y float64)) Change {
	c := noChange()
	c.Shift = y - x
	if x > 0 && y > 0 {
		c.Ratio = y / x
	}
	least := n
	if m > 0 {
		least = min(n, m)
	}
	if least < MinimumBootstrap || differ < MinimumBootstrap || !(confidence > 0 && confidence < 1) {
		return c
	}
	xs := make([]float64, resamples(2*least, confidence))
	ys, off := make([]float64, len(xs)), make([]float64, len(xs))
	for i := range xs {
		xs[i], ys[i] = resample()
	}
	freedom, parts := float64(n-1), float64(least)
	if m > 0 { // Welch's
		_, dx := moments(xs)
		_, dy := moments(ys)
		vx, vy := float64(dx*dx), float64(dy*dy)
		welch := (vx + vy) * (vx + vy) / (float64(vx*vx)/float64(n-1) + float64(vy*vy)/float64(m-1))
		if welch > 0 { // else nothing varies
			freedom = welch
		}
	}
	ends := func(r float64) (lo, hi float64) { // of y - r x
		for i := range off {
			off[i] = ys[i] - float64(r*xs[i])
		}
		_, variance, third := thirdMoments(off)
		figure := y - float64(r*x)
		if math.Sqrt(variance) <= rounding*y {
			variance = 0
		}
		return skewedInterval(figure, math.Sqrt(variance*parts/(parts-1)),
			math.Sqrt(parts)*meanSkewness(variance, third, parts), freedom, confidence)
	}
	c.ShiftLow, c.ShiftHigh = ends(1)
	if math.IsNaN(c.Ratio) {
		return c
	}
	holds := func(r float64) bool {
		lo, hi := ends(r)
		return lo <= 0 && 0 <= hi
	}
	// Of the ends on the scale of logarithms: 40 is as good as infinite.
	end := func(sign float64) float64 {
		reach := bisect(40, func(off float64) bool {
			return off < rounding || holds(c.Ratio*exact.Exp(sign*off))
		})
		return c.Ratio * exact.Exp(float64(sign*reach))
	}
	if c.RatioLow = end(-1); c.RatioLow < c.Ratio*exact.Exp(-39) {
		c.RatioLow = 0
	}
	if c.RatioHigh = end(1); c.RatioHigh > c.Ratio*exact.Exp(39) {
		c.RatioHigh = math.NaN()
	}
	return c
}

// PooledGroups compares the pooled means of b and a, whose parts have no partners. Group i of both are
// the parts on one machine, say, and means are those of all groups in the proportions that both sides have
// together; with one group each it is a comparison like any other. P is of the
// test that within each group chance alone decides which part is of which side: the share of drawn
// permutations whose difference of means is at least as far from 0. Shift and Ratio have the intervals
// of changeOf, by resamples within groups.
func PooledGroups(a, b [][]Part, confidence float64, seed uint64) (p float64, change Change) {
	s := sidesOf(a, b)
	if s.n == 0 || s.m == 0 {
		return math.NaN(), noChange()
	}
	meanX, meanY := s.means(s.mixed)
	luck := newDraw(seed, 0)
	drawn := s.clone()
	as, draws := 1, drawnSwaps(s.n+s.m)
	for range draws {
		for _, g := range drawn {
			for k := len(g) - 1; k > 0; k-- {
				j := luck.index(k + 1)
				g[k], g[j] = g[j], g[k]
			}
		}
		if x, y := s.means(drawn); math.Abs(y-x) >= math.Abs(meanY-meanX)*(1-rounding) {
			as++
		}
	}
	return float64(as) / float64(draws+1), s.change(confidence, luck)
}

// sides are the parts of both sides, group by group: behind each other, the first side's first.
type sides struct {
	mixed  [][]Part
	firsts []int
	n, m   int // parts of each side
	seen   int // parts that are not 0
}

func sidesOf(a, b [][]Part) *sides {
	s := &sides{mixed: make([][]Part, len(a)), firsts: make([]int, len(a))}
	for i := range a {
		x, y := telling(a[i]), telling(b[i])
		s.mixed[i], s.firsts[i] = slices.Concat(x, y), len(x)
		s.n, s.m = s.n+len(x), s.m+len(y)
		for _, p := range s.mixed[i] {
			if p.Value != 0 {
				s.seen++
			}
		}
	}
	return s
}

func (s *sides) clone() (out [][]Part) {
	for _, g := range s.mixed {
		out = append(out, slices.Clone(g))
	}
	return out
}

// means are the pooled means of both sides of groups that are as large, in the proportions of both sides
// together: a side that has more of its parts in a group of large values is not larger for that.
func (s *sides) means(groups [][]Part) (x, y float64) {
	all := 0.0
	for i, g := range groups {
		meanX, weightX := whole(g[:s.firsts[i]])
		meanY, weightY := whole(g[s.firsts[i]:])
		if weight := weightX + weightY; weightX > 0 && weightY > 0 {
			x, y, all = x+float64(meanX*weight), y+float64(meanY*weight), all+weight
		}
	}
	return x / all, y / all
}

// change is that from the first side to the second, by resamples within groups.
func (s *sides) change(confidence float64, luck draw) Change {
	meanX, meanY := s.means(s.mixed)
	drawn := s.clone()
	return changeOf(meanX, meanY, s.n, s.m, s.seen, confidence, func() (float64, float64) {
		for i, g := range s.mixed {
			for k := range g {
				from, of := 0, s.firsts[i]
				if k >= of {
					from, of = of, len(g)-of
				}
				drawn[i][k] = g[from+luck.index(of)]
			}
		}
		return s.means(drawn)
	})
}
