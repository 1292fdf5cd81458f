package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/runner/nodes"
)

// The arguments by which bench starts its own binary again as a part of a run.
const (
	nodeRole = "__node"
	busRole  = "__bus"
	wireRole = "__wire" // and for how many ends
	workRole = "__work"
	// isolatedRole does what its further arguments say: the verb of a command, or a drawing.
	isolatedRole = "__isolated"
	// agentRole is the command node agent.
	agentRole = "__agent"
)

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
		BusArgs: []string{busRole}, WireArgs: []string{wireRole}, WorkArgs: []string{workRole}}, err
}

// streams is what a command may touch of the process that it runs in.
type streams struct {
	in   io.Reader
	out  *bufio.Writer // results; an error stays, and bench reports it
	err  io.Writer     // everything else
	env  []string
	argv []string // as it is written down: the command without its folder
	// columns is how wide text is: as COLUMNS says, or else as wide as the terminal that standard output
	// is; the fewest, for a pipe.
	columns int
}

func newStreams(in io.Reader, out, err io.Writer, env []string) *streams {
	s := &streams{in: in, out: bufio.NewWriter(out), err: err, env: env}
	columns, wrong := strconv.Atoi(s.getenv("COLUMNS"))
	f, ok := out.(interface{ Fd() uintptr })
	if (wrong != nil || columns <= 0) && ok && term.IsTerminal(int(f.Fd())) {
		columns, _, _ = term.GetSize(int(f.Fd())) // 0 if it is not known
	}
	s.columns = console.Within(columns)
	return s
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

// aside is standard error for people, without the command's name in front.
func (s *streams) aside() *console.Folding { return &console.Folding{W: s.err} }

// noArguments refuses arguments of c.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s: %q: takes no argument", c.CommandPath(), args[0])
	}
	return nil
}

// pluginsRun marks the commands whose own process runs code of plugins.
const pluginsRun = "plugins"

// runsPlugins marks c so: it is run by a process of its own, which a plugin may end. Commands
// without the mark leave plugins to processes that they start themselves.
func runsPlugins(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{pluginsRun: ""}
	return c
}
