package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterDetector(DetectorKind{
		Name: "heartbeat", Doc: "real messages over the same links; a silence of timeout is suspected",
		Class: algo.EventuallyPerfect, Watch: &heartbeatDetector{},
	})
}

type heartbeatDetector struct {
	beats
	Timeout time.Duration // the silence after which a process is suspected
}

// HeartbeatDetector is one that bears a silence of such a time.
func HeartbeatDetector(interval, timeout time.Duration) Detector {
	return Detector{&heartbeatDetector{beats{Interval: interval}, timeout}}
}

func (d *heartbeatDetector) Params() []param.Param {
	return d.params(param.Param{Name: "timeout", Example: "150ms", Title: "detector's " +
		"time-out", At: &d.Timeout,
		Default: "100ms", Min: 100 * time.Microsecond, Max: time.Hour, Tunes: param.Patience,
		Doc: "the silence after which a process is suspected"})
}

func (d *heartbeatDetector) check(problem algo.Problem, wrong Wrong) {
	if d.Timeout <= d.Interval {
		wrong("detector.timeout", "%v is not above the interval %v: every process would be suspected",
			d.Timeout, d.Interval)
	}
	d.beats.check(problem, wrong)
}

func (d *heartbeatDetector) takes() (bound, notice, back time.Duration) {
	return d.Interval + d.Timeout, d.Interval + d.Timeout, d.Interval
}

func (d *heartbeatDetector) create(*Setup) detector {
	timeout := fixed(d.Timeout)
	return &heartbeats{beats: &d.beats, expect: func() silence { return timeout }}
}

// fixed is the same patience with everybody.
type fixed time.Duration

func (f fixed) patience() time.Duration { return time.Duration(f) }

func (fixed) add(time.Duration) {}
