// Package mesh is a transport without a server: each process of a trial listens, and has a TCP connection
// to each process that it sends to. Over a wire, its messages meet what TCP makes of the packets: a lost
// one is sent again, and those behind it wait.
package mesh

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/transport"
)

const (
	inbox = 1 << 16 // messages that wait for the process; if there are more, their senders wait
	// mostWaiting is how many bytes may wait for a peer that does not take them.
	mostWaiting = 64 << 20
	// again is when a peer that did not listen yet is tried again.
	again = 20 * time.Millisecond
	// mostTrial is how many bytes the name of a trial has at most.
	mostTrial  = 1 << 10
	keptFaults = 16
)

// A Config says who the processes are.
type Config struct {
	// Addresses are where the processes listen, by ID - 1. A message is from the process whose address the
	// connection comes from, so that no two have one IP address.
	Addresses []netip.AddrPort `json:"addresses"`
}

// A Conn is the part of one process in a mesh. A connection that is reset, since the process at its other
// end died, is lost with all that was in it; the next message begins another one, as in programs that use
// TCP. None of that is a fault.
type Conn struct {
	cfg   Config
	self  uint32
	trial string
	in    chan transport.Message
	peers []*peer // by ID - 1; nil: itself
	ctx   context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]struct{}
	faults   []string
	more     int // faults beyond those kept
}

var _ transport.Conn = (*Conn)(nil)

// A peer is the way to another process.
type peer struct {
	to   netip.AddrPort
	wake chan struct{} // capacity 1: something waits

	mu      sync.Mutex
	waiting []byte // frames with their lengths
	writing bool   // some are taken out and not written yet
	resets  int    // connections that were lost, with what was in them
}

// New is a connection that takes part in nothing yet.
func New(cfg Config) *Conn {
	c := &Conn{cfg: cfg, in: make(chan transport.Message, inbox), conns: map[net.Conn]struct{}{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// Join implements transport.Conn. It does not wait for the other processes: connections to them come about
// as they begin to listen. The address of self must be one of this machine.
func (c *Conn) Join(trial string, self uint32, n int) (<-chan transport.Message, error) {
	if self < 1 || int(self) > n || n > len(c.cfg.Addresses) || len(trial) > mostTrial {
		return nil, fmt.Errorf("mesh: join trial %.40q as process %d of %d, with %d addresses", trial, self,
			n, len(c.cfg.Addresses))
	}
	config := net.ListenConfig{KeepAlive: -1} // no packet but those of messages
	own := c.cfg.Addresses[self-1]
	l, err := config.Listen(c.ctx, "tcp", own.String())
	if err != nil {
		return nil, fmt.Errorf("mesh: process %d: %w", self, err)
	}
	c.self, c.trial = self, trial
	c.mu.Lock()
	c.listener = l
	c.mu.Unlock()
	c.tasks.Go(func() { c.accept(l) })
	for i, to := range c.cfg.Addresses[:n] {
		if uint32(i)+1 == self {
			c.peers = append(c.peers, nil)
			continue
		}
		p := &peer{to: to, wake: make(chan struct{}, 1)}
		c.peers = append(c.peers, p)
		c.tasks.Go(func() { c.serve(p) })
	}
	return c.in, nil
}

// accept takes connections of other processes until the end.
func (c *Conn) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			c.fault(fmt.Errorf("listen: %w", err))
			return
		}
		if !c.keep(conn) {
			return
		}
		c.tasks.Go(func() {
			defer c.drop(conn)
			c.hear(conn)
		})
	}
}

// keep has conn closed with c; false: it is closed already.
func (c *Conn) keep(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		_ = conn.Close()
		return false
	}
	c.conns[conn] = struct{}{}
	return true
}

func (c *Conn) drop(conn net.Conn) {
	_ = conn.Close() // by now it may be broken
	c.mu.Lock()
	delete(c.conns, conn)
	c.mu.Unlock()
}

// from is the process at the other end of a connection; 0: none of the trial.
func (c *Conn) from(conn net.Conn) uint32 {
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return 0
	}
	i := slices.IndexFunc(c.cfg.Addresses, func(a netip.AddrPort) bool {
		return a.Addr() == remote.Addr().Unmap()
	})
	return uint32(i + 1)
}

// hear takes messages from a connection until it ends.
func (c *Conn) hear(conn net.Conn) {
	from, where := c.from(conn), conn.RemoteAddr().String()
	r := bufio.NewReaderSize(conn, 64<<10)
	trial, err := readFrame(r, mostTrial)
	if err != nil {
		return // it was lost before it said anything
	}
	if from == 0 || from == c.self || string(trial) != c.trial {
		c.fault(fmt.Errorf("a connection from %s, which is not of this trial", where))
		return
	}
	for {
		data, err := readFrame(r, transport.MaxFrame)
		if errors.Is(err, errTooLong) {
			c.fault(fmt.Errorf("from process %d: %w", from, err))
		}
		if err != nil {
			return
		}
		select {
		case c.in <- transport.Message{From: from, Where: where, Data: data, Came: time.Now()}:
		case <-c.ctx.Done():
			return
		}
	}
}

