package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Spell is how long something took, or, if Cut, for how long at least: it was watched for
// so long, and had not ended.
type Spell struct {
	Length float64
	Cut    bool
}

// A Survival is an estimate of how many spells last longer than t, for every t.
type Survival struct {
	N, Cut int    // spells, and those of them that were cut off
	Steps  []Step // where spells ended, ascending
	last   float64
	open   bool // the longest spell was cut off: nothing is known beyond last

	clusters *spellGroups // nil: of kaplanMeier itself
}

// A Step is an instant at which spells ended.
type Step struct {
	At     float64
	AtRisk int     // spells at least as long
	Ended  int     // of these, here
	Before float64 // of all spells, those that last at least to At
	Share  float64 // of all spells, those that last longer than At
	// Low and High are the ends of the interval of Share; NaN where the variance does not
	// exist: nothing lasts longer.
	Low, High float64
}

// kaplanMeier estimates the distribution of spells of which some were cut off, if what cuts
// them off has nothing to do with how long they would have been (Kaplan and Meier,
// Nonparametric estimation from incomplete observations, Journal of the American Statistical
// Association 53, 1958): at each end the share falls by the part of those spells, still
// watched, that ended. A spell that is cut off at an instant counts as watched at it. Without
// any, it is one minus the empirical distribution function.
//
// The intervals are of each share by itself. They come from Greenwood's variance (The
// natural duration of cancer, 1926), on the scale of log(-log), on which they neither leave
// [0, 1] nor need a large sample (Kalbfleisch and Prentice, The Statistical Analysis of
// Failure Time Data, 2002, section 1.4). Spells count as independent of each other.
//
// A length that is negative or no number is a missing one. The spells, of which there may be a million,
// are sorted in place.
func kaplanMeier(all []Spell, confidence float64) Survival {
	all = slices.DeleteFunc(all, func(s Spell) bool { return !isLength(s.Length) })
	slices.SortFunc(all, func(a, b Spell) int { return cmp.Compare(a.Length, b.Length) })
	steps, last := 0, math.NaN()
	for _, spell := range all {
		if !spell.Cut && spell.Length != last {
			steps, last = steps+1, spell.Length
		}
	}
	s := Survival{N: len(all), Steps: slices.Grow([]Step(nil), steps)}
	share, greenwood := 1.0, 0.0
	for i := 0; i < len(all); {
		at, ended, end := all[i].Length, 0, i
		for ; end < len(all) && all[end].Length == at; end++ {
			if !all[end].Cut {
				ended++
			}
		}
		s.Cut += end - i - ended
		s.last, s.open = at, end-i > ended
		if risk := len(all) - i; ended > 0 {
			before := share
			share *= float64(risk-ended) / float64(risk)
			greenwood += float64(ended) / (float64(risk) * float64(risk-ended))
			lo, hi := logLog(share, greenwood, deviations(confidence))
			s.Steps = append(s.Steps, Step{at, risk, ended, before, share, lo, hi})
		}
		i = end
	}
	return s
}

// isLength says whether v can be that of a spell.
func isLength(v float64) bool { return v >= 0 && v <= math.MaxFloat64 }

// deviations is how many standard deviations a normal interval reaches; NaN for what is no
// confidence.
func deviations(confidence float64) float64 {
	if !(confidence > 0 && confidence < 1) {
		return math.NaN()
	}
	return NormalQuantile((1 + confidence) / 2)
}

// logLog is the interval of a share whose variance is share² times greenwood, so many
// standard deviations to each side; NaN: nothing is known of it.
func logLog(share, greenwood, reach float64) (lo, hi float64) {
	if !(share > 0 && share < 1) {
		return math.NaN(), math.NaN()
	}
	off := float64(reach * math.Sqrt(greenwood) / -exact.Log(share))
	return exact.Pow(share, exact.Exp(off)), exact.Pow(share, exact.Exp(-off))
}

// Horizon is how far the estimate reaches: to the last instant at which a spell was
// watched, or infinity, if none outlasted that. It is 0 without spells.
func (s *Survival) Horizon() float64 {
	if s.N > 0 && !s.open {
		return math.Inf(1)
	}
	return s.last
}

// RestrictedMean is the mean of the smaller of a spell and the horizon to: the area below
// the curve up to there, and its interval (Royston and Parmar, Restricted mean survival
// time, BMC Medical Research Methodology 13:152, 2013). It exists where the mean does not.
// The variance is that of Kaplan and Meier's estimate of the mean, with the correction of
// Klein and Moeschberger (Survival Analysis, 2003, section 4.5) left out, as R's
// survfit has it; the interval takes the normal distribution, and so ten spells. That of
// KaplanMeierGrouped is said there. NaN: the estimate does not
// reach so far, or, of the interval, there are fewer, or nothing varies that is seen.
func (s *Survival) RestrictedMean(to, confidence float64) (mean, lo, hi float64) {
	nan := math.NaN()
	if s.N == 0 || !isLength(to) || to > s.Horizon() {
		return nan, nan, nan
	}
	before := sort.Search(len(s.Steps), func(i int) bool { return s.Steps[i].At >= to })
	steps := s.Steps[:before]
	// From the last step on backwards, area is that below the curve behind each.
	area, variance, until := 0.0, 0.0, to
	for _, e := range slices.Backward(steps) {
		area += float64(e.Share * (until - e.At))
		until = e.At
		if e.Ended < e.AtRisk {
			greenwood := float64(e.Ended) / (float64(e.AtRisk) * float64(e.AtRisk-e.Ended))
			variance += float64(float64(area*area) * greenwood)
		}
	}
	mean = area + until // before the first step all spells last
	if s.clusters != nil && s.N >= 10 {
		lo, hi = s.clusters.restricted(mean, to, confidence, steps)
		return mean, lo, hi
	}
	if variance == 0 || s.N < 10 || !(confidence > 0 && confidence < 1) {
		return mean, nan, nan
	}
	off := float64(NormalQuantile((1+confidence)/2) * math.Sqrt(variance))
	return mean, max(0, mean-off), min(to, mean+off)
}
