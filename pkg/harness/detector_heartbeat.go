package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	RegisterDetector(DetectorKind{
		Name: "heartbeat", Doc: "real messages over the same links; a silence of timeout is suspected",
		Class: algo.EventuallyPerfect,
		Keys: []Key{keyInterval, {Name: "timeout", Title: "detector's time-out",
			Default: "100ms", Min: 100 * time.Microsecond,
			Max: time.Hour, Doc: "the silence after which a process is suspected", Tunes: true,
			Of: func(p *Plan) any { return &p.Detector.Timeout }}, keyScope},
		Check: func(p *Plan, problem algo.Problem, wrong Wrong) {
			if d := &p.Detector; d.Timeout <= d.Interval {
				wrong("detector.timeout", "%v is not above the interval %v: everybody would be suspected",
					d.Timeout, d.Interval)
			}
			checkScope(p, problem, wrong)
		},
		Bound:    func(d *Detector) time.Duration { return d.Interval + d.Timeout },
		Notice:   func(d *Detector) time.Duration { return d.Interval + d.Timeout },
		Messages: beats,
		Return:   untilBeat,
		Period:   func(d *Detector) time.Duration { return d.Interval },
		create: func(s *Setup) detector {
			timeout := fixed(s.Detector.Timeout)
			return &heartbeats{expect: func() silence { return timeout }}
		},
	})
}

// HeartbeatDetector is one that bears a silence of such a time.
func HeartbeatDetector(interval, timeout time.Duration) Detector {
	return Detector{Kind: "heartbeat", Interval: interval, Timeout: timeout}
}

// fixed is the same patience with everybody.
type fixed time.Duration

func (f fixed) patience() time.Duration { return time.Duration(f) }

func (fixed) add(time.Duration) {}
