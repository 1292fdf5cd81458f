package link

import (
	"iter"
	"math/bits"
)

// A Table has a value for each of some numbers above 0, such as those of the processes that one
// talks to: a hash table with linear probing, as large as it has to be, whose zero value is empty.
// A trial looks several up for every message, and in a map that costs twice as much.
type Table[V any] struct {
	slots []slot[V] // a power of two of them
	used  int
}

type slot[V any] struct {
	key   uint64 // 0: free
	value V
}

// At is the value of a number, and whether it was there before: otherwise it is a zero value now.
// It may move when another is asked for.
func (t *Table[V]) At(key uint64) (_ *V, known bool) {
	if 4*(t.used+1) > 3*len(t.slots) {
		t.grow()
	}
	s := t.find(key)
	if s.key == key {
		return &s.value, true
	}
	s.key = key
	t.used++
	return &s.value, false
}

// Get is the value of a number, nil if it has none.
func (t *Table[V]) Get(key uint64) *V {
	if t.used > 0 {
		if s := t.find(key); s.key == key {
			return &s.value
		}
	}
	return nil
}

// All is every number with its value, in no order.
func (t *Table[V]) All() iter.Seq2[uint64, *V] {
	return func(yield func(uint64, *V) bool) {
		for i := range t.slots {
			if s := &t.slots[i]; s.key != 0 && !yield(s.key, &s.value) {
				return
			}
		}
	}
}

// find is the slot that key has, or is to have. One is always free.
func (t *Table[V]) find(key uint64) *slot[V] {
	mask := uint64(len(t.slots) - 1)
	for i := key * golden >> (bits.LeadingZeros64(mask) & 63); ; i++ {
		if s := &t.slots[i&mask]; s.key == key || s.key == 0 {
			return s
		}
	}
}

func (t *Table[V]) grow() {
	old := t.slots
	t.slots = make([]slot[V], max(2, 2*len(old)))
	for i := range old {
		if old[i].key != 0 {
			*t.find(old[i].key) = old[i]
		}
	}
}
