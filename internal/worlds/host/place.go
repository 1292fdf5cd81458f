package host

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// place is the host of each process of a trial, by ID - 1. If the experiment names hosts, it
// says which processes live there; else the machine does.
func (m *Machine) place(s *harness.Setup) (places []int, err error) {
	places = make([]int, s.Nodes)
	if len(m.hosts) == 1 {
		return places, nil
	}
	hosts := s.Hosts
	if hosts == nil {
		slots := make([]harness.Slots, len(m.hosts))
		for i, h := range m.hosts {
			slots[i] = harness.Slots{Name: h.Agent.Name(), Most: h.Slots}
		}
		if hosts, err = m.cfg.Placement.Assign(&s.Plan, slots); err != nil {
			return nil, err
		}
	}
	for at, h := range hosts {
		if s.Hosts != nil {
			at = slices.IndexFunc(m.hosts, func(of Host) bool { return of.Agent.Name() == h.Name })
		}
		if at < 0 {
			return nil, fmt.Errorf("the plan has a host %s, which is none of this machine", h.Name)
		}
		for _, p := range h.Processes {
			places[p-1] = at
		}
	}
	return places, nil
}
