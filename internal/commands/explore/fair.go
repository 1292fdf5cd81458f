package explore

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// fair is how many schedules of an elector that promises a leader under some connectivity
// there are for each that holds it to that.
const fair = 16

// patient adds to s the time in which the promise has to come true: behind all that happens
// the links become as few as the promise allows, or fewer of a majority's, and stay so for
// longer than it takes. All messages arrive that can.
func (m *maker) patient(s *Schedule) {
	if m.alg.Spec.LiveOf(s.Nodes, s.params()).Under == algo.Unpromised || !m.chance(fair) {
		return
	}
	p, err := s.Plan()
	if err != nil {
		return
	}
	promise, within := p.Live(&m.alg.Spec)
	e := harness.Event{At: s.last() + s.unit(), Do: harness.DoCut, For: within + within/8}
	if m.may(m.alg.Spec.Survives.Partition) {
		e.Links = m.sparse(s.Nodes, promise.Under)
	}
	if e.Links != nil {
		s.Events = append(s.Events, e)
	}
}

// sparse is the links to cut so that n processes are connected as c says, and no better than
// chance has it.
func (m *maker) sparse(n int, c algo.Connectivity) (cut [][2]uint32) {
	order, majority := m.rng.Perm(n), n/2+1
	rank := make([]int, n)
	for i, p := range order {
		rank[p] = i
	}
	others := m.rng.Float64() // how many of the links go that are not needed
	for p := range n {
		for q := range n {
			needed := rank[p] < majority && rank[q] < majority
			switch c {
			case algo.InParts:
				needed = needed || rank[p] >= majority && rank[q] >= majority
			case algo.QuorumConnected:
				needed = needed && (rank[p] == 0 || rank[q] == 0)
			}
			if p != q && !needed && (c == algo.InParts || m.rng.Float64() < others) {
				cut = append(cut, [2]uint32{uint32(p + 1), uint32(q + 1)})
			}
		}
	}
	return cut
}
