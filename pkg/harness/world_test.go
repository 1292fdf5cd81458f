package harness

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const ms = time.Millisecond

// Note is the test algorithms' only message.
type Note struct{ Text string }

// Kind is NOTE.
func (Note) Kind() string { return "NOTE" }

// Hint is their auxiliary message.
type Hint struct{}

// Kind is HINT.
func (Hint) Kind() string { return "HINT" }

// A puppet does what its test says, in on, and keeps what it was told.
type puppet struct {
	algo.Config
	log []string
	on  func(env algo.Env, what string, p algo.ID)
}

func (p *puppet) event(env algo.Env, about algo.ID, what string) {
	if about != algo.None {
		p.log = append(p.log, fmt.Sprintf("%v %s %d", env.Now(), what, about))
	} else {
		p.log = append(p.log, fmt.Sprintf("%v %s", env.Now(), what))
	}
	if p.on != nil {
		p.on(env, what, about)
	}
}

func (p *puppet) Elect(env algo.Env) { p.event(env, 0, "elect") }
func (p *puppet) Receive(env algo.Env, from algo.ID, m algo.Message) {
	if n, ok := m.(Note); ok {
		p.event(env, from, "note "+n.Text)
	}
}
func (p *puppet) Timeout(env algo.Env, t algo.Timer) {
	p.event(env, 0,
		"timeout "+string(t))
}
func (p *puppet) Do(env algo.Env, op string, target algo.ID) { p.event(env, target, "do "+op) }

// A monitor is a puppet that listens to the failure detector itself.
type monitor struct{ puppet }

func (m *monitor) Suspect(env algo.Env, p algo.ID) { m.event(env, p, "suspect") }
func (m *monitor) Restore(env algo.Env, p algo.ID) { m.event(env, p, "restore") }

// A lock lets its own process in at once, whoever else is inside, unless its
// test says otherwise.
type lock struct{ puppet }

func (l *lock) Request(env algo.Env) {
	l.event(env, 0, "request")
	if l.on == nil {
		env.Granted()
	}
}
func (l *lock) Release(env algo.Env) { l.event(env, 0, "release") }

func init() {
	spec := func(name string, perpetual bool) algo.Spec {
		s := algo.Spec{
			Name: name, Summary: "does what its test says", Perpetual: perpetual,
			Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
			Messages: []algo.Message{Note{}}, Auxiliary: []algo.Message{Hint{}},
		}
		if perpetual {
			s.Params = []algo.Param{{Name: "beat", Type: algo.Duration, Doc: "the period",
				Default: algo.Const(ms)}}
			s.Periods = []algo.Period{{Param: "beat", Timer: "beat"}}
		}
		return s
	}
	elector := func(c algo.Config) algo.Elector { return &puppet{Config: c} }
	mutex := func(c algo.Config) algo.Mutex { return &lock{puppet{Config: c}} }
	algo.RegisterElector(spec("test-puppet", false), elector)
	algo.RegisterElector(spec("test-restless", true), elector)
	watchful := func(c algo.Config) algo.Elector { return &monitor{puppet{Config: c}} }
	algo.RegisterElector(spec("test-monitor", false), watchful)
	told := spec("test-told", false)
	told.Told = true
	algo.RegisterElector(told, watchful)
	algo.RegisterMutex(spec("test-lock", false), mutex)
	algo.RegisterMutex(spec("test-spinning", true), mutex)
	group := spec("test-group", false)
	group.Params = []algo.Param{{Name: "session", Type: algo.Int, Doc: "always", Min: int64(0),
		Max: int64(algo.MostSessions), PerProcess: true, Default: algo.Const(int64(0))}}
	group.Admits.Sessions = "session"
	algo.RegisterMutex(group, mutex)
	token := spec("test-token", false)
	token.Token = "NOTE"
	algo.RegisterMutex(token, mutex)
}

func mustSetup(tb testing.TB, id string, n int, sc Scenario, change func(*Plan)) *Setup {
	tb.Helper()
	p := Plan{
		Trial: "t", Algorithm: id, Label: id, Nodes: n, Shape: algo.Shape{Kind: "complete"},
		Network: link.Network{Latency: link.Constant(ms)}, Scenario: sc, Seed: 1,
		TimeLimit: time.Hour, InModel: true,
	}
	for _, d := range p.Scenario.Does().Params() {
		if l, is := d.At.(*link.Latency); is && l.Law == nil {
			p.Scenario.Set(d.Name, link.Constant(ms))
		}
	}
	if change != nil {
		change(&p)
	}
	s, err := p.Setup()
	if err != nil {
		tb.Fatal(err)
	}
	s.Virtual = true
	return s
}

