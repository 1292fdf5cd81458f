package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Stratified says how samples b lie to samples a within strata, such as machines, whose
// levels may differ by anything: members of different strata are never compared.
type Stratified struct {
	Strata int // that have members on both sides; members of others are left out
	// P is of the two-sided test that a and b have one distribution in each stratum.
	P float64
	// Delta is Cliff's: 1 if every member of b is larger than every one of a in its stratum,
	// -1 if every one is smaller.
	Delta  float64
	Change // within strata
}

// Stratify compares b with a, whose samples of one index are of one stratum. Its statistic is
// the sum of Mann and Whitney's U of the strata, each divided by its number of members and one
// (P. van Elteren, On the combination of independent two sample tests of Wilcoxon, Bulletin de
// l'Institut International de Statistique 37(3), 1960; E. L. Lehmann, Nonparametrics, 1975,
// section 3.3), with weights that are rounded to whole numbers, a quarter of the least one at
// most. P is exact, conditional on ties, up to 50 members on each side of a stratum and
// mostExact steps of work, and normal beyond. With one stratum all is that of MannWhitney.
//
// The estimates are the shifts at which that statistic has its mean, which are weighted medians of
// the differences within strata, and their intervals are the shifts that the test without ties
// does not reject (J. L. Hodges, E. L. Lehmann, Annals of Mathematical Statistics 34, 1963).
//
// NaN is missing. +Inf is censored: larger than all others, with a difference of which only a
// bound is known.
func Stratify(a, b [][]float64, confidence float64) Stratified {
	nan := math.NaN()
	all := strataOf(a, b)
	s := Stratified{Strata: len(all), P: nan, Delta: nan, Change: Change{nan, nan, nan, nan, nan, nan}}
	if len(all) == 0 {
		return s
	}
	twice := 0
	for _, x := range all {
		twice += x.weight * x.twice
	}
	s.P = all.p(twice)
	s.Delta = float64(twice-all.pairs())/float64(all.pairs()) + 0 // no negative zero
	cut := all.untied().critical((1 - confidence) / 2)
	s.Shift, s.ShiftLow, s.ShiftHigh = all.estimate(cut)
	if all.toLogs() {
		s.Ratio, s.RatioLow, s.RatioHigh = all.estimate(cut)
		s.Ratio, s.RatioLow, s.RatioHigh = exact.Exp(s.Ratio), exact.Exp(s.RatioLow), exact.Exp(s.RatioHigh)
	}
	return s
}

// MinStratifiedP returns the least P that Stratify can give for strata of these sizes.
func MinStratifiedP(sizes [][2]int) float64 {
	choices := 1.0
	for _, n := range sizes {
		if n[0] > 0 && n[1] > 0 {
			choices *= choose(n[0]+n[1], n[0])
		}
	}
	if choices == 1 {
		return math.NaN()
	}
	return min(1, 2/choices)
}

// mostExact bounds the work for an exact distribution of a sum.
const mostExact = 20_000_000

// A stratum has both samples in ascending order.
type stratum struct {
	x, y   []float64
	weight int
	twice  int // 2U of y
	ties   []int
}

type strata []stratum

func strataOf(a, b [][]float64) (all strata) {
	most := 0
	for i := range min(len(a), len(b)) {
		s := stratum{x: sample(a[i]), y: sample(b[i])}
		if len(s.x) > 0 && len(s.y) > 0 {
			s.twice, s.ties = count(s.x, s.y)
			all = append(all, s)
			most = max(most, len(s.x)+len(s.y)+1)
		}
	}
	common := 0
	for i := range all {
		s := &all[i]
		s.weight = int(math.Round(4 * float64(most) / float64(len(s.x)+len(s.y)+1)))
		common = divisor(common, s.weight)
	}
	for i := range all {
		all[i].weight /= common
	}
	return all
}

func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// toLogs takes the logarithms of all values if they are positive, and says whether they are.
func (all strata) toLogs() bool {
	if slices.ContainsFunc(all, func(s stratum) bool { return min(s.x[0], s.y[0]) <= 0 }) {
		return false
	}
	for _, s := range all {
		for _, values := range [][]float64{s.x, s.y} {
			for i, v := range values {
				values[i] = exact.Log(v)
			}
		}
	}
	return true
}

// pairs is how many pairs of a and b there are within strata, by their weights; the mean of the
// statistic.
func (all strata) pairs() (n int) {
	for _, s := range all {
		n += s.weight * len(s.x) * len(s.y)
	}
	return n
}

// untied are the strata as if no two members were equal.
func (all strata) untied() strata {
	all = slices.Clone(all)
	for i := range all {
		all[i].ties = slices.Repeat([]int{1}, len(all[i].x)+len(all[i].y))
	}
	return all
}

func (all strata) spread() float64 {
	squares := 0.0
	for _, s := range all {
		d := 2 * float64(s.weight) * deviation(len(s.x), len(s.y), s.ties)
		squares += float64(d * d)
	}
	return math.Sqrt(squares)
}

