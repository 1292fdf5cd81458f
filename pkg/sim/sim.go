// Package sim runs a trial in virtual time: one goroutine, one queue, one seed.
//
// The same plan gives the same records in the same order, on every run. Events
// of one instant are executed in a fixed order: control (crash, restart, cut,
// heal), deliveries by sender and send order, timers by process, commands of
// the application by process. No two processes share memory: a message that
// holds a pointer is copied as if it were encoded and decoded, and every message is
// counted with its encoded size.
package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// perInstant bounds the events of one instant for each process: an algorithm
// that sends forever over links without latency must not hang the simulator.
const perInstant = 10_000

// crowd bounds the messages on their way: an algorithm that doubles them must
// not eat the memory.
const crowd = 10_000_000

// Run executes the trial and hands every record to sink. It does not return if the
// plugin's code does not: see OnAbandon. To stop on the way and look, see New.
func Run(setup *harness.Setup, sink trace.Sink) harness.End {
	if setup.Alg.Subject {
		return (*subjects.Load())(setup, sink)
	}
	s := newSimulation(setup, sink)
	s.guarded(func() {
		s.begin()
		s.proceed(setup.TimeLimit)
	})
	return s.end
}

// subjects is what RunSubjects was given.
var subjects atomic.Pointer[func(*harness.Setup, trace.Sink) harness.End]

// RunSubjects has Run leave trials of libraries, which are no state machines, to f. A program
// that links libraries calls it before it runs trials.
func RunSubjects(f func(*harness.Setup, trace.Sink) harness.End) { subjects.Store(&f) }

// abandoned is what OnAbandon was given.
var abandoned atomic.Pointer[func(*harness.Setup, error)]

// OnAbandon says what to do about a trial whose plugin does not return to the
// simulator, or takes all memory: err says how. That code cannot be stopped, so f is
// to end the process. By default Run panics in another goroutine.
func OnAbandon(f func(setup *harness.Setup, err error)) { abandoned.Store(&f) }

// Abandon does what OnAbandon says about a trial.
func Abandon(setup *harness.Setup, err error) {
	if f := abandoned.Load(); f != nil {
		(*f)(setup, err)
	}
	panic(fmt.Errorf("%s, %d nodes, seed %d: %w", setup.Algorithm, setup.Nodes, setup.Seed, err))
}

func (s *simulation) abandon(err error) { Abandon(s.setup, err) }

type simulation struct {
	setup       *harness.Setup
	sink        trace.Sink
	coordinator *harness.Coordinator
	queue       harness.Queue[*event]
	spare       []*event // to be used again
	now         time.Duration
	cuts        link.Cuts
	overrides   link.Overrides
	procs       []process

	omissions []fault.Omission
	fitted    []uint64  // messages that each of them fits
	watched   [256]bool // kinds of messages of which the coordinator wants to know

	buf harness.Buffer

	watch     clock.Stopwatch
	measuring bool

	rec  trace.Record
	wire trace.Record // of messages: has no text

	inFlight  int64 // copies of algorithm messages on their way
	crowd     int64 // most of them
	timers    int   // of the algorithm, at live processes
	planned   int   // alarms of applications and perfect detectors
	inside    int   // processes in the critical section
	scheduled int   // instructions still to be carried out
	activity  uint64
	quietAt   uint64  // activity when the coordinator was last told of quiet, plus one
	quietIdle bool    // it was told then that nothing else is planned either
	current   algo.ID // whose event is being handled
	atInstant int     // events of the present instant
	redraws   []redraw

	// Where handling takes time:
	calls    []call        // that wait for a processor
	taken    int           // processors
	worked   time.Duration // what the present event has taken its process until now
	saving   time.Duration // and its disk
	detained int           // messages that wait for a disk

	end  harness.End
	over bool
	met  bool   // the guard knows the algorithm
	name string // of the trial, for messages that must say which one it was
}

// A redraw is a seed that draws follow from an instant on.
type redraw struct {
	seed uint64
	at   time.Duration
}

// Faults act on the simulation.
var _ fault.Executor = (*simulation)(nil)

// A process is one process of the algorithm and what outlives its crashes.
type process struct {
	running     *harness.Process // nil: down
	incarnation uint32
	upSince     time.Duration
	saved       algo.Message
	flows       [2]link.Table[link.Flow] // its side of its links, by plane and receiver
	paused      bool
	slow        time.Duration // what each event takes it
	at          *event        // what takes it its time now
	line        []*event      // what has come to it and waits, in the order in which it came
	work        worker
}

