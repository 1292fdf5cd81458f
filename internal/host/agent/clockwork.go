package agent

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/clock"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// The clock of an agent is asked over a connection of its own, so that no order and no record
// delays an answer: a byte is a question, and two instants, in ns, are the answer.
const answerSize = 16

// A clockServer tells whoever has a certificate of the run what this machine's clock shows.
type clockServer struct{ net.Listener }

func serveClock(address string, proof *bus.TLS) (*clockServer, error) {
	if proof == nil {
		return nil, errors.New("serve clock: no certificate: nothing listens without one")
	}
	cfg, err := proof.Server(true)
	if err != nil {
		return nil, fmt.Errorf("serve clock: %w", err)
	}
	l, err := tls.Listen("tcp", net.JoinHostPort(address, "0"), cfg)
	if err != nil {
		return nil, fmt.Errorf("serve clock: %w: is %s an address of this machine?", err, address)
	}
	s := &clockServer{l}
	go s.accept()
	return s, nil
}

func (s *clockServer) accept() {
	for {
		c, err := s.Accept()
		if err != nil {
			return
		}
		go answerAll(c)
	}
}

// clockIdle is how long a connection may be silent.
const clockIdle = time.Minute

func answerAll(c net.Conn) {
	defer func() { _ = c.Close() }() // it is over
	question, reply := make([]byte, 1), make([]byte, answerSize)
	for {
		_ = c.SetDeadline(time.Now().Add(clockIdle))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		binary.LittleEndian.PutUint64(reply, uint64(clock.Monotonic()))
		binary.LittleEndian.PutUint64(reply[8:], uint64(clock.Monotonic()))
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// Clocks are compared in bursts. Of a burst the fastest answers count, so that it does not
// matter that a network is slow now and then.
const (
	burstSize  = 20
	burstEvery = 100 * time.Millisecond
	askTimeout = time.Second
	// firstSamples is for how long a clock is watched before it is believed: its rate is
	// known the better the longer it was.
	firstSamples = time.Second
	// memory is for how long samples count: rates change with the temperature.
	memory = 30 * time.Second
	// recent is for how long they count if those of memory contradict each other: somebody
	// has adjusted a clock.
	recent = 2 * time.Second
	// lineTimeout is how long the answer to a question of now may take.
	lineTimeout = 5 * time.Second
)

// A clockWatch compares the clock of an agent with ours, all the time.
type clockWatch struct {
	dial   func(context.Context) (net.Conn, error)
	cancel context.CancelFunc
	kick   chan struct{} // not to wait for the next burst
	done   chan struct{}

	mu      sync.Mutex
	samples []clock.Sample
	err     error         // why the last question had no answer
	news    chan struct{} // closed after the next burst
}

func watchClock(address string, proof *bus.TLS) (*clockWatch, error) {
	cfg, err := proof.Client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &tls.Dialer{NetDialer: &net.Dialer{Timeout: askTimeout}, Config: cfg}
	w := &clockWatch{cancel: cancel, kick: make(chan struct{}, 1), done: make(chan struct{}),
		news: make(chan struct{}),
		dial: func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) }}
	go w.run(ctx)
	return w, nil
}

func (w *clockWatch) close() {
	w.cancel()
	<-w.done
}

// run asks until the context ends. A connection that fails is replaced.
func (w *clockWatch) run(ctx context.Context) {
	defer close(w.done)
	var c net.Conn
	for ctx.Err() == nil {
		var err error
		if c == nil {
			c, err = w.dial(ctx)
		}
		var burst []clock.Sample
		if err == nil {
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			burst, err = askBurst(c)
			stop()
		}
		if err != nil && c != nil {
			_ = c.Close()
			c = nil
		}
		w.add(burst, err)
		kick := w.kick
		if err != nil {
			kick = nil // whoever is in a hurry would ask in vain again, at once
		}
		select {
		case <-ctx.Done():
		case <-kick:
		case <-time.After(burstEvery):
		}
	}
	if c != nil {
		_ = c.Close()
	}
}

// askBurst asks for the time again and again.
func askBurst(c net.Conn) (list []clock.Sample, err error) {
	reply := make([]byte, answerSize)
	for range burstSize {
		_ = c.SetDeadline(time.Now().Add(askTimeout))
		s := clock.Sample{Asked: clock.Monotonic()}
		if _, err := c.Write([]byte{'?'}); err != nil {
			return list, err
		}
		if _, err := io.ReadFull(c, reply); err != nil {
			return list, err
		}
		s.Got = clock.Monotonic()
		s.Heard = time.Duration(binary.LittleEndian.Uint64(reply))
		s.Answered = time.Duration(binary.LittleEndian.Uint64(reply[8:]))
		list = append(list, s)
	}
	return list, nil
}

func (w *clockWatch) add(burst []clock.Sample, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples, w.err = append(w.samples, burst...), err
	old := clock.Monotonic() - memory
	if i := slices.IndexFunc(w.samples, func(s clock.Sample) bool { return s.Asked >= old }); i > 0 {
		w.samples = slices.Delete(w.samples, 0, i)
	}
	close(w.news)
	w.news = make(chan struct{})
}

// line waits for an answer to a question that was asked after to, and fits a line to all. If
// no span of time is asked for, and the clock was set a moment ago, it waits until enough is
// known of how it runs now.
func (w *clockWatch) line(from, to time.Duration) (clock.Line, error) {
	deadline := time.NewTimer(lineTimeout)
	defer deadline.Stop()
	for {
		w.mu.Lock()
		samples, err, news := slices.Clone(w.samples), w.err, w.news
		w.mu.Unlock()
		n := len(samples)
		if n > 0 && samples[n-1].Asked > to &&
			samples[n-1].Asked-samples[0].Asked >= firstSamples-burstEvery {
			l, err := fit(samples, from, to)
			if from < to || !errors.Is(err, clock.ErrNoLine) {
				return l, err
			}
			w.forget()
		}
		select {
		case w.kick <- struct{}{}:
		default:
		}
		select {
		case <-news:
		case <-deadline.C:
			if err == nil {
				err = errors.New("it is slow")
			}
			return clock.Line{}, fmt.Errorf("no answer from it for %v: %w", lineTimeout, err)
		}
	}
}

func (w *clockWatch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples = nil
}

// fit uses what is remembered, or, if it contradicts itself, what is recent: a clock that
// was adjusted before a trial does not spoil it, but one that was during it does.
func fit(samples []clock.Sample, from, to time.Duration) (clock.Line, error) {
	l, err := clock.FitLine(samples, from, to)
	if !errors.Is(err, clock.ErrNoLine) {
		return l, err
	}
	since := slices.IndexFunc(samples, func(s clock.Sample) bool { return s.Asked >= from-recent })
	return clock.FitLine(samples[max(since, 0):], from, to)
}
