package stats

import "math"

// A Variate is the mean of a sample, alone and with a control variate: something that was seen beside
// each value, and of which the mean is better known (Lavenberg and Welch, Management Science 27, 1981).
type Variate struct {
	Mean, Half         float64 // alone: the mean, and half of its interval
	Adjusted, Narrowed float64 // with the control variate
	Correlation        float64 // NaN: one of both is the same throughout
	Used               bool    // the control: it is significantly correlated
}

// ControlVariate is the mean of values, each of which has its control; more are further, independent
// controls, by which their mean is known. The control is used if it is significantly correlated with
// the values, at the same confidence: otherwise its slope may cost more than it gains. The intervals
// are Student's. There must be four values or more, and two more controls or more.
func ControlVariate(values, controls, more []float64, confidence float64) Variate {
	n, tail := float64(len(values)), (1-confidence)/2
	y, sy := moments(values)
	x, sx := moments(controls)
	known, sm := moments(more)
	v := Variate{Mean: y, Half: studentQuantile(tail, n-1) * sy / math.Sqrt(n-1)}
	v.Adjusted, v.Narrowed, v.Correlation = v.Mean, v.Half, math.NaN()
	if sx <= rounding*math.Abs(x) || sy <= rounding*math.Abs(y) {
		return v
	}
	sum := 0.0
	for i := range values {
		sum += float64((values[i] - y) * (controls[i] - x))
	}
	spread := sx * sx * n
	slope := sum / spread
	v.Correlation = sum / (sx * sy * n)
	t := v.Correlation * math.Sqrt((n-2)/(1-float64(v.Correlation*v.Correlation)))
	if v.Used = !(math.Abs(t) < studentQuantile(tail, n-2)); !v.Used {
		return v
	}
	rest := 0.0
	for i := range values {
		r := values[i] - y - float64(slope*(controls[i]-x))
		rest += float64(r * r)
	}
	rest /= n - 2
	off := x - known
	variance := float64(rest*(1/n+float64(off*off)/spread)) + float64(slope*slope*sm*sm/float64(len(more)-1))
	v.Adjusted = y - float64(slope*off)
	v.Narrowed = studentQuantile(tail, n-2) * math.Sqrt(variance)
	return v
}
