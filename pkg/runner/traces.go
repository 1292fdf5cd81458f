package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
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
	w, err := newTrace(r.folder.Dir(), t.Number, attempt, t.Plan.Algorithm)
	if err != nil {
		return o, err
	}
	defer w.Discard()
	if o, err = run(w); err != nil {
		return o, err
	}
	if w.Len() > 0 && (r.experiment.Trace == "all" || o.verdict.Status != check.OK) {
		return o, w.Commit()
	}
	return o, r.dropTrace(t.Number, attempt)
}

// newTrace begins a trace, with the names of the algorithm's messages.
func newTrace(dir string, trial, attempt int, algorithm string) (*results.TraceWriter, error) {
	alg, err := algo.Lookup(algorithm)
	if err != nil {
		return nil, err
	}
	return results.NewTrace(dir, trial, attempt, alg.Codec.Kinds())
}

// simulateTraced simulates a trial and keeps its records in the folder dir, where that
// was asked for. A trace of failures costs nothing until there is one: the trial is
// then run again, and is the same.
func simulateTraced(p *harness.Plan, keep, dir string, trial int) (o outcome, err error) {
	if keep != "all" {
		o, err = simulated(p, nil)
		if err != nil || keep == "none" || o.verdict.Status == check.OK {
			return o, err
		}
	}
	w, err := newTrace(dir, trial, 1, p.Algorithm)
	if err != nil {
		return o, err
	}
	defer w.Discard()
	if o, err = simulated(p, w); err != nil || w.Len() == 0 {
		return o, err
	}
	return o, w.Commit()
}

// dropTrace removes the trace of an attempt that was never recorded. The trace of
// an earlier attempt stays.
func (r *run) dropTrace(trial, attempt int) error {
	old, err := r.folder.ReadTrace(trial)
	if err != nil || old.Attempt != attempt {
		return nil
	}
	return removeTrace(r.folder.Dir(), fmt.Sprintf("trial-%d.ndjson", trial))
}

// sweepTraces removes the halves of traces that a run left that was killed.
func (r *run) sweepTraces() error {
	entries, err := os.ReadDir(filepath.Join(r.folder.Dir(), results.TracesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, removeTrace(r.folder.Dir(), e.Name()))
		}
	}
	return err
}

func removeTrace(dir, name string) error {
	err := os.Remove(filepath.Join(dir, results.TracesDir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a trace that is no longer meant: %w", err)
	}
	return nil
}
