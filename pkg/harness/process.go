package harness

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Runtime is what an executor provides to its processes.
type Runtime interface {
	// Send hands a message to the network, which decides its fate.
	Send(m *Process, to algo.ID, msg Outgoing)
	// Alarm asks for m.Alarm(a) at the instant at. Alarms are never taken back:
	// m drops those that no longer count.
	Alarm(m *Process, at time.Duration, a Alarm)
	// Record notes what happened to m now. The record is the caller's again
	// when Record returns.
	Record(m *Process, r *trace.Record)
	// Save keeps packed, an encoded message, for m's next incarnation, if its fate is trace.Kept, and records
	// the write in any case. The bytes are the caller's again when Save returns.
	Save(m *Process, packed []byte, fate uint32)
	// Done says that m's application has had all its entries.
	Done(m *Process)
	// Handling is right before m's algorithm handles an event that happens now, and Handled
	// right after it. Handled returns when what the algorithm asked for happens.
	Handling(m *Process)
	Handled(m *Process, now time.Duration) time.Duration
}

// An Outgoing is a message on its way to the network.
type Outgoing struct {
	Msg   algo.Message // nil: a heartbeat
	Bytes int          // of Msg encoded
	Kind  uint8
	Plane uint8
	Depth uint32
}

// Heartbeat is the kind of the detector's own messages on its plane.
const Heartbeat = 255

// IsHeartbeat says whether the record of a message is of one that is the detector's
// own, which no algorithm sees.
func IsHeartbeat(r *trace.Record) bool { return r.Plane == trace.Detection && r.Kind == Heartbeat }

// An Alarm names why a process wants to be woken.
type Alarm struct {
	Slot uint16 // what for: one of the slots below, or an algorithm timer
	Gen  uint32 // of the timer: an alarm of an older generation is void
	Arg  uint32 // the process that a suspicion is about
}

// The slots of alarms.
const (
	slotRelease = iota // the application leaves the critical section
	slotRequest        // the application asks for it
	slotBeat           // the detector sends heartbeats
	slotWatch          // the detector looks for silent processes
	slotSuspect        // the perfect detector suspects Arg
	slotRestore        // the perfect detector trusts Arg again
	slotElect          // the process named a leader that was suspected already
	slotWritten        // the process's write is done
	slotTimers         // from here on: timers of the algorithm
)

// Class is the alarm's rank among the events of one instant: commands of the
// application come last.
func (a Alarm) Class() Class {
	if a.Slot <= slotRequest {
		return Application
	}
	return TimerExpiry
}

// planned says whether an alarm, once asked for, will change something.
func (a Alarm) planned() bool {
	return a.Slot < slotTimers && a.Slot != slotBeat && a.Slot != slotWatch
}

// Fixed says whether the instant of the alarm does not move with the event that asks
// for it: an arrival of open load, a crash and its notice, the phase of heartbeats.
func (a Alarm) Fixed(s *Setup) bool {
	return a.Slot == slotRequest && s.load != nil && s.load.open ||
		a.Slot >= slotBeat && a.Slot <= slotRestore
}

// A Process is one process of the algorithm with its application and its
// failure detector. An executor calls its methods one at a time, with the
// instant of the event.
type Process struct {
	ID          algo.ID
	Incarnation uint32
	// Due is the instant at which a later incarnation was to be up.
	Due time.Duration
	// Mounted is what is wrong with the disk of a later incarnation when it starts; nil: nothing.
	Mounted *Instruction
	// Timers is how many timers of the algorithm are pending, and whether a write is.
	Timers int
	// Planned is how many alarms of the application and of the perfect detector
	// are pending.
	Planned int
	// Inside is true in the critical section.
	Inside bool
	// Fed is how many events the algorithm has handled.
	Fed uint64
	// Leader is the process that this one names.
	Leader algo.ID

	depth   uint32
	setup   *Setup
	runtime Runtime
	step    *algo.Stepper
	buf     *Buffer
	clock   clock
	timers  []timer
	app     application
	det     detector
	// suspects are whom the detector suspects at present.
	suspects []algo.ID
	doubting bool // it will look at the named leader again
	disk     disk
	ailment  algo.Ailment
	unsound  bool // its invariant has not held, beyond the model
}

