package stats

import (
	"math"
	"testing"
)

func TestLogMeanInterval(t *testing.T) {
	t.Parallel()
	// Student's 97.5 % point with 3 degrees of freedom is 3.182446.
	mean, deviation, lo, hi := LogMeanInterval([]float64{1, 2, 3, 6}, 0.95)
	reach := 3.182446305 * math.Sqrt(14.0/3) / 2 / 3
	// Upwards it is Hall's interval that reaches further: the skewness of these is 1.05 for 4, by n.
	variance, third := 14.0/4, (-8-1+0+27)/4.0
	_, most := hallInterval(3, math.Sqrt(14.0/3)/2, meanSkewness(variance, third, 4), 3.182446305)
	if !(most > 3*math.Exp(reach)) {
		t.Errorf("Hall's interval ends at %v", most)
	}
	for name, pair := range map[string][2]float64{"mean": {mean, 3}, "deviation": {deviation,
		math.Sqrt(14.0 / 3)},
		"low": {lo, 3 * math.Exp(-reach)}, "high": {hi, most}} {
		if !within(pair[0], pair[1], 1e-6) {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	// Two have an interval too: with one degree of freedom that point is 12.7062, and the mean is 1.
	reach = 12.7062047362 * math.Sqrt(0.5) / math.Sqrt2
	if mean, deviation, lo, hi := LogMeanInterval([]float64{0.5, 1.5}, 0.95); mean != 1 ||
		deviation != math.Sqrt(0.5) || !close(lo, math.Exp(-reach), 1e-9) || !close(hi, math.Exp(reach), 1e-9) {
		t.Errorf("%v, %v [%v, %v]", mean, deviation, lo, hi)
	}
	for _, values := range [][]float64{{}, {1}, {0, 0, 0}} {
		mean, deviation, lo, hi := LogMeanInterval(values, 0.95)
		if !math.IsNaN(lo) || !math.IsNaN(hi) || deviation != 0 || mean != float64(len(values)%3) {
			t.Errorf("%v: %v, %v [%v, %v]", values, mean, deviation, lo, hi)
		}
	}
}
