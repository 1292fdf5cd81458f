package check

import (
	"iter"
	"slices"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// transits has a value for each message on its way, until the last of its copies is accounted for.
// Messages of a link are numbered, so that those on their way lie side by side.
type transits[V any] struct{ lanes link.Table[lane[V]] }

// A lane is one direction of a link, on one plane.
type lane[V any] struct {
	transit[V]              // of the sender's latest incarnation from which something came
	old        []transit[V] // of those before
}

// A transit is what is on its way of one incarnation of the sender.
type transit[V any] struct {
	incarnation uint32
	first       uint64 // the number of messages[0]
	head        int    // nothing before it is on its way any more
	messages    []cargo[V]
}

type cargo[V any] struct {
	left  int // copies that are on their way
	value V
}

// laneOf names the lane that r is about.
func laneOf(r *trace.Record) uint64 {
	from, to := r.Process, r.Peer
	if r.Type != trace.Send && r.Type != trace.Duplicate {
		from, to = to, from
	}
	return uint64(from)<<33 | uint64(to)<<1 | uint64(r.Plane)
}

// send puts the message of a record of type Send on its way.
func (f *transits[V]) send(r *trace.Record, value V) {
	l, known := f.lanes.At(laneOf(r))
	if known && l.incarnation != r.Incarnation {
		l.old = slices.DeleteFunc(append(l.old, l.transit), func(t transit[V]) bool {
			return t.head == len(t.messages)
		})
		l.transit = transit[V]{}
	}
	l.incarnation = r.Incarnation
	switch {
	case l.head == len(l.messages):
		l.first, l.head, l.messages = r.Seq, 0, l.messages[:0]
	case len(l.messages) == cap(l.messages) && l.head > len(l.messages)/2:
		l.first += uint64(l.head)
		l.messages = l.messages[:copy(l.messages, l.messages[l.head:])]
		l.head = 0
	}
	for l.first+uint64(len(l.messages)) < r.Seq { // nobody asks for those between
		l.messages = append(l.messages, cargo[V]{})
	}
	l.messages = append(l.messages, cargo[V]{1, value})
}

// again is a second copy of a message on its way, which r is about. It is nil if there is none.
func (f *transits[V]) again(r *trace.Record) *V {
	if _, c := f.find(r); c != nil {
		c.left++
		return &c.value
	}
	return nil
}

// end takes one copy of the message that r is about off its way, and says whether it was the last.
// What it returns is nil if that message is on no way, and otherwise good until the next message.
func (f *transits[V]) end(r *trace.Record) (_ *V, last bool) {
	l, c := f.find(r)
	if c == nil {
		return nil, false
	}
	c.left--
	for l.head < len(l.messages) && l.messages[l.head].left == 0 {
		l.head++
	}
	return &c.value, c.left == 0
}

func (f *transits[V]) find(r *trace.Record) (*transit[V], *cargo[V]) {
	l := f.lanes.Get(laneOf(r))
	if l == nil {
		return nil, nil
	}
	in := &l.transit
	for i := 0; in.incarnation != r.Incarnation; i++ {
		if i == len(l.old) {
			return nil, nil
		}
		in = &l.old[i]
	}
	i := r.Seq - in.first // which wraps round, if it comes before
	if i >= uint64(len(in.messages)) || in.messages[i].left == 0 {
		return nil, nil
	}
	return in, &in.messages[i]
}

// forget takes everything off its way.
func (f *transits[V]) forget() {
	for _, l := range f.lanes.All() {
		l.old, l.head, l.messages = nil, 0, l.messages[:0]
	}
}

// all is the value of every message on its way, with its receiver, in no order.
func (f *transits[V]) all() iter.Seq2[uint32, V] {
	return func(yield func(uint32, V) bool) {
		for key, l := range f.lanes.All() {
			for _, in := range append(l.old, l.transit) {
				for _, c := range in.messages[in.head:] {
					if c.left > 0 && !yield(uint32(key>>1), c.value) {
						return
					}
				}
			}
		}
	}
}
