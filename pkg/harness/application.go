package harness

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// application is the part of a process that wants the critical section. It
// never asks again before it has left: further requests wait in its queue, and
// their waiting counts from the instant at which they were meant.
type application struct {
	waiting  bool            // between request and granted
	queue    []time.Duration // intended instants of requests not yet made
	made     uint64          // requests made, of those that the workload plans itself
	quota    uint64          // of those; unbounded: math.MaxUint64
	entries  uint64          // entries so far
	intended time.Duration   // of the arrival that is armed
	planned  bool            // an arrival is armed
	done     bool
}

func (a *application) init(m *Process) {
	s := &m.setup.Scenario
	if s.Kind != Closed && s.Kind != Open {
		return
	}
	a.quota = math.MaxUint64
	if s.Kind == Closed && s.Requests > 0 { // in all: the first processes take one more
		n := m.setup.Nodes
		a.quota = uint64(s.Requests / n)
		if int(m.ID) <= s.Requests%n {
			a.quota++
		}
	}
}

// gap is the time between two arrivals of open load at one process: the k-th in the
// life of one incarnation. So each process has a Poisson stream of its own, and all of
// them together are one of the whole rate.
func (s *Setup) gap(id algo.ID, incarnation uint32, k uint64) time.Duration {
	u := s.workload(id, incarnation, k)
	mean := float64(s.Nodes) / s.Scenario.Rate // seconds between two arrivals of one process
	return time.Duration(-math.Log1p(-float64(u>>11)*0x1p-53) * mean * float64(time.Second))
}

// workload is the random number of the k-th request that an incarnation plans.
func (s *Setup) workload(id algo.ID, incarnation uint32, k uint64) uint64 {
	return Derive(s.Seed, "workload", uint64(id), uint64(incarnation), k) << 11
}

// lastArrival is the instant and the process of the last arrival of open load: the
// Requests-th of all processes together, of their first incarnations. It follows from
// the plan alone, so that every node knows it.
func (s *Setup) lastArrival() (at time.Duration, by algo.ID) {
	at, by = math.MaxInt64, math.MaxUint32
	if s.Scenario.Kind != Open || s.Scenario.Requests == 0 {
		return at, by
	}
	var streams Queue[algo.ID]
	made := make([]uint64, s.Nodes+1)
	push := func(p algo.ID, from time.Duration) {
		streams.Push(from+s.gap(p, 0, made[p]), Application, p, p)
		made[p]++
	}
	for _, p := range s.Graph.Peers() {
		push(p, 0)
	}
	for range s.Scenario.Requests {
		if at, by = streams.Pop(); at > s.TimeLimit { // later ones will not be made
			break
		}
		push(by, at)
	}
	return at, by
}

func (a *application) start(m *Process, now time.Duration) {
	if m.setup.Alg.Problem != algo.MutualExclusion {
		return
	}
	if m.Incarnation == 0 {
		now = 0 // the common start: what is meant does not depend on how late a node was
	}
	a.plan(m, now)
}

// plan arms the next request that the workload makes of itself, if any.
func (a *application) plan(m *Process, from time.Duration) {
	s := &m.setup.Scenario
	if a.made == a.quota {
		a.finish(m)
		return
	}
	at := from
	switch s.Kind {
	case Closed:
		at += s.Think.Draw(m.setup.workload(m.ID, m.Incarnation, a.made))
	case Open:
		at += m.setup.gap(m.ID, m.Incarnation, a.made)
	}
	last := m.setup.lastAt
	if s.Duration > 0 && at > s.Duration || at > last || at == last && m.ID > m.setup.lastBy {
		a.quota = a.made
		a.finish(m)
		return
	}
	a.made++
	a.intended, a.planned = at, true
	m.alarm(at, Alarm{Slot: slotRequest})
}

// arrival is the instant of a planned request.
func (a *application) arrival(m *Process, now time.Duration) {
	a.planned = false
	intended := a.intended
	m.Request(now, intended)
	if m.setup.Scenario.Kind == Open { // only now: planning may find that this was the last
		a.plan(m, intended)
	}
}

// Request asks for the critical section on behalf of an application that
// wanted it at the instant intended.
func (m *Process) Request(now, intended time.Duration) {
	a := &m.app
	if a.waiting || m.Inside {
		a.queue = append(a.queue, intended)
		return
	}
	a.waiting = true
	m.note(now, trace.Request, algo.None, uint64(intended))
	m.feed(now, algo.Event{Type: algo.Request})
}

// granted lets the process in. One that is let in unasked or twice is recorded
// all the same: the checker will object.
func (a *application) granted(m *Process, now time.Duration) {
	m.note(now, trace.Granted, algo.None, 0)
	if !a.waiting {
		return
	}
	a.waiting, m.Inside = false, true
	u := Derive(m.setup.Seed, "hold", uint64(m.ID), uint64(m.Incarnation), a.entries) << 11
	a.entries++
	m.alarm(now+m.setup.Scenario.Hold.Draw(u), Alarm{Slot: slotRelease})
}

func (a *application) release(m *Process, now time.Duration) {
	m.Inside = false
	m.note(now, trace.Released, algo.None, 0)
	m.feed(now, algo.Event{Type: algo.Release})
	if len(a.queue) > 0 {
		intended := a.queue[0]
		a.queue = a.queue[1:]
		m.Request(now, intended)
		return
	}
	if m.setup.Scenario.Kind == Closed {
		a.plan(m, now)
		return
	}
	a.finish(m)
}

// finish tells the runtime once that nothing more will be asked for.
func (a *application) finish(m *Process) {
	if k := m.setup.Scenario.Kind; k != Closed && k != Open {
		return
	}
	if !a.done && !a.waiting && !m.Inside && len(a.queue) == 0 && !a.planned && a.made == a.quota {
		a.done = true
		m.runtime.Done(m)
	}
}
