package harness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/link"
)

// TestPlacement_Assign: who lives where, and why nobody can.
func TestPlacement_Assign(t *testing.T) {
	t.Parallel()
	spread, pack := Placement{Kind: Spread}, Placement{Kind: Pack}
	regions := Placement{Kind: ByRegion, Hosts: map[string]string{"eu": "h2", "us": "h1"}}
	eu := []string{"eu", "us", "eu"}
	for name, c := range map[string]struct {
		by     Placement
		nodes  int
		slots  []int
		places []string
		want   string
	}{
		"spread":                  {spread, 5, []int{0, 0, 0}, nil, "h1 [1 4], h2 [2 5], h3 [3]"},
		"spread, by default":      {Placement{}, 3, []int{0, 0}, nil, "h1 [1 3], h2 [2]"},
		"spread past a full one":  {spread, 6, []int{3, 1, 2}, nil, "h1 [1 4 6], h2 [2], h3 [3 5]"},
		"spread, one in vain":     {spread, 2, []int{0, 0, 0}, nil, "h1 [1], h2 [2], h3 []"},
		"spread, too few":         {spread, 4, []int{1, 2}, nil, "4 processes, but the hosts have slots for 3"},
		"pack":                    {pack, 5, []int{2, 1, 0}, nil, "h1 [1 2], h2 [3], h3 [4 5]"},
		"pack on one":             {pack, 3, []int{0, 1}, nil, "h1 [1 2 3], h2 []"},
		"pack, too few":           {pack, 4, []int{1, 2}, nil, "but the hosts have slots for 3"},
		"regions":                 {regions, 5, []int{0, 0}, eu, "h1 [2 5], h2 [1 3 4]"},
		"regions, a full host":    {regions, 5, []int{0, 2}, eu, "the slots of h2 are too few"},
		"regions, none for one":   {regions, 3, []int{0, 0}, []string{"eu", "asia"}, "no host for the region asia of process 2"},
		"regions without regions": {regions, 3, []int{0, 0}, nil, "needs a network with regions"},
	} {
		var slots []Slots
		for i, most := range c.slots {
			slots = append(slots, Slots{Name: fmt.Sprintf("h%d", i+1), Most: most})
		}
		plan := &Plan{Nodes: c.nodes}
		plan.Network.Latency.Law = &link.Regions{Places: c.places}
		hosts, err := c.by.Assign(plan, slots)
		var got []string
		for _, h := range hosts {
			got = append(got, fmt.Sprintf("%s %v", h.Name, h.Processes))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if all := strings.Join(got, ", "); !strings.Contains(all, c.want) {
			t.Errorf("%s: %s, want %s", name, all, c.want)
		}
	}
}
