// Package trial plans single trials of an algorithm in the unit-delay model, simulates
// them, and judges them with the product's own checkers. The explorer, the conformance
// kit, the model checker and tests of algorithms share it.
package trial

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Outcome is all that is known of a simulated trial.
type Outcome struct {
	check.Verdict
	End   harness.End
	Trace trace.List
}

// Plan is the plan of a trial of algorithm id with n processes in the unit-delay
// model: constant latency of 1 ms, no loss, a perfect detector after 10 ms in
// scenarios other than scripts, and the processes that lead or are down when the scenario starts.
// Given are the parameters to set.
func Plan(id string, n int, scenario harness.Scenario, given map[string]any) (harness.Plan, error) {
	alg, err := algo.Lookup(id)
	if err != nil {
		return harness.Plan{}, err
	}
	p := harness.Plan{
		Trial: "test", Algorithm: id, Label: alg.Spec.Name, Nodes: n,
		Shape:    algo.DefaultShape(alg.Spec.Needs.Topology),
		Network:  link.Network{Latency: link.Constant(time.Millisecond)},
		Scenario: scenario, Seed: 1, TimeLimit: time.Hour, InModel: true,
	}
	if hold := p.Scenario.Hold(); hold != nil && hold.Law == nil {
		p.Scenario.Set("hold", link.Constant(time.Millisecond))
	}
	if !p.Scenario.Declared().Scripted {
		p.Detector = harness.PerfectDetector(10 * time.Millisecond)
	}
	p.Scenario.Does().Place(&p)
	params, errs := alg.Spec.Resolve(given, p.Known())
	if len(errs) > 0 {
		return p, errs[0]
	}
	p.Params = params
	return p, nil
}

// Simulate runs the trial and judges it.
func Simulate(p harness.Plan) (Outcome, error) { return SimulateFor(p, math.MaxInt) }

// SimulateFor is Simulate, and stops the trial after so many events.
func SimulateFor(p harness.Plan, events int) (Outcome, error) {
	setup, err := p.Setup()
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	out.Verdict, out.End, err = Run(context.Background(), setup, &out.Trace, events)
	return out, err
}

// glance is after how many events a simulation looks whether it is still wanted.
const glance = 10_000

// Run simulates and judges the trial of a setup. The sink, if not nil, takes its records. The trial is
// stopped after so many events, and left with the error of the context if that ends before.
func Run(ctx context.Context, setup *harness.Setup, sink trace.Sink, events int) (
	v check.Verdict, end harness.End, err error) {
	setup.Virtual = true
	judge := check.NewJudge(setup)
	all := trace.Sink(judge)
	if sink != nil {
		all = trace.Tee(judge, sink)
	}
	trial := sim.New(setup, all)
	for left := events; !trial.Done() && left > 0; left -= glance {
		if err := ctx.Err(); err != nil {
			return v, end, err
		}
		trial.Advance(min(glance, left))
	}
	stopped := !trial.Done()
	trial.Stop()
	end = trial.End()
	if v = judge.Finish(end); stopped && v.Status == trace.TimedOut {
		v.Reason += fmt.Sprintf(" and %d events", events)
	}
	return v, end, nil
}

// Last is the process that was elected, or entered, last; None if there was none.
func (o Outcome) Last() algo.ID {
	if len(o.Operations) == 0 {
		return algo.None
	}
	return algo.ID(o.Operations[len(o.Operations)-1].Process)
}

// LastNamed is the instant in which a process last named a leader.
func (o Outcome) LastNamed() (at time.Duration) {
	for _, r := range o.Trace {
		if r.Type == trace.Elected && r.Peer != 0 {
			at = r.At
		}
	}
	return at
}

// Messages is the messages that the algorithm sent: "0s ELECTION 1>2, 1ms ANSWER 2>1".
func (o Outcome) Messages() string {
	var out []string
	for _, r := range o.Trace {
		if r.Type == trace.Send && r.Plane == trace.Data {
			out = append(out, fmt.Sprintf("%v %s %d>%d", r.At, o.Kinds[r.Kind].Name, r.Process, r.Peer))
		}
	}
	return strings.Join(out, ", ")
}
