package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestVarianceLevels_Exact: cases worked out by hand.
func TestVarianceLevels_Exact(t *testing.T) {
	t.Parallel()
	// Means 2, 5, 8 and 5 of all; squares within are 2, 2, 2 on 6 degrees of freedom, squares
	// between 3·(9+0+9) on 2: 1, and (27-1)/3.
	l := VarianceLevels([][]float64{{1, 2, 3}, {}, {4, 5, 6}, {9, 8, 7, nan}}, .95)
	if l.N != 9 || l.Groups != 3 || !near(l.Within, 1) || !near(l.Between, 26./3) || !near(l.Share(),
		26./29) {
		t.Errorf("%+v", l)
	}
	// F is 27; that of (2, 6) at 2.5 % and 97.5 % is 0.02539 and 7.2599, by tables.
	share := func(f float64) float64 { return (27/f - 1) / (27/f + 2) }
	if !within(l.Low, share(7.2599), 1e-4) || !within(l.High, share(.02539), 1e-4) {
		t.Errorf("[%v, %v], want [%v, %v]", l.Low, l.High, share(7.2599), share(.02539))
	}
	// The best size of a group is the root of 300/10 · 1·3/26: 1.86.
	if got := l.Members(300, 10, 100); got != 2 {
		t.Errorf("%d members, want 2", got)
	}
	// Sizes 2 and 4: means 1 and 4, of all 3; between 2·4+4·1 on 1, within 2+2 on 4; a
	// typical size is 6 - 20/6.
	l = VarianceLevels([][]float64{{0, 2}, {3, 5, 4, 4}}, .95)
	if !near(l.Within, 1) || !near(l.Between, 11/(6-20./6)) {
		t.Errorf("%+v", l)
	}
	// Groups that are alike: less than nothing between them, and as many members as there may be.
	l = VarianceLevels([][]float64{{1, 2, 3}, {1, 2, 3}}, .95)
	if !near(l.Between, -1./3) || l.Share() != 0 || l.Low != 0 || l.Members(300, 10, 77) != 77 {
		t.Errorf("%+v", l)
	}
	// Most are equal: means 3/2 and 2, within 1/2 on 2, between 2·1/16 twice on 1.
	l = VarianceLevels([][]float64{{1, 2}, {2, 2}}, .95)
	if !near(l.Within, 1./4) || l.Between != 0 {
		t.Errorf("%+v", l)
	}
	for _, equal := range [][][]float64{{{1, 1}, {1, 1}},
		slices.Repeat([][]float64{slices.Repeat([]float64{.1}, 7)}, 6)} {
		if l := VarianceLevels(equal, .95); l.Between != 0 || l.Within != 0 || !math.IsNaN(l.Share()) ||
			!math.IsNaN(l.Low) || !math.IsNaN(l.High) || l.Members(1, 1, 9) != 0 {
			t.Errorf("%v: %+v", equal, l)
		}
	}
	for _, none := range [][][]float64{nil, {{1, 2}}, {{1}, {2}}, {{1}, {1}}, {{1, 2}, {3, inf}}, {{1, 2}, {3, -inf}},
		{{1, 2}, {inf, inf}}, {{inf, inf}, {inf, inf}}, {{-inf, -inf}, {-inf, -inf}}, {{-inf, -inf, 1}, {2, 3}}} {
		if l := VarianceLevels(none, .95); !math.IsNaN(l.Share()) || l.Members(1, 1, 9) != 0 ||
			!math.IsNaN(l.Low) || !math.IsNaN(l.High) || !math.IsNaN(l.Between) || !math.IsNaN(l.Within) {
			t.Errorf("%v: %+v", none, l)
		}
	}
	// With no difference within groups, all of it is between.
	if l := VarianceLevels([][]float64{{1, 1}, {2, 2}}, .95); l.Share() != 1 || l.Low != 1 || l.Members(1, 1,
		9) != 1 {
		t.Errorf("%+v", l)
	}
}

// TestDescribeGroups: the figures are those of all members, and the interval of the median is that
// of groups, if there are some and the method knows them.
func TestDescribeGroups(t *testing.T) {
	t.Parallel()
	several := [][]float64{{1, 2, 9}, {3, 4, inf}, nil, {5, 6, 7}, {1, 8, 9}, {4, nan, 6}, {2, 5, math.Inf(-1)}, {3}}
	ofOne := alone(upTo(8))
	for _, test := range []struct {
		name     string
		method   Method
		groups   [][]float64
		censored int
		grouped  bool
	}{
		{"groups", FixedN, several, 1, true},
		{"groups, again", Grouped, several, 1, true},
		{"groups of one", FixedN, ofOne, 0, true},
		{"groups, at any time", Anytime, several, 1, false},
		{"groups of one, at any time", Anytime, ofOne, 0, false},
		{"one group", FixedN, [][]float64{nil, {1, 2, 3, 4, 5, 6, inf}, {}}, 1, false},
		{"no group", FixedN, nil, 0, false},
	} {
		all := slices.DeleteFunc(slices.Concat(test.groups...), func(v float64) bool { return v == inf })
		want := test.method.Describe(all, test.censored)
		if test.grouped {
			tail := GroupedQuantile(slices.DeleteFunc(slices.Clone(test.groups), func(g []float64) bool {
				return g == nil
			}), 0.5, Confidence)
			want.CILow, want.CIHigh, want.Method = tail.Low, tail.High, Grouped
		}
		if got := test.method.DescribeGroups(test.groups); fmt.Sprint(got) != fmt.Sprint(want) { // NaN included
			t.Errorf("%s: %+v, want %+v", test.name, got, want)
		}
	}
}

