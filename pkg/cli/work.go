package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/queue"
	"github.com/conclave-bench/conclave/pkg/results"
)

// join are the flags of who takes part in a queue.
type join struct{ queue.Server }

func (j *join) register(c *cobra.Command, name, does string) {
	flags := c.Flags()
	flags.StringVar(&j.URL, name, "", does+" at `URL`, as tls://lab1:4222")
	flags.StringVar(&j.Credentials, "nats-creds", "", "log in to NATS with the credentials in `FILE`")
	flags.StringVar(&j.CA, "nats-ca", "", "believe the certificates of the authority in `FILE`")
}

// check says what is wrong with the flags, the first of which has that name.
func (j *join) check(name string) error {
	if j.URL == "" {
		return usage("want --%s URL, the address of NATS, as tls://lab1:4222", name)
	}
	if err := j.Server.Check(); err != nil {
		return usage("--%s: %v", name, err)
	}
	return nil
}

func (s *streams) workCommand() *cobra.Command {
	var j join
	var machine string
	var cores int
	c := &cobra.Command{
		Use:   "work --join URL",
		Short: "Run trials for runs on other machines",
		Long: `Run trials of whatever runs "bench run --queue" has put into the queue of a
NATS server, until interrupted. Any number of machines may work for a run. A
worker that dies costs nothing but time: another one begins its block again.

Simulated trials use all cores. A trial on real nodes has its machine for
itself, and all trials of a repetition stay on one machine, which column host
names. A worker takes part in runs of its own build alone, and runs nothing
but the trials of experiments.

` + exitHelp("work", "0", "1", "2"),
		Example: `  bench work --join nats://127.0.0.1:4222
  bench work --join tls://lab1:4222 --nats-creds lab.creds --machine lab7`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := j.check("join"); err != nil {
				return err
			}
			if cores < 0 {
				return usage("--cores %d, want 1 or more", cores)
			}
			return s.work(&j, machine, cores)
		},
	}
	j.register(c, "join", "take trials from NATS")
	c.Flags().StringVar(&machine, "machine", "",
		"call this machine `NAME` in results (default: its host name)")
	c.Flags().IntVar(&cores, "cores", 0, "simulate `N` trials at a time (default: one per core)")
	return c
}

func (s *streams) work(j *join, machine string, cores int) error {
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	options, err := programs()
	if err != nil {
		return err
	}
	options.Workers = cores
	err = queue.Work(ctx, queue.WorkerConfig{Server: j.Server, Machine: machine, Options: options,
		Say: func(text string) { s.say(text) }})
	if ctx.Err() != nil {
		return nil // being interrupted is how it ends
	}
	return err
}

func (s *streams) workersCommand() *cobra.Command {
	var j join
	var asJSON bool
	var wait time.Duration
	c := &cobra.Command{
		Use:   "workers --join URL",
		Short: "List the machines that work for a queue",
		Long: `List the workers of a NATS server: machine, cores, load, version, build, and
the run that each works for. "bench run --queue" gives trials to those of its
own build.

` + exitHelp("workers", "0", "1", "2"),
		Example: `  bench workers --join nats://127.0.0.1:4222`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := j.check("join"); err != nil {
				return err
			}
			list, err := queue.Workers(context.Background(), j.Server, wait)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(s.out, list)
			}
			s.printWorkers(list)
			return nil
		},
	}
	j.register(c, "join", "ask NATS")
	c.Flags().DurationVar(&wait, "wait", 500*time.Millisecond, "wait `TIME` for answers")
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return c
}

func (s *streams) printWorkers(list []queue.Status) {
	if len(list) == 0 {
		fmt.Fprintln(s.out, "no workers; start one with bench work --join")
		return
	}
	var t table
	t.column("machine", false)
	t.column("cores", true)
	t.column("load", false)
	t.column("version", false)
	t.column("build", false)
	t.column("blocks", true)
	t.column("run", false)
	for _, w := range list {
		build := fmt.Sprintf("%.8s", w.Site.Tool.Binary)
		if w.Site.Tool.Binary == results.ThisSite().Tool.Binary {
			build += " (this)"
		}
		load, _, _ := strings.Cut(w.Load, " ")
		t.add(w.Machine, fmt.Sprint(w.Cores), load, w.Site.Tool.Version, build, fmt.Sprint(w.Blocks), w.Run)
	}
	t.write(s.out)
}
