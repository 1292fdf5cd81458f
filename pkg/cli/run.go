package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// runFlags are the flags of bench run.
type runFlags struct {
	source
	out      string
	resume   string
	host     string
	workers  int
	quiet    bool
	progress string
	json     bool
}

func (s *streams) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run an experiment",
		Long: `Run every trial of the experiment in FILE and write the measurements into a
new folder. Without FILE, --algorithms, --nodes and --set describe the
experiment. An interrupted run keeps every finished trial; --resume continues
it.

With --host, the nodes run on another machine. The option is a command that
starts the program node there, such as --host "ssh lab7 ./node host". That
machine needs only this program, built from the same commit, and no open port.
The command is split at spaces; no shell reads it.

` + exitHelp("run", "0", "1", "2", "3", "4", "5", "130, 143"),
		Example: `  bench run configs/quickstart.yaml
  bench run configs/quickstart.yaml --transport sim --set network.loss=0.01
  bench run --algorithms bully,ring-list --nodes 3,5 --transport sim
  bench run --resume results/quickstart/latest`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return s.run(c, &f, args)
		},
	}
	f.register(c)
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "results", "write the run into a folder of its own in `DIR`")
	flags.StringVar(&f.resume, "resume", "", "continue the run in `DIR`; takes no FILE")
	flags.StringVar(&f.host, "host", "", "start the nodes on another machine with `COMMAND`")
	flags.IntVar(&f.workers, "workers", 0,
		"simulate `N` trials at a time (default: one per core)")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	flags.StringVar(&f.progress, "progress", "auto",
		"show progress on standard error as `MODE`: "+strings.Join(progressModes, ", "))
	flags.BoolVar(&f.json, "json", false, "print the results as JSON")
	choices(c, "progress", progressModes)
	return c
}

