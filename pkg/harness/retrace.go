package harness

import (
	"bytes"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Retrace walks through the records of a trial, wherever it took place, and feeds
// what reached each process to the same algorithm, one event after the other: the
// same instants, the same order of messages and timers. It must ask for the same
// again: every message, grant, leader and saved state. What it does not is returned,
// a sentence each; nothing is left out of the first mostTold. Fed is how many events
// it went through.
//
// A difference is a defect: of the simulation or the node, of the records, or of a
// plugin that depends on something other than its inputs.
func Retrace(s *Setup, records trace.List) (fed int, differences []string) {
	return retrace(s, records, nil, new(algo.Buffer))
}

// A Detail is what a record does not say: what its message holds, and what its event
// changed in the algorithm's process.
type Detail struct {
	Message string // as "{Term:2 Granted:true}", also of a Save; "" if it holds nothing
	Changes []Change
}

// A Change is of a variable. Of a process that comes up, all are listed, without
// Before.
type Change struct{ Name, Before, After string }

// A Retracing is what Details found.
type Retracing struct {
	Details     []Detail // of each record
	Fed         int
	Differences []string
	Panic       error // of the plugin, which ended it; nil: there was none
}

// Details tells what the records do not say: it does what Retrace does, and looks at the
// processes. Where there are differences, the details may be those of another course of
// events. The algorithm runs with buf. A panic of the plugin ends it, and is a difference.
func Details(s *Setup, records trace.List, buf *algo.Buffer) Retracing {
	return fed(s, records, make([]Detail, len(records)), buf)
}

// Feed is Details without the details.
func Feed(s *Setup, records trace.List, buf *algo.Buffer) Retracing { return fed(s, records, nil, buf) }

func fed(s *Setup, records trace.List, details []Detail, buf *algo.Buffer) (r Retracing) {
	r.Details = details
	defer func() {
		if what := recover(); what != nil {
			id, _ := buf.Running()
			r.Panic = Blame(id, what)
			r.Differences = append(r.Differences, r.Panic.Error())
		}
	}()
	r.Fed, r.Differences = retrace(s, records, r.Details, buf)
	return r
}

// retrace fills details, unless they are nil.
func retrace(s *Setup, records trace.List, details []Detail, buf *algo.Buffer) (fed int, told []string) {
	r := &retracing{setup: s, processes: make([]retraced, s.Nodes+1), sent: map[letter][]byte{}, buf: buf}
	for i := range records {
		if details != nil {
			r.detail = &details[i]
		}
		r.record(&records[i])
	}
	for id := range r.processes {
		if !r.processes[id].writes() {
			r.nothingLeft(algo.ID(id), 0, "the end")
		}
	}
	for id := range r.processes {
		r.processes[id].end()
	}
	if more := r.found - len(r.told); more > 0 {
		r.told = append(r.told, fmt.Sprintf("and %d more", more))
	}
	return r.fed, r.told
}

const mostTold = 20

// A letter names a message: all its copies.
type letter struct {
	from, to    uint32
	incarnation uint32
	plane       uint8
	seq         uint64
}

type retracing struct {
	setup     *Setup
	processes []retraced // by ID
	sent      map[letter][]byte
	buf       *algo.Buffer
	detail    *Detail // of the present record; nil: nobody asks
	fed       int
	found     int
	told      []string
}

// retraced is one process: what its algorithm asked for in the last event that is
// not yet in the records, and which timers it has set.
type retraced struct {
	step   *algo.Stepper // nil: down, or not up yet
	clock  clock
	asked  []algo.Effect
	timers map[algo.Timer]time.Duration // when they are due, by the clock
	saved  []byte
	state  []Variable // as far as somebody asks for details
	disk   disk
}

// A fault sets the clock of a process that is retraced. What else it does stands in records
// of its own.
var _ fault.Process = (*retraced)(nil)

func (p *retraced) ClockRate(now time.Duration, rate float64)        { p.clock.run(now, rate) }
func (p *retraced) ClockOffset(_, by time.Duration)                  { p.clock.offset = by }
func (p *retraced) Disk(_ time.Duration, d fault.Disk)               { p.disk.Disk = d }
func (p *retraced) Throttle(time.Duration, float64)                  {}
func (*retraced) Elect(time.Duration)                                {}
func (*retraced) Suspect(time.Duration, algo.ID, bool)               {}
func (*retraced) Request(time.Duration, time.Duration, algo.Session) {}
func (*retraced) Do(time.Duration, string, algo.ID)                  {}

func (r *retracing) differ(at time.Duration, p algo.ID, format string, args ...any) {
	if r.found++; len(r.told) < mostTold {
		r.told = append(r.told, fmt.Sprintf("%v: p%d: %s", at, p, fmt.Sprintf(format, args...)))
	}
}

// record takes in one record: something that reached the algorithm, or something
// that it asked for.
func (r *retracing) record(rec *trace.Record) {
	id, peer := algo.ID(rec.Process), algo.ID(rec.Peer)
	switch rec.Type {
	case trace.Up:
		r.up(rec)
	case trace.Crash:
		p := &r.processes[id] // it died in the middle of whatever it did
		p.end()
		p.asked, p.disk = nil, disk{}
	case trace.Deliver:
		r.deliver(rec)
	case trace.Timeout:
		r.timeout(rec)
	case trace.Request:
		r.feed(rec, algo.Event{Type: algo.Request, Session: algo.Session(rec.Peer)})
	case trace.Released:
		r.feed(rec, algo.Event{Type: algo.Release})
	case trace.Elect:
		r.feed(rec, algo.Event{Type: algo.Elect})
	case trace.Suspect, trace.Restore:
		r.suspicion(rec)
	case trace.Do:
		r.feed(rec, algo.Event{Type: algo.Do, Op: rec.Text, Peer: peer})
	case trace.Fault:
		if f, i := fault.Parse(rec.Text); f != nil {
			i.Obey(&r.processes[id], rec.At)
		}
	case trace.Send:
		r.send(rec)
	case trace.Duplicate, trace.Lose, trace.Undelivered:
		r.holds(rec)
	case trace.Granted:
		r.asks(rec, algo.OpGranted, "grants itself the critical section",
			func(*algo.Effect) bool { return true })
	case trace.Elected:
		r.asks(rec, algo.OpElected, fmt.Sprintf("names p%d in term %d", peer, rec.Arg),
			func(e *algo.Effect) bool { return e.Peer == peer && e.Term == rec.Arg })
	case trace.Save:
		if rec.Peer == trace.Kept {
			r.processes[id].saved = []byte(rec.Text)
		}
		r.processes[id].disk.writing = rec.Peer == trace.Refused // it ends soon, and does nothing until then
		r.asks(rec, algo.OpSave, "saves "+fmt.Sprintf("%x", rec.Text), func(e *algo.Effect) bool {
			b, err := r.setup.Alg.Codec.Encode(nil, e.Msg)
			r.message(e.Msg)
			return err == nil && string(b) == rec.Text
		})
	case trace.Log:
		r.asks(rec, algo.OpLog, "notes "+rec.Text, func(e *algo.Effect) bool { return e.Text == rec.Text })
	}
}

// up begins a life of a process with what the former one saved.
func (r *retracing) up(rec *trace.Record) {
	p, id := &r.processes[rec.Process], algo.ID(rec.Process)
	var saved algo.Message
	if p.saved != nil {
		var err error
		if saved, _, err = r.setup.Alg.Codec.Decode(p.saved); err != nil {
			r.differ(rec.At, id, "what it saved cannot be read: %v", err)
		}
	}
	p.end()
	p.clock = clock{}
	p.timers, p.asked = map[algo.Timer]time.Duration{}, nil
	p.step = r.setup.stepper(r.setup.Config(id, rec.Incarnation, saved), r.buf)
	p.state = nil
	r.feed(rec, algo.Event{Type: algo.Start})
}

// end is the end of a life of the process.
func (p *retraced) end() {
	if p.step != nil {
		p.step.End()
		p.step = nil
	}
}

// writes says whether the process may wait for a write: what reaches it then happens later.
func (p *retraced) writes() bool {
	return p.disk.writing || p.disk.Fails != "" && len(p.asked) > 0 && p.asked[0].Op == algo.OpSave
}

// feed hands an event to the algorithm, which must have asked for all that it did
// before.
func (r *retracing) feed(rec *trace.Record, ev algo.Event) {
	id := algo.ID(rec.Process)
	p := &r.processes[id]
	if p.step == nil {
		r.differ(rec.At, id, "%v reaches it while it is down", rec.Type)
		return
	}
	if p.writes() {
		p.disk.hold(ev, 0)
		return
	}
	r.nothingLeft(id, rec.At, "then "+rec.Type.String())
	r.fed++
	p.asked = p.asked[:0]
	for _, e := range p.step.Step(p.clock.shows(rec.At), ev) {
		switch e.Op {
		case algo.OpSetTimer:
			p.timers[e.Timer] = p.clock.advance(rec.At) + e.After
		case algo.OpCancelTimer:
			delete(p.timers, e.Timer)
		default:
			p.asked = append(p.asked, e)
		}
	}
	if r.detail != nil {
		before := p.state
		p.state = stateOf(p.step.Process())
		r.detail.Changes = Changes(before, p.state)
		if ev.Msg != nil {
			r.message(ev.Msg)
		}
	}
}

// message notes what m holds.
func (r *retracing) message(m algo.Message) {
	if r.detail != nil {
		if r.detail.Message = fmt.Sprintf("%+v", m); r.detail.Message == "{}" {
			r.detail.Message = ""
		}
	}
}

// holds notes what the message holds that rec is about.
func (r *retracing) holds(rec *trace.Record) {
	l := letter{rec.Peer, rec.Process, rec.Incarnation, rec.Plane, rec.Seq}
	if rec.Type == trace.Duplicate {
		l.from, l.to = rec.Process, rec.Peer
	}
	if payload, ok := r.sent[l]; ok && r.detail != nil {
		if m, _, err := r.setup.Alg.Codec.Decode(payload); err == nil {
			r.message(m)
		}
	}
}

// nothingLeft reports what the algorithm asked for and the records do not have.
func (r *retracing) nothingLeft(id algo.ID, at time.Duration, next string) {
	p := &r.processes[id]
	if p.step == nil {
		return
	}
	for i := range p.asked {
		r.differ(at, id, "the algorithm %s, and the records have %s", inWords(&p.asked[i]), next)
	}
	p.asked = p.asked[:0]
}

// asks looks for what the records have among what the algorithm has asked for,
// whose order is that of the records.
func (r *retracing) asks(rec *trace.Record, op algo.Op, what string,
	same func(*algo.Effect) bool) *algo.Effect {
	id := algo.ID(rec.Process)
	p := &r.processes[id]
	if len(p.asked) == 0 {
		r.differ(rec.At, id, "the records have that it %s, and the algorithm asks for nothing more", what)
		return nil
	}
	e := p.asked[0]
	if e.Op != op || !same(&e) {
		r.differ(rec.At, id, "the records have that it %s, and the algorithm %s", what, inWords(&e))
	}
	p.asked = p.asked[1:]
	// The write is done, and what waited for it happens.
	for len(p.asked) == 0 && !p.disk.writing && len(p.disk.waiting) > 0 {
		h := p.disk.waiting[0]
		p.disk.waiting = p.disk.waiting[1:]
		r.feed(rec, h.ev)
	}
	return &e
}

func inWords(e *algo.Effect) string {
	switch e.Op {
	case algo.OpSend:
		return fmt.Sprintf("sends %s to p%d", e.Msg.Kind(), e.Peer)
	case algo.OpGranted:
		return "grants itself the critical section"
	case algo.OpElected:
		return fmt.Sprintf("names p%d in term %d", e.Peer, e.Term)
	case algo.OpSave:
		return "saves its state"
	case algo.OpLog:
		return "notes " + e.Text
	}
	return "asks for something unknown"
}

// send holds a message against the one that the algorithm sends, down to the number
// of its bytes, and keeps its content for the receiver.
func (r *retracing) send(rec *trace.Record) {
	if IsHeartbeat(rec) {
		return
	}
	kinds, codec := r.setup.Alg.Codec.Kinds(), r.setup.Alg.Codec
	what := fmt.Sprintf("message %d", rec.Kind)
	if int(rec.Kind) < len(kinds) {
		what = kinds[rec.Kind]
	}
	var payload []byte
	e := r.asks(rec, algo.OpSend, fmt.Sprintf("sends %s to p%d", what, rec.Peer), func(e *algo.Effect) bool {
		kind, ok := codec.KindOf(e.Msg)
		return ok && kind == rec.Kind && uint32(e.Peer) == rec.Peer
	})
	if e == nil || e.Op != algo.OpSend {
		return
	}
	r.message(e.Msg)
	if kind, ok := codec.KindOf(e.Msg); ok {
		payload = codec.Append(nil, kind, e.Msg)
	}
	if len(payload) != int(rec.Bytes) {
		r.differ(rec.At, algo.ID(rec.Process), "%s to p%d has %d bytes in the records and %d from the "+
			"algorithm", what, rec.Peer, rec.Bytes, len(payload))
	}
	r.sent[letter{rec.Process, rec.Peer, rec.Incarnation, rec.Plane, rec.Seq}] = bytes.Clone(payload)
}

func (r *retracing) deliver(rec *trace.Record) {
	if IsHeartbeat(rec) {
		return
	}
	id := algo.ID(rec.Process)
	payload, ok := r.sent[letter{rec.Peer, rec.Process, rec.Incarnation, rec.Plane, rec.Seq}]
	if !ok {
		r.differ(rec.At, id, "message %d of p%d reaches it, which no process sent", rec.Seq, rec.Peer)
		return
	}
	msg, _, err := r.setup.Alg.Codec.Decode(payload)
	if err != nil {
		r.differ(rec.At, id, "message %d of p%d cannot be read: %v", rec.Seq, rec.Peer, err)
		return
	}
	r.feed(rec, algo.Event{Type: algo.Receive, Peer: algo.ID(rec.Peer), Msg: msg})
}

func (r *retracing) timeout(rec *trace.Record) {
	p, id, name := &r.processes[rec.Process], algo.ID(rec.Process), algo.Timer(rec.Text)
	switch due, set := p.timers[name]; {
	case p.step == nil:
	case !set:
		r.differ(rec.At, id, "timer %s fires, which the algorithm has not set", name)
	case p.clock.advance(rec.At) < due:
		r.differ(rec.At, id, "timer %s fires before it is due, at %v", name, p.clock.when(due))
	}
	delete(p.timers, name)
	r.feed(rec, algo.Event{Type: algo.Timeout, Timer: name})
}

// suspicion reaches those alone that listen to the detector themselves; the others
// have an Elect of their own in the records.
func (r *retracing) suspicion(rec *trace.Record) {
	p := &r.processes[rec.Process]
	if p.step == nil || !p.step.Monitors() {
		return
	}
	ev := algo.Event{Type: algo.Suspect, Peer: algo.ID(rec.Peer)}
	if rec.Type == trace.Restore {
		ev.Type = algo.Restore
	}
	r.feed(rec, ev)
}
