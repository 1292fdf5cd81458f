package stats

import (
	"math"
	"testing"
)

// The ranks were computed with exact integers: the mixture is a ratio of products.
func TestMedianSequence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n                  int
		confidence, lo, hi float64
	}{
		{0, .95, nan, nan}, {1, .95, nan, nan}, {8, .95, nan, nan}, {9, .95, 1, 9}, {12, .95, 2, 11},
		{20, .95, 4, 17}, {30, .95, 7, 24}, {50, .95, 15, 36}, {100, .95, 35, 66}, {200, .95, 78, 123},
		{1000, .95, 446, 555}, {10, .99, nan, nan}, {11, .99, 1, 11},
		{1, 1e-17, 1, 1}, {0, 1e-17, nan, nan}, {100, 0, nan, nan}, {100, 1, nan, nan}, {100, nan, nan, nan},
		{100, 1.5, nan, nan}, {100, -0.5, nan, nan},
	} {
		lo, hi := MedianSequence(upTo(test.n), test.confidence)
		if !same(lo, test.lo) || !same(hi, test.hi) {
			t.Errorf("%d at %v: [%v, %v], want [%v, %v]", test.n, test.confidence, lo, hi, test.lo, test.hi)
		}
	}
	inf := math.Inf(1)
	censored := []float64{1, 2, 3, 4, 5, 6, 7, 8, inf, inf, inf, inf}
	if lo, hi := MedianSequence(censored, 0.95); lo != 2 || hi != inf {
		t.Errorf("[%v, %v] of eight values and four censored ones, want [2, +Inf]", lo, hi)
	}
}

// TestEvidence: the closed form is the likelihood ratio averaged over the shares that the
// distribution Beta(3/2, 3/2) draws, whose density is 8/π √(p(1-p)).
func TestEvidence(t *testing.T) {
	t.Parallel()
	const steps = 200_000
	for _, test := range [][2]int{{0, 0}, {0, 9}, {3, 10}, {15, 50}, {50, 100}} {
		k, n := float64(test[0]), float64(test[1])
		sum := 0.0
		for i := range steps {
			p := (float64(i) + 0.5) / steps
			sum += 8 / math.Pi * math.Sqrt(p*(1-p)) * math.Pow(2*p, k) * math.Pow(2*(1-p), n-k) / steps
		}
		if got := math.Exp(evidence(test[0], test[1])); !within(got/sum, 1, 1e-5) {
			t.Errorf("%d of %d: %v, want %v", test[0], test[1], got, sum)
		}
	}
}

// TestMedianSequence_Everywhere computes, without drawing anything, how often the median
// of any distribution without ties leaves the intervals at one n at least: how many
// observations lie below it is a random walk. The same for the intervals of a fixed n shows
// why those do not do.
func TestMedianSequence_Everywhere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		first, last int
		of          func(n int) (lo, hi float64)
		least, most float64
	}{
		{"sequence", 1, 1000, func(n int) (lo, hi float64) { return MedianSequence(upTo(n), 0.95) }, 0.03,
			0.05},
		{"sequence, looked at from 10 to 100", 10, 100,
			func(n int) (lo, hi float64) { return MedianSequence(upTo(n), 0.95) }, 0.02, 0.05},
		{"fixed n, looked at from 10 to 100", 10, 100,
			func(n int) (lo, hi float64) { return QuantileInterval(upTo(n), 0.5, 0.95) }, 0.15, 0.25},
	} {
		// inside[k] is the probability that k of n lie below, and that no interval missed.
		inside, missed := []float64{1}, 0.0
		for n := 1; n <= test.last; n++ {
			next := make([]float64, n+1)
			for k, p := range inside {
				next[k] += p / 2
				next[k+1] += p / 2
			}
			if lo, hi := test.of(n); n >= test.first && !math.IsNaN(lo) {
				for k := range next {
					if float64(k) < lo || float64(k) >= hi { // the k-th is below, the next above
						missed += next[k]
						next[k] = 0
					}
				}
			}
			inside = next
		}
		if missed < test.least || missed > test.most {
			t.Errorf("%s: misses somewhere with probability %.4f, want %v to %v", test.name, missed,
				test.least,
				test.most)
		}
	}
}

func TestMethod_Describe(t *testing.T) {
	t.Parallel()
	fixed, anytime := Describe(upTo(10), 2), Anytime.Describe(upTo(10), 2)
	if fixed.CILow != 3 || fixed.CIHigh != 10 || fixed.Method != FixedN {
		t.Errorf("%+v", fixed)
	}
	if anytime.CILow != 2 || !math.IsNaN(anytime.CIHigh) || anytime.Method != Anytime {
		t.Errorf("%+v", anytime)
	}
	anytime.CILow, anytime.CIHigh, anytime.Method = fixed.CILow, fixed.CIHigh, fixed.Method
	anytime.Mean, anytime.SD, anytime.Max = 0, 0, 0 // which censoring hides: NaN
	fixed.Mean, fixed.SD, fixed.Max = 0, 0, 0
	anytime.P95, anytime.P99, anytime.P90 = 0, 0, 0
	fixed.P95, fixed.P99, fixed.P90 = 0, 0, 0
	if anytime != fixed {
		t.Errorf("%+v and %+v differ in more than the interval", anytime, fixed)
	}
}
