// Package cli is the commands bench and node, importable: a program with
// algorithms of one's own is a main of ten lines that imports them and calls
// Bench. It links no algorithm itself.
//
// Results go to standard output and everything else to standard error. What a
// command does is in other packages; here are its flags, its texts and its exit
// code.
package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/node"
	"github.com/conclave-bench/conclave/internal/worlds/isolate"
	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner/nodes"
)

// Bench is the command bench with the arguments, streams and environment of
// this process. It returns the exit code.
func Bench() int {
	// First of all: a trial with a hundred nodes starts this binary a hundred
	// times.
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case nodeRole:
			return role("node", asNode)
		case busRole:
			return role("bus", bus.ServeProcess)
		case workRole:
			return role("worker", heir(serveWork))
		case agentRole:
			return role("agent", heir(serveAgent))
		}
	}
	if len(os.Args) > 2 && os.Args[1] == isolatedRole {
		return isolated(os.Args[2:])
	}
	if len(os.Args) == 3 && os.Args[1] == wireRole {
		return role("wire", asWire)
	}
	s := newStreams(os.Stdin, os.Stdout, os.Stderr, os.Environ())
	if code, done := s.enter(os.Args[1:]); done {
		return code
	}
	if isolate.Possible() && s.runsPlugins(os.Args[1:]) {
		return s.apart(os.Args[1:])
	}
	s.watchPlugins()
	return s.bench(os.Args[1:])
}

// Node is the command node: one node of a trial.
func Node() int { return nodeCommand(os.Args[1:], os.Stderr) }

// asWire moves the packets of a wire.
func asWire(in io.Reader, out io.Writer) error {
	ends, err := strconv.Atoi(os.Args[len(os.Args)-1])
	if err != nil {
		return err
	}
	return wire.Run(in, out, ends)
}

func nodeCommand(args []string, stderr io.Writer) int {
	switch {
	case len(args) == 0 || args[0] == nodeRole:
		return role("node", asNode)
	case args[0] == busRole:
		return role("bus", bus.ServeProcess)
	case args[0] == wireRole && len(args) == 2:
		return role("wire", asWire)
	case args[0] == "host":
		return withPlugins(args, stderr, serveWork)
	case args[0] == "agent":
		return withPlugins(args, stderr, serveAgent)
	case args[0] == agentRole:
		return role("agent", heir(serveAgent))
	case args[0] == "nats":
		return natsServer(args[1:], stderr)
	case args[0] == "-h" || args[0] == "--help":
		fmt.Fprint(stderr, nodeHelp)
		return Good
	}
	fmt.Fprintf(stderr, "node: unknown argument %q, expected none, host, agent or nats\n", args[0])
	return Usage
}

const nodeHelp = `node is one node of a trial. It reads its plan and its assignment from standard
input, a line of JSON each, as bench writes them, and reports on standard output.

  node        one node; a launcher starts it
  node host   runs trials on this machine for a bench on another one, which
              starts it: bench run FILE --host "ssh THIS-MACHINE node host"
  node agent  has nodes on this machine for a bench on another one, which
              starts it: bench run FILE --hosts HOSTS.yaml
              Both take --plugin ID=COMMAND and --plugins FILE, which name programs
              in other languages that are algorithms, as bench run does
  node nats   is a NATS server for bench run --queue and bench work; takes the
              flags of nats-server, as: node nats -js -sd DIR
`

// serveWork is a worker: a bench here or elsewhere has it run trials.
func serveWork(in io.Reader, out io.Writer) error {
	options, err := programs()
	if err != nil {
		return err
	}
	machine := nodes.Local(options, bus.DialConfig{})
	return work.Serve(in, out, work.Config{Machine: machine,
		Spread: nodes.Lead([]string{options.Exe, agentRole}),
		About:  func() any { return results.ThisSite() }})
}

// serveAgent is an agent: a bench elsewhere has some nodes of each trial here.
func serveAgent(in io.Reader, out io.Writer) error {
	exe, err := executable()
	if err != nil {
		return err
	}
	cfg := agent.Config{Exe: exe, Args: []string{nodeRole}, Bus: []string{busRole}}
	return agent.Serve(in, out, cfg, results.ThisSite())
}

// natsServer is the NATS server that this program links, for users who have none.
func natsServer(args []string, stderr io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "node nats: %v\n", err)
		return code
	}
	help := func() {
		fmt.Fprintln(stderr, "node nats takes the flags of nats-server: docs.nats.io/running-a-nats-service")
	}
	flags := flag.NewFlagSet("node nats", flag.ContinueOnError)
	o, err := server.ConfigureOptions(flags, args, help, help, help)
	if err != nil {
		return fail(Usage, err)
	}
	if o == nil { // help
		return Good
	}
	s, err := server.NewServer(o)
	if err != nil {
		return fail(CouldNotRun, err)
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		return fail(CouldNotRun, err)
	}
	s.WaitForShutdown()
	return Good
}

// role runs a part of a run that talks to its parent over its standard streams.
func role(name string, life func(io.Reader, io.Writer) error) int {
	if err := life(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return CouldNotRun
	}
	return Good
}

// withPlugins runs a part of a run that names its plugins itself: node host, node agent.
func withPlugins(args []string, stderr io.Writer, life func(io.Reader, io.Writer) error) int {
	name := "node " + args[0]
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(stderr)
	p := &plugins{}
	p.flags(f)
	err := f.Parse(args[1:])
	if err == nil && f.NArg() > 0 {
		err = usage("unknown argument %q", f.Arg(0))
	}
	if err == nil {
		err = p.load()
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return Usage
	}
	return role(name, heir(life))
}

// heir runs a part of a run that has the plugins of the process that has started it.
func heir(life func(io.Reader, io.Writer) error) func(io.Reader, io.Writer) error {
	return func(in io.Reader, out io.Writer) error {
		if err := guest.Inherit(); err != nil {
			return err
		}
		return life(in, out)
	}
}

// asNode is the life of a node: a signal to it reaches its programs, which have to answer in real time.
func asNode(in io.Reader, out io.Writer) error {
	guest.Join()
	guest.SetLimit(guest.RealTime)
	return heir(node.Run)(in, out)
}
