package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// TestServe_Refuses: an agent tells a leader of another version so, and a person that nobody
// types its name.
func TestServe_Refuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"hello":{"protocol":99}}`: "bench speaks protocol 99, this program ",
		`{"bus_stats":true}`:        "no bench is connected: bench starts this program",
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

// TestServe_NoFiles: a leader elsewhere cannot have a node read a file of the agent's machine.
func TestServe_NoFiles(t *testing.T) {
	t.Parallel()
	authority, err := bus.NewAuthority()
	must(t, err)
	proof, err := authority.Issue("127.0.0.1")
	must(t, err)
	secret, err := json.Marshal(proof)
	must(t, err)
	hello := fmt.Sprintf(`{"hello":{"protocol":%d,"name":"a","nodes":1,"address":"127.0.0.1","tls":%s}}`,
		agent.Protocol, secret)
	for _, key := range []string{"credentials", "ca", "cert", "key"} {
		var out bytes.Buffer
		lines := hello + "\n" + `{"start":{"id":1,"bus":{"url":"tls://x:1","` + key + `":"/etc/hosts"}}}` + "\n"
		must(t, agent.Serve(strings.NewReader(lines), &out, agent.Config{}, nil))
		if said := out.String(); !strings.Contains(said, `"failed":"start node: the bus has files of credentials`) {
			t.Errorf("%s: it says %q", key, said)
		}
	}
}
