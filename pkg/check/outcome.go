package check

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// conclusion says whether the trial came to its end, and with what.
func (e *elections) conclusion(j *Judge, end harness.End, v *Verdict) {
	spec := &e.setup.Alg.Spec
	counted := e.ok + e.haste.n
	switch {
	case e.open && e.last != algo.None && e.lasting() && end.Reason == harness.Finished:
		// The end found one going on.
		v.Operations = append(v.Operations, e.current)
	case e.open && e.there && e.links.Apart && e.setup.Scenario.Does().Ends() > 0 &&
		end.Reason == harness.Finished:
		// A script ends while somebody leads, by the Spec's own definition, and whom the rest cannot hear.
		v.Operations = append(v.Operations, e.current)
	case e.open:
		v.Operations = append(v.Operations, e.current)
		e.incomplete(j, end, v, spec.Promises)
	case counted == 0 && e.lasting() && end.Reason == harness.Finished: // all agreed all the time
	case counted == 0 && end.Toll.Struck < end.Toll.Due:
		v.Status, v.Reason = trace.TimedOut, fmt.Sprintf("no process led (%s) when a fault was to happen to "+
			"the leader, nor until %v", spec.Service, end.At)
	case counted == 0:
		v.Status, v.Reason = trace.Unknown, "no election took place"
	case end.Reason != harness.Finished:
		v.Status, v.Reason = trace.TimedOut, "the scenario did not come to its end within "+end.At.String()
	default:
		e.judgeHighest(j)
	}
	if why := e.endless(j, end.At); v.Status == trace.OK && why != "" {
		v.Status, v.Reason = trace.TimedOut, why
	}
}

// incomplete judges a trial at whose end there is no agreement.
func (e *elections) incomplete(j *Judge, end harness.End, v *Verdict, promises algo.Promises) {
	what := "no agreement on a leader:"
	for i := range e.Belief {
		if i == 8 {
			what += " ..."
			break
		}
		if e.faults.up[i] {
			what += fmt.Sprintf(" p%d names %s", i+1, name(e.Belief[i]))
		}
	}
	if j.settled(end) && e.told(j) && promises.Leadership == algo.PerGroup {
		e.heads(j)
	}
	rule := agreement
	switch {
	case e.deadNamed() != algo.None:
		rule = leaderAlive
	case e.links.Ever && !e.links.Apart:
		rule = afterHeal
	}
	j.incomplete(end, v, promises.Leadership != algo.PerGroup, rule, what)
}

// told says whether the processes had a way to learn which are gone.
func (e *elections) told(j *Judge) bool {
	return e.setup.Alg.Spec.Needs.Detector == algo.NoDetector || j.faults.detects()
}

// deadNamed is a process that takes part in agreement and names one that is down.
func (e *elections) deadNamed() algo.ID {
	for i, p := range e.Belief {
		if e.Asked(algo.ID(i+1)) && p != algo.None && !e.faults.up[p-1] {
			return algo.ID(i + 1)
		}
	}
	return algo.None
}

// heads objects, where each group has a leader of its own, to groups without one in
// the end: a process that is named must be there and name itself.
func (e *elections) heads(j *Judge) {
	if p := e.deadNamed(); p != algo.None {
		j.violate(leaderAlive, "p%d names %s, which is down, and the system is quiescent", p,
			name(e.Belief[p-1]))
	}
	for i, leader := range e.Belief {
		if p := algo.ID(i + 1); leader != algo.None && e.Asked(p) && e.Asked(leader) &&
			e.Belief[leader-1] != leader {
			j.violate(leadership, "p%d names p%d, which names %s, and the system is quiescent", p, leader,
				name(e.Belief[leader-1]))
		}
	}
}

// judgeHighest objects to a leader that is not the highest live process that it
// could be, where that is promised.
func (e *elections) judgeHighest(j *Judge) {
	if !e.setup.Alg.Spec.Promises.Highest || !e.setup.InModel || e.lasting() || e.agreed == algo.None {
		return
	}
	for _, v := range e.setup.Params {
		if _, differ := v.([]any); differ { // ranks that are not the numbers
			return
		}
	}
	for p := algo.ID(e.setup.Nodes); p > e.agreed; p-- {
		if e.Asked(p) {
			j.violate(highest, "p%d leads at the end, but p%d is live", e.agreed, p)
			return
		}
	}
}

func name(p algo.ID) string {
	if p == algo.None {
		return "none"
	}
	return fmt.Sprintf("p%d", p)
}
