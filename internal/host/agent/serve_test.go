package agent_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/host/agent"
)

// TestServe_Refuses: an agent tells a leader of another version so, and a person that nobody
// types its name.
func TestServe_Refuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"hello":{"protocol":99}}`: "bench speaks protocol 99, this program ",
		`{"bus_stats":true}`:        "no leader is there: bench starts this program",
		`{"interface":"none0"}`:     "interface none0: ",
		"hello":                     "read request: ",
	} {
		var out bytes.Buffer
		err := agent.Serve(strings.NewReader(line+"\n"), &out, agent.Config{}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
		if said := out.String(); line != "hello" && !strings.Contains(said, want) {
			t.Errorf("%s: it says %q, want %q", line, said, want)
		}
	}
}
