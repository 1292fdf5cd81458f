package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// TestServeClock_Strangers: the clock answers who has a certificate of the run, and nobody else.
func TestServeClock_Strangers(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.1"
	run, err := bus.NewAuthority()
	must(t, err)
	other, err := bus.NewAuthority()
	must(t, err)
	proof, err := run.Issue(address)
	must(t, err)
	foreign, err := other.Issue(address)
	must(t, err)
	if s, err := serveClock(address, 0, nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("it listens without a certificate: %v, %v", s, err)
	}
	s, err := serveClock(address, 0, proof)
	must(t, err)
	defer s.Close()
	foreign.CA = proof.CA // it believes the clock, which does not believe it
	for name, c := range map[string]struct {
		who  *bus.TLS
		want bool
	}{
		"of the run":            {proof, true},
		"without a certificate": {run.Believer(), false},
		"of another run":        {foreign, false},
	} {
		cfg, err := c.who.Client()
		must(t, err)
		if got := askOnce(t, s.Addr().String(), cfg); got != c.want {
			t.Errorf("%s: answered %v, want %v", name, got, c.want)
		}
	}
}

// askOnce says whether the clock answers a question.
func askOnce(t *testing.T, address string, cfg *tls.Config) bool {
	t.Helper()
	c, err := tls.Dial("tcp", address, cfg)
	if err != nil {
		return false
	}
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	if _, err := c.Write([]byte{'?'}); err != nil {
		return false
	}
	_, err = io.ReadFull(c, make([]byte, answerSize))
	return err == nil
}

// TestClockWatch_NoAnswer: who asks for the line of a clock that does not answer is told so.
func TestClockWatch_NoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &clockWatch{cancel: cancel, kick: make(chan struct{}, 1), done: make(chan struct{}),
			news: make(chan struct{}),
			ask:  func(context.Context) ([]clock.Sample, error) { return nil, errors.New("connection refused") }}
		go w.run(ctx)
		defer w.close()
		_, err := w.course(0, time.Second)
		if err == nil || err.Error() != "no answer from it for 5s: connection refused" {
			t.Error(err)
		}
	})
}

// TestClockWatch_Set: a clock that was set before a trial does not spoil it; one that was set during
// it has no course.
func TestClockWatch_Set(t *testing.T) {
	t.Parallel()
	const set = 10 * time.Second
	theirs := func(ours time.Duration) time.Duration {
		if ours >= set {
			ours += time.Millisecond
		}
		return ours + time.Hour
	}
	w := &clockWatch{kick: make(chan struct{}, 1), news: make(chan struct{})}
	for at := time.Duration(0); at < 20*time.Second; at += 50 * time.Millisecond {
		heard := theirs(at + 20*time.Microsecond)
		w.samples = append(w.samples, clock.Sample{Asked: at, Heard: heard, Answered: heard,
			Got: at + 40*time.Microsecond})
	}
	for _, c := range []struct {
		from, to time.Duration
		none     bool
	}{{8 * time.Second, 9 * time.Second, true}, {8 * time.Second, 12 * time.Second, true},
		{11 * time.Second, 12 * time.Second, false}, {15 * time.Second, 19 * time.Second, false}} {
		l, err := w.course(c.from, c.to)
		if c.none != errors.Is(err, clock.ErrSet) || err != nil && !c.none {
			t.Errorf("from %v to %v: %v, %v", c.from, c.to, &l, err)
		}
		if off := l.Theirs(c.from) - theirs(c.from); err == nil && off.Abs() > l.Bound(c.from) {
			t.Errorf("from %v: off by %v, bound %v", c.from, off, l.Bound(c.from))
		}
	}
}

// TestClockWatch_Keeps: samples of a trial are kept however long it takes, and of the time before it those of
// half a minute; a trial has to wait until a clock has been watched for a while since it was set.
func TestClockWatch_Keeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &clockWatch{kick: make(chan struct{}, 1), news: make(chan struct{})}
		// The clock of a bubble begins in 2000, that of the system when it did.
		begun := clock.Monotonic()
		now := func() time.Duration { return clock.Monotonic() - begun }
		ahead := time.Hour
		watch := func(d time.Duration) {
			for range d / (50 * time.Millisecond) {
				at := clock.Monotonic()
				time.Sleep(50 * time.Millisecond)
				w.add([]clock.Sample{{Asked: at, Heard: at + ahead, Answered: at + ahead, Got: at + 1000}}, nil)
			}
		}
		watch(time.Minute)
		first := make(chan clock.Course)
		ask := func() {
			at := clock.Monotonic()
			go func() {
				c, err := w.course(at, at)
				if err != nil {
					t.Error(err)
				}
				first <- c
			}()
		}
		ask()
		watch(100 * time.Millisecond)
		if c := <-first; c.Since() < begun+29*time.Second || c.Since() > begun+31*time.Second {
			t.Errorf("compared since %v, at %v", c.Since()-begun, now())
		}
		from := clock.Monotonic()
		watch(time.Minute)
		to := clock.Monotonic()
		watch(100 * time.Millisecond)
		c, err := w.course(from, to)
		must(t, err)
		if c.Since() > from-29*time.Second || c.Worst(from, to) > 100*time.Microsecond {
			t.Errorf("after a trial of a minute: since %v, known to %v", c.Since()-begun, c.Worst(from, to))
		}
		ahead += time.Second
		set := clock.Monotonic()
		ask()
		watch(2 * time.Second)
		if c := <-first; c.Since() < set || (c.Theirs(set)-set-ahead).Abs() > time.Microsecond {
			t.Errorf("a clock that was set at %v: compared since %v", set-begun, c.Since()-begun)
		}
	})
}

// TestPauseAfter: where answers are fast, clocks part little between two bursts; where they are slow, they part
// little beside what an answer takes.
func TestPauseAfter(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for answer, want := range map[time.Duration]time.Duration{
		20 * time.Microsecond: 5 * ms, ms: 50 * ms, 80 * ms: 100 * ms, 3 * time.Second: 100 * ms,
	} {
		if got := pauseAfter(answer); got != want {
			t.Errorf("answers of %v: %v, want %v", answer, got, want)
		}
	}
}
