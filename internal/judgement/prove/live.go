package prove

import (
	"cmp"
	"slices"
)

// mostLive is of how many states a search remembers all steps, so that it can look back from the good ones.
const mostLive = 2_000_000

// A memory is what a worker remembers of the steps that it saw.
type memory struct {
	prints []uint64 // of its states, by place in its trail
	good   []uint64 // places of those in which all has come about, with the worker's number
	steps  []edge
}

type edge struct{ from, to uint64 } // the place of a state, and a fingerprint

// A graph has the states by number, in the order of fingerprints.
type graph struct {
	prints []uint64
	places []uint64 // in trails
	back   [][]int32
	number map[uint64]int32 // of a place
}

// index is the number of a fingerprint.
func (g *graph) index(print uint64) int32 {
	i, _ := slices.BinarySearch(g.prints, print)
	return int32(i)
}

// remembered joins what the workers remember.
func (s *search) remembered() *graph {
	type state struct{ print, place uint64 }
	var all []state
	for _, w := range s.workers {
		for i, print := range w.memory.prints {
			all = append(all, state{print, w.number<<36 | uint64(i)})
		}
	}
	slices.SortFunc(all, func(a, b state) int { return cmp.Compare(a.print, b.print) })
	g := &graph{number: make(map[uint64]int32, len(all)), back: make([][]int32, len(all))}
	for i, x := range all {
		g.prints, g.places = append(g.prints, x.print), append(g.places, x.place)
		g.number[x.place] = int32(i)
	}
	for _, w := range s.workers {
		for _, e := range w.memory.steps {
			to := g.index(e.to)
			g.back[to] = append(g.back[to], g.number[e.from])
		}
	}
	return g
}

// hopeless looks for a state from which no schedule leads to one in which all has come about: of those
// that the fewest events lead to, one.
func (s *search) hopeless() (g *graph, first int32) {
	g = s.remembered()
	lost := make([]bool, len(g.prints))
	for i := range lost {
		lost[i] = true
	}
	var stack []int32
	for _, w := range s.workers {
		for _, place := range w.memory.good {
			n := g.number[place]
			lost[n], stack = false, append(stack, n)
		}
	}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, before := range g.back[at] {
			if lost[before] {
				lost[before], stack = false, append(stack, before)
			}
		}
	}
	first, least := -1, 0
	for i, is := range lost {
		if !is {
			continue
		}
		if depth := s.depthOf(g.places[i]); first < 0 || depth < least {
			first, least = int32(i), depth
		}
	}
	return g, first
}

// depthOf is how many events lead to a state.
func (s *search) depthOf(at uint64) (n int) {
	for at != 0 {
		at, _ = s.workers[at>>36].trail.at(int(at & (1<<36 - 1)))
		n++
	}
	return n
}

// live looks for a state without hope. It adds to its find what may repeat from there on.
func (s *search) live() (*Find, error) {
	g, first := s.hopeless()
	if first < 0 {
		return nil, nil
	}
	find, err := s.tell(&found{at: g.places[first]})
	if err != nil {
		return nil, err
	}
	find.Broken, find.Endless = "no schedule from here completes: "+find.missing, true
	find.Cycle, err = s.cycle(find)
	return find, err
}

// cycle is events that lead from the end of a find to where nothing is new, from the state that comes
// again on.
func (s *search) cycle(f *Find) ([]Step, error) {
	n, v := f.narrator, f.end
	type stop struct {
		state  []uint32
		flying map[int][]flight
	}
	copied := func() map[int][]flight {
		out := map[int][]flight{}
		for k, list := range n.flying {
			out[k] = slices.Clone(list)
		}
		return out
	}
	seen := map[uint64]int{}
	var stops []stop
	var way []choice
	for {
		print := sum(v)
		if at, again := seen[print]; again {
			n.flying = stops[at].flying
			var steps []Step
			for i, c := range way[at:] {
				step, err := n.step(stops[at+i].state, c)
				if err != nil {
					return nil, err
				}
				steps = append(steps, step)
			}
			return steps, nil
		}
		seen[print] = len(stops)
		stops = append(stops, stop{v, copied()})
		choices, _ := n.choices(v)
		if len(choices) == 0 {
			return nil, nil
		}
		// In turn, so that nothing waits without end.
		c := choices[len(stops)%len(choices)]
		if _, err := n.step(v, c); err != nil {
			return nil, err
		}
		n.apply(v, print, c)
		way, v = append(way, c), slices.Clone(n.next)
	}
}
