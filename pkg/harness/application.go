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
	waiting  bool          // between request and granted
	queue    []want        // requests not yet made
	asked    uint64        // requests meant, whoever plans them
	session  algo.Session  // of the present request
	made     uint64        // requests made, of those that the workload plans itself
	quota    uint64        // of those; unbounded: math.MaxUint64
	entries  uint64        // entries so far
	intended time.Duration // of the arrival that is armed
	planned  bool          // an arrival is armed
	done     bool
}

// A want is a request: when it was meant, and what for.
type want struct {
	intended time.Duration
	session  algo.Session // 0: there are none
}

func (a *application) init(m *Process) {
	l := m.setup.load
	if l == nil {
		return
	}
	a.quota = math.MaxUint64
	if l.quota != nil {
		a.quota = l.quota(m.setup, m.ID)
	}
}

// workload is the random number of the k-th request that an incarnation plans.
func (s *Setup) workload(id algo.ID, incarnation uint32, k uint64) uint64 {
	return Derive(s.Seed, "workload", uint64(id), uint64(incarnation), k) << 11
}

func (a *application) start(m *Process, now time.Duration) {
	if m.setup.Alg.Problem != algo.MutualExclusion || m.setup.Serves(m.ID) {
		return
	}
	if m.Incarnation == 0 {
		now = 0 // the common start: what is meant does not depend on how late a node was
	}
	a.plan(m, now)
}

// plan arms the next request that the workload makes of itself, if any.
func (a *application) plan(m *Process, from time.Duration) {
	if a.made == a.quota {
		a.finish(m)
		return
	}
	at := from
	if l := m.setup.load; l != nil {
		at += l.gap(m.setup, m.ID, m.Incarnation, a.made, from)
	}
	last := m.setup.lastAt
	if m.setup.lasts > 0 && at > m.setup.lasts || at > last || at == last && m.ID > m.setup.lastBy {
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
	m.Request(now, intended, 0)
	if l := m.setup.load; l != nil && l.open { // only now: planning may find that this was the last
		a.plan(m, intended)
	}
}

// Request asks for the critical section on behalf of an application that
// wanted it at the instant intended, for a session; 0: for that which the scenario says.
func (m *Process) Request(now, intended time.Duration, session algo.Session) {
	a := &m.app
	if session == 0 || m.setup.Alg.Spec.Admits.Sessions == "" {
		session = m.setup.Session(m.ID, m.Incarnation, a.asked)
	}
	a.asked++
	w := want{intended, session}
	if a.waiting || m.Inside {
		a.queue = append(a.queue, w)
		return
	}
	m.ask(now, w)
}

func (m *Process) ask(now time.Duration, w want) {
	m.app.waiting, m.app.session = true, w.session
	m.note(now, trace.Request, algo.ID(w.session), uint64(w.intended))
	m.feed(now, algo.Event{Type: algo.Request, Session: w.session})
}

// ByID and Random are what a scenario's SessionChoice may be.
const (
	ByID   = "by-id"
	Random = "random"
)

// Session is what the k-th request is for, from 0 on, that an incarnation of a process means;
// 0: there are no sessions.
func (s *Setup) Session(id algo.ID, incarnation uint32, k uint64) algo.Session {
	if s.Alg.Spec.Admits.Sessions == "" {
		return 0
	}
	if own := s.Alg.Spec.SessionOf(s.Params, id); own > 0 {
		return own
	}
	n, which := uint64(2), uint64(id-1)
	if sessions := s.entries.sessions; sessions != nil && *sessions > 0 {
		n = uint64(*sessions)
	}
	if choice := s.entries.choice; choice != nil && *choice == Random {
		which = Derive(s.Seed, "session", uint64(id), uint64(incarnation), k)
	}
	return algo.Session(1 + which%n)
}

// granted lets the process in. One that is let in unasked or twice is recorded
// all the same: the checker will object.
func (a *application) granted(m *Process, now time.Duration) {
	m.note(now, trace.Granted, algo.ID(a.session), 0)
	if !a.waiting {
		return
	}
	a.waiting, m.Inside = false, true
	u := Derive(m.setup.Seed, "hold", uint64(m.ID), uint64(m.Incarnation), a.entries) << 11
	a.entries++
	m.alarm(now+m.setup.entries.hold.Draw(u), Alarm{Slot: slotRelease})
}

func (a *application) release(m *Process, now time.Duration) {
	m.Inside = false
	m.note(now, trace.Released, algo.None, 0)
	now = m.feed(now, algo.Event{Type: algo.Release})
	if len(a.queue) > 0 {
		w := a.queue[0]
		a.queue = a.queue[1:]
		m.ask(now, w)
		return
	}
	if l := m.setup.load; l != nil && !l.open {
		a.plan(m, now)
		return
	}
	a.finish(m)
}

// finish tells the runtime once that nothing more will be asked for.
func (a *application) finish(m *Process) {
	if m.setup.load == nil {
		return
	}
	if !a.done && !a.waiting && !m.Inside && len(a.queue) == 0 && !a.planned && a.made == a.quota {
		a.done = true
		m.runtime.Done(m)
	}
}