var errTooLong = errors.New("a message that is too long")

// readFrame reads bytes behind their number, of which there are so many at most.
func readFrame(r io.Reader, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > int64(most) {
		return nil, errTooLong
	}
	data := make([]byte, n)
	_, err := io.ReadFull(r, data)
	return data, err
}

func appendFrame(b, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...)
}

// Send implements transport.Conn.
func (c *Conn) Send(to uint32, data []byte) error {
	if to < 1 || int(to) > len(c.peers) || to == c.self || len(data) > transport.MaxFrame {
		return fmt.Errorf("mesh: send %d bytes from process %d to process %d", len(data), c.self, to)
	}
	p := c.peers[to-1]
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting)+len(data) > mostWaiting {
		return fmt.Errorf("mesh: more than %d MiB wait for process %d, which does not take them",
			mostWaiting>>20, to)
	}
	p.waiting = appendFrame(p.waiting, data)
	p.ring()
	return nil
}

func (p *peer) ring() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take takes out all that waits, into the room of b.
func (p *peer) take(b []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, p.waiting = p.waiting, b[:0]
	p.writing = len(b) > 0
	return b
}

// written says what became of all that was taken out.
func (p *peer) written(reset bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing = false
	if reset {
		p.resets++
	}
}

// serve writes what waits for a peer, until the end.
func (c *Conn) serve(p *peer) {
	conn, gone := c.first(p)
	defer func() {
		if conn != nil {
			c.drop(conn)
		}
	}()
	var frames []byte
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-gone:
			c.drop(conn)
			conn, gone = nil, nil
			p.written(true)
			continue
		case <-p.wake:
		}
		frames = p.take(frames)
		if len(frames) == 0 {
			continue
		}
		var err error
		if conn == nil {
			conn, gone, err = c.connect(p)
		}
		if err == nil {
			_, err = conn.Write(frames)
		}
		if err != nil && conn != nil {
			c.drop(conn)
			conn, gone = nil, nil
		}
		p.written(err != nil)
	}
}

// first connects to a peer, which may not listen yet, unless something is to be sent to it before: then it
// ought to listen.
func (c *Conn) first(p *peer) (conn net.Conn, gone <-chan struct{}) {
	for {
		conn, gone, err := c.connect(p)
		if err == nil || c.ctx.Err() != nil {
			return conn, gone
		}
		select {
		case <-c.ctx.Done():
			return nil, nil
		case <-p.wake:
			p.ring()
			return nil, nil
		case <-time.After(again):
		}
	}
}

// connect makes a connection to a peer. That gone is closed says that it is lost. A peer that cannot be
// reached is waited for as long as TCP does.
func (c *Conn) connect(p *peer) (net.Conn, <-chan struct{}, error) {
	own := net.TCPAddrFromAddrPort(netip.AddrPortFrom(c.cfg.Addresses[c.self-1].Addr(), 0))
	dialer := net.Dialer{KeepAlive: -1, LocalAddr: own}
	conn, err := dialer.DialContext(c.ctx, "tcp", p.to.String())
	if err != nil {
		return nil, nil, err
	}
	if !c.keep(conn) {
		return nil, nil, net.ErrClosed
	}
	if _, err := conn.Write(appendFrame(nil, []byte(c.trial))); err != nil {
		c.drop(conn)
		return nil, nil, err
	}
	gone := make(chan struct{})
	c.tasks.Go(func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, conn) // nothing comes but the end
	})
	return conn, gone, nil
}

// Flush implements transport.Conn: what was sent is with the system, or was lost with a connection.
func (c *Conn) Flush(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for _, p := range c.peers {
		for p != nil {
			p.mu.Lock()
			idle := len(p.waiting) == 0 && !p.writing
			p.mu.Unlock()
			if idle {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("mesh: what is for %v was not written within %v", p.to, timeout)
			}
			time.Sleep(time.Millisecond)
		}
	}
	if faults := c.Faults(); len(faults) > 0 {
		return errors.New(faults[0])
	}
	return nil
}

func (c *Conn) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil: // the end of c is none
	case len(c.faults) < keptFaults:
		c.faults = append(c.faults, "mesh: "+err.Error())
	default:
		c.more++
	}
}

// Faults implements transport.Conn.
func (c *Conn) Faults() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Clone(c.faults)
	if c.more > 0 {
		list = append(list, fmt.Sprintf("mesh: and %d more faults", c.more))
	}
	return list
}

// Dropped implements transport.Conn: TCP has senders wait instead.
func (c *Conn) Dropped() (int, error) { return 0, nil }

// Resets is how many connections to other processes were lost, or could not be made.
func (c *Conn) Resets() (n int) {
	for _, p := range c.peers {
		if p != nil {
			p.mu.Lock()
			n += p.resets
			p.mu.Unlock()
		}
	}
	return n
}

// Close implements transport.Conn. What waits is not sent.
func (c *Conn) Close() {
	c.mu.Lock()
	c.end()
	if c.listener != nil {
		_ = c.listener.Close() // nothing was written
	}
	for conn := range c.conns {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.tasks.Wait()
}
