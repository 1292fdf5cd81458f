package bubble

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Errors that a library sees of the network and of its own end.
var (
	ErrRefused = errors.New("connection refused")
	ErrCrashed = errors.New("this process has crashed")
)

// A Process is what surrounds one incarnation of a process of a library. All its methods may be called
// from any goroutine of the bubble.
type Process struct {
	ID          algo.ID
	Peers       []algo.ID // with itself
	Params      algo.Params
	Incarnation uint32
	// Disk outlives a crash: what the last incarnation has written is there.
	Disk *Disk

	world   *world
	subject Subject
	gone    chan struct{} // closed at the crash, and at the end of the trial
	flows   link.Table[link.Flow]
	upSince time.Duration
	leader  algo.ID
	term    uint64
	paused  bool
	waiting []func() // what has come to it meanwhile
	says    []func() // and what it would have said
	resumed *sync.Cond
	started chan struct{} // closed when Start has returned
	stopped chan struct{} // and when Stop has
}

// alive says whether what the process does still counts; to be called under the lock of the world.
func (p *Process) alive() bool { return p.world.running[p.ID-1] == p && !p.world.over }

// Done is closed when the process has crashed or the trial is over.
func (p *Process) Done() <-chan struct{} { return p.gone }

// say records what the process says about itself. One that is paused says nothing until it goes on.
func (p *Process) say(what func()) {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	switch {
	case !p.alive():
	case p.paused:
		p.says = append(p.says, what)
	default:
		what()
	}
}

// Names says whom the process considers leader from now on, in which term; 0: it knows none.
func (p *Process) Names(leader algo.ID, term uint64) {
	p.say(func() {
		if p.leader == leader && p.term == term {
			return
		}
		p.leader, p.term = leader, term
		p.world.record(trace.Record{Type: trace.Elected, Process: uint32(p.ID), Incarnation: p.Incarnation,
			Peer: uint32(leader), Arg: term})
	})
}

// Suspect records that the process suspects another, or no longer does. One that suspects its leader begins to look
// for another.
func (p *Process) Suspect(of algo.ID, suspected bool) {
	t := trace.Suspect
	if !suspected {
		t = trace.Restore
	}
	p.say(func() {
		p.world.record(trace.Record{Type: t, Process: uint32(p.ID), Incarnation: p.Incarnation,
			Peer: uint32(of)})
		if suspected && of == p.leader {
			p.world.record(trace.Record{Type: trace.Elect, Process: uint32(p.ID),
				Incarnation: p.Incarnation})
		}
	})
}

// Call sends a request, has it served at to, in a goroutine of its own, and returns the answer when it is back.
// Serve returns it with its size in bytes. A process that is down refuses the connection, which takes a
// message's way there and back; a request or an answer that is lost takes until ctx ends.
func Call[A any](ctx context.Context, p *Process, to algo.ID, ask, answer algo.Message, bytes int,
	serve func(Subject) (A, int)) (got A, err error) {
	answers, refusal := make(chan A, 2), make(chan struct{}) // two: of a request that was duplicated
	p.send(to, ask, bytes, func(q *Process) {
		a, n := serve(q.subject)
		q.send(p.ID, answer, n, func(r *Process) {
			if r == p {
				select {
				case answers <- a:
				default:
				}
			}
		}, nil)
	}, sync.OnceFunc(func() { close(refusal) }))
	select {
	case got = <-answers:
		return got, nil
	case <-refusal:
		return got, ErrRefused
	case <-ctx.Done():
		return got, ctx.Err()
	case <-p.gone:
		return got, ErrCrashed
	}
}

// Send sends a message that nobody answers, as a datagram. Handle runs at to, in a goroutine of its own.
func (p *Process) Send(to algo.ID, msg algo.Message, bytes int, handle func(Subject)) {
	p.send(to, msg, bytes, func(q *Process) { handle(q.subject) }, nil)
}

// send hands a message to the network. Refused runs when its sender could know that nobody is there.
func (p *Process) send(to algo.ID, msg algo.Message, bytes int, handle func(*Process), refused func()) {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if !p.alive() {
		return
	}
	if p.paused { // what it sends waits, as in a process that is stopped
		p.waiting = append(p.waiting, func() { p.send(to, msg, bytes, handle, refused) })
		return
	}
	w.carry(p, to, msg, bytes, handle, refused)
}

