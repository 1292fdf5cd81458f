package check

import (
	"slices"
	"time"
)

// divide finds the largest part of the network, whose processes are the ones that
// have to agree; of equal ones that with the least number.
func (e *elections) divide(now time.Duration) {
	if !e.network.ever {
		return
	}
	n := uint32(e.setup.Nodes)
	part, size := e.parts(now), make([]int, n+1)
	for p := uint32(1); p <= n; p++ {
		if e.present(p) {
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
		e.scope[p-1] = part[p] == best
	}
}

// present says whether p is up and not paused.
func (e *elections) present(p uint32) bool { return e.faults.present(p) }

// parts is the part of each process, by ID: its least member. Of one part are those
// that reach each other in both directions, by way of others if these are present. So
// they are the strongly connected components of the links, found by the algorithm of
// Kosaraju and Sharir.
func (e *elections) parts(now time.Duration) []uint32 {
	n := uint32(e.setup.Nodes)
	seen, part := make([]bool, n+1), make([]uint32, n+1)
	joined := func(p, q uint32) bool {
		return e.present(p) && e.present(q) && !e.network.cuts.Severed(p, q, now, now)
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
