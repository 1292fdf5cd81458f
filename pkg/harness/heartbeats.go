package harness

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// What the detectors have in common that find out by heartbeats, over the same links
// that the algorithm uses, on a plane of their own.

var keyInterval = Key{Name: "interval", Title: "heartbeat interval", Default: "20ms",
	Min: 100 * time.Microsecond, Max: time.Hour,
	Doc: "between two heartbeats", Of: func(p *Plan) any { return &p.Detector.Interval }}

var keyScope = Key{Name: "scope", Default: "all", Choices: []string{"all", "leader"},
	Doc: "all watch all, or the named leader alone sends and is watched",
	Of:  func(p *Plan) any { return &p.Detector.LeaderOnly }}

func checkScope(p *Plan, problem algo.Problem, wrong Wrong) {
	if p.Detector.LeaderOnly && problem != algo.Election {
		wrong("detector.scope", "leader, but nobody leads in problem %s; write all", problem)
	}
}

// beats is how many heartbeats are sent.
func beats(d *Detector, n int, during time.Duration) float64 {
	each := float64(during) / float64(d.Interval) * float64(n-1)
	if d.LeaderOnly {
		return each
	}
	return each * float64(n)
}

// untilBeat is how long it takes until a process that is back is heard of.
func untilBeat(d *Detector) time.Duration { return d.Interval }

// heartbeats is the detector of a process that sends them and listens for those of
// others.
type heartbeats struct {
	deaf
	expect func() silence
	peers  []peer        // by ID - 1; nil before the start
	gen    uint32        // of the alarm to look again: an older one is void
	beats  uint32        // of the alarm to send, likewise
	due    time.Duration // when it sends, by the process's clock
}

// A peer is what is known of one other process.
type peer struct {
	heardAt   time.Duration // by the process's clock
	suspected bool
	silence   silence
}

// A silence is the rule by which one other process is suspected.
type silence interface {
	// add is told how long it was silent, when it was heard of and not suspected.
	add(d time.Duration)
	// patience is how long a silence is borne.
	patience() time.Duration
}

func (d *heartbeats) start(m *Process, now time.Duration) {
	d.peers = make([]peer, m.setup.Nodes)
	for i := range d.peers {
		d.trust(m, algo.ID(i+1), now)
	}
	phase := Derive(m.setup.Seed, "phase", uint64(m.ID), uint64(m.Incarnation)) %
		uint64(m.setup.Detector.Interval)
	d.beatIn(m, now, time.Duration(phase))
	d.look(m, now)
}

// trust begins to watch p, as if it had been heard of now.
func (d *heartbeats) trust(m *Process, p algo.ID, now time.Duration) {
	d.peers[p-1] = peer{heardAt: m.clock.advance(now), silence: d.expect()}
}

// follow begins to watch the leader that m names now, where nobody else is
// watched. Whatever was held against it before counts no more.
func (d *heartbeats) follow(m *Process, now time.Duration) {
	if d.peers == nil || !m.setup.Detector.LeaderOnly || m.Leader == algo.None || m.Leader == m.ID {
		return
	}
	d.trust(m, m.Leader, now)
	m.suspects = slices.DeleteFunc(m.suspects, func(p algo.ID) bool { return p == m.Leader })
	d.look(m, now)
}

// beat sends a heartbeat to everybody.
func (d *heartbeats) beat(m *Process, now time.Duration, gen uint32) {
	if gen != d.beats {
		return
	}
	if !m.setup.Detector.LeaderOnly || m.Leader == m.ID {
		for _, p := range m.setup.Graph.Peers() {
			if p != m.ID {
				m.runtime.Send(m, p, Outgoing{Kind: Heartbeat, Plane: trace.Detection})
			}
		}
	}
	d.beatIn(m, now, m.setup.Detector.Interval)
}

// beatIn has the next heartbeats sent after a span.
func (d *heartbeats) beatIn(m *Process, now, span time.Duration) {
	d.due = m.clock.advance(now) + span
	m.alarm(m.clock.when(d.due), Alarm{Slot: slotBeat, Gen: d.beats})
}

func (d *heartbeats) rewind(m *Process, now time.Duration) {
	d.beats++
	m.alarm(m.clock.when(d.due), Alarm{Slot: slotBeat, Gen: d.beats})
	d.look(m, now)
}

func (d *heartbeats) heard(m *Process, now time.Duration, from algo.ID) {
	if d.peers == nil {
		return
	}
	p := &d.peers[from-1]
	if !p.suspected { // a silence that it was suspected for is no interval
		p.silence.add(m.clock.advance(now) - p.heardAt)
	}
	p.heardAt = m.clock.advance(now)
	if p.suspected {
		p.suspected = false
		m.restore(now, from)
		d.look(m, now)
	}
}

func (d *heartbeats) watch(m *Process, now time.Duration, gen uint32) {
	if gen == d.gen {
		d.look(m, now)
	}
}

// look suspects whoever has been silent for too long, and wakes again when the next
// could have been.
func (d *heartbeats) look(m *Process, now time.Duration) {
	next, clock := time.Duration(-1), m.clock.advance(now)
	for i := range d.peers {
		p, id := &d.peers[i], algo.ID(i+1)
		if id == m.ID || p.suspected || m.setup.Detector.LeaderOnly && id != m.Leader {
			continue
		}
		if deadline := p.heardAt + p.silence.patience(); deadline > clock {
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
		m.alarm(m.clock.when(next), Alarm{Slot: slotWatch, Gen: d.gen})
	}
}