// receive runs f as the process's own, later if it is paused; to be called under the lock of the world.
func (p *Process) receive(f func()) {
	if p.paused {
		p.waiting = append(p.waiting, f)
		return
	}
	go f()
}

// hold returns when the process is not paused, or false when it is gone; to be called under the lock.
func (p *Process) hold() bool {
	for p.paused && p.alive() {
		p.resumed.Wait()
	}
	return p.alive()
}

// wake lets the process go on; to be called under the lock.
func (p *Process) wake() {
	p.paused = false
	waiting, says := p.waiting, p.says
	p.waiting, p.says = nil, nil
	for _, what := range says { // all at this instant, and in their order
		if p.alive() {
			what()
		}
	}
	p.resumed.Broadcast()
	for _, f := range waiting {
		go f()
	}
}

// carry decides the fate of a message and puts its copies into the queue; under the lock.
func (w *world) carry(p *Process, to algo.ID, msg algo.Message, bytes int, handle func(*Process),
	refused func()) {
	kind, known := w.kinds[msg.Kind()]
	if !known {
		w.fail(errors.New(w.setup.Alg.ID + " sends a " + msg.Kind() + ", which its Spec does not declare"))
		return
	}
	now := w.now()
	flow, met := p.flows.At(uint64(to))
	if !met {
		*flow = w.setup.Network.Flow(trace.Data, uint32(p.ID), p.Incarnation, uint32(to))
	}
	fate := w.setup.Network.Send(flow, now, bytes, w.overrides.On(uint32(p.ID), uint32(to), now))
	m := &message{record: trace.Record{Process: uint32(p.ID), Peer: uint32(to), Incarnation: p.Incarnation,
		Bytes: uint32(bytes), Depth: 1, Sent: now, Due: fate.Due, Seq: fate.Seq, Plane: trace.Data, Kind: kind},
		lost: fate.Lost, handle: handle, refused: refused}
	for i, o := range w.omissions {
		if o.Fits(p.ID, trace.Data, kind, now) {
			w.fitted[i]++
			m.record.Omitted = m.record.Omitted || o.Loses(w.fitted[i])
		}
	}
	w.sent(trace.Send, m, fate.Held)
	if fate.Duplicated {
		second := *m
		second.record.Due, second.record.Copy, second.lost = fate.CopyDue, 1, fate.CopyLost
		w.sent(trace.Duplicate, &second, fate.CopyHeld)
	}
}

// sent records a copy and puts it into the queue.
func (w *world) sent(t trace.Type, m *message, held time.Duration) {
	r := m.record
	r.Type, r.Arg = t, uint64(held)
	w.record(r)
	w.pending++
	w.push(m.record.Due, harness.Delivery, algo.ID(m.record.Process), func() { w.arrive(m) })
}

// A message is a copy on its way. Its record is as of its sender.
type message struct {
	record  trace.Record
	lost    bool
	handle  func(*Process)
	refused func()
}

// arrive is the instant at which a copy is due; under the lock.
func (w *world) arrive(m *message) {
	w.pending--
	r := m.record
	r.Process, r.Peer = r.Peer, r.Process
	r.Omitted, r.Arg = false, 0
	q := w.running[r.Process-1]
	switch {
	case m.record.Omitted, m.lost, w.cuts.Severed(r.Peer, r.Process, r.Sent, r.Due):
		switch r.Type = trace.Lose; {
		case m.record.Omitted:
			r.Arg = trace.Omitted
		case !m.lost:
			r.Arg = trace.Severed
		}
		w.record(r)
	case q == nil, r.Sent < q.upSince:
		r.Type = trace.Undelivered
		w.record(r)
		if m.refused != nil { // a machine without the process answers at once
			w.push(w.now()+r.Due-r.Sent, harness.Delivery, algo.ID(r.Process), func() { go m.refused() })
		}
	default:
		r.Type = trace.Deliver
		w.record(r)
		q.receive(func() { m.handle(q) })
	}
}

// peers are all processes.
func (w *world) peers() []algo.ID { return slices.Clone(w.setup.Graph.Peers()) }
