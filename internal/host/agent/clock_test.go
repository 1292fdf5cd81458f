package agent

import (
	"crypto/tls"
	"io"
	"strings"
	"testing"
	"time"

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
	if s, err := serveClock(address, nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("it listens without a certificate: %v, %v", s, err)
	}
	s, err := serveClock(address, proof)
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
