package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHodgesLehmann(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		a, b          []float64
		confidence    float64
		shift, lo, hi float64
	}{
		// R's wilcox.test(x, y, conf.int = TRUE): 0.305, [-0.15, 0.76].
		{"Hollander and Wolfe", weeks, term, .95, 0.305, -0.15, 0.76},
		{"nothing", nil, []float64{1}, .95, nan, nan, nan},
		{"one each", []float64{1}, []float64{3}, .95, 2, nan, nan},
		{"three each are too few", []float64{1, 2, 3}, []float64{11, 12, 13}, .95, 10, nan, nan},
		{"four are not", []float64{1, 2, 3, 4}, []float64{11, 12, 13, 14}, .95, 10, 7, 13},
		{"all equal", make([]float64, 9), make([]float64, 9), .95, 0, 0, 0},
		{"no confidence", make([]float64, 9), make([]float64, 9), 1, 0, nan, nan},
		{"censored", []float64{1, 2, 3, 4, 5}, []float64{12, 13, 14, 15, inf}, .95, 11, 8, nan},
		{"censored on both sides", []float64{1, 2, 3, inf}, []float64{1, 2, 3, inf}, .95, 0, nan, nan},
		{"more of it", []float64{1, 2, inf, inf}, []float64{1, 2, inf, inf}, .95, nan, nan, nan},
		{"all censored", []float64{inf, inf}, []float64{inf, inf}, .95, nan, nan, nan},
		{"huge", []float64{-math.MaxFloat64, 5e-324}, []float64{5e-324, 5e-324}, .95,
			math.MaxFloat64 / 2, nan, nan},
		{"tiny", []float64{5e-324}, []float64{1e-323}, .95, 5e-324, nan, nan},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			shift, lo, hi := HodgesLehmann(test.a, test.b, test.confidence)
			if !same(shift, test.shift) || !same(lo, test.lo) || !same(hi, test.hi) {
				t.Errorf("%v [%v, %v], want %v [%v, %v]", shift, lo, hi, test.shift, test.lo, test.hi)
			}
		})
	}
}

func TestDifferencesAreFoundByRank(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Float64(),
		rapid.Map(rapid.IntRange(0, 5), func(i int) float64 { return float64(i) }))
	rapid.Check(t, func(t *rapid.T) {
		a := sample(rapid.SliceOfN(value, 1, 12).Draw(t, "a"))
		b := sample(rapid.SliceOfN(value, 1, 12).Draw(t, "b"))
		var all []float64
		for _, x := range a {
			for _, y := range b {
				all = append(all, y-x)
			}
		}
		slices.Sort(all)
		d := newDifferences(a, b)
		for i, want := range all {
			if got := d.find(i + 1); !same(got, known(want)) {
				t.Fatalf("number %d of %v: %v", i+1, all, got)
			}
		}
	})
}

// The interval holds the shifts that the test would not reject, at the limit of
// the exact distribution and beyond.
func TestHodgesLehmannAgreesWithMannWhitney(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{4, 6, 9, 20, 50, 51, 80} {
		for range 20 {
			shift := random.NormFloat64()
			a := draws(n, random.NormFloat64)
			b := draws(n+2, func() float64 { return random.NormFloat64() + shift })
			_, lo, hi := HodgesLehmann(a, b, 0.95)
			inside, p := lo <= 0 && 0 <= hi, MannWhitney(a, b).P
			if inside != (p > 0.05) && math.Abs(p-0.05) > 1e-3 {
				t.Errorf("n = %d: [%v, %v], and P = %v", n, lo, hi, p)
			}
		}
	}
}

func TestHodgesLehmannProperties(t *testing.T) {
	t.Parallel()
	value := rapid.Map(rapid.IntRange(0, 1000), func(i int) float64 { return float64(i) })
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(value, 1, 15).Draw(t, "a")
		b := rapid.SliceOfN(value, 1, 15).Draw(t, "b")
		shift, lo, hi := HodgesLehmann(a, b, 0.9)
		check := func(what string, s, l, h float64, a, b []float64) {
			if gs, gl, gh := HodgesLehmann(a, b, 0.9); !same(gs, s) || !same(gl, l) || !same(gh, h) {
				t.Fatalf("%s: %v [%v, %v], want %v [%v, %v]", what, gs, gl, gh, s, l, h)
			}
		}
		moved := func(xs []float64, k, plus float64) []float64 {
			out := make([]float64, len(xs))
			for i, x := range xs {
				out[i] = k*x + plus
			}
			return out
		}
		check("swapped", -shift, -hi, -lo, b, a)
		check("moved", shift+8, lo+8, hi+8, a, moved(b, 1, 8))
		check("scaled", 4*shift, 4*lo, 4*hi, moved(a, 4, 0), moved(b, 4, 0))
		check("in another order", shift, lo, hi, rapid.Permutation(a).Draw(t, "other a"), b)
	})
}

// However large the censored values may really have been, what is said about the
// shift holds.
func TestHodgesLehmannOfCensoredIsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(0, 30)
		a := rapid.SliceOfN(value, 4, 15).Draw(t, "a")
		b := rapid.SliceOfN(value, 4, 15).Draw(t, "b")
		shift, lo, hi := HodgesLehmann(censor(a, 20), censor(b, 20), 0.9)
		trueShift, trueLo, trueHi := HodgesLehmann(a, b, 0.9)
		if lo > trueLo || hi < trueHi || !math.IsNaN(shift) && !same(shift, trueShift) {
			t.Fatalf("%v [%v, %v], in truth %v [%v, %v]", shift, lo, hi, trueShift, trueLo, trueHi)
		}
	})
}
