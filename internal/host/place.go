package host

import (
	"errors"
	"fmt"
	"slices"

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

// place is the host of each process of a trial, by ID - 1.
func (m *Machine) place(s *harness.Setup) ([]int, error) {
	if m.cfg.Placement.Regions != nil {
		return m.placeByRegion(s)
	}
	left := make([]int, len(m.hosts))
	for i, h := range m.hosts {
		if left[i] = h.Slots; h.Slots == 0 {
			left[i] = s.Nodes
		}
	}
	places, at := make([]int, 0, s.Nodes), 0
	for len(places) < s.Nodes {
		if !slices.ContainsFunc(left, func(n int) bool { return n > 0 }) {
			return nil, fmt.Errorf("%d processes, but slots for %d on %d hosts: use fewer processes, or give the hosts "+
				"more slots", s.Nodes, len(places), len(m.hosts))
		}
		for left[at] == 0 {
			at = (at + 1) % len(left)
		}
		places = append(places, at)
		if left[at]--; m.cfg.Placement.Kind != Pack {
			at = (at + 1) % len(left)
		}
	}
	return places, nil
}

func (m *Machine) placeByRegion(s *harness.Setup) ([]int, error) {
	regions := s.Network.Latency.Places
	if len(regions) == 0 {
		return nil, errors.New("a placement by region needs a network with regions: set network.latency to " +
			"{distribution: regions, places: [...]}")
	}
	places, used := make([]int, s.Nodes), make([]int, len(m.hosts))
	for i := range places {
		region := regions[i%len(regions)]
		host, ok := m.cfg.Placement.Regions[region]
		if !ok {
			return nil, fmt.Errorf("placement: region %q of process %d has no host", region, i+1)
		}
		places[i] = host
		if used[host]++; m.hosts[host].Slots > 0 && used[host] > m.hosts[host].Slots {
			return nil, fmt.Errorf("placement: %s has %d slots, too few for the processes of its regions",
				m.hosts[host].Agent.Name(), m.hosts[host].Slots)
		}
	}
	return places, nil
}
