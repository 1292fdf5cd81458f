package stats

import (
	"cmp"
	"math"
	"slices"
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
	// Independent is how many independent operations would tell as much.
	Independent float64
	Needed      int     // independent operations that an interval needs
	Doubt       float64 // by how much a value can be wrong, if the caller knows; 0: not at all
}

// Doubtful is the Doubt if the quantile is smaller, and else 0.
func (t *Tail) Doubtful() float64 { return Doubtful(t.Value, t.Doubt) }

// Refused says whether there are too few operations or groups for an interval.
func (t *Tail) Refused() bool {
	return !(t.Independent >= float64(t.Needed)) || t.Groups < MinimumGroups
}

// GroupsNeeded is how many groups like these an interval takes, about; 0 if that cannot
// be said.
func (t *Tail) GroupsNeeded() int {
	if !(t.Independent > 0) {
		return 0
	}
	n := math.Ceil(float64(t.Groups) * float64(t.Needed) / t.Independent)
	return int(min(max(n, MinimumGroups), math.MaxInt32))
}

// MinimumGroups is how many groups there must be for an interval: with fewer there is
// next to no telling how much groups differ.
const MinimumGroups = 6

// GroupedQuantile returns the p-quantile of all members of groups together and its
// interval, which covers the p-quantile of their distribution. Members of one group may
// depend on each other in any way; groups are independent. Members that are infinite are
// censored.
//
// The interval is that of QuantileInterval for as many independent observations as the
// sample is worth: their number divided by the design effect at the quantile, and by the
// square of the ratio of Student's t with as many degrees of freedom as there are groups
// less one to that with as many as there are members less one. Where all groups have one
// member, it is QuantileInterval. The way from a share to a quantile is Woodruff's
// (Confidence Intervals for Medians and Other Position Measures, JASA 47, 1952); the exact
// binomial interval at the effective size is that of Korn and Graubard (Confidence Intervals
// for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data,
// Survey Methodology 24, 1998). The design effect is Kish's, its variance that between
// groups of a ratio (Survey Sampling, 1965, section 6.3), which makes no assumption about
// the dependence within a group. A sample is never worth more than it has members.
func GroupedQuantile(groups [][]float64, p, confidence float64) Tail {
	all, sizes := pooled(groups)
	nan := math.NaN()
	t := Tail{N: len(all), Groups: len(sizes), Low: nan, High: nan, Effect: nan, Independent: nan,
		Needed: minimumN(p, confidence)}
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
	n, m := float64(t.N), float64(t.Groups)
	t.Effect = max(designEffect(all, sizes, quantile), designEffect(all, sizes, Quantile(sorted, 0.5)))
	t.Independent = n
	if t.Groups < t.N {
		ratio := studentQuantile((1-confidence)/2, n-1) / studentQuantile((1-confidence)/2, m-1)
		t.Independent = min(n, n/t.Effect*float64(ratio*ratio))
	}
	if t.Refused() {
		return t
	}
	tail := (1 - confidence) / 2
	below := int(worth(t.Independent, p, tail) * (n / t.Independent) * (1 + rounding))
	above := int(worth(t.Independent, 1-p, tail) * (n / t.Independent) * (1 + rounding))
	if below >= 1 && above >= 1 {
		t.Low, t.High = known(sorted[below-1]), known(sorted[t.N-above])
	}
	return t
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

// worth is how far up the observations of n independent ones reach that lie above the
// p-quantile with probability tail at most: rank, for an n that need not be whole.
func worth(n, p, tail float64) float64 {
	lo, hi := 0.0, n
	for range 60 {
		mid := lo + float64((hi-lo)/2)
		if betaInc(1-p, n-mid+1, mid) <= tail*(1+rounding) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// studentQuantile is the point above which Student's t with so many degrees of freedom
// lies with probability tail.
func studentQuantile(tail, freedom float64) float64 {
	// freedom/(freedom+t²) is of the beta distribution (freedom/2, 1/2).
	x := betaQuantile(2*tail, freedom/2, 0.5)
	return math.Sqrt(freedom * (1 - x) / x)
}
