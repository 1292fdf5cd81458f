package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// remissions are the weeks of remission of 21 patients under 6-mercaptopurine (Freireich and
// others, Blood 21, 1963), the example of most textbooks; negative: cut off.
var remissions = []float64{6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32,
	-34, -35}

func spells(weeks []float64) (out []Spell) {
	for _, w := range weeks {
		out = append(out, Spell{math.Abs(w), w < 0})
	}
	return out
}

// TestKaplanMeier_Freireich: the estimates as fractions, and Greenwood's standard errors,
// by hand; Klein and Moeschberger (2003), table 4.1, have them with four digits. The restricted mean to
// 35 weeks is 13856/595, its standard error 2.8275, as R's survfit prints them.
func TestKaplanMeier_Freireich(t *testing.T) {
	s := kaplanMeier(spells(remissions), 0.95)
	want := []struct {
		at, share, se float64
		risk, ended   int
	}{
		{6, 6.0 / 7, 0.0763603548, 21, 3}, {7, 96.0 / 119, 0.0869352852, 17, 1}, {10, 64.0 / 85, 0.0963496530,
			15, 1},
		{13, 176.0 / 255, 0.1068147078, 12, 1}, {16, 32.0 / 51, 0.1140538653, 11, 1},
		{22, 64.0 / 119, 0.1282337517, 7, 1}, {23, 160.0 / 357, 0.1345914568, 6, 1},
	}
	if s.N != 21 || s.Cut != 12 || len(s.Steps) != len(want) || s.Horizon() != 35 {
		t.Fatalf("%+v", s)
	}
	before := 1.0
	for i, w := range want {
		e := s.Steps[i]
		if e.At != w.at || e.AtRisk != w.risk || e.Ended != w.ended || !nearly(e.Share, w.share) ||
			!nearly(e.Before, before) {
			t.Errorf("step %d: %+v, want %+v", i, e, w)
		}
		before = w.share
		if cap(s.Steps) != len(want) { // there may be a million spells
			t.Errorf("room for %d steps, want %d", cap(s.Steps), len(want))
		}
		// log(-log S) plus and minus 1.96 se / (S |log S|)
		off := 1.959963985 * w.se / w.share / -math.Log(w.share)
		lo, hi := math.Pow(w.share, math.Exp(off)), math.Pow(w.share, math.Exp(-off))
		if !within(e.Low, lo, 1e-7) || !within(e.High, hi, 1e-7) {
			t.Errorf("at %v: [%v, %v], want [%v, %v]", w.at, e.Low, e.High, lo, hi)
		}
	}
	mean, lo, hi := s.RestrictedMean(35, 0.95)
	if !nearly(mean, 13856.0/595) || !within((hi-lo)/2/1.959963985, 2.8274676, 1e-6) {
		t.Errorf("restricted mean %v [%v, %v]", mean, lo, hi)
	}
	for _, to := range []float64{0, 0.5, 6} {
		if mean, lo, hi := s.RestrictedMean(to, 0.95); mean != to || !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("to %v weeks: %v [%v, %v]: nobody left before", to, mean, lo, hi)
		}
	}
	for _, to := range []float64{-1, inf, nan} {
		if mean, lo, hi := s.RestrictedMean(to, 0.95); !math.IsNaN(mean) || !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("to %v weeks: %v [%v, %v]", to, mean, lo, hi)
		}
	}
	for t0, w := range map[float64]float64{0: 1, 5.9: 1, 6: 6.0 / 7, 9: 96.0 / 119, 35: 160.0 / 357} {
		if got := beyond(&s, t0); !nearly(got, w) {
			t.Errorf("beyond %v: %v, want %v", t0, got, w)
		}
	}
	if mean, _, _ := s.RestrictedMean(35.1, 0.95); !math.IsNaN(mean) || !math.IsNaN(beyond(&s, 36)) {
		t.Error("figures beyond the horizon")
	}
}

