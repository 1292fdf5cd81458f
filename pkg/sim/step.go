package sim

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Simulation is a trial in virtual time that stands still between its events, to be
// looked at. In whatever steps it is led to its end, its records and its end are those of
// Run. It is for one goroutine. To go back, begin anew: the same events come.
type Simulation struct{ s *simulation }

// New begins a trial: its processes have started, and nothing has happened to them. Sink
// gets the records, at once and during each step.
func New(setup *harness.Setup, sink trace.Sink) *Simulation {
	s := newSimulation(setup, sink)
	s.guarded(s.begin)
	return &Simulation{s}
}

// An Event is one thing that happens in a trial, or that is to happen.
type Event struct {
	At    time.Duration
	Class harness.Class // rank among the events of one instant
	// Process is whom it happens to; None if it is the harness's own, such as a cut.
	Process algo.ID
	// What is the kind of a message, or says in words what happens.
	What    string
	From    algo.ID      // of a message: its sender
	Message algo.Message // to be looked at only; nil: no message of the algorithm
	// Lost: the message does not reach its process, as things stand.
	Lost bool
	// Void: nothing comes of it, as things stand. The timer was cancelled or set again;
	// the process is down, or was at an instant of the message's way.
	Void bool
	// Waits: the process is paused, or busy with another event. The event comes again.
	Waits bool
}

// String is the event as a line of text, as "3ms p2: ELECTION from p1".
func (e Event) String() string {
	text := e.At.String() + " "
	if e.Process != algo.None {
		text += fmt.Sprintf("p%d: ", e.Process)
	}
	text += e.What
	if e.From != algo.None {
		text += fmt.Sprintf(" from p%d", e.From)
	}
	for _, mark := range []struct {
		is   bool
		text string
	}{{e.Lost, ", lost"}, {e.Void, ", void"}, {e.Waits, ", waits"}} {
		if mark.is {
			text += mark.text
		}
	}
	return text
}

// Step lets the next event happen and says which it was. It is false if there is none:
// the trial is over.
func (m *Simulation) Step() (e Event, ok bool) {
	s := m.s
	s.guarded(func() {
		if !s.more(s.setup.TimeLimit) {
			return
		}
		e, ok = s.describe(s.queue.Next(), s.queue.Peek()), true
		happened := s.advance()
		e.Waits = !happened && !s.over
	})
	return e, ok
}

// RunUntil lets all events up to the instant at happen.
func (m *Simulation) RunUntil(at time.Duration) {
	s := m.s
	s.guarded(func() {
		if s.proceed(at); !s.over {
			s.now = max(s.now, at)
		}
	})
}

// Advance lets the next n events happen, or fewer if the trial ends before.
func (m *Simulation) Advance(n int) {
	s := m.s
	s.guarded(func() {
		for ; n > 0 && s.more(s.setup.TimeLimit); n-- {
			s.advance()
		}
	})
}

// Redraw has everything that the algorithm and its messages' fates draw from now on follow
// from seed. What was drawn before stays: timers that run, messages on their way, and what
// the plan's own seed decides, as the instants of faults and requests. The sink may call it during a record.
func (m *Simulation) Redraw(seed uint64) {
	s := m.s
	s.redraws = append(s.redraws, redraw{seed, s.now})
	for i := range s.procs {
		p := &s.procs[i]
		if p.running != nil {
			p.running.Redraw(seed)
		}
		for plane := range p.flows {
			f := &p.flows[plane]
			for _, flow := range f.All() {
				flow.Redraw(seed, s.now)
			}
		}
	}
}

// Run leads the trial to its end.
func (m *Simulation) Run() harness.End {
	m.RunUntil(m.s.setup.TimeLimit)
	return m.s.end
}

// Stop ends the trial as if its time limit came now. What is over stays as it is.
func (m *Simulation) Stop() {
	if !m.s.over {
		m.s.finish(m.s.now, harness.TimeLimit)
		m.s.tally()
	}
}

// Now is the present instant: that of the last event, or where RunUntil has stopped.
func (m *Simulation) Now() time.Duration { return m.s.now }

// Done says whether the trial is over.
func (m *Simulation) Done() bool { return m.s.over }

// End is how the trial has ended; it means nothing before Done.
func (m *Simulation) End() harness.End { return m.s.end }

// A State is what there is to see of one process.
type State struct {
	Up, Paused  bool
	Incarnation uint32        // of a process that is down: of its next life
	Slow        time.Duration // what each event takes it
	Inside      bool          // in the critical section
	Leader      algo.ID       // whom it names
	// Variables are the algorithm's own, as text; Algorithm is what holds them, to be
	// looked at only. Both are nil while the process is down.
	Variables []harness.Variable
	Algorithm algo.Process
}

// Process is the present state of process p, from 1 to the plan's number of nodes.
func (m *Simulation) Process(p algo.ID) State {
	proc := &m.s.procs[p-1]
	state := State{Paused: proc.paused, Incarnation: proc.incarnation, Slow: proc.slow}
	if run := proc.running; run != nil {
		state.Up, state.Inside, state.Leader = true, run.Inside, run.Leader
		state.Variables, state.Algorithm = run.State(), run.Plugin()
	}
	return state
}

// Pending are the events that are to happen as things stand, in their order: what waits
// at processes that are paused or slow comes first, and where handling takes time, last.
func (m *Simulation) Pending() (list []Event) {
	s := m.s
	for i := range s.procs {
		for _, e := range s.procs[i].line {
			waiting := s.describe(s.now, e)
			waiting.Waits = true
			list = append(list, waiting)
		}
	}
	for at, e := range s.queue.All() {
		list = append(list, s.describe(at, e))
	}
	for i := range s.procs {
		for _, e := range s.procs[i].work.waiting() {
			waiting := s.describe(s.now, e)
			waiting.Waits = true
			list = append(list, waiting)
		}
	}
	return list
}

// describe shows e, which is to happen at the instant at.
func (s *simulation) describe(at time.Duration, e *event) Event {
	d := Event{At: at, Class: e.class(), Process: e.to}
	switch e.what {
	case delivery:
		proc := &s.procs[e.to-1]
		d.From, d.Message, d.What = e.from, e.msg, "heartbeat"
		if e.msg != nil {
			d.What = e.msg.Kind()
		}
		d.Lost = e.omitted || e.lost || s.cuts.Severed(uint32(e.from), uint32(e.to), e.sent, e.due)
		d.Void = !d.Lost && (proc.running == nil || e.sent < proc.upSince)
	case alarm:
		d.Void = true
		if m := s.procs[e.to-1].running; m != nil && m.Incarnation == e.incarnation {
			var counts bool
			d.What, counts = m.About(e.alarm)
			d.Void = !counts
		} else {
			d.What = "alarm of a former life"
		}
	case instruction:
		i := e.instr
		d.Process, d.What = i.Node, i.Do
		if len(i.Groups)+len(i.Links) > 0 {
			d.What += " " + link.Change{Groups: i.Groups, Links: i.Links}.String()
		}
		d.Void = i.Inside() && s.procs[i.Node-1].running == nil
	case turn:
		if todo := s.procs[e.from-1].work.todo; len(todo) > 0 {
			return s.describe(at, todo[0])
		}
		d.Process, d.What = e.from, "has nothing more to do"
	case freed:
		d.What = "a processor is free"
	case written:
		d.Process, d.What = e.from, "has saved"
	case departure:
		d.Process, d.What = e.from, "sends what waited for the disk"
	}
	return d
}