// A Buffer is what processes that never run at the same time may share.
type Buffer struct {
	algo.Buffer
	rec trace.Record
}

type timer struct {
	name  algo.Timer
	due   time.Duration // what the process's clock will have advanced by then
	gen   uint32
	armed bool
}

// NewProcess makes process id.
func NewProcess(s *Setup, w Runtime, id algo.ID, incarnation uint32, saved algo.Message,
	buf *Buffer) *Process {
	c := s.Config(id, incarnation, saved)
	m := &Process{
		ID: id, Incarnation: incarnation, Leader: c.Leader, setup: s, runtime: w, buf: buf,
		step: s.stepper(c, &buf.Buffer), det: s.Detector.watch().create(s),
	}
	m.app.init(m)
	return m
}

// stepper makes the process that c is about, with a random source of its own.
func (s *Setup) stepper(c algo.Config, buf *algo.Buffer) *algo.Stepper {
	seed := Derive(s.Seed, "algorithm "+s.Label, uint64(c.ID), uint64(c.Incarnation))
	return algo.NewStepper(s.Alg, c, seed, buf)
}

// End is the end of its life, at a crash or with the trial: nothing happens to it any more.
func (m *Process) End() { m.step.End() }

// Redraw has the algorithm draw from seed from now on, whatever it has drawn.
func (m *Process) Redraw(seed uint64) {
	m.step.Redraw(Derive(seed, "algorithm", uint64(m.ID), uint64(m.Incarnation)))
}

// Start begins the process's life at now.
func (m *Process) Start(now time.Duration) {
	m.buf.rec = trace.Record{At: now, Type: trace.Up, Arg: uint64(m.Due)}
	m.record()
	if m.Mounted != nil {
		m.Obey(now, m.Mounted)
	}
	now = m.feed(now, algo.Event{Type: algo.Start})
	m.app.start(m, now)
	m.det.start(m, now)
}

// Deliver hands a message to the process. Depth is the message's.
func (m *Process) Deliver(now time.Duration, from algo.ID, plane, kind uint8, msg algo.Message,
	depth uint32) {
	if plane == trace.Detection && kind == Heartbeat {
		m.det.heard(m, now, from)
		return
	}
	if m.disk.writing {
		msg = m.setup.Alg.Codec.Copy(kind, msg)
		m.disk.hold(algo.Event{Type: algo.Receive, Peer: from, Msg: msg}, depth)
		return
	}
	m.depth = max(m.depth, depth)
	m.feed(now, algo.Event{Type: algo.Receive, Peer: from, Msg: msg})
}

// Alarm is the alarm a that the process has asked for.
func (m *Process) Alarm(now time.Duration, a Alarm) {
	if a.planned() {
		m.Planned--
	}
	switch a.Slot {
	case slotRelease:
		m.app.release(m, now)
	case slotRequest:
		m.app.arrival(m, now)
	case slotBeat:
		m.det.beat(m, now, a.Gen)
	case slotWatch:
		m.det.watch(m, now, a.Gen)
	case slotSuspect:
		m.Suspect(now, algo.ID(a.Arg), false)
	case slotRestore:
		m.restore(now, algo.ID(a.Arg))
	case slotElect:
		m.doubting = false
		if slices.Contains(m.suspects, m.Leader) {
			m.Elect(now)
		}
	case slotWritten:
		if m.disk.writing && m.disk.gen == a.Gen {
			m.written(now, trace.Kept)
		}
	default:
		t := &m.timers[a.Slot-slotTimers]
		switch {
		case !t.armed || t.gen != a.Gen:
		case m.disk.writing:
			m.disk.expired = append(m.disk.expired, a)
		default:
			t.armed = false
			m.Timers--
			m.buf.rec = trace.Record{At: now, Type: trace.Timeout, Text: string(t.name)}
			m.record()
			m.feed(now, algo.Event{Type: algo.Timeout, Timer: t.name})
		}
	}
}

// Elect makes the process an initiator of an election.
func (m *Process) Elect(now time.Duration) {
	m.note(now, trace.Elect, algo.None, 0)
	m.feed(now, algo.Event{Type: algo.Elect})
}

