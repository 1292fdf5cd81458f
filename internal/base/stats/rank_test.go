package stats

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	mm "github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"
)

var inf = math.Inf(1)

// Ozone in New York in May and in August 1973: the example of R's wilcox.test.
var (
	ozoneMay = []float64{41, 36, 12, 18, nan, 28, 23, 19, 8, nan, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11,
		1, 11, 4, 32, nan, nan, nan, 23, 45, 115, 37}
	ozoneAugust = []float64{39, 9, 16, 78, 35, 66, 122, 89, 110, nan, nan, 44, 28, 65, nan, 22, 59, 23,
		31, 44, 21, 9, nan, 45, 168, 73, nan, 76, 118, 84, 85}
)

// Hollander and Wolfe (1973), page 69: permeability of the membranes of 10 and 5
// placentas; another example of R's wilcox.test.
var (
	term  = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	weeks = []float64{1.15, 0.88, 0.90, 0.74, 1.21}
)

func TestMannWhitney(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		a, b []float64
		want Rank
	}{
		// R: W = 35, p-value = 0.1272 one-sided, exact.
		{"Hollander and Wolfe", weeks, term, Rank{35, 2 * 382.0 / 3003, 0.4, true}},
		{"complete separation", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, Rank{16, 2. / 70, 1, true}},
		{"the other way", []float64{5, 6, 7, 8}, []float64{1, 2, 3, 4}, Rank{0, 2. / 70, -1, true}},
		{"one each", []float64{1}, []float64{2}, Rank{1, 1, 1, true}},
		{"two each", []float64{1, 2}, []float64{3, 4}, Rank{4, 1. / 3, 1, true}},
		{"all equal", []float64{7, 7, 7}, []float64{7, 7}, Rank{3, 1, 0, true}},
		{"many equal", make([]float64, 60), make([]float64, 70), Rank{2100, 1, 0, true}},
		{"very many equal", make([]float64, 5000), make([]float64, 5000), Rank{12_500_000, 1, 0, true}},
		{"minus infinity is missing", []float64{1, 2, math.Inf(-1)}, []float64{3, 4}, Rank{4, 1. / 3, 1, true}},
		{"nothing", nil, []float64{1}, Rank{nan, nan, nan, false}},
		{"only missing values", []float64{1}, []float64{nan, nan}, Rank{nan, nan, nan, false}},
		// 1 of 20 ways to choose 3 of 6 is as extreme, and one more the other way.
		{"censored are the largest", []float64{1, 2, 3}, []float64{4, inf, inf}, Rank{9, 0.1, 1, true}},
		{"and tie", []float64{1, inf}, []float64{2, inf}, Rank{2.5, 1, 0.25, true}},
		{"all censored", []float64{inf, inf}, []float64{inf}, Rank{1, 1, 0, true}},
		{"huge and tiny", []float64{5e-324, 1e308}, []float64{1e-323, math.MaxFloat64},
			Rank{3, 2. / 3, 0.5, true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := MannWhitney(test.a, test.b)
			if !same(got.U, test.want.U) || !same(got.P, test.want.P) || !same(got.Delta, test.want.Delta) ||
				got.Exact != test.want.Exact {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// R takes the normal distribution where there are ties and prints
// "W = 127.5, p-value = 0.0001208".
func TestNormalP(t *testing.T) {
	t.Parallel()
	x, y := sample(ozoneAugust), sample(ozoneMay)
	twice, ties := count(x, y)
	if twice != 255 {
		t.Errorf("2U = %d, want 255", twice)
	}
	if p := normalP(127.5, len(x), len(y), ties); !within(p, 0.0001208, 5e-8) {
		t.Errorf("P = %v, want 0.0001208", p)
	}
	// The exact one, counted with whole numbers by another program, is half of it.
	if r := MannWhitney(ozoneAugust, ozoneMay); !r.Exact || !same(r.P, 6.10873518880372e-05) {
		t.Errorf("%+v, want P = 6.10873518880372e-05", r)
	}
}

// everyP returns the P of each way to divide values into n and the rest, as
// defined: twice the share of divisions with a U as small, or as large.
func everyP(values []float64, n int) (divisions [][2][]float64, p []float64) {
	var u []float64
	for mask := range uint(1) << len(values) {
		if bits.OnesCount(mask) != n {
			continue
		}
		var d [2][]float64
		for i, v := range values {
			d[mask>>i&1^1] = append(d[mask>>i&1^1], v)
		}
		divisions = append(divisions, d)
		sum := 0.0
		for _, a := range d[0] {
			for _, b := range d[1] {
				switch {
				case b > a:
					sum++
				case b == a:
					sum += 0.5
				}
			}
		}
		u = append(u, sum)
	}
	for _, v := range u {
		small, large := 0, 0
		for _, w := range u {
			if w <= v {
				small++
			}
			if w >= v {
				large++
			}
		}
		p = append(p, min(1, 2*float64(min(small, large))/float64(len(u))))
	}
	return divisions, p
}

func TestMannWhitneyIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]float64{1, 2, 3, 4, 5, 6, 7, inf})
		values := rapid.SliceOfN(value, 2, 9).Draw(t, "values")
		n := rapid.IntRange(1, len(values)-1).Draw(t, "n")
		divisions, p := everyP(values, n)
		for i, d := range divisions {
			got := MannWhitney(d[0], d[1])
			if !same(got.P, p[i]) || !got.Exact {
				t.Fatalf("%v and %v: %+v, want P = %v", d[0], d[1], got, p[i])
			}
			if got.P < MinP(n, len(values)-n)*(1-1e-12) {
				t.Fatalf("%v and %v: P = %v is less than the least", d[0], d[1], got.P)
			}
		}
		// The level of a test is what it promises.
		for i := range p {
			rejected := 0
			for _, other := range p {
				if other <= p[i] {
					rejected++
				}
			}
			if share := float64(rejected) / float64(len(p)); share > p[i]+1e-12 {
				t.Fatalf("at %v a share of %v is rejected", p[i], share)
			}
		}
	})
}

