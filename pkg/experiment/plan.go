package experiment

import (
	"cmp"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// maxBuilt bounds the edges of a graph that is drawn at random, or has weights.
const maxBuilt = 2_000_000

// plan makes the plan of a cell and reports what does not go together.
func (v *variant) plan() harness.Plan {
	p, a := v.settings.Plan, v.contender.alg
	p.Algorithm, p.Label = a.ID, v.contender.Label
	if v.Virtual() { // nothing is hosted
		p.PerProcess, p.Reuse = 0, false
	}
	v.servers(&p)
	n := p.Clients()
	if t := transport.Of(v.Transport); t != nil && t.MaxNodes > 0 && p.Nodes > t.MaxNodes {
		v.wrong("nodes", "%d real processes, expected at most %d; transport: %s takes up to %d",
			p.Nodes, t.MaxNodes, transport.Sim.Name, maxID)
	}
	if a.Subject && v.Transport != transport.Bubble.Name {
		v.wrong("transport", "%s, but %s is a library, which runs as it is with transport: %s",
			v.Transport, a.ID, transport.Bubble.Name)
	}
	p.Reigns = a.Problem == algo.Election && v.Transport == transport.Bubble.Name
	v.writes(&p)
	if a.Spec.Needs.Nodes != nil {
		if err := a.Spec.Needs.Nodes(n); err != nil {
			v.wrong("nodes", "%d is not for %s: %v", n, a.ID, err)
		}
	}
	v.shape(&p)
	v.realNetwork(&p)
	v.wire(&p)
	v.house(&p)
	v.replayed(&p)
	v.links(&p)
	v.detector(&p)
	net := p.Known()
	params, errs := a.Spec.Resolve(v.params, net)
	p.Params = params
	v.facts(&p)
	v.settling(&p)
	v.scenario(&p)
	v.faults(&p)
	v.realLinks(&p)
	before := v.Count()
	for _, err := range errs {
		v.Add(v.paramOrigin(err), "params", "%s with %d nodes: %v", a.ID, n, err)
	}
	if v.Count() == before && len(errs) == 0 {
		faults, params := p.Beyond()
		p.OutOfModel = append(faults, params...)
	}
	p.InModel = len(p.OutOfModel) == 0
	return p
}

// writes checks that there can be writes of clients.
func (v *variant) writes(p *harness.Plan) {
	const key = "writes_every"
	switch a := v.contender.alg; {
	case p.WritesEvery == 0:
	case !a.Subject:
		v.wrong(key, "%v, but %s is no library: nothing is written through its leader; remove the key, or "+
			"compare libraries alone", p.WritesEvery, a.ID)
	case !a.Spec.Writes:
		v.wrong(key, "%v, but %s takes no writes of clients; remove the key, or leave %s out",
			p.WritesEvery, a.ID, a.Spec.Name)
	case p.WritesEvery >= p.TimeLimit:
		v.wrong(key, "%v is not before the time_limit %v", p.WritesEvery, p.TimeLimit)
	}
}

func (v *variant) shape(p *harness.Plan) {
	a := v.contender.alg
	needs := a.Spec.Needs.Topology
	if p.Shape.Kind == "auto" {
		given := p.Shape
		p.Shape = complete(algo.DefaultShape(needs))
		p.Shape.Weights = given.Weights
		p.Shape.Weighing = cmp.Or(given.Weighing, p.Shape.Weighing)
	}
	weighed := p.Shape.Weights != nil || p.Shape.Weighing != ""
	if needs == algo.Weighted && !weighed {
		p.Shape.Weighing, weighed = algo.DefaultShape(needs).Weighing, true
	}
	if links := p.Nodes * (p.Nodes - 1) / 2; weighed && p.Shape.Kind == "complete" && links > maxBuilt {
		v.wrong("topology", "weights of %d links, expected at most %d; use another kind, or fewer nodes",
			links, maxBuilt)
		return
	}
	if edges := p.Shape.Degree * float64(p.Nodes) / 2; edges > maxBuilt {
		v.wrong("topology", "a random graph of %.0f edges, expected at most %d", edges, maxBuilt)
		return
	}
	built, err := algo.Build(p.Shape, representative(p), 1)
	if err != nil {
		key, plain := "topology", p.Shape
		plain.Weights, plain.Weighing = nil, ""
		if _, err := algo.Build(plain, representative(p), 1); err == nil {
			key = "topology.weights"
		}
		v.wrong(key, "with %d nodes: %s", p.Nodes, strings.TrimPrefix(err.Error(), "topology: "))
		return
	}
	if !built.Satisfies(needs) {
		v.wrong("topology", "%s is no %s graph, which %s needs; write topology: auto",
			built.Name, needs, a.ID)
	}
}

func (v *variant) detector(p *harness.Plan) {
	p.Detector.Check(v.contender.alg.Problem, v.wrong)
}

// settling fills in how long the leader settles, which follows from the parameters.
func (v *variant) settling(p *harness.Plan) {
	const key = "scenario.settle"
	if at := p.Scenario.Does().Settling(); at != nil && *at == 0 {
		*at = p.LeastSettle()
		v.fill(v.leaves, key, at.String())
	}
}

// scenario checks the scenario against the cell.
func (v *variant) scenario(p *harness.Plan) {
	s, a := &p.Scenario, v.contender.alg
	if s.Plot == nil {
		return
	}
	k := s.Declared()
	if k.Problem != "" && k.Problem != a.Problem {
		v.wrong("scenario.kind", "%s is for problem %s, but %s is of problem %s", k.Name, k.Problem,
			a.ID, a.Problem)
		return
	}
	if len(v.script) > 0 {
		var events []harness.Event
		for i := range v.script {
			events = v.put(events, &v.script[i])
		}
		s.Set("events", events)
	}
	v.expectations(s.Expect, p)
	s.Plot.Place(p)
	if a.Foreign() { // it elects its first leader itself
		p.Leader = algo.None
	}
	v.makeRoom(p)
	s.Plot.Check(p, v.wrong)
	if k.Scripted {
		v.checkScript(p)
	}
}
