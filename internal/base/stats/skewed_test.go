package stats

import (
	"math"
	"slices"
	"testing"
)

// TestSkewedInterval: without a tail it is Student's; a tail takes its end further out, and leaves the other
// one; the ends are where Hall's statistic is Student's quantile.
func TestSkewedInterval(t *testing.T) {
	t.Parallel()
	const t9 = 2.262157163 // 97.5 %, 9 degrees of freedom
	if lo, hi := skewedInterval(5, 2, 0, 9, 0.95); !within(lo, 5-2*t9, 1e-8) || !within(hi, 5+2*t9, 1e-8) {
		t.Errorf("[%v, %v], want 5 ± %v", lo, hi, 2*t9)
	}
	const skew = 0.4
	lo, hi := skewedInterval(5, 2, skew, 9, 0.95)
	if !within(lo, 5-2*t9, 1e-8) || !(hi > 5+2*t9) {
		t.Errorf("[%v, %v]: the lower end is Student's, the upper one beyond", lo, hi)
	}
	// At the end x, T = (5-x)/2 has T + aT²/3 + a²T³/27 + a/6 = -t.
	x := (5 - hi) / 2
	if got := x + skew*x*x/3 + skew*skew*x*x*x/27 + skew/6; !within(got, -t9, 1e-8) {
		t.Errorf("at the upper end Hall's statistic is %v, want %v", got, -t9)
	}
	low, high := skewedInterval(-5, 2, -skew, 9, 0.95)
	if !within(low, -hi, 1e-9) || !within(high, -lo, 1e-9) {
		t.Errorf("mirrored [%v, %v], want [%v, %v]", low, high, -hi, -lo)
	}
	if lo, hi := skewedInterval(3, 0, 0.4, 9, 0.95); lo != 3 || hi != 3 {
		t.Errorf("of what does not vary: [%v, %v]", lo, hi)
	}
	for _, confidence := range []float64{0, 1, -1, 2, nan} {
		if lo, hi := skewedInterval(3, 1, 0, 9, confidence); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("at %v: [%v, %v]", confidence, lo, hi)
		}
	}
}

// TestSkewedT: both statistics are beyond Student's quantile where the interval lies on one side of 0.
func TestSkewedT(t *testing.T) {
	t.Parallel()
	values := []float64{-1, 0, 0, 1, 1, 2, 9}
	for shift := -3.0; shift < 6; shift += 0.05 {
		shifted := slices.Clone(values)
		for i := range shifted {
			shifted[i] += shift
		}
		mean, variance, third := thirdMoments(shifted)
		student, hall := skewedT(mean, variance, third, 7)
		lo, hi := skewedInterval(mean, math.Sqrt(variance/6), meanSkewness(variance, third, 7), 6, 0.95)
		reach := studentQuantile(0.025, 6)
		if above := min(student, hall) > reach; above != (lo > 0) {
			t.Errorf("shifted by %v: %v and %v, and the interval [%v, %v]", shift, student, hall, lo, hi)
		}
		if below := max(student, hall) < -reach; below != (hi < 0) {
			t.Errorf("shifted by %v: %v and %v, and the interval [%v, %v]", shift, student, hall, lo, hi)
		}
	}
	for mean, want := range map[float64]float64{0: 0, 1: math.Inf(1), -1: math.Inf(-1)} {
		if student, hall := skewedT(mean, 0, 0, 7); student != want || hall != want {
			t.Errorf("%v without variance: %v, %v", mean, student, hall)
		}
	}
}

// TestMeanSkewness: of five values, by hand.
func TestMeanSkewness(t *testing.T) {
	t.Parallel()
	mean, variance, third := thirdMoments([]float64{0, 0, 0, 0, 5})
	if mean != 1 || variance != 4 || third != 12 { // (4·1 + 16)/5 and (-4 + 64)/5
		t.Fatalf("%v, %v, %v", mean, variance, third)
	}
	// 12/8, times √20/3, over √2.
	if got, want := meanSkewness(variance, third, 5), 1.5*math.Sqrt(20)/3/math.Sqrt2; !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if meanSkewness(4, 12, 3) != 0 || meanSkewness(0, 0, 5) != 0 {
		t.Error("skewness of three, or of what does not vary")
	}
}

// TestSkewed_Exact: moments, statistics and intervals by hand.
func TestSkewed_Exact(t *testing.T) {
	t.Parallel()
	mean, variance, third := thirdMoments([]float64{1, 2, 6})
	if !near(mean, 3) || !near(variance, 14./3) || !near(third, 6) {
		t.Errorf("moments %v, %v, %v", mean, variance, third)
	}
	a := math.Sqrt(6*5) / 4 / math.Sqrt(3) // of a skewness of 1
	for _, c := range [][4]float64{{4, 8, 6, a}, {4, -8, 6, -a}, {4, 8, 3, 0}, {4, 8, 2, 0}, {0, 0, 6, 0}} {
		if got := meanSkewness(c[0], c[1], c[2]); !near(got, c[3]) {
			t.Errorf("skewness of %v: %v", c, got)
		}
	}
	root5 := math.Sqrt(5)
	for _, c := range [][6]float64{ // mean, variance, third moment, n; both statistics
		{2, 4, 8, 6, root5, root5 + a*5/3 + a*a*5*root5/27 + a/6},
		{-2, 4, 8, 6, -root5, -root5 + a*5/3 - a*a*5*root5/27 + a/6},
		{0, 4, 8, 6, 0, 0}, {rounding, 5, 0, 6, rounding, rounding},
		{1, rounding * rounding, 0, 6, inf, inf}, {-1, 0, 0, 6, -inf, -inf},
	} {
		student, hall := skewedT(c[0], c[1], c[2], c[3])
		if !same(student, c[4]) && !within(student/c[4], 1, 1e-12) || !same(hall, c[5]) && !within(hall/c[5], 1, 1e-12) {
			t.Errorf("%v: %v, %v", c, student, hall)
		}
	}
	if lo, hi := skewedInterval(5, 0, 0, 0, 0.95); lo != 5 || hi != 5 {
		t.Errorf("without deviation: [%v, %v]", lo, hi)
	}
	if lo, hi := skewedInterval(5, 1, 0, 5, 0.95); !within(lo, 5-2.5706, 1e-4) || !within(hi, 5+2.5706, 1e-4) {
		t.Errorf("without skewness: [%v, %v]", lo, hi)
	}
}
