package algo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// An Effect is one thing that an algorithm asked for during an event.
type Effect struct {
	Op    Op
	Peer  ID            // OpSend: the receiver; OpElected: the leader
	Msg   Message       // OpSend, OpSave
	Timer Timer         // OpSetTimer, OpCancelTimer
	After time.Duration // OpSetTimer; OpWrote: how long ago the write began
	Term  uint64        // OpElected
	Text  string        // OpLog
	Fine  bool          // OpWrote: the write was accepted
}

// An Op says what an effect asks for.
type Op uint8

// The effects.
const (
	OpSend Op = iota + 1
	OpSetTimer
	OpCancelTimer
	OpGranted
	OpElected
	OpSave
	OpLog
	OpWrote // the outcome of a write of the holder, of a Live process
)

// An Event is what is handed to an algorithm.
type Event struct {
	Type    EventType
	Peer    ID            // Receive: the sender; Suspect, Restore: whom; Do: the target
	Msg     Message       // Receive
	Timer   Timer         // Timeout
	Op      string        // Do
	Session Session       // Request
	Call    func(LiveEnv) // Happen
}

// An EventType names the method that an event calls.
type EventType uint8

// The events.
const (
	Start EventType = iota + 1
	Receive
	Timeout
	Request
	Release
	Elect
	Suspect
	Restore
	Do
	Happen   // a Live process tells what happened to it
	checking // of its invariant: no event, but code of the plugin's
)

// String names the event as the plugin knows it: the method and what it is given.
func (e Event) String() string {
	switch e.Type {
	case Start:
		return "Start"
	case Receive:
		return fmt.Sprintf("Receive of %s from %d", e.Msg.Kind(), e.Peer)
	case Timeout:
		return fmt.Sprintf("Timeout of %q", e.Timer)
	case Request:
		return "Request"
	case Release:
		return "Release"
	case Elect:
		return "Elect"
	case Suspect:
		return fmt.Sprintf("Suspect of %d", e.Peer)
	case Restore:
		return fmt.Sprintf("Restore of %d", e.Peer)
	case Do:
		return fmt.Sprintf("Do of %q", e.Op)
	case Happen:
		return "what it posted"
	case checking:
		return "Invariant"
	}
	return "its constructor"
}

// A Buffer collects effects. Steppers that never step at the same time may
// share one.
type Buffer struct {
	effects []Effect
	self    []Message
	packed  []byte

	apart atomic.Bool   // the code is in another process, which has a time limit of its own
	beat  atomic.Uint64 // goes up when code of a plugin is called, and when it returns: odd in between
	id    ID            // whose code
	event Event
}

// enter notes that the code of process id is called for the event that b has.
func (b *Buffer) enter(id ID, apart bool) {
	b.id = id
	b.apart.Store(apart)
	b.beat.Store(b.beat.Load() + 1)
}

func (b *Buffer) leave() { b.beat.Store(b.beat.Load() + 1) }

// Beat is odd while code of a plugin runs, and never comes twice. It may be called
// by any goroutine.
func (b *Buffer) Beat() uint64 { return b.beat.Load() }

// Apart says whether the code that runs, or ran last, is in another process, whose caller bounds the time
// that it takes. It may be called by any goroutine.
func (b *Buffer) Apart() bool { return b.apart.Load() }

// Running is the process whose code runs, or ran last, and for which event. It is
// for the goroutine of the Steppers, and for others when they hang.
func (b *Buffer) Running() (ID, Event) { return b.id, b.event }

// A Stepper drives one process: events in, effects out.
type Stepper struct {
	now       time.Duration
	buf       *Buffer
	proc      Process
	id        ID
	n         ID
	turn      int  // of envs, in turn, so that one of a past event can be told
	neighbors []ID // sorted; nil: everybody
	names     names
	checked   Checked
	mutex     Mutex
	elector   Elector
	timed     Timed
	monitor   Monitor
	guest     Guest
	apart     bool
	seed      uint64
	rng       *rand.Rand
	logged    int // what Logf has used up of MaxLog
	envs      [4]env
}

// maxSelf bounds the messages to oneself of one event: more are an endless
// loop in the plugin.
const maxSelf = 1 << 16

