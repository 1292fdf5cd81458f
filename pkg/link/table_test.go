package link

import (
	"math/rand/v2"
	"testing"
)

// TestTable does what a map does, with numbers that lie close together and far apart.
func TestTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var table Table[int]
	model := map[uint64]int{}
	if table.Get(1) != nil {
		t.Error("an empty table has a value")
	}
	for i := range 5000 {
		key := 1 + rng.Uint64N(1000)<<(rng.Uint64N(3)*20)
		want, has := model[key]
		if got := table.Get(key); (got != nil) != has || has && *got != want {
			t.Fatalf("step %d: the value of %d is %v, want %d, %t", i, key, got, want, has)
		}
		v, known := table.At(key)
		if known != has || *v != want {
			t.Fatalf("step %d: at %d is %d, %t, want %d, %t", i, key, *v, known, want, has)
		}
		*v, model[key] = i, i
	}
	n := 0
	for key, v := range table.All() {
		if n++; model[key] != *v {
			t.Errorf("the value of %d is %d, want %d", key, *v, model[key])
		}
	}
	if n != len(model) {
		t.Errorf("%d numbers, want %d", n, len(model))
	}
}