func newSimulation(setup *harness.Setup, sink trace.Sink) *simulation {
	s := &simulation{
		setup: setup, sink: sink, coordinator: harness.NewCoordinator(setup),
		procs: make([]process, setup.Nodes), crowd: crowd,
	}
	for _, p := range setup.Crashed {
		s.procs[p-1].upSince = -1
	}
	s.omissions = setup.Omissions()
	s.fitted = make([]uint64, len(s.omissions))
	for _, k := range s.coordinator.WatchedKinds() {
		s.watched[k] = true
	}
	return s
}

// guarded lets the plugin's code run and answers for what it does: a panic ends the
// trial.
func (s *simulation) guarded(run func()) {
	if s.name == "" {
		s.name = s.setup.Algorithm + ", " + strconv.Itoa(s.setup.Nodes) + " nodes, " +
			s.setup.Scenario.Kind() + ", seed " + strconv.FormatUint(s.setup.Seed, 10)
	}
	ward := guard.WatchTrial(&s.buf.Buffer, s.name, s.abandon)
	defer ward.Release()
	returns, over := false, s.over
	defer func() {
		if r := recover(); r != nil {
			s.fail(harness.Blame(s.current, r))
		} else if !returns {
			s.abandon(guard.Exited(&s.buf.Buffer))
		}
		if s.over && !over {
			s.tally()
		}
	}()
	run()
	returns = true
}

// tally adds to the end what is known only then.
func (s *simulation) tally() {
	for i := range s.procs {
		if m := s.procs[i].running; m != nil {
			m.End()
		}
	}
	s.end.Pending = s.inFlight // what the last event sent included
	s.end.Skipped, s.end.Toll = s.coordinator.Skipped(s.end.At), s.coordinator.Toll()
	for i, o := range s.omissions {
		s.end.Skipped += o.Missed(s.fitted[i])
	}
}

// proceed lets events happen up to the instant until, or the end of the trial if that
// comes first.
func (s *simulation) proceed(until time.Duration) {
	for s.more(until) {
		s.advance()
	}
}

// more says whether an event is to happen up to the instant until. If none ever is, or
// the time limit comes first, the trial is over.
func (s *simulation) more(until time.Duration) bool {
	switch limit := s.setup.TimeLimit; {
	case s.over:
		return false
	case s.queue.Len() == 0:
		s.finish(s.now, harness.Stuck)
		return false
	case s.queue.Next() <= min(until, limit):
		return true
	case until >= limit:
		s.finish(limit, harness.TimeLimit)
	}
	return false
}

// advance lets the next event happen, and says whether it is over: it may have to wait.
func (s *simulation) advance() (happened bool) {
	at, e := s.queue.Pop()
	if at > s.now {
		s.now, s.atInstant = at, 0
	}
	if s.atInstant++; s.atInstant > perInstant*(s.setup.Nodes+1) || s.inFlight > s.crowd {
		s.finish(s.now, harness.Livelock)
		return false
	}
	s.end.Events++
	if happened = s.execute(e); happened {
		s.spare = append(s.spare, e)
	}
	s.settle()
	return happened
}

// event is one to fill in: a used one, or of a new batch, whose events lie side
// by side.
func (s *simulation) event() *event {
	if len(s.spare) == 0 {
		batch := make([]event, min(64, 4*s.setup.Nodes))
		for i := range batch {
			s.spare = append(s.spare, &batch[i])
		}
	}
	e := s.spare[len(s.spare)-1]
	s.spare = s.spare[:len(s.spare)-1]
	return e
}

// begin starts the processes, puts the timeline into the queue, and tells the
// coordinator if all is quiet from the start.
func (s *simulation) begin() {
	timeline := s.coordinator.Timeline()
	for i := range s.procs {
		if s.procs[i].upSince >= 0 && !s.over {
			s.boot(algo.ID(i+1), 0)
		}
	}
	s.schedule(timeline)
	s.settle()
}