func TestKaplanMeier(t *testing.T) {
	for name, test := range map[string]struct {
		weeks         []float64
		to, mean      float64
		horizon, last float64
	}{
		"nothing":              {nil, 1, nan, 0, nan},
		"all ended":            {[]float64{1, 2, 3}, 10, 2, inf, 0},
		"restricted":           {[]float64{1, 2, 30}, 6, 3, inf, 0},
		"none ended":           {[]float64{-4, -7}, 7, 7, 7, 1},
		"cut at an end":        {[]float64{2, -2}, 2, 2, 2, 0.5},
		"cut before all":       {[]float64{-1, 2, 4}, 4, 3, inf, 0},
		"missing, and endless": {[]float64{nan, 2, 4, inf}, 4, 3, inf, 0},
		"nothing, to nothing":  {nil, 0, nan, 0, nan},
		"all ended, for ever":  {[]float64{1, 2, 3}, inf, nan, inf, 0},
		"as long as can be":    {[]float64{-2, math.MaxFloat64}, 3, 3, inf, 1},
	} {
		s := kaplanMeier(spells(test.weeks), 0.95)
		mean, _, _ := s.RestrictedMean(test.to, 0.95)
		last := beyond(&s, min(test.to, s.Horizon()))
		if test.to > 4 && math.IsInf(test.horizon, 1) {
			last = beyond(&s, 1e9)
		}
		if s.Horizon() != test.horizon || !alike(mean, test.mean) || !alike(last, test.last) {
			t.Errorf("%s: horizon %v, mean %v, last %v, want %+v", name, s.Horizon(), mean, last, test)
		}
	}
}

// TestKaplanMeier_NoInterval: what is no confidence has no intervals, nor have fewer than ten spells,
// nor spells that do not differ; and an interval stays within what can be.
func TestKaplanMeier_NoInterval(t *testing.T) {
	t.Parallel()
	for _, confidence := range []float64{-0.5, 0, 1, 1.5, nan} {
		s := kaplanMeier(spells(remissions), confidence)
		_, lo, hi := s.RestrictedMean(35, confidence)
		if e := s.Steps[0]; !math.IsNaN(e.Low) || !math.IsNaN(e.High) || !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("at %v: [%v, %v], and the mean in [%v, %v]", confidence, e.Low, e.High, lo, hi)
		}
	}
	for _, share := range []float64{-0.5, 0, 1, 1.5, nan} {
		if lo, hi := logLog(share, 0.1, 2); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("a share of %v: [%v, %v]", share, lo, hi)
		}
	}
	for _, test := range []struct {
		name   string
		weeks  []float64
		to     float64
		lo, hi float64
	}{
		{"nine", upTo(9), 9, nan, nan},
		// Without cuts it is the mean, and the variance that of the values by n, over n: 8.25 and 10.
		{"ten", upTo(10), 10, 5.5 - 1.959963985*math.Sqrt(0.825), 5.5 + 1.959963985*math.Sqrt(0.825)},
		{"ten, and then", upTo(10), 11, 5.5 - 1.959963985*math.Sqrt(0.825), 5.5 + 1.959963985*math.Sqrt(0.825)},
		{"equal", slices.Repeat([]float64{3}, 12), 3, nan, nan},
		{"equal, and then", slices.Repeat([]float64{3}, 12), 4, nan, nan},
		{"most at once", append(make([]float64, 11), 12), 12, 0, 1 + 1.959963985*math.Sqrt(11./12)},
		{"most to the end", append(slices.Repeat([]float64{12}, 11), 0), 12, 11 - 1.959963985*math.Sqrt(11./12), 12},
	} {
		s := kaplanMeier(spells(test.weeks), 0.95)
		if _, lo, hi := s.RestrictedMean(test.to, 0.95); !alike(lo, test.lo) || !alike(hi, test.hi) {
			t.Errorf("%s: [%v, %v], want [%v, %v]", test.name, lo, hi, test.lo, test.hi)
		}
	}
}

func alike(a, b float64) bool { return same(a, b) || nearly(a, b) }

// TestKaplanMeier_Empirical: where nothing is cut off before the horizon, the estimate is
// the empirical distribution function, and the restricted mean that of what is cut off there.
func TestKaplanMeier_Empirical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 20).Draw(t, "lengths")
		limit := float64(rapid.IntRange(1, 12).Draw(t, "limit"))
		var all []Spell
		sum := 0.0
		for _, v := range lengths {
			length := float64(v)
			all = append(all, Spell{min(length, limit), length > limit})
			sum += min(length, limit)
		}
		s := kaplanMeier(all, 0.95)
		for at := 0.0; at <= limit; at++ {
			longer := 0
			for _, v := range lengths {
				if float64(v) > at {
					longer++
				}
			}
			if got := beyond(&s, at); !nearly(got, float64(longer)/float64(len(lengths))) {
				t.Fatalf("beyond %v: %v of %v", at, got, lengths)
			}
		}
		if mean, lo, hi := s.RestrictedMean(limit, 0.95); !nearly(mean, sum/float64(len(lengths))) ||
			lo > mean || hi < mean {
			t.Fatalf("mean %v [%v, %v], want %v", mean, lo, hi, sum/float64(len(lengths)))
		}
	})
}

