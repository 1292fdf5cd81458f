package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		values []float64
		rho, p float64
	}{
		{"nothing", nil, nan, nan},
		{"two", []float64{1, 2}, nan, nan},
		{"three", []float64{1, 2, 3}, 1, 2. / 6},
		// Tables of the exact distribution have 0.083, 0.017 and 0.0028.
		{"four upwards", []float64{1, 2, 3, 4}, 1, 2. / 24},
		{"five downwards", []float64{9, 7, 5, 3, 1}, -1, 2. / 120},
		{"six upwards", []float64{1, 2, 4, 8, 16, 32}, 1, 2. / 720},
		{"none", []float64{2, 4, 1, 3}, 0, 1},
		{"all equal", []float64{5, 5, 5, 5, 5, 5, 5, 5, 5}, nan, 1},
		{"few equal", []float64{5, 5, 5}, nan, 1},
		{"missing values are left out", []float64{1, nan, 2, 3, math.Inf(-1), 4}, 1, 2. / 24},
		{"censored are the largest", []float64{1, 2, 3, inf}, 1, 2. / 24},
		{"huge and tiny", []float64{-1e308, 5e-324, 1e-323, math.MaxFloat64}, 1, 2. / 24},
		// It and its mirror image have the same as the seven others with two neighbours swapped, and none.
		{"eight, two of them swapped", []float64{1, 2, 3, 4, 5, 6, 8, 7}, 1 - 6*2./(8*63), 16. / 40320},
		// From nine on it is of Student's t, here 6.87825158216725 with 7 degrees of freedom.
		{"nine, eight of them swapped", []float64{2, 1, 4, 3, 6, 5, 8, 7, 9}, 1 - 6*8./(9*80),
			betaInc(7/(7+6.87825158216725*6.87825158216725), 3.5, 0.5)},
		{"ten upwards", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1, 2. / 3628800},
		// t = 2.6583 with 8 degrees of freedom.
		{"ten", []float64{3, 1, 2, 8, 5, 4, 9, 10, 6, 7}, 0.6848484848484848, 0.028882797506732616},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rho, p := Drift(test.values)
			if math.Abs(rho-test.rho) > 1e-12 || math.IsNaN(rho) != math.IsNaN(test.rho) || !same(p, test.p) {
				t.Errorf("rho %v, P %v, want %v, %v", rho, p, test.rho, test.p)
			}
		})
	}
}

// SciPy's documentation: spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]) has
// correlation 0.82078 and pvalue 0.08858700531354381, by Student's t. Of all 120
// orders, 16 are as extreme.
func TestDriftAgainstSciPy(t *testing.T) {
	t.Parallel()
	rho, p := Drift([]float64{5, 6, 7, 8, 7})
	if !within(rho, 0.82078, 1e-5) || !same(p, 16./120) {
		t.Errorf("rho %v, P %v, want 0.82078, 0.13", rho, p)
	}
	if got := betaTail(1-rho*rho, 1.5); !within(got, 0.08858700531354381, 1e-12) {
		t.Errorf("P = %v, want 0.08858700531354381", got)
	}
}

// TestBetaTail: a correlation that is perfect but for rounding has no tail, and none at all has it all.
func TestBetaTail(t *testing.T) {
	t.Parallel()
	for rest, want := range map[float64]float64{-1e-16: 0, 0: 0, 1: 1, 1 + 1e-15: 1} {
		if got := betaTail(rest, 3); got != want {
			t.Errorf("short of 1 by %v: %v, want %v", rest, got, want)
		}
	}
}

// Where the exact distribution gives way to Student's t, they are near.
func TestDriftAtItsLimit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		xs := draws(8, random.NormFloat64)
		rho, exact := Drift(xs)
		if p := betaTail(1-rho*rho, 3); !within(p, exact, 0.03) {
			t.Errorf("rho %v: P = %v, and %v of Student's t", rho, exact, p)
		}
	}
}

func TestDriftOfNone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{5, 7, 9, 12, 30, 200} {
		const runs = 500
		drifts := 0
		for range runs {
			if _, p := Drift(draws(n, random.ExpFloat64)); p <= 0.05 {
				drifts++
			}
		}
		// Three standard errors above the level.
		if share := float64(drifts) / runs; share > 0.05+3*math.Sqrt(.05*.95/runs) {
			t.Errorf("%d values in random order drift in %v of all runs", n, share)
		}
	}
}

func TestDriftProperties(t *testing.T) {
	t.Parallel()
	value := rapid.Map(rapid.IntRange(-10, 10), func(i int) float64 { return float64(i) })
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(value, 3, 14).Draw(t, "xs")
		rho, p := Drift(xs)
		if !(p > 0 && p <= 1) {
			t.Fatalf("P = %v", p)
		}
		back, negative, moved := slices.Clone(xs), slices.Clone(xs), slices.Clone(xs)
		slices.Reverse(back)
		for i, x := range xs {
			negative[i], moved[i] = -x, 3*x+7
		}
		for what, other := range map[string][]float64{"backwards": back, "negative": negative} {
			if r, q := Drift(other); math.Abs(r+rho) > 1e-12 || !within(p, q, 1e-9) {
				t.Fatalf("%s: %v, %v, want %v, %v", what, r, q, -rho, p)
			}
		}
		if got, want := fmt.Sprint(Drift(moved)), fmt.Sprint(Drift(xs)); got != want {
			t.Fatalf("moved and scaled: %v, want %v", got, want)
		}
	})
}

func TestHolm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		p, want []float64
	}{
		{"nothing", nil, nil},
		{"one", []float64{0.03}, []float64{0.03}},
		// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
		{"four", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"steps only rise", []float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{"one at most", []float64{0.9, 0.4, 0.6}, []float64{1, 1, 1}},
		{"equal", []float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{"NaN do not count", []float64{nan, 0.01, nan, 0.04}, []float64{nan, 0.02, nan, 0.04}},
		{"only NaN", []float64{nan}, []float64{nan}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before := fmt.Sprint(test.p)
			got := Holm(test.p)
			if len(got) != len(test.want) {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			for i := range got {
				if !same(got[i], test.want[i]) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			}
			if fmt.Sprint(test.p) != before {
				t.Errorf("the P became %v", test.p)
			}
		})
	}
}

// Holm's procedure as he wrote it: reject the smallest P while each is at most
// alpha over the number of those that are left.
func TestHolmRejectsAsHolmDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 0.2), 1, 20).Draw(t, "p")
		alpha := rapid.Float64Range(0.001, 0.5).Draw(t, "alpha")
		adjusted := Holm(p)
		sorted := slices.Sorted(slices.Values(p))
		rejected := 0
		for rejected < len(p) && sorted[rejected]*float64(len(p)-rejected) <= alpha {
			rejected++
		}
		got := 0
		for i, a := range adjusted {
			if a <= alpha {
				got++
			}
			if a < p[i] || a > 1 {
				t.Fatalf("%v became %v", p[i], a)
			}
		}
		if got != rejected {
			t.Fatalf("%d rejected, want %d", got, rejected)
		}
	})
}
