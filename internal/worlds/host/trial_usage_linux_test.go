package host_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// keeping is an agent that keeps what it collected last.
type keeping struct {
	agent.Agent
	journals []agent.Journal
}

func (k *keeping) Collect() (c agent.Collection, err error) {
	c, err = k.Agent.Collect()
	k.journals = c.Journals
	return c, err
}

// TestTrial_Usage: what the nodes used is something, no more than the processors have, more
// where they have more to do, and known of nodes that were killed as well.
func TestTrial_Usage(t *testing.T) {
	exe, err := os.Executable()
	must(t, err)
	local, err := agent.NewLocal(agent.Config{Exe: exe, Args: []string{"trial-node"}, Bus: []string{"trial-bus"},
		Nodes: 3,
		Env:   []string{"GOMAXPROCS=1", "CONCLAVE_RUN=usage"}, Ready: 10 * time.Second})
	must(t, err)
	k := &keeping{Agent: local}
	m, err := host.NewMachineOf(host.MachineConfig{
		Nodes: 3, Run: "usage", Ready: 10 * time.Second,
	}, host.Host{Agent: k})
	must(t, err)
	defer m.Close()
	used := func(s harness.Scenario) harness.Usage {
		t.Helper()
		var u harness.Usage
		begun := time.Now()
		run(t, m, plan(t, "mutex/ricart-agrawala", 3, s, nil), func(o outcome) error {
			u = o.quality.Usage
			var sum, busiest proc.Usage
			if o.End.Err != nil {
				t.Error(o.End.Err)
			}
			lives := map[string]bool{}
			for _, j := range k.journals {
				if j.Usage.CPU <= 0 {
					return fmt.Errorf("p%d, incarnation %d: %+v", j.Node.ID, j.Node.Incarnation, j.Usage)
				}
				sum.Add(j.Usage)
				busiest.CPU = max(busiest.CPU, j.Usage.CPU)
				lives[fmt.Sprint(j.Node)] = true
			}
			most := time.Duration(runtime.NumCPU()) * time.Since(begun)
			if u.CPU != sum.CPU || u.BusiestCPU != busiest.CPU || u.Switches != sum.Voluntary+sum.Involuntary ||
				u.BusiestSwitches > u.Switches || u.Involuntary != sum.Involuntary || u.CPU > most ||
				len(lives) != 3 {
				t.Errorf("%+v of %+v, where there were %v", u, k.journals, most)
			}
			return nil
		})
		return u
	}
	const span = 300 * time.Millisecond
	idle := used(harness.Scenario{Plot: &harness.Script{Until: span}})
	busy := used(harness.Scenario{Plot: &harness.Closed{Duration: span,
		Think: link.Constant(0), Hold: link.Constant(0)}})
	killed := used(harness.Scenario{Plot: &harness.Script{Until: span, Events: []harness.Event{
		{At: span / 3, Do: harness.DoCrash, Node: 3}}}})
	t.Logf("idle %+v, busy %+v, one killed %+v", idle, busy, killed)
	if idle.CPU >= busy.CPU || idle.Switches >= busy.Switches || killed.CPU >= busy.CPU {
		t.Errorf("idle %+v, busy %+v, one killed %+v", idle, busy, killed)
	}
}
