package stats

import (
	"cmp"
	"math"
	"slices"
)

// KaplanMeierGrouped is kaplanMeier of the members of all groups together, such as the
// operations of trials, whose intervals know that members of one group may depend on each
// other in any way; groups are independent. Where no group has two members its steps are those of
// kaplanMeier. Otherwise they get their intervals from StepIntervals.
//
// The variance is that between estimates of groups drawn with replacement, as many as there
// are, times m/(m-1) for m groups; a draw that does not reach as far as it should stays as
// it was last. The intervals take it with Student's t of m-1 degrees of freedom, of shares on the
// scale of log(-log); that of the restricted mean is skewedInterval, with the skewness of these
// estimates. (Drawing whole groups: Davison and Hinkley, Bootstrap Methods and their
// Application, 1997, section 3.8; that the estimate itself needs no independence within groups:
// Ying and Wei, The Kaplan-Meier estimate for dependent failure time observations, Journal of
// Multivariate Analysis 50, 1994.) There is none below MinimumGroups groups.
func KaplanMeierGrouped(groups [][]Spell, confidence float64, seed uint64) Survival {
	s := kaplanMeier(slices.Concat(groups...), confidence)
	c := &spellGroups{seed: seed, all: make([]groupedSpell, 0, s.N)}
	several := false
	for _, g := range groups {
		before := len(c.all)
		for _, spell := range g {
			if isLength(spell.Length) {
				c.all = append(c.all, groupedSpell{spell.Length, int32(c.groups), spell.Cut})
			}
		}
		several = several || len(c.all) > before+1
		if len(c.all) > before {
			c.groups++
		}
	}
	slices.SortFunc(c.all, func(a, b groupedSpell) int { return cmp.Compare(a.Length, b.Length) })
	if several {
		for i := range s.Steps {
			s.Steps[i].Low, s.Steps[i].High = math.NaN(), math.NaN()
		}
	}
	s.clusters, c.several = c, several
	return s
}

// spellGroups are spells, ascending, that belong together in groups.
type spellGroups struct {
	all     []groupedSpell
	groups  int
	several bool // in a group
	seed    uint64
}

// There may be a million: it is small.
type groupedSpell struct {
	Length float64
	group  int32
	Cut    bool
}

// StepIntervals finds the intervals of the steps of KaplanMeierGrouped. It is a method of its
// own since it takes time that not everybody needs.
func (s *Survival) StepIntervals(confidence float64) {
	if s.clusters == nil || !s.clusters.several {
		return
	}
	estimates := make([]float64, len(s.Steps))
	for i, e := range s.Steps {
		estimates[i] = e.Share
	}
	variances, _ := s.clusters.moments(estimates, confidence, func(weights []int, out []float64) {
		s.clusters.curve(weights, func(step int, _, share float64) { out[step] = share }, s.Steps)
	})
	for i, v := range variances {
		share := estimates[i]
		s.Steps[i].Low, s.Steps[i].High = logLog(share, v/float64(share*share), s.clusters.tail(confidence))
	}
}

// tail is how many standard deviations an interval reaches; NaN where there is none.
func (c *spellGroups) tail(confidence float64) float64 {
	if c.groups < MinimumGroups || !(confidence > 0 && confidence < 1) {
		return math.NaN()
	}
	return studentQuantile((1-confidence)/2, float64(c.groups-1))
}

// moments are the variances between groups of estimates that figures finds for weights of groups, and
// the skewness of these.
func (c *spellGroups) moments(estimates []float64, confidence float64,
	figures func(weights []int, out []float64)) (variances, skewness []float64) {
	n := len(estimates)
	off, squares, cubes := make([]float64, n), make([]float64, n), make([]float64, n)
	variances = make([]float64, n)
	times := resamples(len(c.all), confidence)
	weights := make([]int, c.groups)
	luck := newDraw(c.seed, 1)
	for range times {
		clear(weights)
		for range c.groups {
			weights[luck.index(c.groups)]++
		}
		figures(weights, variances)
		for i, v := range variances {
			d := v - estimates[i]
			off[i] += d
			squares[i] += float64(d * d)
			cubes[i] += float64(d * d * d)
		}
	}
	m, b := float64(c.groups), float64(times)
	for i := range variances {
		mean := off[i] / b
		variance := max(0, squares[i]/b-float64(mean*mean))
		third := cubes[i]/b - float64(3*mean*squares[i]/b) + float64(2*mean*mean*mean)
		variances[i] = variance * m / (m - 1)
		cubes[i] = math.Sqrt(m) * meanSkewness(variance, third, m)
	}
	return variances, cubes
}

// curve walks through the estimate for weights of groups and tells, at each of steps, the share
// that lasted to it and the share that lasts longer.
func (c *spellGroups) curve(weights []int, at func(step int, before, share float64), steps []Step) {
	risk := 0
	for _, spell := range c.all {
		risk += weights[spell.group]
	}
	share, step := 1.0, 0
	for i := 0; step < len(steps); { // each of them is a length
		length, ended, gone := c.all[i].Length, 0, 0
		for ; i < len(c.all) && c.all[i].Length == length; i++ {
			w := weights[c.all[i].group]
			gone += w
			if !c.all[i].Cut {
				ended += w
			}
		}
		before := share
		if risk > 0 {
			share *= float64(risk-ended) / float64(risk)
		}
		risk -= gone
		if steps[step].At == length {
			at(step, before, share)
			step++
		}
	}
}

// area is the restricted mean for weights of groups.
func (c *spellGroups) area(weights []int, to float64, steps []Step) float64 {
	sum, from, last := 0.0, 0.0, 1.0
	c.curve(weights, func(step int, before, share float64) {
		at := min(steps[step].At, to)
		sum += float64(before * (at - from))
		from, last = at, share
	}, steps)
	return sum + float64(last*(to-from))
}

// restricted is the interval of the restricted mean.
func (c *spellGroups) restricted(mean, to, confidence float64, steps []Step) (lo, hi float64) {
	v, skewness := c.moments([]float64{mean}, confidence, func(weights []int, out []float64) {
		out[0] = c.area(weights, to, steps)
	})
	if v[0] == 0 || math.IsNaN(c.tail(confidence)) {
		return math.NaN(), math.NaN()
	}
	lo, hi = skewedInterval(mean, math.Sqrt(v[0]), skewness[0], float64(c.groups-1), confidence)
	return max(0, lo), min(to, hi)
}
