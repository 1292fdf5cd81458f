package stats

import "math"

// A Variate is the mean of a sample, alone and with a control variate: something that was seen beside
// each value, and of which the mean is better known (Lavenberg and Welch, Management Science 27, 1981).
type Variate struct {
	Alone, With Bounded // without and with the control variate
	Correlation float64 // NaN: one of both is the same throughout
	Used        bool    // the control: it is significantly correlated
}

// Bounded is a figure and its interval.
type Bounded struct{ Value, Low, High float64 }

// Width is how far the ends are apart.
func (b Bounded) Width() float64 { return b.High - b.Low }

// Mean is the mean of values with its interval, which is that of skewedInterval. There must be two values or
// more.
func Mean(values []float64, confidence float64) Bounded {
	n := float64(len(values))
	y, variance, third := thirdMoments(values)
	lo, hi := skewedInterval(y, math.Sqrt(variance/(n-1)), meanSkewness(variance, third, n), n-1, confidence)
	return Bounded{y, lo, hi}
}

// ControlVariate is the mean of values, each of which has its control; more are further, independent
// controls, by which their mean is known. The control is used if it is significantly correlated with
// the values, at the same confidence: otherwise its slope may cost more than it gains. The intervals
// are those of skewedInterval. With the control, the variance is the larger one of that of the regression
// and that of its residuals, each divided by how much its own value draws the line to itself (HC3: J. G.
// MacKinnon and H. White, Some Heteroskedasticity-Consistent Covariance Matrix Estimators, Journal of
// Econometrics 29, 1985): the latter holds where a long tail bends the line. There must be
// MinimumBootstrap values or more, and two more controls or more.
func ControlVariate(values, controls, more []float64, confidence float64) Variate {
	n, tail := float64(len(values)), (1-confidence)/2
	y, variance, _ := thirdMoments(values)
	x, sx := moments(controls)
	known, sm := moments(more)
	alone := Mean(values, confidence)
	v := Variate{Alone: alone, With: alone, Correlation: math.NaN()}
	if sy := math.Sqrt(variance); sx <= rounding*math.Abs(x) || sy <= rounding*math.Abs(y) {
		return v
	}
	sum := 0.0
	for i := range values {
		sum += float64((values[i] - y) * (controls[i] - x))
	}
	spread := sx * sx * n
	slope := sum / spread
	v.Correlation = sum / (sx * math.Sqrt(variance) * n)
	t := v.Correlation * math.Sqrt((n-2)/(1-float64(v.Correlation*v.Correlation)))
	if v.Used = !(math.Abs(t) < studentQuantile(tail, n-2)); !v.Used {
		return v
	}
	off := x - known
	rest, squares, cubes := 0.0, 0.0, 0.0
	for i := range values {
		apart := controls[i] - x
		r := values[i] - y - float64(slope*apart)
		rest += float64(r * r)
		draws := 1/n + float64(apart*apart)/spread // the leverage
		if draws > 1-rounding {                    // it alone is the line
			v.Used = false
			return v
		}
		part := r * (1/n - float64(off*apart)/spread) / (1 - draws)
		squares += float64(part * part)
		cubes += float64(part * part * part)
	}
	rest = rest / (n - 2) * (1/n + float64(off*off)/spread)
	ofSlope := float64(slope * slope * sm * sm / float64(len(more)-1))
	figure := y - float64(slope*off)
	lo, hi := skewedInterval(figure, math.Sqrt(max(rest, squares)+ofSlope),
		meanSkewness(squares/n, cubes/n, n), n-2, confidence)
	v.With = Bounded{figure, lo, hi}
	return v
}
