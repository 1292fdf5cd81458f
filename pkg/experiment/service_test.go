package experiment

import (
	"slices"
	"strings"
	"testing"
)

// TestFaultsOfServers: an algorithm without servers has one cell for all faults of servers.
func TestFaultsOfServers(t *testing.T) {
	t.Parallel()
	e, err := Parse("e.yaml", []byte("problem: mutex\nalgorithms: [naimi-trehel, served]\ntransport: nats\n"+
		"network: {wire: true}\nscenario: {kind: closed, requests: 10}\n"+
		"sweep:\n  - vary: faults.events\n    over:\n"+
		"      - []\n"+
		"      - [{at: 1s, do: crash, who: server-leader, for: 1s}]\n"+
		"      - [{at: 1s, do: cut, shape: isolate, who: server-1, for: 1s}]\n"), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	events := map[string][]int{}
	for _, c := range e.Cells {
		events[c.Label] = append(events[c.Label], len(c.Plan.Faults.Events))
	}
	same(t, "events of the cells", events, map[string][]int{"naimi-trehel": {0}, "served": {0, 1, 1}})
	if !slices.ContainsFunc(e.Notes, func(n string) bool {
		return strings.HasPrefix(n, "naimi-trehel has no servers: it runs once")
	}) {
		t.Errorf("nothing about it in the notes %q", e.Notes)
	}
}
