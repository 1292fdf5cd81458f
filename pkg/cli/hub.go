package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/results"
)

// hubFlags are the flags of a hub.
type hubFlags struct {
	listen, address, folder, programs string
	token                             hub.TokenRequest
}

// listenDefault is where a hub listens.
const listenDefault = "0.0.0.0:7000"

func (f *hubFlags) hub(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", listenDefault, "listen to `HOST:PORT`")
	flags.StringVar(&f.address, "address", "",
		"other machines reach this one as `HOST` (default: the address of its way to the internet)")
	flags.StringVar(&f.programs, "programs", "",
		"hand out the programs of the release archives in `DIR` to machines of other platforms")
}

func (f *hubFlags) tokens(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.folder, "folder", "",
		"keep keys, tokens and the queue in `DIR` (default: ~/.local/state/conclave/hub)")
	flags.IntVar(&f.token.Machines, "machines", hub.DefaultMachines, "let `N` machines join with the token")
	flags.DurationVar(&f.token.For, "token-for", hub.DefaultTokenFor, "let them join within `TIME`")
	f.token.Role = hub.Worker
}

// where is the folder of the hub.
func (f *hubFlags) where() (hub.Folder, error) {
	if f.folder != "" {
		return hub.Folder(f.folder), nil
	}
	return hub.DefaultFolder()
}

// start starts a hub.
func (f *hubFlags) start() (*hub.Hub, error) {
	folder, err := f.where()
	if err != nil {
		return nil, err
	}
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	return hub.Start(hub.Config{Folder: folder, Listen: f.listen, Address: f.address, Exe: exe,
		Programs: f.programs})
}

func (s *streams) hubCommand() *cobra.Command {
	var f hubFlags
	c := &cobra.Command{
		Use:   "hub",
		Short: "Let other machines take part in runs, over one port",
		Long: `Be the hub of many machines, until interrupted. The hub opens one port and
prints one line, "bench join HOST:PORT#TOKEN". Each machine on which you run
that line gets the program of the hub, and works for "bench run FILE --hub
HOST:PORT". "bench hub token" prints further lines. Nothing else has to be set
up: the hub has certificates and a NATS server of its own.

A hub that is started again with the same folder is the same hub: its machines
come back by themselves. docs/how-to/hub.md has the set-up.

` + answer.Explain("hub", "0", "1", "2"),
		Example: `  bench hub
  bench hub --address lab1 --machines 20
  bench hub --programs release --token-for 24h`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return s.hub(&f) },
	}
	f.hub(c)
	f.tokens(c)
	c.AddCommand(s.tokenCommand())
	return c
}

func (s *streams) hub(f *hubFlags) error {
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	h, err := f.start()
	if err != nil {
		return err
	}
	defer h.Close()
	if err := s.invite(h.Folder(), f.token); err != nil {
		return err
	}
	s.say(fmt.Sprintf("the hub listens at %s; its folder is %s", h.Address(), h.Folder()))
	select {
	case <-ctx.Done():
		return nil // being interrupted is how it ends
	case err := <-h.Failed():
		return err
	}
}

// machinesOfRun is how many machines may join the hub of a run. Its token ends with the run.
const machinesOfRun = 10_000

// hubOfRun starts a hub for a run, in whose folder a resumed run finds its results.
func (s *streams) hubOfRun() (server queue.Server, h *hub.Hub, err error) {
	f := hubFlags{listen: listenDefault}
	if h, err = f.start(); err != nil {
		return server, nil, err
	}
	i, err := h.Invite(hub.TokenRequest{Machines: machinesOfRun, For: 365 * 24 * time.Hour, Role: hub.Worker})
	if err == nil {
		s.say("start this line on each machine that is to take part:")
		fmt.Fprintln(s.err, program.Command("join"), i)
		server, err = h.Folder().Runner()
	}
	return server, h, err
}

// invite prints the line for machines.
func (s *streams) invite(folder hub.Folder, r hub.TokenRequest) error {
	i, err := folder.Invite(r)
	if err != nil {
		return err
	}
	line := program.Command("join")
	if r.Role == hub.Runner {
		line = program.Command("run", "FILE", "--hub")
	}
	fmt.Fprintln(s.out, line, i) // a shell takes # within a word as it stands
	s.say(fmt.Sprintf("for %s, within %v", console.Plural(r.Machines, "machine", "machines"), r.For))
	return nil
}

