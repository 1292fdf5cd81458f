package harness

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Class is the rank of an event among those of one instant.
type Class uint8

// The classes, in their order.
const (
	Control     Class = iota // crash, restart, cut, heal
	Delivery                 // by sender, then send order
	TimerExpiry              // by process
	Application              // by process
)

// A Queue holds events in the order of their instants, and those of one instant in the order that
// simulation and real processes share: by class, then by process, then as they were put in. It is a
// 4-ary heap, whose entries it moves: E should be small, a pointer if need be.
type Queue[E any] struct {
	entries []entry[E]
	pushed  uint64
}

type entry[E any] struct {
	at    uint64 // the instant, in the order of numbers without a sign
	order uint64 // among the events of one instant
	event E
}

// instant is where at stands among all instants.
func instant(at time.Duration) uint64 { return uint64(at) ^ 1<<63 }

func (e *entry[E]) instant() time.Duration { return time.Duration(e.at ^ 1<<63) }

// before is 1 if a comes before b, otherwise 0. It does not branch: which of two events comes first
// no processor can guess.
func (a *entry[E]) before(b *entry[E]) int {
	_, borrow := bits.Sub64(a.order, b.order, 0)
	_, borrow = bits.Sub64(a.at, b.at, borrow)
	return int(borrow)
}

func (q *Queue[E]) Len() int { return len(q.entries) }

// Due says whether an event of the instant now or before is still to come.
func (q *Queue[E]) Due(now time.Duration) bool {
	return len(q.entries) > 0 && q.entries[0].at <= instant(now)
}

// Next is the instant of the first event; the queue must hold one.
func (q *Queue[E]) Next() time.Duration { return q.entries[0].instant() }

// Peek is the first event; the queue must hold one.
func (q *Queue[E]) Peek() E { return q.entries[0].event }

// All is every event with its instant, in the order in which they will come.
func (q *Queue[E]) All() iter.Seq2[time.Duration, E] {
	return func(yield func(time.Duration, E) bool) {
		entries := slices.SortedFunc(slices.Values(q.entries), func(a, b entry[E]) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
		})
		for _, e := range entries {
			if !yield(e.instant(), e.event) {
				return
			}
		}
	}
}

// Push puts e into the queue. P is the sender of a delivery, otherwise whom the
// event happens to.
func (q *Queue[E]) Push(at time.Duration, c Class, p algo.ID, e E) {
	q.pushed++
	fresh := entry[E]{instant(at), uint64(c)<<62 | uint64(p)<<40 | q.pushed&(1<<40-1), e}
	q.entries = append(q.entries, fresh)
	q.raise(len(q.entries)-1, &fresh)
}

// raise puts e where it belongs between place i, which is free, and the first.
func (q *Queue[E]) raise(i int, e *entry[E]) {
	for i > 0 {
		parent := (i - 1) / 4
		if e.before(&q.entries[parent]) == 0 {
			break
		}
		q.entries[i] = q.entries[parent]
		i = parent
	}
	q.entries[i] = *e
}

// Pop takes the first event out; the queue must hold one.
func (q *Queue[E]) Pop() (time.Duration, E) {
	all := q.entries
	top, n := all[0], len(all)-1
	last := all[n]
	all[n] = entry[E]{} // for the garbage collector
	all = all[:n]
	q.entries = all
	if n == 0 {
		return top.instant(), top.event
	}
	// The free place goes down to where it has no children, and the last event up from there: it
	// nearly always belongs far down.
	i := 0
	for {
		child := 4*i + 1
		if child+4 > n {
			break
		}
		four := all[child : child+4 : child+4]
		left, right := four[1].before(&four[0]), 2+four[3].before(&four[2])
		least := left ^ (left^right)&-four[right&3].before(&four[left&3])
		all[i] = four[least&3]
		i = child + least
	}
	if child := 4*i + 1; child < n {
		least := child
		for c := child + 1; c < n; c++ {
			if all[c].before(&all[least]) != 0 {
				least = c
			}
		}
		all[i] = all[least]
		i = least
	}
	q.raise(i, &last)
	return top.instant(), top.event
}
