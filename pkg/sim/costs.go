package sim

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A worker is a process where handling takes time: what comes to it waits until it has a
// processor, and it handles one event after the other.
type worker struct {
	todo  []*event
	state uint8
	lead  clock.Lead
	luck  uint64        // what it draws follows from this
	busy  time.Duration // until when it writes
	relay time.Duration // for how long the bus has work with what it has sent in this turn
}

// What a worker is.
const (
	asleep  uint8 = iota
	ready         // waits for a processor
	running       // has one
	writing       // waits for the disk
)

// A call is a worker that waits for a processor.
type call struct {
	process     algo.ID
	incarnation uint32
	since       time.Duration
	late        bool // by the bus: a message woke it that was due before
}

// A parting is a message that leaves when the disk has what was saved before it.
type parting struct {
	algo.Message
	to  algo.ID
	out harness.Outgoing
}

// spend has m take its time for what it did at its start.
func (s *simulation) spend(m *harness.Process) {
	s.procs[m.ID-1].work.state = running
	s.taken++
	s.done(m)
}

// done is when m is done with the present event.
func (s *simulation) done(m *harness.Process) {
	s.procs[m.ID-1].work.busy = s.now + s.worked + s.saving
	s.own(turn, m.ID, m.Incarnation, s.now+s.worked)
}

// waiting is what comes after what the worker handles next.
func (w *worker) waiting() []*event {
	if w.state == running && len(w.todo) > 0 {
		return w.todo[1:]
	}
	return w.todo
}

// handle lets e happen at its process, now or when that comes to it, and says whether it is over.
func (s *simulation) handle(e *event) bool {
	proc := &s.procs[e.to-1]
	m := proc.running
	if s.setup.Costs == nil || m == nil || e.what == alarm && m.Incarnation != e.incarnation {
		s.happen(e)
		return true
	}
	e.served = true
	proc.work.todo = append(proc.work.todo, e)
	s.rouse(m, e.what == delivery && s.now > e.due)
	return false
}

// rouse has m take up what it has to do, unless it is about to.
func (s *simulation) rouse(m *harness.Process, late bool) {
	w := &s.procs[m.ID-1].work
	if w.state != asleep || len(w.todo) == 0 {
		return
	}
	w.state = ready
	s.calls = append(s.calls, call{m.ID, m.Incarnation, s.now, late})
	s.dispatch()
}

// dispatch gives free processors to those that wait, in the order in which they came.
func (s *simulation) dispatch() {
	costs := s.setup.Costs
	for len(s.calls) > 0 && (costs.Processors == 0 || s.taken < costs.Processors) {
		c := s.calls[0]
		s.calls = s.calls[1:]
		proc := &s.procs[c.process-1]
		if m := proc.running; m == nil || m.Incarnation != c.incarnation {
			continue
		}
		s.taken++
		w := &proc.work
		w.state = running
		at := s.now
		switch waited := s.now - c.since; {
		case c.late:
		case waited > 0: // it had rung already
			w.lead.Woke(w.lead.Before() + waited)
		default:
			took := w.draw(&costs.Wake)
			at += max(took-w.lead.Before(), 0)
			w.lead.Woke(took)
		}
		s.own(turn, c.process, c.incarnation, at)
	}
}

// draw is one of l, or none.
func (w *worker) draw(l *link.Latency) time.Duration {
	if l.Law == nil {
		return 0
	}
	w.luck = link.Mix(w.luck)
	return l.Draw(w.luck)
}

// own puts an event of the simulator's own into the queue. It comes after all others of its instant.
func (s *simulation) own(what uint8, p algo.ID, incarnation uint32, at time.Duration) {
	e := s.event()
	*e = event{what: what, from: p, incarnation: incarnation}
	s.queue.Push(at, e.class(), p, e)
}

// turn is the instant at which a process has a processor, and is done with what it did before.
func (s *simulation) turn(e *event) {
	proc := &s.procs[e.from-1]
	w, m := &proc.work, proc.running
	switch {
	case m == nil || m.Incarnation != e.incarnation:
		s.release(0)
	case w.busy > s.now:
		w.state = writing
		s.own(written, m.ID, m.Incarnation, w.busy)
		s.release(s.setup.Costs.Rest + w.relay)
	case len(w.todo) == 0 || proc.paused:
		w.state = asleep
		proc.line = slices.Concat(w.todo, proc.line) // of one that is paused
		w.todo = nil
		s.release(s.setup.Costs.Rest + w.relay)
	case s.computes(w.todo[0]):
		s.own(turn, m.ID, m.Incarnation, s.now+s.setup.Costs.Handling)
		return
	default:
		first := w.todo[0]
		w.todo = w.todo[1:]
		s.worked, s.saving = s.cost(first), 0
		s.happen(first)
		s.spare = append(s.spare, first)
		s.done(m)
		return
	}
	w.relay = 0
}

// computes says whether the algorithm has to take its time for e first, which happens when its handler is
// done.
func (s *simulation) computes(e *event) bool {
	if s.setup.Costs.Handling == 0 || e.what != delivery || e.plane != trace.Data || e.computed {
		return false
	}
	e.computed = true
	return true
}

// cost is what e takes, but for what it leads to.
func (s *simulation) cost(e *event) time.Duration {
	if e.what != delivery {
		return s.setup.Costs.Timer
	}
	return s.setup.Costs.Receive + s.perBytes(e)
}

func (s *simulation) perBytes(e *event) time.Duration {
	return s.setup.Costs.Byte * time.Duration(e.bytes) / 1000
}

// release gives a processor back, once the bus has had it for so long.
func (s *simulation) release(relay time.Duration) {
	if relay > 0 {
		s.own(freed, algo.None, 0, s.now+relay)
		return
	}
	s.taken--
	s.dispatch()
}

// written is the instant at which a process has saved.
func (s *simulation) written(e *event) {
	if m := s.procs[e.from-1].running; m != nil && m.Incarnation == e.incarnation {
		s.procs[e.from-1].work.state = asleep
		s.rouse(m, true)
	}
}

// arrival is when e, which is sent now, can be handled.
func (s *simulation) arrival(e *event) time.Duration {
	costs := s.setup.Costs
	if costs == nil {
		return e.due
	}
	s.worked += costs.Send + s.perBytes(e)
	if costs.Processors > 0 {
		s.procs[e.from-1].work.relay += costs.Relay
	}
	return max(e.due, s.now+s.worked+costs.Transit)
}

// detain keeps a message until what was saved before it is on the disk.
func (s *simulation) detain(m *harness.Process, to algo.ID, out harness.Outgoing) {
	s.detained++
	if out.Msg != nil { // as it is now
		out.Msg = s.setup.Alg.Codec.Copy(out.Kind, out.Msg)
	}
	e := s.event()
	*e = event{what: departure, from: m.ID, incarnation: m.Incarnation, msg: parting{to: to, out: out}}
	s.queue.Push(s.now+s.worked+s.saving, e.class(), m.ID, e)
}

// depart is the instant at which such a message leaves, if its sender lives.
func (s *simulation) depart(e *event) {
	p := e.msg.(parting)
	s.detained--
	s.worked, s.saving = 0, 0
	if m := s.procs[e.from-1].running; m != nil && m.Incarnation == e.incarnation {
		s.Send(m, p.to, p.out)
	}
}
