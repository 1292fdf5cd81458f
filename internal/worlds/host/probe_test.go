package host

import (
	"testing"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// TestFill: what a machine bears follows from what its first nodes took, and a tenth of what is left stays free.
func TestFill(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	before := agent.Stock{Taken: proc.Footprint{Memory: 20 * mb, Tasks: 10}}
	now := agent.Stock{Taken: proc.Footprint{Memory: 320 * mb, Tasks: 810}, Left: proc.Room{Memory: 1000 * mb, Tasks: 10_000}}
	for name, c := range map[string]struct {
		change func(*agent.Stock)
		nodes  int
		want   harness.Share
	}{
		"memory": {func(*agent.Stock) {}, 1000, harness.Share{Nodes: 1000, Started: 100, Fits: 400, PerNode: 3 * mb, Memory: 1000 * mb}},
		"tasks": {func(s *agent.Stock) { s.Left.Tasks = 800 }, 1000,
			harness.Share{Nodes: 1000, Started: 100, Fits: 190, PerNode: 3 * mb, Memory: 1000 * mb, Tasks: true}},
		"nothing is known": {func(s *agent.Stock) { s.Left = proc.Room{Memory: proc.Endless, Tasks: proc.Endless} }, 1000,
			harness.Share{Nodes: 1000, Started: 100, Fits: 1100, PerNode: 3 * mb, Memory: proc.Endless}},
	} {
		stock, got := now, harness.Share{Nodes: c.nodes, Started: 100}
		c.change(&stock)
		if fill(&got, before, stock); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got.Short() != (c.want.Fits < c.nodes) {
			t.Errorf("%s: short: %v", name, got.Short())
		}
	}
}

// TestMachine_Narrow: a host that does not bear its share has no more than it bears, and others have the rest; it
// helps nobody if they have no room, if the machine is alone, or if the experiment places the processes.
func TestMachine_Narrow(t *testing.T) {
	t.Parallel()
	two := func(slots ...int) *Machine {
		m := &Machine{cfg: MachineConfig{Placement: harness.Placement{Kind: harness.Spread}}}
		for _, n := range slots {
			m.hosts = append(m.hosts, Host{Agent: named{}, Slots: n})
		}
		return m
	}
	shares := []harness.Share{{Nodes: 10, Fits: 4}, {Nodes: 10, Fits: 30}}
	plan := harness.Plan{Nodes: 20}
	for name, c := range map[string]struct {
		m    *Machine
		plan harness.Plan
		want bool
	}{
		"room":         {two(0, 0), plan, true},
		"slots":        {two(0, 15), plan, false},
		"alone":        {two(0), plan, false},
		"placed there": {two(0, 0), harness.Plan{Nodes: 20, Hosts: []harness.Host{{Name: "x"}}}, false},
	} {
		if got := c.m.narrow(&harness.Setup{Plan: c.plan}, shares); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	m := two(0, 0)
	m.narrow(&harness.Setup{Plan: plan}, shares)
	places, err := m.place(&harness.Setup{Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	for _, at := range places {
		if at == 0 {
			first++
		}
	}
	if first != 4 || m.hosts[1].Slots != 0 {
		t.Errorf("%d processes on the first host, slots of the second: %d", first, m.hosts[1].Slots)
	}
	if m.narrow(&harness.Setup{Plan: plan}, []harness.Share{{Nodes: 4, Fits: 4}, {Nodes: 16, Fits: 30}}) {
		t.Error("narrowed though all bear their shares")
	}
}

// named is an agent of which only the name is asked.
type named struct{ agent.Agent }

func (named) Name() string { return "lab" }
