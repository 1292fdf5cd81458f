package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Remote is the machine of a worker, which may be another one than this. A worker that dies
// spoils the trial and is replaced.
type Remote struct {
	// Patience is with a silent worker, beyond what a trial may take.
	Patience time.Duration

	command []string
	room    Room
	spawner *proc.Spawner
	about   json.RawMessage
	worker  *process // nil: it is to be started
}

var _ Machine = (*Remote)(nil)

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

// NewRemote starts command, which has to be a program that calls Serve, or one as ssh that starts
// such a program elsewhere. It is found as a shell finds it. Close the Remote.
func NewRemote(ctx context.Context, command []string, room Room) (*Remote, error) {
	r := &Remote{command: command, room: room, spawner: proc.NewSpawner(), Patience: hostPatience}
	if err := r.start(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// About is what the worker says of its machine and its program.
func (r *Remote) About() json.RawMessage { return r.about }

// Close ends the worker, and with it whatever it has started.
func (r *Remote) Close() {
	r.dismiss(endGrace)
	_ = r.spawner.Close()
}

// dismiss ends the worker: at the end of its input it ends by itself.
func (r *Remote) dismiss(grace time.Duration) {
	if r.worker == nil {
		return
	}
	_ = r.worker.Stdin.Close() // it may be gone
	select {
	case <-r.worker.Done():
	case <-time.After(grace):
	}
	r.worker.Close()
	r.worker = nil
}

func (r *Remote) start(ctx context.Context) error {
	path, err := exec.LookPath(r.command[0])
	if err == nil {
		r.worker, err = begin(r.spawner, proc.Command{Path: path, Args: r.command[1:],
			Env: append(os.Environ(), "CONCLAVE_RUN="+r.room.Run)})
	}
	if err != nil {
		return fmt.Errorf("start host: %w", err)
	}
	within := startTimeout
	if r.room.Spread != nil { // it has to connect to others, too
		within *= 4
	}
	a, err := r.ask(ctx, within, nil, &order{Setup: &setup{Room: &r.room}})
	if err != nil {
		r.dismiss(0)
		var mistake Mistake
		if errors.As(err, &mistake) {
			return err
		}
		return fmt.Errorf("start host: %s: %w", strings.Join(r.command, " "), err)
	}
	r.about = a.About
	return nil
}

// errGone is a worker that is not there any more, or might as well not be.
var errGone = errors.New("the host died")

// A Mistake is what a worker says that the user has to change.
type Mistake string

func (m Mistake) Error() string { return string(m) }

// Exit is the exit code of commands that a mistake ends.
func (Mistake) Exit() int { return 2 }

// ask sends an order and returns the answer to it; records before it go to sink. An error that is
// errGone means that the worker is to be replaced.
func (r *Remote) ask(ctx context.Context, within time.Duration, sink trace.Sink, o *order) (
	a answer, err error) {
	w := r.worker
	_ = w.Stdin.SetWriteDeadline(time.Now().Add(within))
	_ = w.Stdout.SetReadDeadline(time.Now().Add(within))
	defer context.AfterFunc(ctx, func() { _ = w.Stdout.SetReadDeadline(time.Unix(1, 0)) })()
	if o.Setup != nil {
		err = w.from.greeted()
	}
	if err == nil {
		err = errors.Join(w.to.send(o), w.to.Flush())
	}
	for err == nil {
		a = answer{}
		if err = w.from.receive(&a); err != nil {
			break
		}
		if a.Mistaken {
			return a, Mistake(a.Failed)
		}
		if a.Failed != "" {
			return a, fmt.Errorf("the host: %s", a.Failed)
		}
		if len(a.Records) == 0 || sink == nil {
			return a, nil
		}
		if err := trace.EachRecord(a.Records, sink); err != nil {
			return a, fmt.Errorf("%w: it sent a damaged record: %w", errGone, err)
		}
	}
	var no strange
	switch {
	case ctx.Err() != nil:
		return a, context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return a, fmt.Errorf("%w: it did not answer within %v", errGone, within)
	case errors.As(err, &no):
		return a, fmt.Errorf("%w: %w", errGone, no)
	}
	select {
	case <-w.Done():
		return a, fmt.Errorf("%w: %s", errGone, w.Epitaph())
	case <-time.After(endGrace): // it has closed its output, but is still there
		return a, fmt.Errorf("%w: %w", errGone, err)
	}
}

// ready replaces a worker that is gone. What ended it may end the next one too, or the network be
// away for a moment: it is tried for a while.
func (r *Remote) ready(ctx context.Context) (err error) {
	deadline := time.Now().Add(startTimeout)
	for r.worker == nil {
		if err = r.start(ctx); err == nil || !errors.Is(err, errGone) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(startPause):
		}
	}
	return nil
}

// Baseline implements Machine.
func (r *Remote) Baseline() (figures map[string]any, err error) {
	a, err := r.ask(context.Background(), r.Patience, nil, &order{Baseline: true})
	if err == nil {
		err = json.Unmarshal(a.Baseline, &figures)
	}
	return figures, err
}

// Network implements Machine.
func (r *Remote) Network(phase string) (*link.Matrix, error) {
	a, err := r.ask(context.Background(), r.Patience, nil, &order{Network: phase})
	if err != nil {
		return nil, err
	}
	m := &link.Matrix{}
	if err = json.Unmarshal(a.Network, m); err == nil {
		err = m.Check()
	}
	return m, err
}

// Run implements Machine. That the worker died, or fell silent, is a reason in End.Invalid.
func (r *Remote) Run(ctx context.Context, s *harness.Setup, sink trace.Sink) (
	end harness.End, q harness.Quality, err error) {
	q.Busy = math.NaN()
	if err := r.ready(ctx); err != nil {
		return end, q, err
	}
	plan, err := json.Marshal(&s.Plan)
	if err != nil {
		return end, q, err
	}
	a, err := r.ask(ctx, r.room.Ready+s.TimeLimit+r.Patience, sink, &order{Plan: plan})
	switch {
	case ctx.Err() != nil:
		return end, q, context.Cause(ctx)
	case errors.Is(err, errGone):
		r.dismiss(0)
		return harness.End{Invalid: []string{err.Error()}}, q, nil
	case err == nil && (a.Outcome == nil || a.Outcome.Quality == nil):
		err = errors.New("the host: no end of the trial in its answer")
	}
	if err != nil {
		return end, q, err
	}
	o := a.outcome()
	return o.End, *o.Quality, nil
}
