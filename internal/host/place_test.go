package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/host"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// TestPlacement_Assign: who lives where, and why nobody can.
func TestPlacement_Assign(t *testing.T) {
	t.Parallel()
	spread, pack := host.Placement{Kind: host.Spread}, host.Placement{Kind: host.Pack}
	regions := host.Placement{Regions: map[string]int{"eu": 1, "us": 0}}
	eu := []string{"eu", "us", "eu"}
	for name, c := range map[string]struct {
		by     host.Placement
		nodes  int
		slots  []int
		places []string
		want   string
	}{
		"spread":                  {spread, 5, []int{0, 0, 0}, nil, "[0 1 2 0 1]"},
		"spread, by default":      {host.Placement{}, 3, []int{0, 0}, nil, "[0 1 0]"},
		"spread past a full one":  {spread, 6, []int{3, 1, 2}, nil, "[0 1 2 0 2 0]"},
		"spread, too few":         {spread, 4, []int{1, 2}, nil, "4 processes, but the hosts have slots for 3"},
		"pack":                    {pack, 5, []int{2, 1, 0}, nil, "[0 0 1 2 2]"},
		"pack on one":             {pack, 3, []int{0, 1}, nil, "[0 0 0]"},
		"pack, too few":           {pack, 4, []int{1, 2}, nil, "but the hosts have slots for 3"},
		"regions":                 {regions, 5, []int{0, 0}, eu, "[1 0 1 1 0]"},
		"regions, a full host":    {regions, 5, []int{0, 2}, eu, "the slots of h2 are too few"},
		"regions, none for one":   {regions, 3, []int{0, 0}, []string{"eu", "asia"}, "no host for the region asia of process 2"},
		"regions without regions": {regions, 3, []int{0, 0}, nil, "needs a network with regions"},
	} {
		var slots []host.Slots
		for i, most := range c.slots {
			slots = append(slots, host.Slots{Name: fmt.Sprintf("h%d", i+1), Most: most})
		}
		plan := &harness.Plan{Nodes: c.nodes}
		plan.Network.Latency.Places = c.places
		places, err := c.by.Assign(plan, slots)
		got := fmt.Sprint(places)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