// boot starts the next incarnation of p, which was to be up at the instant due.
func (s *simulation) boot(p algo.ID, due time.Duration) {
	proc := &s.procs[p-1]
	proc.upSince, proc.flows, proc.slow = s.now, [2]link.Table[link.Flow]{}, 0
	s.worked, s.saving = 0, 0
	s.current = p
	m := harness.NewProcess(s.setup, s, p, proc.incarnation, proc.saved, &s.buf)
	proc.running, m.Due = m, due
	if proc.incarnation > 0 {
		m.Mounted = s.coordinator.Mounted(p, s.now)
	}
	if !s.met {
		s.met = true
		guard.Meet(m.Plugin(), s.setup.Algorithm)
	}
	for _, r := range s.redraws {
		m.Redraw(r.seed)
	}
	if s.setup.Costs != nil {
		proc.work.luck = harness.Derive(s.setup.Seed, "costs", uint64(p), uint64(proc.incarnation))
	}
	m.Start(s.now)
	if s.setup.Costs != nil {
		s.spend(m)
	}
	s.count(m, 1)
	s.activity += m.Fed
	s.check(m)
}

// count adds what m has pending to the totals, or takes it off.
func (s *simulation) count(m *harness.Process, sign int) {
	s.timers += sign * m.Timers
	s.planned += sign * m.Planned
	if m.Inside {
		s.inside += sign
	}
}

func (s *simulation) check(m *harness.Process) {
	if err := m.CheckInvariant(s.now); err != nil {
		s.fail(err)
	}
}

func (s *simulation) fail(err error) {
	s.finish(s.now, harness.Broken)
	s.end.Err = errors.Join(s.end.Err, err)
}

func (s *simulation) finish(at time.Duration, why harness.Reason) {
	if s.over {
		return
	}
	s.over = true
	s.end.At, s.end.Reason = at, why
}

// settle tells the coordinator when the network has fallen quiet.
func (s *simulation) settle() {
	for !s.over && s.inFlight == 0 && s.detained == 0 && s.timers == 0 && s.inside == 0 &&
		!s.queue.Due(s.now) {
		idle := s.planned == 0 && s.scheduled == 0 && !s.setup.Detector.Restless()
		if s.quietAt == s.activity+1 && (s.quietIdle || !idle) {
			return
		}
		s.quietAt, s.quietIdle = s.activity+1, idle
		s.instruct(s.coordinator.Quiet(s.now, s.activity, idle))
	}
}

// instruct carries out the coordinator's instructions, which it will overwrite.
func (s *simulation) instruct(list []harness.Instruction) {
	if len(list) > 0 {
		s.schedule(slices.Clone(list))
	}
}

// schedule carries out instructions: those of a later instant through the queue, finish at
// once.
func (s *simulation) schedule(list []harness.Instruction) {
	for k := range list {
		i := &list[k]
		if i.Finish() && i.At <= s.now {
			why := harness.Finished
			if s.coordinator.Stuck() {
				why = harness.Stuck
			}
			s.finish(s.now, why)
			return
		}
		if !i.Alarm() {
			s.scheduled++
		}
		at := max(i.At, s.now)
		e := s.event()
		*e = event{what: instruction, instr: i}
		if i.Inside() {
			e.to = i.Node
		}
		s.queue.Push(at, harness.ClassOf(i), i.Node, e)
	}
}

// execute lets e happen, and says whether it is over. To a process that is paused or
// slow one event happens after the other, later.
func (s *simulation) execute(e *event) bool {
	if e.to == algo.None {
		s.happen(e)
		return true
	}
	proc := &s.procs[e.to-1]
	switch {
	case e == proc.at && proc.paused: // it has had its time, and comes first at the resume
		proc.at, proc.line = nil, slices.Insert(proc.line, 0, e)
		return false
	case e == proc.at:
		proc.at = nil
		over := s.handle(e)
		s.next(proc)
		return over
	case !e.served && (proc.paused || proc.slow > 0 || proc.at != nil):
		proc.line = append(proc.line, e)
		s.next(proc)
		return false
	}
	return s.handle(e)
}

// next has the process take up what waits longest, if it is free to.
func (s *simulation) next(proc *process) {
	if proc.paused || proc.at != nil || len(proc.line) == 0 {
		return
	}
	e := proc.line[0]
	proc.at, proc.line = e, proc.line[1:]
	takes := proc.slow
	if e.served {
		takes = 0
	}
	e.served = true
	s.queue.Push(s.now+takes, e.class(), s.rank(e), e)
}

func (s *simulation) happen(e *event) {
	switch e.what {
	case delivery:
		s.deliver(e)
	case alarm:
		m := s.procs[e.to-1].running
		if m != nil && m.Incarnation == e.incarnation {
			before := s.enter(m)
			m.Alarm(s.now, e.alarm)
			s.leave(m, before)
		}
	case instruction:
		if !e.instr.Alarm() {
			s.scheduled--
			s.activity++ // also if its process is down: the scenario has moved on
		}
		s.obey(e.instr)
	case turn:
		s.turn(e)
	case freed:
		s.release(0)
	case written:
		s.written(e)
	case departure:
		s.depart(e)
	}
}