// Suspect tells the process that p is gone; None: the leader of the start. An elector that does not listen
// to a detector itself becomes an initiator if p is the leader that it named, or in any case if certain,
// which a script's suspicion is. So does one whose Spec sets Told.
func (m *Process) Suspect(now time.Duration, p algo.ID, certain bool) {
	if p == algo.None {
		p = m.setup.Leader
	}
	m.note(now, trace.Suspect, p, 0)
	if !certain && !slices.Contains(m.suspects, p) { // a script's suspicion is of that instant
		m.suspects = append(m.suspects, p)
	}
	elector := m.setup.Alg.Problem == algo.Election
	switch {
	case m.step.Monitors() && !(certain && m.setup.Alg.Spec.Told):
		m.feed(now, algo.Event{Type: algo.Suspect, Peer: p})
	case elector && (certain || m.Leader == p):
		m.Elect(now)
	}
}

// restore withdraws a suspicion. An elector that does not listen to a detector
// looks for a leader anew, so that two halves find one again.
func (m *Process) restore(now time.Duration, p algo.ID) {
	m.note(now, trace.Restore, p, 0)
	m.suspects = slices.DeleteFunc(m.suspects, func(q algo.ID) bool { return q == p })
	switch {
	case m.step.Monitors():
		m.feed(now, algo.Event{Type: algo.Restore, Peer: p})
	case m.setup.Alg.Problem == algo.Election:
		m.Elect(now)
	}
}

// Do gives the process an operation of its algorithm's own.
func (m *Process) Do(now time.Duration, op string, target algo.ID) {
	m.buf.rec = trace.Record{At: now, Type: trace.Do, Peer: uint32(target), Text: op}
	m.record()
	m.feed(now, algo.Event{Type: algo.Do, Op: op, Peer: target})
}

// Happened is what a Live process has posted.
func (m *Process) Happened(now time.Duration, f func(algo.LiveEnv)) {
	m.feed(now, algo.Event{Type: algo.Happen, Call: f})
}

// ailing is the process of a system, whose machine has the faults of disk and clock itself; nil: it is
// none, and the harness makes it believe them.
func (m *Process) ailing() algo.Ailing {
	a, _ := m.step.Process().(algo.Ailing)
	return a
}

// ail has the machine of the process be in the state that change makes of the present one.
func (m *Process) ail(a algo.Ailing, change func(*algo.Ailment)) {
	change(&m.ailment)
	a.Ail(m.ailment)
}

// Throttle has the process get that share of a processor from now on; 0: all that it wants.
func (m *Process) Throttle(_ time.Duration, share float64) {
	if a := m.ailing(); a != nil {
		m.ail(a, func(x *algo.Ailment) { x.CPU = share })
	}
}

// ErrInvariant is the error of a process whose own invariant does not hold.
var ErrInvariant = errors.New("invariant")

// CheckInvariant is an error if the process's own invariant does not hold. It is what the author
// proves of the model. So beyond the model a breach is a finding: it is recorded, once, and the
// trial continues.
func (m *Process) CheckInvariant(now time.Duration) error {
	if m.unsound {
		return nil
	}
	err := m.step.Invariant()
	switch {
	case err == nil:
		return nil
	case m.setup.InModel:
		return fmt.Errorf("process %d: %w: %w", m.ID, ErrInvariant, err)
	}
	m.unsound = true
	m.buf.rec = trace.Record{At: now, Type: trace.Unsound, Text: algo.Cut(err.Error())}
	m.record()
	return nil
}

// Plugin is the algorithm's process, for tests.
func (m *Process) Plugin() algo.Process { return m.step.Process() }

// alarm asks the runtime for a and keeps count.
func (m *Process) alarm(at time.Duration, a Alarm) {
	if a.planned() {
		m.Planned++
	}
	m.runtime.Alarm(m, at, a)
}

// feed hands ev to the algorithm and carries out what it asks for. It returns when that
// happened.
func (m *Process) feed(now time.Duration, ev algo.Event) time.Duration {
	if m.disk.writing {
		m.disk.hold(ev, m.depth)
		return now
	}
	m.Fed++
	m.runtime.Handling(m)
	effects := m.step.Step(m.clock.shows(now), ev)
	done := m.runtime.Handled(m, now)
	if m.setup.Watch != nil {
		m.setup.Watch(now, m, ev, effects)
	}
	m.carryOut(done, effects)
	return done
}

