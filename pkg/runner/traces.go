package runner

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// traced has a trial run on real nodes and keeps its records, where that was asked
// for: they go to disk at once, and are gone again if the trial turns out not to have
// failed. It comes before the row: a trial whose row is on disk is never run again.
// What a run that was killed between the two has left is replaced, or removed, when
// the attempt is repeated.
func (r *run) traced(t experiment.Trial, attempt int,
	run func(trace.Sink) (outcome, error)) (o outcome, err error) {
	if r.experiment.Trace == "none" {
		return run(nil)
	}
	w, err := newTrace(r.store, t.Number, attempt, t.Plan.Algorithm)
	if err != nil {
		return o, err
	}
	defer w.Discard()
	if o, err = run(w); err != nil {
		return o, err
	}
	if w.Len() > 0 && (r.experiment.Trace == "all" || o.verdict.Status != trace.OK) {
		return o, w.Commit()
	}
	return o, r.store.DropTrace(t.Number, attempt)
}

// tracer is where traces begin: a Store, or the folder of one.
type tracer interface {
	NewTrace(trial, attempt int, kinds []string) (*results.TraceWriter, error)
}

// folder is the folder of a run that another process writes.
type folder string

func (dir folder) NewTrace(trial, attempt int, kinds []string) (*results.TraceWriter, error) {
	return results.NewTrace(string(dir), trial, attempt, kinds)
}

// newTrace begins a trace, with the names of the algorithm's messages.
func newTrace(to tracer, trial, attempt int, algorithm string) (*results.TraceWriter, error) {
	alg, err := algo.Lookup(algorithm)
	if err != nil {
		return nil, err
	}
	return to.NewTrace(trial, attempt, alg.Codec.Kinds())
}

// simulateTraced simulates a trial and has its records kept, where that was asked for. A
// trace of failures costs nothing until there is one: the trial is then run again, and is
// the same.
func simulateTraced(p *harness.Plan, keep string, to tracer, trial int) (o outcome, err error) {
	if keep != "all" {
		o, err = simulated(p, nil)
		if err != nil || keep == "none" || o.verdict.Status == trace.OK {
			return o, err
		}
	}
	w, err := newTrace(to, trial, 1, p.Algorithm)
	if err != nil {
		return o, err
	}
	defer w.Discard()
	if o, err = simulated(p, w); err != nil || w.Len() == 0 {
		return o, err
	}
	return o, w.Commit()
}
