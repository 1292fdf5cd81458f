package prove_test

import (
	"context"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestSearch_Canonical: without clocks that no process reads, and with nil and empty slices alike, there are
// as many states or fewer, and the verdict is the same.
func TestSearch_Canonical(t *testing.T) {
	t.Parallel()
	for id, test := range map[string]struct {
		requests, timeouts int
		all, canonical     int
	}{
		"mutex/token-ring":       {2, 6, 843, 843},
		"election/stable-leader": {2, 1, 8168, 7304},
		"election/invitation":    {2, 6, 123, 122},

		"mutex/central":            {2, 0, 4739, 3795},
		"mutex/carvalho-roucairol": {2, 0, 94_004, 24_917},
		"election/test-tells-nil":  {2, 0, 73, 73},
	} {
		for canonical, want := range map[bool]int{false: test.all, true: test.canonical} {
			w := prove.System{Nodes: 3, Requests: test.requests, Canonical: canonical}
			w.Timeouts = test.timeouts
			s, err := prove.Search(context.Background(), id, w, prove.Limits{})
			if err != nil || s.Find != nil || s.Bound != "" || s.Clocks || s.States != want ||
				s.Tells != (canonical && id == "election/test-tells-nil") {
				t.Errorf("%s, canonical %v: %d states, want %d; %v, %q, %v, clocks: %v", id, canonical, s.States,
					want, s.Find, s.Bound, err, s.Clocks)
			}
		}
	}
}

// TestSearch_CanonicalAll: of every algorithm the verdict is the same, and so is the length of the schedule.
func TestSearch_CanonicalAll(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "searches all algorithms six times")
	fewer := 0
	for _, a := range algo.All() {
		if strings.HasPrefix(a.Spec.Name, "test-") {
			continue
		}
		for _, b := range []prove.Budget{{}, {Crashes: 1}, {Losses: 1, Timeouts: 2}} {
			requests, timeouts, err := prove.Defaults(a.ID)
			if err != nil {
				t.Fatal(err)
			}
			if b.Timeouts == 0 {
				b.Timeouts = timeouts
			}
			var found [2]int
			var spaces [2]prove.Space
			for i := range spaces {
				w := prove.System{Nodes: 3, Requests: requests, Budget: b, Canonical: i > 0}
				s, err := prove.Search(context.Background(), a.ID, w, prove.Limits{States: 150_000})
				if err != nil {
					break
				}
				if spaces[i] = s; s.Find != nil {
					found[i] = len(s.Find.Schedule)
				}
			}
			switch all, canonical := &spaces[0], &spaces[1]; {
			case all.Bound != "" || canonical.Bound != "":
			case found[0] != found[1] || canonical.Find == nil && canonical.States > all.States:
				t.Errorf("%s %+v: %d states, %v; canonical: %d states, %v", a.ID, b, all.States, all.Find,
					canonical.States, canonical.Find)
			case canonical.States < all.States:
				fewer++
			}
		}
	}
	if fewer < 10 {
		t.Errorf("%d systems have fewer canonical states", fewer)
	}
}

// picky tells the list that it has never used from one that it has emptied.
type picky struct {
	algo.Config
	seen []algo.ID
}

func (n *picky) Start(env algo.Env) { env.Elected(n.Peers[len(n.Peers)-1], 1) }

func (n *picky) Elect(env algo.Env) {
	for _, p := range n.Peers {
		if p != n.ID && n.seen == nil {
			env.Send(p, token{})
		}
	}
}

func (n *picky) Receive(_ algo.Env, from algo.ID, _ algo.Message) {
	n.seen = append(n.seen, from)[:0]
}

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "test-tells-nil", Summary: "has a leader", Breaks: "by itself",
		Paper:    algo.Paper{Authors: "X", Title: "X", Year: 2000},
		Messages: []algo.Message{token{}},
	}, func(c algo.Config) algo.Elector { return &picky{Config: c} })
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