// Why ties are counted here: the distribution of U is not symmetric when the
// sizes differ, and the library's P for these is 4/3.
func TestMannWhitneyWithTiesInUnequalSamples(t *testing.T) {
	t.Parallel()
	a, b := []float64{1}, []float64{1, 2}
	theirs, err := mm.MannWhitneyUTest(a, b, mm.LocationDiffers)
	if err != nil || theirs.P <= 1 {
		t.Errorf("the library says %+v, %v: our own way may have become unnecessary", theirs, err)
	}
	if got := MannWhitney(a, b); got.P != 1 {
		t.Errorf("%+v, want P = 1", got)
	}
}

// In samples of one size the verdicts are benchstat's; but from 26 values on it
// takes the normal distribution where there are ties.
func TestMannWhitneyAgainstBenchmath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 4, 9, 25, 26, 51, 60}).Draw(t, "n")
		most := rapid.SampledFrom([]int{2, 10, 1_000_000_000}).Draw(t, "most")
		value := rapid.Map(rapid.IntRange(0, most), func(i int) float64 { return float64(i) })
		a := rapid.SliceOfN(value, n, n).Draw(t, "a")
		b := rapid.SliceOfN(value, n, n).Draw(t, "b")
		got := MannWhitney(a, b)
		// NewSample sorts what it is given.
		want := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(a), &benchmath.DefaultThresholds),
			benchmath.NewSample(slices.Clone(b), &benchmath.DefaultThresholds))
		_, ties := count(sample(a), sample(b))
		if got.Exact && n > mm.MannWhitneyTiesExactLimit && len(ties) < 2*n {
			return
		}
		if !within(got.P, want.P, 1e-9) {
			t.Fatalf("P = %v, want %v", got.P, want.P)
		}
	})
}

// TestTiedP: of the 35 ways to choose three of 1, 1, 2, 2, 3, 4, 4 a 2U of 12, the mean, comes about
// in one, 20 have no more and 16 no less: the upper tail is the smaller one in the lower half.
func TestTiedP(t *testing.T) {
	t.Parallel()
	if got := tiedP([]int{2, 2, 1, 2}, 3, 12); !same(got, 2*16./35) {
		t.Errorf("%v, want %v", got, 2*16./35)
	}
}

