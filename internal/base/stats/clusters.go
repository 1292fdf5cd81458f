package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A Tail is a quantile of operations that come in groups, such as the elections of
// trials. The operations of one group have much in common, so that they tell less than
// as many independent ones.
type Tail struct {
	N        int // operations, Censored included
	Censored int
	Groups   int     // that have an operation
	Value    float64 // the quantile of all operations together; NaN: none, or it is censored
	Low      float64 // ends of the interval, NaN each where it is not known
	High     float64
	// Effect is the design effect: the variance of the share of operations up to Value,
	// against that of as many independent ones. NaN with fewer than two groups.
	Effect float64
	// Independent is how many independent operations would tell as much, at least.
	Independent float64
	// Alike is how many groups of one size would tell as much: Groups if they have one, and fewer where
	// few groups have most of the operations.
	Alike  float64
	each   float64 // what the operations of a group are worth if Effect is right; 0: Independent says it
	Needed int     // independent operations that an interval needs
	Doubt  float64 // by how much a value can be wrong, which the interval has taken in
}

// Refused says whether there are too few operations or groups for an interval.
func (t *Tail) Refused() bool { return !(t.Independent >= float64(t.Needed)) || t.Lopsided() }

// Lopsided says whether there are too few groups, or all but a few of them are next to nothing: then an
// interval depends on whether the sample has one of the few.
func (t *Tail) Lopsided() bool {
	few := t.Alike < manyGroups && 3*t.Alike < float64(t.Groups)
	return few || !(t.Alike >= MinimumGroups*(1-rounding))
}

// manyGroups of one size outweigh any that are larger.
const manyGroups = 20

// GroupsNeeded is how many groups like these an interval takes, about; 0 if that cannot
// be said.
func (t *Tail) GroupsNeeded() int {
	if !(t.Independent > 0) {
		return 0
	}
	even := t.Alike / float64(t.Groups)
	n := float64(t.Groups) * max(float64(t.Needed)/t.Independent, MinimumGroups/t.Alike)
	if t.each > 0 { // with more groups, the effect is known better
		most := min(float64(t.Needed)/even, math.MaxInt32)
		few := sort.Search(int(most), func(m int) bool {
			return m >= MinimumGroups && t.each*float64(m)/doubt(float64(m)) >= float64(t.Needed)
		})
		n = max(float64(few), MinimumGroups/even)
	}
	return int(min(max(math.Ceil(n*(1-rounding)), MinimumGroups), math.MaxInt32))
}

// MinimumGroups is how many groups there must be for an interval: with fewer there is
// next to no telling how much groups differ.
const MinimumGroups = 6

// GroupedQuantile returns the p-quantile of all members of groups together and its
// interval, which covers the p-quantile of their distribution. Members of one group may
// depend on each other in any way, and how many they are may depend on their values; groups are
// independent. Members that are infinite are censored.
//
// The interval holds every value of which a test does not reject that it is the quantile: each group has
// a part p of its members below that, and what it has beyond is 0 on average. The test is that of
// skewedInterval, with as many degrees of freedom as there are groups less one. (That the clusters' sums
// alone decide: Woodruff, Confidence Intervals for Medians and Other Position Measures, JASA 47, 1952;
// Kish, Survey Sampling, 1965, section 6.3.) Where all groups have one member, it is QuantileInterval.
//
// Whether there are enough members follows from what they are worth: their number divided by the upper
// end, of 95 %, of Kish's design effect, and by how many groups one of a common size stands for; and at
// least as many as there are groups of one size. The effect is the larger of that at the quantile and
// that at the median.
func GroupedQuantile(groups [][]float64, p, confidence float64) Tail {
	all, sizes := pooled(groups)
	nan := math.NaN()
	t := Tail{N: len(all), Groups: len(sizes), Low: nan, High: nan, Effect: nan, Independent: nan,
		Alike: ofOneSize(sizes), Needed: minimumN(p, confidence)}
	for _, x := range all {
		if math.IsInf(x.value, 1) {
			t.Censored++
		}
	}
	sorted := make([]float64, len(all))
	for i, x := range all {
		sorted[i] = x.value
	}
	quantile := Quantile(sorted, p)
	t.Value = known(quantile)
	if t.Groups < 2 {
		return t
	}
	n := float64(t.N)
	t.Effect = max(designEffect(all, sizes, quantile), designEffect(all, sizes, Quantile(sorted, 0.5)))
	t.Independent = n
	if t.Groups < t.N {
		m := float64(t.Groups)
		t.each = n / t.Effect * t.Alike / (m * m)
		t.Independent = min(n, max(t.each*m/doubt(m), t.Alike))
	}
	switch {
	case t.Refused():
	case t.Groups == t.N:
		lo, hi := QuantileInterval(sorted, p, confidence)
		t.Low, t.High = known(lo), known(hi)
	default:
		places := standing(all, sizes, p, func(student, hall float64) float64 {
			if student > 0 {
				return max(0, min(student, hall))
			}
			return min(0, max(student, hall))
		})
		reach := studentQuantile((1-confidence)/2, float64(t.Groups-1))
		if below := sort.Search(t.N, func(i int) bool { return places[i] > -reach }); below > 0 {
			t.Low = known(sorted[below-1])
		}
		if above := sort.Search(t.N, func(i int) bool { return places[i] >= reach }); above < t.N {
			t.High = known(sorted[above])
		}
	}
	return t
}

