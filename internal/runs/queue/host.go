package queue

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// A Host is a worker's machine as one of several over which trials are spread.
type Host struct {
	Address string `json:"address"`          // at which bench and the other hosts reach it
	Slots   int    `json:"slots,omitempty"`  // processes that it may have; 0: any number
	Region  string `json:"region,omitempty"` // of a network's latency, whose processes live there
	// Ports that it listens on, four of them; the zero value: the system chooses them.
	Ports agent.Ports `json:"ports,omitzero"`
	Busy  string      `json:"busy,omitempty"` // with what it is just now
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

// agentSubject is where a machine is asked. Its name may have dots.
func agentSubject(machine string) string { return fmt.Sprintf("conclave.worker.agent.%x", machine) }

const (
	agentEndGrace = 2 * time.Second
	// turnWait is how long a worker may take to lay down the queue's work: it is about to
	// end, or there is none.
	turnWait = 1500 * time.Millisecond
)

// A turn is the holder of a worker's machine: the queue, an agent, or neither.
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

// answer starts the agent of this machine for the bench that asks. What starts is this program:
// nothing that comes over the network is a command.
func (w *worker) answer(ctx context.Context, r micro.Request) {
	var q opening
	err := json.Unmarshal(r.Data(), &q)
	var a opened
	switch {
	case err != nil:
		a.Error = "the request cannot be read: " + err.Error()
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
	_ = r.RespondJSON(&a) // one that hears nothing asks again
}

// vacate gives the machine back.
func (w *worker) vacate() {
	_ = w.machine.Unlock()
	w.mu.Lock()
	w.tally.active = time.Now()
	w.tally.agent = w.tally.active
	w.mu.Unlock()
	w.leave(ofAgent)
}

// A place is where the input and output of an agent are, and the proof that both ends have.
type place struct {
	Address string  `json:"address"`
	TLS     bus.TLS `json:"tls"`
}

// host starts the agent, and carries its input and output for the bench that has the certificate that it
// answers with.
func (w *worker) host(ctx context.Context, q *opening) (a opened, err error) {
	authority, err := bus.NewAuthority()
	if err != nil {
		return a, err
	}
	proof, err := authority.Issue(w.offer.Address)
	if err != nil {
		return a, err
	}
	cfg, err := proof.Server(true)
	if err != nil {
		return a, err
	}
	at := strconv.Itoa(w.offer.Ports.At(agent.PortAgent))
	l, err := net.Listen("tcp", net.JoinHostPort(w.offer.Address, at))
	if errors.Is(err, syscall.EADDRINUSE) {
		return a, fmt.Errorf("port %s is in use: give bench work other --ports, or end what has it", at)
	}
	if err != nil {
		return a, fmt.Errorf("%w: is %s an address of this machine?", err, w.offer.Address)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // it has one
	if a, err = sealed(&place{net.JoinHostPort(w.offer.Address, port), *proof}, q.Key); err != nil {
		return a, errors.Join(err, l.Close())
	}
	child, err := agent.Start(w.spawner, w.cfg.Host.Program)
	if err != nil {
		return a, errors.Join(err, l.Close())
	}
	w.cfg.Say("a run over several hosts has nodes here")
	w.agents.Go(func() {
		tell := func(why string) { _ = w.link.nc.Publish(q.Inbox, []byte(why)) } // bench may be gone
		conn, err := accept(ctx, l, cfg)
		why := "bench did not connect"
		if ctx.Err() != nil {
			why = workerEnded
		}
		if err == nil {
			why = carry(ctx, conn, child, tell)
		} else {
			child.Close()
			tell(why)
		}
		w.vacate()
		w.cfg.Say("the run over several hosts has left: " + why)
	})
	return a, nil
}

// workerEnded is why an agent ends with its worker.
const workerEnded = "its worker was ended"

const (
	// acceptWait is how long bench may take to connect, and proveWait to prove who it is.
	acceptWait, proveWait = 10 * time.Second, 3 * time.Second
	// beatEvery is how often bench says that it is there, and silence for how long it may say nothing.
	beatEvery, silence = time.Second, 6 * time.Second
)

// accept waits for the peer that has the certificate, and closes the listener.
func accept(ctx context.Context, l net.Listener, cfg *tls.Config) (*tls.Conn, error) {
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(ctx, acceptWait)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		raw, err := l.Accept()
		if err != nil {
			return nil, err
		}
		conn := tls.Server(raw, cfg)
		once, over := context.WithTimeout(ctx, proveWait)
		err = conn.HandshakeContext(once)
		over()
		if err == nil {
			return conn, nil
		}
		_ = raw.Close() // a stranger
	}
}

// awake is a connection whose other end is never silent for long.
type awake struct{ *tls.Conn }

func (c awake) Read(b []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(silence))
	return c.Conn.Read(b)
}

// carry passes input and output on until the program or the connection has ended, tells how, and
// returns that. It leaves neither.
func carry(ctx context.Context, conn *tls.Conn, child agent.Program, tell func(string)) (why string) {
	left := make(chan string, 1)
	go func() {
		_, err := io.Copy(child, awake{conn})
		var pipe *fs.PathError // the program has ended
		ends := err == nil || errors.As(err, &pipe)
		switch { // before the program learns of it, or its exit code would be the reason
		case ends:
		case errors.Is(err, os.ErrDeadlineExceeded):
			left <- fmt.Sprintf("nothing came from bench for %v", silence)
		default:
			left <- "bench is gone: " + err.Error()
		}
		_ = child.CloseWrite()
		if ends {
			select {
			case <-child.Done():
			case <-time.After(agentEndGrace):
			}
		}
		child.Kill()
	}()
	defer context.AfterFunc(ctx, child.Kill)()
	_, _ = io.Copy(conn, child) // the end of either is what ends it
	select {
	case <-child.Done():
	case <-time.After(agentEndGrace): // it has closed its output
	}
	child.Close()
	if why = child.Obituary(); ctx.Err() != nil {
		why = workerEnded
	}
	select {
	case why = <-left:
	default:
	}
	tell(why)
	_ = conn.Close() // the other end may be gone
	return why
}

// A dialed is the agent of a worker's machine, at the other end of a connection.
type dialed struct {
	*tls.Conn
	nc   *nats.Conn
	last *nats.Subscription // for why it has ended
	done chan struct{}
	over sync.Once
	why  error
}

var _ agent.Program = (*dialed)(nil)

// Dial starts the agent of a worker's machine. A worker that is started anew, or has another one's
// nodes, has so long.
func (s Server) Dial(machine string, within time.Duration) (agent.Program, error) {
	nc, err := s.dial("conclave runner")
	if err != nil {
		return nil, err
	}
	d := &dialed{nc: nc, done: make(chan struct{})}
	if d.last, err = nc.SubscribeSync(nats.NewInbox()); err == nil {
		err = d.connect(agentSubject(machine), within)
	}
	if err == nil {
		go d.beat()
		return d, nil
	}
	nc.Close()
	if errors.Is(err, nats.ErrNoResponders) {
		err = fmt.Errorf("no worker %s is there as a host; start it again: %s", machine, s.Invitation(true))
	}
	return nil, err
}

func (d *dialed) connect(subject string, within time.Duration) error {
	at, err := ask[place](context.Background(), d.nc, subject, d.last.Subject, within)
	if err != nil {
		return err
	}
	cfg, err := at.TLS.Client()
	if err != nil {
		return err
	}
	d.Conn, err = tls.DialWithDialer(&net.Dialer{Timeout: acceptWait}, "tcp", at.Address, cfg)
	return err
}

// beat says again and again that this end is there: an agent ignores empty lines.
func (d *dialed) beat() {
	tick := time.Tick(beatEvery)
	for {
		select {
		case <-d.done:
			return
		case <-tick:
		}
		_ = d.SetWriteDeadline(time.Now().Add(silence)) // that of a former line may be over
		_, _ = d.Write([]byte("\n"))                    // that it is gone is noticed by who reads
	}
}

// Read implements agent.Program.
func (d *dialed) Read(b []byte) (int, error) {
	n, err := d.Conn.Read(b)
	if err != nil {
		d.over.Do(func() { d.why = err; close(d.done) })
	}
	return n, err
}

// Done implements agent.Program.
func (d *dialed) Done() <-chan struct{} { return d.done }

// Obituary implements agent.Program. The worker says why, if it is still there.
func (d *dialed) Obituary() string {
	<-d.done
	if m, err := d.last.NextMsg(time.Second); err == nil {
		return Printable(string(m.Data))
	}
	return "its worker is gone: " + d.why.Error()
}

// Kill implements agent.Program: the end of the connection is that of the agent.
func (d *dialed) Kill() { _ = d.NetConn().Close() }

// Close implements agent.Program.
func (d *dialed) Close() {
	d.Kill()
	d.nc.Close()
}
