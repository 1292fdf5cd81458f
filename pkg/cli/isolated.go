package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/isolate"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
)

// runsPlugins says whether the command that args call is marked so.
func (s *streams) runsPlugins(args []string) bool {
	c, _, err := s.root(args).Find(args)
	if err != nil {
		return false
	}
	_, marked := c.Annotations[pluginsRun]
	return marked
}

// apart runs the command with args in a process of its own, and returns its exit code.
func (s *streams) apart(args []string) int {
	exe, err := executable()
	if err != nil {
		s.say(err.Error())
		return CouldNotRun
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	work := isolate.Work{Exe: exe, Name: os.Args[0], Args: append([]string{isolatedRole}, args...),
		Called: called(args), Out: os.Stdout, Err: os.Stderr, Signals: signals}
	end, err := work.Run()
	if err != nil {
		s.say(err.Error())
		var death *isolate.Death
		if errors.As(err, &death) && s.getenv("GOTRACEBACK") != "" { // a user who sets it wants to see it
			fmt.Fprintln(s.err, proc.Harmless(death.Stderr))
		}
		return CouldNotRun
	}
	s.sayPrinted(end.Said)
	return end.Code
}

// called is what errors call the command with args.
func called(args []string) string {
	if len(args) > 2 {
		args = args[:2]
	}
	return strings.Join(append([]string{"bench"}, args...), " ")
}

// mostPrinted bounds what is shown of what plugins print, in bytes.
const mostPrinted = 600

// sayPrinted shows what plugins wrote to their standard output and error.
func (s *streams) sayPrinted(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	more := ""
	if len(text) > mostPrinted {
		text, more = strings.ToValidUTF8(text[:mostPrinted], ""), " ..."
	}
	fmt.Fprintf(s.err, "bench: an algorithm wrote: %s%s\n", proc.Harmless(text), more)
}

// isolated is the life of a process that does what words say.
func isolated(words []string) int {
	return isolate.Do(func(out, err *os.File) (int, []byte) {
		s := newStreams(strings.NewReader(""), unbroken{out}, err, os.Environ())
		s.watchPlugins()
		if err := guest.Inherit(); err != nil {
			return CouldNotRun, []byte(err.Error())
		}
		if words[0] == drawingRole && len(words) == 2 {
			out, err := replay.DrawFor(words[1], s.again(""))
			if err != nil {
				return CouldNotRun, []byte(err.Error())
			}
			return Good, out
		}
		return s.bench(words), nil
	})
}

// unbroken is standard output. If its reader is gone, as head in a pipe, nobody misses what is left.
type unbroken struct{ *os.File }

func (f unbroken) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		isolate.Exit(128 + int(syscall.SIGPIPE))
	}
	return n, err
}

// watchPlugins ends this process, with a word about it, when a plugin that it
// simulates itself does not return or takes the machine's memory.
func (s *streams) watchPlugins() {
	guard.LimitMemory(guard.Share(1))
	sim.OnAbandon(func(p *harness.Setup, err error) {
		fmt.Fprintf(s.err, "bench: %s, %d nodes, %s, seed %d: %v\n", p.Algorithm, p.Nodes, p.Scenario.Kind(),
			p.Seed, err)
		isolate.Exit(CouldNotRun)
	})
}
