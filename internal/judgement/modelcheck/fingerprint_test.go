package modelcheck

import (
	"maps"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type sample struct {
	algo.Config
	flag  bool
	small int8
	big   uint64
	share float64
	name  string
	wait  time.Duration
	list  []algo.ID
	pair  [2]int
	inner struct{ a, b uint8 }
	any   any
	table map[algo.ID][]uint64
	whole *big.Int
	left  *cell
	right *cell
	rng   *rand.Rand
	do    func()
	ch    chan int
}

type cell struct {
	value int
	next  *cell
}

// fresh is the same value each time, and no part of it the same.
func fresh() *sample {
	s := &sample{
		Config: algo.Config{ID: 1, Peers: []algo.ID{1, 2}, Params: algo.Params{"x": int64(1)}},
		flag:   true, small: -3, big: 1 << 63, share: 0.5, name: "token", wait: time.Second,
		list: append(make([]algo.ID, 0, 8), 1, 2), pair: [2]int{1, 2}, any: uint32(7),
		table: map[algo.ID][]uint64{}, whole: new(big.Int).Lsh(big.NewInt(1), 200),
		left: &cell{value: 1}, right: &cell{value: 1}, rng: rand.New(rand.NewPCG(1, 2)),
	}
	for i := algo.ID(1); i <= 20; i++ {
		s.table[i] = []uint64{uint64(i)}
	}
	s.left.next = s.left
	return s
}

func spell(t *testing.T, v any) fingerprint {
	t.Helper()
	var p print
	p.add(v)
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.sum()
}

// TestFingerprint_Equal: neither addresses nor the order of maps, neither room to
// grow nor what never changes makes a difference.
func TestFingerprint_Equal(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sample){
		"nothing":            func(*sample) {},
		"capacity":           func(s *sample) { s.list = []algo.ID{1, 2} },
		"a map in its order": func(s *sample) { s.table = maps.Clone(s.table) },
		"there and back":     func(s *sample) { s.whole.Mul(s.whole, s.whole).Sqrt(s.whole) },
		"peers":              func(s *sample) { s.Peers = []algo.ID{1, 2, 3} },
		"parameters":         func(s *sample) { s.Params = nil },
	} {
		s := fresh()
		change(s)
		if spell(t, s) != spell(t, fresh()) {
			t.Errorf("%s: another fingerprint", name)
		}
	}
}

// TestFingerprint_Different: whatever a process could tell from what it was, the
// fingerprint tells as well.
func TestFingerprint_Different(t *testing.T) {
	t.Parallel()
	seen := map[fingerprint]string{spell(t, fresh()): "nothing"}
	for name, change := range map[string]func(*sample){
		"config":                  func(s *sample) { s.Leader = 2 },
		"bool":                    func(s *sample) { s.flag = false },
		"int":                     func(s *sample) { s.small = 3 },
		"uint":                    func(s *sample) { s.big-- },
		"float":                   func(s *sample) { s.share = 0.25 },
		"string":                  func(s *sample) { s.name = "tokem" },
		"duration":                func(s *sample) { s.wait++ },
		"element":                 func(s *sample) { s.list[1] = 3 },
		"order":                   func(s *sample) { s.list[0], s.list[1] = 2, 1 },
		"length":                  func(s *sample) { s.list = s.list[:1] },
		"empty":                   func(s *sample) { s.list = s.list[:0] },
		"nil":                     func(s *sample) { s.list = nil },
		"array":                   func(s *sample) { s.pair[1] = 3 },
		"struct":                  func(s *sample) { s.inner.b = 1 },
		"struct, other field":     func(s *sample) { s.inner.a = 1 },
		"dynamic type":            func(s *sample) { s.any = uint64(7) },
		"dynamic value":           func(s *sample) { s.any = uint32(8) },
		"no dynamic value":        func(s *sample) { s.any = nil },
		"map value":               func(s *sample) { s.table[20][0] = 21 },
		"map key":                 func(s *sample) { s.table[21] = s.table[20]; delete(s.table, 20) },
		"map size":                func(s *sample) { delete(s.table, 20) },
		"nil map":                 func(s *sample) { s.table = nil },
		"empty map":               func(s *sample) { clear(s.table) },
		"number of any size":      func(s *sample) { s.whole.Add(s.whole, big.NewInt(1)) },
		"its sign":                func(s *sample) { s.whole.Neg(s.whole) },
		"behind a pointer":        func(s *sample) { s.right.value = 2 },
		"longer circle":           func(s *sample) { s.left.next = &cell{value: 1, next: s.left} },
		"end instead of a circle": func(s *sample) { s.left.next = nil },
		"shared, not alike":       func(s *sample) { s.left.next, s.right = nil, s.left },
		"random numbers drawn":    func(s *sample) { s.rng.Uint64() },
		"no source":               func(s *sample) { s.rng = nil },
	} {
		s := fresh()
		change(s)
		print := spell(t, s)
		if other, twice := seen[print]; twice {
			t.Errorf("%q and %q have the same fingerprint", name, other)
		}
		seen[print] = name
	}
}

// TestFingerprint_NoBoundaryIsLost: what stands side by side does not run together.
func TestFingerprint_NoBoundaryIsLost(t *testing.T) {
	t.Parallel()
	type texts struct{ a, b string }
	type lists struct{ a, b []uint8 }
	for _, pair := range [][2]any{
		{texts{"ab", "c"}, texts{"a", "bc"}},
		{lists{[]uint8{1}, []uint8{1, 1}}, lists{[]uint8{1, 1}, []uint8{1}}},
		{[]any{uint8(1), nil}, []any{nil, uint8(1)}},
		{map[string]string{"a": "bc"}, map[string]string{"ab": "c"}},
		{map[string]string{"a": "b", "c": "d"}, map[string]string{"a": "d", "c": "b"}},
	} {
		if spell(t, pair[0]) == spell(t, pair[1]) {
			t.Errorf("%#v is taken for %#v", pair[0], pair[1])
		}
	}
}

// TestFingerprint_Refused: what cannot be compared is an error, not a guess.
func TestFingerprint_Refused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sample){
		"function":          func(s *sample) { s.do = func() {} },
		"channel":           func(s *sample) { s.ch = make(chan int) },
		"function in a map": func(s *sample) { s.any = map[int]func(){1: func() {}} },
	} {
		s := fresh()
		change(s)
		var p print
		if p.add(s); p.err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
