package stats

import (
	"math"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// LogMeanInterval is the mean of values that are not negative and have a long tail upwards,
// as the estimates of a small probability have, with their standard deviation. The
// interval is Student's for the mean on a scale of logarithms, by the delta method: it is wider
// upwards and never below zero. It also reaches as far up as skewedInterval does. It is not a number
// if it is unknown: of fewer than two values, or of zeros alone.
func LogMeanInterval(values []float64, confidence float64) (mean, deviation, lo, hi float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, 0, math.NaN(), math.NaN()
	}
	deviation = deviationOf(values, mean)
	reach := studentQuantile((1-confidence)/2, n-1) * deviation / math.Sqrt(n) / mean
	_, variance, third := thirdMoments(values)
	_, most := skewedInterval(mean, deviation/math.Sqrt(n), meanSkewness(variance, third, n), n-1, confidence)
	return mean, deviation, mean * exact.Exp(-reach), max(mean*exact.Exp(reach), most)
}
