// Package exact has functions of package math that return the same bits on every platform. In package math
// they may differ in the last digit: a platform may have its own in assembly, and may fuse a product and a
// sum, which are then rounded once instead of twice. What ends up in files of results, or decides when a
// simulated message arrives, is computed with package exact, so that trials from machines of several
// platforms can be parts of one run.
//
// The bits are those of package math on amd64 with FMA, where most results have been computed. All functions
// but Exp are derived from Go's source by scripts/exact.
package exact

import "math"

// Exp is e to the power of x, with the method of Go's assembly for amd64: of x without multiples of ln 2 and
// divided by 16, a Taylor series gives e^x − 1, which is then squared four times.
func Exp(x float64) float64 {
	const (
		high     = 0.69314718055966295651160180568695068359375
		low      = 0.28235290563031577122588448175013436025525412068e-12
		overflow = 7.09782712893384e+02
	)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case math.IsInf(x, -1):
		return 0
	case x > overflow:
		return math.Inf(1)
	case x < -1000: // the exponent would not fit
		return 0
	}
	n := math.RoundToEven(x * math.Log2E)
	x = math.FMA(-high, n, x)
	x = math.FMA(-low, n, x)
	x = float64(x * 0.0625)
	y := 2.4801587301587301587e-5
	for _, c := range [...]float64{1.9841269841269841270e-4, 1.3888888888888888889e-3,
		8.3333333333333333333e-3, 4.1666666666666666667e-2, 1.6666666666666666667e-1, 0.5, 1} {
		y = math.FMA(y, x, c)
	}
	x = float64(x * y)
	for range 3 {
		x = float64(x * (x + 2))
	}
	x = math.FMA(x, x+2, 1)
	return power2(x, int(n))
}

// power2 is x · 2^n for an x near 1, and 0 for what is less than the smallest number.
func power2(x float64, n int) float64 {
	switch e := n + 1023; {
	case e >= 0x7FF:
		return math.Inf(1)
	case e > 0:
		return x * math.Float64frombits(uint64(e)<<52)
	case e < -52:
		return 0
	default: // in two steps, each of which has an exponent that a number can have
		return x * math.Float64frombits(uint64(e+1022)<<52) * math.Float64frombits(1<<52)
	}
}