// enter begins an event at m. It takes off the totals what m has pending, and returns how many
// events its algorithm has handled until now.
func (s *simulation) enter(m *harness.Process) (fed uint64) {
	s.current = m.ID
	s.count(m, -1)
	return m.Fed
}

// leave ends that event.
func (s *simulation) leave(m *harness.Process, fed uint64) {
	s.count(m, 1)
	if m.Fed != fed {
		s.activity += m.Fed - fed
		s.check(m)
	}
}

func (s *simulation) obey(i *harness.Instruction) {
	var m *harness.Process
	if i.Node != algo.None {
		m = s.procs[i.Node-1].running
	}
	switch {
	case i.Finish():
		s.finish(s.now, harness.Finished)
	case i.Alarm():
		s.quietAt = 0
	case i.Strike():
		s.instruct(s.coordinator.Strike(s.now, *i))
	case i.OfLinks():
		s.change(i)
	case !i.Inside():
		i.Apply(s)
	case m != nil:
		before := s.enter(m)
		m.Obey(s.now, i)
		s.leave(m, before)
	}
}

// change is what happens to links now.
func (s *simulation) change(i *harness.Instruction) {
	r, e := i.Network(s.now)
	e.Apply(&s.cuts, &s.overrides)
	s.note(r)
}

// note records what the harness does now.
func (s *simulation) note(r trace.Record) {
	r.At = s.now
	s.rec = r
	s.record(&s.rec)
}

// Crash ends p.
func (s *simulation) Crash(p algo.ID, due time.Duration) {
	proc := &s.procs[p-1]
	if proc.running == nil {
		return
	}
	s.count(proc.running, -1)
	proc.running.End()
	proc.running, proc.upSince = nil, -1
	s.note(trace.Record{
		Type: trace.Crash, Process: uint32(p), Incarnation: proc.incarnation, Arg: uint64(due),
	})
	proc.incarnation++
	for _, e := range slices.Concat(proc.work.todo, proc.line) { // finds it down
		s.queue.Push(s.now, e.class(), s.rank(e), e)
	}
	proc.paused, proc.slow, proc.at, proc.line, proc.work = false, 0, nil, nil, worker{}
	s.tell(func(m *harness.Process) { m.Crashed(p, s.now) })
}

// Pause stops p: whatever comes to it waits.
func (s *simulation) Pause(p algo.ID) {
	proc := &s.procs[p-1]
	if proc.running == nil || proc.paused {
		return
	}
	proc.paused = true
	s.note(trace.Record{Type: trace.Pause, Process: uint32(p), Incarnation: proc.incarnation})
}

// Resume makes p continue with what waited.
func (s *simulation) Resume(p algo.ID) {
	proc := &s.procs[p-1]
	if !proc.paused {
		return
	}
	proc.paused = false
	s.note(trace.Record{Type: trace.Resume, Process: uint32(p), Incarnation: proc.incarnation})
	s.next(proc)
}

// Restart starts the next incarnation of p.
func (s *simulation) Restart(p algo.ID, due time.Duration) {
	proc := &s.procs[p-1]
	if proc.running != nil {
		return
	}
	proc.incarnation = max(proc.incarnation, 1) // it had a life before the trial
	s.boot(p, due)
	s.tell(func(m *harness.Process) { m.Restarted(p, s.now) })
	for i := range s.procs {
		if q := algo.ID(i + 1); s.procs[i].running == nil {
			s.count(proc.running, -1)
			proc.running.Crashed(q, s.now)
			s.count(proc.running, 1)
		}
	}
}

// Slow makes each event take p so long; 0: no time.
func (s *simulation) Slow(p algo.ID, by time.Duration) {
	s.procs[p-1].slow = by
	s.note(trace.Record{Type: trace.Slow, Process: uint32(p), Arg: uint64(by)})
}

// tell gives news to every live process's perfect detector.
func (s *simulation) tell(news func(*harness.Process)) {
	for i := range s.procs {
		if m := s.procs[i].running; m != nil {
			s.count(m, -1)
			news(m)
			s.count(m, 1)
		}
	}
}

// record hands r to the sink and to the coordinator, if it wants it.
func (s *simulation) record(r *trace.Record) {
	s.sink.Record(r)
	if s.coordinator.Watches(r.Type) {
		s.instruct(s.coordinator.Observe(r))
	}
}
