package sim

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// The classes of events of one instant, in their order.
const (
	classControl uint64 = iota
	classDelivery
	classTimer
	classApplication
)

// An event is what the queue holds.
type event struct {
	what        uint8
	plane, kind uint8
	copy        uint8
	lost        bool
	from, to    algo.ID
	incarnation uint32 // of the sender; of an alarm's member
	bytes       uint32
	depth       uint32
	seq         uint64
	sent, due   time.Duration
	msg         algo.Message
	alarm       harness.Alarm
	instr       harness.Instruction
}

// What an event is.
const (
	delivery uint8 = iota
	alarm
	instruction
)

// A queue is a 4-ary heap of small keys over a pool of events: moving a key
// costs far less than moving an event, and four children share a cache line.
type queue struct {
	keys []key
	pool []event
	free []uint32
}

type key struct {
	at    time.Duration
	order uint64 // among the events of one instant
	slot  uint32
}

func (a *key) before(b *key) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *queue) len() int { return len(q.keys) }

// immediate says whether an event of the instant now is still to come.
func (q *queue) immediate(now time.Duration) bool {
	return len(q.keys) > 0 && q.keys[0].at <= now
}

func (q *queue) push(at time.Duration, order uint64, e event) {
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

func (q *queue) pop() (time.Duration, event) {
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
	q.pool[top.slot].msg = nil // for the garbage collector
	q.free = append(q.free, top.slot)
	return top.at, e
}
