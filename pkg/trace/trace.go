// Package trace is what happened in a trial: one record type, written alike by
// the simulator and by real nodes, and read by the checkers, the metrics and
// the diagrams. It does not know what wrote a record or why.
package trace

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"time"
)

// A Type says what a record reports.
type Type uint8

// The types of records. Their numbers stand in stored traces: append, never
// renumber.
const (
	None        Type = iota
	Up               // Process joined: Incarnation says for the how-many-th time
	Crash            // Process is gone
	Send             // Process handed message Seq of the link to Peer to the network
	Duplicate        // the network made a second copy of that message
	Deliver          // Process handled a message from Peer
	Lose             // a message from Peer to Process was lost: by the loss draw, or by a cut link
	Undelivered      // a message from Peer met Process down
	Request          // the application of Process asked for the critical section
	Granted          // Process entered the critical section
	Released         // Process left it
	Elect            // Process was made an initiator of an election
	Elected          // Process takes Peer for the leader (none: 0) in term Arg
	Suspect          // the failure detector of Process suspects Peer
	Restore          // the failure detector of Process trusts Peer again
	Timeout          // the timer Text of Process fired
	Cut              // a partition began
	Heal             // a partition ended
	Cause            // the harness did what the next operation is counted from
	Save             // Process saved its state
	Log              // Process wrote a line, Text
	Do               // Process was given an operation of its algorithm's own
	Pause            // Process was stopped
	Resume           // Process goes on
	Done             // the application of Process has had all its entries
	Slow             // Process takes Arg ns longer for each event from now on; 0: no longer
	Flaky            // links have other properties from now on: Text; without Text no longer
	Fault            // Process is under the fault Text, with its arguments; without them no longer
	Unsound          // the invariant of Process no longer holds: Text. Beyond the model only
	Handled          // the algorithm of Process took Arg ns for the event before
	Written          // Peer, the leader, acknowledged a write of the client of Process
	Unwritten        // it did not, or there was none to ask, and Peer is 0
	types            // how many there are
)

var typeNames = [types]string{
	"none", "up", "crash", "send", "duplicate", "deliver", "lose", "undelivered", "request", "granted",
	"released", "elect", "elected", "suspect", "restore", "timeout", "cut", "heal", "cause", "save",
	"log", "do", "pause", "resume", "done", "slow", "flaky",
	"fault", "unsound", "handled", "written", "unwritten",
}

// Types is every type of records, in the order of their numbers.
func Types() iter.Seq[Type] {
	return func(yield func(Type) bool) {
		for t := None + 1; t < types && yield(t); t++ {
		}
	}
}

