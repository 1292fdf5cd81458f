package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/conclave-bench/conclave/internal/guard"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// recorded loads the experiment of the run at path. The environment has no say:
// it is the one that ran.
func recorded(path string) (*experiment.Experiment, string, error) {
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

// aTrial is what --trial takes.
const aTrial = "the trial with number `N`, from 1 (default: the only one)"

// onlyTrial is the number of the trial of the run at path if it has one.
func onlyTrial(path, verb string) (int, error) {
	e, _, err := recorded(path)
	if err != nil {
		return 0, err
	}
	all := e.Trials()
	if len(all) != 1 {
		return 0, usage("bench %s: the run has %d trials; want --trial N, as bench %s %s --trial 3", verb,
			len(all), verb, program.Quote(path))
	}
	return all[0].Number, nil
}

// trialOf is the trial of that number, and its cell.
func trialOf(e *experiment.Experiment, number int) (*experiment.Trial, *experiment.Cell, error) {
	for _, t := range e.Trials() {
		if t.Number == number {
			return &t, &e.Cells[t.Cell-1], nil
		}
	}
	if e.Shard.Of > 0 && number > 0 && number <= len(e.Cells)*e.Repetitions {
		return nil, nil, usage("--trial %d is not in shard %v; look in the others", number, e.Shard)
	}
	return nil, nil, usage("--trial %d: the run has trials 1 to %d", number, len(e.Cells)*e.Repetitions)
}

// details tells what the records of a trial do not say.
func details(setup *harness.Setup, records trace.List) (*harness.Retracing, error) {
	return retraced(setup, records, harness.Details)
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

// A rerun is what a trial came to that was run again.
type rerun struct {
	verdict check.Verdict
	end     harness.End
	records trace.List
}

// failure says that the trial of a cell could not be run; nil: it could.
func (r *rerun) failure(c *experiment.Cell) error {
	if r.verdict.Status != trace.Failed {
		return nil
	}
	return fmt.Errorf("%s could not be run: %s", c.Algorithm, r.verdict.Reason)
}

// again runs a trial of e. A simulation cannot be cut short and is left behind.
func (s *streams) again(e *experiment.Experiment, t *experiment.Trial, host []string) (*rerun, error) {
	options, err := programs()
	if err != nil {
		return nil, err
	}
	options.Host, options.Stderr = host, s.err
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	r, done := &rerun{}, make(chan error, 1)
	go func() {
		var err error
		r.verdict, r.end, err = runner.Replay(ctx, e, t, options, &r.records)
		done <- err
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
