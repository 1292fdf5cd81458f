package stats

import (
	"math"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Count is how many events were seen in one stretch of observation.
type Count struct {
	X        float64 // what the rate depends on, on the scale on which its logarithm is a line
	Exposure float64 // how long it was; above 0
	Events   float64
}

// byChance is how large a misfit may be of few sums that do lie on a line.
const byChance = 2

// A RateLine is a rate of events whose logarithm is a line in X. The zero value knows nothing.
type RateLine struct {
	Dispersion float64 // variance of a count over its mean, at least 1
	Misfit     float64 // how much wider than by their own scatter counts lie around it; about 1 if it fits
	Events     float64 // that it rests on
	Slope      float64 // of the logarithm; 0 if all counts are at one X

	center, level float64 // X and the logarithm of the rate where the two errors are independent
	varLevel      float64 // of a Poisson process
	varSlope      float64 // likewise
	freedom       int     // of the dispersion
}

// FitRates fits a line to the logarithm of a rate: log(E[events]/exposure) = a + bX, by quasi-likelihood
// with a variance that is proportional to the mean. Counts at one X alone give b = 0. It is not ok if no
// event was seen, or if the events of all X but one are none, so that the slope has no end.
//
// The estimates are those of Poisson regression by iteratively reweighted least squares; the dispersion
// is Pearson's statistic by its degrees of freedom. It is worked out of the single counts, which shows
// whether events come in clusters, and of the sums at each X, which shows as well whether the line is one;
// the larger counts, unless the difference is one of chance. R. W. M. Wedderburn, Quasi-likelihood functions,
// generalized linear models, and the Gauss-Newton method, Biometrika 61, 1974; P. McCullagh and J. A. Nelder,
// Generalized Linear Models, 2nd edition, 1989, sections 6.2 and 9.2.
func FitRates(counts []Count) (line RateLine, ok bool) {
	sums := sumsByX(counts)
	seen, exposure := 0, 0.0
	for _, s := range sums {
		line.Events += s.Events
		exposure += s.Exposure
		if s.Events > 0 {
			seen++
		}
	}
	if seen == 1 && len(sums) > 1 {
		return RateLine{}, false
	}
	line.level = exact.Log(line.Events / exposure)
	for range 100 {
		step := line.improve(sums)
		if math.IsNaN(step) { // without an event
			return RateLine{}, false
		}
		if step < 1e-10 {
			break
		}
	}
	parameters := min(len(sums), 2)
	single, freedom := line.pearson(counts), len(counts)-parameters
	line.Dispersion, line.Misfit, line.freedom = 1, 1, max(freedom, 1)
	if freedom > 0 {
		line.Dispersion = max(1, single/float64(freedom))
	}
	if between := len(sums) - parameters; between > 0 {
		line.Misfit = line.pearson(sums) / float64(between) / line.Dispersion
		if line.Misfit > byChance {
			line.Dispersion *= line.Misfit
		}
	}
	return line, true
}

// sumsByX adds up the counts at each X, in the order of their first.
func sumsByX(counts []Count) (sums []Count) {
	at := map[float64]int{}
	for _, c := range counts {
		i, known := at[c.X]
		if !known {
			i = len(sums)
			at[c.X], sums = i, append(sums, Count{X: c.X})
		}
		sums[i].Exposure += c.Exposure
		sums[i].Events += c.Events
	}
	return sums
}

// improve takes one step of iteratively reweighted least squares, and returns how large it was.
func (l *RateLine) improve(sums []Count) float64 {
	weight, center := 0.0, 0.0
	for _, s := range sums {
		mu := float64(s.Exposure * l.At(s.X))
		weight += mu
		center += float64(mu * s.X)
	}
	center /= weight
	level, slope, square := 0.0, 0.0, 0.0
	for _, s := range sums {
		mu, off := float64(s.Exposure*l.At(s.X)), s.X-center
		rest := s.Events - mu
		level += rest
		slope += float64(rest * off)
		square += float64(mu * off * off)
	}
	here := exact.Log(l.At(center))
	l.varLevel, l.varSlope = 1/weight, 0
	stepLevel, stepSlope := level/weight, 0.0
	if square > 0 {
		stepSlope, l.varSlope = slope/square, 1/square
	}
	size := max(math.Abs(stepLevel), math.Abs(stepSlope)*spanOf(sums))
	if size > 1 { // the first steps may go too far
		stepLevel, stepSlope = stepLevel/size, stepSlope/size
	}
	l.center, l.level, l.Slope = center, here+stepLevel, l.Slope+stepSlope
	return size
}

// spanOf is how far apart the X are.
func spanOf(sums []Count) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range sums {
		low, high = min(low, s.X), max(high, s.X)
	}
	return high - low
}

// pearson is the sum of the squared residuals, each by what a Poisson variable would have.
func (l *RateLine) pearson(counts []Count) (sum float64) {
	for _, c := range counts {
		mu := float64(c.Exposure * l.At(c.X))
		sum += float64((c.Events-mu)*(c.Events-mu)) / mu
	}
	return sum
}

// At is the rate at x.
func (l *RateLine) At(x float64) float64 { return exact.Exp(l.level + float64(l.Slope*(x-l.center))) }

// Interval is that of the rate at x: of the logarithm, by Student's distribution with the degrees of
// freedom of the dispersion.
func (l *RateLine) Interval(x, confidence float64) (lo, hi float64) {
	off := x - l.center
	deviation := math.Sqrt(l.Dispersion * (l.varLevel + float64(l.varSlope*off*off)))
	reach := exact.Exp(studentQuantile((1-confidence)/2, float64(l.freedom)) * deviation)
	return l.At(x) / reach, l.At(x) * reach
}

// Where is the x at which the rate is so much; NaN if it does not depend on x.
func (l *RateLine) Where(rate float64) float64 {
	if l.Slope == 0 {
		return math.NaN()
	}
	return l.center + (exact.Log(rate)-l.level)/l.Slope
}
