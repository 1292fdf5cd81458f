package experiment

import (
	"math"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// maxBuilt bounds the edges of a graph that is drawn at random.
const maxBuilt = 2_000_000

// wrong reports a value of this cell, at the place that set it.
func (v *variant) wrong(key, format string, args ...any) {
	at := v.top()
	head, _, _ := strings.Cut(key, ".")
	for _, k := range []string{key, head + ".kind"} { // what is missing, its kind calls for
		if l := v.leaves[k]; l.Explicit() {
			at = l.Raw.At
			break
		}
	}
	v.Add(at, key, format, args...)
}

// plan makes the plan of a cell and reports what does not go together.
func (v *variant) plan() harness.Plan {
	p, a := v.settings.Plan, v.contender.alg
	p.Algorithm, p.Label = a.ID, v.contender.Label
	n := p.Nodes
	if t := transport.Of(v.Transport); t != nil && t.MaxNodes > 0 && n > t.MaxNodes {
		v.wrong("nodes", "%d real processes, want at most %d; transport: %s takes up to %d",
			n, t.MaxNodes, transport.Sim.Name, maxID)
	}
	if a.Spec.Needs.Nodes != nil {
		if err := a.Spec.Needs.Nodes(n); err != nil {
			v.wrong("nodes", "%d is not for %s: %v", n, a.ID, err)
		}
	}
	v.shape(&p)
	v.detector(&p)
	v.scenario(&p)
	v.faults(&p)
	net := p.Known()
	before := v.Count()
	params, errs := a.Spec.Resolve(v.params, net)
	for _, err := range errs {
		v.Add(v.paramOrigin(err), "params", "%s with %d nodes: %v", a.ID, n, err)
	}
	p.Params = params
	if v.Count() == before && len(errs) == 0 {
		p.OutOfModel = outOfModel(a, &p, net)
	}
	p.InModel = len(p.OutOfModel) == 0
	return p
}

// paramOrigin is where the parameter stands that an error of the Spec is about.
func (v *variant) paramOrigin(err error) config.Place {
	for _, p := range v.contender.alg.Spec.Params {
		at, given := v.origins[p.Name]
		if given && strings.Contains(err.Error(), "parameter "+p.Name+":") {
			return at
		}
	}
	return v.contender.at
}

func (v *variant) shape(p *harness.Plan) {
	a := v.contender.alg
	needs := a.Spec.Needs.Topology
	if p.Shape.Kind == "auto" {
		p.Shape = complete(algo.DefaultShape(needs))
	}
	if edges := p.Shape.Degree * float64(p.Nodes) / 2; edges > maxBuilt {
		v.wrong("topology", "a random graph of %.0f edges, want at most %d", edges, maxBuilt)
		return
	}
	built, err := algo.Build(p.Shape, representative(p), 1)
	if err != nil {
		v.wrong("topology", "with %d nodes: %s", p.Nodes, strings.TrimPrefix(err.Error(), "topology: "))
		return
	}
	if !built.Satisfies(needs) {
		v.wrong("topology", "%s is no %s graph, which %s needs; write topology: auto",
			built.Name, needs, a.ID)
	}
}

// representative is a number of nodes whose graph has the class and the name of
// the plan's: the plan's own only where the shape names processes.
func representative(p *harness.Plan) int {
	if p.Shape.Order != nil || p.Shape.Kind == "file" {
		return p.Nodes
	}
	return 1
}

func (v *variant) detector(p *harness.Plan) {
	if k := harness.DetectorOf(p.Detector.Kind); k != nil && k.Check != nil {
		k.Check(p, v.contender.alg.Problem, v.wrong)
	}
}

// scenario checks the scenario against the cell.
func (v *variant) scenario(p *harness.Plan) {
	s, a := &p.Scenario, v.contender.alg
	k := kindOf(s.Kind)
	if k == nil {
		return
	}
	if k.Problem != "" && k.Problem != a.Problem {
		v.wrong("scenario.kind", "%s is for problem %s, but %s is of problem %s", s.Kind, k.Problem,
			a.ID, a.Problem)
		return
	}
	for i := range v.script {
		s.Events = v.put(s.Events, &v.script[i])
	}
	v.expectations(s.Expect, p)
	if k.Place != nil {
		k.Place(p)
	}
	if k.Check != nil {
		k.Check(p, v.wrong)
	}
	if text := tooFew(s.Shape, p.Nodes); text != "" && p.Nodes > 1 {
		v.wrong("scenario.shape", "%s", text)
	}
	if k.Scripted {
		v.checkScript(p)
	}
}

// fixed is the values of the fixed columns.
func (v *variant) fixed(e *Experiment, p *harness.Plan) []metric.Field {
	name := p.Shape.Kind
	if g, err := algo.Build(p.Shape, representative(p), 1); err == nil {
		name = g.Name
	}
	l := p.Network.Latency
	values := []string{string(e.Problem), p.Algorithm, p.Label, e.Transport,
		strconv.Itoa(p.Nodes), name, p.Scenario.Kind, l.Distribution, milliseconds(l.Average()),
		config.FormatFloat(math.Round(p.Network.LossRate()*1e9) / 1e9),
		config.FormatFloat(p.Network.Duplication),
		config.FormatFloat(p.Faults.CrashRate)}
	out := make([]metric.Field, len(values))
	for i, value := range values {
		out[i] = metric.Field{Name: fixedColumns[i], Value: value}
	}
	return out
}