// carryOut has happen what the algorithm asks for, up to a write that is not done at once.
func (m *Process) carryOut(now time.Duration, effects []algo.Effect) {
	for i := range effects {
		e := &effects[i]
		switch e.Op {
		case algo.OpSend:
			m.send(e.Peer, e.Msg)
		case algo.OpSetTimer:
			m.setTimer(now, e.Timer, e.After)
		case algo.OpCancelTimer:
			if t, _ := m.timer(e.Timer); t.armed {
				t.armed = false
				m.Timers--
			}
		case algo.OpGranted:
			m.app.granted(m, now)
		case algo.OpElected:
			m.elected(now, e.Peer, e.Term)
		case algo.OpSave:
			kind, _ := m.setup.Alg.Weigh(m.ID, "saves", e.Msg)
			if !m.save(now, m.buf.Pack(m.setup.Alg, kind, e.Msg)) {
				m.disk.rest = m.later(effects[i+1:])
				return
			}
		case algo.OpLog:
			m.buf.rec = trace.Record{At: now, Type: trace.Log, Text: e.Text}
			m.record()
		case algo.OpWrote:
			t := trace.Unwritten
			if e.Fine {
				t = trace.Written
			}
			m.note(now, t, algo.None, uint64(now-e.After))
		}
	}
}

// elected notes whom the process names. One that is suspected already will not
// be suspected again, so the elector is told that it is no leader: not before
// the detector had its time to see that the named one is back.
func (m *Process) elected(now time.Duration, leader algo.ID, term uint64) {
	if m.Leader = leader; int(leader) > m.setup.Nodes { // a breach of agreement, which the judge sees
		m.Leader = algo.None
	}
	m.note(now, trace.Elected, leader, term)
	m.det.follow(m, now)
	if !m.doubting && !m.step.Monitors() && slices.Contains(m.suspects, leader) {
		m.doubting = true
		d := &m.setup.Detector
		m.alarm(now+d.Return(), Alarm{Slot: slotElect})
	}
}

func (m *Process) send(to algo.ID, msg algo.Message) {
	kind, bytes := m.setup.Alg.Weigh(m.ID, "sends", msg)
	out := Outgoing{Msg: msg, Bytes: bytes, Kind: kind, Plane: trace.Data, Depth: m.depth + 1}
	if m.setup.Alg.Auxiliary(kind) {
		out.Plane, out.Depth = trace.Detection, m.depth
	}
	m.runtime.Send(m, to, out)
}

func (m *Process) setTimer(now time.Duration, name algo.Timer, after time.Duration) {
	t, slot := m.timer(name)
	t.gen++
	if !t.armed {
		t.armed = true
		m.Timers++
	}
	t.due = m.clock.advance(now) + after
	m.alarm(m.clock.when(t.due), Alarm{Slot: slot, Gen: t.gen})
}

func (m *Process) timer(name algo.Timer) (*timer, uint16) {
	for i := range m.timers {
		if m.timers[i].name == name {
			return &m.timers[i], uint16(slotTimers + i)
		}
	}
	if len(m.timers) == algo.MaxTimers {
		panic(algo.TooManyTimers(m.ID))
	}
	m.timers = append(m.timers, timer{name: name})
	return &m.timers[len(m.timers)-1], uint16(slotTimers + len(m.timers) - 1)
}

func (m *Process) note(now time.Duration, t trace.Type, peer algo.ID, arg uint64) {
	m.buf.rec = trace.Record{At: now, Type: t, Peer: uint32(peer), Arg: arg}
	m.record()
}

func (m *Process) record() {
	m.buf.rec.Process, m.buf.rec.Incarnation = uint32(m.ID), m.Incarnation
	m.buf.rec.Depth = m.depth
	m.runtime.Record(m, &m.buf.rec)
}

// Obey carries out an instruction that is about this process.
func (m *Process) Obey(now time.Duration, i *Instruction) {
	if i.Recorded() {
		m.buf.rec = trace.Record{At: now, Type: trace.Fault, Text: i.Text()}
		m.record()
	}
	i.Obey(m, now)
}
