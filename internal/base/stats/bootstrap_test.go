package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestQuotient: what is divided by a censored value may be anything from nothing on.
func TestQuotient(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]float64{{2, 3, 1.5}, {0, 3, inf}, {0, 0, nan}, {2, inf, inf}, {inf, 3, -inf},
		{inf, 0, -inf}, {inf, inf, nan}} {
		if got := quotient(test[0], test[1]); !same(got, test[2]) {
			t.Errorf("%v to %v: %v, want %v", test[1], test[0], got, test[2])
		}
	}
}

// TestResamples: 25 lie beyond each end, within bounds.
func TestResamples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n          int
		confidence float64
		want       int
	}{{10, .95, 999}, {10, .9, 499}, {10, .99, 4999}, {10, .5, 199}, {10, .75, 199}, {10, .9999, 9999}, {10, 1, 9999},
		{10, 2, 199}, {100_000, .95, 400}, {1_000_000, .95, 199}, {40_000, .95, 999}} {
		if got := resamples(test.n, test.confidence); got != test.want {
			t.Errorf("of %d at %v: %d, want %d", test.n, test.confidence, got, test.want)
		}
	}
}

// TestUnit: the largest that is known is below 1 afterwards, and at least a half.
func TestUnit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		xs, want []float64
		power    int
	}{{[]float64{1, 2, 8}, []float64{1. / 16, 1. / 8, 0.5}, 4}, {[]float64{-12, 2, inf}, []float64{-.75, .125, inf}, 4},
		{[]float64{0, 0}, []float64{0, 0}, 0}, {nil, nil, 0}} {
		xs := slices.Clone(test.xs)
		if power := unit(xs); power != test.power || !slices.Equal(xs, test.want) {
			t.Errorf("%v: %v times two to the %d, want %v and %d", test.xs, xs, power, test.want, test.power)
		}
	}
}

// TestMeanInterval_Plain: the ends are quantiles of the resamples' means in their own errors.
func TestMeanInterval_Plain(t *testing.T) {
	t.Parallel()
	spread := make([]float64, 12)
	for i := range spread {
		spread[i] = 100 + 1e-5*float64(i*i)
	}
	for _, test := range []struct {
		values     []float64
		confidence float64
		rank       int // of the ends
	}{
		{[]float64{3, 1, 4, 1, 5, 9, 2, 6}, .95, 25}, {spread, .9, 25}, {upTo(30), .9998, 1}, {upTo(30), .5, 50},
		{upTo(30), .999, 5},
	} {
		moments := func(xs []float64) (mean, variance float64) {
			for _, x := range xs {
				mean += x / float64(len(xs))
			}
			for _, x := range xs {
				variance += (x - mean) * (x - mean) / float64(len(xs))
			}
			return mean, variance
		}
		xs := sample(test.values)
		mean, variance := moments(xs)
		luck := newDraw(7, 0)
		var t0 []float64
		for range resamples(len(xs), test.confidence) {
			drawn := draws(len(xs), func() float64 { return xs[luck.index(len(xs))] })
			m, v := moments(drawn)
			t0 = append(t0, (m-mean)/math.Sqrt(v))
		}
		slices.Sort(t0)
		wantLo := mean - t0[len(t0)-test.rank]*math.Sqrt(variance)
		wantHi := mean - t0[test.rank-1]*math.Sqrt(variance)
		lo, hi := MeanInterval(test.values, test.confidence, 7)
		if !near(lo, wantLo) || !near(hi, wantHi) {
			t.Errorf("%v at %v: [%v, %v], want [%v, %v]", test.values, test.confidence, lo, hi, wantLo, wantHi)
		}
	}
	for _, confidence := range []float64{.99999, 1} { // of which no resample lies beyond
		if lo, hi := MeanInterval(upTo(30), confidence, 7); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("at %v: [%v, %v]", confidence, lo, hi)
		}
	}
}

func near(a, b float64) bool {
	return same(a, b) || close(a, b, 1e-9)
}

