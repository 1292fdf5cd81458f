package check

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestWaiting: what is said of those that wait is what looking at each of them says.
func TestWaiting(t *testing.T) {
	t.Parallel()
	const nodes, most = 40, 6
	type one struct {
		begin             time.Duration
		p                 algo.ID
		bypassed, knowing int
	}
	rng := rand.New(rand.NewPCG(1, 2))
	w := newWaiting(nodes)
	var want []one
	at := time.Duration(0)
	for step := range 100_000 {
		at += time.Duration(rng.IntN(3))
		p := algo.ID(1 + rng.IntN(nodes))
		switch k := rng.IntN(100); {
		case k < 50:
			w.add(trace.Operation{Process: uint32(p), Begin: at}, at)
			want = append(want, one{begin: at, p: p})
		case k < 53 && rng.IntN(20) == 0:
			w.recount()
			for i := range want {
				want[i].knowing = 0
			}
		default:
			if rng.IntN(3) > 0 && len(want) > 0 { // mostly in order
				p = want[rng.IntN(min(3, len(want)))].p
			}
			k := slices.IndexFunc(want, func(o one) bool { return o.p == p })
			i := w.first(p)
			if (i < 0) != (k < 0) {
				t.Fatalf("step %d: p%d waits at place %d, want %d", step, p, i, k)
			}
			if i < 0 {
				break
			}
			granted := rng.IntN(10) > 0
			if r := w.requests[i]; r.Begin != want[k].begin || r.lag != r.Begin || w.bypassed(i) != want[k].bypassed {
				t.Fatalf("step %d: request of %v, bypassed by %d, want %+v", step, r.Begin, w.bypassed(i), want[k])
			}
			if granted {
				for i := range want[:k] {
					want[i].bypassed++
				}
			}
			w.leave(i, granted)
			want = slices.Delete(want, k, k+1)
			if !granted {
				break
			}
			known := at - time.Duration(rng.IntN(60))
			var got, said []time.Duration
			w.count(known, most, func(r *request, seen int) {
				if seen == most+1 {
					got = append(got, r.Begin)
				}
			})
			for i := range want {
				if o := &want[i]; o.begin <= known {
					if o.knowing++; o.knowing == most+1 {
						said = append(said, o.begin)
					}
				}
			}
			if !slices.Equal(got, said) {
				t.Fatalf("step %d: %v have seen one too many, want %v", step, got, said)
			}
		}
		if w.n != len(want) {
			t.Fatalf("step %d: %d wait, want %d", step, w.n, len(want))
		}
	}
	k := 0
	for i, r := range w.all() {
		if r.Begin != want[k].begin || w.bypassed(i) != want[k].bypassed {
			t.Errorf("%d: request of %v, bypassed by %d, want %+v", k, r.Begin, w.bypassed(i), want[k])
		}
		k++
	}
	if k != len(want) || k == 0 || cap(w.requests) > 20_000 {
		t.Errorf("%d wait, want %d; room for %d", k, len(want), cap(w.requests))
	}
}
