package runner

import (
	"context"
	"errors"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// children says whether simulated trials run in processes of their own.
func (o *Options) children() bool { return len(o.WorkArgs) > 0 && proc.CanSpawn() == nil }

// simulators say how to simulate there.
func (o *Options) simulators() work.Simulators {
	return work.Simulators{Exe: o.Exe, Args: o.WorkArgs, Patience: o.Patience}
}

// here runs what the folder of r does not hold yet, todo first, round by round: in virtual time, with
// trials side by side, in processes of their own if they can be had; or one at a time, on a machine.
func (r *run) here(ctx context.Context, todo []experiment.Trial) (err error) {
	round := r.hostRound
	if r.experiment.Virtual() {
		round = r.simulateRound
		if r.store.Dir() == "" && r.experiment.Trace != trace.KeepNone && r.options.children() {
			return errors.New("a run in memory cannot keep traces of trials that other processes simulate: " +
				"set trace: none, or leave WorkArgs out")
		}
	}
	for len(todo) > 0 && err == nil {
		todo, err = round(ctx, todo)
	}
	return err
}

// Replay runs a trial of e again, and hands its records to sink. In simulation it is
// the same trial to the last event; on real nodes it has the same plan and random draws.
func Replay(ctx context.Context, e *experiment.Experiment, t *experiment.Trial, o Options,
	sink trace.Sink) (check.Verdict, harness.End, error) {
	out, err := replay(ctx, e, t, &o, sink)
	return out.Verdict, out.End, err
}

func replay(ctx context.Context, e *experiment.Experiment, t *experiment.Trial, o *Options,
	sink trace.Sink) (out work.Outcome, err error) {
	if e.Virtual() && o.children() {
		c := o.simulators()
		c.Stderr = o.Stderr
		return c.Replay(ctx, t, sink)
	}
	plan := t.Plan
	plan.Trial = "replay"
	if e.Virtual() {
		return work.Simulate(&plan, sink)
	}
	m, _, err := o.machine(ctx, e, Room{Nodes: plan.Nodes, Run: plan.Trial, Pause: plan.LongestPause(),
		Wire: plan.Network.Wire})
	if err != nil {
		return out, err
	}
	defer m.Close()
	return work.Host(ctx, m, &plan, sink)
}
