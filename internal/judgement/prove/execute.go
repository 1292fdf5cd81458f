package prove

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// An action is what happens in one step.
type action uint8

const (
	command  action = iota // the next step of an application
	delivery               // of a message
	repeated               // the same, and a second copy stays on its way
	loss                   // of a message
	expiry                 // of a timer
	crash
	restart
	notice    // the detector tells of a crash
	suspicion // and here of none
	cut       // of links
	heal      // of what is cut

	// No steps of their own:
	birth   // every process starts
	elapsed // time passes for a process, as another's timer expires
	trusted // a process that has crashed is back, and the detector may tell of its next crash
)

// A call is what happens to one process.
type call struct {
	do   action
	msg  uint32 // delivery
	at   int    // expiry: which of its timers; notice, suspicion: of whom, by ID - 1
	span time.Duration
}

// code is the call as a number below 2^32.
func (c call) code(e *book) uint32 {
	switch c.do {
	case delivery:
		return uint32(c.do)<<28 | c.msg
	case elapsed:
		return uint32(c.do)<<28 | e.span(c.span)
	}
	return uint32(c.do)<<28 | uint32(c.at)
}

// A deed is what follows from a call: the new state of the process, what it sends, and what it claims.
type deed struct {
	next     uint32 // local
	sends    []sending
	granted  bool
	asked    []uint8 // at the request that was granted
	elected  []leadership
	wrong    string // what the process broke, as far as it can be told without the others
	panicked bool
}

type sending struct {
	link uint16
	to   uint8 // by ID - 1
	msg  uint32
}

func appendNumber(b []byte, x uint64) []byte { return binary.AppendUvarint(b, x) }

// state is where the algorithm's part of process k lies in memory. What is no pointer has no state.
func (f *frame) state(s *algo.Stepper) (reflect.Type, reflect.Value) {
	v := reflect.ValueOf(s.Process())
	if v.Kind() != reflect.Pointer {
		return nil, v
	}
	return v.Type().Elem(), v
}

var random = reflect.TypeFor[*rand.Rand]()

// load makes the hands of process k what l was.
func (f *frame) load(k int, l *local) (*algo.Stepper, error) {
	s := f.hands[k]
	t, v := f.state(s)
	if t != nil {
		if err := f.flat.restore([]byte(l.process), t, v.UnsafePointer()); err != nil {
			return nil, err
		}
	}
	var drawn *rand.Rand
	err := f.flat.restore([]byte(l.source), random, reflect.ValueOf(&drawn).UnsafePointer())
	s.Resume(f.seed(k, l.life), drawn)
	return s, err
}

// store writes what the hands of process k are into l.
func (f *frame) store(s *algo.Stepper, l *local) error {
	if t, v := f.state(s); t != nil {
		b, err := f.flat.append(nil, t, v.UnsafePointer())
		if err != nil {
			return err
		}
		l.process, l.plain = string(b), ""
		if f.merges {
			f.flat.alike = true
			b, err = f.flat.append(b[:0], t, v.UnsafePointer())
			if f.flat.alike = false; err != nil {
				return err
			}
			if string(b) != l.process {
				l.plain = string(b)
			}
		}
	}
	drawn := s.Source()
	b, err := f.flat.append(nil, random, reflect.ValueOf(&drawn).UnsafePointer())
	l.source = string(b)
	return err
}

// An execution is a call carried out: what the process is after it, and what it asked for.
type execution struct {
	local
	event    algo.Event // of type 0: the algorithm was not called
	effects  []algo.Effect
	wrong    string
	panicked bool
}