// plainVariances are those between groups of the shares at steps and of the restricted mean, as
// KaplanMeierGrouped says it, with each draw of groups written down.
func plainVariances(groups [][]Spell, to, confidence float64, seed uint64) (shares []float64, mean,
	skewness float64) {
	some := slices.DeleteFunc(slices.Clone(groups), func(g []Spell) bool {
		return kaplanMeier(slices.Clone(g), confidence).N == 0
	})
	whole := kaplanMeier(slices.Concat(groups...), confidence)
	truth, _, _ := whole.RestrictedMean(to, confidence)
	n := len(whole.Steps)
	figures := make([][]float64, n+1) // of all draws, the mean's last
	luck := newDraw(seed, 1)
	for range resamples(whole.N, confidence) {
		var drawn []Spell
		for range some {
			drawn = append(drawn, some[luck.index(len(some))]...)
		}
		s := kaplanMeier(drawn, confidence)
		last := 1.0
		if len(s.Steps) > 0 {
			last = s.Steps[len(s.Steps)-1].Share
		}
		for i, e := range whole.Steps {
			share := beyond(&s, e.At)
			if math.IsNaN(share) {
				share = last
			}
			figures[i] = append(figures[i], share-e.Share)
		}
		reached := min(to, s.Horizon())
		area, _, _ := s.RestrictedMean(reached, confidence)
		figures[n] = append(figures[n], area+last*(to-reached)-truth)
	}
	m := float64(len(some))
	for _, list := range figures {
		_, deviation := moments(list)
		shares = append(shares, deviation*deviation*m/(m-1))
	}
	_, variance, third := thirdMoments(figures[n])
	return shares[:n], shares[n], math.Sqrt(m) * meanSkewness(variance, third, m)
}

// TestKaplanMeierGrouped_Plain: the intervals are what their definitions give.
func TestKaplanMeierGrouped_Plain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for i, confidence := range []float64{0.95, 0.9, 0.95, 0.8, 0.95} {
		var groups [][]Spell
		for g := range 6 + i {
			group := []Spell{{-1, false}, {nan, true}, {inf, false}, {math.Inf(-1), true}} // are missing
			size := 1 + (g+i)%3
			if i == 0 && g == 5 {
				size = 1 // ten in all, as few as there may be
			}
			for range size {
				// Many are equal, some are of no length, and some are cut off.
				group = append(group, Spell{float64(r.IntN(9)), r.IntN(3) == 0})
			}
			groups = append(groups, group, group[:4])
		}
		for _, to := range []float64{2.5, 6, 7} {
			s := KaplanMeierGrouped(groups, confidence, uint64(i))
			if s.Horizon() < to {
				to = s.Horizon()
			}
			for _, e := range s.Steps {
				if !math.IsNaN(e.Low) || !math.IsNaN(e.High) {
					t.Errorf("an interval that nobody has asked for: %+v", e)
				}
			}
			s.StepIntervals(confidence)
			shares, variance, skewness := plainVariances(groups, to, confidence, uint64(i))
			reach := studentQuantile((1-confidence)/2, float64(5+i))
			for k, e := range s.Steps {
				lo, hi := logLog(e.Share, shares[k]/e.Share/e.Share, reach)
				if !alike(e.Low, lo) || !alike(e.High, hi) {
					t.Errorf("%d groups, step %d: [%v, %v], want [%v, %v]", 6+i, k, e.Low, e.High, lo, hi)
				}
			}
			mean, lo, hi := s.RestrictedMean(to, confidence)
			low, high := skewedInterval(mean, math.Sqrt(variance), skewness, float64(5+i), confidence)
			if low, high = max(0, low), min(to, high); !within(lo, low, 1e-6) || !within(hi, high, 1e-6) {
				t.Errorf("%d groups, mean to %v: [%v, %v], want [%v, %v]", 6+i, to, lo, hi, low, high)
			}
		}
	}
}

