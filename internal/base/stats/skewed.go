package stats

import (
	"math"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// skewedInterval is the interval of a mean, or of another figure that is a sum of independent parts: its
// standard error is known from so many degrees of freedom, and its skewness, which is that of the parts
// divided by the square root of their number, by skewness. It reaches as far as Student's does, and as
// far as Hall's, which a long tail of the parts shifts towards that tail: a sample mostly lacks it, and
// then its mean and its deviation are too small at once. For parts without a tail both are alike.
//
// P. Hall, On the Removal of Skewness by Transformation, Journal of the Royal Statistical Society B 54,
// 1992; N. J. Johnson, Modified t Tests and Confidence Intervals for Asymmetrical Populations, JASA 73, 1978.
func skewedInterval(figure, deviation, skewness, freedom, confidence float64) (lo, hi float64) {
	if !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN()
	}
	if deviation == 0 {
		return figure, figure
	}
	t := studentQuantile((1-confidence)/2, freedom)
	lo, hi = hallInterval(figure, deviation, skewness, t)
	return min(lo, figure-float64(t*deviation)), max(hi, figure+float64(t*deviation))
}

// hallInterval is Hall's alone, from the quantile t of Student's distribution: the inverse of his
// transformation of the statistic.
func hallInterval(figure, deviation, skewness, t float64) (lo, hi float64) {
	reach := func(t float64) float64 {
		if math.Abs(skewness) < rounding {
			return t
		}
		root := exact.Cbrt(1 + float64(skewness*t) - float64(skewness*skewness)/6)
		return 3 * (root - 1) / skewness
	}
	return figure - float64(reach(t)*deviation), figure - float64(reach(-t)*deviation)
}

// studentTail is the probability that Student's t with so many degrees of freedom is above t, which is
// not negative.
func studentTail(t, freedom float64) float64 {
	return betaTail(freedom/(freedom+float64(t*t)), freedom/2) / 2
}

// thirdMoments are the mean of parts and their second and third central moments, by their number.
func thirdMoments(parts []float64) (mean, variance, third float64) {
	mean, deviation := moments(parts)
	for _, x := range parts {
		off := x - mean
		third += float64(off*off*off) / float64(len(parts))
	}
	return mean, deviation * deviation, third
}

// skewedT are the statistics of a mean of n parts against 0, Student's and Hall's; variance and third are
// the central moments of the parts, by n. skewedInterval lies on one side of 0 where both are beyond.
func skewedT(mean, variance, third, n float64) (student, hall float64) {
	if math.Abs(mean) < rounding {
		return 0, 0
	}
	if variance <= rounding*rounding {
		t := math.Copysign(math.Inf(1), mean)
		return t, t
	}
	t, a := mean/math.Sqrt(variance/(n-1)), meanSkewness(variance, third, n)
	return t, t + float64(a*t*t)/3 + float64(a*a*t*t*t)/27 + a/6
}

// meanSkewness is the skewness of the mean of n parts with these central moments. A small sample shows
// less than there is: what it shows is multiplied as for parts that are normally distributed, and by
// the root of n/(n-3), with which the coverage of six to thirty long-tailed parts is best in simulation.
// It is 0 of three parts or fewer.
func meanSkewness(variance, third, n float64) float64 {
	if !(n > 3) || !(variance > 0) {
		return 0
	}
	return third / (variance * math.Sqrt(variance)) * math.Sqrt(n*(n-1)) / (n - 2) / math.Sqrt(n-3)
}
