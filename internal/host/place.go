package host

import (
	"errors"
	"fmt"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// A Placement says on which host each process of a trial lives.
type Placement struct {
	Kind    string         // Spread or Pack; empty: Spread
	Regions map[string]int // of the network's latency: the host of each, by its index; nil: Kind says
}

// The kinds of placements.
const (
	Spread = "spread" // one after the other, a host each, as long as it has room
	Pack   = "pack"   // as many on a host as it has room for, then the next
)

// Slots is how many processes a host may have.
type Slots struct {
	Name string
	Most int // 0: any number
}

// Assign is the host of each process of a trial, by ID - 1.
func (p Placement) Assign(plan *harness.Plan, hosts []Slots) ([]int, error) {
	left := make([]int, len(hosts))
	for i, h := range hosts {
		if left[i] = h.Most; h.Most == 0 {
			left[i] = plan.Nodes
		}
	}
	next := p.byKind
	if p.Regions != nil {
		next = p.byRegion
	}
	places, at := make([]int, plan.Nodes), 0
	for i := range places {
		var err error
		if at, err = next(plan, i, at, left); err != nil {
			return nil, err
		}
		if left[at]--; left[at] < 0 {
			return nil, fmt.Errorf("the slots of %s are too few for the processes of its regions",
				hosts[at].Name)
		}
		places[i] = at
	}
	return places, nil
}

// byKind is the host of process i+1, the last one being on host at.
func (p Placement) byKind(plan *harness.Plan, i, at int, left []int) (int, error) {
	if i > 0 && p.Kind != Pack {
		at++
	}
	for range left {
		if at %= len(left); left[at] > 0 {
			return at, nil
		}
		at++
	}
	return 0, fmt.Errorf("%d processes, but the hosts have slots for %d: use fewer processes, or more slots",
		plan.Nodes, i)
}

func (p Placement) byRegion(plan *harness.Plan, i, _ int, _ []int) (int, error) {
	regions := plan.Network.Latency.Places
	if len(regions) == 0 {
		return 0, errors.New("a placement by region needs a network with regions, as " +
			"network: {latency: {distribution: regions, places: [...]}}")
	}
	at, ok := p.Regions[regions[i%len(regions)]]
	if !ok {
		return 0, fmt.Errorf("no host for the region %s of process %d", regions[i%len(regions)], i+1)
	}
	return at, nil
}

// place is the host of each process of a trial, by ID - 1.
func (m *Machine) place(s *harness.Setup) ([]int, error) {
	slots := make([]Slots, len(m.hosts))
	for i, h := range m.hosts {
		slots[i] = Slots{h.Agent.Name(), h.Slots}
	}
	return m.cfg.Placement.Assign(&s.Plan, slots)
}
