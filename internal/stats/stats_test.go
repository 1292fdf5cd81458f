package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aclements/go-moremath/mathx"
	"pgregory.net/rapid"
)

var nan = math.NaN()

// same says whether two figures agree to twelve digits, or both are missing.
func same(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return a == b || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b))
}

func figures(s Summary) [10]float64 {
	return [...]float64{s.Mean, s.SD, s.Min, s.Median, s.P90, s.P95, s.P99, s.Max, s.CILow, s.CIHigh}
}

// The values are those of R: mean, sd, min, quantile(x, p, type=7), max, and
// the order statistics at qbinom(.025, n, .5) and its mirror image.
func TestDescribe(t *testing.T) {
	t.Parallel()
	ten := []float64{7.7, 2.5, 9.3, 3.1, 4.7, 10.8, 5.0, 5.9, 8.4, 6.2}
	tests := []struct {
		name        string
		values      []float64
		censored    int
		n, unseen   int
		mean, sd    float64
		min, median float64
		p90, p95    float64
		p99, max    float64
		low, high   float64
	}{
		{"nothing", nil, 0, 0, 0, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan},
		{"only censored", nil, 9, 0, 9, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan},
		{"one", []float64{3}, 0, 1, 0, 3, nan, 3, 3, 3, 3, 3, 3, nan, nan},
		{"two", []float64{1, 2}, 0, 2, 0, 1.5, math.Sqrt(0.5), 1, 1.5, 1.9, 1.95, 1.99, 2, nan, nan},
		{"five have no interval", []float64{5, 4, 3, 2, 1}, 0, 5, 0,
			3, math.Sqrt(2.5), 1, 3, 4.6, 4.8, 4.96, 5, nan, nan},
		{"six have one", []float64{6, 5, 4, 3, 2, 1}, 0, 6, 0,
			3.5, math.Sqrt(3.5), 1, 3.5, 5.5, 5.75, 5.95, 6, 1, 6},
		{"ten", ten, 0, 10, 0,
			6.36, 2.6808787945580668, 2.5, 6.05, 9.45, 10.125, 10.665, 10.8, 3.1, 9.3},
		{"all equal", []float64{2, 2, 2, 2, 2, 2}, 0, 6, 0, 2, 0, 2, 2, 2, 2, 2, 2, 2, 2},
		{"missing values are ignored", []float64{1, nan, math.Inf(1), 2}, 0, 2, 0,
			1.5, math.Sqrt(0.5), 1, 1.5, 1.9, 1.95, 1.99, 2, nan, nan},
		{"one of eleven censored", ten, 1, 10, 1,
			nan, nan, 2.5, 6.2, 10.8, nan, nan, nan, 3.1, 10.8},
		{"upper end among the censored", ten[:5], 2, 5, 2,
			nan, nan, 2.5, 7.7, nan, nan, nan, nan, 2.5, nan},
		{"half censored", []float64{1, 2, 3}, 3, 3, 3, nan, nan, 1, nan, nan, nan, nan, nan, 1, nan},
		{"large", []float64{1e308, 1e308}, 0, 2, 0,
			1e308, 0, 1e308, 1e308, 1e308, 1e308, 1e308, 1e308, nan, nan},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Describe(test.values, test.censored)
			if got.N != test.n || got.Censored != test.unseen {
				t.Errorf("n %d, censored %d, want %d, %d", got.N, got.Censored, test.n, test.unseen)
			}
			want := [...]float64{test.mean, test.sd, test.min, test.median, test.p90, test.p95,
				test.p99, test.max, test.low, test.high}
			for i, v := range figures(got) {
				if !same(v, want[i]) {
					t.Errorf("figure %d of %+v: %v, want %v", i, got, v, want[i])
				}
			}
		})
	}
}

func TestDescribeLeavesItsArgumentAlone(t *testing.T) {
	t.Parallel()
	values := []float64{3, 1, 2}
	Describe(values, 1)
	if !slices.Equal(values, []float64{3, 1, 2}) {
		t.Errorf("values became %v", values)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	tests := []struct{ p, want float64 }{
		{0, 1}, {0.25, 3.25}, {0.5, 5.5}, {0.75, 7.75}, {1, 10}, {-0.1, nan}, {1.1, nan}, {nan, nan},
	}
	for _, test := range tests {
		if got := Quantile(ten, test.p); !same(got, test.want) {
			t.Errorf("Quantile(1..10, %v) = %v, want %v", test.p, got, test.want)
		}
	}
	if got := Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("Quantile of nothing = %v, want NaN", got)
	}
}

// The ranks were computed with exact fractions from the binomial distribution;
// they are those of the usual printed tables.
func TestMedianRank(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n, want    int
		confidence float64
	}{
		{0, 0, .95}, {1, 0, .95}, {5, 0, .95}, {6, 1, .95}, {8, 1, .95}, {9, 2, .95}, {11, 2, .95},
		{12, 3, .95}, {15, 4, .95}, {20, 6, .95}, {25, 8, .95}, {30, 10, .95}, {50, 18, .95},
		{100, 40, .95}, {1000, 469, .95}, {7, 0, .99}, {8, 1, .99}, {10, 0, 1}, {10, 0, 0}, {10, 0, nan},
	}
	for _, test := range tests {
		if got := rank(test.n, 0.5, (1-test.confidence)/2); got != test.want {
			t.Errorf("rank for %d at %v: %d, want %d", test.n, test.confidence, got, test.want)
		}
	}
}