// rounds are groups whose normal members share the part rho of their variance, which is 1.
func rounds(rng *rand.Rand, groups, members int, rho float64) [][]float64 {
	out := make([][]float64, groups)
	for i := range out {
		common := math.Sqrt(rho) * rng.NormFloat64()
		for range members {
			out[i] = append(out[i], common+float64(math.Sqrt(1-rho)*rng.NormFloat64()))
		}
	}
	return out
}

// TestVarianceLevels_Unbiased: over many samples both estimates are right in the mean, and the
// interval of the share holds it as often as it says.
func TestVarianceLevels_Unbiased(t *testing.T) {
	t.Parallel()
	samples := 1000
	if slowtest.Night() {
		samples = 10_000
	}
	rng := rand.New(rand.NewPCG(14, 5))
	for _, rho := range []float64{.1, .5, .9} {
		between, within, held := 0.0, 0.0, 0
		for range samples {
			groups := rounds(rng, 5, 8, rho)
			groups[2] = groups[2][:4] // sizes may differ a little
			l := VarianceLevels(groups, .95)
			between, within = between+l.Between/float64(samples), within+l.Within/float64(samples)
			if l.Low <= rho && rho <= l.High {
				held++
			}
		}
		// The variance of an estimate is at most that of 4 degrees of freedom.
		off := 4 * (rho + (1-rho)/8) * math.Sqrt(2./4/float64(samples))
		if !(math.Abs(between-rho) <= off && math.Abs(within-(1-rho)) <= off) {
			t.Errorf("rho %v: %v between and %v within, in the mean", rho, between, within)
		}
		share := float64(held) / float64(samples)
		if !(math.Abs(share-.95) <= 4*math.Sqrt(.95*.05/float64(samples))) {
			t.Errorf("rho %v: the interval holds it in %v of samples", rho, share)
		}
	}
}

// TestDescribeGroups_Coverage: where rounds differ, the interval of trials taken as independent
// is far too narrow, and that which knows the rounds is not.
func TestDescribeGroups_Coverage(t *testing.T) {
	t.Parallel()
	samples := 200
	if slowtest.Night() {
		samples = 4000
	}
	rng := rand.New(rand.NewPCG(14, 6))
	for _, c := range []struct {
		groups      int
		rho         float64
		least       float64
		naiveAtMost float64
	}{{6, 0, .95, 1}, {6, .3, .92, .85}, {10, 0, .95, 1}, {10, .3, .92, .85}, {10, .8, .91, .75}} {
		held, naive, given := 0, 0, 0
		for range samples {
			groups := rounds(rng, c.groups, 10, c.rho)
			s := FixedN.DescribeGroups(groups)
			plain := Describe(slices.Concat(groups...), 0)
			if s.Median != plain.Median || s.N != plain.N {
				t.Fatalf("%+v, want the figures of %+v", s, plain)
			}
			if !math.IsNaN(s.CILow) {
				given++
			}
			if s.CILow <= 0 && 0 <= s.CIHigh {
				held++
			}
			if plain.CILow <= 0 && 0 <= plain.CIHigh {
				naive++
			}
		}
		share, flat := float64(held)/float64(given), float64(naive)/float64(samples)
		if noise := 3 * math.Sqrt(.05*.95/float64(given)); share < c.least-noise || flat > c.naiveAtMost {
			t.Errorf("%d rounds, rho %v: %.3f of %d intervals hold the median; of trials alone %.3f",
				c.groups,
				c.rho, share, given, flat)
		}
	}
	if s := FixedN.DescribeGroups(rounds(rng, 5, 30, 0)); !math.IsNaN(s.CILow) {
		t.Errorf("%+v: five rounds are too few for an interval", s)
	}
	if s, want := FixedN.DescribeGroups([][]float64{{1, 2, 3, 4, 5, 6, math.Inf(1)}, nil}),
		Describe([]float64{1, 2, 3, 4, 5, 6}, 1); fmt.Sprint(s) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v: one round is like none", s, want)
	}
}
