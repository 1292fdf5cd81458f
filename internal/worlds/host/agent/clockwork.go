package agent

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// The clock of an agent is asked over a connection of its own, so that no order and no record
// delays an answer: a byte is a question, and two instants, in ns, are the answer. Then come the rate of the
// clock's steering, which is not a number if it is unknown, and how that may wander.
const answerSize = 32

// A clockServer tells a peer that has a certificate of the run what this machine's clock shows.
type clockServer struct{ net.Listener }

func serveClock(address string, port int, proof *bus.TLS) (*clockServer, error) {
	if proof == nil {
		return nil, errors.New("serve clock: no certificate: nothing listens without one")
	}
	cfg, err := proof.Server(true)
	if err != nil {
		return nil, fmt.Errorf("serve clock: %w", err)
	}
	l, err := tls.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)), cfg)
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
		by := clock.Steered()
		if !by.Known {
			by.Rate = math.NaN()
		}
		binary.LittleEndian.PutUint64(reply[16:], math.Float64bits(by.Rate))
		binary.LittleEndian.PutUint64(reply[24:], math.Float64bits(by.Wander))
		binary.LittleEndian.PutUint64(reply[8:], uint64(clock.Monotonic()))
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// Clocks are compared in bursts. Of a burst the fastest answer counts, so that it does not
// matter that a network is slow now and then: the first one wakes up both machines.
const (
	burstSize  = 4
	askTimeout = time.Second
	// leastPause is between two bursts: in 5 ms, clocks part by 6 µs at most.
	leastPause = 5 * time.Millisecond
	mostPause  = 100 * time.Millisecond
	// pausesPerAnswer is how many of the fastest answers a pause takes where answers are slow, so that
	// it costs a ninth of what they do.
	pausesPerAnswer = 50
	// firstSamples is for how long a clock is watched before it is believed: its rate is
	// known the better the longer it was.
	firstSamples = 900 * time.Millisecond
	// lastSamples is how many bursts after a trial are waited for, at most, until one has a fast answer.
	lastSamples = 20
	// memory is for how long samples before a trial count.
	memory = 30 * time.Second
	// courseTimeout is how long the answer to a question of now may take.
	courseTimeout = 5 * time.Second
)

// A clockWatch compares the clock of an agent with ours, all the time.
type clockWatch struct {
	place  string                                        // where it is asked
	pause  time.Duration                                 // the least between two bursts
	ask    func(context.Context) ([]clock.Sample, error) // a burst of questions
	cancel context.CancelFunc
	kick   chan struct{} // not to wait for the next burst
	done   chan struct{}

	mu      sync.Mutex
	samples []clock.Sample // one for each burst
	keep    time.Duration  // from here on, however long ago that is
	err     error          // why the last question had no answer
	news    chan struct{}  // closed after the next burst
}

// watchClock pauses for no less than that between two bursts.
func watchClock(address string, proof *bus.TLS, pause time.Duration) (*clockWatch, error) {
	cfg, err := proof.Client()
	if err != nil {
		return nil, err
	}
	d := &tls.Dialer{NetDialer: &net.Dialer{Timeout: askTimeout}, Config: cfg}
	line := &clockLine{dial: func(ctx context.Context) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", address)
	}}
	return askAgain(address, pause, line.ask), nil
}

// askAgain watches a clock that is asked so.
func askAgain(place string, pause time.Duration,
	ask func(context.Context) ([]clock.Sample, error)) *clockWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &clockWatch{place: place, pause: pause, ask: ask, cancel: cancel, kick: make(chan struct{}, 1),
		done: make(chan struct{}), news: make(chan struct{})}
	go w.run(ctx)
	return w
}

func (w *clockWatch) close() {
	w.cancel()
	<-w.done
}

// run asks until the context ends.
func (w *clockWatch) run(ctx context.Context) {
	defer close(w.done)
	for ctx.Err() == nil {
		burst, err := w.ask(ctx)
		pause := mostPause
		if err == nil {
			s := fastest(burst)
			pause = max(w.pause, pauseAfter(s.Got-s.Asked))
		}
		w.add(burst, err)
		kick := w.kick
		if err != nil {
			kick = nil // an impatient worker would ask in vain again, at once
		}
		select {
		case <-ctx.Done():
		case <-kick:
		case <-time.After(pause):
		}
	}
}

// A clockLine is a connection to the clock of an agent. One that fails is replaced; it ends with the context.
type clockLine struct {
	dial func(context.Context) (net.Conn, error)
	c    net.Conn
	stop func() bool // closes it no more when the context ends
}

func (l *clockLine) ask(ctx context.Context) (burst []clock.Sample, err error) {
	if l.c == nil {
		c, err := l.dial(ctx)
		if err != nil {
			return nil, err
		}
		l.c, l.stop = c, context.AfterFunc(ctx, func() { _ = c.Close() })
	}
	if burst, err = askBurst(l.c); err != nil {
		l.stop()
		_ = l.c.Close()
		l.c = nil
	}
	return burst, err
}

