package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Host is a worker's machine as one of several over which trials are spread.
type Host struct {
	Address string `json:"address"`          // at which bench and the other hosts reach it
	Slots   int    `json:"slots,omitempty"`  // processes that it may have; 0: any number
	Region  string `json:"region,omitempty"` // of a network's latency, whose processes live there
	Busy    string `json:"busy,omitempty"`   // with what it is just now
}

// HostConfig says at what address a machine is a host, or which of its network interfaces
// has that address.
type HostConfig struct {
	Host
	Interface string
	Program   proc.Command // an agent: it calls agent.Serve
}

// host is what the configuration says; nil: the machine is none.
func (c *HostConfig) host() (*Host, error) {
	h := c.Host
	if c.Interface != "" {
		var err error
		if h.Address, err = agent.AddressOf(c.Interface); err != nil {
			return nil, err
		}
	}
	if h.Address == "" {
		return nil, nil
	}
	if _, err := net.LookupHost(h.Address); err != nil {
		return nil, fmt.Errorf("address of this machine: %w", err)
	}
	return &h, nil
}

// An opening asks a worker for its agent, and an opened is the answer.
type opening struct {
	Program results.Tool `json:"program"` // that asks
	Inbox   string       `json:"inbox"`
	Key     string       `json:"key"` // that what goes there is sealed to
}

type opened struct {
	Inbox string `json:"inbox,omitempty"`
	Key   string `json:"key,omitempty"`
	Error string `json:"error,omitempty"`
	Later bool   `json:"later,omitempty"` // it may be better in a moment
}

// agentSubject is where a machine is asked. Its name may have dots.
func agentSubject(machine string) string { return fmt.Sprintf("conclave.worker.agent.%x", machine) }

const (
	agentEndGrace = 2 * time.Second
	// turnWait is how long a worker may take to lay down the queue's work: it is about to
	// end, or there is none.
	turnWait = 1500 * time.Millisecond
)

// Who has the turn to use a worker's machine.
type turn int

const (
	nobody turn = iota
	ofQueue
	ofAgent
)

// take says whether it is who's turn now. While an agent is waited for, the queue gets none.
func (w *worker) take(who turn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turn == nobody && (who == ofAgent || !w.wanted) {
		w.turn = who
		return true
	}
	return w.turn == who && who == ofQueue
}

func (w *worker) leave(who turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turn == who {
		w.turn = nobody
	}
}

// busy is what the machine does; "": nothing. Who calls it holds w.mu.
func (w *worker) busy() string {
	switch {
	case w.turn == ofAgent:
		return "a run over several hosts"
	case w.turn == ofQueue && w.feed != nil && w.feed.holds() > 0:
		return "run " + w.run + " of the queue"
	}
	return ""
}

// await waits for the turn of an agent, and for the machine.
func (w *worker) await(ctx context.Context) error {
	w.mu.Lock()
	w.wanted = true
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	for !w.take(ofAgent) {
		if ctx.Err() != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.wanted = false
			return fmt.Errorf("it is busy with %s", cmp.Or(w.busy(), "the queue"))
		}
		pause(ctx, 10*time.Millisecond)
	}
	w.mu.Lock()
	w.wanted = false
	w.mu.Unlock()
	if ok, err := w.machine.TryLockContext(ctx, 10*time.Millisecond); !ok {
		w.leave(ofAgent)
		if ctx.Err() != nil {
			return errors.New("another worker of its machine is busy")
		}
		return err
	}
	return nil
}

// lockOf is the lock of this machine. Each of them excludes the others, also here.
func lockOf() *flock.Flock {
	return flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("conclave-worker-%d.lock", os.Getuid())))
}

