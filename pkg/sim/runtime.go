package sim

import (
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The simulation is the runtime of its processes.
var _ harness.Runtime = (*simulation)(nil)

// flow is the sender's side of the link from m to another process.
func (s *simulation) flow(m *harness.Process, plane uint8, to algo.ID) *link.Flow {
	f, known := s.procs[m.ID-1].flows[plane].At(uint64(to))
	if !known {
		*f = s.fresh(m, plane, to)
	}
	return f
}

// fresh is the side of m of a link over which it has sent nothing yet.
func (s *simulation) fresh(m *harness.Process, plane uint8, to algo.ID) link.Flow {
	f := s.setup.Network.Flow(plane, uint32(m.ID), m.Incarnation, uint32(to))
	for _, r := range s.redraws {
		f.Redraw(r.seed, r.at)
	}
	return f
}

// Send decides the message's fate and puts its copies into the queue. Lost
// copies go there as well: they are accounted for when they would be due.
func (s *simulation) Send(m *harness.Process, to algo.ID, out harness.Outgoing) {
	if s.saving > 0 {
		s.detain(m, to, out)
		return
	}
	e := s.event()
	*e = event{
		what: delivery, from: m.ID, to: to, incarnation: m.Incarnation, sent: s.now,
		plane: out.Plane, kind: out.Kind, depth: out.Depth, bytes: uint32(out.Bytes),
	}
	codec := s.setup.Alg.Codec
	if out.Msg != nil {
		e.msg = codec.Copy(out.Kind, out.Msg)
	}
	fate := s.setup.Network.Send(s.flow(m, out.Plane, to), s.now, out.Bytes,
		s.overrides.On(uint32(m.ID), uint32(to), s.now))
	e.seq, e.due, e.held, e.lost = fate.Seq, fate.Due, fate.Held, fate.Lost
	for i := range s.omissions {
		if o := &s.omissions[i]; o.Fits(m.ID, out.Plane, out.Kind, s.now) {
			s.fitted[i]++
			e.omitted = e.omitted || o.Loses(s.fitted[i])
		}
	}
	s.message(trace.Send, e)
	s.post(e)
	if fate.Duplicated {
		second := s.event()
		*second = *e
		second.copy, second.due, second.held, second.lost = 1, fate.CopyDue, fate.CopyHeld, fate.CopyLost
		if out.Msg != nil {
			second.msg = codec.Copy(out.Kind, out.Msg)
		}
		s.message(trace.Duplicate, second)
		s.post(second)
	}
}

func (s *simulation) post(e *event) {
	if e.plane == trace.Data {
		s.inFlight++
	}
	s.queue.Push(s.arrival(e), harness.Delivery, s.rank(e), e)
}

// rank is the place of an event among those of its instant and class.
func (s *simulation) rank(e *event) algo.ID {
	switch {
	case e.what == instruction:
		return e.instr.Node
	case e.what == alarm:
		return e.to
	case s.setup.Descending:
		return algo.ID(s.setup.Nodes+1) - e.from
	}
	return e.from
}

// message records what happens to the copy e now. Sending is recorded at the
// sender, everything else at the receiver.
func (s *simulation) message(t trace.Type, e *event) {
	r := &s.wire
	r.At, r.Type, r.Process, r.Peer = s.now, t, uint32(e.to), uint32(e.from)
	if t == trace.Send || t == trace.Duplicate {
		r.Process, r.Peer = uint32(e.from), uint32(e.to)
	}
	r.Incarnation, r.Depth, r.Bytes = e.incarnation, e.depth, e.bytes
	r.Sent, r.Due, r.Seq = e.sent, e.due, e.seq
	r.Plane, r.Kind, r.Copy = e.plane, e.kind, e.copy
	r.Arg, r.Omitted = 0, false
	switch t {
	case trace.Lose:
		r.Arg = e.cause()
	case trace.Send, trace.Duplicate:
		r.Arg, r.Omitted = uint64(e.held), e.omitted
	}
	s.sink.Record(r)
	if s.watched[e.kind] && e.plane == trace.Data && s.coordinator.Watches(t) {
		s.instruct(s.coordinator.Observe(r))
	}
}

// deliver is the instant at which a copy is due.
func (s *simulation) deliver(e *event) {
	if e.plane == trace.Data {
		s.inFlight--
		s.activity++
	}
	proc := &s.procs[e.to-1]
	switch {
	case e.omitted, e.lost,
		!s.cuts.Whole() && s.cuts.Severed(uint32(e.from), uint32(e.to), e.sent, e.due):
		s.message(trace.Lose, e)
	case proc.running == nil || e.sent < proc.upSince: // down at an instant of its way
		s.message(trace.Undelivered, e)
	default:
		s.message(trace.Deliver, e)
		m := proc.running
		before := s.enter(m)
		m.Deliver(s.now, e.from, e.plane, e.kind, e.msg, e.depth)
		s.leave(m, before)
	}
}

// Alarm puts an alarm of m into the queue.
func (s *simulation) Alarm(m *harness.Process, at time.Duration, a harness.Alarm) {
	e := s.event()
	*e = event{what: alarm, to: m.ID, incarnation: m.Incarnation, alarm: a}
	s.queue.Push(max(at, s.now), a.Class(), m.ID, e)
}

// Record hands a record of m on.
func (s *simulation) Record(_ *harness.Process, r *trace.Record) { s.record(r) }

// Save keeps a message as it is now: later changes of what it refers to do not reach
// it.
func (s *simulation) Save(m *harness.Process, packed []byte, fate uint32) {
	if fate == trace.Kept {
		saved, _, err := s.setup.Alg.Codec.Decode(packed)
		if err != nil {
			panic(err) // what was encoded a moment ago
		}
		s.procs[m.ID-1].saved = saved
	}
	s.note(trace.Record{Type: trace.Save, Process: uint32(m.ID), Peer: fate, Incarnation: m.Incarnation,
		Text: string(packed)})
	if s.setup.Costs != nil && s.saving == 0 { // what one event saves is one write
		s.saving = s.procs[m.ID-1].work.draw(&s.setup.Costs.Save)
	}
}

// sampled is one in how many events is measured, if any are: reading the clock of processors takes as
// long as some events.
const sampled = 512

// stopwatch is of what a thread uses.
var stopwatch = sync.OnceValue(func() clock.Stopwatch { return *clock.NewStopwatch(true) })

// Handling begins to measure one in so many events; which, depends on the seed.
func (s *simulation) Handling(*harness.Process) {
	h := s.setup.Handling
	if h == nil {
		return
	}
	if h.Events++; (h.Events+s.setup.Seed)%sampled == 0 {
		if s.watch, s.measuring = stopwatch(), true; s.setup.Alg.Apart {
			s.watch, h.Passed = *clock.NewTimer(), true
		}
		s.watch.Start()
	}
}

// Handled is now: in virtual time a handler takes none.
func (s *simulation) Handled(_ *harness.Process, now time.Duration) time.Duration {
	if s.measuring {
		s.measuring = false
		s.setup.Handling.Sampled++
		s.setup.Handling.CPU += s.watch.Stop()
	}
	return now
}

// Done tells the coordinator that m's application has finished.
func (s *simulation) Done(m *harness.Process) {
	s.note(trace.Record{Type: trace.Done, Process: uint32(m.ID), Incarnation: m.Incarnation})
	s.instruct(s.coordinator.Done(m.ID))
}
