package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/proc"
)

// A process is the runner's end of a worker.
type process struct {
	*proc.Child
	to   sender
	from receiver
}

// begin starts a worker. It greets when it is asked to.
func begin(s *proc.Spawner, c proc.Command) (*process, error) {
	child, err := s.Start(c)
	if err != nil {
		return nil, err
	}
	return &process{child, newSender(child.Stdin), newReceiver(child.Stdout)}, nil
}

const (
	// startTimeout is for a connection to another machine, with all that may go before it, and
	// for the bus there.
	startTimeout = 30 * time.Second
	// endGrace is how long a worker may take to end what it has started.
	endGrace = 2 * time.Second
	// startPause is between two attempts to replace a worker.
	startPause = 100 * time.Millisecond
	// hostPatience is how long a worker may be silent beyond what a trial may take.
	hostPatience = 30 * time.Second
)

// within sets how long what follows may take, until ctx ends. The function that it returns ends that.
func (p *process) within(ctx context.Context, d time.Duration) (stop func() bool) {
	_ = p.Stdin.SetWriteDeadline(time.Now().Add(d))
	_ = p.Stdout.SetReadDeadline(time.Now().Add(d))
	return context.AfterFunc(ctx, func() { _ = p.Stdout.SetReadDeadline(time.Unix(1, 0)) })
}

// dismiss ends the worker: at the end of its input it ends by itself.
func (p *process) dismiss(grace time.Duration) {
	_ = p.Stdin.Close() // it may be gone
	select {
	case <-p.Done():
	case <-time.After(grace):
	}
	p.Close()
}

// obituary says why there was no answer, for err.
func (p *process) obituary(err error) error {
	var no strange
	if errors.As(err, &no) {
		return no
	}
	select {
	case <-p.Done():
	case <-time.After(endGrace): // it has closed its output, but is still there
		return err
	}
	why := p.Exit().String()
	if said := strings.TrimSpace(p.Stderr()); said != "" {
		why += fmt.Sprintf(": %.2000s", said)
	}
	return errors.New(why)
}
