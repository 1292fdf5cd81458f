package wire

import "time"

const (
	slotSize  = 1536 // of a packet, which has MTU bytes at most
	chunk     = 256  // slots that are made at a time
	mostSlots = 1 << 17
)

// A queue holds packets until they are due: those that are due first come first, and of one instant
// those that came first. Its packets lie in slots, so that none is allocated on its way.
type queue struct {
	heap   []waiting
	order  uint64
	chunks [][]byte
	free   []int32
}

// A waiting packet. Its instants are of Monotonic.
type waiting struct {
	due    time.Duration
	order  uint64
	sent   time.Duration
	unread time.Duration // how long it lay in the device
	line   int32
	slot   int32
	size   int32
}

// room is an empty slot; false: there is none left.
func (q *queue) room() (slot int32, ok bool) {
	if len(q.free) == 0 && !q.grow() {
		return 0, false
	}
	slot = q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	return slot, true
}

func (q *queue) grow() bool {
	made := len(q.chunks) * chunk
	if made >= mostSlots {
		return false
	}
	bytes := make([]byte, chunk*slotSize)
	for i := 0; i < len(bytes); i += 4096 { // else the first packets wait for their pages
		bytes[i] = 0
	}
	q.chunks = append(q.chunks, bytes)
	for i := chunk - 1; i >= 0; i-- {
		q.free = append(q.free, int32(made+i))
	}
	return true
}

// bytes are those of a slot.
func (q *queue) bytes(slot int32) []byte {
	at := int(slot%chunk) * slotSize
	return q.chunks[slot/chunk][at : at+slotSize : at+slotSize]
}

// release gives a slot back.
func (q *queue) release(slot int32) { q.free = append(q.free, slot) }

// next is when the first packet is due; false: there is none.
func (q *queue) next() (due time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].due, true
}

func (a *waiting) before(b *waiting) bool {
	return a.due < b.due || a.due == b.due && a.order < b.order
}

// push takes a packet in.
func (q *queue) push(w waiting) {
	w.order = q.order
	q.order++
	q.heap = append(q.heap, w)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !w.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = w
}

// pop is the first packet, whose slot is the caller's from now on. There must be one.
func (q *queue) pop() waiting {
	first, last := q.heap[0], q.heap[len(q.heap)-1]
	n := len(q.heap) - 1
	q.heap = q.heap[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && q.heap[child+1].before(&q.heap[child]) {
			child++
		}
		if !q.heap[child].before(&last) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = last
	return first
}

// clear forgets all packets.
func (q *queue) clear() {
	for i := range q.heap {
		q.release(q.heap[i].slot)
	}
	q.heap = q.heap[:0]
}
