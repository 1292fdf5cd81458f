package harness

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// divide finds the largest part of the network, whose processes are the ones that
// have to agree; of equal ones that with the least number.
func (l *Leadership) divide(now time.Duration) {
	if !l.links.Ever {
		return
	}
	n := uint32(len(l.up))
	part, size := l.parts(now), make([]int, n+1)
	for p := uint32(1); p <= n; p++ {
		if l.Present(algo.ID(p)) {
			size[part[p]]++
		}
	}
	best := uint32(1)
	for root := range size {
		if size[root] > size[best] {
			best = uint32(root)
		}
	}
	for p := uint32(1); p <= n; p++ {
		l.scope[p-1] = part[p] == best
	}
}

// parts is the part of each process, by ID: its least member. Of one part are those
// that reach each other in both directions, by way of others if these are present. So
// they are the strongly connected components of the links, found by the algorithm of
// Kosaraju and Sharir.
func (l *Leadership) parts(now time.Duration) []uint32 {
	n := uint32(len(l.up))
	seen, part := make([]bool, n+1), make([]uint32, n+1)
	joined := func(p, q uint32) bool {
		return l.Present(algo.ID(p)) && l.Present(algo.ID(q)) && !l.links.Cuts.Severed(p, q, now, now)
	}
	var order []uint32 // by when all is seen that can be reached
	var visit func(p uint32)
	visit = func(p uint32) {
		seen[p] = true
		for q := uint32(1); q <= n; q++ {
			if !seen[q] && joined(p, q) {
				visit(q)
			}
		}
		order = append(order, p)
	}
	for p := uint32(1); p <= n; p++ {
		if !seen[p] {
			visit(p)
		}
	}
	for _, root := range slices.Backward(order) {
		if part[root] != 0 {
			continue
		}
		members := []uint32{root}
		part[root] = root
		for i := 0; i < len(members); i++ {
			for q := uint32(1); q <= n; q++ {
				if part[q] == 0 && joined(q, members[i]) {
					part[q] = root
					members = append(members, q)
				}
			}
		}
		least := slices.Min(members)
		for _, p := range members {
			part[p] = least
		}
	}
	return part
}