// TestDeviation: the deviation of U over all ways to divide values that tie; and by the normal
// distribution a U of the mean is no sign of anything.
func TestDeviation(t *testing.T) {
	t.Parallel()
	for _, values := range [][]float64{{1, 2, 3, 4, 5}, {1, 1, 2, 3, 3, 3}, {1, 1, 1, 2}, {1, 2, 2, 2, 2, 3, 4}} {
		for n := 1; n < len(values); n++ {
			divisions, _ := everyP(values, n)
			var ties []int
			sum, squares := 0.0, 0.0
			for _, d := range divisions {
				var twice int
				twice, ties = count(d[0], d[1])
				sum += float64(twice) / 2
				squares += float64(twice) * float64(twice) / 4
			}
			mean := sum / float64(len(divisions))
			want := math.Sqrt(squares/float64(len(divisions)) - mean*mean)
			m := len(values) - n
			if got := deviation(n, m, ties); !near(got, want) {
				t.Errorf("%d of %v: %v, want %v", n, values, got, want)
			}
			for _, off := range []float64{-0.5, -0.25, 0, 0.25, 0.5} {
				if p := normalP(mean+off, n, m, ties); p != 1 {
					t.Errorf("%d of %v, %v off the mean: P %v, want 1", n, values, off, p)
				}
			}
			if p, want := normalP(mean+want+0.5, n, m, ties), 2*normal(-1); !near(p, want) {
				t.Errorf("%d of %v, one deviation off: P %v, want %v", n, values, p, want)
			}
		}
	}
}

// TestMiddle: halfway between two values, also where they are further apart than a float64 is large.
func TestMiddle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ x, y, want float64 }{
		{1, 1, 1}, {1, 2, 1.5}, {2, 1, 1.5}, {-1, 4, 1.5}, {inf, inf, inf}, {-inf, -inf, -inf}, {1, inf, inf},
		{-1.5e308, 1.7e308, 0.1e308}, {1.7e308, -1.5e308, 0.1e308}, {1e308, 1.5e308, 1.25e308}, {0, 5e-324, 0},
	} {
		if got := middle(test.x, test.y); !near(got, test.want) {
			t.Errorf("between %v and %v: %v, want %v", test.x, test.y, got, test.want)
		}
	}
}

// Beyond the limit the normal distribution is as good as the exact one.
func TestMannWhitneyAtItsLimit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{10, 1000, 1 << 30} {
		x, y := make([]float64, exactLimit), make([]float64, exactLimit-10)
		for i := range x {
			x[i] = float64(random.IntN(most))
		}
		for i := range y {
			y[i] = float64(random.IntN(most)) * 1.3
		}
		got := MannWhitney(x, y)
		slices.Sort(x)
		slices.Sort(y)
		_, ties := count(x, y)
		if p := normalP(got.U, len(x), len(y), ties); !got.Exact || !within(p, got.P, 0.002) {
			t.Errorf("up to %d: %+v, and %v by the normal distribution", most, got, p)
		}
		if more := MannWhitney(append(x, 1, 2), y); more.Exact {
			t.Errorf("%d values are still exact", len(x)+2)
		}
	}
}

func TestMinP(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n1, n2 int
		want   float64
	}{{0, 5, nan}, {5, 0, nan}, {-1, 5, nan}, {1, 1, 1}, {2, 2, 1. / 3}, {3, 3, 0.1}, {4, 4, 2. / 70}, {9, 9, 2. / 48620}, {1, 39, 0.05}}
	for _, test := range tests {
		if got := MinP(test.n1, test.n2); !same(got, test.want) {
			t.Errorf("MinP(%d, %d) = %v, want %v", test.n1, test.n2, got, test.want)
		}
	}
}

