package experiment

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// checkScript checks the lines of a script against the cell.
func (v *variant) checkScript(p *harness.Plan) {
	s := &p.Scenario
	if len(v.script) == 0 && s.Until == 0 {
		v.wrong("scenario.events", "missing; a script needs them, as [{at: 0ms, do: request, node: 1}], "+
			"or until")
	}
	process := func(key string, id algo.ID) {
		if int(id) > p.Nodes {
			v.wrong(key, "process %d of %d", id, p.Nodes)
		}
	}
	process("scenario.leader", p.Leader)
	process("scenario.holder", p.Holder)
	seen := map[algo.ID]bool{}
	for _, q := range p.Crashed {
		process("scenario.crashed", q)
		if seen[q] {
			v.wrong("scenario.crashed", "process %d stands twice", q)
		}
		seen[q] = true
	}
	if s.Until > p.TimeLimit {
		v.wrong("scenario.until", "%v is beyond the time_limit %v", s.Until, p.TimeLimit)
	}
	if v.contender.alg.Problem == algo.Election {
		for _, key := range ofEntries {
			if v.leaves[key].Explicit() {
				v.wrong(key, "means nothing in an election; remove it")
			}
		}
	}
	for i := range v.script {
		v.event(&v.script[i], p)
	}
}

// commanded says whether processes of a have operations of their own. Only a
// process can tell, so one is made, alone in the world.
func commanded(a *algo.Algorithm) bool {
	params, _ := a.Spec.Resolve(nil, algo.Network{Nodes: 1, Bounded: true})
	shape := algo.DefaultShape(a.Spec.Needs.Topology)
	graph, err := algo.Build(shape, 1, 1)
	if err != nil {
		return false
	}
	_, ok := a.New(algo.Config{ID: 1, Peers: graph.Peers(), Neighbors: graph.Neighbors(1),
		Ring: graph.Ring, Holder: 1, Params: params}).(algo.Commanded)
	return ok
}
