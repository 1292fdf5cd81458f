package prove

import "sync"

// A set holds fingerprints, of 8 bytes each. It may be used by several workers.
type set struct {
	shards [shards]shard
}

// shards is how many parts of a set are locked apart, and grow apart.
const shards = 64

type shard struct {
	mu    sync.Mutex
	slots []uint64 // 0: free
	n     int
	_     [64]byte // no two locks in one line of a cache
}

// add puts a fingerprint into the set, and says whether it was not there.
func (s *set) add(print uint64) bool {
	if print == 0 {
		print = 1
	}
	h := &s.shards[print>>58]
	h.mu.Lock()
	if h.n*4 >= len(h.slots)*3 {
		h.grow()
	}
	mask := uint64(len(h.slots) - 1)
	i := print & mask
	for h.slots[i] != 0 {
		if h.slots[i] == print {
			h.mu.Unlock()
			return false
		}
		i = (i + 1) & mask
	}
	h.slots[i] = print
	h.n++
	h.mu.Unlock()
	return true
}

func (h *shard) grow() {
	old := h.slots
	h.slots = make([]uint64, max(2*len(old), 64))
	mask := uint64(len(h.slots) - 1)
	for _, print := range old {
		if print == 0 {
			continue
		}
		i := print & mask
		for h.slots[i] != 0 {
			i = (i + 1) & mask
		}
		h.slots[i] = print
	}
}

// bytes is how much memory the set takes.
func (s *set) bytes() (sum int64) {
	for i := range s.shards {
		h := &s.shards[i]
		h.mu.Lock()
		sum += 8 * int64(len(h.slots))
		h.mu.Unlock()
	}
	return sum
}

// A trail holds, for each state that a worker found, the state before it and the choice between them, in
// 8 bytes.
type trail struct {
	blocks [][]uint64
	n      int
}

const block = 1 << 14

func (t *trail) add(before uint64, c choice) (at int) {
	if t.n%block == 0 {
		t.blocks = append(t.blocks, make([]uint64, 0, block))
	}
	last := &t.blocks[len(t.blocks)-1]
	*last = append(*last, before<<24|uint64(c))
	t.n++
	return t.n - 1
}

func (t *trail) at(i int) (before uint64, c choice) {
	x := t.blocks[i/block][i%block]
	return x >> 24, choice(x & (1<<24 - 1))
}

// A memo remembers numbers by numbers. It is for one worker.
type memo[T any] struct {
	keys   []uint64 // less one; 0: free
	values []T
	n      int
}

func (m *memo[T]) get(key uint64) (v T, known bool) {
	if len(m.keys) == 0 {
		return v, false
	}
	key++
	mask := uint64(len(m.keys) - 1)
	for i := mix(key) & mask; m.keys[i] != 0; i = (i + 1) & mask {
		if m.keys[i] == key {
			return m.values[i], true
		}
	}
	return v, false
}

func (m *memo[T]) put(key uint64, v T) {
	if m.n*2 >= len(m.keys) {
		keys, values := m.keys, m.values
		m.keys, m.values = make([]uint64, max(2*len(keys), 256)), make([]T, max(2*len(keys), 256))
		for i, k := range keys {
			if k != 0 {
				m.insert(k, values[i])
			}
		}
	}
	m.n++
	m.insert(key+1, v)
}

func (m *memo[T]) insert(key uint64, v T) {
	mask := uint64(len(m.keys) - 1)
	i := mix(key) & mask
	for m.keys[i] != 0 {
		i = (i + 1) & mask
	}
	m.keys[i], m.values[i] = key, v
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// part is what the number at a place of a state adds to the state's fingerprint.
func part(at int, number uint32) uint64 {
	return mix(mix(uint64(at+1)*0x9e3779b97f4a7c15+uint64(number)) + 0x632be59bd9b4e019)
}
