package launch

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/internal/commands/plan"
	"github.com/conclave-bench/conclave/internal/commands/progress"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// Again are the flags, with their values, with which the run is resumed where it began.
func (f *Request) Again() (words []string) {
	at := f.Queue.URL
	if f.Hub == HubHere {
		at, words = "", []string{"--hub"}
	} else if f.Hub != "" {
		at, words = "", []string{"--hub", strings.TrimPrefix(f.hub.URL, "nats://")}
	}
	for _, flag := range [][2]string{{"--queue", at}, {"--hosts", f.Hosts}, {"--via", f.Via},
		{"--host", f.Host}, {"--machine", f.Machine}, {"--nats-context", f.Queue.Context}} {
		if flag[1] != "" {
			words = append(words, flag[:]...)
		}
	}
	return words
}

// patience is how long an interrupted run may take to wind itself up. What
// hangs longer, such as a simulated trial that cannot be cut short, is left.
const patience = 3500 * time.Millisecond

// Options are those of the runner, for an experiment and its folder, over what they are anyway.
func (f *Request) Options(o runner.Options, e *experiment.Experiment, folder *results.Folder) runner.Options {
	o.Workers, o.Host = f.Workers, strings.Fields(f.Host)
	if f.spread != nil {
		o.Machine = f.spread.Machine
	}
	if f.Queue.URL != "" {
		o.Queue = f.sender(e, folder)
	}
	return o
}

// Execute runs what is missing, and returns the notes of the run.
func Execute(ctx context.Context, e *experiment.Experiment, folder *results.Folder, options runner.Options,
	p progress.Teller) ([]string, error) {
	defer p.Close()
	d := plan.DesignOf(e)
	so, err := outcome.Of(e, folder.Dir()) // before a resume
	if err != nil {
		return nil, err
	}
	options.Progress = func(now runner.Progress) {
		if now.Final {
			so.Add(now.Result)
		}
		p.Tell(&progress.Stand{Progress: now, Cell: d.Name(&e.Cells[now.Trial.Cell-1]), Known: so})
	}
	type ended struct {
		sum runner.Summary
		err error
	}
	done := make(chan ended, 1)
	go func() {
		sum, err := runner.Run(ctx, e, folder, options)
		done <- ended{sum, err}
	}()
	select {
	case r := <-done:
		return r.sum.Notes, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.sum.Notes, r.err
	case <-time.After(patience):
	}
	notes := append([]string{"interrupted in the middle of a trial, which is not recorded"},
		e.Notes...)
	end := results.End{Notes: notes}
	known, err := runner.ReadStopping(e, folder.Dir())
	if err == nil {
		end.Planned, end.Stopping = known.Planned(), known.Record()
		_, err = folder.Finish(end)
	}
	return notes, errors.Join(context.Cause(ctx), err)
}
