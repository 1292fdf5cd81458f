package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/fleet"
	"github.com/conclave-bench/conclave/internal/runs/hub"
)

func (s *streams) fleetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Have machines that ssh reaches work for runs",
		Long: `Start workers on machines that ssh reaches, watch them, and end them. Each
command finds the fleet in its folder. docs/how-to/fleet.md has the whole walk.`,
		Example: `  bench fleet up hosts.txt
  bench fleet status
  bench fleet down`,
		RunE: func(*cobra.Command, []string) error {
			return usage("bench fleet: expected up, status, logs or down, as bench fleet up hosts.txt")
		},
	}
	c.AddCommand(s.fleetUpCommand(), s.fleetStatusCommand(), s.fleetLogsCommand(), s.fleetDownCommand())
	return c
}

// fleetFolder adds the flag for the folder of a fleet, and returns what finds it.
func fleetFolder(c *cobra.Command) func() (string, error) {
	var folder string
	c.Flags().StringVar(&folder, "folder", "",
		"keep the fleet in `DIR` (default: ~/.local/state/conclave/fleet)")
	return func() (string, error) {
		if folder != "" {
			return filepath.Abs(folder)
		}
		own, err := hub.FleetFolder()
		return filepath.Dir(string(own)), err
	}
}

// fleetHub is the hub with that folder of the fleet in another.
func fleetHub(folder string) func(own string) fleet.Hub {
	return func(own string) fleet.Hub { return &fleet.OwnHub{Fleet: folder, Folder: hub.Folder(own)} }
}

// fleetFlags are those of bench fleet up.
type fleetFlags struct {
	fleet.Config
	hub hubFlags
}

func (s *streams) fleetUpCommand() *cobra.Command {
	var f fleetFlags
	c := &cobra.Command{
		Use:   "up FILE",
		Short: "Start a worker on each host of a list",
		Long: `Start a worker on each host in FILE, over ssh: copy this program there, and have
it join the hub of the fleet, which this command starts. FILE has one host a
line, [user@]host, and behind it what differs from the defaults:

  address=A  other hosts reach it at A: it hosts nodes of bench run --hosts
  cores=N    it simulates N trials at a time (default: one per core)
  name=N     results call it N (default: the host)
  price=P    it costs P an hour

"-" reads the list from standard input. Hosts that have a worker already are
left as they are, so that you can repeat the command. Where a host fails,
nothing is left on it, and the others go on.

` + answer.Explain("fleet up", "0", "1", "2"),
		Example: `  bench fleet up hosts.txt
  bench fleet up hosts.txt --address 10.0.0.1 --price 0.04
  scontrol show hostnames | bench fleet up -`,
	}
	flags := c.Flags()
	folder := fleetFolder(c)
	f.hub.hub(c)
	flags.StringVar(&f.SSH, "ssh", fleet.DefaultSSH,
		"reach hosts by `COMMAND`, which gets the host and the words sh -s")
	flags.StringVar(&f.Config.Hub, "hub", "",
		"use the hub with the folder `DIR`, which runs; it does not end with the fleet")
	flags.DurationVar(&f.Wait, "wait", 2*time.Minute, "give up on a host after `TIME`")
	flags.DurationVar(&f.Idle, "idle", 0, "workers end after `TIME` without work (default: never)")
	flags.Float64Var(&f.Price, "price", 0, "a machine costs `P` an hour")
	return s.working(c, func(ctx context.Context, args []string) (d *answer.Document, err error) {
		if len(args) != 1 {
			return nil, usage("bench fleet up: expected one list of hosts, as bench fleet up hosts.txt, " +
				"or - for standard input")
		}
		if err := s.checkFleet(&f); err != nil {
			return nil, err
		}
		if f.Folder, err = folder(); err != nil {
			return nil, err
		}
		hosts, err := s.hosts(args[0])
		if err != nil {
			return nil, err
		}
		f.Say = func(text string) { s.say(text) }
		if err := s.fleetHub(&f); err != nil {
			return nil, err
		}
		return fleet.Up(ctx, &f.Config, hosts)
	})
}

