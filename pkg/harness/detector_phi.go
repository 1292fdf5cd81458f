package harness

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterDetector(DetectorKind{
		Name:  "phi",
		Doc:   "the same messages; suspects a silence longer than all but 1 in 10^threshold",
		Class: algo.EventuallyPerfect, Watch: &phi{},
	})
}

type phi struct {
	beats
	// Threshold is the suspicion level that makes suspicious, the negative decimal logarithm of
	// the chance that a heartbeat still comes.
	Threshold float64
	Window    int           // how many intervals it remembers
	Deviation time.Duration // the least standard deviation of the intervals
}

func (d *phi) Params() []param.Param {
	return d.params(
		param.Param{Name: "threshold", Example: "10", Title: "detector's " +
			"threshold", At: &d.Threshold, Default: "8",
			Min: 0.1, Max: 100.0, Tunes: param.Patience,
			Doc: "a heartbeat later than 1 in 10^threshold ever is makes suspicious"},
		param.Param{Name: "window", Example: "50", At: &d.Window, Default: "100", Min: 2, Max: 100_000,
			Doc: "how many intervals between heartbeats it remembers"},
		param.Param{Name: "deviation", Example: "2ms", At: &d.Deviation, Note: "a quarter of the interval",
			Default: func() any { return d.Interval / 4 }, Min: time.Microsecond, Max: time.Hour,
			Doc: "the least standard deviation of the intervals that it reckons with"})
}

func (d *phi) takes() (bound, notice, back time.Duration) {
	// There is no bound: four times what it takes in good times. A crash is noticed after as many
	// deviations as the threshold asks for.
	bound = 4 * (d.Interval + time.Duration(d.z()*float64(max(d.Deviation, d.Interval/4))))
	z := math.Sqrt(2 * math.Ln10 * d.Threshold)
	return bound, d.Interval + time.Duration(z*float64(d.Deviation)), d.Interval
}

func (d *phi) create(*Setup) detector {
	return &heartbeats{beats: &d.beats, expect: func() silence { return newIntervals(d) }}
}

// intervals is phi's memory of one process: the times between its heartbeats, of
// which the last ones count (N. Hayashibara, X. Défago, R. Yared, T. Katayama, The
// phi accrual failure detector, SRDS 2004).
type intervals struct {
	config *phi
	last   []float64 // ns; a ring
	at     int
	sum    float64
	square float64
}

// newIntervals remembers two intervals that were never seen, so that a first
// heartbeat that does not come is noticed: their mean is the interval, their
// standard deviation a quarter of it.
func newIntervals(config *phi) *intervals {
	v := &intervals{config: config}
	v.add(config.Interval * 3 / 4)
	v.add(config.Interval * 5 / 4)
	return v
}

func (v *intervals) add(d time.Duration) {
	x := float64(d)
	if len(v.last) < v.config.Window {
		v.last = append(v.last, x)
	} else {
		old := v.last[v.at]
		v.last[v.at] = x
		v.at = (v.at + 1) % len(v.last)
		v.sum, v.square = v.sum-old, v.square-float64(old*old)
	}
	v.sum, v.square = v.sum+x, v.square+float64(x*x)
}

// patience is the silence at which phi reaches the threshold: there a normal
// distribution of the intervals leaves 10^-threshold above.
func (v *intervals) patience() time.Duration {
	n := float64(len(v.last))
	mean := v.sum / n
	deviation := math.Sqrt(max(v.square/n-float64(mean*mean), 0))
	return time.Duration(mean + float64(v.config.z()*max(deviation, float64(v.config.Deviation))))
}

// z is how many standard deviations above the mean the threshold of phi is. Erfcinv goes by
// way of 1 - x, of which nothing is left above a threshold of 15: there Newton's method finds
// where the logarithm of what a normal distribution leaves above is that of the threshold.
func (d *phi) z() float64 {
	if d.Threshold <= 12 {
		return math.Sqrt2 * exact.Erfcinv(2*exact.Pow(10, -d.Threshold))
	}
	z := math.Sqrt(2 * math.Ln10 * d.Threshold) // somewhat above; the logarithm is concave
	for range 6 {
		above := exact.Erfc(z/math.Sqrt2) / 2
		density := exact.Exp(float64(-z*z)/2) / math.Sqrt(2*math.Pi)
		z += (exact.Log(above) + float64(math.Ln10*d.Threshold)) * above / density
	}
	return z
}
