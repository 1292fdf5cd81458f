package algo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// puppet is a process that does what the test says. It has every method that a
// process may have, but for those of Mutex and Elector.
type puppet struct {
	Config
	on        func(env Env, what string, who ID, m Message)
	invariant error
}

func (p *puppet) Receive(env Env, from ID, m Message) { p.on(env, "receive", from, m) }
func (p *puppet) Start(env Env)                       { p.on(env, "start", None, nil) }
func (p *puppet) Timeout(env Env, t Timer)            { p.on(env, "timeout "+string(t), None, nil) }
func (p *puppet) Suspect(env Env, who ID)             { p.on(env, "suspect", who, nil) }
func (p *puppet) Restore(env Env, who ID)             { p.on(env, "restore", who, nil) }
func (p *puppet) Do(env Env, op string, target ID)    { p.on(env, "do "+op, target, nil) }
func (p *puppet) Invariant() error                    { return p.invariant }

type puppetMutex struct{ puppet }

func (p *puppetMutex) Request(env Env) { p.on(env, "request", None, nil) }
func (p *puppetMutex) Release(env Env) { p.on(env, "release", None, nil) }

type puppetElector struct{ puppet }

func (p *puppetElector) Elect(env Env) { p.on(env, "elect", None, nil) }

// bare has the required methods and no others.
type bare struct{ on func(env Env) }

func (p *bare) Receive(env Env, _ ID, _ Message) { p.on(env) }
func (p *bare) Request(env Env)                  { p.on(env) }
func (p *bare) Release(env Env)                  { p.on(env) }

type action func(env Env, what string, who ID, m Message)

// at is the configuration of process 2 of five on a complete graph.
func at(neighbors ...ID) Config {
	peers := []ID{1, 2, 3, 4, 5}
	if neighbors == nil {
		neighbors = peers
	}
	return Config{ID: 2, Peers: peers, Neighbors: neighbors}
}

func mutexStepper(c Config, on action) *Stepper {
	a := &Algorithm{mutex: func(c Config) Mutex { return &puppetMutex{puppet{Config: c, on: on}} }}
	return NewStepper(a, c, 1, &Buffer{})
}

func electorStepper(c Config, on action) *Stepper {
	a := &Algorithm{elector: func(c Config) Elector {
		return &puppetElector{puppet{Config: c, on: on}}
	}}
	return NewStepper(a, c, 1, &Buffer{})
}

func bareStepper(on func(Env)) *Stepper {
	a := &Algorithm{mutex: func(Config) Mutex { return &bare{on} }}
	return NewStepper(a, at(), 1, &Buffer{})
}

// TestStep_SavesOnce: an event that saves twice makes one write, of the last value, and before what
// it sends in between.
func TestStep_SavesOnce(t *testing.T) {
	t.Parallel()
	s := electorStepper(at(), func(env Env, _ string, _ ID, _ Message) {
		env.Save(stamp{TS: 1})
		env.Send(3, signal{})
		env.Save(stamp{TS: 2})
	})
	for range 2 { // each event of its own
		want := []Effect{{Op: OpSave, Msg: stamp{TS: 2}}, {Op: OpSend, Peer: 3, Msg: signal{}}}
		if got := s.Step(0, Event{Type: Elect}); !slices.Equal(got, want) {
			t.Errorf("effects %v, want %v", got, want)
		}
	}
}

