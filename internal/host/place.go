package host

import (
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

// A PlaceError says why a trial has no room on the hosts.
type PlaceError struct {
	Host  int  // whose slots are too few; -1: no host alone is to blame
	Slots bool // all slots together are too few; else it is the placement
	why   string
}

func (e *PlaceError) Error() string { return e.why }

// Assign is the host of each process of a trial, by ID - 1. An error is a *PlaceError.
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
			return nil, &PlaceError{Host: at, why: fmt.Sprintf("the slots of %s are too few for the "+
				"processes of its regions; raise slots, or give a region to another host", hosts[at].Name)}
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
	return 0, &PlaceError{Host: -1, Slots: true, why: fmt.Sprintf("%d processes, but the hosts have slots "+
		"for %d: use fewer processes, or more slots", plan.Nodes, i)}
}

func (p Placement) byRegion(plan *harness.Plan, i, _ int, _ []int) (int, error) {
	regions := plan.Network.Latency.Places
	if len(regions) == 0 {
		return 0, &PlaceError{Host: -1, why: "a placement by region needs a network with regions, as " +
			"network: {latency: {distribution: regions, places: [...]}}; give it one, or take spread"}
	}
	at, ok := p.Regions[regions[i%len(regions)]]
	if !ok {
		return 0, &PlaceError{Host: -1, why: fmt.Sprintf("no host for the region %s of process %d; name "+
			"one for it in placement, or give a host that region", regions[i%len(regions)], i+1)}
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
