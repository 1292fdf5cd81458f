package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/internal/commands/plan"
	"github.com/conclave-bench/conclave/internal/commands/progress"
	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// runFlags are the flags of bench run.
type runFlags struct {
	launch.Request
	progress string
	serve    bool
	notes    bool // all of them
	port     int

	watched *watched // the run, while it is served; nil: it is not
}

func (s *streams) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run an experiment",
		Long: `Run every trial of the experiment in FILE, write the measurements into a new
folder, and print a table, which algorithm is faster, and notes. Without FILE,
--algorithms, --nodes and --set describe the experiment. An interrupted run
keeps every finished trial; --resume continues it.

--machines, --hosts, --host, --queue and --shard spread a run over several
machines: docs/how-to/many-machines.md.

` + answer.Explain("run", "0", "1", "2", "3", "4", "5", "130, 143"),
		Example: `  bench run configs/quickstart.yaml
  bench run configs/quickstart.yaml --transport sim --set network.loss=0.01
  bench run --algorithms bully,ring-list --nodes 3,5 --transport sim
  bench run configs/quickstart.yaml --shard 1/4
  bench run --resume results/quickstart/latest`,
		Args: cobra.ArbitraryArgs,
	}
	s.sourced(c, &f.Source)
	flags := c.Flags()
	flags.StringVar(&f.Out, "out", "results", "write the run into a folder of its own in `DIR`")
	flags.StringVar(&f.Resume, "resume", "", "continue the run in `DIR`; takes no FILE")
	elsewhere(c, &f.Request)
	flags.IntVar(&f.Workers, "workers", 0,
		"simulate `N` trials at a time (default: one per core)")
	notesFlag(c, &f.notes)
	flags.BoolVar(&f.Quiet, "quiet", false, "print only results and errors")
	flags.StringVar(&f.progress, "progress", "auto",
		"show progress on standard error as `MODE`: "+strings.Join(progress.Modes, ", "))
	flags.BoolVar(&f.serve, "serve", false, "show the run in your browser while it is in progress")
	flags.IntVar(&f.port, "port", 0, "of --serve: listen to `PORT` (default: one that is free)")
	choices(c, "progress", progress.Modes)
	f.Given, f.Argv, f.Note = flags.Changed, s.argv, s.note
	s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		f.Files = args
		if f.Hub == launch.HubHere { // pflag leaves the word behind such a flag to the arguments
			if at := slices.IndexFunc(args, hub.Names); at >= 0 {
				f.Hub, f.Files = args[at], slices.Concat(args[:at], args[at+1:])
			}
		}
		return s.run(ctx, &f)
	})
	answer := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		defer func() { f.watched.end(s) }() // pages are served until after the answer
		return answer(c, args)
	}
	return c
}

// notesFlag adds the flag that shows all notes of a run.
func notesFlag(c *cobra.Command, all *bool) {
	c.Flags().BoolVar(all, "notes", false, "print all notes, and how the trials of each cell ended")
}

// elsewhere adds the flags that say which machines run the trials.
func elsewhere(c *cobra.Command, f *launch.Request) {
	flags := c.Flags()
	flags.StringVar(&f.Machines, "machines", "",
		"run on other machines: `WHICH` is a FILE.yaml for --hosts, a URL for --queue, \"spread URL\" for "+
			"--hosts, or a COMMAND for --host")
	flags.StringVar(&f.Host, "host", "", "start the nodes on another machine with `COMMAND`, such as \"ssh "+
		"lab7 ./node host\"")
	flags.StringVar(&f.Shard, "shard", "",
		"run only part `I/N` of the trials; shards need no coordination (bench merge)")
	flags.StringVar(&f.Machine, "machine", "",
		"call the machine of a shard `NAME` in the results (default: its host name)")
	joining(c, &f.Queue, "queue", "have workers run the trials, through NATS")
	flags.StringVar(&f.Hub, "hub", "", "have the machines of the hub at `HOST:PORT` run the trials; without "+
		"HOST:PORT, of a hub that ends with the run")
	flags.Lookup("hub").NoOptDefVal = launch.HubHere
	flags.StringVar(&f.Hosts, "hosts", "",
		"spread the nodes of each trial over the machines in `FILE`, those at a URL, or, with --hub, over "+
			"so many of its machines")
	flags.StringVar(&f.Via, "via", "",
		"of --hosts FILE: have host `NAME` lead the trials, for a bench that is far from the hosts")
}