// NewStepper makes a process of a and the stepper that drives it. Seed is that
// of the process's own random source.
func NewStepper(a *Algorithm, c Config, seed uint64, buf *Buffer) *Stepper {
	buf.event = Event{}
	buf.enter(c.ID, a.Apart)
	var known names
	own := c
	if a.Spec.Needs.Anonymous {
		known = names{c.Ring, slices.Index(c.Ring, c.ID)}
		own = known.config(c)
	}
	p := a.New(own)
	buf.leave()
	s := &Stepper{proc: p, id: c.ID, n: ID(len(c.Peers)), names: known, buf: buf, apart: a.Apart,
		seed: seed}
	s.mutex, _ = p.(Mutex)
	s.elector, _ = p.(Elector)
	s.timed, _ = p.(Timed)
	s.monitor, _ = p.(Monitor)
	s.checked, _ = p.(Checked)
	if g, is := p.(Guest); is {
		s.guest = g
		if !g.Handles(Timeout) {
			s.timed = nil
		}
		if !g.Handles(Suspect) && !g.Handles(Restore) {
			s.monitor = nil
		}
	}
	if len(c.Neighbors) != len(c.Peers) {
		s.neighbors = slices.Clone(c.Neighbors)
		slices.Sort(s.neighbors)
	}
	return s
}

// Step feeds ev to the process at local time now and returns what it asked
// for, in order. The slice is reused by the next Step of any stepper that
// shares the buffer.
func (s *Stepper) Step(now time.Duration, ev Event) []Effect {
	s.now = now
	s.buf.effects = s.buf.effects[:0]
	s.buf.self = s.buf.self[:0]
	s.buf.event = ev
	s.buf.enter(s.id, s.apart)
	s.turn = (s.turn + 1) % len(s.envs)
	e := &s.envs[s.turn]
	e.Stepper, e.beat = s, s.buf.beat.Load()
	s.dispatch(e, &s.buf.event)
	for i := 0; i < len(s.buf.self); i++ {
		if i == maxSelf {
			breach("process %d sent itself %d messages in one event: an endless loop", s.id, i)
		}
		s.proc.Receive(e, s.names.of(s.id), s.buf.self[i])
	}
	s.buf.leave()
	return s.buf.effects
}

func (s *Stepper) dispatch(e *env, ev *Event) {
	switch ev.Type {
	case Start:
		if p, ok := s.proc.(Starter); ok {
			p.Start(e)
		}
	case Receive:
		s.proc.Receive(e, s.names.of(ev.Peer), ev.Msg)
	case Timeout:
		s.timed.Timeout(e, ev.Timer)
	case Request:
		s.mutex.Request(e)
	case Release:
		s.mutex.Release(e)
	case Elect:
		s.elector.Elect(e)
	case Suspect:
		s.monitor.Suspect(e, s.names.of(ev.Peer))
	case Restore:
		s.monitor.Restore(e, s.names.of(ev.Peer))
	case Happen:
		ev.Call(e)
	case Do:
		if s.Commanded() {
			s.proc.(Commanded).Do(e, ev.Op, s.names.of(ev.Peer))
			return
		}
		breach("process %d has no operation %q", s.id, ev.Op)
	}
}

// Monitors says whether the process listens to the failure detector itself.
func (s *Stepper) Monitors() bool { return s.monitor != nil }

// Timed says whether the process sets timers.
func (s *Stepper) Timed() bool { return s.timed != nil }

// Commanded says whether the process has operations of its own.
func (s *Stepper) Commanded() bool {
	_, ok := s.proc.(Commanded)
	return ok && (s.guest == nil || s.guest.Handles(Do))
}

// End says that the process is not needed any more: it has crashed, or its trial is over.
func (s *Stepper) End() {
	if s.guest != nil {
		s.guest.End()
	}
}

// Invariant is the process's own invariant; nil if it holds or none is stated.
func (s *Stepper) Invariant() error {
	if s.checked == nil {
		return nil
	}
	s.buf.event.Type = checking
	s.buf.enter(s.id, s.apart)
	err := s.checked.Invariant()
	s.buf.leave()
	return err
}

// Source is the process's own random source; nil until it first draws from it.
func (s *Stepper) Source() *rand.Rand { return s.rng }

// Redraw has the process draw from seed from now on, whatever it has drawn.
func (s *Stepper) Redraw(seed uint64) {
	s.seed = seed
	if s.rng != nil {
		*s.rng = *s.source()
	}
}

// Resume is for who has made the process of s another state of itself: the stepper is that of a process with
// the seed, which has drawn from its source what drawn has, nil if nothing, and has logged nothing.
func (s *Stepper) Resume(seed uint64, drawn *rand.Rand) { s.seed, s.rng, s.logged = seed, drawn, 0 }

func (s *Stepper) source() *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, s.seed^0x9e3779b97f4a7c15))
}

// Process is the process that the stepper drives.
func (s *Stepper) Process() Process { return s.proc }

