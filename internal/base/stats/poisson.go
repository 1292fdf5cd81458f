package stats

import (
	"math"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// PoissonInterval returns the interval of Garwood for the mean of a Poisson variable of
// which so many events were seen: it covers with at least the given confidence, which lies
// between 0 and 1. Where nothing was seen it begins at 0, and ends at 3.69 for 95 %. Events
// may be a fraction, as a count is that was divided by its Dispersion. It is NaN for
// arguments that mean nothing.
//
// F. Garwood, Fiducial limits for the Poisson distribution, Biometrika 28, 1936.
func PoissonInterval(events, confidence float64) (lo, hi float64) {
	if !(events >= 0) || math.IsInf(events, 1) || !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN()
	}
	tail := float64((1 - confidence) / 2)
	if events > 0 {
		lo = gammaQuantile(tail, events)
	}
	return lo, gammaQuantile(1-tail, events+1)
}

// Dispersion is the variance of counts divided by their mean, and at least 1, which it is of a
// Poisson process. Where one event brings others it is more, and as many events tell less.
func Dispersion(counts []float64) float64 {
	n := float64(len(counts))
	sum := 0.0
	for _, c := range counts {
		sum += c
	}
	if n < 2 || sum == 0 {
		return 1
	}
	sd := deviationOf(counts, sum/n)
	return max(float64(sd*sd)/(sum/n), 1)
}

// gammaQuantile returns the x at which the gamma distribution of shape a and scale 1 has
// reached probability p, by bisection.
func gammaQuantile(p, a float64) float64 {
	below := func(x float64) bool {
		share, _ := gammaInc(a, x)
		return share < p
	}
	hi := a + 1
	for below(hi) {
		hi *= 2
	}
	return bisect(hi, below)
}

// gammaInc is the regularised incomplete gamma function P(a, x) and what it lacks of 1, by its
// series below a + 1 and its continued fraction above, for an x that is not negative.
// mathx.GammaInc panics where a is more than some thousands.
func gammaInc(a, x float64) (below, above float64) {
	const steps, precision, tiny = 1_000_000, 1e-15, 1e-300
	front := exact.Exp(float64(a*exact.Log(x)) - x - lgamma(a))
	if x < a+1 {
		term, sum := 1/a, 1/a
		for n := 1.0; term > sum*precision; n++ {
			term = float64(term * (x / (a + n)))
			sum += term
		}
		return front * sum, 1 - float64(front*sum)
	}
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < steps; i++ { // Lentz's method
		factor := -float64(i * (i - a))
		b += 2
		d = 1 / (float64(factor*d) + b)
		c = b + factor/c // it is at least i+1, by induction
		h *= d * c
		if math.Abs(float64(d*c)-1) < precision {
			break
		}
	}
	return 1 - float64(front*h), front * h
}
