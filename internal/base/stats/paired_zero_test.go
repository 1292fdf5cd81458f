package stats

import (
	"math"
	"testing"
)

// TestPairs_Zero: where a value of the second sample is 0, differences are ranked, and there is no quotient.
func TestPairs_Zero(t *testing.T) {
	t.Parallel()
	p := Pairs([]float64{5, 6, 7, 8, 9, 10}, []float64{0, 7, 9, 11, 13, 15}, 0.95)
	if !math.IsNaN(p.Ratio) || p.Differences[0] != -5 || p.Differences[5] != 5 {
		t.Errorf("quotient %v, differences %v", p.Ratio, p.Differences)
	}
}
