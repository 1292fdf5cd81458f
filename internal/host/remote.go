package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Remote runs trials as a Machine does, but through a host program, which may
// be on another machine. A host that dies spoils the trial and is replaced.
type Remote struct {
	command  []string
	cfg      MachineConfig
	spawner  *proc.Spawner
	about    json.RawMessage
	patience time.Duration // with a silent host, beyond what a trial may take
	child    *proc.Child   // nil: the host is to be started
	lines    *bufio.Scanner
}

// NewRemote starts command, which has to be a program that calls ServeMachine, or
// one as ssh that starts such a program elsewhere. Of cfg the programs and the
// external bus do not count: the host has its own. It is found as a shell finds
// it. Close the Remote.
func NewRemote(ctx context.Context, command []string, cfg MachineConfig) (*Remote, error) {
	if cfg.Ready == 0 {
		cfg.Ready = agent.PatienceFor(cfg.Nodes)
	}
	r := &Remote{command: command, cfg: cfg, spawner: proc.NewSpawner(), patience: hostPatience}
	if err := r.start(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// About is what the host says of its machine and its program.
func (r *Remote) About() json.RawMessage { return r.about }

// Close ends the host, and with it whatever it has started.
func (r *Remote) Close() {
	r.dismiss(hostEndGrace)
	_ = r.spawner.Close()
}

const (
	// hostStartTimeout is for a connection to another machine, with all that may
	// go before it, and for the bus there.
	hostStartTimeout = 30 * time.Second
	// hostEndGrace is how long a host may take to end what it has started.
	hostEndGrace = 2 * time.Second
	// hostPause is between two attempts to replace a host.
	hostPause = 100 * time.Millisecond
	// hostPatience is how long a host may be silent beyond what a trial may take.
	hostPatience = 30 * time.Second
)

// maxReply bounds a line of a host's, in bytes: some records, or an end with its
// reasons.
const maxReply = 4 << 20

func (r *Remote) start(ctx context.Context) error {
	path, err := exec.LookPath(r.command[0])
	if err != nil {
		return fmt.Errorf("start host: %w", err)
	}
	c, err := r.spawner.Start(proc.Command{Path: path, Args: r.command[1:],
		Env: append(os.Environ(), "CONCLAVE_RUN="+r.cfg.Run)})
	if err != nil {
		return fmt.Errorf("start host: %w", err)
	}
	r.child, r.lines = c, bufio.NewScanner(c.Stdout)
	r.lines.Buffer(nil, maxReply)
	a, err := r.ask(ctx, hostStartTimeout, nil, request{Config: &remoteConfig{Protocol: protocol,
		Nodes: r.cfg.Nodes, Run: r.cfg.Run, Ready: r.cfg.Ready, Limit: r.cfg.Limit, Pause: r.cfg.Pause}})
	if err != nil {
		r.dismiss(0)
		return fmt.Errorf("start host: %s: %w", strings.Join(r.command, " "), err)
	}
	r.about = a.About
	return nil
}

// dismiss ends the host: at the end of its input it ends by itself.
func (r *Remote) dismiss(grace time.Duration) {
	if r.child == nil {
		return
	}
	_ = r.child.Stdin.Close() // it may be gone
	select {
	case <-r.child.Done():
	case <-time.After(grace):
	}
	r.child.Close()
	r.child = nil
}

// errGone is a host that is not there any more, or might as well not be.
var errGone = errors.New("the host died")

// ask sends a request and returns the answer to it; records before it go to sink.
// An error that is errGone means that the host is to be replaced.
func (r *Remote) ask(ctx context.Context, within time.Duration, sink trace.Sink, q request) (
	a reply, err error) {
	line, err := json.Marshal(&q)
	if err != nil {
		return a, err
	}
	c := r.child
	_ = c.Stdin.SetWriteDeadline(time.Now().Add(within))
	_ = c.Stdout.SetReadDeadline(time.Now().Add(within))
	defer context.AfterFunc(ctx, func() { _ = c.Stdout.SetReadDeadline(time.Unix(1, 0)) })()
	if _, err := c.Stdin.Write(append(line, '\n')); err != nil {
		return a, r.gone(ctx, within, err)
	}
	for r.lines.Scan() {
		a = reply{}
		if err := json.Unmarshal(r.lines.Bytes(), &a); err != nil {
			return a, fmt.Errorf("%w: it wrote %.80q to its standard output, which is for the runner",
				errGone, r.lines.Bytes())
		}
		if len(a.Records) == 0 || sink == nil {
			if a.Error != "" {
				return a, fmt.Errorf("the host: %s", a.Error)
			}
			return a, nil
		}
		if err := agent.EachRecord(a.Records, sink); err != nil {
			return a, fmt.Errorf("%w: it sent a damaged record: %w", errGone, err)
		}
	}
	return a, r.gone(ctx, within, r.lines.Err())
}

// gone says why there was no answer.
func (r *Remote) gone(ctx context.Context, within time.Duration, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: it did not answer within %v", errGone, within)
	}
	select {
	case <-r.child.Done():
	case <-time.After(hostEndGrace): // it has closed its output, but is still there
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%w: %w", errGone, err)
	}
	why := r.child.Exit().String()
	if said := strings.TrimSpace(r.child.Stderr()); said != "" {
		why += ": " + fmt.Sprintf("%.2000s", said)
	}
	return fmt.Errorf("%w: %s", errGone, why)
}

// ready replaces a host that is gone. What ended it may end the next one too, or the
// network be away for a moment: it is tried for a while.
func (r *Remote) ready(ctx context.Context) (err error) {
	deadline := time.Now().Add(hostStartTimeout)
	for r.child == nil {
		if err = r.start(ctx); err == nil || !errors.Is(err, errGone) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(hostPause):
		}
	}
	return nil
}

// Baseline measures the bus of the host alone, as Machine.Baseline does.
func (r *Remote) Baseline() (map[string]any, error) {
	a, err := r.ask(context.Background(), r.patience, nil, request{Baseline: true})
	return a.Baseline, err
}

// Run executes one trial, as Machine.Run does. That the host died, or fell
// silent, is a reason in End.Invalid.
func (r *Remote) Run(ctx context.Context, s *harness.Setup, sink trace.Sink) (
	end harness.End, q Quality, err error) {
	q.Busy = math.NaN()
	if err := r.ready(ctx); err != nil {
		return end, q, err
	}
	within := r.cfg.Ready + s.TimeLimit + r.patience
	a, err := r.ask(ctx, within, sink, request{Plan: &s.Plan})
	switch {
	case ctx.Err() != nil:
		return end, q, context.Cause(ctx)
	case errors.Is(err, errGone):
		r.dismiss(0)
		return harness.End{Invalid: []string{err.Error()}}, q, nil
	case err == nil && a.End == nil:
		err = errors.New("the host: no end of the trial in its answer")
	}
	if err != nil {
		return end, q, err
	}
	end, q = a.End.parts()
	return end, q, nil
}