// A world is the least that processes need: a queue, links of constant latency,
// and everything written down.
type world struct {
	setup     *Setup
	queue     Queue[happening]
	now       time.Duration
	processes []*Process // by ID - 1; nil: down
	records   trace.List
	sent      []Outgoing
	done      []algo.ID
	lose      func(from, to algo.ID, at time.Duration) bool
	lag       time.Duration // by which alarms are late
	handling  time.Duration // what the algorithm takes for an event
}

type happening struct {
	m     *Process // of an alarm
	alarm Alarm
	from  algo.ID // of a message
	to    algo.ID
	out   Outgoing
	do    func() // of the test
}

func newWorld(tb testing.TB, s *Setup) *world {
	tb.Helper()
	w := &world{setup: s, processes: make([]*Process, s.Nodes)}
	for i := range w.processes {
		id := algo.ID(i + 1)
		if !slices.Contains(s.Crashed, id) {
			w.processes[i] = NewProcess(s, w, id, 0, nil, new(Buffer))
		}
	}
	return w
}

// puppet is the algorithm's process id.
func (w *world) puppet(id algo.ID) *puppet {
	switch p := w.processes[id-1].Plugin().(type) {
	case *puppet:
		return p
	case *monitor:
		return &p.puppet
	case *lock:
		return &p.puppet
	}
	panic("no puppet")
}

func (w *world) start() {
	for _, m := range w.processes {
		if m != nil {
			m.Start(0)
		}
	}
}

// at lets f happen at an instant, among the commands of the application.
func (w *world) at(at time.Duration, f func()) {
	w.queue.Push(at, Application, 0, happening{do: f})
}

// run lets happen what is due by the instant until.
func (w *world) run(until time.Duration) {
	for w.queue.Due(until) {
		var h happening
		w.now, h = w.queue.Pop()
		switch {
		case h.do != nil:
			h.do()
		case h.m != nil:
			if w.processes[h.m.ID-1] == h.m {
				h.m.Alarm(w.now, h.alarm)
			}
		default:
			if m := w.processes[h.to-1]; m != nil {
				m.Deliver(w.now, h.from, h.out.Plane, h.out.Kind, h.out.Msg, h.out.Depth)
			}
		}
	}
	w.now = until
}

func (w *world) crash(p algo.ID) {
	w.processes[p-1] = nil
	for _, m := range w.processes {
		if m != nil {
			m.Crashed(p, w.now)
		}
	}
}

func (w *world) Send(m *Process, to algo.ID, out Outgoing) {
	w.sent = append(w.sent, out)
	if w.lose != nil && w.lose(m.ID, to, w.now) {
		return
	}
	w.queue.Push(w.now+w.setup.Network.Latency.Average(), Delivery, m.ID,
		happening{from: m.ID, to: to, out: out})
}

func (w *world) Alarm(m *Process, at time.Duration, a Alarm) {
	w.queue.Push(max(at, w.now)+w.lag, a.Class(), m.ID, happening{m: m, alarm: a})
}

func (w *world) Record(_ *Process, r *trace.Record) { w.records.Record(r) }
func (w *world) Save(*Process, []byte, uint32)      {}
func (w *world) Done(m *Process)                    { w.done = append(w.done, m.ID) }
func (w *world) Handling(*Process)                  {}

func (w *world) Handled(_ *Process, now time.Duration) time.Duration { return now + w.handling }

// notes is what was recorded of one type: "p1 at 3ms" or "p1 at 3ms of 2".
func (w *world) notes(t trace.Type) []string {
	out := []string{}
	for _, r := range w.records {
		if r.Type != t {
			continue
		}
		text := fmt.Sprintf("p%d at %v", r.Process, r.At)
		if r.Peer != 0 {
			text += fmt.Sprintf(" of %d", r.Peer)
		}
		out = append(out, text)
	}
	return out
}

func same(tb testing.TB, what string, got, want []string) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}
