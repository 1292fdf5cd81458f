package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// MinimumBootstrap is the size below which a sample has no bootstrap interval:
// five values have only 126 different resamples, too few for tails of 2.5 %.
// A median has one from as many on, so that a median and its ratio appear together.
const MinimumBootstrap = 6

// MeanInterval returns the interval of the mean by the studentized bootstrap (Efron
// and Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5): the mean
// of each resample is measured in its own standard errors. In simulation it comes
// much nearer to its promise than BCa, which is too short in small samples:
// docs/evidence/coverage.md has the figures. Both ends are NaN below MinimumBootstrap
// values or with a censored one, and an end is NaN where resamples of equal values
// leave it open, as they do if all but very few values are equal.
func MeanInterval(values []float64, confidence float64, seed uint64) (lo, hi float64) {
	xs := sample(values)
	nan := math.NaN()
	if len(xs) < MinimumBootstrap || !(confidence > 0) {
		return nan, nan
	}
	scale := unit(xs)
	mean, deviation := moments(xs)
	draw := newDraw(seed, 0)
	scratch := make([]float64, len(xs))
	t := make([]float64, resamples(len(xs), confidence))
	for i := range t {
		for j := range scratch {
			scratch[j] = xs[draw.index(len(xs))]
		}
		m, s := moments(scratch)
		if s < rounding*deviation { // the resample is of equal values
			s = 0
		}
		if m != mean { // else t is 0, also where nothing varies
			t[i] = (m - mean) / s
		}
	}
	slices.Sort(t)
	k := int((1 - confidence) / 2 * float64(len(t)+1) * (1 + rounding))
	if k < 1 {
		return nan, nan
	}
	// Without a deviation t is 0; where a value is censored, it is NaN.
	lo, hi = mean-float64(t[len(t)-k]*deviation), mean-float64(t[k-1]*deviation)
	return known(math.Ldexp(lo, scale)), known(math.Ldexp(hi, scale))
}

// moments returns the mean and the standard deviation, by n.
func moments(xs []float64) (mean, deviation float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		deviation += float64((x - mean) * (x - mean))
	}
	return mean, math.Sqrt(deviation / float64(len(xs)))
}

// resamples returns how many resamples of n values to draw: such that 25 lie beyond
// each end, 999 for 95 %, unless that were more than some 40 million values.
func resamples(n int, confidence float64) int {
	return int(max(199, min(50/(1-confidence)-1+rounding, 9999, 40e6/float64(n))))
}

// unit scales samples by a power of two, which is exact, so that the largest
// value is below 1 and no sum overflows. It returns the power.
func unit(samples ...[]float64) (power int) {
	largest := 0.0
	for _, xs := range samples {
		for _, x := range xs {
			if !math.IsInf(x, 0) {
				largest = max(largest, math.Abs(x))
			}
		}
	}
	_, power = math.Frexp(largest)
	for _, xs := range samples {
		for i, x := range xs {
			xs[i] = math.Ldexp(x, -power)
		}
	}
	return power
}

// A draw is a stream of random numbers of its own. The generator is specified to the bit,
// and so is the use of it here.
type draw struct{ *rand.PCG }

func newDraw(seed, stream uint64) draw { return draw{rand.NewPCG(seed, stream)} }

// index draws a number from 0 to n-1.
func (d draw) index(n int) int {
	i, _ := bits.Mul64(d.Uint64(), uint64(n))
	return int(i)
}
