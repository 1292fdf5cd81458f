package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/bus"
)

const (
	busStartTimeout = 15 * time.Second
	busStatsTimeout = 2 * time.Second
	busEndGrace     = 2 * time.Second
)

// A BusProcess is a NATS server in a process of its own, so that what this process
// does cannot slow it down.
type BusProcess struct {
	bus.ServerReply // where it is

	child *proc.Child
	out   *bufio.Reader
	mu    sync.Mutex // one question at a time
}

// StartBus starts a program that runs bus.ServeProcess and waits until nodes can
// connect.
func StartBus(sp *proc.Spawner, exe string, args []string, cfg bus.ServerConfig) (*BusProcess, error) {
	child, err := sp.Start(proc.Command{Path: exe, Args: args})
	if err != nil {
		return nil, fmt.Errorf("start bus process: %w", err)
	}
	b := &BusProcess{child: child, out: bufio.NewReader(child.Stdout)}
	if err := b.configure(cfg); err != nil {
		child.Close()
		said := strings.TrimSpace(child.Stderr())
		if said != "" && !strings.Contains(said, err.Error()) {
			err = fmt.Errorf("%w; it said: %.2000s", err, said)
		}
		return nil, fmt.Errorf("start bus process: %w", err)
	}
	return b, nil
}

func (b *BusProcess) configure(cfg bus.ServerConfig) error {
	line, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	err = b.ask(append(line, '\n'), &b.ServerReply, busStartTimeout)
	if err == nil && b.Error != "" {
		err = errors.New(b.Error)
	}
	return err
}

// ask sends a line and reads one of JSON.
func (b *BusProcess) ask(line []byte, answer any, timeout time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	deadline := time.Now().Add(timeout)
	if err := errors.Join(b.child.Stdin.SetWriteDeadline(deadline),
		b.child.Stdout.SetReadDeadline(deadline)); err != nil {
		return err
	}
	if _, err := b.child.Stdin.Write(line); err != nil {
		return err
	}
	got, err := b.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	return json.Unmarshal(got, answer)
}

// Stats is what the server has seen until now. After an error, the answers to
// later questions cannot be relied upon: the bus is to be replaced.
func (b *BusProcess) Stats() (stats bus.ServerStats, err error) {
	if err := b.ask([]byte("stats\n"), &stats, busStatsTimeout); err != nil {
		return stats, fmt.Errorf("ask bus process %d: %w", b.child.Pid(), err)
	}
	return stats, nil
}

// Deaf lists the processes of a trial of so many that a message here would not reach yet: see
// bus.Server.
func (b *BusProcess) Deaf(trial string, nodes int) (deaf []uint32, err error) {
	if err = b.ask(fmt.Appendf(nil, "deaf %s %d\n", trial, nodes), &deaf, busStatsTimeout); err != nil {
		return nil, fmt.Errorf("ask bus process %d: %w", b.child.Pid(), err)
	}
	return deaf, nil
}

// Pid is the process id of the bus.
func (b *BusProcess) Pid() int { return b.child.Pid() }

// Done is closed when the process has ended.
func (b *BusProcess) Done() <-chan struct{} { return b.child.Done() }

// Stderr is what the process wrote to its standard error.
func (b *BusProcess) Stderr() string { return b.child.Stderr() }

// Close ends the process and waits for it.
func (b *BusProcess) Close() {
	b.child.Terminate(busEndGrace)
	b.child.Close()
}
