// Package work runs trials in worker processes. A worker simulates trials, or runs them on real
// nodes, for a runner at the other end of a pipe: on this machine, or on another one behind ssh.
// What a plugin does to a worker costs its trial, and never the run.
package work

import (
	"context"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Machine runs trials on real nodes, one at a time.
type Machine interface {
	// Baseline measures the bus alone.
	Baseline() (map[string]any, error)
	// Network says what the network between the hosts does to messages: in a phase of link.Matrix.
	Network(phase string) (*link.Matrix, error)
	// Run executes one trial and hands its records to sink.
	Run(context.Context, *harness.Setup, trace.Sink) (harness.End, harness.Quality, error)
	Close()
}

// Room is what a run needs of its machine.
type Room struct {
	Nodes int           // the most that a trial has
	Run   string        // marks what the machine starts
	Ready time.Duration // how long nodes may take to be ready; 0: the usual time
	Limit int64         // bytes of records that a node may write; 0: the usual limit
	Pause time.Duration // the longest that a node is to be paused
	Wire  bool          // some trial has a wire
	// Spread says over which hosts the machine spreads trials, for Config.Spread; nil: over none.
	Spread []byte
}

// An Outcome is what came of one attempt at a trial.
type Outcome struct {
	Verdict check.Verdict
	End     harness.End
	Quality *harness.Quality // nil: simulated
	// Handling is what the algorithm's handlers cost the simulator.
	Handling harness.Handling
}

// Host runs one trial on real nodes. The records also go to sink, unless it is nil.
func Host(ctx context.Context, m Machine, p *harness.Plan, sink trace.Sink) (o Outcome, err error) {
	setup, err := p.Setup()
	if err != nil {
		return o, err
	}
	judge := check.NewJudge(setup)
	o.Quality = &harness.Quality{}
	if o.End, *o.Quality, err = m.Run(ctx, setup, both(judge, sink)); err != nil {
		return o, err
	}
	o.Verdict = judge.Finish(o.End)
	o.Verdict.JudgeTimes()
	return o, nil
}

// Simulate runs one trial in virtual time, in this process. The records also go to sink, unless
// it is nil.
func Simulate(p *harness.Plan, sink trace.Sink) (o Outcome, err error) {
	setup, err := p.Setup()
	if err != nil {
		return o, err
	}
	setup.Virtual, setup.Handling = true, &o.Handling
	judge := check.NewJudge(setup)
	o.End = sim.Run(setup, both(judge, sink))
	o.Verdict = judge.Finish(o.End)
	return o, nil
}

func both(judge *check.Judge, sink trace.Sink) trace.Sink {
	if sink == nil {
		return judge
	}
	return trace.Tee(judge, sink)
}

// A Tracer is where traces begin: the store of a run, or the folder of one.
type Tracer interface {
	NewTrace(trial, attempt int, kinds []string) (*results.TraceWriter, error)
}

// folder is the folder of a run that another process writes.
type folder struct{ dir, keep string }

func (f folder) NewTrace(trial, attempt int, kinds []string) (*results.TraceWriter, error) {
	return results.NewTrace(f.dir, f.keep, trial, attempt, kinds)
}

// NewTrace begins a trace, with the names of the algorithm's messages.
func NewTrace(to Tracer, trial, attempt int, algorithm string) (*results.TraceWriter, error) {
	alg, err := algo.Lookup(algorithm)
	if err != nil {
		return nil, err
	}
	return to.NewTrace(trial, attempt, alg.Codec.Kinds())
}

// Reason is why a trial of the plan was judged as it was.
func Reason(p *harness.Plan, v *check.Verdict) string {
	if p.InModel && v.Beyond != "" && v.Status != trace.OK {
		return v.Reason + "; in_model=false: " + v.Beyond
	}
	return v.Reason
}

// SimulateTraced simulates a trial and keeps its records as keep, the experiment's key trace, asks for. A
// trace of failures costs nothing until there is one that is kept, among the firsts of those that this
// process has simulated: the trial is then run again, and is the same. That of a library would not be, so its
// records wait for the verdict.
func SimulateTraced(p *harness.Plan, keep string, to Tracer, firsts *results.Firsts,
	trial int) (o Outcome, err error) {
	var waiting trace.List
	if keep != trace.KeepAll {
		var sink trace.Sink
		if keep == trace.KeepFailures && subject(p) {
			sink = &waiting
		}
		o, err = Simulate(p, sink)
		if err != nil || keep == trace.KeepNone || o.Verdict.Status == trace.OK {
			return o, err
		}
		if ok, _ := firsts.Admit(trial, o.Verdict.Status, Reason(p, &o.Verdict)); !ok {
			return o, nil
		}
	}
	w, err := NewTrace(to, trial, 1, p.Algorithm)
	if err != nil {
		return o, err
	}
	defer w.Discard()
	for i := range waiting {
		w.Record(&waiting[i])
	}
	if waiting == nil {
		o, err = Simulate(p, w)
	}
	if err != nil || w.Len() == 0 {
		return o, err
	}
	return o, w.Commit(o.End.At)
}

// subject says whether the plan is for a library, whose trials do not repeat.
func subject(p *harness.Plan) bool {
	alg, err := algo.Lookup(p.Algorithm)
	return err == nil && alg.Subject
}