func TestStep_EffectsStandInTheirOrder(t *testing.T) {
	t.Parallel()
	all := func(env Env, _ string, _ ID, _ Message) {
		env.Send(3, stamp{TS: 1})
		env.SetTimer("wait", time.Second)
		env.Save(stamp{TS: 2})
		env.CancelTimer("wait")
		env.Send(1, signal{})
		env.SetTimer("at once", -time.Second)
		env.Logf("%d of %s", 7, "x")
	}
	common := []Effect{
		{Op: OpSend, Peer: 3, Msg: stamp{TS: 1}},
		{Op: OpSetTimer, Timer: "wait", After: time.Second},
		{Op: OpSave, Msg: stamp{TS: 2}},
		{Op: OpCancelTimer, Timer: "wait"},
		{Op: OpSend, Peer: 1, Msg: signal{}},
		{Op: OpSetTimer, Timer: "at once"},
		{Op: OpLog, Text: "7 of x"},
	}
	mutex := mutexStepper(at(), func(env Env, what string, who ID, m Message) {
		all(env, what, who, m)
		env.Granted()
	})
	want := append(common[:len(common):len(common)], Effect{Op: OpGranted})
	if got := mutex.Step(0, Event{Type: Request}); !reflect.DeepEqual(got, want) {
		t.Errorf("mutex: got  %v\nwant %v", got, want)
	}
	elector := electorStepper(at(), func(env Env, what string, who ID, m Message) {
		env.Elected(5, 9)
		all(env, what, who, m)
	})
	want = append([]Effect{{Op: OpElected, Peer: 5, Term: 9}}, common...)
	if got := elector.Step(0, Event{Type: Elect}); !reflect.DeepEqual(got, want) {
		t.Errorf("elector: got  %v\nwant %v", got, want)
	}
}

func TestStep_CallsTheMethodOfTheEvent(t *testing.T) {
	t.Parallel()
	var got string
	var peer ID
	var msg Message
	note := func(_ Env, what string, who ID, m Message) { got, peer, msg = what, who, m }
	for _, test := range []struct {
		on   func(Config, action) *Stepper
		ev   Event
		want string
	}{
		{mutexStepper, Event{Type: Start}, "start"},
		{mutexStepper, Event{Type: Receive, Peer: 4, Msg: stamp{TS: 3}}, "receive"},
		{mutexStepper, Event{Type: Timeout, Timer: "x"}, "timeout x"},
		{mutexStepper, Event{Type: Request}, "request"},
		{mutexStepper, Event{Type: Release}, "release"},
		{electorStepper, Event{Type: Elect}, "elect"},
		{electorStepper, Event{Type: Suspect, Peer: 3}, "suspect"},
		{electorStepper, Event{Type: Restore, Peer: 3}, "restore"},
		{electorStepper, Event{Type: Do, Op: "invite", Peer: 5}, "do invite"},
	} {
		got, peer, msg = "", None, nil
		if effects := test.on(at(), note).Step(0, test.ev); len(effects) != 0 {
			t.Errorf("%s: effects %v, want none", test.want, effects)
		}
		if got != test.want || peer != test.ev.Peer || msg != test.ev.Msg {
			t.Errorf("got %q from %d with %v, want %q from %d with %v",
				got, peer, msg, test.want, test.ev.Peer, test.ev.Msg)
		}
	}
}