func TestMeanInterval(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		values []float64
		lo, hi float64
	}{
		{"nothing", nil, nan, nan},
		{"one", []float64{1}, nan, nan},
		{"five", []float64{1, 2, 3, 4, 5}, nan, nan},
		{"missing values do not count", []float64{1, 2, 3, 4, 5, nan, nan}, nan, nan},
		{"all equal", []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 0.1, 0.1},
		{"all zero", make([]float64, 6), 0, 0},
		{"censored", []float64{1, 2, 3, 4, 5, 6, inf}, nan, nan},
	}
	for _, test := range tests {
		if lo, hi := MeanInterval(test.values, 0.95, 1); !same(lo, test.lo) || !same(hi, test.hi) {
			t.Errorf("%s: [%v, %v], want [%v, %v]", test.name, lo, hi, test.lo, test.hi)
		}
	}
	for _, confidence := range []float64{-1, 0, 1, 2, nan} {
		if lo, hi := MeanInterval(upTo(9), confidence, 1); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("[%v, %v] at %v", lo, hi, confidence)
		}
	}
	// Of eleven values that are all but one equal, no resample says how large the
	// mean may be.
	for _, unit := range []float64{1, 0.1} { // whose sums are rounded
		xs := times([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, unit)
		lo, hi := MeanInterval(xs, 0.95, 1)
		if !(lo > 0.9*unit && lo < 12./11*unit) || !math.IsNaN(hi) {
			t.Errorf("[%v, %v], want a lower end alone", lo, hi)
		}
	}
	// Resamples of equal values leave nothing open if these are the mean.
	if lo, hi := MeanInterval([]float64{1, 2, 2, 2, 2, 3}, 0.95, 1); !(lo > 1 && lo < 2 && hi > 2 && hi < 3) {
		t.Errorf("[%v, %v] of values around 2", lo, hi)
	}
	for _, unit := range []float64{1e307, 1e-320} {
		lo, hi := MeanInterval(times(upTo(9), unit), 0.95, 1)
		if !(lo > 2.5*unit && lo < 4*unit && hi > 6*unit && hi < 7.5*unit) {
			t.Errorf("[%v, %v] for 1 to 9 times %v", lo, hi, unit)
		}
	}
	// Of normally distributed values it is near to Student's: 2.262 errors at n = 10.
	lo, hi := MeanInterval(upTo(10), 0.95, 1)
	if !within(lo, 5.5-2.166, 0.4) || !within(hi, 5.5+2.166, 0.4) {
		t.Errorf("[%v, %v] for 1 to 10, want about 5.5 ± 2.2", lo, hi)
	}
}

func TestRatioInterval(t *testing.T) {
	t.Parallel()
	one, ten := upTo(10), make([]float64, 10)
	for i := range one {
		one[i] += 10
		ten[i] = 10 * one[i]
	}
	zeros := make([]float64, 10)
	constant := []float64{4, 4, 4, 4, 4, 4}
	tests := []struct {
		name          string
		a, b          []float64
		ratio, lo, hi float64
	}{
		{"nothing", nil, one, nan, nan, nan},
		{"of nothing", one, nil, nan, nan, nan},
		{"to a negative one", append([]float64{-1}, one...), one, nan, nan, nan},
		{"to some that is zero", []float64{0, 2, 4}, []float64{8}, 4, nan, nan},
		{"of some that is zero", []float64{8}, []float64{0, 2, 4}, 0.25, nan, nan},
		{"one each", []float64{2}, []float64{3}, 1.5, nan, nan},
		{"two each", []float64{1, 2}, []float64{3, 4}, 7. / 3, nan, nan},
		{"five on a side", one, upTo(5), 3 / 15.5, nan, nan},
		{"constant", constant, constant, 1, 1, 1},
		{"a negative one", one, append([]float64{-1}, one...), nan, nan, nan},
		{"to zero", zeros, one, nan, nan, nan},
		{"zero to zero", zeros, zeros, nan, nan, nan},
		{"of zero", one, zeros, 0, 0, 0},
		{"huge to tiny", []float64{5e-324}, []float64{1e308}, nan, nan, nan},
		{"half censored", one, append([]float64{inf, inf, inf, inf, inf, inf, inf, inf, inf, inf}, one...),
			nan, nan, nan},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ratio, lo, hi := RatioInterval(test.a, test.b, 0.95, 1)
			if test.name == "half censored" {
				if !math.IsNaN(ratio) || !(lo > 0.7 && lo < 1.5) || !math.IsNaN(hi) {
					t.Errorf("%v [%v, %v], want a lower end alone", ratio, lo, hi)
				}
				// Swapped, there is as little doubt about the upper end.
				back, least, most := RatioInterval(test.b, test.a, 0.95, 1)
				if !math.IsNaN(back) || !math.IsNaN(least) || !near(most, 1/lo) {
					t.Errorf("swapped: %v [%v, %v], want %v as upper end alone", back, least, most, 1/lo)
				}
			} else if !same(ratio, test.ratio) || !same(lo, test.lo) || !same(hi, test.hi) {
				t.Errorf("%v [%v, %v], want %v [%v, %v]", ratio, lo, hi, test.ratio, test.lo, test.hi)
			}
		})
	}
	ratio, lo, hi := RatioInterval(one, ten, 0.95, 1)
	if !near(ratio, 10) || !(lo > 7 && lo < 10 && hi > 10 && hi < 14) {
		t.Errorf("ten times: %v [%v, %v]", ratio, lo, hi)
	}
}

