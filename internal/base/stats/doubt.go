package stats

import "math"

// Values of which each can be wrong by up to a doubt that the caller knows: the true interval of a sample
// goes so much further on both sides, in whatever direction all of them are wrong.

// Doubtful is by how much v can be wrong, if that is more than v itself, and else 0. What that is
// true of is marked wherever it is shown.
func Doubtful(v, doubt float64) float64 {
	if math.Abs(v) < doubt {
		return doubt
	}
	return 0
}

// Widen is an interval of values that can be wrong by so much. Its lower end does not fall below 0 where
// it was not: no true value would.
func Widen(low, high, doubt float64) (l, h float64) {
	if doubt == 0 {
		return low, high
	}
	return min(low, max(0, low-doubt)), high + doubt
}

// WidenRatio is an interval of the ratio of values around one figure to values around another one, each of
// which can be wrong by so much of its figure. Of a figure that nobody knows, as it is beyond a
// limit, nothing is wrong.
func WidenRatio(low, high, figure, doubt, base, baseDoubt float64) (l, h float64) {
	share := func(doubt, of float64) float64 {
		if doubt == 0 || math.IsNaN(of) {
			return 0
		}
		return min(1, doubt/math.Abs(of))
	}
	up, down := share(doubt, figure), share(baseDoubt, base)
	if up == 0 && down == 0 {
		return low, high
	}
	return low * (1 - up) / (1 + down), high * (1 + up) / (1 - down) // by 0 it has no end
}

// Doubted is the summary of values that can be wrong by so much.
func (s Summary) Doubted(doubt float64) Summary {
	s.Doubt = doubt
	s.CILow, s.CIHigh = Widen(s.CILow, s.CIHigh, doubt)
	return s
}

// Doubtful is the Doubt if the Center is smaller, and else 0.
func (s Summary) Doubtful() float64 { return Doubtful(s.Center(), s.Doubt) }

// Doubted is the quantile of values that can be wrong by so much.
func (t Tail) Doubted(doubt float64) Tail {
	t.Doubt = doubt
	t.Low, t.High = Widen(t.Low, t.High, doubt)
	return t
}

// Doubtful is the Doubt if the quantile is smaller, and else 0.
func (t *Tail) Doubtful() float64 { return Doubtful(t.Value, t.Doubt) }
