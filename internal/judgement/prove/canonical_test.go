package prove_test

import (
	"context"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
)

// TestSearch_Canonical: without clocks that no process reads there are as many states or fewer, and the
// verdict is the same.
func TestSearch_Canonical(t *testing.T) {
	t.Parallel()
	for id, test := range map[string]struct {
		requests, timeouts int
		all, canonical     int
	}{
		"mutex/token-ring":       {2, 6, 843, 843},
		"election/stable-leader": {2, 1, 8168, 7304},
		"election/invitation":    {2, 6, 123, 122},
	} {
		for canonical, want := range map[bool]int{false: test.all, true: test.canonical} {
			w := prove.System{Nodes: 3, Requests: test.requests, Canonical: canonical}
			w.Timeouts = test.timeouts
			s, err := prove.Search(context.Background(), id, w, prove.Limits{})
			if err != nil || s.Find != nil || s.Bound != "" || s.Clocks || s.States != want {
				t.Errorf("%s, canonical %v: %d states, want %d; %v, %q, %v, clocks: %v", id, canonical, s.States,
					want, s.Find, s.Bound, err, s.Clocks)
			}
		}
	}
}

// TestSearch_Clocks: processes that read their clocks are noticed, and their clocks are part of the states.
func TestSearch_Clocks(t *testing.T) {
	t.Parallel()
	w := prove.System{Nodes: 3, Requests: 2, Canonical: true}
	w.Timeouts = prove.Any
	var states []int
	for _, w.Canonical = range []bool{true, false} {
		s, err := prove.Search(context.Background(), "election/bully", w, prove.Limits{})
		if err != nil || s.Find != nil || s.Clocks != w.Canonical {
			t.Errorf("canonical %v: %v, %v, clocks: %v", w.Canonical, s.Find, err, s.Clocks)
		}
		states = append(states, s.States)
	}
	if states[0] != states[1] {
		t.Errorf("%d states", states)
	}
}
