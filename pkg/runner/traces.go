package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// keepTrace stores the trial's records, where that was asked for. It comes before
// the row: a trial whose row is on disk is never run again. What a run that was
// killed between the two has left is replaced, or removed, when the attempt is
// repeated.
func (r *run) keepTrace(t experiment.Trial, attempt int, o outcome) error {
	keep := r.experiment.Trace == "all" ||
		r.experiment.Trace == "failures" && o.verdict.Status != check.OK
	switch {
	case keep && len(o.trace) > 0:
		return r.folder.WriteTrace(results.Trace{
			Trial: t.Number, Attempt: attempt, Kinds: o.kinds, Records: o.trace,
		})
	case o.quality != nil: // in simulation, a repeated attempt leaves what the first has left
		return r.dropTrace(t.Number, attempt)
	}
	return nil
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