func (s *streams) run(ctx context.Context, f *runFlags) (*answer.Document, error) {
	if err := oneOf("progress", f.progress, progress.Modes); err != nil {
		return nil, err
	}
	if f.Workers < 0 {
		return nil, usage("--workers %d, expected 1 or more", f.Workers)
	}
	if f.port != 0 && !f.serve {
		return nil, usage("--port means nothing without --serve")
	}
	var here *hub.Hub
	defer func() { here.Close() }()
	f.StartHub = func() (server queue.Server, err error) {
		server, here, err = s.hubOfRun()
		return server, err
	}
	e, folder, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // whatever was finished is on disk already
	if !f.Quiet {
		if err := s.preamble(e, folder); err != nil {
			return nil, err
		}
	}
	s.overridden(folder.Header().Overrides, f.Quiet)
	if f.serve {
		out := f.Out
		if f.Resume != "" {
			out = "" // the others are wherever they were
		}
		if f.watched, err = s.watch(ctx, f.port, out, e, folder); err != nil {
			return nil, err
		}
	}
	options, err := programs()
	if err != nil {
		return nil, err
	}
	mode := f.progress
	if f.Quiet {
		mode = silent
	}
	notes, runErr := launch.Execute(ctx, e, folder, f.Options(options, e, folder), s.progress().Of(mode))
	f.watched.measured()
	o, err := outcome.Of(e, folder.Dir())
	if err != nil { // a folder that is gone since is no mistake on the command line
		return nil, errors.Join(runErr, errors.New(err.Error()))
	}
	o.Whole = f.notes
	o.Again, o.Notes, o.Tally.Err = f.Again(), append(folder.Notes(), notes...), runErr
	frugal(false)
	if err := o.Hold(); err != nil {
		return nil, err
	}
	if err := folder.Conclude(o.Tally.Code()); err != nil {
		o.Tally.Err = errors.Join(runErr, err)
	}
	return o.Document("run"), nil
}

// preamble says what is going to run before anything does.
func (s *streams) preamble(e *experiment.Experiment, folder *results.Folder) error {
	known, err := runner.ReadStopping(e, folder.Dir())
	if err != nil {
		return err
	}
	planned, finished := known.Planned(), len(folder.Done())
	how := plan.HowLong(e)
	if _, all := e.Estimate(); finished > 0 {
		how = plan.About(time.Duration(float64(all) * float64(planned-finished) / float64(e.Most())))
	}
	trials := console.Plural(planned, "trial", "trials")
	if e.Until != nil {
		trials = plan.Between(e.Least(), e.Most()) + " trials"
	}
	w := s.aside()
	fmt.Fprintf(w, "experiment  %s: %s, %s, %s x %s = %s, %s, seed %d\n", e.Name, e.Problem, e.Transport,
		console.Plural(len(e.Cells), "cell", "cells"), plan.Repetitions(e), trials, how, e.Seed)
	if e.Shard.Of > 0 {
		fmt.Fprintf(w, "shard       %v of %d repetitions\n", e.Shard, e.Repetitions)
	}
	fmt.Fprintf(w, "results     %s (every default: %s)\n", folder.Dir(), results.ConfigFile)
	if host := folder.Header().Host; len(host) > 0 {
		fmt.Fprintf(w, "host        %s\n", strings.Join(host, " "))
	}
	if hosts := folder.Header().Hosts; len(hosts) > 0 {
		fmt.Fprintf(w, "hosts       %s\n", strings.Join(hosts, ", "))
	}
	if finished > 0 {
		fmt.Fprintf(w, "resumed     %s\n", outcome.Progress(e, finished, planned)+" were finished")
	}
	for _, n := range slices.Concat(folder.Notes(), e.Notes) {
		if n != e.AsSet { // it is about the ranking, and stands beside it
			s.say("note: " + n)
		}
	}
	return nil
}

// overridden says what did not come from the experiment file; if it must be quiet, what
// does not stand on the command line, either.
func (s *streams) overridden(all []results.Override, quiet bool) {
	for _, o := range all {
		if o := experiment.Override(o); !quiet || o.FromEnvironment() {
			fmt.Fprintf(s.aside(), "override    %s\n", o)
		}
	}
}