func TestStep_SelfSendIsHandledNextAndNotCounted(t *testing.T) {
	t.Parallel()
	var handled []uint64
	s := mutexStepper(at(), func(env Env, what string, from ID, m Message) {
		if what == "request" {
			env.Send(2, stamp{TS: 1})
			env.Send(1, stamp{TS: 100})
			env.Send(2, stamp{TS: 2})
			env.Logf("request done")
			return
		}
		if from != 2 {
			t.Errorf("a message to oneself comes from %d", from)
		}
		ts := m.(stamp).TS
		handled = append(handled, ts)
		env.Send(3, stamp{TS: 100 + ts})
		if ts == 1 { // stands in line behind 2
			env.Send(2, stamp{TS: 3})
		}
	})
	got := s.Step(0, Event{Type: Request})
	want := []Effect{
		{Op: OpSend, Peer: 1, Msg: stamp{TS: 100}},
		{Op: OpLog, Text: "request done"},
		{Op: OpSend, Peer: 3, Msg: stamp{TS: 101}},
		{Op: OpSend, Peer: 3, Msg: stamp{TS: 102}},
		{Op: OpSend, Peer: 3, Msg: stamp{TS: 103}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if !reflect.DeepEqual(handled, []uint64{1, 2, 3}) {
		t.Errorf("handled %v, want 1, 2, 3", handled)
	}
	// Nothing is left for the next event.
	handled = nil
	s.Step(0, Event{Type: Receive, Peer: 2, Msg: stamp{TS: 9}})
	if !reflect.DeepEqual(handled, []uint64{9}) {
		t.Errorf("then handled %v, want 9", handled)
	}
}

func TestStep_Panics(t *testing.T) {
	t.Parallel()
	send := func(to ID) action {
		return func(env Env, _ string, _ ID, _ Message) { env.Send(to, signal{}) }
	}
	for name, test := range map[string]struct {
		step *Stepper
		want string
	}{
		"to nobody":      {mutexStepper(at(), send(None)), "sends SIGNAL to 0: no such process"},
		"to a sixth":     {mutexStepper(at(), send(6)), "sends SIGNAL to 6: no such process"},
		"not a neighbor": {mutexStepper(at(5, 1), send(3)), "sends SIGNAL to 3: not a neighbor"},
		"tree, to None":  {mutexStepper(at(None, 3), send(None)), "to 0: no such process"},
		"no neighbor":    {mutexStepper(at([]ID{}...), send(3)), "to 3: not a neighbor"},
		"endless": {mutexStepper(at(), send(2)),
			"process 2 sent itself 65536 messages in one event"},
		"timer without Timeout": {bareStepper(func(env Env) { env.SetTimer("x", 0) }),
			`process 2 sets timer "x" but has no Timeout`},
		"granted in an elector": {electorStepper(at(),
			func(env Env, _ string, _ ID, _ Message) { env.Granted() }),
			"Granted is for mutual exclusion"},
		"elected in a mutex": {mutexStepper(at(),
			func(env Env, _ string, _ ID, _ Message) { env.Elected(1, 0) }),
			"Elected is for leader election"},
		"a flood": {mutexStepper(at(), func(env Env, _ string, _ ID, _ Message) {
			for {
				env.Send(1, signal{})
			}
		}), "process 2 asks for more than 131072 things in one event"},
		"a flood of lines": {mutexStepper(at(), func(env Env, _ string, _ ID, _ Message) {
			for {
				env.Logf("%s", strings.Repeat("x", 2*MaxLine))
			}
		}), "process 2 writes too much with Logf: more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, test.want, func() {
				test.step.Step(0, Event{Type: Receive, Peer: 1, Msg: signal{}})
			})
		})
	}
	t.Run("operation of none", func(t *testing.T) {
		t.Parallel()
		wantPanic(t, `process 2 has no operation "invite"`, func() {
			bareStepper(func(Env) {}).Step(0, Event{Type: Do, Op: "invite"})
		})
	})
}

func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text := fmt.Sprint(recover()); !strings.Contains(text, want) {
			t.Errorf("panic %q, want one with %q", text, want)
		}
	}()
	f()
}

// An Env that is kept is told by its next use, in an event of the same process, of
// another one, or in none.
func TestStep_KeptEnv(t *testing.T) {
	t.Parallel()
	const want = "process 2 uses an Env after its event"
	var kept Env
	use := func(Env, string, ID, Message) { kept.CancelTimer("x") }
	keep := func(env Env, _ string, _ ID, _ Message) { kept = env }
	on := func(f *action) action {
		return func(env Env, what string, who ID, m Message) { (*f)(env, what, who, m) }
	}
	for name, uses := range map[string]func(s, other *Stepper){
		"in a later event":            func(s, _ *Stepper) { s.Step(1, Event{Type: Release}) },
		"in an event of another":      func(_, other *Stepper) { other.Step(1, Event{Type: Request}) },
		"in no event":                 func(*Stepper, *Stepper) { kept.Send(1, signal{}) },
		"to read the clock":           func(*Stepper, *Stepper) { kept.Now() },
		"to draw":                     func(*Stepper, *Stepper) { kept.Rand() },
		"when the invariant is asked": func(s, _ *Stepper) { _ = s.Invariant(); kept.Save(signal{}) },
	} {
		act := action(keep)
		a := &Algorithm{mutex: func(c Config) Mutex { return &puppetMutex{puppet{Config: c, on: on(&act)}} }}
		buf := &Buffer{}
		s, other := NewStepper(a, at(), 1, buf), NewStepper(a, at(), 2, buf)
		s.Step(0, Event{Type: Request})
		act = use
		t.Run(name, func(t *testing.T) { wantPanic(t, want, func() { uses(s, other) }) })
	}
}