func (s *streams) tokenCommand() *cobra.Command {
	var f hubFlags
	var runner bool
	c := &cobra.Command{
		Use:   "token",
		Short: "Print another line with which machines join the hub",
		Long: `Make a token of the hub with that folder, whether it runs or not, and print the
line with which machines join. With --runner, print the line for a machine that
runs experiments over the hub, which keeps its credentials for the next runs.

` + answer.Explain("hub token", "0", "1", "2"),
		Example: `  bench hub token --machines 20
  bench hub token --runner`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			folder, err := f.where()
			if err != nil {
				return err
			}
			if runner {
				f.token.Role = hub.Runner
			}
			return s.invite(folder, f.token)
		},
	}
	f.tokens(c)
	c.Flags().BoolVar(&runner, "runner", false, "for machines that run experiments over the hub")
	return c
}

// joinFlags are those of a machine that joins.
type joinFlags struct {
	workFlags
	credentials int // a file that has them, in a program that the hub has handed out; 0: there is none
	given       []string
}

func (s *streams) joinCommand() *cobra.Command {
	var f joinFlags
	c := &cobra.Command{
		Use:   "join HOST:PORT#TOKEN",
		Short: "Let this machine take part in the runs of a hub",
		Long: `Join the hub that has printed this line, run trials for its runs, and stop when
interrupted, or as --idle and --until-done say. The token tells which key the
hub has, and is sent to no other one. If the hub has another program than this
one, it hands out its own, which does the work and is removed at the end. "-"
in place of the argument reads it from standard input, so that other users of
this machine cannot see it.

With --address or --interface, this machine also hosts nodes of "bench run
--hub HOST:PORT --hosts N", and opens ports with TLS at that address.

` + answer.Explain("join", "0", "1", "2"),
		Example: `  bench join lab1:7000#AQ... --idle 10m
  bench join lab1:7000#AQ... --address 10.0.0.7 --until-done`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			c.Flags().Visit(func(one *pflag.Flag) {
				f.given = append(f.given, "--"+one.Name+"="+one.Value.String())
			})
			return s.join(args[0], &f)
		},
	}
	f.flags(c)
	c.Flags().IntVar(&f.credentials, "credentials", 0, "")
	_ = c.Flags().MarkHidden("credentials") // it is there
	return c
}

func (s *streams) join(invitation string, f *joinFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.credentials > 0 {
		m, remove, err := hub.Resume(os.NewFile(uintptr(f.credentials), "credentials"))
		defer remove()
		if err != nil {
			return err
		}
		f.machine = m.Name
		return s.work(m.Server(), &f.workFlags)
	}
	if invitation == "-" {
		line, err := bufio.NewReader(io.LimitReader(s.in, mostInvitation)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		words := strings.Fields(line) // also with the command in front
		if len(words) == 0 {
			return usage("standard input is empty, expected HOST:PORT#TOKEN")
		}
		invitation = words[len(words)-1]
	}
	i, err := hub.ParseInvitation(invitation)
	if err != nil {
		return err
	}
	if f.machine, err = hub.HostName(f.machine); err != nil {
		return err
	}
	ctx, stop := s.interruptible(context.Background())
	m, handed, err := hub.Join(ctx, i, f.machine)
	if err == nil && m.Role != hub.Worker {
		err = usage("the token is for runners: bench run FILE --hub %s#TOKEN", m.Address)
	}
	path := ""
	var remove func()
	if err == nil {
		path, remove, err = m.Fetch(ctx, handed, results.ThisSite().Tool.Binary, s.say)
	}
	stop()
	switch {
	case err != nil:
		return err
	case path == "":
		return s.work(m.Server(), &f.workFlags)
	}
	defer remove()
	return s.replace(path, m, f)
}

// mostInvitation bounds a line with an invitation, in bytes.
const mostInvitation = 4 << 10

// replace has this process run the program of the hub, which has all the flags but the token.
func (s *streams) replace(path string, m *hub.Member, f *joinFlags) error {
	pipe, err := m.Pass()
	if err != nil {
		return err
	}
	args := append([]string{"join", m.Address, fmt.Sprintf("--credentials=%d", pipe.Fd())}, f.given...)
	return usage("%v; copy the program of the hub to this machine, and join with it",
		proc.Replace(path, args, s.env, pipe))
}
