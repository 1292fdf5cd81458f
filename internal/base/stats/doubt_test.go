package stats

import (
	"math"
	"testing"
)

// TestDoubted: an interval goes so much further on both sides, and not below 0 where it was not.
func TestDoubted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ low, high, doubt, wantLow, wantHigh float64 }{
		{10, 20, 0, 10, 20}, {10, 20, 3, 7, 23}, {2, 20, 3, 0, 23}, {-1, 20, 3, -1, 23}, {0, 0, 2, 0, 2},
	} {
		s := Summary{CILow: c.low, CIHigh: c.high}.Doubted(c.doubt)
		tail := Tail{Low: c.low, High: c.high}.Doubted(c.doubt)
		if s.CILow != c.wantLow || s.CIHigh != c.wantHigh || s.Doubt != c.doubt ||
			tail.Low != c.wantLow || tail.High != c.wantHigh || tail.Doubt != c.doubt {
			t.Errorf("%+v: [%v, %v] and [%v, %v]", c, s.CILow, s.CIHigh, tail.Low, tail.High)
		}
	}
	if s := (Summary{CILow: 1, CIHigh: math.NaN()}).Doubted(3); s.CILow != 0 || !math.IsNaN(s.CIHigh) {
		t.Errorf("an end that nobody knows: [%v, %v]", s.CILow, s.CIHigh)
	}
}

// TestWidenRatio: a ratio lies where all that its figures can be wrong by leaves it, in the worst case.
func TestWidenRatio(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct{ low, high, figure, doubt, base, baseDoubt, wantLow, wantHigh float64 }{
		"one clock":            {2, 3, 20, 0, 10, 0, 2, 3},
		"the figure":           {2, 3, 20, 5, 10, 0, 1.5, 3.75},
		"the base":             {2, 3, 20, 0, 10, 5, 2 / 1.5, 6},
		"both":                 {2, 3, 20, 5, 10, 5, 1, 7.5},
		"more than the base":   {2, 3, 20, 0, 10, 10, 1, inf},
		"more than the figure": {2, 3, 20, 30, 10, 0, 0, 6},
		"beyond a limit":       {2, nan, nan, 30, 10, 0, 2, nan},
	} {
		low, high := WidenRatio(c.low, c.high, c.figure, c.doubt, c.base, c.baseDoubt)
		if math.Abs(low-c.wantLow) > 1e-12 || high != c.wantHigh && !(math.IsNaN(high) && math.IsNaN(c.wantHigh)) {
			t.Errorf("%s: [%v, %v], want [%v, %v]", name, low, high, c.wantLow, c.wantHigh)
		}
	}
}
