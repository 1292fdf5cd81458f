// Package stats condenses samples and compares them: quantiles, intervals that
// assume no distribution, a rank test with the size of its effect, bootstrap
// intervals of means and ratios, drift, and exact intervals of proportions. It
// knows nothing of trials or files, and prints nothing: a figure that does not
// exist is NaN, and a writer of figures leaves its place empty.
//
// No function changes its arguments, and the order of a sample does not matter
// but to Drift. A NaN among the values is a missing one and is ignored. What is
// random is drawn from the seed that is given: equal arguments, equal results.
//
// Where values are compared, +Inf is a censored one, known only to be larger
// than every other: a time that a time limit cut short. Censored values tie
// with each other. That is right only if all of them were cut at one limit.
//
// Quantiles are of Hyndman and Fan's type 7, linear interpolation between the
// closest ranks at (n-1)p, which is the default of R, NumPy and Excel's
// PERCENTILE.INC. Standard deviations are those of a sample, with n-1.
//
// A product that is added to something stands in a conversion to float64, which rounds
// it: otherwise a compiler may fuse the two where the processor can, and the last digit of
// a figure would depend on the machine. scripts/fused.sh looks for such places.
package stats

import (
	"math"
	"slices"

	mf "github.com/montanaflynn/stats"
)

// QuantileType names the definition of every quantile here, for file headers.
const QuantileType = "type 7 (Hyndman and Fan; the default of R, NumPy and Excel)"

// Confidence is the level of the intervals in a Summary.
const Confidence = 0.95

// A Method is how the interval of a median is found.
type Method string

// The methods.
const (
	FixedN  Method = "fixed-n" // QuantileInterval: n does not depend on the observations
	Anytime Method = "anytime" // MedianSequence: the observations may say when to stop
	Grouped Method = "rounds"  // GroupedQuantile: observations come in rounds
	Whole   Method = "pooled"  // Pooled: all trials are one, and the interval is of their mean
)

// Words say what the interval is.
func (m Method) Words() string {
	switch m {
	case Anytime:
		return "by a confidence sequence, which holds whenever a cell stops"
	case Whole:
		return "of the mean, by as many events as the trials are worth"
	case Grouped:
		return "by order statistics of as many trials as the rounds are worth"
	}
	return "by order statistics"
}

// A Summary condenses one sample. A figure that does not exist, or cannot be
// known because of censoring, is NaN.
type Summary struct {
	N        int // observed values
	Censored int // observations known only to be larger than every value

	Mean, SD           float64
	Min, Median        float64
	P90, P95, P99, Max float64
	CILow, CIHigh      float64 // of the Center, at level Confidence
	Method             Method  // of that interval
	Seen               int     // by the method Whole: how many trials saw what the figure is about
	Doubt              float64 // by how much a value can be wrong, which the interval has taken in
}

// Center is the figure that stands for the sample: the median, or by the method Whole the mean.
func (s Summary) Center() float64 {
	if s.Method == Whole {
		return s.Mean
	}
	return s.Median
}

// SeenInterval is the interval of the share of trials that see what the figure is about.
func (s Summary) SeenInterval() (lo, hi float64) { return BinomialInterval(s.Seen, s.N, Confidence) }

// Describe condenses values, to which censored further observations belong
// whose value is unknown but larger than all of them, such as a time that a
// time limit cut short. Values that are not finite are taken for missing and
// ignored. The order of values does not matter, and they are not changed.
//
// With censored observations the sample has len(values)+censored members:
//
//   - Min is the smallest value, for it is certain.
//   - Median, P90, P95 and P99 are quantiles of the whole sample, and NaN where
//     the quantile would have to be read from a censored member.
//   - CILow and CIHigh are order statistics of the whole sample, each NaN where
//     its rank falls among the censored: a lower end alone says "at least".
//   - Mean, SD and Max are NaN, for no value of a censored one can be assumed.
//
// SD needs two values; the interval needs six observations, below which no pair
// of order statistics covers the median with 95 %.
func Describe(values []float64, censored int) Summary { return FixedN.Describe(values, censored) }

// Describe condenses values as the function of that name does, with an interval by the
// method.
func (m Method) Describe(values []float64, censored int) Summary {
	xs := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			xs = append(xs, v)
		}
	}
	slices.Sort(xs)
	n := len(xs)
	nan := math.NaN()
	s := Summary{N: n, Censored: max(censored, 0), Mean: nan, SD: nan, Min: nan, Max: nan, Method: m}
	if n > 0 {
		s.Min = xs[0]
	}
	if n > 0 && s.Censored == 0 {
		s.Max = xs[n-1]
		s.Mean, _ = mf.Mean(xs)
		s.SD = deviationOf(xs, s.Mean)
	}
	// A censored observation stands as infinity: it sorts last, and whatever
	// is interpolated with it comes out infinite.
	for range s.Censored {
		xs = append(xs, math.Inf(1))
	}
	s.ranks(len(xs), func(i int) float64 { return xs[i] })
	if m == Anytime {
		lo, hi := MedianSequence(xs, Confidence)
		s.CILow, s.CIHigh = known(lo), known(hi)
	}
	return s
}

// ranks sets the figures that are order statistics of n observations, of which at gives the one at an
// index.
func (s *Summary) ranks(n int, at func(int) float64) {
	s.Median = known(quantileOf(n, at, 0.5))
	s.P90 = known(quantileOf(n, at, 0.9))
	s.P95 = known(quantileOf(n, at, 0.95))
	s.P99 = known(quantileOf(n, at, 0.99))
	lo, hi := intervalOf(n, at, 0.5, Confidence)
	s.CILow, s.CIHigh = known(lo), known(hi)
}

// known turns what was read from a censored observation into a missing figure.
func known(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// Quantile returns the p-quantile of sorted, of type 7, for p in [0, 1]. It is
// NaN for an empty sample or any other p. Infinite members are ordinary ones.
func Quantile(sorted []float64, p float64) float64 {
	return quantileOf(len(sorted), func(i int) float64 { return sorted[i] }, p)
}

// quantileOf is Quantile of n observations, of which at gives the one at an index.
func quantileOf(n int, at func(int) float64, p float64) float64 {
	if n == 0 || !(p >= 0 && p <= 1) || math.IsNaN(at(0)) {
		return math.NaN()
	}
	place := float64(p * float64(n-1))
	i := int(place)
	part := place - float64(i)
	low := at(i)
	if part == 0 {
		return low
	}
	high := at(i + 1)
	if low == high {
		return low
	}
	apart := high - low
	if math.IsInf(apart, 1) { // too far for a float64, or infinite itself
		return float64((1-part)*low) + float64(part*high)
	}
	return low + float64(part*apart)
}

// deviationOf is the standard deviation of a sample, scaled so that no square is too
// large or too small for a float64. That of one value is NaN.
func deviationOf(xs []float64, mean float64) float64 {
	largest := 0.0
	for _, x := range xs {
		largest = max(largest, math.Abs(x))
	}
	_, scale := math.Frexp(largest)
	scale = max(scale, -1021)
	unit := math.Ldexp(1, -scale)
	squares := 0.0
	for _, x := range xs {
		off := float64(x*unit) - float64(mean*unit)
		squares += float64(off * off)
	}
	return math.Ldexp(math.Sqrt(squares/float64(len(xs)-1)), scale)
}
