package stats

import (
	"math"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// BinomialInterval returns the interval of Clopper and Pearson for the
// probability behind successes out of trials: it covers with at least the
// given confidence, which lies between 0 and 1. It is [0, 1] for no trials, and
// NaN for arguments that mean nothing.
func BinomialInterval(successes, trials int, confidence float64) (lo, hi float64) {
	if successes < 0 || successes > trials || !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN()
	}
	lo, hi = 0, 1
	tail := float64((1 - confidence) / 2)
	k, n := float64(successes), float64(trials)
	if successes > 0 {
		lo = betaQuantile(tail, k, n-k+1)
	}
	if successes < trials {
		hi = betaQuantile(1-tail, k+1, n-k)
	}
	return lo, hi
}

// betaQuantile returns the x at which the beta distribution (a, b) has reached
// probability p, by bisection: slower than Newton's method, and never astray.
func betaQuantile(p, a, b float64) float64 {
	return bisect(1, func(x float64) bool { return betaInc(x, a, b) < p })
}

// bisect is where a condition that holds from 0 on ceases to, before hi, to the last digit.
func bisect(hi float64, holds func(x float64) bool) float64 {
	lo := 0.0
	for {
		mid := lo + float64((hi-lo)/2)
		switch {
		case mid <= lo || mid >= hi:
			return mid
		case holds(mid):
			lo = mid
		default:
			hi = mid
		}
	}
}

// betaInc is the regularised incomplete beta function for x in (0, 1), by its
// continued fraction. It is written here because mathx.BetaInc panics where a
// or b is more than some ten thousand, as counts of messages are, and
// gonum's RegIncBeta stops too early there: at 10^8 it is a quarter off.
func betaInc(x, a, b float64) float64 {
	ways := lgamma(a+b) - lgamma(a) - lgamma(b)
	front := exact.Exp(ways + float64(a*exact.Log(x)) + float64(b*exact.Log1p(-x)))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(x, a, b) / a
	}
	return 1 - float64(front*betaFraction(1-x, b, a)/b)
}

// betaFraction evaluates the continued fraction by Lentz's method. The number
// of steps grows with the square root of a and b; the bound serves 10^10.
func betaFraction(x, a, b float64) float64 {
	const steps, precision, tiny = 1_000_000, 1e-15, 1e-300
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < steps; m++ {
		twice := float64(2 * m)
		even := m * (b - m) * x / ((a + twice - 1) * (a + twice))
		d = 1 / nonzero(1+float64(even*d))
		c = nonzero(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1))
		d = 1 / nonzero(1+float64(odd*d))
		c = nonzero(1 + odd/c)
		h *= d * c
		if math.Abs(float64(d*c)-1) < precision {
			break
		}
	}
	return h
}