func (*streams) checkFleet(f *fleetFlags) error {
	switch {
	case len(strings.Fields(f.SSH)) == 0:
		return usage("--ssh %q, expected a command, as \"ssh -i key\"", f.SSH)
	case f.Wait <= 0:
		return usage("--wait %v, expected a time as 2m", f.Wait)
	case f.Idle < 0:
		return usage("--idle %v, expected a time as 10m", f.Idle)
	case !fleet.Priced(f.Price):
		return usage("--price %v, expected a price per hour, as 0.04", f.Price)
	}
	return nil
}

// hosts reads a list of hosts.
func (s *streams) hosts(name string) ([]fleet.Host, error) {
	if name == "-" {
		return fleet.Read("standard input", s.in)
	}
	file, err := files.Open(name)
	if err != nil {
		return nil, usage("%v; expected a file with one host a line", err)
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	return fleet.Read(name, file)
}

// fleetHub says how the hub is started, and where the programs are.
func (s *streams) fleetHub(f *fleetFlags) (err error) {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"--listen", f.hub.listen}
	if f.hub.address != "" {
		args = append(args, "--address", f.hub.address)
	}
	if f.hub.programs != "" {
		args = append(args, "--programs", f.hub.programs)
	}
	if f.Config.Hub != "" {
		if f.Config.Hub, err = filepath.Abs(f.Config.Hub); err != nil {
			return err
		}
	}
	where := hub.Folder(cmp.Or(f.Config.Hub, filepath.Join(f.Folder, "hub")))
	f.Open = func(own string) fleet.Hub {
		return &fleet.OwnHub{Fleet: f.Folder, Folder: hub.Folder(own), Exe: exe, Args: args,
			For: f.Wait + time.Minute}
	}
	f.Program = func(platform string) (string, error) {
		if platform == runtime.GOOS+"/"+runtime.GOARCH {
			return executable()
		}
		if path, ok := where.Program(strings.ReplaceAll(platform, "/", "-")); ok {
			return path, nil
		}
		return "", usage("there is no program for %s; give the folder with the archives of a release as "+
			"--programs DIR", platform)
	}
	return nil
}

func (s *streams) fleetStatusCommand() *cobra.Command {
	var root string
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what the machines of the fleet do, and how far the run is",
		Long: `Show the machines of the fleet and what each one works for; of the runs under
way on this machine, trials per minute, time to go, and why trials were
invalid; and the cost, if up was given a price.

` + answer.Explain("fleet status", "0", "1", "2"),
		Example: `  bench fleet status
  bench fleet status --json`,
		Args: noArguments,
	}
	folder := fleetFolder(c)
	c.Flags().StringVar(&root, "results", "results", "look for runs in `DIR`")
	return s.working(c, func(ctx context.Context, _ []string) (*answer.Document, error) {
		where, err := folder()
		if err != nil {
			return nil, err
		}
		return fleet.Status(ctx, where, root, fleetHub(where))
	})
}

func (s *streams) fleetLogsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "logs [HOST]",
		Short: "Show what the workers of the fleet have written",
		Long: `Show the logs of the hub and of all workers, or of the machine with that name;
"hub" is the hub.

` + answer.Explain("fleet logs", "0", "1", "2"),
		Example: `  bench fleet logs
  bench fleet logs lab7`,
		Args: cobra.MaximumNArgs(1),
	}
	folder := fleetFolder(c)
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		where, err := folder()
		if err != nil {
			return nil, err
		}
		return fleet.Logs(ctx, where, strings.Join(args, ""))
	})
}

func (s *streams) fleetDownCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "down",
		Short: "End the fleet: nothing of it stays on a machine",
		Long: `End the workers and the hub of the fleet, and remove its folder on each machine
and on this one. A machine that cannot be reached is named, and stays in the
fleet: repeat the command when it can.

` + answer.Explain("fleet down", "0", "1", "2"),
		Example: `  bench fleet down`,
		Args:    noArguments,
	}
	folder := fleetFolder(c)
	return s.working(c, func(ctx context.Context, _ []string) (*answer.Document, error) {
		where, err := folder()
		if err != nil {
			return nil, err
		}
		return fleet.Down(ctx, where, fleetHub(where))
	})
}
