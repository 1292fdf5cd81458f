package harness

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestDivision: the largest strongly connected part is that of the definition, where
// any links may be cut in either direction and any processes be away.
func TestDivision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		links := Links{Nodes: uint32(n), Ever: true}
		up, paused := make([]bool, n), make([]bool, n)
		l := NewLeadership(algo.None, up, paused, &links)
		away := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "away") // mostly nobody
		for i := range away {
			up[i], paused[i] = away[i] != 1, away[i] == 2
		}
		var cut [][2]uint32
		for p := range uint32(n) {
			for q := range uint32(n) {
				if p != q && rapid.Bool().Draw(t, "cut") {
					cut = append(cut, [2]uint32{p + 1, q + 1})
				}
			}
		}
		if cut != nil {
			links.Cuts.Add(link.Change{Links: cut})
		}
		l.Regroup(0)
		for i, want := range largest(n, l, cut) {
			if got := l.Asked(algo.ID(i + 1)); got != want {
				t.Fatalf("of p%d agreement is asked: %t, want %t", i+1, got, want)
			}
		}
	})
}

// largest is the largest part, from the transitive closure of the links.
func largest(n int, l *Leadership, cut [][2]uint32) []bool {
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
		for k := range reach[i] {
			reach[i][k] = l.Present(algo.ID(i+1)) && l.Present(algo.ID(k+1)) &&
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

// TestOneWayParts: those have to agree who hear each other, in both directions,
// if only by way of others.
func TestOneWayParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]uint32{
		"1>3 2>3":                 {1, 1, 3}, // 3 is deaf
		"3>1 3>2":                 {1, 1, 3}, // 3 is mute
		"1>3 3>1":                 {1, 1, 1}, // by way of 2
		"1>3 3>2 2>1":             {1, 1, 1}, // round the other way
		"1>2 1>3 2>3":             {1, 2, 3},
		"1|2 3":                   {1, 2, 2},
		"1>2 2>1 1>3 3>1 2>3 3>2": {1, 2, 3},
	} {
		links := Links{Nodes: 3}
		links.Record(&trace.Record{Type: trace.Cut, Text: text})
		l := NewLeadership(algo.None, []bool{true, true, true}, make([]bool, 3), &links)
		got := l.parts(time.Second)[1:]
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: parts %v, want %v", text, got, want)
				break
			}
		}
	}
}