// doubt is by how much the variance between m groups may be larger than it seems, with 95 %, for normal ones.
func doubt(m float64) float64 { return (m - 1) / (2 * gammaQuantile(0.05, (m-1)/2)) }

// ofOneSize is how many groups of one size have sums that are as skewed as those of these sizes.
func ofOneSize(sizes []int) float64 {
	squares, cubes := 0.0, 0.0
	for _, size := range sizes {
		n := float64(size)
		squares += float64(n * n)
		cubes += float64(n * n * n)
	}
	return squares * squares * squares / (cubes * cubes)
}

// standing is how far each of all members lies above the p-quantile: what one makes of the statistics of
// what groups have below it beyond their part p, where the member itself counts half. It ascends.
func standing(all []member, sizes []int, p float64, one func(student, hall float64) float64) []float64 {
	m := float64(len(sizes))
	beyond := make([]float64, len(sizes))
	var sums [3]float64 // of its powers
	put := func(group int32, by float64) {
		was := beyond[group]
		now := was + by
		beyond[group] = now
		sums[0] += by
		sums[1] += float64(now*now) - float64(was*was)
		sums[2] += float64(now*now*now) - float64(was*was*was)
	}
	for i, size := range sizes {
		put(int32(i), -float64(p*float64(size)))
	}
	places := make([]float64, len(all))
	for i, x := range all {
		put(x.group, 0.5)
		mean := sums[0] / m
		variance := sums[1]/m - float64(mean*mean)
		third := sums[2]/m - float64(3*mean*sums[1]/m) + float64(2*mean*mean*mean)
		places[i] = one(skewedT(mean, variance, third, m))
		if i > 0 {
			places[i] = max(places[i], places[i-1])
		}
		put(x.group, 0.5)
	}
	return places
}

// A member is a value, the group that it is of, and its place in it.
type member struct {
	value        float64
	group, index int32
}

// pooled are the members of all groups, sorted, and the sizes of the groups that have some.
func pooled(groups [][]float64) (all []member, sizes []int) {
	total := 0
	for _, g := range groups {
		total += len(g)
	}
	all = make([]member, 0, total)
	for _, g := range groups {
		size := 0
		for _, v := range g {
			if !math.IsNaN(v) {
				all = append(all, member{v, int32(len(sizes)), int32(size)})
				size++
			}
		}
		if size > 0 {
			sizes = append(sizes, size)
		}
	}
	// Stable: of equal ones those of the first group come first.
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.value, b.value) })
	return all, sizes
}

// designEffect is the variance of the share of members up to a value, by how much groups
// differ, against that of as many independent members. It is 1 where all or none are.
func designEffect(all []member, sizes []int, value float64) float64 {
	upTo := make([]int, len(sizes))
	total := 0
	for _, x := range all {
		if x.value <= value {
			upTo[x.group]++
			total++
		}
	}
	n, m := float64(len(all)), float64(len(sizes))
	share := float64(total) / n
	if total == 0 || total == len(all) {
		return 1
	}
	squares := 0.0
	for i, size := range sizes {
		off := float64(upTo[i]) - float64(share*float64(size))
		squares += float64(off * off)
	}
	between := m / (m - 1) * squares / float64(n*n)
	return between / (share * (1 - share) / (n - 1))
}

// studentQuantile is the point above which Student's t with so many degrees of freedom
// lies with probability tail; NaN where freedom is not positive.
func studentQuantile(tail, freedom float64) float64 {
	if !(freedom > 0) {
		return math.NaN()
	}
	// freedom/(freedom+t²) is of the beta distribution (freedom/2, 1/2).
	x := betaQuantile(2*tail, freedom/2, 0.5)
	return math.Sqrt(freedom * (1 - x) / x)
}
