package harness

import (
	"fmt"
	"maps"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Host is a machine of a trial, with the processes that live there. On one machine, and
// in simulation, it is a name for processes that fail together.
type Host struct {
	Name      string    `json:"name"`
	Processes []algo.ID `json:"processes"`
}

// A Placement says on which host each process of a trial lives.
type Placement struct {
	Kind  string            // Spread, Pack or ByRegion; empty: Spread
	Hosts map[string]string // ByRegion: the host of each region of the network's latency
}

// The kinds of placements.
const (
	Spread   = "spread" // one after the other, a host each, as long as it has room
	Pack     = "pack"   // as many on a host as it has room for, then the next
	ByRegion = "region" // the processes of a region on its host
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

// Assign is the hosts with the processes of a trial, in their order, each by ID. One may have
// none. An error is a *PlaceError.
func (p Placement) Assign(plan *Plan, hosts []Slots) ([]Host, error) {
	out, left := make([]Host, len(hosts)), make([]int, len(hosts))
	for i, h := range hosts {
		out[i].Name = h.Name
		if left[i] = h.Most; h.Most == 0 {
			left[i] = plan.Nodes
		}
	}
	at := 0
	for i := range plan.Nodes {
		var err error
		if p.Kind == ByRegion {
			at, err = p.byRegion(plan, i, hosts)
		} else {
			at, err = p.byKind(plan, i, at, left)
		}
		if err != nil {
			return nil, err
		}
		if left[at]--; left[at] < 0 {
			return nil, &PlaceError{Host: at, why: fmt.Sprintf("the slots of %s are too few for the "+
				"processes of its regions; raise slots, or give a region to another host", hosts[at].Name)}
		}
		out[at].Processes = append(out[at].Processes, algo.ID(i+1))
	}
	return out, nil
}

// byKind is the host of process i+1, the last one being on host at.
func (p Placement) byKind(plan *Plan, i, at int, left []int) (int, error) {
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

func (p Placement) byRegion(plan *Plan, i int, hosts []Slots) (int, error) {
	regions := plan.Network.Latency.Places()
	if len(regions) == 0 {
		return 0, &PlaceError{Host: -1, why: "a placement by region needs a network with regions, as " +
			"network: {latency: {distribution: regions, places: [...]}}; give it one, or take spread"}
	}
	region := regions[i%len(regions)]
	at := slices.IndexFunc(hosts, func(h Slots) bool { return h.Name == p.Hosts[region] })
	if at < 0 {
		return 0, &PlaceError{Host: -1, why: fmt.Sprintf("no host for the region %s of process %d; name "+
			"one for it in placement, or give a host that region", region, i+1)}
	}
	return at, nil
}

// Check says of which region the host is none of names, and which one that is; "": of none.
func (p Placement) Check(names []string) (region, host string) {
	for _, region := range slices.Sorted(maps.Keys(p.Hosts)) {
		if host := p.Hosts[region]; !slices.Contains(names, host) {
			return region, host
		}
	}
	return "", ""
}
