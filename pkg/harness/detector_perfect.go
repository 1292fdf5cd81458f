package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterDetector(DetectorKind{
		Name: "perfect", Doc: "reports a crash after delay, and never suspects a live process",
		Class: algo.Perfect, Watch: &perfectDetector{},
	})
}

type perfectDetector struct{ Delay time.Duration }

// PerfectDetector is one that notices a crash after such a time.
func PerfectDetector(delay time.Duration) Detector { return Detector{&perfectDetector{delay}} }

func (d *perfectDetector) Params() []param.Param {
	return []param.Param{{Name: "delay", Example: "50ms", Title: "detector's delay", At: &d.Delay,
		Default: "10ms", Max: time.Hour, Doc: "from the crash to the suspicion"}}
}

func (d *perfectDetector) takes() (bound, notice, back time.Duration) {
	return d.Delay, d.Delay, d.Delay
}
func (d *perfectDetector) create(*Setup) detector { return oracle{delay: d.Delay} }

// An oracle learns from the executor which processes crashed.
type oracle struct {
	deaf
	delay time.Duration
}

func (d oracle) start(m *Process, now time.Duration) {
	if m.Incarnation == 0 { // later ones are told by the executor who is down by then
		for _, p := range m.setup.Crashed {
			d.told(m, p, now, slotSuspect)
		}
	}
}

func (d oracle) told(m *Process, p algo.ID, at time.Duration, slot uint16) {
	if p != m.ID {
		m.alarm(at+d.delay, Alarm{Slot: slot, Arg: uint32(p)})
	}
}
