package stats

import "math"

// QuantileRatio returns the ratio of the p-quantile of all members of b to that of a, and
// its interval by a two-level bootstrap: groups are drawn with replacement, and then
// members within each (Davison and Hinkley, Bootstrap Methods and their Application, 1997,
// section 3.8). Drawing groups alone is too narrow where they are few; drawing members as
// well errs on the other side, by a factor of up to the square root of two where groups do
// not differ. In pairs, group i of a and of b belong together and are drawn together, and so
// are their members if they are equally many: what shifts all of them alike is found
// exactly. The interval is corrected for bias. There is none below MinimumGroups groups on
// a side, and an end is NaN where censored members leave it open.
func QuantileRatio(a, b [][]float64, p, confidence float64, paired bool, seed uint64) (
	ratio, lo, hi float64) {
	x, y := arrange(a), arrange(b)
	nan := math.NaN()
	if len(x.sorted) == 0 || len(y.sorted) == 0 || x.sorted[0] < 0 || y.sorted[0] < 0 {
		return nan, nan, nan
	}
	ratio = quotient(Quantile(x.sorted, p), Quantile(y.sorted, p))
	if min(len(x.groups), len(y.groups)) < MinimumGroups {
		return known(ratio), nan, nan
	}
	paired = paired && len(x.groups) == len(y.groups)
	replicates := make([]float64, resamples(len(x.sorted)+len(y.sorted), confidence))
	for i := range replicates {
		luck := [2]uint64{uint64(2 * i), uint64(2*i + 1)}
		if paired {
			luck[1] = luck[0] // the same draws on both sides
		}
		replicates[i] = quotient(x.resample(seed, luck[0], p), y.resample(seed, luck[1], p))
	}
	lo, hi = biasCorrected(replicates, ratio, confidence)
	return known(ratio), known(lo), known(hi)
}

// arranged are groups whose members are places in the sorted whole.
type arranged struct {
	sorted []float64
	groups [][]int32
	taken  []int32
}

// arrange leaves out empty groups and what is missing.
func arrange(groups [][]float64) *arranged {
	all, sizes := pooled(groups)
	a := &arranged{sorted: make([]float64, len(all)), taken: make([]int32, len(all))}
	room := make([]int32, len(all))
	for _, n := range sizes {
		a.groups, room = append(a.groups, room[:n]), room[n:]
	}
	for place, m := range all {
		a.sorted[place] = m.value
		a.groups[m.group][m.index] = int32(place)
	}
	return a
}

// resample draws groups and members within them, and returns the quantile of what it drew.
func (a *arranged) resample(seed, stream uint64, p float64) float64 {
	clear(a.taken)
	outer := newDraw(seed, stream)
	n := 0
	for range a.groups {
		g := a.groups[outer.index(len(a.groups))]
		inner := newDraw(outer.Uint64(), stream) // so that pairs of unequal sizes stay in step
		for range g {
			a.taken[g[inner.index(len(g))]]++
		}
		n += len(g)
	}
	at := float64(p * float64(n-1))
	low := int(at)
	x, y := a.sorted[place(a.taken, low)], a.sorted[place(a.taken, low+1)]
	return Quantile([]float64{x, y}, at-float64(low))
}
