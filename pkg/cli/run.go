package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/internal/plan"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/queue"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/runner/nodes"
)

// runFlags are the flags of bench run.
type runFlags struct {
	source
	out      string
	resume   string
	machines string // what --host, --hosts or --queue then is
	host     string
	shard    string
	machine  string
	hosts    string
	queue    join
	spread   *nodes.Hosts // what the file of hosts says; nil: there is none
	workers  int
	quiet    bool
	progress string
	serve    bool
	port     int

	watched *watched // the run, while it is served; nil: it is not
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

With --rounds K, the repetitions are divided over K rounds, and everything is
started anew for each: bus, host, nodes and simulators. What a start happens
to be like then differs between rounds, and the run says how much that matters.

With --machines, other machines run the trials: those of a FILE of hosts, which
ends in .yaml, as with --hosts FILE; the workers of a NATS server at a URL, as
with --queue URL; or the one on which a COMMAND starts this program, as with
--host COMMAND. "spread URL" is --hosts URL.

With --host, the nodes run on another machine. The option is a command that
starts the program node there, such as --host "ssh lab7 ./node host". That
machine needs only this program, built from the same commit, and no open port.
The command is split at spaces; no shell reads it.

With --queue, the machines that "bench work" has joined to the same NATS server
run the trials. The folder gets them as they come; nothing is lost or counted
twice, whoever dies.

With --hosts, each trial is spread over several machines, which FILE lists, or
which "bench work --address" has joined to the NATS server at a URL; see
docs/many-machines.md.

With --shard 3/8, only the third of eight parts runs, which no other machine
has to know of: repetitions 3, 11, 19 and so on of every cell. Its folder is
DIR/NAME/shard-3-of-8; where that is there already, the shard goes on. When
all have ended, "bench merge" makes one run of them.

` + exitHelp("run", "0", "1", "2", "3", "4", "5", "130, 143"),
		Example: `  bench run configs/quickstart.yaml
  bench run configs/quickstart.yaml --transport sim --set network.loss=0.01
  bench run --algorithms bully,ring-list --nodes 3,5 --transport sim
  bench run configs/quickstart.yaml --shard 1/4
  bench run --resume results/quickstart/latest`,
		Args: cobra.ArbitraryArgs,
	}
	f.register(c)
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "results", "write the run into a folder of its own in `DIR`")
	flags.StringVar(&f.resume, "resume", "", "continue the run in `DIR`; takes no FILE")
	flags.StringVar(&f.machines, "machines", "",
		"have other machines run the trials: `WHICH` are a FILE of hosts, a URL or a COMMAND")
	flags.StringVar(&f.host, "host", "", "start the nodes on another machine with `COMMAND`")
	flags.StringVar(&f.shard, "shard", "",
		"run part `I/N` alone, I from 1 to N (K+1/N is for a K from 0)")
	flags.StringVar(&f.machine, "machine", "",
		"call the machine of a shard `NAME` in the results (default: its host name)")
	f.queue.register(c, "queue", "have workers run the trials, through NATS")
	flags.StringVar(&f.hosts, "hosts", "",
		"spread the nodes of each trial over the machines in `FILE`, or those at a URL")
	flags.IntVar(&f.workers, "workers", 0,
		"simulate `N` trials at a time (default: one per core)")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	flags.StringVar(&f.progress, "progress", "auto",
		"show progress on standard error as `MODE`: "+strings.Join(progressModes, ", "))
	flags.BoolVar(&f.serve, "serve", false, "show the run to your browser while it goes on")
	flags.IntVar(&f.port, "port", 0, "of --serve: listen to `PORT` (default: one that is free)")
	choices(c, "progress", progressModes)
	s.answering(c, func(args []string) (*answer.Document, error) { return s.run(c, &f, args) })
	answer := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		defer func() { f.watched.end() }() // pages are served until after the answer
		return answer(c, args)
	}
	return c
}

func (s *streams) run(c *cobra.Command, f *runFlags, args []string) (*answer.Document, error) {
	if err := oneOf("progress", f.progress, progressModes); err != nil {
		return nil, err
	}
	if f.workers < 0 {
		return nil, usage("--workers %d, want 1 or more", f.workers)
	}
	if f.port != 0 && !f.serve {
		return nil, usage("--port means nothing without --serve")
	}
	if err := f.which(); err != nil {
		return nil, err
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	e, folder, err := s.open(c, f, args)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // whatever was finished is on disk already
	if !f.quiet {
		if err := s.preamble(e, folder); err != nil {
			return nil, err
		}
	}
	s.overridden(folder.Header().Overrides, f.quiet)
	if f.watched, err = s.watch(ctx, f, e, folder); err != nil {
		return nil, err
	}
	notes, runErr := s.execute(ctx, f, e, folder)
	f.watched.measured()
	o, err := outcome.Of(e, folder.Dir())
	if err != nil {
		return nil, errors.Join(runErr, err)
	}
	for _, flag := range []struct{ name, value string }{
		{"--queue", f.queue.URL}, {"--hosts", f.hosts}, {"--host", f.host}, {"--machine", f.machine},
	} {
		if flag.value != "" {
			o.Again = append(o.Again, flag.name, flag.value)
		}
	}
	o.Notes, o.Tally.Err = append(folder.Notes(), notes...), runErr
	frugal(false)
	if err := o.Hold(); err != nil {
		return nil, err
	}
	if err := folder.Conclude(o.Tally.Code()); err != nil {
		o.Tally.Err = errors.Join(runErr, err)
	}
	return o.Document("run"), nil
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
		if err := errors.Join(checkHost(e, f.host), f.loadHosts(s, e, "")); err != nil {
			return nil, nil, err
		}
		if err := f.checkQueue(e); err != nil {
			return nil, nil, err
		}
		config, err := e.Resolved()
		if err != nil {
			return nil, nil, err
		}
		if f.shard != "" {
			if e, err = f.part(e); err != nil {
				return nil, nil, err
			}
		} else if f.machine != "" {
			return nil, nil, usage("--machine without --shard: only a shard names its machine; leave it out")
		}
		header := runner.Header(e, s.argv)
		header.Host = strings.Fields(f.host)
		if f.spread != nil {
			header.Hosts = f.spread.Names()
		}
		if f.queue.URL != "" {
			header.Queue = strings.ReplaceAll(e.Name, ".", "-") + "-" + strings.ToLower(rand.Text()[:12])
			header.Named = !e.Virtual()
		}
		folder, err := f.folder(e, header, config)
		return e, folder, err
	}
	for _, name := range []string{"transport", "rounds", "set", "algorithms", "nodes", "out", "shard"} {
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
	if err := errors.Join(f.loadHosts(s, e, dir), f.checkQueue(e)); err != nil {
		return nil, nil, err
	}
	if err := f.sameHost(dir); err != nil {
		return nil, nil, err
	}
	config, err := e.Resolved()
	if err != nil {
		return nil, nil, err
	}
	folder, err := results.Open(dir, results.Resume{Config: config})
	return e, folder, err
}

// which sets the flag that the machines stand for.
func (f *runFlags) which() error {
	if f.machines == "" {
		return nil
	}
	if f.host+f.hosts+f.queue.URL != "" {
		return usage("--machines with --host, --hosts or --queue: each says which machines run the trials; " +
			"leave one of them out")
	}
	url, spread := strings.CutPrefix(f.machines, "spread ")
	switch {
	case spread:
		f.hosts = url
	case strings.Contains(f.machines, "://") && !strings.Contains(f.machines, " "):
		f.queue.URL = f.machines
	case slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(f.machines)):
		f.hosts = f.machines
	default:
		f.host = f.machines
	}
	return nil
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

// loadHosts reads the file of hosts, if there is one, or finds workers. A run that goes on
// in dir needs those that it began with.
func (f *runFlags) loadHosts(s *streams, e *experiment.Experiment, dir string) (err error) {
	switch {
	case f.hosts == "":
		return nil
	case f.host != "":
		return usage("--host with --hosts: the one is a machine for all nodes, the other several; leave " +
			"one of them out")
	case f.shard != "":
		return usage("--hosts with --shard: a shard's trials are on one machine; leave one of them out")
	case e.Virtual():
		return usage("--hosts with transport %s: a simulation has no nodes; leave it out", e.Transport)
	}
	if strings.Contains(f.hosts, "://") {
		err = f.findHosts(s, e, dir)
	} else if f.spread, err = nodes.LoadHosts(f.hosts); err != nil {
		err = usage("%v", err)
	}
	if err != nil {
		return err
	}
	if err = f.spread.Check(e); err != nil {
		return usage("%v", err)
	}
	return nil
}

// findHosts finds the machines of workers.
func (f *runFlags) findHosts(s *streams, e *experiment.Experiment, dir string) error {
	from := f.queue.Server
	from.URL = f.hosts
	if err := from.Check(); err != nil {
		return usage("--hosts: %v", err)
	}
	if e.Bus.URL != "" {
		return usage("--hosts %s with bus.url: hosts that are found have a bus of their own; leave one of "+
			"them out, or list the hosts in a file", f.hosts)
	}
	var names []string
	if dir != "" {
		h, err := results.ReadHeader(dir)
		if err != nil {
			return err
		}
		names = h.Hosts
	}
	var err error
	f.spread, err = nodes.FindHosts(context.Background(), from, e, names, func(text string) {
		if !f.quiet {
			s.say("note: " + text)
		}
	})
	return err
}

// checkQueue says why workers elsewhere cannot run the trials.
func (f *runFlags) checkQueue(e *experiment.Experiment) error {
	switch {
	case f.queue.URL == "":
		return nil
	case f.host != "" || f.hosts != "" || f.shard != "" || f.workers > 0:
		return usage("--queue with --host, --hosts, --shard or --workers: the workers say where and how " +
			"they run; leave one of them out")
	case e.Bus.URL != "":
		return usage("--queue with bus.url: workers have a bus of their own; leave one of them out")
	}
	return f.queue.check("queue")
}

// queueKeyFile is in the folder of a run that uses a queue, until the run is over.
const queueKeyFile = ".queue-key"

// sender puts the trials of a run into the queue.
func (f *runFlags) sender(s *streams, e *experiment.Experiment, folder *results.Folder) func(
	context.Context) (runner.Queue, error) {
	return func(ctx context.Context) (runner.Queue, error) {
		config, err := e.Resolved()
		if err != nil {
			return nil, err
		}
		return queue.NewSender(ctx, f.queue.Server, queue.Run{Header: folder.Header(), Config: config,
			Program: results.ThisSite().Tool, Virtual: e.Virtual(),
			KeyFile: filepath.Join(folder.Dir(), queueKeyFile)},
			s.note)
	}
}

// part is the shard of e that is asked for.
func (f *runFlags) part(e *experiment.Experiment) (*experiment.Experiment, error) {
	shard, err := experiment.ParseShard(f.shard)
	if err != nil {
		return nil, usage("--shard %v", err)
	}
	if e, err = e.Only(shard); err != nil {
		return nil, usage("--shard: %v", err)
	}
	if e.Virtual() && f.machine != "" {
		return nil, usage("--machine with transport %s: a simulation is the same on every machine; "+
			"leave it out", e.Transport)
	}
	return e, nil
}

// folder makes the folder of a new run, or opens that of a shard that was begun: whoever
// starts jobs again need not know how far one had come.
func (f *runFlags) folder(e *experiment.Experiment, h results.Header, config []byte) (
	*results.Folder, error) {
	if h.Shard == nil {
		return results.Create(f.out, h, config)
	}
	if !e.Virtual() {
		name, err := f.machineName()
		if err != nil {
			return nil, err
		}
		h.Shard.Host = name
	}
	dir := results.ShardDir(f.out, h.Name, *h.Shard)
	if _, err := results.Resolve(dir); err != nil {
		return results.Create(f.out, h, config)
	}
	if err := f.sameHost(dir); err != nil {
		return nil, err
	}
	folder, err := results.Open(dir, results.Resume{Config: config})
	if err != nil {
		err = fmt.Errorf("shard %v is there already: %w, in another folder (--out)", h.Shard, err)
	}
	return folder, err
}

// machineName is what the machine that measures a shard is called.
func (f *runFlags) machineName() (string, error) {
	switch {
	case f.machine != "":
		return f.machine, nil
	case f.host != "":
		return "", usage("--shard with --host: want the name of that machine, as --machine lab7")
	}
	name, err := os.Hostname()
	if err != nil {
		return "", usage("--shard: this machine does not tell its name: %v; give it one with --machine", err)
	}
	return name, nil
}

// sameHost makes sure that a run goes on where it began. The command in its folder
// is never executed by itself: somebody else may have written it.
func (f *runFlags) sameHost(dir string) error {
	h, err := results.ReadHeader(dir)
	if err != nil {
		return err
	}
	began := program.Quote(strings.Join(h.Host, " "))
	var hosts []string
	if f.spread != nil {
		hosts = f.spread.Names()
	}
	switch {
	case h.Queue != "" && f.queue.URL == "":
		return usage("--resume: workers ran its trials; add --queue and the address of their NATS server")
	case h.Queue == "" && f.queue.URL != "":
		return usage("--queue with --resume: the run began without one; leave it out")
	case !slices.Equal(h.Hosts, hosts):
		return usage("--resume: the run began on the hosts %s, and now they are %s; go on with the file of "+
			"hosts (--hosts) that it began with", orNone(h.Hosts), orNone(hosts))
	case slices.Equal(h.Host, strings.Fields(f.host)):
	case len(h.Host) == 0:
		return usage("--host with --resume: the run began without one; leave it out")
	default:
		return usage("--resume: the run began on another host; add --host %s", began)
	}
	if h.Shard == nil || h.Shard.Host == "" {
		return nil
	}
	name, err := f.machineName()
	if err == nil && name != h.Shard.Host {
		return usage("shard %v began on machine %q, and this is %q: a repetition is not divided over "+
			"machines; go on there, or remove %s and run the shard again; or add --machine %s if this is "+
			"that one", h.Shard, h.Shard.Host, name, program.Quote(dir), program.Quote(h.Shard.Host))
	}
	return err
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
	trials := report.Plural(planned, "trial", "trials")
	if e.Until != nil {
		trials = plan.Between(e.Least(), e.Most()) + " trials"
	}
	b, w := thisBuild(), s.aside()
	fmt.Fprintf(w, "experiment  %s: %s, %s, %s x %s = %s, %s\n", e.Name, e.Problem, e.Transport,
		report.Plural(len(e.Cells), "cell", "cells"), plan.Repetitions(e), trials, how)
	if e.Shard.Of > 0 {
		fmt.Fprintf(w, "shard       %v of %d repetitions\n", e.Shard, e.Repetitions)
	}
	fmt.Fprintf(w, "seed        %d\n", e.Seed)
	fmt.Fprintf(w, "version     %s, %s\n", b.Version, b.commit())
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
		s.say("note: " + n)
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
	d, p := plan.DesignOf(e), s.newProgress(mode)
	defer p.close()
	options, err := programs()
	if err != nil {
		return nil, err
	}
	options.Workers, options.Host = f.workers, strings.Fields(f.host)
	if f.spread != nil {
		options.Machine = f.spread.Machine
	}
	if f.queue.URL != "" {
		options.Queue = f.sender(s, e, folder)
	}
	so, err := outcome.Of(e, folder.Dir()) // before a resume
	if err != nil {
		return nil, err
	}
	options.Progress = func(now runner.Progress) {
		if now.Final {
			so.Add(now.Result)
		}
		p.tell(&stand{now, d.Name(&e.Cells[now.Trial.Cell-1]), so})
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

// orNone is a list in words.
func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
