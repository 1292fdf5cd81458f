// Package cli is the commands bench and node, importable: a program with
// algorithms of one's own is a main of ten lines that imports them and calls
// Bench. It links no algorithm itself.
//
// Results go to standard output and everything else to standard error. What a
// command does is in other packages; here are its flags, its texts and its exit
// code.
package cli

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/host"
	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/internal/host/node"
	"github.com/conclave-bench/conclave/internal/isolate"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/runner/nodes"
)

// The arguments by which bench starts its own binary again as a part of a run.
const (
	nodeRole = "__node"
	busRole  = "__bus"
	simRole  = "__sim"
	hostRole = "__host"
	// isolatedRole does what its further arguments say: the verb of a command, or a drawing.
	isolatedRole = "__isolated"
	// agentRole is the command node agent.
	agentRole = "__agent"
)

// Bench is the command bench with the arguments, streams and environment of
// this process. It returns the exit code.
func Bench() int {
	// First of all: a trial with a hundred nodes starts this binary a hundred
	// times.
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case nodeRole:
			return role("node", node.Run)
		case busRole:
			return role("bus", bus.ServeProcess)
		case simRole:
			return role("simulator", runner.Simulate)
		case hostRole:
			return role("host", serveMachine)
		case agentRole:
			return role("agent", serveAgent)
		}
	}
	if len(os.Args) > 2 && os.Args[1] == isolatedRole {
		return isolated(os.Args[2:])
	}
	s := newStreams(os.Stdin, os.Stdout, os.Stderr, os.Environ())
	if isolate.Possible() && s.runsPlugins(os.Args[1:]) {
		return s.apart(os.Args[1:])
	}
	s.watchPlugins()
	return s.bench(os.Args[1:])
}

// Node is the command node: one node of a trial.
func Node() int { return nodeCommand(os.Args[1:], os.Stderr) }

func nodeCommand(args []string, stderr io.Writer) int {
	switch {
	case len(args) == 0 || args[0] == nodeRole:
		return role("node", node.Run)
	case args[0] == busRole:
		return role("bus", bus.ServeProcess)
	case args[0] == "host":
		return role("node host", serveMachine)
	case args[0] == "agent":
		return role("node agent", serveAgent)
	case args[0] == "nats":
		return natsServer(args[1:], stderr)
	case args[0] == "-h" || args[0] == "--help":
		fmt.Fprint(stderr, nodeHelp)
		return Good
	}
	fmt.Fprintf(stderr, "node: unknown argument %q, want none, host, agent or nats\n", args[0])
	return Usage
}

const nodeHelp = `node is one node of a trial. It reads its plan and its assignment from standard
input, a line of JSON each, as bench writes them, and reports on standard output.

  node        one node; nobody types this: a launcher does
  node host   runs trials on this machine for a bench on another one, which
              starts it: bench run FILE --host "ssh THIS-MACHINE node host"
  node agent  has nodes on this machine for a bench on another one, which
              starts it: bench run FILE --hosts HOSTS.yaml
  node nats   is a NATS server for bench run --queue and bench work; takes the
              flags of nats-server, as: node nats -js -sd DIR
`

// serveMachine is a host: a bench elsewhere has it run trials on this machine.
func serveMachine(in io.Reader, out io.Writer) error {
	exe, err := executable()
	if err != nil {
		return err
	}
	cfg := host.MachineConfig{Exe: exe, NodeArgs: []string{nodeRole}, BusArgs: []string{busRole}}
	return host.ServeMachine(in, out, cfg, results.ThisSite())
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

// natsServer is the NATS server that this program links, for whoever has none.
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

// executable is this program, to be started again as nodes. On Linux it is the
// file that runs, even if a new build has taken its place meanwhile.
func executable() (string, error) {
	const self = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return os.Executable()
}

// programs are this one in all its roles, for the runner.
func programs() (runner.Options, error) {
	exe, err := executable()
	return runner.Options{Machine: nodes.Machine, Exe: exe, NodeArgs: []string{nodeRole},
		BusArgs: []string{busRole}, HostArgs: []string{hostRole}, SimArgs: []string{simRole}}, err
}

// role runs a part of a run that talks to its parent over its standard streams.
func role(name string, life func(io.Reader, io.Writer) error) int {
	if err := life(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return CouldNotRun
	}
	return Good
}

// streams is what a command may touch of the process that it runs in.
type streams struct {
	in   io.Reader
	out  *bufio.Writer // results; an error stays, and bench reports it
	err  io.Writer     // everything else
	env  []string
	argv []string // as it is written down: the command without its folder
}

func newStreams(in io.Reader, out, err io.Writer, env []string) *streams {
	return &streams{in: in, out: bufio.NewWriter(out), err: err, env: env}
}

// getenv is the value of a variable of the environment; the last one counts.
func (s *streams) getenv(name string) string {
	for i := len(s.env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(s.env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// say writes lines to standard error, each with the command's name in front,
// after what was written to standard output before.
func (s *streams) say(text string) {
	_ = s.out.Flush() // the error stays until the end
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "bench ")
		fmt.Fprintln(s.err, console.Fold("bench: "+line))
	}
}

// frugal has garbage collected when there is a quarter as much of it as of what is in use, and for
// very large things a tenth; by default it may be as much. What reads whole runs needs a third less
// memory so, and hardly more time.
func frugal(large bool) {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := 25
	if large {
		percent = 10
	}
	debug.SetGCPercent(percent)
}

// bench runs the command with args and turns its error into an exit code.
func (s *streams) bench(args []string) int {
	s.argv = append([]string{"bench"}, args...)
	root := s.root(args)
	root.SetArgs(args)
	err := root.Execute()
	flushErr := s.out.Flush()
	code := Good
	var known exit
	switch {
	case errors.As(err, &known):
		code = int(known)
	case err != nil:
		s.say(err.Error())
		code = answer.ExitOf(err)
	}
	if flushErr != nil && code == Good {
		s.say("standard output: " + flushErr.Error())
		code = CouldNotRun
	}
	return code
}

// text is standard output for people.
func (s *streams) text() *console.Folding { return &console.Folding{W: s.out} }

// aside is standard error for people, without the command's name in front.
func (s *streams) aside() *console.Folding { return &console.Folding{W: s.err} }
