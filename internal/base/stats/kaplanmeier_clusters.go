package stats

import (
	"cmp"
	"math"
	"slices"
)

// KaplanMeierGrouped is kaplanMeier of the members of all groups together, such as the
// operations of trials, whose intervals know that members of one group may depend on each
// other in any way; groups are independent. Where no group has two members it is kaplanMeier.
// Steps get their intervals from StepIntervals.
//
// The variance is that between estimates of groups drawn with replacement, as many as there
// are, times m/(m-1) for m groups; a draw that does not reach as far as it should stays as
// it was last. The intervals take it with Student's t of m-1 degrees of freedom, of shares on the
// scale of log(-log). (Drawing whole groups: Davison and Hinkley, Bootstrap Methods and their
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
	if !several {
		return s
	}
	slices.SortFunc(c.all, func(a, b groupedSpell) int { return cmp.Compare(a.Length, b.Length) })
	for i := range s.Steps {
		s.Steps[i].Low, s.Steps[i].High = math.NaN(), math.NaN()
	}
	s.clusters = c
	return s
}

// spellGroups are spells, ascending, that belong together in groups.
type spellGroups struct {
	all    []groupedSpell
	groups int
	seed   uint64
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
	if s.clusters == nil {
		return
	}
	estimates := make([]float64, len(s.Steps))
	for i, e := range s.Steps {
		estimates[i] = e.Share
	}
	variances := s.clusters.variances(estimates, confidence, func(weights []int, out []float64) {
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

// variances are those between groups of estimates that figures finds for weights of groups.
func (c *spellGroups) variances(estimates []float64, confidence float64,
	figures func(weights []int, out []float64)) []float64 {
	n := len(estimates)
	off, squares, out := make([]float64, n), make([]float64, n), make([]float64, n)
	times := resamples(len(c.all), confidence)
	weights := make([]int, c.groups)
	luck := newDraw(c.seed, 1)
	for range times {
		clear(weights)
		for range c.groups {
			weights[luck.index(c.groups)]++
		}
		figures(weights, out)
		for i, v := range out {
			d := v - estimates[i]
			off[i] += d
			squares[i] += float64(d * d)
		}
	}
	m, b := float64(c.groups), float64(times)
	for i := range out {
		mean := off[i] / b
		out[i] = max(0, squares[i]/b-float64(mean*mean)) * m / (m - 1)
	}
	return out
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
	v := c.variances([]float64{mean}, confidence, func(weights []int, out []float64) {
		out[0] = c.area(weights, to, steps)
	})[0]
	if v == 0 {
		return math.NaN(), math.NaN()
	}
	off := float64(c.tail(confidence) * math.Sqrt(v))
	return max(0, mean-off), min(to, mean+off)
}