// fastest is the sample of a burst that says most.
func fastest(burst []clock.Sample) clock.Sample {
	return slices.MinFunc(burst, func(a, b clock.Sample) int {
		return cmp.Compare(a.Got-a.Asked, b.Got-b.Asked)
	})
}

// pauseAfter is how long to wait after a burst that had an answer as fast as that.
func pauseAfter(answer time.Duration) time.Duration {
	return max(leastPause, min(pausesPerAnswer*answer, mostPause))
}

// askBurst asks for the time again and again.
func askBurst(c net.Conn) (list []clock.Sample, err error) {
	reply := make([]byte, answerSize)
	for range burstSize {
		_ = c.SetDeadline(time.Now().Add(askTimeout))
		s := clock.Sample{Ours: clock.Steered()}
		s.Asked = clock.Monotonic()
		if _, err := c.Write([]byte{'?'}); err != nil {
			return list, err
		}
		if _, err := io.ReadFull(c, reply); err != nil {
			return list, err
		}
		s.Got = clock.Monotonic()
		s.Heard = time.Duration(binary.LittleEndian.Uint64(reply))
		s.Answered = time.Duration(binary.LittleEndian.Uint64(reply[8:]))
		s.Theirs.Rate = math.Float64frombits(binary.LittleEndian.Uint64(reply[16:]))
		s.Theirs.Wander = math.Float64frombits(binary.LittleEndian.Uint64(reply[24:]))
		if s.Theirs.Known = !math.IsNaN(s.Theirs.Rate); !s.Theirs.Known {
			s.Theirs.Rate = 0 // JSON has no other
		}
		list = append(list, s)
	}
	return list, nil
}

func (w *clockWatch) add(burst []clock.Sample, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = err; len(burst) > 0 {
		w.samples = append(w.samples, fastest(burst))
	}
	old := min(clock.Monotonic(), w.keep) - memory
	if i := slices.IndexFunc(w.samples, func(s clock.Sample) bool { return s.Asked >= old }); i > 0 {
		w.samples = slices.Delete(w.samples, 0, i)
	}
	close(w.news)
	w.news = make(chan struct{})
}

// failing is why the last question had no answer.
func (w *clockWatch) failing() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// settled says whether the samples after an instant say as much of it as those before: one has a
// fast answer, or many have none.
func settled(samples []clock.Sample, at time.Duration) bool {
	answer := fastest(samples)
	behind := slices.IndexFunc(samples, func(s clock.Sample) bool { return s.Asked > at })
	last := fastest(samples[behind:])
	return len(samples)-behind >= lastSamples || last.Got-last.Asked <= 2*(answer.Got-answer.Asked)
}

// course finds the course of the clock from what it said. Samples that contradict each other before from
// do not matter.
func (w *clockWatch) course(from, to time.Duration) (clock.Course, error) {
	samples, err := w.said(from, to, courseTimeout)
	if err != nil {
		return clock.Course{}, err
	}
	if from == to {
		from = samples[len(samples)-1].Got
	}
	return clock.Fit(samples, from)
}

// said waits, for so long at most, for an answer to a question that was asked after to. If no span of time
// is asked for, a trial is to follow: it waits until enough is known of how the clock runs now, and all
// samples from then on are kept.
func (w *clockWatch) said(from, to, patience time.Duration) ([]clock.Sample, error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		w.mu.Lock()
		if from == to {
			w.keep = from
		}
		samples, err, news, kick := slices.Clone(w.samples), w.err, w.news, w.kick
		w.mu.Unlock()
		switch n := len(samples); {
		case n == 0 || samples[n-1].Asked <= to:
		case from < to:
			if settled(samples, to) {
				return samples, nil
			}
		default:
			c, err := clock.Fit(samples, samples[n-1].Got)
			if err == nil && samples[n-1].Asked-c.Since() >= firstSamples {
				return samples, nil
			}
			kick = nil
		}
		select {
		case kick <- struct{}{}:
		default:
		}
		select {
		case <-news:
		case <-deadline.C:
			if err == nil {
				err = errors.New("it is slow")
			}
			return nil, &SilentClock{Place: w.place, For: patience, Why: err}
		}
	}
}

// A SilentClock does not answer.
type SilentClock struct {
	Place string
	For   time.Duration
	Why   error
	Open  string // what to do if a firewall drops what is sent there
}

func (e *SilentClock) Error() string {
	text := fmt.Sprintf("no answer from it for %v: %v", e.For, e.Why)
	var slow net.Error
	if errors.As(e.Why, &slow) && slow.Timeout() {
		_, port, _ := net.SplitHostPort(e.Place) // it has one
		text += fmt.Sprintf("; a firewall may drop what is sent to its port %s: %s", port, e.Open)
	}
	return text
}

func (e *SilentClock) Unwrap() error { return e.Why }
