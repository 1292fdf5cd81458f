package harness

import (
	"cmp"
	"iter"
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

// A Queue holds events in the order of their instants, and those of one instant
// in the order that both worlds keep: by class, then by process, then as they
// were put in. It is a 4-ary heap of small keys over a pool of events: moving a key
// costs far less than moving an event, and four children share a cache line.
type Queue[E any] struct {
	keys   []key
	pool   []E
	free   []uint32
	pushed uint64
}

type key struct {
	at    time.Duration
	order uint64 // among the events of one instant
	slot  uint32
}

func (a *key) before(b *key) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *Queue[E]) Len() int { return len(q.keys) }

// Due says whether an event of the instant now or before is still to come.
func (q *Queue[E]) Due(now time.Duration) bool { return len(q.keys) > 0 && q.keys[0].at <= now }

// Next is the instant of the first event; the queue must hold one.
func (q *Queue[E]) Next() time.Duration { return q.keys[0].at }

// Peek is the first event; the queue must hold one.
func (q *Queue[E]) Peek() E { return q.pool[q.keys[0].slot] }

// All is every event with its instant, in the order in which they will come.
func (q *Queue[E]) All() iter.Seq2[time.Duration, E] {
	return func(yield func(time.Duration, E) bool) {
		keys := slices.SortedFunc(slices.Values(q.keys), func(a, b key) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
		})
		for _, k := range keys {
			if !yield(k.at, q.pool[k.slot]) {
				return
			}
		}
	}
}

// Push puts e into the queue. P is the sender of a delivery, otherwise whom the
// event happens to.
func (q *Queue[E]) Push(at time.Duration, c Class, p algo.ID, e E) {
	q.pushed++
	order := uint64(c)<<62 | uint64(p)<<40 | q.pushed&(1<<40-1)
	var slot uint32
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
		q.pool[slot] = e
	} else {
		slot = uint32(len(q.pool))
		q.pool = append(q.pool, e)
	}
	k := key{at, order, slot}
	q.keys = append(q.keys, k)
	i := len(q.keys) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !k.before(&q.keys[parent]) {
			break
		}
		q.keys[i] = q.keys[parent]
		i = parent
	}
	q.keys[i] = k
}

// Pop takes the first event out; the queue must hold one.
func (q *Queue[E]) Pop() (time.Duration, E) {
	top := q.keys[0]
	last := q.keys[len(q.keys)-1]
	q.keys = q.keys[:len(q.keys)-1]
	if n := len(q.keys); n > 0 {
		i := 0
		for {
			child := 4*i + 1
			if child >= n {
				break
			}
			least := child
			for c := child + 1; c < min(child+4, n); c++ {
				if q.keys[c].before(&q.keys[least]) {
					least = c
				}
			}
			if !q.keys[least].before(&last) {
				break
			}
			q.keys[i] = q.keys[least]
			i = least
		}
		q.keys[i] = last
	}
	e := q.pool[top.slot]
	var none E
	q.pool[top.slot] = none // for the garbage collector
	q.free = append(q.free, top.slot)
	return top.at, e
}
