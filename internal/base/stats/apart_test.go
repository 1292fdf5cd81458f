package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/conclave-bench/conclave/internal/base/stats"
)

func TestApart(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		x, y []float64
		want float64
	}{
		"equal":                {[]float64{3, 1, 2}, []float64{1, 2, 3}, 0},
		"ties":                 {[]float64{1, 1, 1, 2}, []float64{1, 2, 2, 2}, 0.5},
		"nothing in common":    {[]float64{1, 2}, []float64{3, 4, 5}, 1},
		"one inside the other": {[]float64{2, 3}, []float64{1, 2, 3, 4}, 0.25},
		"of other sizes":       {[]float64{5}, []float64{1, 2, 5, 9}, 0.5},
		"larger than all":      {[]float64{1, 2, inf, inf}, []float64{1, 2, 3, inf}, 0.25},
	} {
		for range 2 { // from either side
			got, lo, hi := stats.Apart(c.x, c.y, 0.95)
			if math.Abs(got-c.want) > 1e-12 || !(0 <= lo && lo <= got && got <= hi && hi <= 1) {
				t.Errorf("%s: %v [%v, %v], want %v", name, got, lo, hi, c.want)
			}
			c.x, c.y = c.y, c.x
		}
	}
	d, lo, hi := stats.Apart(nil, []float64{1}, 0.95)
	if !math.IsNaN(d) || !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("of nothing: %v [%v, %v]", d, lo, hi)
	}
}

// TestApart_Interval: it covers the distance of the distributions, which are uniform from 0 and from shift on,
// in 19 of 20 samples at least, and is no longer than the bound of the samples' sizes.
func TestApart_Interval(t *testing.T) {
	t.Parallel()
	const n, m, rounds = 200, 500, 2000
	for _, shift := range []float64{0, 0.01, 0.1, 0.7} {
		draw := rand.New(rand.NewPCG(1, math.Float64bits(shift)))
		covered := 0
		for range rounds {
			x, y := make([]float64, n), make([]float64, m)
			for i := range x {
				x[i] = draw.Float64()
			}
			for i := range y {
				y[i] = draw.Float64() + shift
			}
			d, lo, hi := stats.Apart(x, y, 0.95)
			if lo <= shift && shift <= hi {
				covered++
			}
			if most := math.Sqrt(math.Log(80)/(2*n)) + math.Sqrt(math.Log(80)/(2*m)); d-lo > most+1e-12 ||
				hi-d > most+1e-12 {
				t.Fatalf("%v [%v, %v] is longer than %v to each side", d, lo, hi, most)
			}
		}
		if covered < rounds*95/100 {
			t.Errorf("a shift of %v: covered in %d of %d", shift, covered, rounds)
		}
	}
}
