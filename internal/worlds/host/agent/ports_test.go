package agent

import (
	"net"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/bus"
)

// TestParsePorts: a range has its ports in their places; one with too few is refused with one that would do.
func TestParsePorts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"7000-7002": "", "7000-7999": "", "65533-65535": "",
		"7000-7001":   "7000-7001 has 2 of the 3 ports that a host listens on; expected 7000-7002",
		"7000":        "7000 has 1 of the 3 ports",
		"7002-7000":   `"7002-7000", expected a range of ports from 1 to 65535, as 7000-7002`,
		"0-9":         "expected a range",
		"65534-65536": "expected a range",
		"http":        "expected a range",
		"1-2-3":       "expected a range",
	} {
		p, err := ParsePorts(text, 3)
		switch {
		case (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %q", text, err, want)
		case err == nil && (p.String() != text || p.At(portClock) != p.First+2):
			t.Errorf("%s: %v, clock at %d", text, p, p.At(portClock))
		}
	}
	if p := (Ports{}); p.String() != "" || p.At(portRoutes) != 0 {
		t.Errorf("%q", p)
	}
}

// TestServeClock_Port: the clock listens on the port that it is given, and names it if another program has it.
func TestServeClock_Port(t *testing.T) {
	t.Parallel()
	authority, err := bus.NewAuthority()
	must(t, err)
	proof, err := authority.Issue("127.0.0.1")
	must(t, err)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, taken.Close()) }()
	_, err = serveClock("127.0.0.1", taken.Addr().(*net.TCPAddr).Port, proof)
	if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) {
		t.Errorf("%v, want it to name %v", err, taken.Addr())
	}
}