// distribution are the probabilities of the statistic, from 0 on; nil if it takes too much work.
func (all strata) distribution() []float64 {
	length, work := 1, 0
	for _, s := range all {
		n, m := len(s.x), len(s.y)
		if n > exactLimit || m > exactLimit {
			return nil
		}
		work += length * (2*n*m + 1)
		length += 2 * n * m * s.weight
	}
	if work > mostExact {
		return nil
	}
	sum := []float64{1}
	for _, s := range all {
		n, m := len(s.x), len(s.y)
		ways := tiedWays(s.ties, m, 2*n*m)
		next := make([]float64, len(sum)+2*n*m*s.weight)
		for u, w := range ways {
			if w == 0 {
				continue
			}
			share := w / choose(n+m, n)
			for i, v := range sum {
				next[i+u*s.weight] += float64(v * share)
			}
		}
		sum = next
	}
	return sum
}

// p is twice the smaller tail.
func (all strata) p(twice int) float64 {
	if len(all) == 1 {
		return MannWhitney(all[0].x, all[0].y).P
	}
	spread := all.spread()
	if !(spread > 0) {
		return 1
	}
	dist := all.distribution()
	if dist == nil {
		off := max(0, math.Abs(float64(twice-all.pairs()))-1) // 1 for continuity: twice a half
		return exact.Erfc(off / spread / math.Sqrt2)
	}
	below, above := 0.0, 0.0
	for _, v := range dist[:twice+1] {
		below += v
	}
	for _, v := range dist[twice:] {
		above += v
	}
	return min(1, 2*min(below, above))
}

// critical is the largest number of pairs that the statistic has, or fewer, with a probability
// of tail at most; -1 if there is none.
func (all strata) critical(tail float64) int {
	if !(tail > 0 && tail < 0.5) {
		return -1
	}
	dist := all.distribution()
	if dist == nil {
		at := float64(all.pairs()) + float64(NormalQuantile(tail)*all.spread()) - 1
		return int(math.Floor(max(at, -1) / 2))
	}
	below := 0.0
	for t, v := range dist {
		if below += v; below > tail*(1+rounding) {
			return (t+1)/2 - 1
		}
	}
	return -1
}

// estimate is the weighted median of the differences within strata, and its interval, outside of
// which lie so many pairs, and no more, on either side; -1: it has none.
func (all strata) estimate(cut int) (center, lo, hi float64) {
	low, high := all.bounded()
	total := all.pairs()
	median := func(of strata) float64 {
		return middle(of.difference(total/2+total%2), of.difference(total/2+1))
	}
	center = median(low)
	if center != median(high) { // as censoring hides it
		center = math.NaN()
	}
	if cut < 0 {
		return known(center), math.NaN(), math.NaN()
	}
	return known(center), known(low.difference(cut + 1)), known(high.difference(total - cut))
}

// bounded are strata whose differences are the least, and the largest, that censored members can
// have: what is censored is at least the largest that was seen.
func (all strata) bounded() (low, high strata) {
	largest := math.Inf(-1)
	for _, s := range all {
		for _, v := range slices.Concat(s.x, s.y) {
			if !math.IsInf(v, 1) {
				largest = max(largest, v)
			}
		}
	}
	clip := func(values []float64) []float64 {
		values = slices.Clone(values)
		for i, v := range values {
			values[i] = min(v, largest)
		}
		return values
	}
	low, high = slices.Clone(all), slices.Clone(all)
	for i, s := range all {
		low[i].y, high[i].x = clip(s.y), clip(s.x)
	}
	return low, high
}

// difference is the k-th smallest of the differences within strata, each as often as its weight says.
func (all strata) difference(k int) float64 { return smallest(k, math.Inf(-1), math.Inf(1), all.upTo) }

// upTo counts the differences that are at most v.
func (all strata) upTo(v float64) (n int) {
	for _, s := range all {
		j := 0
		for _, y := range s.y {
			for j < len(s.x) && y-s.x[j] > v {
				j++
			}
			n += s.weight * (len(s.x) - j)
		}
	}
	return n
}

// Interaction returns the P of the test that the change from a to b, by one amount or by one
// factor if all values are positive, is the same in all strata. The common change is taken out
// of b. What is left are the U of the strata, in terms of their deviations: the sum of their
// squares, less what a common change would still explain, is large if the changes differ (P. de
// Kroon and P. van der Laan, Distribution-free test procedures in two-way layouts, Statistica
// Neerlandica 35, 1981, for that sum in van Elteren's test). It is held against chi-square, and,
// where that leaves doubt, against draws in which the members of each stratum change sides; the
// larger P counts. It is NaN if fewer than two strata have members on both sides.
func Interaction(a, b [][]float64, seed uint64) float64 {
	all := strataOf(a, b)
	if len(all) < 2 {
		return math.NaN()
	}
	all.toLogs()
	shift, _, _ := all.estimate(-1)
	if math.IsNaN(shift) {
		return shift
	}
	var scored []scores
	for _, s := range all {
		for i := range s.y {
			s.y[i] -= shift
		}
		scored = append(scored, rankScores(s.x, s.y))
	}
	return interaction(scored, seed)
}

