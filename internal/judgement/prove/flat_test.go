package prove

import (
	"bytes"
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type sample struct {
	algo.Config
	flag   bool
	small  int8
	big    uint64
	share  float64
	name   string
	wait   time.Duration
	list   []algo.ID
	nested [][]string
	pair   [2]int
	inner  struct{ a, b uint8 }
	any    any
	table  map[algo.ID][]uint64
	whole  *big.Int
	left   *cell
	right  *cell
	rng    *rand.Rand
	do     func()
	ch     chan int
}

type cell struct {
	value int
	next  *cell
}

// fresh is the same value each time, and no part of it the same.
func fresh() *sample {
	s := &sample{
		Config: algo.Config{ID: 1, Peers: []algo.ID{1, 2}, Params: algo.Params{"x": int64(1)}, Incarnation: 3},
		flag:   true, small: -3, big: 1 << 63, share: 0.5, name: "token", wait: time.Second,
		list: append(make([]algo.ID, 0, 8), 1, 2), nested: [][]string{{"a"}, nil, {}}, pair: [2]int{1, 2},
		any: uint32(7), table: map[algo.ID][]uint64{}, whole: new(big.Int).Lsh(big.NewInt(1), 200),
		left: &cell{value: 1}, right: &cell{value: 1}, rng: rand.New(rand.NewPCG(1, 2)),
	}
	for i := algo.ID(1); i <= 20; i++ {
		s.table[i] = []uint64{uint64(i)}
	}
	s.left.next = s.left
	s.right.next = s.left
	return s
}

func flat(t *testing.T, f *flattener, s *sample) []byte {
	t.Helper()
	b, err := f.append(nil, reflect.TypeFor[sample](), reflect.ValueOf(s).UnsafePointer())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFlattener: what is restored has the same bytes, shares what was shared, and is a value of its own,
// but for what never changes.
func TestFlattener(t *testing.T) {
	t.Parallel()
	f := newFlattener()
	s := fresh()
	b := flat(t, f, s)
	got := &sample{Config: algo.Config{Peers: []algo.ID{9}}, list: []algo.ID{5}, do: func() {}}
	if err := f.restore(b, reflect.TypeFor[sample](), reflect.ValueOf(got).UnsafePointer()); err != nil {
		t.Fatal(err)
	}
	if again := flat(t, f, got); !bytes.Equal(again, b) {
		t.Errorf("%x is restored as %x", b, again)
	}
	if got.left.next != got.left || got.right.next != got.left || got.left == s.left {
		t.Error("pointers are not what they were")
	}
	if len(got.Peers) != 2 || got.Params["x"] != int64(1) || got.Incarnation != 3 {
		t.Errorf("of the configuration, %+v is left", got.Config)
	}
	if got.do != nil || got.nested[1] != nil || got.nested[2] == nil {
		t.Error("nil and empty are mixed up")
	}
	got.list[0], got.table[3][0] = 7, 7
	if s.list[0] != 1 || s.table[3][0] != 3 {
		t.Error("the copy shares memory")
	}
	if want := s.rng.Uint64(); got.rng.Uint64() != want {
		t.Error("the source of random numbers draws others")
	}
}

// TestFlattener_Different: what a process could tell from what it was has other bytes, and what it could
// not has the same.
func TestFlattener_Different(t *testing.T) {
	t.Parallel()
	f := newFlattener()
	seen := map[string]string{string(flat(t, f, fresh())): "nothing"}
	for name, change := range map[string]func(*sample){
		"no peers": func(s *sample) { s.Peers = nil },
		"config":   func(s *sample) { s.Leader = 2 }, "bool": func(s *sample) { s.flag = false },
		"int": func(s *sample) { s.small = 3 }, "uint": func(s *sample) { s.big-- },
		"float": func(s *sample) { s.share = 0.25 }, "string": func(s *sample) { s.name = "tokem" },
		"element": func(s *sample) { s.list[1] = 3 }, "length": func(s *sample) { s.list = s.list[:1] },
		"empty": func(s *sample) { s.list = s.list[:0] }, "nil": func(s *sample) { s.list = nil },
		"array": func(s *sample) { s.pair[1] = 3 }, "struct": func(s *sample) { s.inner.b = 1 },
		"dynamic type": func(s *sample) { s.any = uint64(7) }, "no value": func(s *sample) { s.any = nil },
		"map value": func(s *sample) { s.table[20][0] = 21 }, "map size": func(s *sample) { delete(s.table, 20) },
		"nil map": func(s *sample) { s.table = nil }, "whole": func(s *sample) { s.whole.Neg(s.whole) },
		"pointer":     func(s *sample) { s.right.next = nil },
		"not shared":  func(s *sample) { s.right.next = &cell{1, nil}; s.right.next.next = s.right.next },
		"random draw": func(s *sample) { s.rng.Uint64() }, "no source": func(s *sample) { s.rng = nil },
	} {
		s := fresh()
		change(s)
		b := string(flat(t, f, s))
		if other, twice := seen[b]; twice {
			t.Errorf("%q and %q have the same bytes", name, other)
		}
		seen[b] = name
	}
	for name, change := range map[string]func(*sample){
		"capacity": func(s *sample) { s.list = []algo.ID{1, 2} },
		"order":    func(s *sample) { s.table = maps.Clone(s.table) },
		"peers":    func(s *sample) { s.Peers = []algo.ID{1, 2} },
		"params":   func(s *sample) { s.Params = algo.Params{"x": int64(1)} },
	} {
		s := fresh()
		change(s)
		if seen[string(flat(t, f, s))] != "nothing" {
			t.Errorf("%s: other bytes", name)
		}
	}
}

// TestFlattener_Refused: what cannot be copied is an error, and so are bytes that no value has.
func TestFlattener_Refused(t *testing.T) {
	t.Parallel()
	typ := reflect.TypeFor[sample]()
	for want, change := range map[string]func(*sample){
		"a func() cannot be compared":             func(s *sample) { s.do = func() {} },
		"a chan int cannot be compared":           func(s *sample) { s.ch = make(chan int) },
		"a *prove.cell in a map cannot be copied": func(s *sample) { s.any = map[int]*cell{1: {}} },
	} {
		s := fresh()
		change(s)
		_, err := newFlattener().append(nil, typ, reflect.ValueOf(s).UnsafePointer())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	f := newFlattener()
	b := flat(t, f, fresh())
	for n := range len(b) {
		if f.restore(b[:n], typ, reflect.ValueOf(&sample{}).UnsafePointer()) == nil {
			t.Errorf("%d of %d bytes are enough", n, len(b))
		}
	}
	if f.restore(append(b, 0), typ, reflect.ValueOf(&sample{}).UnsafePointer()) == nil {
		t.Error("a byte behind a state goes unnoticed")
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	s, rng, want := &set{}, rand.New(rand.NewPCG(1, 1)), map[uint64]bool{}
	for range 100_000 {
		print := rng.Uint64N(60_000) * 0x9e3779b97f4a7c15
		if s.add(print) == want[max(print, 1)] {
			t.Fatalf("%x: known %v", print, want[print])
		}
		want[max(print, 1)] = true
	}
	if b := s.bytes(); b < 8*int64(len(want)) || b > 24*int64(len(want)) {
		t.Errorf("%d bytes for %d fingerprints", b, len(want))
	}
}
