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
	return close(a, b, 1e-12)
}

// close says whether two figures differ by so small a part at most. What is infinite is close to
// itself alone, and what is missing to nothing.
func close(a, b, part float64) bool {
	return a == b || within(a, b, min(math.MaxFloat64, part*max(math.Abs(a), math.Abs(b))))
}

// within says whether two figures differ by so much at most, which one that is missing does not.
func within(a, b, most float64) bool { return math.Abs(a-b) <= most }

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
		{"one censored, none missing", []float64{3}, 1, 1, 1, nan, nan, 3, nan, nan, nan, nan, nan, nan, nan},
		{"minus infinity is missing", []float64{math.Inf(-1), 3}, 0, 1, 0, 3, nan, 3, 3, 3, 3, 3, 3, nan, nan},
		{"fewer than none censored", []float64{3}, -2, 1, 0, 3, nan, 3, 3, 3, 3, 3, 3, nan, nan},
		{"tiny", []float64{5e-324, 15e-324}, 0, 2, 0, 1e-323, 5e-324, 5e-324, 1e-323, 1.5e-323, 1.5e-323,
			1.5e-323, 1.5e-323, nan, nan},
		{"one of them large", []float64{-3e307, 0, 3e307}, 0, 3, 0,
			0, 3e307, -3e307, 0, 2.4e307, 2.7e307, 2.94e307, 3e307, nan, nan},
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
	for _, test := range []struct {
		sorted  []float64
		p, want float64
	}{
		{nil, 0.5, nan},
		{[]float64{nan, 1, 2}, 1, nan},
		{[]float64{1, inf, inf}, 0.75, inf},
		{[]float64{1, inf}, 0.5, inf},
		{[]float64{-inf, -inf, 1}, 0.25, -inf},
		// They are more than a float64 apart.
		{[]float64{-1.5e308, 1e308}, 0.25, -0.875e308},
		{[]float64{-1e308, 1.5e308}, 0.75, 0.875e308},
		// The last of them is all that the values leave of the middle.
		{[]float64{1e308, 1.2e308}, 0.5, 1.1e308},
	} {
		if got := Quantile(test.sorted, test.p); !same(got, test.want) {
			t.Errorf("Quantile(%v, %v) = %v, want %v", test.sorted, test.p, got, test.want)
		}
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

// TestRank_Nothing: no share and no tail has no rank, however many observations there are.
func TestRank_Nothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ p, tail float64 }{
		{-0.5, .025}, {0, .025}, {1, .025}, {1.5, .025}, {nan, .025}, {.5, -1}, {.5, 0}, {.5, .5}, {.5, nan},
	} {
		for _, n := range []int{10, 5000} { // of which none lie below with a probability that is not 0
			if got := rank(n, test.p, test.tail); got != 0 {
				t.Errorf("rank for %d at %v with %v: %d, want none", n, test.p, test.tail, got)
			}
		}
	}
}

// TestWords: each method is called by its own name.
func TestWords(t *testing.T) {
	t.Parallel()
	for method, want := range map[Method]string{FixedN: "by order statistics",
		Grouped: "by order statistics of as many trials as the rounds are worth",
		Anytime: "by a confidence sequence, which holds whenever a cell stops"} {
		if got := method.Words(); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
}

// TestFigures: each is found by its name, and is what the name says.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := Summary{Median: 1, Mean: 2, Min: 3, Max: 4, P90: 5, P95: 6, P99: 7}
	want := map[string][2]float64{"median": {1, 0.5}, "mean": {2, 0}, "min": {3, 0}, "max": {4, 0}, "p90": {5, 0.9},
		"p95": {6, 0.95}, "p99": {7, 0.99}}
	for name, of := range want {
		if f := FigureNamed(name); f.Name != name || f.Of(&s) != of[0] || f.P != of[1] {
			t.Errorf("%s: %q, %v, quantile %v, want %v", name, f.Name, f.Of(&s), f.P, of)
		}
	}
	if f := FigureNamed("mode"); f.Name != "" || f.Of != nil {
		t.Errorf("mode: %q", f.Name)
	}
	if got := FigureNames(); len(got) != len(want) || got[0] != "median" {
		t.Errorf("%q", got)
	}
	if got := QuantileNames(); !slices.Equal(got, []string{"median", "p90", "p95", "p99"}) {
		t.Errorf("%q", got)
	}
}

// TestDoubtful: a figure is doubtful if it can be wrong by more than it is.
func TestDoubtful(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ v, doubt, want float64 }{
		{3, 0, 0}, {3, 2, 0}, {3, 3, 0}, {3, 4, 4}, {-3, 4, 4}, {-3, 3, 0}, {0, 0.5, 0.5}, {0, 0, 0}, {nan, 4, 0},
	} {
		s, tail := Summary{Median: test.v, Doubt: test.doubt}, Tail{Value: test.v, Doubt: test.doubt}
		for _, got := range []float64{Doubtful(test.v, test.doubt), s.Doubtful(), tail.Doubtful()} {
			if got != test.want {
				t.Errorf("%v, wrong by %v: %v, want %v", test.v, test.doubt, got, test.want)
			}
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
		{1, 10, 0, nan, nan}, {1, 10, -.5, nan, nan}, {1, 10, 1.5, nan, nan},
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
	if !within(lo, 0.01-half, half/100) || !within(hi, 0.01+half, half/100) {
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
		if !within(got, want, 1e-9) {
			t.Fatalf("betaInc(%v, %v, %v) = %v, want %v", x, a, b, got, want)
		}
	})
}

// TestBetaFraction: the distribution (1, 3) is 1-(1-x)^3, also where the first denominator of the
// fraction is zero.
func TestBetaFraction(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{0.1, 0.25, 0.5} { // zero at (1+1)/(1+3)
		// The fraction is the function over x (1-x)^3 / B(1, 3), and B is 1/3.
		want := (1 - math.Pow(1-x, 3)) / (3 * x * math.Pow(1-x, 3))
		if got := betaFraction(x, 1, 3); !same(got, want) {
			t.Errorf("at %v: %v, want %v", x, got, want)
		}
	}
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