// Of censored samples the ratio of medians is covered no less often: an end that
// censoring hides is open.
func TestRatioOfCensored(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const pairs = 400
	covered, open := 0, 0
	for seed := range uint64(pairs) {
		a, b := draws(12, random.ExpFloat64), draws(12, random.ExpFloat64)
		_, lo, hi := RatioInterval(censor(a, 1), censor(b, 1), 0.95, seed)
		if !(lo > 1) && !(hi < 1) {
			covered++
		}
		if math.IsNaN(lo) != math.IsNaN(hi) {
			open++
		}
	}
	if share := float64(covered) / pairs; share < 0.95-4*math.Sqrt(.95*.05/pairs) {
		t.Errorf("covers %v, want 0.95", share)
	}
	if open < pairs/10 {
		t.Errorf("only %d of %d intervals had one end", open, pairs)
	}
}

// Everything that resamples: its figure if there is one, and the ends.
var resampling = map[string]func(a, b []float64, seed uint64) [3]float64{
	"mean": func(a, _ []float64, seed uint64) [3]float64 {
		lo, hi := MeanInterval(a, 0.9, seed)
		return [3]float64{0, lo, hi}
	},
	"ratio of medians": func(a, b []float64, seed uint64) [3]float64 {
		r, lo, hi := RatioInterval(a, b, 0.9, seed)
		return [3]float64{r, lo, hi}
	},
}

func TestResamplingProperties(t *testing.T) {
	t.Parallel()
	value := rapid.Map(rapid.IntRange(1, 40), func(i int) float64 { return float64(i) })
	for name, of := range resampling {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				a := rapid.SliceOfN(value, 6, 14).Draw(t, "a")
				b := rapid.SliceOfN(value, 6, 14).Draw(t, "b")
				seed := rapid.Uint64().Draw(t, "seed")
				before := fmt.Sprint(a, b)
				want := of(a, b, seed)
				if fmt.Sprint(a, b) != before {
					t.Fatalf("%s became %v, %v", before, a, b)
				}
				if want[1] > want[2] {
					t.Fatalf("the ends are crossed: %v", want)
				}
				check := func(what string, got, want [3]float64) {
					for i := range got {
						if !near(got[i], want[i]) && math.Abs(got[i]-want[i]) > 1e-9 {
							t.Fatalf("%s: %v, want %v", what, got, want)
						}
					}
				}
				otherA := rapid.Permutation(a).Draw(t, "other a")
				otherB := rapid.Permutation(b).Draw(t, "other b")
				check("again, in another order", of(otherA, otherB, seed), want)
				k := 1.0
				if !strings.HasPrefix(name, "ratio") {
					k = 4
				}
				check("four times", of(times(a, 4), times(b, 4), seed),
					[3]float64{k * want[0], k * want[1], k * want[2]})
				if slices.Equal(sample(a), sample(b)) {
					return // whose luck would be whose?
				}
				if strings.HasPrefix(name, "ratio") {
					check("swapped", of(b, a, seed), [3]float64{1 / want[0], 1 / want[2], 1 / want[1]})
				}
			})
		})
	}
}

func times(xs []float64, k float64) []float64 {
	out := slices.Clone(xs)
	for i := range out {
		out[i] *= k
	}
	return out
}

// The luck is the seed's: these figures must not change from version to version,
// or published intervals would.
func TestResamplingIsPinned(t *testing.T) {
	t.Parallel()
	a, b := []float64{3, 1, 4, 1, 5, 9, 2, 6}, []float64{2, 7, 1, 8, 2, 8, 1, 8}
	want := map[string][3]float64{
		"mean":             {0, 2.3234543475495375, 6.6125343811884765},
		"ratio of medians": {9. / 7, 0.3143414700275987, 5.488475457247369},
	}
	for name, of := range resampling {
		got := of(a, b, 42)
		for i := range got {
			if !near(got[i], want[name][i]) {
				t.Errorf("%s: %v, want %v", name, got, want[name])
			}
		}
		if one, other := of(a, b, 1), of(a, b, 2); name == "mean" && one == other {
			t.Errorf("%s: the seed makes no difference", name)
		}
	}
}

func BenchmarkRatioInterval(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	x, y := draws(30, random.ExpFloat64), draws(30, random.ExpFloat64)
	for b.Loop() {
		RatioInterval(x, y, 0.95, 1)
	}
}

func BenchmarkMeanInterval_TenThousand(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	xs := draws(10_000, random.ExpFloat64)
	for b.Loop() {
		MeanInterval(xs, 0.95, 1)
	}
}
