package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
)

// joining adds the flags that say which queue.
func joining(c *cobra.Command, j *queue.Server, name, does string) {
	flags := c.Flags()
	flags.StringVar(&j.URL, name, "", does+" at `URL`, as tls://lab1:4222")
	flags.StringVar(&j.Credentials, "nats-creds", "", "log in to NATS with the credentials in `FILE`")
	flags.StringVar(&j.CA, "nats-ca", "", "trust the certificate authority in `FILE`")
	flags.StringVar(&j.Cert, "nats-cert", "", "prove who you are to NATS with the certificate in `FILE`")
	flags.StringVar(&j.Key, "nats-key", "", "the key of that certificate is in `FILE`")
	flags.StringVar(&j.Context, "nats-context", "",
		"use server and login of the context `NAME` of the nats CLI, or of its file")
}

// joinable says what is wrong with them.
func joinable(j *queue.Server) error {
	if err := j.ReadContext(); err != nil {
		return usage("--nats-context: %v", err)
	}
	if j.URL == "" {
		return usage("expected --join URL, the address of NATS, as tls://lab1:4222, or --nats-context NAME")
	}
	if err := j.Check(); err != nil {
		return usage("--join: %v", err)
	}
	return nil
}

// An asked queue is that of a NATS server, or of a hub.
type askedQueue struct {
	queue.Server
	hub string
}

func asking(c *cobra.Command, a *askedQueue) {
	joining(c, &a.Server, "join", "ask NATS")
	c.Flags().StringVar(&a.hub, "hub", "", "ask the hub at `HOST:PORT`, or that with the folder DIR")
}

func (a *askedQueue) server() (queue.Server, error) {
	switch {
	case a.hub == "" && a.URL == "" && a.Context == "":
		return a.Server, usage("expected --hub HOST:PORT; or --join URL, the address of NATS, as " +
			"tls://lab1:4222; or --nats-context NAME")
	case a.hub == "":
		return a.Server, joinable(&a.Server)
	case a.URL != "" || a.Context != "":
		return a.Server, usage("--hub with --join or --nats-context: each names a queue; leave one of " +
			"them out")
	}
	return hub.Find(context.Background(), a.hub)
}

// workFlags are the flags of a worker.
type workFlags struct {
	machine string
	cores   int
	ports   string
	host    queue.HostConfig
	until   queue.Until
}

func (f *workFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.machine, "machine", "", "call this machine `NAME` in results (default: its host name)")
	flags.IntVar(&f.cores, "cores", 0, "simulate `N` trials at a time (default: one per core)")
	flags.StringVar(&f.host.Address, "address", "",
		"host nodes of bench run --hosts; the other hosts reach this one at `ADDRESS`")
	flags.StringVar(&f.host.Interface, "interface", "",
		"likewise, at the address of the network interface `NAME`")
	flags.StringVar(&f.ports, "ports", "",
		"as a host, listen on the TCP ports `FIRST-LAST`, as 7000-7003 (default: any)")
	flags.IntVar(&f.host.Slots, "slots", 0, "as a host, have at most `N` nodes of a trial (0: any number)")
	flags.StringVar(&f.host.Region, "region", "", "as a host, have the processes of region `NAME`")
	flags.DurationVar(&f.until.Idle, "idle", 0, "end after `TIME` without work (default: never)")
	flags.BoolVar(&f.until.Done, "until-done", false, "end when there were runs, and all of them are over, "+
		"or the queue has been away for a minute")
}

// check says what is wrong with them.
func (f *workFlags) check() error {
	switch {
	case f.cores < 0:
		return usage("--cores %d, expected 1 or more", f.cores)
	case f.until.Idle < 0:
		return usage("--idle %v, expected a time as 10m", f.until.Idle)
	}
	if f.ports != "" {
		var err error
		if f.host.Ports, err = agent.ParsePorts(f.ports, agent.NeededByWorker); err != nil {
			return usage("--ports %v", err)
		}
	}
	return checkOffer(&f.host)
}

