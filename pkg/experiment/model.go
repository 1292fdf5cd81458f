package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// outOfModel says, a sentence each, in what a plan goes beyond what the
// algorithm needs and survives. What breaks there is a finding, not an error of
// the algorithm.
func outOfModel(a *algo.Algorithm, p *harness.Plan, net algo.Network) (why []string) {
	needs, survives := &a.Spec.Needs, &a.Spec.Survives
	say := func(ok bool, format string, args ...any) {
		if !ok {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	script := p.Scenario.Kind == harness.Script
	does := func(verb string) bool {
		return script && slices.ContainsFunc(p.Scenario.Events,
			func(e harness.Event) bool { return e.Do == verb })
	}
	say(p.Network.Loss == 0 || survives.Loss, "does not survive message loss (network.loss %v)",
		formatFloat(p.Network.Loss))
	say(p.Network.Duplication == 0 || survives.Duplication,
		"does not survive duplicated messages (network.duplication %v)",
		formatFloat(p.Network.Duplication))
	say(!does(harness.DoCut) || survives.Partition, "does not survive a partition (scenario cut)")
	most := survives.CrashesOf(p.Nodes)
	crashes := crashes(p)
	say(crashes <= most, "survives %d of %d processes crashed, not %d", most, p.Nodes, crashes)
	say(!does(harness.DoRestart) || survives.Recovery,
		"does not survive the return of a crashed process (scenario restart)")
	say(!p.Network.Unordered || !needs.FIFO, "needs FIFO links (network.order unordered)")
	say(needs.Synchrony != algo.Synchronous || net.Bounded,
		"is synchronous, and the latency is unbounded (network.latency %s)",
		p.Network.Latency.Distribution)
	if err := timing(needs, net, p.Params); err != nil {
		why = append(why, err.Error())
	}
	have := map[string]algo.Detector{
		"perfect": algo.Perfect, "heartbeat": algo.EventuallyPerfect,
	}[p.Detector.Kind]
	// In a script the suspicions are lines of the script.
	say(have >= needs.Detector || script && p.Detector.Kind == "none",
		"needs a detector that is %s (detector.kind %s)", needs.Detector, p.Detector.Kind)
	return why
}

// crashes is how many processes are ever down.
func crashes(p *harness.Plan) int {
	if p.Scenario.Kind == harness.LeaderCrash {
		return 1
	}
	down := map[algo.ID]bool{}
	for _, q := range p.Crashed {
		down[q] = true
	}
	for _, e := range p.Scenario.Events {
		if e.Do == harness.DoCrash {
			down[e.Node] = true
		}
	}
	return len(down)
}

// timing asks the Spec about the time-outs, of each process where they differ.
func timing(needs *algo.Needs, net algo.Network, params algo.Params) error {
	if needs.Timing == nil {
		return nil
	}
	differ := false
	for _, v := range params {
		_, isList := v.([]any)
		differ = differ || isList
	}
	if !differ {
		return needs.Timing(net, params)
	}
	for id := range algo.ID(net.Nodes) {
		if err := needs.Timing(net, params.Of(id+1)); err != nil {
			return fmt.Errorf("process %d: %w", id+1, err)
		}
	}
	return nil
}

// script checks the lines of a script against the cell.
func (v *variant) script(p *harness.Plan) {
	s := &v.set.Scenario
	if len(s.Events) == 0 {
		v.wrong("scenario.events", "missing; a script needs them, as [{at: 0ms, do: request, node: 1}]")
	}
	process := func(key string, id algo.ID) {
		if int(id) > p.Nodes {
			v.wrong(key, "process %d of %d", id, p.Nodes)
		}
	}
	process("scenario.leader", s.Leader)
	process("scenario.holder", s.Holder)
	seen := map[algo.ID]bool{}
	for _, q := range s.Crashed {
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
			if v.leaves[key].explicit() {
				v.wrong(key, "means nothing in an election; remove it")
			}
		}
	}
	for i := range s.Events {
		v.line(&s.Events[i], p)
	}
	if s.Expect != nil {
		v.expectations(s.Expect, p)
	}
}

func (v *variant) line(e *event, p *harness.Plan) {
	process := func(name string, id algo.ID) {
		if int(id) > p.Nodes {
			v.add(e.at, join(e.key, name), "process %d of %d", id, p.Nodes)
		}
	}
	process("node", e.Node)
	process("of", e.Of)
	process("target", e.Target)
	for _, q := range slices.Concat(e.Groups...) {
		process("groups", algo.ID(q))
	}
	if e.At >= p.TimeLimit {
		v.add(e.at, join(e.key, "at"), "%v is not before the time_limit %v", e.At, p.TimeLimit)
	}
	a := v.contender.alg
	switch e.Do {
	case harness.DoElect:
		if a.Problem != algo.Election {
			v.add(e.at, join(e.key, "do"), "elect is for elections, not for %s", a.ID)
		}
	case harness.DoRequest:
		if a.Problem != algo.MutualExclusion {
			v.add(e.at, join(e.key, "do"), "request is for mutual exclusion, not for %s", a.ID)
		}
	case harness.DoSuspect, harness.DoCrash, harness.DoRestart, harness.DoCut, harness.DoHeal:
	default:
		if !commanded(a) {
			v.add(e.at, join(e.key, "do"), "unknown %q%s (has: %s; %s has no operations of its own)",
				clip(e.Do), meant(e.Do, verbs), strings.Join(verbs, ", "), a.ID)
		}
	}
}

var verbs = []string{harness.DoElect, harness.DoSuspect, harness.DoRequest, harness.DoCrash,
	harness.DoRestart, harness.DoCut, harness.DoHeal}

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

func (v *variant) expectations(e *harness.Expect, p *harness.Plan) {
	const key = "scenario.expect"
	if e.Leader != nil && int(*e.Leader) > p.Nodes {
		v.wrong(key, "leader: process %d of %d", *e.Leader, p.Nodes)
	}
	for _, q := range e.CSOrder {
		if int(q) > p.Nodes {
			v.wrong(key, "cs_order: process %d of %d", q, p.Nodes)
		}
	}
	var kinds []string
	for _, c := range v.contenders {
		for _, m := range c.alg.Spec.Messages {
			kinds = append(kinds, m.Kind())
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(e.SentByKind)) {
		if !slices.Contains(kinds, kind) {
			v.wrong(key, "sent_by_kind: no message is called %q (has: %s)", clip(kind),
				strings.Join(kinds, ", "))
		}
	}
}
