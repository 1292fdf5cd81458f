package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChiSquareTail: the tables of Abramowitz and Stegun (26.8), and two closed forms.
func TestChiSquareTail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		x       float64
		degrees int
		want    float64
	}{
		{0, 3, 1}, {0, 4, 1}, {3.84146, 1, 0.05}, {5.99146, 2, 0.05}, {7.81473, 3, 0.05},
		{16.9190, 9, 0.05}, {30.1435, 19, 0.05}, {36.1908, 19, 0.01}, {23.2093, 10, 0.01},
		{15.3079, 28, 0.975}, {2, 2, math.Exp(-1)}, {8, 4, 5 * math.Exp(-4)},
	} {
		if got := chiSquareTail(test.x, test.degrees); !within(got, test.want, 5e-5) {
			t.Errorf("%v with %d degrees: %v, want %v", test.x, test.degrees, got, test.want)
		}
	}
}

// TestUniform: counts and the statistic, worked out by hand.
func TestUniform(t *testing.T) {
	t.Parallel()
	var values []float64
	for bin, count := range []int{8, 5, 4, 3} { // each expects 5: (9 + 0 + 1 + 4) / 5
		for range count {
			values = append(values, 0.25*float64(bin+1))
		}
	}
	got := Uniform(values)
	if want := []int{8, 5, 4, 3}; !slices.Equal(got.Bins, want) || got.ChiSquare != 2.8 {
		t.Errorf("bins %v, chi-square %v, want %v and 2.8", got.Bins, got.ChiSquare, want)
	}
	if !within(got.P, 0.4235, 1e-4) {
		t.Errorf("p %v, want 0.4235", got.P)
	}
	for n, bins := range map[int]int{20: 4, 29: 5, 30: 6, 99: 19, 100: 20, 1000: 20} {
		if got := Uniform(slices.Repeat([]float64{0.5}, n)); len(got.Bins) != bins || got.N != n {
			t.Errorf("%d values: %d bins, want %d", n, len(got.Bins), bins)
		}
	}
	few := Uniform(append(values[:18:18], 1.02)) // a timer that was late counts with the last
	if want := []int{8, 5, 4, 2}; !math.IsNaN(few.P) || !math.IsNaN(few.ChiSquare) || !slices.Equal(few.Bins, want) || few.N != 19 {
		t.Errorf("nineteen values: %+v, want no test of %v", few, want)
	}
}

// TestUniform_FalseAlarms: of uniform values it objects to 5 % at the level of 5 %, however
// few they are; and it finds that a crash came within one and a half settlings.
func TestUniform_FalseAlarms(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const samples = 4000
	for _, n := range []int{20, 33, 100, 250} {
		alarms := 0
		values := make([]float64, n)
		for range samples {
			for i := range values {
				values[i] = 1 - rng.Float64()
			}
			if Uniform(values).P < 0.05 {
				alarms++
			}
		}
		if share := float64(alarms) / samples; share < 0.035 || share > 0.062 {
			t.Errorf("n %d: objects to %.1f %% of uniform samples, want about 5 %%", n, 100*share)
		}
	}
	values := make([]float64, 400)
	for i := range values { // settle 2.5 periods, and then 1.25 of them
		_, values[i] = math.Modf(2.5 + 1.25*rng.Float64())
	}
	if p := Uniform(values).P; p > 0.001 {
		t.Errorf("phases of which a quarter is twice as likely: p %v", p)
	}
}
