package node

import (
	"time"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The node is the runtime of its process.
var _ harness.Runtime = (*node)(nil)

// What an algorithm may send fits the bus.
const _ = uint(transport.MaxFrame - algo.MaxMessage)

// Send decides the message's fate and puts its copies on the bus, also those
// that are to be lost. All sends of one event carry the event's instant.
func (n *node) Send(_ *harness.Process, to algo.ID, out harness.Outgoing) {
	sent := max(n.now, 0)
	fate := n.setup.Network.Send(&n.flow(out.Plane, to).Flow, sent, out.Bytes,
		n.overrides.On(uint32(n.ID), uint32(to), sent))
	f := transport.Frame{
		Plane: out.Plane, Kind: out.Kind, Incarnation: n.Incarnation, Seq: fate.Seq,
		Sent: sent, Due: fate.Due, Lost: fate.Lost, Depth: out.Depth, Lag: n.lag,
	}
	if out.Msg != nil {
		f.Payload = n.buf.Pack(n.setup.Alg, out.Kind, out.Msg)
	}
	for i := range n.omission {
		if o := &n.omission[i]; o.Fits(n.ID, out.Plane, out.Kind, sent) {
			f.Omitted = o.Loses(n.tally.Number(i).Add(1)) || f.Omitted
		}
	}
	n.publishCopy(trace.Send, to, &f, fate.Held)
	if fate.Duplicated {
		f.Copy, f.Due, f.Lost = 1, fate.CopyDue, fate.CopyLost
		n.publishCopy(trace.Duplicate, to, &f, fate.CopyHeld)
	}
}

func (n *node) publishCopy(t trace.Type, to algo.ID, f *transport.Frame, held time.Duration) {
	l := n.flow(f.Plane, to)
	l.ordinal++
	f.Ordinal = l.ordinal
	n.record = trace.Record{
		At: n.now, Type: t, Process: uint32(n.ID), Peer: uint32(to), Incarnation: n.Incarnation,
		Sent: f.Sent, Due: f.Due, Seq: f.Seq, Bytes: uint32(len(f.Payload)), Depth: f.Depth,
		Plane: f.Plane, Kind: f.Kind, Copy: f.Copy, Arg: uint64(held),
		Omitted: f.Omitted, // if it does not reach its receiver, the host has to know
	}
	n.recordMessage()
	if f.Plane == trace.Data {
		n.lastDue = max(n.lastDue, f.Due)
		n.tele.Word(control.WordLastDue).Store(uint64(n.lastDue))
		n.sent++
		n.tele.Word(control.WordSent).Store(n.sent)
	}
	n.frame = f.Append(n.frame[:0])
	if err := n.conn.Send(uint32(to), n.frame); err != nil && n.failed == nil {
		n.failed = err
	}
}

// Alarm puts an alarm of the process into the queue.
func (n *node) Alarm(m *harness.Process, at time.Duration, a harness.Alarm) {
	lag := max(n.lag-max(n.now-at, 0), 0) // what it is late already will count then
	if a.Fixed(n.setup) {
		lag = 0
	}
	n.queue.Push(at, a.Class(), m.ID, happening{what: anAlarm, alarm: a, lag: lag})
}

// Record writes r down, where it survives this process, and reports it if the
// host watches for it.
func (n *node) Record(m *harness.Process, r *trace.Record) {
	r.Due, r.Sent = n.due, n.lag
	if n.writeRecord(r); r.Type != trace.Up || m.Incarnation > 0 {
		n.reportWatched(r)
	}
}

func (n *node) reportWatched(r *trace.Record) {
	if n.watch[r.Type] {
		n.reportRecord(r)
	}
}

// reportRecord reports r to the host. The count comes first, so that the host knows of
// a report that it has not read yet.
func (n *node) reportRecord(r *trace.Record) {
	n.reports++
	n.tele.Word(control.WordReports).Store(n.reports)
	if err := n.out.say(control.Report{Record: r}); err != nil && n.failed == nil {
		n.failed = err
	}
}

// Save writes an encoded message down with the record that says so: the host hands
// the last one that is kept to the next incarnation.
func (n *node) Save(m *harness.Process, packed []byte, fate uint32) {
	r := trace.Record{At: n.now, Type: trace.Save, Process: uint32(m.ID), Peer: fate,
		Incarnation: m.Incarnation, Text: string(packed)}
	n.writeRecord(&r)
	n.reportWatched(&r)
}

// Done tells the host that the process's application has had all its entries.
func (n *node) Done(m *harness.Process) {
	r := trace.Record{
		At: n.now, Type: trace.Done, Process: uint32(m.ID), Incarnation: m.Incarnation,
	}
	n.writeRecord(&r)
	n.reportRecord(&r)
}