// What runs is known while it does, for whoever finds that it does not return.
func TestBuffer_Running(t *testing.T) {
	t.Parallel()
	var s *Stepper
	beats := map[uint64]bool{}
	for _, test := range []struct {
		ev   Event
		want string
	}{
		{Event{Type: Start}, "Start"},
		{Event{Type: Receive, Peer: 4, Msg: stamp{}}, "Receive of STAMP from 4"},
		{Event{Type: Timeout, Timer: "x"}, `Timeout of "x"`},
		{Event{Type: Request}, "Request"},
		{Event{Type: Do, Op: "invite"}, `Do of "invite"`},
	} {
		s = mutexStepper(at(), func(Env, string, ID, Message) {
			id, ev := s.buf.Running()
			if id != 2 || ev.String() != test.want || s.buf.Beat()%2 == 0 {
				t.Errorf("process %d, %s, beat %d, want process 2, %s, odd", id, ev, s.buf.Beat(), test.want)
			}
			beats[s.buf.Beat()] = true
		})
		s.Step(0, test.ev)
		if s.buf.Beat()%2 != 0 || beats[s.buf.Beat()] {
			t.Errorf("%s: beat %d after it", test.want, s.buf.Beat())
		}
	}
}

func TestWeigh(t *testing.T) {
	t.Parallel()
	codec, err := NewCodec(blob{})
	if err != nil {
		t.Fatal(err)
	}
	a := &Algorithm{ID: "election/x", Codec: codec}
	const head = 2 + 3 // version, kind, and the length of the text
	var b Buffer
	m := blob{strings.Repeat("x", MaxMessage-head)}
	kind, bytes := a.Weigh(1, "sends", m)
	if packed := b.Pack(a, kind, m); bytes != MaxMessage || len(packed) != bytes {
		t.Errorf("%d and %d bytes, want the most that are allowed: %d", bytes, len(packed), MaxMessage)
	}
	wantPanic(t, "process 1 saves a BLOB of 65537 bytes: at most 65536 are allowed", func() {
		a.Weigh(1, "saves", blob{strings.Repeat("x", MaxMessage-head+1)})
	})
	wantPanic(t, "process 1 sends a SIGNAL, which the Spec of election/x does not declare", func() {
		a.Weigh(1, "sends", signal{})
	})
	wantPanic(t, "process 1 saves nil", func() { a.Weigh(1, "saves", nil) })
}

type blob struct{ Text string }

func (blob) Kind() string { return "BLOB" }

func TestStep_SendsToNeighborsAndOneself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"complete":     at(),
		"out of order": at(5, 3, 1, 4),
		"two":          at(4, 3),
		"root":         at(None, 3, 1),
	} {
		s := mutexStepper(c, func(env Env, what string, _ ID, _ Message) {
			for _, p := range append([]ID{2}, c.Neighbors...) {
				if what == "request" && p != None {
					env.Send(p, signal{})
				}
			}
		})
		var got []ID
		for _, f := range s.Step(0, Event{Type: Request}) {
			got = append(got, f.Peer)
		}
		var want []ID
		for _, p := range c.Neighbors {
			if p != None && p != 2 {
				want = append(want, p)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: sent to %v, want %v", name, got, want)
		}
	}
}

func TestStep_ReadsAreFrozen(t *testing.T) {
	t.Parallel()
	const now = 1500 * time.Microsecond
	var seen []time.Duration
	s := mutexStepper(at(), func(env Env, what string, _ ID, _ Message) {
		seen = append(seen, env.Now())
		if what == "request" {
			env.SetTimer("x", time.Hour)
			env.Send(2, signal{})
			seen = append(seen, env.Now())
		}
	})
	s.Step(now, Event{Type: Request})
	if want := []time.Duration{now, now, now}; !reflect.DeepEqual(seen, want) {
		t.Errorf("Now was %v in one event, want %v", seen, want)
	}
	s.Step(2*now, Event{Type: Start})
	if seen[3] != 2*now {
		t.Errorf("then Now was %v, want %v", seen[3], 2*now)
	}
}