func (t Type) String() string {
	if t < types {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// The planes of the network. Messages of the algorithm and of the failure
// detector are numbered, drawn and counted apart.
const (
	Data      uint8 = 0
	Detection uint8 = 1
)

// TypeOf is the type of that name, and whether there is one.
func TypeOf(name string) (Type, bool) {
	for t := Up; t < types; t++ {
		if typeNames[t] == name {
			return t, true
		}
	}
	return None, false
}

// HasText says whether records of this type carry a text. Its length in bytes
// is then their Arg.
func (t Type) HasText() bool {
	return t == Log || t == Timeout || t == Save || t == Cut || t == Heal || t == Flaky ||
		t == Do || t == Fault || t == Unsound
}

// IsMessage says whether records of type t are about a message.
func (t Type) IsMessage() bool { return t >= Send && t <= Undelivered }

// What Arg says of a message that was not lost by the network's draw.
const (
	WithSender = 1 // it died with its sender
	Omitted    = 2 // a scheduled fault lost it
	Severed    = 3 // its link was cut
)

// What became of a write: the Peer of a Save.
const (
	Kept      = 0
	Forgotten = 1 // it was acknowledged, and is gone after a crash
	Refused   = 2 // it failed
)

// A Record is one event at one process. Which fields mean something depends on
// Type; the others are zero.
//
// Arg is of Elected the term; of Crash, and of Up behind one, the instant in ns at which
// it was to be; of Request the intended instant in ns, where Peer is the session that it
// names, if there are any, as of Granted; of Send and Duplicate by how many
// ns the order of the link makes it due later than the latency that was drawn; of
// Deliver by how many ns the bus was late; of Lose why, WithSender, Omitted or Severed,
// if it was not the network's draw; of Slow by how many ns each event takes longer; of
// Handled how many ns of processor time the algorithm took for the event before, if that
// is worth a record: what it asked for happens at this instant, and not at that of the event.
// Peer of Save says what became of the write. Written and Unwritten are of writes that began at
// Arg ns; Seq is how many clients began one then. Seq 0 is of a write that Process made as the
// holder of a lock, and that the system accepted or refused.
//
// What happens at a real node on its own account is due at an instant, as a message
// is, and may happen late; Sent then holds its lag. In simulation nothing is late,
// and both are zero.
type Record struct {
	At          time.Duration // since the trial's common start; may be negative before it
	Sent        time.Duration // messages: when it was handed to the network; others: see Lag
	Due         time.Duration // messages: when the network model wants it delivered; others: when it was due
	Seq         uint64        // messages: k, from 1 on, of its link, plane and sender's incarnation
	Arg         uint64        // a number of the type's own, see the record's comment
	Process     uint32        // whom it happened to
	Peer        uint32        // messages: the other end; detector and leader: whom it names; others: see Arg
	Incarnation uint32        // of the process; for messages of the sender: 0 at first
	Bytes       uint32        // messages: encoded size of the payload
	Depth       uint32        // messages: length of the longest causal chain that ends in this one
	Type        Type
	Plane       uint8
	Kind        uint8 // messages: index into the algorithm's list of messages
	Copy        uint8 // messages: 0, or 1 for the network's duplicate
	Omitted     bool  // Send and Duplicate: a scheduled fault will lose it
	// Text is the line of a Log, the timer's name of a Timeout, the operation of a
	// Do, the encoded value of a Save, the links of a Cut or Heal, what a Flaky
	// changes, the name and arguments of a Fault, and what is wrong of an Unsound. It is
	// not part of the encoded record: what stores records keeps it beside.
	Text string
}

// Lag is how much earlier what r reports could have happened on a machine that runs
// everything the moment it is due: the lateness of its event, of the event that led
// to that one by a message or a timer, and so on. It is of what real nodes do, and
// not of messages.
func (r *Record) Lag() time.Duration { return r.Sent }

// Size is the number of bytes of an encoded record.
const Size = 64

// Put encodes r into b, which must hold Size bytes. The encoding has fixed
// positions and is little-endian.
func (r *Record) Put(b []byte) {
	_ = b[Size-1]
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(r.At))
	le.PutUint64(b[8:], uint64(r.Sent))
	le.PutUint64(b[16:], uint64(r.Due))
	le.PutUint64(b[24:], r.Seq)
	le.PutUint64(b[32:], r.Arg)
	le.PutUint32(b[40:], r.Process)
	le.PutUint32(b[44:], r.Peer)
	le.PutUint32(b[48:], r.Incarnation)
	le.PutUint32(b[52:], r.Bytes)
	le.PutUint32(b[56:], r.Depth)
	b[60], b[61], b[62], b[63] = byte(r.Type), r.Plane, r.Kind, r.Copy
	if r.Omitted {
		b[63] |= omitted
	}
}

// omitted stands beside Copy in an encoded record.
const omitted = 0x80

// Get decodes b, which must hold Size bytes, and says whether it is a record.
func (r *Record) Get(b []byte) error {
	if len(b) < Size {
		return fmt.Errorf("trace record: %d bytes, expected %d", len(b), Size)
	}
	le := binary.LittleEndian
	*r = Record{
		At:          time.Duration(le.Uint64(b[0:])),
		Sent:        time.Duration(le.Uint64(b[8:])),
		Due:         time.Duration(le.Uint64(b[16:])),
		Seq:         le.Uint64(b[24:]),
		Arg:         le.Uint64(b[32:]),
		Process:     le.Uint32(b[40:]),
		Peer:        le.Uint32(b[44:]),
		Incarnation: le.Uint32(b[48:]),
		Bytes:       le.Uint32(b[52:]),
		Depth:       le.Uint32(b[56:]),
		Type:        Type(b[60]),
		Plane:       b[61],
		Kind:        b[62],
		Copy:        b[63] &^ omitted,
		Omitted:     b[63]&omitted != 0,
	}
	if r.Type == None || r.Type >= types || r.Plane > Detection || r.Copy > 1 {
		return fmt.Errorf("trace record: type %d, plane %d, copy %d: not a record", b[60], b[61], b[63])
	}
	return nil
}

// A Sink takes records in the order in which they happened. The record is the
// writer's again when Record returns.
type Sink interface {
	Record(r *Record)
}

// A SinkFunc is a function that takes records.
type SinkFunc func(r *Record)

// Record calls f.
func (f SinkFunc) Record(r *Record) { f(r) }

// Tee hands every record to each of sinks in turn.
func Tee(sinks ...Sink) Sink {
	return SinkFunc(func(r *Record) {
		for _, s := range sinks {
			s.Record(r)
		}
	})
}

// A List keeps every record.
type List []Record

// Record appends a copy of r. The list doubles: of a long trace, append alone, which
// grows by a quarter, would copy each record four times.
func (l *List) Record(r *Record) {
	if n := len(*l); n == cap(*l) {
		*l = slices.Grow(*l, max(n, 64))
	}
	*l = append(*l, *r)
}
