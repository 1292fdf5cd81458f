package runner

import (
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// traced has a trial run on real nodes and keeps its records, where that was asked
// for: they go to disk at once, and are gone again if the trial turns out not to have
// failed, or ten before it have failed alike. It comes before the row: a trial whose row
// is on disk is never run again. What a run that was killed between the two has left is
// replaced, or removed, when the attempt is repeated.
func (r *run) traced(t experiment.Trial, attempt int,
	run func(trace.Sink) (work.Outcome, error)) (o work.Outcome, err error) {
	if r.experiment.Trace == trace.KeepNone {
		return run(nil)
	}
	w, err := work.NewTrace(r.store, t.Number, attempt, t.Plan.Algorithm)
	if err != nil {
		return o, err
	}
	defer w.Discard()
	if o, err = run(w); err != nil {
		return o, err
	}
	keep := r.experiment.Trace == trace.KeepAll
	if !keep && o.Verdict.Status != trace.OK {
		keep, _ = r.firsts.Admit(t.Number, o.Verdict.Status, work.Reason(&t.Plan, &o.Verdict))
	}
	if w.Len() > 0 && keep {
		return o, w.Commit(o.End.At)
	}
	return o, r.store.DropTrace(t.Number, attempt)
}
