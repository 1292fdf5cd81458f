package check

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTransits: whatever order messages and their copies come in, with whatever numbers are left out
// between, a value is there for as long as copies are on their way: as in a map of all messages.
func TestTransits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	type state struct{ value, left int }
	var got transits[int]
	want := map[string]*state{}
	var flying []trace.Record // a copy each
	seqs, lives := map[uint64]uint64{}, [4]uint32{}
	key := func(r *trace.Record) string {
		from, to := r.Process, r.Peer
		if r.Type != trace.Send && r.Type != trace.Duplicate {
			from, to = to, from
		}
		return fmt.Sprint(from, to, r.Plane, r.Incarnation, r.Seq)
	}
	for step := range 200_000 {
		if crowd := 3 + step/2000; rng.IntN(2*crowd) > len(flying) {
			r := trace.Record{
				Type: trace.Send, Process: 1 + rng.Uint32N(3), Peer: 1 + rng.Uint32N(3),
				Plane: uint8(rng.Uint32N(2)),
			}
			if rng.IntN(500) == 0 { // it comes back, and counts anew
				lives[r.Process]++
				for to := range uint64(4) {
					delete(seqs, uint64(r.Process)<<33|to<<1)
					delete(seqs, uint64(r.Process)<<33|to<<1|1)
				}
			}
			r.Incarnation = lives[r.Process]
			seqs[laneOf(&r)] += 1 + uint64(rng.IntN(10)/9)*rng.Uint64N(5)
			r.Seq = seqs[laneOf(&r)]
			got.send(&r, step)
			want[key(&r)] = &state{step, 1}
			flying = append(flying, r)
			if rng.IntN(4) == 0 {
				r.Type, r.Copy = trace.Duplicate, 1
				if v := got.again(&r); v == nil || *v != step {
					t.Fatalf("step %d: the second copy is of %v", step, v)
				}
				want[key(&r)].left++
				flying = append(flying, r)
			}
		} else if len(flying) > 0 {
			i := rng.IntN(len(flying))
			r := flying[i]
			flying[i] = flying[len(flying)-1]
			flying = flying[:len(flying)-1]
			r.Type, r.Process, r.Peer = trace.Deliver, r.Peer, r.Process
			w := want[key(&r)]
			w.left--
			v, last := got.end(&r)
			if v == nil || *v != w.value || last != (w.left == 0) {
				t.Fatalf("step %d: %v, last %t; want %d, %t", step, v, last, w.value, w.left == 0)
			}
			if last {
				delete(want, key(&r))
				if v, _ := got.end(&r); v != nil {
					t.Fatalf("step %d: it ends twice", step)
				}
			}
		}
		if step%10_000 == 0 {
			n := 0
			for range got.all() {
				n++
			}
			if n != len(want) {
				t.Fatalf("step %d: %d messages on their way, want %d", step, n, len(want))
			}
		}
	}
	got.forget()
	for _, r := range flying {
		r.Type, r.Process, r.Peer = trace.Deliver, r.Peer, r.Process
		if v, _ := got.end(&r); v != nil {
			t.Fatal("forgotten, and on its way")
		}
	}
}