// execute carries a call out at process k in state l, by its clock at the instant now. The effects are
// valid until the next call.
func (f *frame) execute(k int, l *local, c call, m *message, now time.Duration) (x execution, err error) {
	x.local = *l
	switch c.do {
	case crash:
		x.local = f.dead(l)
		return x, nil
	case elapsed:
		f.elapse(&x.local, c.span)
		return x, nil
	case trusted:
		x.doubts &^= 1 << c.at
		return x, nil
	case command:
		x.event = f.command(k, &x.local)
	case delivery:
		if l.known != nil {
			x.known = slices.Clone(l.known)
			for i := range x.known {
				x.known[i] = max(x.known[i], m.known[i])
			}
		}
		msg, _, err := f.setup.Alg.Codec.Decode([]byte(m.body))
		if err != nil {
			return x, err
		}
		x.event = algo.Event{Type: algo.Receive, Peer: algo.ID(m.from + 1), Msg: msg}
	case expiry:
		a := l.timers[c.at]
		x.event = algo.Event{Type: algo.Timeout, Timer: a.Name}
		x.timers = l.timers.Without(c.at)
		by := l.left(a)
		f.elapse(&x.local, by)
		if !f.timeless {
			now += by
		}
	case notice, suspicion:
		if c.do == notice {
			x.doubts |= 1 << c.at
		}
		x.event = f.suspect(algo.ID(c.at + 1))
	case birth:
		x.event = algo.Event{Type: algo.Start}
	case restart:
		x.up, x.life = true, l.life+1
		x.event = algo.Event{Type: algo.Start}
	}
	return x, f.feed(k, l, &x, c, now)
}

// suspect is the event of a suspicion, as a script has it.
func (f *frame) suspect(p algo.ID) algo.Event {
	if f.listen && !f.setup.Alg.Spec.Told {
		return algo.Event{Type: algo.Suspect, Peer: p}
	}
	return algo.Event{Type: algo.Elect}
}

// dead is what is left of a process that crashes.
func (f *frame) dead(l *local) local {
	return local{life: l.life, clock: l.clock, todo: l.todo, known: l.known, saved: l.saved}
}

// command is what the application of process k does next.
func (f *frame) command(k int, l *local) algo.Event {
	if l.inside {
		l.inside = false
		return algo.Event{Type: algo.Release}
	}
	l.todo--
	if !f.mutex {
		return algo.Event{Type: algo.Elect}
	}
	l.waiting = true
	if l.known != nil {
		l.known = slices.Clone(l.known)
		l.known[k]++
		l.asked = l.known
	}
	return algo.Event{Type: algo.Request, Session: f.session(k)}
}

// feed hands the event of x to process k, which was in state l, and has what concerns itself alone happen.
func (f *frame) feed(k int, l *local, x *execution, c call, now time.Duration) (err error) {
	defer func() {
		if r := recover(); r != nil {
			x.wrong, x.panicked = fmt.Sprintf("p%d panics: %s", k+1, harness.Panicked(r)), true
		}
	}()
	var s *algo.Stepper
	if x.event.Type == algo.Start {
		if s, err = f.start(k, x); err != nil {
			return err
		}
		f.hands[k] = s
	} else if s, err = f.load(k, l); err != nil {
		return err
	}
	x.effects = s.Step(now, x.event)
	base := x.clock
	if f.timeless {
		base = 0
	}
	for i := range x.effects {
		e := &x.effects[i]
		switch e.Op {
		case algo.OpSetTimer:
			x.timers = x.timers.Set(e.Timer, base+e.After)
		case algo.OpCancelTimer:
			x.timers = x.timers.Cancel(e.Timer)
		case algo.OpSave:
			b, err := f.setup.Alg.Codec.Encode(nil, e.Msg)
			if err != nil {
				return err
			}
			x.saved = string(b)
		}
	}
	if err := s.Invariant(); err != nil {
		x.wrong = fmt.Sprintf("p%d: invariant: %v", k+1, err)
	}
	return f.store(s, &x.local)
}

// start makes the hands of process k a new incarnation.
func (f *frame) start(k int, x *execution) (*algo.Stepper, error) {
	var saved algo.Message
	if x.saved != "" {
		m, _, err := f.setup.Alg.Codec.Decode([]byte(x.saved))
		if err != nil {
			return nil, err
		}
		saved = m
	}
	c := f.setup.Config(algo.ID(k+1), x.life, saved)
	x.leads.of = c.Leader
	return algo.NewStepper(f.setup.Alg, c, f.seed(k, x.life), &f.buf), nil
}

// unborn is a process before its start.
func (f *frame) unborn() *local {
	l := &local{up: true, todo: 1}
	if f.mutex {
		l.todo = uint8(f.system.Requests)
	}
	if f.setup.Alg.Spec.Promises.RequestOrder {
		l.known = make([]uint8, f.n)
	}
	return l
}
