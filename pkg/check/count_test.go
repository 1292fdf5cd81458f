package check

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestCount: a tree is the list of its numbers, however many there are, and what is changed of it is a copy.
func TestCount(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 256, 257, 1000, 4096, 4097, 9000} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		type pair struct {
			tree *count
			list []uint32
		}
		w := width(n)
		all := []pair{{nil, make([]uint32, n)}}
		for range 200 {
			a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
			list := slices.Clone(a.list)
			if r.IntN(2) == 0 {
				i, v := r.IntN(n), uint32(r.IntN(5))
				list[i] = v
				all = append(all, pair{a.tree.with(i, v, w), list})
				continue
			}
			for i, v := range b.list {
				list[i] = max(list[i], v)
			}
			all = append(all, pair{a.tree.or(b.tree, w), list})
		}
		for _, p := range all {
			for i, v := range p.list {
				if got := p.tree.at(i, w); got != v {
					t.Fatalf("of %d, number %d is %d, want %d", n, i, got, v)
				}
			}
		}
	}
}

// TestCount_Shares: what one tree has all of costs nothing more.
func TestCount_Shares(t *testing.T) {
	t.Parallel()
	const n = 100_000
	w := width(n)
	var most *count
	for i := range n {
		most = most.with(i, 1, w)
	}
	one := (*count)(nil).with(77_777, 1, w)
	var nothing *count
	if most.or(one, w) != most || one.or(most, w) != most || one.or(nil, w) != one || nothing.or(one, w) != one {
		t.Error("a tree that has all is copied")
	}
	two := one.with(3, 1, w)
	if either := one.or(two, w); either != two {
		t.Error("a tree that has all is copied")
	}
}

// TestJudge_MemoryOfBurst: what is kept of a burst in which everybody could know of everybody's
// request grows as the number of processes does. Lists of what each could know of would take 128 MB
// here, and those of what each knew when it asked as much.
func TestJudge_MemoryOfBurst(t *testing.T) {
	const n = 5600
	p := harness.Plan{Algorithm: ordered, Nodes: n, Shape: algo.Shape{Kind: "complete"},
		Network: link.Network{Latency: link.Constant(ms1)}, InModel: true, TimeLimit: time.Hour}
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	j := NewJudge(s)
	say := func(list ...trace.Record) {
		for i := range list {
			j.Record(&list[i])
		}
	}
	for i := range uint32(n) {
		say(requested(1, i+1, 1))
	}
	for i := uint32(2); i <= n; i++ {
		say(sent(2, i, 1, 1), arrives(3, i, 1, 1))
	}
	for i := range uint32(n) {
		ms := 4 + float64(i)
		if i > 0 {
			say(sent(ms, 1, i+1, 1), arrives(ms, 1, i+1, 1))
		}
		say(at(ms, trace.Granted, i+1), at(ms, trace.Released, i+1))
	}
	after := inUse()
	v := j.Finish(harness.End{Reason: harness.Finished, At: time.Minute})
	if len(v.Violations) > 0 || v.Completed != n {
		t.Errorf("%d entries, and %q", v.Completed, v.Violations)
	}
	if mb := (float64(after) - float64(before)) / 1e6; mb > 40 {
		t.Errorf("it keeps %.0f MB of %d processes", mb, n)
	}
}
