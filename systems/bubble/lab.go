package bubble

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// patience is for how long, in real time, nothing may happen in a bubble. Where all goroutines of a trial
// wait for each other or for time, time jumps at once: so one is computing, or waits for something outside.
// A disk that others use, too, may take longer.
const (
	patience = 4 * time.Second
	ofDisks  = time.Minute
)

// lingering is for how long goroutines may still wait for time-outs when all processes have stopped, in virtual
// time: such as an answer that does not come any more.
const lingering = time.Minute

// stage hands trials to the goroutine that may make bubbles: package testing makes them for tests alone, so
// this is one, which never ends.
var stage = sync.OnceValue(func() chan<- func(*testing.T) {
	jobs := make(chan func(*testing.T))
	if !testing.Testing() || flag.Lookup("test.v") == nil {
		testing.Init()
	}
	if !flag.Parsed() {
		_ = flag.CommandLine.Parse(nil) // else package testing reads the flags of this command
	}
	body := func(t *testing.T) {
		for job := range jobs {
			job(t)
		}
	}
	go testing.Main(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "bubble", F: body}}, nil, nil)
	return jobs
})

// Run runs a trial of a library and hands every record to sink.
func Run(setup *harness.Setup, sink trace.Sink) (end harness.End) {
	l, err := lookup(setup.Algorithm)
	if err != nil {
		return harness.End{Reason: harness.Broken, Err: err}
	}
	done := make(chan struct{})
	var beat atomic.Uint64
	go watch(setup, &beat, done)
	over := make(chan struct{})
	stage() <- func(t *testing.T) {
		defer close(over)
		defer func() {
			if r := recover(); r != nil { // from outside the bubble: goroutines are left that wait forever
				end.Reason = harness.Broken
				end.Err = errors.Join(end.Err, fmt.Errorf("%s leaves goroutines behind: %s", setup.Algorithm,
					stacks(func(state string) bool { return strings.Contains(state, "synctest bubble") })))
			}
		}()
		synctest.Test(t, func(*testing.T) {
			end = newWorld(setup, sink, l, &beat).run()
			time.Sleep(lingering)
		})
	}
	<-over
	close(done)
	return end
}

// watch ends the program if nothing happens in the bubble for too long: a goroutine cannot be ended from
// outside.
func watch(setup *harness.Setup, beat *atomic.Uint64, done <-chan struct{}) {
	const looks = 8
	tick := time.NewTicker(patience / looks)
	defer tick.Stop()
	last, seen := uint64(0), 0
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if b := beat.Load(); b != last {
			last, seen = b, 0
			continue
		}
		if seen++; seen%looks > 0 {
			continue
		}
		waited, what := time.Duration(seen/looks)*patience, stacks(outside)
		if !hangs(waited, what) {
			continue
		}
		sim.Abandon(setup, fmt.Errorf("time stands still in the bubble for %v: %s", waited, what))
	}
}

// hangs says whether goroutines that do this have had all the time that they get.
func hangs(waited time.Duration, what string) bool {
	return waited >= ofDisks || !strings.Contains(what, "os.(*File)")
}

// outside says whether a goroutine in such a state, of a bubble, keeps its time from passing.
func outside(state string) bool {
	return strings.Contains(state, "synctest bubble") && !strings.Contains(state, "(durable)")
}

// mostStacks is how many characters of stacks an error quotes.
const mostStacks = 1500

// stacks is what goroutines in such a state do, in one line: the innermost functions first.
func stacks(of func(state string) bool) string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var out []string
	for text := range strings.SplitSeq(string(buf), "\n\n") {
		head, body, _ := strings.Cut(text, "\n")
		_, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, "]")
		if !of(state) || strings.Contains(body, "bubble.(*world).run(") {
			continue
		}
		out = append(out, fmt.Sprintf("a goroutine (%s) in %s", state, frames(body)))
	}
	text := strings.Join(out, "; ")
	if text == "" {
		return "no goroutine of it can be found"
	}
	return text[:min(len(text), mostStacks)]
}

// frames are the functions of a stack, as "f, called by g, called by h".
func frames(stack string) string {
	var names []string
	for line := range strings.Lines(stack) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "/") || line == "" || strings.HasPrefix(line, "runtime.") ||
			strings.HasPrefix(line, "internal/") {
			continue
		}
		line = strings.TrimPrefix(line, "created by ")
		if i := strings.LastIndex(line, "("); i > 0 && !strings.Contains(line, " in goroutine") {
			line = line[:i]
		}
		line, _, _ = strings.Cut(line, " in goroutine")
		names = append(names, line[strings.LastIndex(line, "/")+1:])
	}
	return strings.Join(names[:min(len(names), 6)], ", called by ")
}
