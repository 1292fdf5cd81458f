// Package replay runs single trials of a run again, and finds their records: what came of a trial
// beside what is recorded, and what a diagram is drawn of.
package replay

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Recorded loads the experiment of the run at path. The environment has no say:
// it is the one that ran.
func Recorded(path string) (*experiment.Experiment, string, error) {
	dir, h, config, err := results.ReadConfig(path)
	if err != nil {
		return nil, "", err
	}
	e, err := experiment.LoadContent(filepath.Join(dir, results.ConfigFile), config, experiment.Overrides{})
	if err == nil && h.Shard != nil {
		e, err = e.Only(experiment.Shard{Index: h.Shard.Index, Of: h.Shard.Of})
	}
	return e, dir, err
}

// Only is the number of the trial of the run at path if it has one. The verb is the command that asks.
func Only(path, verb string) (int, error) {
	e, _, err := Recorded(path)
	if err != nil {
		return 0, err
	}
	all := e.Trials()
	if len(all) != 1 {
		return 0, answer.Mistaken("bench %s: the run has %d trials; add --trial N, as bench %s %s --trial 3",
			verb, len(all), verb, program.Quote(path))
	}
	return all[0].Number, nil
}

// A Trial is one of an experiment, which a run may have recorded.
type Trial struct {
	*experiment.Trial
	Of  *experiment.Experiment
	dir string // of the run
}

// Design is the cell of the trial.
func (t *Trial) Design() *experiment.Cell { return &t.Of.Cells[t.Cell-1] }

// TrialOf is the trial of that number.
func TrialOf(e *experiment.Experiment, number int) (*Trial, error) {
	for _, t := range e.Trials() {
		if t.Number == number {
			return &Trial{Trial: &t, Of: e}, nil
		}
	}
	if e.Shard.Of > 0 && number > 0 && number <= len(e.Cells)*e.Repetitions {
		return nil, answer.Mistaken("--trial %d is not in shard %v; look in the others", number, e.Shard)
	}
	return nil, answer.Mistaken("--trial %d: the run has trials 1 to %d", number,
		len(e.Cells)*e.Repetitions)
}

// recordedTrial is the trial of that number of the run at path.
func recordedTrial(path string, number int) (*Trial, error) {
	e, dir, err := Recorded(path)
	if err != nil {
		return nil, err
	}
	t, err := TrialOf(e, number)
	if err == nil {
		t.dir = dir
	}
	return t, err
}

// latest is the last attempt at the trial that its run has recorded; nil: there is none.
func (t *Trial) latest() (*results.Trial, error) {
	attempts, err := results.ReadAttempts(t.dir, t.Number)
	if len(attempts) == 0 {
		return nil, err
	}
	return &attempts[len(attempts)-1], err
}

// retraced has the algorithm of a trial run again by its records, watched: code that does not return
// is left behind.
func retraced(setup *harness.Setup, records trace.List,
	feed func(*harness.Setup, trace.List, *algo.Buffer) harness.Retracing) (*harness.Retracing, error) {
	buf, done, hangs := new(algo.Buffer), make(chan *harness.Retracing, 1), make(chan error, 1)
	name := fmt.Sprintf("%s, %d nodes, again", setup.Algorithm, setup.Nodes)
	defer guard.WatchTrial(buf, name, func(err error) { hangs <- err }).Release()
	go func() {
		guard.Meet(setup.Alg.New(setup.Config(1, 0, nil)), setup.Algorithm)
		r := feed(setup, records, buf)
		done <- &r
	}()
	select {
	case r := <-done:
		return r, nil
	case err := <-hangs:
		return nil, fmt.Errorf("%s: %w", setup.Algorithm, err)
	}
}

// A Rerun is what a trial came to that was run again.
type Rerun struct {
	Verdict check.Verdict
	End     harness.End
	Records trace.List
}

// An Again runs a trial of an experiment again.
type Again func(*experiment.Experiment, *experiment.Trial) (*Rerun, error)

// Run runs a trial of e again: on real nodes up to as often as the experiment repeats an invalid trial. A
// simulation cannot be cut short and is left behind.
func Run(ctx context.Context, e *experiment.Experiment, t *experiment.Trial, o runner.Options) (
	*Rerun, error) {
	r, done := &Rerun{}, make(chan error, 1)
	go func() {
		for attempt := 1; ; attempt++ {
			var err error
			r.Records = nil
			r.Verdict, r.End, err = runner.Replay(ctx, e, t, o, &r.Records)
			if err != nil || r.Verdict.Status != trace.Invalid || attempt > e.Retries || ctx.Err() != nil {
				done <- err
				return
			}
		}
	}()
	if !e.Virtual() {
		return r, <-done
	}
	select {
	case err := <-done:
		return r, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
