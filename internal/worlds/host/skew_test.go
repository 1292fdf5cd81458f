package host

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/bus"
)

func TestSkew(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, test := range []struct {
		name        string
		delay, step time.Duration
		want        []string
	}{
		{"all well", mostDelay, mostStep, nil},
		{"late", mostDelay + 1, 0, []string{"overloaded"}},
		{"set forward", 0, time.Hour, []string{"the clock was changed by 1h0m0s"}},
		{"set back", 0, -day, []string{"the clock was changed by -24h0m0s"}},
		{"both", time.Second, day, []string{"ran 1s late", "24h0m0s"}},
	} {
		got := skew(test.delay, test.step)
		if len(got) != len(test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], test.want[i]) {
				t.Errorf("%s: %q, want %q", test.name, got[i], test.want[i])
			}
		}
	}
}

// TestUnrest: whatever the bus counted during a trial is said.
func TestUnrest(t *testing.T) {
	t.Parallel()
	before := bus.ServerStats{SlowConsumers: 1, StaleClients: 2, StalledClients: 3, TotalConnections: 4}
	if got := unrest(before, before, 3); len(got) > 0 {
		t.Errorf("nothing happened: %q", got)
	}
	after := bus.ServerStats{SlowConsumers: 2, StaleClients: 4, StaleRoutes: 1, StalledClients: 6,
		TotalConnections: 8}
	want := []string{"slow consumers on the bus: 1", "silent clients cut off by the bus: 2: the machine",
		"silent routes to other hosts cut off by the bus: 1: the network", "clients stalled by the bus: 3", "unknown clients on the bus: 4 connections, but only 3 nodes"}
	got := unrest(before, after, 3)
	for i := range want {
		if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// TestEachOnce: the death of an agent is said once, whatever it was asked for afterwards.
func TestEachOnce(t *testing.T) {
	t.Parallel()
	got := eachOnce([]string{"the clock of b: b died", "b died", "another", "b died"})
	if want := []string{"b died", "another"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
