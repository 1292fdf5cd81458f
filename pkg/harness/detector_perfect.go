package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	RegisterDetector(DetectorKind{
		Name: "perfect", Doc: "reports a crash after delay, and never suspects a live process",
		Class: algo.Perfect,
		Keys: []Key{{Name: "delay", Title: "detector's delay",
			Default: "10ms", Min: time.Duration(0), Max: time.Hour,
			Doc: "from the crash to the suspicion",
			Of:  func(p *Plan) any { return &p.Detector.Delay }}},
		Bound:  func(d *Detector) time.Duration { return d.Delay },
		Notice: func(d *Detector) time.Duration { return d.Delay },
		Return: func(d *Detector) time.Duration { return d.Delay },
		create: func(*Setup) detector { return oracle{} },
	})
}

// PerfectDetector is one that notices a crash after such a time.
func PerfectDetector(delay time.Duration) Detector {
	return Detector{Kind: "perfect", Delay: delay}
}

// An oracle is told by the executor who crashed.
type oracle struct{ deaf }

func (d oracle) start(m *Process, now time.Duration) {
	if m.Incarnation == 0 { // later ones are told by the executor who is down by then
		for _, p := range m.setup.Crashed {
			d.told(m, p, now, slotSuspect)
		}
	}
}

func (oracle) told(m *Process, p algo.ID, at time.Duration, slot uint16) {
	if p != m.ID {
		m.alarm(at+m.setup.Detector.Delay, Alarm{Slot: slot, Arg: uint32(p)})
	}
}