func (s *streams) run(c *cobra.Command, f *runFlags, args []string) error {
	if err := oneOf("progress", f.progress, progressModes); err != nil {
		return err
	}
	if f.workers < 0 {
		return usage("--workers %d, want 1 or more", f.workers)
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	e, folder, err := s.open(c, f, args)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // whatever was finished is on disk already
	if !f.quiet {
		if err := s.preamble(e, folder); err != nil {
			return err
		}
	}
	s.overridden(folder.Header().Overrides, f.quiet)
	notes, runErr := s.execute(ctx, f, e, folder)
	o, err := outcomeOf(e, folder.Dir())
	if err != nil {
		return errors.Join(runErr, err)
	}
	o.host, o.notes, o.tally.err = f.host, append(folder.Notes(), notes...), runErr
	if err := o.hold(); err != nil {
		return err
	}
	return s.conclude(o, f.json)
}

// open makes the folder of a new run, or opens that of an old one.
func (s *streams) open(c *cobra.Command, f *runFlags, args []string) (
	*experiment.Experiment, *results.Folder, error) {
	if f.resume == "" {
		e, err := f.load(s, args)
		if err != nil {
			return nil, nil, err
		}
		if f.workers > 0 && !e.Virtual() {
			return nil, nil, usage("--workers with transport %s: real nodes run one trial at a time; "+
				"leave it out, or add --transport sim", e.Transport)
		}
		if err := checkHost(e, f.host); err != nil {
			return nil, nil, err
		}
		config, err := e.Resolved()
		if err != nil {
			return nil, nil, err
		}
		header := runner.Header(e, s.argv)
		header.Host = strings.Fields(f.host)
		folder, err := results.Create(f.out, header, config)
		return e, folder, err
	}
	for _, name := range []string{"transport", "set", "algorithms", "nodes", "out"} {
		if c.Flags().Changed(name) {
			return nil, nil, usage("--%s with --resume: a run goes on as it began; leave it out", name)
		}
	}
	if len(args) > 0 {
		return nil, nil, usage("--resume takes no FILE, and %q is one: a run goes on with its own "+
			"copy of the experiment", args[0])
	}
	e, dir, err := recorded(f.resume)
	if err != nil {
		return nil, nil, err
	}
	if err := sameHost(dir, f.host); err != nil {
		return nil, nil, err
	}
	config, err := e.Resolved()
	if err != nil {
		return nil, nil, err
	}
	folder, err := results.Open(dir, results.Resume{Config: config})
	return e, folder, err
}

// checkHost says why there is nothing for a host to do.
func checkHost(e *experiment.Experiment, host string) error {
	switch {
	case host == "":
		return nil
	case e.Virtual():
		return usage("--host with transport %s: a simulation has no nodes; leave it out", e.Transport)
	case e.Bus.URL != "":
		return usage("--host with bus.url: a host has a bus of its own; leave one of them out")
	case len(strings.Fields(host)) == 0:
		return usage("--host %q, want a command, as \"ssh lab7 ./node host\"", host)
	}
	return nil
}

// sameHost makes sure that a run goes on where it began. The command in its folder
// is never executed by itself: somebody else may have written it.
func sameHost(dir, host string) error {
	h, err := results.ReadHeader(dir)
	if err != nil || slices.Equal(h.Host, strings.Fields(host)) {
		return err
	}
	if len(h.Host) == 0 {
		return usage("--host with --resume: the run began without one; leave it out")
	}
	return usage("--resume: the run began on another host; add --host %s",
		report.Quote(strings.Join(h.Host, " ")))
}

// preamble says what is going to run before anything does.
func (s *streams) preamble(e *experiment.Experiment, folder *results.Folder) error {
	known, err := runner.ReadStopping(e, folder.Dir())
	if err != nil {
		return err
	}
	planned, finished := known.Planned(), len(folder.Done())
	how := howLong(e)
	if _, all := e.Estimate(); finished > 0 {
		how = about(time.Duration(float64(all) * float64(planned-finished) / float64(e.Most())))
	}
	trials := report.Plural(planned, "trial", "trials")
	if e.Until != nil {
		trials = between(e.Least(), e.Most()) + " trials"
	}
	b := thisBuild()
	fmt.Fprintf(s.err, "experiment  %s: %s, %s, %s x %s = %s, %s\n", e.Name, e.Problem, e.Transport,
		report.Plural(len(e.Cells), "cell", "cells"), repetitions(e), trials, how)
	fmt.Fprintf(s.err, "seed        %d\n", e.Seed)
	fmt.Fprintf(s.err, "version     %s, %s\n", b.Version, b.commit())
	fmt.Fprintf(s.err, "results     %s (every default: %s)\n", folder.Dir(), results.ConfigFile)
	if host := folder.Header().Host; len(host) > 0 {
		fmt.Fprintf(s.err, "host        %s\n", strings.Join(host, " "))
	}
	if finished > 0 {
		fmt.Fprintf(s.err, "resumed     %s\n", progressOf(e, finished, planned)+" were finished")
	}
	for _, n := range slices.Concat(folder.Notes(), e.Notes) {
		s.say("note: " + n)
	}
	return nil
}

// overridden says what did not come from the experiment file; if it must be quiet, what
// does not stand on the command line, either.
func (s *streams) overridden(all []results.Override, quiet bool) {
	for _, o := range all {
		if o := experiment.Override(o); !quiet || o.FromEnvironment() {
			fmt.Fprintf(s.err, "override    %s\n", o)
		}
	}
}

// progressOf is how far a run is, in words: under a rule, the cells that go on may
// need fewer trials than are planned for them.
func progressOf(e *experiment.Experiment, finished, planned int) string {
	if e.Until != nil && finished < planned {
		return fmt.Sprintf("%d of at most %d trials", finished, planned)
	}
	return fmt.Sprintf("%d of %d trials", finished, planned)
}

// patience is how long an interrupted run may take to wind itself up. What
// hangs longer, such as a simulated trial that cannot be cut short, is left.
const patience = 3500 * time.Millisecond

// execute runs what is missing and returns the notes of the run.
func (s *streams) execute(ctx context.Context, f *runFlags, e *experiment.Experiment,
	folder *results.Folder) ([]string, error) {
	mode := f.progress
	if f.quiet {
		mode = "none"
	}
	d, p := designOf(e), s.newProgress(mode)
	defer p.close()
	options, err := programs()
	if err != nil {
		return nil, err
	}
	options.Workers, options.Host = f.workers, strings.Fields(f.host)
	options.Progress = func(now runner.Progress) { p.tell(now, d.name(&e.Cells[now.Trial.Cell-1])) }
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
