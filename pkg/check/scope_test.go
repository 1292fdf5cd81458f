package check

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// TestDivision: the largest strongly connected part is that of the definition, where
// any links may be cut in either direction and any processes be away.
func TestDivision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		plan := harness.Plan{Algorithm: eventual, Nodes: n, Shape: algo.Shape{Kind: "complete"},
			Network: link.Network{Latency: link.Constant(ms1)}}
		s, err := plan.Setup()
		if err != nil {
			t.Fatal(err)
		}
		net, m := network{nodes: uint32(n), ever: true}, newFaults(s)
		e := newElections(s, &net, &m)
		away := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "away") // mostly nobody
		for i := range away {
			m.up[i], m.paused[i] = away[i] != 1, away[i] == 2
		}
		var links [][2]uint32
		for p := range uint32(n) {
			for q := range uint32(n) {
				if p != q && rapid.Bool().Draw(t, "cut") {
					links = append(links, [2]uint32{p + 1, q + 1})
				}
			}
		}
		if links != nil {
			net.cuts.Add(link.Change{Links: links})
		}
		e.divide(0)
		for i, want := range largest(n, e, links) {
			if got := e.asked(algo.ID(i + 1)); got != want {
				t.Fatalf("of p%d agreement is asked: %t, want %t", i+1, got, want)
			}
		}
	})
}

// largest is the largest part, from the transitive closure of the links.
func largest(n int, e *elections, cut [][2]uint32) []bool {
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
		for k := range reach[i] {
			reach[i][k] = e.present(uint32(i+1)) && e.present(uint32(k+1)) &&
				!slices.Contains(cut, [2]uint32{uint32(i + 1), uint32(k + 1)})
		}
	}
	for m := range n {
		for i := range n {
			for k := range n {
				reach[i][k] = reach[i][k] || reach[i][m] && reach[m][k]
			}
		}
	}
	best, size := make([]bool, n), 0
	for i := range n {
		part, count := make([]bool, n), 0
		for k := range n {
			if part[k] = reach[i][k] && reach[k][i]; part[k] {
				count++
			}
		}
		if count > size {
			best, size = part, count
		}
	}
	return best
}
