package harness

import (
	"testing"
	"time"
)

// TestClock: a clock goes on from where it is at a new rate, and never wakes anybody early.
func TestClock(t *testing.T) {
	t.Parallel()
	c := &clock{}
	if c.shows(7*ms) != 7*ms || c.when(7*ms) != 7*ms {
		t.Errorf("untouched it shows %v at 7ms", c.shows(7*ms))
	}
	c.run(10*ms, 3)
	c.run(20*ms, 0.5)
	c.offset = -time.Second
	for now, want := range map[time.Duration]time.Duration{20 * ms: 40 * ms, 30 * ms: 45 * ms} {
		if got := c.advance(now); got != want || c.shows(now) != want-time.Second {
			t.Errorf("at %v it has advanced by %v and shows %v, want %v and a second less", now, got,
				c.shows(now), want)
		}
	}
	for _, rate := range []float64{0.01, 1.0 / 3, 0.9999, 1.1, 7, 100} {
		c.run(30*ms, rate)
		for d := range time.Duration(1000) {
			due := c.advance(30*ms) + d*997
			at := c.when(due)
			if c.advance(at) < due || at > 30*ms && c.advance(at-1) >= due {
				t.Fatalf("rate %v: %v is not the first instant at which it has advanced by %v", rate, at, due)
			}
		}
	}
}
