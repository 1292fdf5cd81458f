package host_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A slowPipe is an agent whose orders take a while.
type slowPipe struct{ agent.Agent }

func (s slowPipe) Order(n agent.Ref, orders ...control.Order) error {
	time.Sleep(ms(15))
	return s.Agent.Order(n, orders...)
}

// TestTrial_LeadIsMeasured: no node is late at the common start because its order to start
// comes slowly.
func TestTrial_LeadIsMeasured(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	local, err := agent.NewLocal(agent.Config{Exe: exe, Args: []string{"trial-node"}, Bus: []string{"trial-bus"},
		Nodes: 3, Env: []string{"GOMAXPROCS=1", "CONCLAVE_RUN=lead"}, Ready: 10 * time.Second})
	must(t, err)
	m, err := host.NewMachineOf(host.MachineConfig{Nodes: 3, Run: "lead"}, host.Host{Agent: slowPipe{local}})
	must(t, err)
	defer m.Close()
	p := plan(t, "mutex/central", 3, harness.Scenario{Plot: &harness.Sequential{Requests: 3}}, nil)
	for range 2 {
		for _, why := range once(t, m, p).End.Invalid {
			if strings.Contains(why, "late") && strings.Contains(why, "started") {
				t.Error(why)
			}
		}
	}
}
