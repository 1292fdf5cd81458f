package guest

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A process is one process of the algorithm, whose state is in a running copy of its program.
type process struct {
	*life
	broken string // the invariant that does not hold
}

// A life is what the program knows a process by.
type life struct {
	program *Program
	in      *running // nil: it has ended
	number  uint64
	id      algo.ID
}

var (
	_ algo.Guest     = (*process)(nil)
	_ algo.Mutex     = (*process)(nil)
	_ algo.Elector   = (*process)(nil)
	_ algo.Starter   = (*process)(nil)
	_ algo.Timed     = (*process)(nil)
	_ algo.Monitor   = (*process)(nil)
	_ algo.Checked   = (*process)(nil)
	_ algo.Commanded = (*process)(nil)
)

// process makes a process in a running copy.
func (p *Program) process(c algo.Config) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := &process{life: &life{program: p, id: c.ID, number: p.next.Add(1)}}
	r, err := p.home(c.ID)
	if err != nil {
		panic(algo.BreachOf(fmt.Errorf("%v: process %d: %w", p.Plugin, c.ID, err)))
	}
	g.in = r
	p.forget(r)
	q := &p.request
	q.begin(r.count(), "new")
	q.number("process", g.number)
	q.value("config", configOf(&c, p.params))
	if c.Saved != nil {
		m := c.Saved.(algo.Raw)
		q.key("saved")
		q.b = append(q.b, `{"kind":`...)
		q.b = append(append(q.b, '"'), m.Name...)
		q.b = append(q.b, '"')
		if len(*m.Form) > 0 {
			q.key("msg")
			q.message(&m)
		}
		q.b = append(q.b, '}')
	}
	q.end()
	if err := p.ask(r, question{name: func() string { return "new" }}); err != nil {
		g.blame(err)
	}
	if p.answer.failed != "" {
		g.blame(fmt.Errorf("new: %s", p.answer.failed))
	}
	// For callers that do not end a process, such as a trial that is abandoned half-way.
	runtime.AddCleanup(g, func(l *life) { l.End() }, g.life)
	return g
}

// blame panics: the trial ends.
func (l *life) blame(err error) {
	panic(algo.BreachOf(fmt.Errorf("%v: process %d: %w", l.program.Plugin, l.id, err)))
}

// forget drops the processes that have ended; under the lock.
func (p *Program) forget(r *running) {
	for len(r.dropped) > 0 && r.dead == nil {
		number := r.dropped[0]
		r.dropped = r.dropped[1:]
		p.request.begin(r.count(), "drop")
		p.request.number("process", number)
		p.request.end()
		// If that fails, it is dead, which the next to ask learns.
		_ = p.ask(r, question{name: func() string { return "drop" }})
	}
	r.dropped = r.dropped[:0]
}

// End says that the process is over. The program learns of it when the next one begins.
func (l *life) End() {
	l.program.mu.Lock()
	defer l.program.mu.Unlock()
	if l.in != nil {
		l.in.dropped = append(l.in.dropped, l.number)
		l.in = nil
	}
}

// step hands the process an event, and its effects to env.
func (g *process) step(env algo.Env, ev algo.Event) {
	p := g.program
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.in == nil {
		g.blame(errors.New("it gets an event after its end"))
	}
	var random uint64
	if p.draws {
		random = env.Rand().Uint64()
	}
	n := g.in.count()
	if p.packed {
		p.request.compact(g.number, env.Now(), &ev, p.draws, random, p.kinds)
	} else {
		p.request.event(n, g.number, env.Now(), &ev, p.draws, random)
		p.request.end()
	}
	if err := p.ask(g.in, question{ev.String, "effects"}); err != nil {
		g.blame(err)
	}
	if p.tap != nil {
		p.tap(Answered{g.id, ev.String(), p.line})
	}
	a := &p.answer
	if a.failed != "" {
		g.blame(fmt.Errorf("event %d (%v): %s", n, ev, a.failed))
	}
	g.broken = a.broken
	if err := g.apply(env, a.effects); err != nil {
		g.blame(fmt.Errorf("event %d (%v): %w", n, ev, quoted(err, p.last)))
	}
}

// apply hands effects to env. What that refuses is an error.
func (g *process) apply(env algo.Env, effects []algo.Effect) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *algo.Breach:
			err = r
		default:
			panic(r)
		}
	}()
	for i := range effects {
		e := &effects[i]
		switch e.Op {
		case algo.OpSend:
			if e.Peer == g.id {
				return fmt.Errorf("it sends %s to itself: a kit delivers that itself", e.Msg.Kind())
			}
			env.Send(e.Peer, e.Msg)
		case algo.OpSetTimer:
			env.SetTimer(e.Timer, e.After)
		case algo.OpCancelTimer:
			env.CancelTimer(e.Timer)
		case algo.OpGranted:
			env.Granted()
		case algo.OpElected:
			env.Elected(e.Peer, e.Term)
		case algo.OpSave:
			env.Save(e.Msg)
		case algo.OpLog:
			env.Logf("%s", e.Text)
		}
	}
	return nil
}

func (g *process) Start(env algo.Env) {
	if g.Handles(algo.Start) {
		g.step(env, algo.Event{Type: algo.Start})
	}
}

func (g *process) Receive(env algo.Env, from algo.ID, m algo.Message) {
	g.step(env, algo.Event{Type: algo.Receive, Peer: from, Msg: m})
}

func (g *process) Timeout(env algo.Env, t algo.Timer) {
	g.step(env, algo.Event{Type: algo.Timeout, Timer: t})
}

func (g *process) Request(env algo.Env) {
	g.step(env, algo.Event{Type: algo.Request, Session: env.Session()})
}

func (g *process) Release(env algo.Env) { g.step(env, algo.Event{Type: algo.Release}) }

func (g *process) Elect(env algo.Env) { g.step(env, algo.Event{Type: algo.Elect}) }

func (g *process) Suspect(env algo.Env, p algo.ID) {
	if g.Handles(algo.Suspect) {
		g.step(env, algo.Event{Type: algo.Suspect, Peer: p})
	}
}

func (g *process) Restore(env algo.Env, p algo.ID) {
	if g.Handles(algo.Restore) {
		g.step(env, algo.Event{Type: algo.Restore, Peer: p})
	}
}

func (g *process) Do(env algo.Env, op string, target algo.ID) {
	g.step(env, algo.Event{Type: algo.Do, Op: op, Peer: target})
}

// Handles says whether the program wants events of that type.
func (g *process) Handles(t algo.EventType) bool { return g.program.wants[t] }

// Invariant is what the program said of the last event.
func (g *process) Invariant() error {
	if g.broken != "" {
		return errors.New(g.broken)
	}
	return nil
}

// ShowsState says whether processes of the program have a State.
func (p *Program) ShowsState() bool { return p.states }

// State asks the program for the variables of the process.
func (g *process) State() [][2]string {
	p := g.program
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.in == nil || !p.states {
		return nil
	}
	p.request.begin(g.in.count(), "state")
	p.request.number("process", g.number)
	p.request.end()
	if err := p.ask(g.in, question{func() string { return "state" }, "state"}); err != nil {
		g.blame(err)
	}
	return p.answer.state
}
