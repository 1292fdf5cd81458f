package harness

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// What the detectors have in common that find out by heartbeats, over the same links
// that the algorithm uses, on a plane of their own.

// beats are their parameters.
type beats struct {
	Interval time.Duration // between two heartbeats
	// LeaderOnly: only a process that considers itself leader sends, and only the named
	// leader is watched. Otherwise all watch all.
	LeaderOnly bool
}

// params declares them around those of the kind.
func (b *beats) params(own ...param.Param) []param.Param {
	interval := param.Param{Name: "interval", Example: "10ms", Title: "heartbeat " +
		"interval", At: &b.Interval, Default: "20ms",
		Min: 100 * time.Microsecond, Max: time.Hour, Doc: "between two heartbeats"}
	scope := param.Param{Name: "scope", Example: "leader", At: &b.LeaderOnly, Default: "all",
		Choices: []string{"all", "leader"},
		Doc:     "all watch all, or the named leader alone sends and is watched"}
	return append(append([]param.Param{interval}, own...), scope)
}

func (b *beats) check(problem algo.Problem, wrong Wrong) {
	if b.LeaderOnly && problem != algo.Election {
		wrong("detector.scope", "leader, but problem %s has no leader; write all", problem)
	}
}

func (b *beats) heartbeats() *beats { return b }

// heartbeats is the detector of a process that sends them and listens for those of
// others.
type heartbeats struct {
	deaf
	*beats
	expect func() silence
	peers  []peer        // by ID - 1; nil before the start
	gen    uint32        // of the alarm to look again: an older one is void
	turn   uint32        // of the alarm to send, likewise
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
		uint64(d.Interval)
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
	if d.peers == nil || !d.LeaderOnly || m.Leader == algo.None || m.Leader == m.ID {
		return
	}
	d.trust(m, m.Leader, now)
	m.suspects = slices.DeleteFunc(m.suspects, func(p algo.ID) bool { return p == m.Leader })
	d.look(m, now)
}

// beat sends a heartbeat to everybody.
func (d *heartbeats) beat(m *Process, now time.Duration, gen uint32) {
	if gen != d.turn {
		return
	}
	if !d.LeaderOnly || m.Leader == m.ID {
		for _, p := range m.setup.Graph.Peers() {
			if p != m.ID {
				m.runtime.Send(m, p, Outgoing{Kind: Heartbeat, Plane: trace.Detection})
			}
		}
	}
	d.beatIn(m, now, d.Interval)
}

// beatIn has the next heartbeats sent after a span.
func (d *heartbeats) beatIn(m *Process, now, span time.Duration) {
	d.due = m.clock.advance(now) + span
	m.alarm(m.clock.when(d.due), Alarm{Slot: slotBeat, Gen: d.turn})
}

func (d *heartbeats) rewind(m *Process, now time.Duration) {
	d.turn++
	m.alarm(m.clock.when(d.due), Alarm{Slot: slotBeat, Gen: d.turn})
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

// look suspects each process that has been silent for too long, and wakes again when the next
// could have been.
func (d *heartbeats) look(m *Process, now time.Duration) {
	next, clock := time.Duration(-1), m.clock.advance(now)
	for i := range d.peers {
		p, id := &d.peers[i], algo.ID(i+1)
		if id == m.ID || p.suspected || d.LeaderOnly && id != m.Leader {
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