func TestMannWhitneyProperties(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(rapid.Map(rapid.IntRange(0, 20), func(i int) float64 { return float64(i) }),
		rapid.Just(inf), rapid.Just(nan))
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(value, 0, 60).Draw(t, "a")
		b := rapid.SliceOfN(value, 0, 60).Draw(t, "b")
		want := fmt.Sprint(MannWhitney(a, b))
		if got := fmt.Sprint(MannWhitney(rapid.Permutation(a).Draw(t, "other a"), b)); got != want {
			t.Fatalf("the order matters: %v, then %v", want, got)
		}
		r, swapped := MannWhitney(a, b), MannWhitney(b, a)
		pairs := float64(len(sample(a)) * len(sample(b)))
		if pairs == 0 {
			return
		}
		if !same(swapped.U, pairs-r.U) || !same(swapped.P, r.P) || !same(swapped.Delta, -r.Delta) {
			t.Fatalf("%+v, and swapped %+v", r, swapped)
		}
		if r.P <= 0 || r.P > 1 || math.Abs(r.Delta) > 1 || !same(r.Delta, 2*r.U/pairs-1) && r.U*2 != pairs {
			t.Fatalf("%+v", r)
		}
		// Ranks are all that counts.
		stretched := func(xs []float64) []float64 {
			out := make([]float64, len(xs))
			for i, x := range xs {
				out[i] = math.Exp(30*x) - 7
			}
			return out
		}
		if got := fmt.Sprint(MannWhitney(stretched(a), stretched(b))); got != want {
			t.Fatalf("stretched: %v, want %v", got, want)
		}
	})
}

// At 0.05, no more of equal pairs may be told apart than that; with three
// standard errors of 1000 pairs it is 0.071.
func TestMannWhitneyOfEqualPairs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	distributions := map[string]func() float64{
		"log-normal": func() float64 { return math.Exp(random.NormFloat64()) },
		"counts":     func() float64 { return float64(random.IntN(4)) },
		"censored":   func() float64 { return censor([]float64{random.ExpFloat64()}, 1)[0] },
	}
	for _, name := range []string{"log-normal", "counts", "censored"} {
		for _, sizes := range [][2]int{{4, 4}, {6, 10}, {15, 15}, {60, 55}} {
			const pairs = 1000
			different := 0
			for range pairs {
				a, b := draws(sizes[0], distributions[name]), draws(sizes[1], distributions[name])
				if MannWhitney(a, b).P <= 0.05 {
					different++
				}
			}
			if share := float64(different) / pairs; share > 0.05+3*math.Sqrt(.05*.95/pairs) {
				t.Errorf("%s, %v: %v of equal pairs differ", name, sizes, share)
			}
		}
	}
}

func draws(n int, draw func() float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = draw()
	}
	return xs
}

// censor returns a copy of values in which all beyond limit are +Inf, as if a time limit
// had cut them short there.
func censor(values []float64, limit float64) []float64 {
	out := slices.Clone(values)
	for i, v := range out {
		if v > limit {
			out[i] = math.Inf(1)
		}
	}
	return out
}

// TestMannWhitney_Power: samples shifted by what is detectable by Noether's formula (1987)
// are told apart as often as it says: of 25 a side, with probability 0.8, a Cliff's delta of
// 0.4575.
func TestMannWhitney_Power(t *testing.T) {
	t.Parallel()
	const pairs, n = 600, 25
	// Of normal distributions, delta is 2Φ(shift/√2) - 1.
	shift := math.Sqrt2 * NormalQuantile((1+0.4575)/2)
	random := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range pairs {
		a := draws(n, random.NormFloat64)
		b := draws(n, func() float64 { return random.NormFloat64() + shift })
		if MannWhitney(a, b).P <= 0.05 {
			found++
		}
	}
	if power := float64(found) / pairs; !within(power, 0.8, 0.06) {
		t.Errorf("found %v of them, want 0.8", power)
	}
}

// TestMannWhitney_Limit: up to 50 values a side the test is exact, and beyond it is not.
func TestMannWhitney_Limit(t *testing.T) {
	t.Parallel()
	side := func(n int, from float64) []float64 {
		xs := upTo(n)
		for i := range xs {
			xs[i] = from + 2*xs[i]
		}
		return xs
	}
	for _, test := range []struct {
		n, m  int
		exact bool
	}{{50, 50, true}, {50, 3, true}, {3, 50, true}, {51, 50, false}, {50, 51, false}} {
		r := MannWhitney(side(test.n, 0), side(test.m, 7)) // the ranks of the two alternate
		approximate := normalP(r.U, test.n, test.m, nil)
		if r.Exact != test.exact || (r.P == approximate) == test.exact {
			t.Errorf("%d and %d values: exact %v, P %v, by the normal distribution %v", test.n, test.m,
				r.Exact, r.P, approximate)
		}
	}
}
