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
	for name, pair := range map[string][2]float64{"mean": {mean, 3}, "deviation": {deviation,
		math.Sqrt(14.0 / 3)},
		"low": {lo, 3 * math.Exp(-reach)}, "high": {hi, 3 * math.Exp(reach)}} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	for _, values := range [][]float64{{}, {1}, {0, 0, 0}} {
		if _, _, lo, hi := LogMeanInterval(values, 0.95); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("%v: [%v, %v]", values, lo, hi)
		}
	}
}
