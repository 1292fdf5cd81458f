package proc

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// A Child is a process that a Spawner started.
type Child struct {
	Stdin  *os.File // commands; its closing is the sign to exit
	Stdout *os.File // for the caller to read, to its end or until Close

	pid    int
	joins  bool   // it is in the group of this process
	apart  bool   // it is the first of a PID namespace
	trail  string // of what it starts; empty: that is not looked for
	stderr *excerpt
	done   chan struct{}

	mu   sync.Mutex // so that no signal goes to a number that has a new owner
	gone bool       // reaped: pid means nothing any more
	exit ExitStatus

	usage Usage
}

// An ExitStatus says how a process ended.
type ExitStatus struct {
	Code   int           // -1 if a signal ended it
	Signal string        // "SIGKILL" and so on; empty if it exited
	At     time.Duration // when this process noticed, in Monotonic
}

func (s ExitStatus) String() string {
	if s.Signal != "" {
		return s.Signal
	}
	return fmt.Sprintf("exit code %d", s.Code)
}

// Pid is the child's process id, which is its group's too.
func (c *Child) Pid() int { return c.pid }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exit waits for the child's end and says how it ended.
func (c *Child) Exit() ExitStatus {
	<-c.done
	return c.exit
}

// Stderr is what the child wrote to its standard error, or of much its beginning
// and its end. If the child has ended, all of it is there.
func (c *Child) Stderr() string {
	select {
	case <-c.done:
		<-c.stderr.complete
	default:
	}
	return c.stderr.String()
}

// Kill ends the child and all of its process group at once, also if it is paused.
// It returns the instant of Monotonic at which that was decided: right after the
// system took the signal. A child that has ended is let be.
func (c *Child) Kill() time.Duration {
	at, _ := c.signal(sigKill) // gone already, which was wanted
	return at
}

// Signal sends the child alone a signal, as SIGTERM, from which it may recover.
func (c *Child) Signal(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok && !c.gone {
		_ = signalOne(c.pid, number) // it ends already, perhaps
	}
}

// Pause stops the child and all of its process group, and returns since when.
func (c *Child) Pause() (at time.Duration, err error) { return c.signal(sigStop) }

// Resume lets them go on, and returns since when.
func (c *Child) Resume() (at time.Duration, err error) { return c.signal(sigCont) }

func (c *Child) signal(sig syscall.Signal) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := os.ErrProcessDone
	if !c.gone {
		err = c.toGroup(sig)
	}
	at := clock.Monotonic()
	if err != nil {
		return at, fmt.Errorf("signal process %d: %v: %w", c.pid, sig, err)
	}
	return at, nil
}

// toGroup sends a signal to the group that the child leads, to all of its namespace, or to the child alone.
func (c *Child) toGroup(sig syscall.Signal) error {
	switch {
	case c.joins:
		return signalOne(c.pid, sig)
	case c.apart && (sig == sigStop || sig == sigCont):
		return signalSpace(c.pid, sig)
	}
	return signalGroup(c.pid, sig)
}

// Terminate asks the child to end, by the end of its input and by SIGTERM, wakes
// it if it is paused, and kills it after grace. It returns when the child has
// ended.
func (c *Child) Terminate(grace time.Duration) ExitStatus {
	_ = c.Stdin.Close() // closed already, perhaps
	_, _ = c.signal(sigTerm)
	_, _ = c.signal(sigCont)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
		c.Kill()
	}
	return c.Exit()
}

// Close kills the child if it is alive, waits for its end, and closes the pipes:
// what the child wrote and nobody read is lost, except for its Stderr.
func (c *Child) Close() {
	c.Kill()
	<-c.done
	<-c.stderr.complete
	_ = c.Stdin.Close()
	_ = c.Stdout.Close()
}

// reap waits for the child's end. Between its end and its burial its number is
// still its own, which is the time to kill what it started itself.
func (c *Child) reap(process *os.Process) {
	awaitExit(process)
	at := clock.Monotonic()
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.toGroup(sigKill) // nobody is left, in general
	state, err := process.Wait()
	c.gone = true
	c.exit = ExitStatus{Code: -1, At: at, Signal: "unknown"}
	if err == nil {
		c.exit.Code, c.exit.Signal = state.ExitCode(), exitSignal(state)
		c.usage = usageOf(state)
	}
}
