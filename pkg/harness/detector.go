package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// detector is a member's failure detector. The perfect one is told by the
// executor who crashed; the heartbeat one finds out over the same links that
// the algorithm uses, on a plane of its own.
type detector struct {
	heardAt   []time.Duration // by ID - 1
	suspected []bool
}

func (d *detector) start(m *Member, now time.Duration) {
	if m.Incarnation == 0 { // later ones are told by the executor who is down by then
		for _, p := range m.setup.Crashed {
			m.Crashed(p, now)
		}
	}
	if m.setup.Detector.Kind != "heartbeat" {
		return
	}
	n := m.setup.Nodes
	d.heardAt, d.suspected = make([]time.Duration, n), make([]bool, n)
	for i := range d.heardAt {
		d.heardAt[i] = now
	}
	interval := m.setup.Detector.Interval
	phase := Derive(m.setup.Seed, "phase", uint64(m.ID), uint64(m.Incarnation)) % uint64(interval)
	m.alarm(now+time.Duration(phase), Alarm{Slot: slotBeat})
	m.alarm(now+m.setup.Detector.Timeout, Alarm{Slot: slotWatch})
}

func (d *detector) beat(m *Member, now time.Duration) {
	for _, p := range m.setup.Graph.Peers() {
		if p != m.ID {
			m.world.Send(m, p, Outgoing{Kind: Heartbeat, Plane: trace.Detection})
		}
	}
	m.alarm(now+m.setup.Detector.Interval, Alarm{Slot: slotBeat})
}

func (d *detector) heard(m *Member, now time.Duration, from algo.ID) {
	if d.heardAt == nil {
		return
	}
	d.heardAt[from-1] = now
	if d.suspected[from-1] {
		d.suspected[from-1] = false
		m.restore(now, from)
	}
}

// watch suspects whoever has been silent for the time-out, and wakes again when
// the next could have been.
func (d *detector) watch(m *Member, now time.Duration) {
	next := now + m.setup.Detector.Timeout
	for i, at := range d.heardAt {
		p := algo.ID(i + 1)
		if p == m.ID || d.suspected[i] {
			continue
		}
		if deadline := at + m.setup.Detector.Timeout; deadline > now {
			next = min(next, deadline)
			continue
		}
		d.suspected[i] = true
		m.Suspect(now, p, false)
	}
	m.alarm(next, Alarm{Slot: slotWatch})
}

// Crashed tells the perfect detector of m that p crashed at the instant at.
func (m *Member) Crashed(p algo.ID, at time.Duration) { m.told(p, at, slotSuspect) }

// Restarted tells it that p is up again.
func (m *Member) Restarted(p algo.ID, at time.Duration) { m.told(p, at, slotRestore) }

func (m *Member) told(p algo.ID, at time.Duration, slot uint16) {
	if m.setup.Detector.Kind == "perfect" && p != m.ID {
		m.alarm(at+m.setup.Detector.Delay, Alarm{Slot: slot, Arg: uint32(p)})
	}
}
