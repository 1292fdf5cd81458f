package harness

import (
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// detector is a process's failure detector. The perfect one is told by the
// executor who crashed; the others find out by heartbeats over the same links
// that the algorithm uses, on a plane of their own.
type detector struct {
	peers []peer // by ID - 1; nil: there are no heartbeats
	gen   uint32 // of the alarm to look again: an older one is void
}

// A peer is what a detector knows of one other process.
type peer struct {
	heardAt   time.Duration
	suspected bool
	intervals *intervals // phi
}

func (d *detector) start(m *Process, now time.Duration) {
	if m.Incarnation == 0 { // later ones are told by the executor who is down by then
		for _, p := range m.setup.Crashed {
			m.Crashed(p, now)
		}
	}
	config := &m.setup.Detector
	if !config.Restless() {
		return
	}
	d.peers = make([]peer, m.setup.Nodes)
	for i := range d.peers {
		d.trust(m, algo.ID(i+1), now)
	}
	phase := Derive(m.setup.Seed, "phase", uint64(m.ID), uint64(m.Incarnation)) % uint64(config.Interval)
	m.alarm(now+time.Duration(phase), Alarm{Slot: slotBeat})
	d.watch(m, now)
}

// trust begins to watch p, as if it had been heard of now.
func (d *detector) trust(m *Process, p algo.ID, now time.Duration) {
	d.peers[p-1] = peer{heardAt: now}
	if m.setup.Detector.Kind == "phi" {
		d.peers[p-1].intervals = newIntervals(&m.setup.Detector)
	}
}

// follow begins to watch the leader that m names now, where nobody else is
// watched. Whatever was held against it before counts no more.
func (d *detector) follow(m *Process, now time.Duration) {
	if d.peers == nil || !m.setup.Detector.LeaderOnly || m.Leader == algo.None || m.Leader == m.ID {
		return
	}
	d.trust(m, m.Leader, now)
	m.suspects = slices.DeleteFunc(m.suspects, func(p algo.ID) bool { return p == m.Leader })
	d.watch(m, now)
}

// beat sends a heartbeat to everybody.
func (d *detector) beat(m *Process, now time.Duration) {
	if !m.setup.Detector.LeaderOnly || m.Leader == m.ID {
		for _, p := range m.setup.Graph.Peers() {
			if p != m.ID {
				m.runtime.Send(m, p, Outgoing{Kind: Heartbeat, Plane: trace.Detection})
			}
		}
	}
	m.alarm(now+m.setup.Detector.Interval, Alarm{Slot: slotBeat})
}

func (d *detector) heard(m *Process, now time.Duration, from algo.ID) {
	if d.peers == nil {
		return
	}
	p := &d.peers[from-1]
	if p.intervals != nil && !p.suspected { // a silence that it was suspected for is no interval
		p.intervals.add(now - p.heardAt)
	}
	p.heardAt = now
	if p.suspected {
		p.suspected = false
		m.restore(now, from)
		d.watch(m, now)
	}
}

// watch suspects whoever has been silent for too long, and wakes again when the
// next could have been.
func (d *detector) watch(m *Process, now time.Duration) {
	config := &m.setup.Detector
	next := time.Duration(-1)
	for i := range d.peers {
		p, id := &d.peers[i], algo.ID(i+1)
		if id == m.ID || p.suspected || config.LeaderOnly && id != m.Leader {
			continue
		}
		patience := config.Timeout
		if p.intervals != nil {
			patience = p.intervals.patience()
		}
		if deadline := p.heardAt + patience; deadline > now {
			if next < 0 || deadline < next {
				next = deadline
			}
			continue
		}
		p.suspected = true
		m.Suspect(now, id, false)
	}
	if next >= 0 {
		d.gen++
		m.alarm(next, Alarm{Slot: slotWatch, Gen: d.gen})
	}
}

// intervals is phi's memory of one process: the times between its heartbeats, of
// which the last ones count (N. Hayashibara, X. Défago, R. Yared, T. Katayama, The
// phi accrual failure detector, SRDS 2004).
type intervals struct {
	config *Detector
	last   []float64 // ns; a ring
	at     int
	sum    float64
	square float64
}

// newIntervals remembers two intervals that were never seen, so that a first
// heartbeat that does not come is noticed: their mean is the interval, their
// standard deviation a quarter of it.
func newIntervals(config *Detector) *intervals {
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

// z is how many standard deviations above the mean the threshold of phi is.
func (d *Detector) z() float64 { return math.Sqrt2 * math.Erfcinv(2*math.Pow(10, -d.Threshold)) }

// Crashed tells the perfect detector of m that p crashed at the instant at.
func (m *Process) Crashed(p algo.ID, at time.Duration) { m.told(p, at, slotSuspect) }

// Restarted tells it that p is up again.
func (m *Process) Restarted(p algo.ID, at time.Duration) { m.told(p, at, slotRestore) }

func (m *Process) told(p algo.ID, at time.Duration, slot uint16) {
	if m.setup.Detector.Kind == "perfect" && p != m.ID {
		m.alarm(at+m.setup.Detector.Delay, Alarm{Slot: slot, Arg: uint32(p)})
	}
}