// TestKaplanMeierGrouped_Ends: too few spells or groups have no interval, nor has what is no
// confidence, nor have groups that are alike; and an interval stays within what can be.
func TestKaplanMeierGrouped_Ends(t *testing.T) {
	t.Parallel()
	ended := func(lengths ...float64) (out []Spell) {
		for _, v := range lengths {
			out = append(out, Spell{v, false})
		}
		return out
	}
	repeat := func(n int, g []Spell) [][]Spell { return slices.Repeat([][]Spell{g}, n) }
	for _, test := range []struct {
		name       string
		groups     [][]Spell
		confidence float64
		none       bool
		low, high  bool // it ends at 0, and at the horizon
	}{
		{"nine", append(repeat(5, ended(1)), ended(1, 2, 3, 4)), 0.95, true, false, false},
		{"ten", append(repeat(5, ended(1)), ended(1, 2, 3, 4, 4)), 0.95, false, true, false},
		{"five groups", append(repeat(4, ended(1, 2, 3)), ended(2, 4)), 0.95, true, false, false},
		{"six groups", append(repeat(5, ended(1, 2, 3)), ended(2, 4)), 0.95, false, false, false},
		{"alike", repeat(7, ended(1, 2, 3, 4)), 0.95, true, false, false},
		{"no confidence", append(repeat(5, ended(1, 2, 3)), ended(2, 4)), 0, true, false, false},
		{"less", append(repeat(5, ended(1, 2, 3)), ended(2, 4)), -0.5, true, false, false},
		{"certainty", append(repeat(5, ended(1, 2, 3)), ended(2, 4)), 1, true, false, false},
		{"more", append(repeat(5, ended(1, 2, 3)), ended(2, 4)), 1.5, true, false, false},
		{"most at once", append(repeat(6, ended(0, 0)), ended(4, 4)), 0.95, false, true, false},
		{"most to the end", append(repeat(6, ended(4, 4)), ended(0, 0)), 0.95, false, false, true},
	} {
		s := KaplanMeierGrouped(test.groups, test.confidence, 1)
		s.StepIntervals(test.confidence)
		mean, lo, hi := s.RestrictedMean(4, test.confidence)
		if math.IsNaN(mean) || math.IsNaN(lo) != test.none || math.IsNaN(hi) != test.none ||
			(lo == 0) != test.low || (hi == 4) != test.high || !test.none && !(lo < mean && mean < hi) {
			t.Errorf("%s: %v [%v, %v]", test.name, mean, lo, hi)
		}
		if e := s.Steps[0]; s.N > 10 && test.name != "alike" && math.IsNaN(e.Low) != test.none {
			t.Errorf("%s: %+v", test.name, e)
		}
	}
}

// TestKaplanMeierGrouped: the estimate is that of the members of all groups; alone they have
// the intervals of KaplanMeier, and too few groups have none.
func TestKaplanMeierGrouped(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	of := func(groups, each int) (out [][]Spell) {
		for range groups {
			var g []Spell
			for range each {
				g = append(g, Spell{r.ExpFloat64(), r.IntN(4) == 0})
			}
			out = append(out, g, nil)
		}
		return append(out, []Spell{{math.NaN(), false}})
	}
	alone := of(20, 1)
	a, b := KaplanMeierGrouped(alone, 0.95, 1), kaplanMeier(slices.Concat(alone...), 0.95)
	a.StepIntervals(0.95)
	if fmt.Sprint(a.Steps) != fmt.Sprint(b.Steps) { // NaN included
		t.Errorf("%+v, want %+v", a, b)
	}
	several := of(20, 3)
	a, b = KaplanMeierGrouped(several, 0.95, 1), kaplanMeier(slices.Concat(several...), 0.95)
	a.StepIntervals(0.95)
	for i, e := range a.Steps {
		if e.Share != b.Steps[i].Share || e.Share < 1 && !(e.Low < e.Share && e.Share < e.High) {
			t.Errorf("step %+v, want the share of %+v within its interval", e, b.Steps[i])
		}
	}
	to := a.Steps[40].At
	mean, lo, hi := a.RestrictedMean(to, 0.95)
	want, _, _ := b.RestrictedMean(to, 0.95)
	if mean != want || !(lo < mean && mean < hi) {
		t.Errorf("mean %v [%v, %v], want %v", mean, lo, hi, want)
	}
	weights := slices.Repeat([]int{1}, 20)
	if got := a.clusters.area(weights, to, a.Steps); !nearly(got, mean) {
		t.Errorf("area %v, want %v", got, mean)
	}
	if again := KaplanMeierGrouped(several, 0.95, 1); again.N > 0 {
		if _, l, h := again.RestrictedMean(to, 0.95); l != lo || h != hi {
			t.Errorf("again [%v, %v], want [%v, %v]", l, h, lo, hi)
		}
	}
	few := KaplanMeierGrouped(of(5, 5), 0.95, 1)
	few.StepIntervals(0.95)
	if _, l, h := few.RestrictedMean(0.1, 0.95); !math.IsNaN(l) || !math.IsNaN(h) ||
		!math.IsNaN(few.Steps[3].Low) {
		t.Errorf("[%v, %v], want none of five groups", l, h)
	}
}

// beyond is the share of spells that last longer than t; NaN beyond the horizon.
func beyond(s *Survival, t float64) float64 {
	if s.N == 0 || t > s.Horizon() {
		return math.NaN()
	}
	last := 1.0
	for _, e := range s.Steps {
		if e.At <= t {
			last = e.Share
		}
	}
	return last
}