// names are those by which a process of a ring knows the others, if it is anonymous: its
// own is 1, its successor's 2, and so on. The zero value: their IDs.
type names struct {
	ring []ID
	at   int // its place
}

// of is the name of p.
func (k names) of(p ID) ID {
	if k.ring == nil || p == None {
		return p
	}
	n := len(k.ring)
	return ID((slices.Index(k.ring, p)-k.at+n)%n + 1)
}

// who is the process of that name; what is no name stays as it is.
func (k names) who(name ID) ID {
	if k.ring == nil || name == None || int(name) > len(k.ring) {
		return name
	}
	return k.ring[(k.at+int(name)-1)%len(k.ring)]
}

// config is c in these names.
func (k names) config(c Config) Config {
	c.Neighbors = slices.Clone(c.Neighbors)
	for i, p := range c.Neighbors {
		c.Neighbors[i] = k.of(p)
	}
	c.ID, c.Ring, c.Leader, c.Holder = k.of(c.ID), c.Peers, k.of(c.Leader), k.of(c.Holder)
	return c
}

// An env is the Stepper as the process sees it, during one event.
type env struct {
	*Stepper
	beat uint64 // of the event
}

// valid panics if the event is over.
func (e *env) valid() {
	if e.buf.beat.Load() != e.beat {
		breach("process %d uses an Env after its event: an Env is valid until the method that got it "+
			"returns, and for no other goroutine", e.id)
	}
}

func (e *env) Now() time.Duration {
	e.valid()
	return e.now
}

func (e *env) Rand() *rand.Rand {
	e.valid()
	if e.rng == nil {
		e.rng = e.source()
	}
	return e.rng
}

func (e *env) Send(to ID, m Message) {
	e.valid()
	to = e.names.who(to)
	switch {
	case to == e.id:
		e.buf.self = append(e.buf.self, m)
		return
	case to == None || to > e.n:
		breach("process %d sends %s to %d: no such process", e.id, m.Kind(), to)
	case e.neighbors != nil:
		if _, ok := slices.BinarySearch(e.neighbors, to); !ok {
			breach("process %d sends %s to %d: not a neighbor", e.id, m.Kind(), to)
		}
	}
	f := e.effect(OpSend)
	f.Peer, f.Msg = to, m
}

func (e *env) SetTimer(t Timer, after time.Duration) {
	e.valid()
	if e.timed == nil {
		breach("process %d sets timer %q but has no Timeout", e.id, t)
	}
	f := e.effect(OpSetTimer)
	f.Timer, f.After = t, max(after, 0)
}

func (e *env) CancelTimer(t Timer) {
	e.valid()
	e.effect(OpCancelTimer).Timer = t
}

func (e *env) Session() Session {
	e.valid()
	return e.buf.event.Session
}

func (e *env) Granted() {
	e.valid()
	if e.mutex == nil {
		breach("process %d: Granted is for mutual exclusion", e.id)
	}
	e.effect(OpGranted)
}

func (e *env) Elected(leader ID, term uint64) {
	e.valid()
	if e.elector == nil {
		breach("process %d: Elected is for leader election", e.id)
	}
	f := e.effect(OpElected)
	f.Peer, f.Term = e.names.who(leader), term
}

func (e *env) Save(v Message) {
	e.valid()
	for i := range e.buf.effects { // what an event saves is one write, before anything that it sends after
		if f := &e.buf.effects[i]; f.Op == OpSave {
			f.Msg = v
			return
		}
	}
	e.effect(OpSave).Msg = v
}

func (e *env) Logf(format string, args ...any) {
	e.valid()
	text := Cut(fmt.Sprintf(format, args...))
	if e.logged += len(text) + lineCost; e.logged > MaxLog {
		breach("process %d writes too much with Logf: more than %d MiB, where each line counts %d bytes "+
			"beside its own", e.id, MaxLog>>20, lineCost)
	}
	e.effect(OpLog).Text = text
}

func (e *env) Wrote(began time.Duration, accepted bool) {
	e.valid()
	if e.mutex == nil {
		breach("process %d: Wrote is for mutual exclusion", e.id)
	}
	f := e.effect(OpWrote)
	f.After, f.Fine = began, accepted
}

// effect is the next effect, to be filled in where it is collected.
func (e *env) effect(op Op) *Effect {
	b := e.buf
	n := len(b.effects)
	if n == MaxEffects {
		breach("process %d asks for more than %d things in one event: an endless loop", e.id, MaxEffects)
	}
	if n < cap(b.effects) {
		b.effects = b.effects[:n+1]
	} else {
		b.effects = append(b.effects, Effect{})
	}
	f := &b.effects[n]
	*f = Effect{Op: op}
	return f
}
