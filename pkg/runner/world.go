package runner

import (
	"context"
	"errors"

	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A world is where trials run: what a transport that simulates needs of a runner, or one
// with real processes.
type world interface {
	// run executes what the folder of r does not hold yet, todo first.
	run(ctx context.Context, r *run, todo []experiment.Trial) error
	// replay runs a trial again, and hands its records to sink.
	replay(ctx context.Context, e *experiment.Experiment, t *experiment.Trial, o *Options,
		sink trace.Sink) (work.Outcome, error)
}

// children says whether simulated trials run in processes of their own.
func (o *Options) children() bool { return len(o.WorkArgs) > 0 && proc.CanSpawn() == nil }

// simulators say how to simulate there.
func (o *Options) simulators() work.Simulators {
	return work.Simulators{Exe: o.Exe, Args: o.WorkArgs, Patience: o.Patience}
}

func worldOf(e *experiment.Experiment) world {
	if e.Virtual() {
		return simulation{}
	}
	return realTime{}
}

// simulation is virtual time: trials side by side, in processes of their own if they can be
// had.
type simulation struct{}

func (simulation) run(ctx context.Context, r *run, todo []experiment.Trial) error {
	if r.store.Dir() == "" && r.experiment.Trace != "none" && r.options.children() {
		return errors.New("a run in memory keeps no traces of trials that other processes simulate: " +
			"set trace: none, or leave WorkArgs out")
	}
	return r.simulate(ctx, todo)
}

func (simulation) replay(ctx context.Context, _ *experiment.Experiment, t *experiment.Trial, o *Options,
	sink trace.Sink) (work.Outcome, error) {
	if o.children() {
		c := o.simulators()
		c.Stderr = o.Stderr
		return c.Replay(ctx, t, sink)
	}
	plan := replayed(t)
	return work.Simulate(&plan, sink)
}

// realTime is real processes: one trial at a time, on a machine.
type realTime struct{}

func (realTime) run(ctx context.Context, r *run, todo []experiment.Trial) error {
	return r.host(ctx, todo)
}

func (realTime) replay(ctx context.Context, e *experiment.Experiment, t *experiment.Trial, o *Options,
	sink trace.Sink) (work.Outcome, error) {
	plan := replayed(t)
	m, _, err := o.machine(ctx, e, Room{Nodes: plan.Nodes, Run: plan.Trial, Pause: plan.LongestPause()})
	if err != nil {
		return work.Outcome{}, err
	}
	defer m.Close()
	return work.Host(ctx, m, &plan, sink)
}

func replayed(t *experiment.Trial) harness.Plan {
	plan := t.Plan
	plan.Trial = "replay"
	return plan
}
