package maekawa

import (
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

// TestQuorums: each process is in its own quorum, and any two intersect.
func TestQuorums(t *testing.T) {
	for _, kind := range []string{"auto", "grid", "plane"} {
		for n := 1; n <= 100; n++ {
			var all [][]algo.ID
			for id := range n {
				q := family(kind).Quorum(algo.ID(id+1), n, nil)
				if !slices.Contains(q, algo.ID(id+1)) || !slices.IsSorted(q) || int(q[len(q)-1]) > n ||
					len(slices.Compact(slices.Clone(q))) != len(q) {
					t.Fatalf("%s, n = %d: quorum of %d is %v", kind, n, id+1, q)
				}
				for i, r := range all {
					if !slices.ContainsFunc(q, func(p algo.ID) bool { return slices.Contains(r, p) }) {
						t.Fatalf("%s, n = %d: quorums of %d and %d are disjoint", kind, n, i+1, id+1)
					}
				}
				all = append(all, q)
			}
		}
	}
}

// TestDifferences: every distance occurs exactly once, so that two quorums have
// exactly one member in common.
func TestDifferences(t *testing.T) {
	found := 0
	for n := range 100 {
		d := differences(n)
		if d == nil {
			continue
		}
		found++
		count := make([]int, n)
		for _, a := range d {
			for _, b := range d {
				count[(a-b+n)%n]++
			}
		}
		for diff, k := range count[1:] {
			if k != 1 {
				t.Errorf("n = %d: %d is %d times a difference", n, diff+1, k)
			}
		}
	}
	if found != 8 {
		t.Errorf("%d difference sets, want 8", found)
	}
}

// TestSizes is the table of K in the reference.
func TestSizes(t *testing.T) {
	for n, k := range map[int]int{7: 3, 9: 5, 13: 4, 16: 7, 21: 5, 25: 9, 31: 6, 57: 8} {
		if least, largest := quorum.Sizes(family("auto"), n); least != k || largest != k {
			t.Errorf("n = %d: K from %d to %d, want %d", n, least, largest, k)
		}
	}
	if least, largest := quorum.Sizes(family("auto"), 11); least != 5 || largest != 6 {
		t.Errorf("n = 11: K from %d to %d, want 5 to 6: the last row has 3 of 4", least, largest)
	}
	if least, largest := quorum.Sizes(family("grid"), 13); least != 4 || largest != 7 {
		t.Errorf("a grid of 13: K from %d to %d, want 4 to 7: the last row has 1", least, largest)
	}
}