func (s *streams) workCommand() *cobra.Command {
	var j queue.Server
	var f workFlags
	c := &cobra.Command{
		Use:   "work --join URL",
		Short: "Run trials for runs on other machines",
		Long: `Run trials for the runs in the queue of a NATS server ("bench run --queue"),
until interrupted, or as --idle and --until-done say. Any number of machines may
work for a run, if they have the same build; if a worker dies, another one
repeats its block.

With --address or --interface, this machine also hosts nodes of "bench run
--hosts URL", and opens ports with TLS at that address. It takes no trials from
the queue meanwhile. docs/how-to/many-machines.md has the set-up.

` + answer.Explain("work", "0", "1", "2"),
		Example: `  bench work --join nats://127.0.0.1:4222
  bench work --join tls://lab1:4222 --nats-creds lab.creds --machine lab7
  bench work --join tls://lab1:4222 --address 10.0.0.7 --slots 4`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := errors.Join(joinable(&j), f.check()); err != nil {
				return err
			}
			return s.work(j, &f)
		},
	}
	joining(c, &j, "join", "take trials from NATS")
	f.flags(c)
	return c
}

// checkOffer says what is wrong with the flags of a host.
func checkOffer(h *queue.HostConfig) error {
	switch {
	case h.Address != "" && h.Interface != "":
		return usage("--address with --interface: the one is the address of the other; leave one of them out")
	case h.Slots < 0:
		return usage("--slots %d, expected 1 or more, or 0 for any number", h.Slots)
	case h.Address == "" && h.Interface == "" &&
		(h.Slots > 0 || h.Region != "" || h.Ports != agent.Ports{}):
		return usage("--ports, --slots and --region are of a host; add --address or --interface")
	}
	return nil
}

func (s *streams) work(j queue.Server, f *workFlags) error {
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	options, err := programs()
	if err != nil {
		return err
	}
	options.Workers = f.cores
	f.host.Program = proc.Command{Path: options.Exe, Args: []string{agentRole}}
	err = queue.Work(ctx, queue.WorkerConfig{Server: j, Machine: f.machine, Options: options, Host: f.host,
		Until: f.until, Say: func(text string) { s.say(text) }})
	if ctx.Err() != nil {
		return nil // being interrupted is how it ends
	}
	return err
}

func (s *streams) workersCommand() *cobra.Command {
	var asked askedQueue
	var wait time.Duration
	c := &cobra.Command{
		Use:   "workers {--join URL | --hub HOST:PORT}",
		Short: "List the machines that work for a queue",
		Long: `List the workers of a NATS server or of a hub: machine, cores, load, version,
build, and current run. "bench run --queue" uses only workers of its own build.

` + answer.Explain("workers", "0", "1", "2"),
		Example: `  bench workers --join nats://127.0.0.1:4222
  bench workers --hub lab1:7000`,
		Args: cobra.NoArgs,
	}
	asking(c, &asked)
	c.Flags().DurationVar(&wait, "wait", 500*time.Millisecond, "wait `TIME` for answers")
	return s.answering(c, func([]string) (*answer.Document, error) {
		j, err := asked.server()
		if err != nil {
			return nil, err
		}
		list, err := queue.Workers(context.Background(), j, wait)
		if err != nil {
			return nil, err
		}
		return workersOf(list), nil
	})
}

// workersOf are the workers of a queue.
func workersOf(list []queue.Status) *answer.Document {
	d := answer.New("workers", "Workers of the queue")
	t := d.Table("workers",
		answer.Column{Name: "machine", Kind: answer.Words},
		answer.Column{Name: "cores", Kind: answer.Count},
		answer.Column{Name: "load", Kind: answer.Words},
		answer.Column{Name: "version", Kind: answer.Words},
		answer.Column{Name: "build", Kind: answer.Words},
		answer.Column{Name: "blocks", Kind: answer.Count},
		answer.Column{Name: "host", Kind: answer.Words},
		answer.Column{Name: "run", Kind: answer.Words})
	t.Empty = "no workers; start one with bench work --join"
	for _, w := range list {
		recent, _, _ := strings.Cut(w.Load, " ")
		address := ""
		if w.Host != nil {
			address = w.Host.Address
		}
		t.Row(w.Machine, w.Cores, answer.Shown{Value: w.Load, Text: recent}, w.Site.Tool.Version,
			buildText(w.Site.Tool), w.Blocks, address, w.Run)
	}
	return d
}