// answer starts the agent of this machine for whoever asks. What starts is this program:
// nothing that comes over the network is a command.
func (w *worker) answer(ctx context.Context, r micro.Request) {
	var q opening
	err := json.Unmarshal(r.Data(), &q)
	var a opened
	switch {
	case err != nil:
		a.Error = "what came cannot be read: " + err.Error()
	case !(&Run{Program: q.Program}).same(w.site.Tool):
		a.Error = fmt.Sprintf("worker %s runs another build, %.12s, and bench is %.12s; use the same on all "+
			"machines", w.name, w.site.Tool.Binary, q.Program.Binary)
	default:
		if err = w.await(ctx); err != nil {
			a.Error, a.Later = fmt.Sprintf("worker %s: %v", w.name, err), true
			break
		}
		if a, err = w.host(ctx, &q); err != nil {
			a = opened{Error: fmt.Sprintf("worker %s: %v", w.name, err)}
			w.vacate()
		}
	}
	_ = r.RespondJSON(&a) // who asks asks again
}

// vacate gives the machine back.
func (w *worker) vacate() {
	_ = w.machine.Unlock()
	w.leave(ofAgent)
}

// host starts the agent and carries its input and output.
func (w *worker) host(ctx context.Context, q *opening) (a opened, err error) {
	s, key, err := newSession(w.link.nc, false)
	if err != nil {
		return a, err
	}
	if err = s.begin(q.Inbox, q.Key); err != nil {
		s.Close()
		return a, err
	}
	child, err := agent.Start(w.spawner, w.cfg.Host.Program)
	if err != nil {
		s.Close()
		return a, err
	}
	w.cfg.Say("a run over several hosts has nodes here")
	w.agents.Go(func() {
		why := carry(ctx, s, child)
		w.vacate()
		w.cfg.Say("the run over several hosts has left: " + why)
	})
	return opened{Inbox: s.sub.Subject, Key: key}, nil
}

// carry passes input and output on until the program or the session has ended, and says
// how. It leaves neither.
func carry(ctx context.Context, s *session, child agent.Program) (why string) {
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(child, s) // the end of either is what ends it
		_ = child.CloseWrite()
		select {
		case <-s.done:
			if s.Obituary() == errKilled.Error() {
				child.Kill()
			}
		case <-ctx.Done():
		case <-over:
			return
		}
		select {
		case <-child.Done():
		case <-time.After(agentEndGrace):
		}
		child.Kill()
	}()
	stop := context.AfterFunc(ctx, func() { child.Kill() })
	defer stop()
	_, _ = io.Copy(s, child)
	select {
	case <-child.Done():
	case <-time.After(agentEndGrace): // it has closed its output
	}
	child.Close()
	close(over)
	if why = child.Obituary(); ctx.Err() != nil {
		why = "its worker was ended"
	}
	s.finish(why)
	select {
	case <-s.done:
		why = s.Obituary()
	default:
	}
	s.Close()
	return why
}

// Dial starts the agent of a worker's machine, over a connection to NATS of its own. A
// worker that is started anew, or ends another session, has so long.
func (s Server) Dial(machine string, within time.Duration) (agent.Program, error) {
	nc, err := s.dial("conclave runner", nats.FlusherTimeout(silence))
	if err != nil {
		return nil, err
	}
	l, key, err := newSession(nc, true)
	if err == nil {
		l.own = true
		if err = l.open(agentSubject(machine), key, within); err == nil {
			return l, nil
		}
	}
	if errors.Is(err, nats.ErrNoResponders) {
		err = fmt.Errorf("no worker %s is there as a host; start it again: bench work --join", machine)
	}
	nc.Close()
	return nil, err
}

// open asks who listens to the subject for the other end, until there is an answer.
func (s *session) open(subject, key string, within time.Duration) error {
	ask, err := json.Marshal(&opening{results.ThisSite().Tool, s.sub.Subject, key})
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(within); ; time.Sleep(beatEvery / 4) {
		var a opened
		m, err := s.nc.Request(subject, ask, turnWait+askTimeout)
		if err == nil {
			err = json.Unmarshal(m.Data, &a)
		}
		switch {
		case err != nil:
		case a.Error == "":
			return s.begin(a.Inbox, a.Key)
		case !a.Later:
			return errors.New(a.Error)
		default:
			err = errors.New(a.Error)
		}
		if !time.Now().Before(deadline) {
			return err
		}
	}
}
