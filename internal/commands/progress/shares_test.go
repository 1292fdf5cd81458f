package progress

import (
	"bytes"
	"testing"
	"time"
)

// TestShares: how much is done, and how long the rest may take, now and then: at first every five seconds, and
// in a pipe as well.
func TestShares(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := Shares(&out)
	now := p.begun
	p.now = func() time.Time { return now }
	at := func(seconds int, what string, done float64, want string) {
		t.Helper()
		now = p.begun.Add(time.Duration(seconds) * time.Second)
		out.Reset()
		if what == "" {
			p.Tick()
		} else {
			p.Tell(what, done)
		}
		if got := out.String(); got != want {
			t.Errorf("after %d s: %q, want %q", seconds, got, want)
		}
	}
	at(4, "raft", 0.1, "")
	at(5, "", 0, "10 % done in 5s, about 45s left: raft\n")
	at(9, "", 0, "")
	at(15, "bully", 0.5, "50 % done in 15s, about 15s left: bully\n")
	at(60, "bully", 0.4, "50 % done in 1m0s, about 1m0s left: bully\n") // what was done stays done
	at(80, "bully", 0.8, "")                                            // a log has a line every half minute
	at(90, "bully", 0.9, "90 % done in 1m30s, about 10s left: bully\n")

	out.Reset()
	p = Shares(&out)
	p.now = func() time.Time { return p.begun.Add(5 * time.Second) }
	p.Tick()
	if out.String() != "0 % done in 5s\n" {
		t.Errorf("of nothing yet: %q", out.String())
	}
}
