package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPoissonInterval: the limits that tables of Garwood's interval have, and those of chi-square.
func TestPoissonInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ events, confidence, lo, hi float64 }{
		{0, 0.95, 0, 3.6889}, {1, 0.95, 0.0253, 5.5716}, {2, 0.95, 0.2422, 7.2247}, {10, 0.95, 4.7954,
			18.3904},
		{50, 0.95, 37.1110, 65.9188}, {100, 0.95, 81.3640, 121.6268}, {0, 0.9, 0, 2.9957}, {3, 0.99, 0.3379,
			10.9775},
	} {
		if lo, hi := PoissonInterval(c.events, c.confidence); !within(lo, c.lo, 6e-4) ||
			!within(hi, c.hi, 6e-4) {
			t.Errorf("%v events, %v: [%.4f, %.4f], want [%.4f, %.4f]", c.events, c.confidence, lo, hi, c.lo,
				c.hi)
		}
		term, sum := math.Exp(-c.hi), 0.0 // so few events, or fewer, where the mean is the upper limit
		for k := 0.0; k <= c.events; k++ {
			sum += term
			term *= c.hi / (k + 1)
		}
		if tail := (1 - c.confidence) / 2; !within(sum/tail, 1, 1e-3) {
			t.Errorf("%v events at a mean of %v: %v, want %v", c.events, c.hi, sum, tail)
		}
	}
	// far out it is that of the normal distribution
	if lo, hi := PoissonInterval(1e6, 0.95); !within(lo, 998041, 5) || !within(hi, 1001962, 5) {
		t.Errorf("a million events: [%v, %v]", lo, hi)
	}
	if lo, _ := PoissonInterval(0, 0.95); lo != 0 {
		t.Errorf("no event: from %v on", lo)
	}
	if lo, _ := PoissonInterval(2.5, 0.95); !(lo > 0.2422 && lo < 0.6187) {
		t.Errorf("2.5 events: from %v on, want between those of 2 and of 3", lo)
	}
	// Of next to no event the lower end is next to nothing: about 0.025 to the power of 100.
	if lo, hi := PoissonInterval(0.01, 0.95); !within(lo, 3.5226859973e-161, 1e-170) || !(hi > 3.6889 && hi < 3.72) {
		t.Errorf("0.01 events: [%v, %v]", lo, hi)
	}
	for _, confidence := range []float64{-0.5, 0, 1, 1.5, math.NaN()} {
		if lo, hi := PoissonInterval(3, confidence); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("at %v: [%v, %v]", confidence, lo, hi)
		}
	}
	for _, events := range []float64{-1, math.Inf(-1), math.NaN(), math.Inf(1)} {
		if lo, hi := PoissonInterval(events, 0.95); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("%v events: [%v, %v]", events, lo, hi)
		}
	}
}

// TestDispersion: 1 for a Poisson process, the mean size of its clusters where events come in them.
func TestDispersion(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	plain, clusters := make([]float64, 4000), make([]float64, 4000)
	for i := range plain {
		for range 300 {
			if random.Float64() < 0.01 {
				plain[i]++
				clusters[i] += 5
			}
		}
	}
	if d := Dispersion(plain); d > 1.1 {
		t.Errorf("of a Poisson process %v, want about 1", d)
	}
	if d := Dispersion(clusters); d < 4.5 || d > 5.5 {
		t.Errorf("of clusters of five %v, want about 5", d)
	}
	if d := Dispersion([]float64{1, 5}); !near(d, 8./3) {
		t.Errorf("of 1 and 5 %v, want 8/3", d)
	}
	for _, counts := range [][]float64{nil, {3}, {0, 0, 0}, {2, 2, 2}} {
		if d := Dispersion(counts); d != 1 {
			t.Errorf("of %v %v, want 1", counts, d)
		}
	}
}