// TestStep_EffectsOfFormerEvents: the place of an effect is used again in the next event,
// and nothing of the former one is left there.
func TestStep_EffectsOfFormerEvents(t *testing.T) {
	t.Parallel()
	s := mutexStepper(at(), func(env Env, what string, _ ID, _ Message) {
		switch what {
		case "start":
			env.Send(3, stamp{TS: 1})
			env.SetTimer("wait", time.Second)
			env.Logf("text")
		default:
			env.Granted()
			env.Granted()
			env.CancelTimer("wait")
		}
	})
	s.Step(0, Event{Type: Start})
	want := []Effect{{Op: OpGranted}, {Op: OpGranted}, {Op: OpCancelTimer, Timer: "wait"}}
	if got := s.Step(1, Event{Type: Request}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestStep_SteppersShareABuffer(t *testing.T) {
	t.Parallel()
	buf := &Buffer{}
	for id := ID(1); id <= 3; id++ {
		c := at()
		c.ID = id
		s := mutexStepper(c, func(env Env, what string, _ ID, _ Message) {
			if what == "request" {
				env.Send(id, signal{})
				env.Send(id+1, stamp{From: id})
			}
		})
		s.buf = buf
		want := []Effect{{Op: OpSend, Peer: id + 1, Msg: stamp{From: id}}}
		if got := s.Step(0, Event{Type: Request}); !reflect.DeepEqual(got, want) {
			t.Errorf("process %d: got %v, want %v", id, got, want)
		}
	}
	idle := mutexStepper(at(), func(Env, string, ID, Message) {})
	idle.buf = buf
	if got := idle.Step(0, Event{Type: Request}); len(got) != 0 {
		t.Errorf("effects of others are left: %v", got)
	}
}

func TestStep_RandIsSeededAndLazy(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64, steps int) (out []uint64) {
		a := &Algorithm{mutex: func(Config) Mutex {
			return &bare{func(env Env) { out = append(out, env.Rand().Uint64()) }}
		}}
		s := NewStepper(a, at(), seed, &Buffer{})
		if s.rng != nil {
			t.Error("made a random source that nobody asked for")
		}
		for range steps {
			s.Step(0, Event{Type: Request})
		}
		return out
	}
	first := draw(7, 3)
	if !reflect.DeepEqual(first, draw(7, 3)) {
		t.Error("the same seed gives other numbers")
	}
	if first[0] == first[1] {
		t.Error("every event draws the same number")
	}
	if reflect.DeepEqual(first, draw(8, 3)) {
		t.Error("another seed gives the same numbers")
	}
	// Stored results depend on these.
	if want := rand.New(rand.NewPCG(7, 7^0x9e3779b97f4a7c15)).Uint64(); first[0] != want {
		t.Errorf("the first number of seed 7 is %d, want %d", first[0], want)
	}
}

func TestStepper_KnowsItsProcess(t *testing.T) {
	t.Parallel()
	s := electorStepper(at(), func(Env, string, ID, Message) {})
	p := s.Process().(*puppetElector)
	if p.ID != 2 || !s.Monitors() || !s.Commanded() || s.Invariant() != nil {
		t.Errorf("process %d: monitors %v, commanded %v, invariant %v",
			p.ID, s.Monitors(), s.Commanded(), s.Invariant())
	}
	p.invariant = errors.New("broken")
	if s.Invariant() != p.invariant { //nolint:errorlint // the very same
		t.Errorf("invariant %v, want %v", s.Invariant(), p.invariant)
	}
	b := bareStepper(func(Env) {})
	if b.Monitors() || b.Commanded() || b.Invariant() != nil {
		t.Errorf("bare: monitors %v, commanded %v, invariant %v",
			b.Monitors(), b.Commanded(), b.Invariant())
	}
	if got := b.Step(0, Event{Type: Start}); len(got) != 0 {
		t.Errorf("a start that nobody waits for: %v", got)
	}
}

func TestBroadcast_LeavesOutOneself(t *testing.T) {
	t.Parallel()
	s := mutexStepper(at(), func(env Env, _ string, _ ID, _ Message) {
		Broadcast(env, 2, []ID{4, 2, 1}, signal{})
	})
	want := []Effect{
		{Op: OpSend, Peer: 4, Msg: signal{}}, {Op: OpSend, Peer: 1, Msg: signal{}},
	}
	if got := s.Step(0, Event{Type: Request}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// BenchmarkStep is one event that is answered by one message: boxed anew, as a
// plugin does, or as a value that is there already.
func BenchmarkStep(b *testing.B) {
	for name, answer := range map[string]func(env Env, m Message){
		"boxed": func(env Env, m Message) {
			env.Send(3, stamp{TS: m.(stamp).TS + 1, From: 2})
		},
		"passed on": func(env Env, m Message) { env.Send(3, m) },
	} {
		b.Run(name, func(b *testing.B) {
			s := mutexStepper(at(), func(env Env, _ string, _ ID, m Message) { answer(env, m) })
			ev := Event{Type: Receive, Peer: 1, Msg: benchMessage}
			b.ReportAllocs()
			for b.Loop() {
				if len(s.Step(time.Second, ev)) != 1 {
					b.Fatal("no message")
				}
			}
		})
	}
	b.Run("ring", func(b *testing.B) {
		s := mutexStepper(at(3), func(env Env, _ string, _ ID, m Message) { env.Send(3, m) })
		ev := Event{Type: Receive, Peer: 1, Msg: benchMessage}
		b.ReportAllocs()
		for b.Loop() {
			s.Step(time.Second, ev)
		}
	})
}

// TestAnonymous: process 2 of the ring 4-2-5-1-3 knows itself as 1 and the others by their distance,
// whatever it is told and says. Whoever drives it has their IDs.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	c := at(4, 5)
	c.Ring, c.Leader, c.Holder = []ID{4, 2, 5, 1, 3}, 3, 4
	var got []string
	var known Config
	a := &Algorithm{
		Spec: Spec{Needs: Needs{Anonymous: true, Topology: BidirectionalRing}},
		elector: func(c Config) Elector {
			known = c
			return &puppetElector{puppet{Config: c, on: func(env Env, what string, who ID, _ Message) {
				got = append(got, fmt.Sprint(what, " ", who))
				if what != "elect" {
					return
				}
				env.Send(1, signal{}) // to itself
				env.Send(2, signal{})
				env.Send(5, signal{})
				env.Elected(4, 7)
				env.Elected(None, 0)
			}}}
		},
	}
	s := NewStepper(a, c, 1, &Buffer{})
	if want := "1 [5 2] [1 2 3 4 5] 4 5"; fmt.Sprint(known.ID, known.Neighbors, known.Ring, known.Leader,
		known.Holder) != want || len(known.Peers) != 5 {
		t.Errorf("it knows %+v, want %s", known, want)
	}
	if fmt.Sprint(c.Neighbors, c.Ring) != "[4 5] [4 2 5 1 3]" {
		t.Errorf("the graph has changed: %v %v", c.Neighbors, c.Ring)
	}
	var asked []string
	for _, e := range s.Step(0, Event{Type: Elect}) {
		asked = append(asked, fmt.Sprint(e.Op, " ", e.Peer))
	}
	if want := "[1 5 1 4 5 3 5 0]"; fmt.Sprint(asked) != want {
		t.Errorf("it asks for %v, want %s", asked, want)
	}
	s.Step(0, Event{Type: Receive, Peer: 4, Msg: signal{}})
	s.Step(0, Event{Type: Suspect, Peer: 1})
	s.Step(0, Event{Type: Restore, Peer: 3})
	s.Step(0, Event{Type: Do, Op: "x", Peer: 5})
	if want := "[elect 0 receive 1 receive 5 suspect 3 restore 4 do x 2]"; fmt.Sprint(got) != want {
		t.Errorf("it hears %v, want %s", got, want)
	}
	wantPanic(t, "process 2 sends SIGNAL to 1: not a neighbor", func() {
		NewStepper(&Algorithm{Spec: a.Spec, elector: func(c Config) Elector {
			return &puppetElector{puppet{Config: c, on: func(env Env, _ string, _ ID, _ Message) { env.Send(3, signal{}) }}}
		}}, c, 1, &Buffer{}).Step(0, Event{Type: Elect})
	})
	wantPanic(t, "process 2 sends SIGNAL to 6: no such process", func() {
		NewStepper(&Algorithm{Spec: a.Spec, elector: func(c Config) Elector {
			return &puppetElector{puppet{Config: c, on: func(env Env, _ string, _ ID, _ Message) { env.Send(6, signal{}) }}}
		}}, c, 1, &Buffer{}).Step(0, Event{Type: Elect})
	})
}