// PairedInteraction is the same of pairs, by their differences (Paired.Differences), stratum by
// stratum: Kruskal and Wallis's test of these (Use of ranks in one-criterion variance analysis,
// JASA 47, 1952), held against chi-square and draws in the same way.
func PairedInteraction(differences [][]float64, seed uint64) float64 {
	var all []member
	groups := 0
	for _, list := range differences {
		before := len(all)
		for _, d := range list {
			if !math.IsNaN(d) {
				all = append(all, member{d, int32(groups), 0})
			}
		}
		if len(all) > before {
			groups++
		}
	}
	if groups < 2 {
		return math.NaN()
	}
	of, squares := centredRanks(all)
	if !(squares > 0) {
		return 1
	}
	sizes, sums := make([]int, groups), make([]float64, groups)
	for _, m := range all {
		sizes[m.group]++
	}
	statistic := func() (h float64) {
		clear(sums)
		for i, m := range all {
			sums[m.group] += of[i]
		}
		for g, sum := range sums {
			h += float64(sum*sum) / float64(sizes[g])
		}
		return h / squares * float64(len(all)-1)
	}
	found := statistic()
	return againstDraws(found, groups-1, len(all), seed, func(d draw) float64 {
		shuffle(of, len(of), d)
		return statistic()
	})
}

// scores are those of a stratum: centred ranks, of which those of b are summed.
type scores struct {
	of       []float64
	chosen   int // members of b
	sum      float64
	variance float64
	weight   float64
}

func rankScores(x, y []float64) scores {
	all := make([]member, 0, len(x)+len(y))
	for _, v := range x {
		all = append(all, member{v, 0, 0})
	}
	for _, v := range y {
		all = append(all, member{v, 1, 0})
	}
	n := float64(len(all))
	s := scores{chosen: len(y), weight: 1 / (n + 1)}
	of, squares := centredRanks(all)
	for i, m := range all {
		if m.group == 1 {
			s.sum += of[i]
		}
	}
	s.of = of
	s.variance = float64(len(x)) * float64(len(y)) / (n * (n - 1)) * squares
	return s
}

// centredRanks sorts all, and returns their ranks, of which equal members have the middle, less
// the mean rank; and the sum of the squares of that.
func centredRanks(all []member) (of []float64, squares float64) {
	slices.SortFunc(all, func(a, b member) int { return cmp.Compare(a.value, b.value) })
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].value == all[i].value {
			end++
		}
		score := float64(i+end-len(all)) / 2
		for ; i < end; i++ {
			of = append(of, score)
			squares += float64(score * score)
		}
	}
	return of, squares
}

// shuffle draws the first so many of list.
func shuffle(list []float64, first int, d draw) {
	for i := range first {
		j := i + d.index(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
}

// interaction is the P of the scores of strata.
func interaction(all []scores, seed uint64) float64 {
	statistic := func(sum func(*scores) float64) float64 {
		squares, common, variance := 0.0, 0.0, 0.0
		for i := range all {
			s := &all[i]
			if !(s.variance > 0) {
				continue
			}
			v := sum(s)
			squares += float64(v*v) / s.variance
			common += float64(s.weight * v)
			variance += float64(s.weight * s.weight * s.variance)
		}
		if !(variance > 0) {
			return 0
		}
		return squares - float64(common*common)/variance
	}
	size := 0
	for _, s := range all {
		size += len(s.of)
	}
	found := statistic(func(s *scores) float64 { return s.sum })
	return againstDraws(found, len(all)-1, size, seed, func(d draw) float64 {
		return statistic(func(s *scores) (sum float64) {
			shuffle(s.of, s.chosen, d)
			for _, v := range s.of[:s.chosen] {
				sum += v
			}
			return sum
		})
	})
}

// mostDraws is how often the scores of an interaction are drawn, and muchDoubt the P of
// chi-square above which that would change nothing.
const (
	mostDraws = 9999
	muchDoubt = 0.2
)

// againstDraws is the P of a statistic that is of chi-square's distribution in large samples, and
// of the one that next draws from, of so many members each time. The larger one counts.
func againstDraws(found float64, degrees, size int, seed uint64, next func(draw) float64) float64 {
	p := chiSquareTail(max(found, 0), degrees)
	if p > muchDoubt {
		return p
	}
	d := draw{rand.NewPCG(seed, 3)}
	times, as := max(999, min(mostDraws, 20_000_000/size)), 1
	for range times {
		if next(d) >= found*(1-rounding) {
			as++
		}
	}
	return max(p, float64(as)/float64(times+1))
}
