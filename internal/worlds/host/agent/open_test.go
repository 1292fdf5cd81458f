package agent

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestSilentClock: where a firewall drops what is sent to a clock, the error names the host, the port and what to open:
// the range of the hosts file, or that one is needed.
func TestSilentClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ports Ports
		why   error
		want  string
	}{
		{Ports{7000, 7002}, os.ErrDeadlineExceeded, "a firewall may drop what is sent to its port 7002: open the TCP ports 7000-7002 of lab1, " +
			"which the hosts file or its worker has chosen, to bench and to the other hosts"},
		{Ports{}, os.ErrDeadlineExceeded, "a firewall may drop what is sent to its port 7002: give lab1 ports of its own, " +
			"with ports: 7000-7002 in the hosts file or bench work --ports 7000-7003, and open these to bench"},
		{Ports{}, io.EOF, ""},
	} {
		e := &SilentClock{Place: "10.0.0.1:7002", For: 5 * time.Second, Why: c.why, Open: c.ports.Open("lab1")}
		got := e.Error()
		if !strings.Contains(got, c.want) || !strings.HasPrefix(got, "no answer from it for 5s: ") || strings.Contains(got, "firewall") != (c.want != "") {
			t.Errorf("%v: %s\nwant %s", c.ports, got, c.want)
		}
	}
}
