package stats

import (
	"math"
	"testing"

	"github.com/aclements/go-moremath/stats"
	mf "github.com/montanaflynn/stats"
	"pgregory.net/rapid"
)

// upTo returns the values 1 to n: an order statistic is then its own rank.
func upTo(n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = float64(i + 1)
	}
	return xs
}

// The ranks were computed with exact fractions from the binomial distribution.
func TestQuantileInterval(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n                     int
		p, confidence, lo, hi float64
	}{
		{0, .5, .95, nan, nan}, {1, .5, .95, nan, nan}, {2, .5, .95, nan, nan},
		{5, .5, .95, nan, nan}, {6, .5, .95, 1, 6}, {35, .9, .95, nan, nan}, {36, .9, .95, 29, 36},
		{100, .9, .95, 84, 96}, {100, .25, .95, 17, 35}, {200, .95, .99, 181, 198},
		{30, .99, .95, nan, nan}, {1000, .99, .95, 983, 997},
		{3, .5, .75, 1, 3}, // the tails are 1/8 each, exactly
		// and here 2^-n, which a sum of float64 comes to nearly
		{4, .5, .875, 1, 4}, {6, .5, .96875, 1, 6}, {10, .5, .998046875, 1, 10},
		{100, 0, .95, nan, nan}, {100, 1, .95, nan, nan}, {100, nan, .95, nan, nan},
		{100, .5, 0, nan, nan}, {100, .5, 1, nan, nan}, {100, .5, nan, nan, nan},
	}
	for _, test := range tests {
		lo, hi := QuantileInterval(upTo(test.n), test.p, test.confidence)
		if !same(lo, test.lo) || !same(hi, test.hi) {
			t.Errorf("p%v of %d at %v: [%v, %v], want [%v, %v]",
				100*test.p, test.n, test.confidence, lo, hi, test.lo, test.hi)
		}
	}
}

func TestMinimumN(t *testing.T) {
	t.Parallel()
	tests := []struct {
		p, confidence float64
		want          int
	}{
		{.5, .95, 6}, {.9, .95, 36}, {.1, .95, 36}, {.95, .95, 72}, {.99, .95, 368}, {.999, .95, 3688},
		{.5, .99, 8}, {.5, .75, 3}, {.5, .1, 2},
		{0, .95, math.MaxInt}, {1, .95, math.MaxInt}, {.5, 1, math.MaxInt}, {.5, 0, math.MaxInt},
		{nan, .95, math.MaxInt}, {.5, nan, math.MaxInt}, {1 - 1e-16, .95, math.MaxInt},
	}
	for _, test := range tests {
		if got := minimumN(test.p, test.confidence); got != test.want {
			t.Errorf("minimumN(%v, %v) = %d, want %d", test.p, test.confidence, got, test.want)
		}
	}
}

func TestMinimumNIsWhereIntervalsBegin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		confidence := rapid.Float64Range(0.01, 0.999).Draw(t, "confidence")
		n := minimumN(p, confidence)
		if lo, hi := QuantileInterval(upTo(n), p, confidence); math.IsNaN(lo) || math.IsNaN(hi) {
			t.Fatalf("no interval for %d", n)
		}
		if lo, hi := QuantileInterval(upTo(n-1), p, confidence); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Fatalf("an interval, [%v, %v], for %d", lo, hi, n-1)
		}
	})
}

// The binomial distribution says exactly how often an interval misses.
func TestQuantileIntervalMissesNoMoreThanPromised(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		p := rapid.Float64Range(0.05, 0.95).Draw(t, "p")
		confidence := rapid.Float64Range(0.5, 0.999).Draw(t, "confidence")
		lo, hi := QuantileInterval(upTo(n), p, confidence)
		if math.IsNaN(lo) {
			t.Skip("too few")
		}
		below := stats.BinomialDist{N: n, P: p}
		for _, miss := range []float64{below.CDF(lo - 1), 1 - below.CDF(hi-1)} {
			if miss > (1-confidence)/2+1e-9 {
				t.Fatalf("an end of [%v, %v] misses with %v", lo, hi, miss)
			}
		}
		// The next pair inwards would miss more often.
		if below.CDF(lo) < (1-confidence)/2-1e-9 || 1-below.CDF(hi-2) < (1-confidence)/2-1e-9 {
			t.Fatalf("[%v, %v] is wider than it need be", lo, hi)
		}
	})
}

// TestMinimumN_Exactly: where the outermost order statistics miss with exactly what is
// allowed, no further one is asked for, though logarithms come to a little more.
func TestMinimumN_Exactly(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0.5, 0.75, 0.25} {
		for n := 2; n < 20; n++ {
			tail := math.Pow(max(p, 1-p), float64(n)) // exact, and so is the confidence
			confidence := 1 - 2*tail
			if !(confidence > 0) || (1-confidence)/2 != tail {
				continue
			}
			if got := minimumN(p, confidence); got != n {
				t.Errorf("p%v at %v: least n %d, want %d", 100*p, confidence, got, n)
			}
		}
	}
}

// TestDescribe_AsTheLibrary: means, deviations and quantiles are those of the library of
// descriptive statistics, to the last digits.
func TestDescribe_AsTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 60).Draw(t, "values")
		s := Describe(xs, 0)
		deviation, _ := mf.StandardDeviationSample(xs)
		p90, _ := mf.Percentile(xs, 90)
		median, _ := mf.Median(xs)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), 1e-3, s.Max-s.Min) }
		if !near(s.SD, deviation) || !near(s.P90, p90) || !near(s.Median, median) {
			t.Fatalf("%+v of %v, want sd %v, p90 %v, median %v", s, xs, deviation, p90, median)
		}
	})
}