func TestMedianIntervalCovers(t *testing.T) {
	t.Parallel()
	const samples = 4000
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 9, 20, 31} {
		covered := 0
		xs := make([]float64, n)
		for range samples {
			for i := range xs {
				xs[i] = random.ExpFloat64()
			}
			slices.Sort(xs)
			lo, hi := QuantileInterval(xs, 0.5, 0.95)
			if lo <= math.Ln2 && math.Ln2 <= hi {
				covered++
			}
		}
		// Four standard errors below the promise.
		if got := float64(covered) / samples; got < 0.95-4*math.Sqrt(.95*.05/samples) {
			t.Errorf("the interval of %d values covered %v, want 0.95", n, got)
		}
	}
}

// The values were computed with sixty decimal digits from the binomial sums;
// R's binom.test prints the same.
func TestBinomialInterval(t *testing.T) {
	t.Parallel()
	tests := []struct {
		k, n               int
		confidence, lo, hi float64
	}{
		{5, 10, .95, 0.18708602844739852, 0.8129139715526015},
		{0, 10, .95, 0, 0.30849710781876083},
		{10, 10, .95, 0.6915028921812392, 1},
		{1, 20, .95, 0.0012650894979498036, 0.24873276277202777},
		{50, 1000, .95, 0.037335397604661764, 0.06539048791549365},
		{7, 100, .999, 0.013807898474435698, 0.1928377066213218},
		{1, 1, .95, 0.025, 1},
		{0, 0, .95, 0, 1},
		{-1, 10, .95, nan, nan}, {11, 10, .95, nan, nan}, {1, 10, 1, nan, nan}, {1, 10, nan, nan, nan},
	}
	for _, test := range tests {
		lo, hi := BinomialInterval(test.k, test.n, test.confidence)
		near := func(a, b float64) bool { return same(a, b) || math.Abs(a-b) < 1e-11 }
		if !near(lo, test.lo) || !near(hi, test.hi) {
			t.Errorf("%d of %d at %v: [%v, %v], want [%v, %v]",
				test.k, test.n, test.confidence, lo, hi, test.lo, test.hi)
		}
	}
}

func TestBinomialIntervalOfManyMessages(t *testing.T) {
	t.Parallel()
	const k, n = 1_000_000, 100_000_000
	lo, hi := BinomialInterval(k, n, 0.95)
	// So many are normally distributed.
	half := 1.959964 * math.Sqrt(0.01*0.99/n)
	if math.Abs(lo-(0.01-half)) > half/100 || math.Abs(hi-(0.01+half)) > half/100 {
		t.Errorf("[%v, %v], want 0.01 ± %v", lo, hi, half)
	}
}

func TestBetaIncAgainstMoremath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0.5, 3000).Draw(t, "a")
		b := rapid.Float64Range(0.5, 3000).Draw(t, "b")
		x := rapid.Float64Range(1e-6, 1-1e-6).Draw(t, "x")
		got, want := betaInc(x, a, b), mathx.BetaInc(x, a, b)
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("betaInc(%v, %v, %v) = %v, want %v", x, a, b, got, want)
		}
	})
}

func TestDescribeProperties(t *testing.T) {
	t.Parallel()
	value := rapid.Float64Range(-1e6, 1e6)
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(value, 1, 60).Draw(t, "xs")
		censored := rapid.IntRange(0, 10).Draw(t, "censored")
		s := Describe(xs, censored)

		shuffled := rapid.Permutation(xs).Draw(t, "shuffled")
		if a, b := figures(s), figures(Describe(shuffled, censored)); !equal(a, b) {
			t.Fatalf("the order matters: %v, then %v", a, b)
		}
		// A power of two scales without rounding.
		scaled := make([]float64, len(xs))
		for i, x := range xs {
			scaled[i] = 4 * x
		}
		want := figures(s)
		for i := range want {
			want[i] *= 4
		}
		if got := figures(Describe(scaled, censored)); !equal(got, want) {
			t.Fatalf("four times the values: %v, want %v", got, want)
		}
		last := s.Min
		for _, v := range []float64{s.Median, s.P90, s.P95, s.P99, s.Max} {
			if v < last {
				t.Fatalf("quantiles fall: %+v", s)
			}
			if !math.IsNaN(v) {
				last = v
			}
		}
		if s.CILow > s.Median || s.CIHigh < s.Median {
			t.Fatalf("the median lies outside its interval: %+v", s)
		}
	})
}

func equal(a, b [10]float64) bool {
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// However large the censored values may really have been, what Describe says
// about the whole sample holds.
func TestCensoringIsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 40).Draw(t, "xs")
		unseen := rapid.SliceOfN(rapid.Float64Range(10, 1000), 0, 20).Draw(t, "unseen")
		got := figures(Describe(xs, len(unseen)))
		truth := figures(Describe(append(slices.Clone(xs), unseen...), 0))
		for i, v := range got {
			if !math.IsNaN(v) && !same(v, truth[i]) {
				t.Fatalf("figure %d: %v, in truth %v", i, v, truth[i])
			}
		}
	})
}
