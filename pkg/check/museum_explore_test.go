package check_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestExploreFindsTheMuseum: a search that knows nothing but their Specs finds every
// mistake of the museum, under the name of the rule that it breaks.
func TestExploreFindsTheMuseum(t *testing.T) {
	t.Parallel()
	schedules := uint64(3_000)
	if slowtest.Night() {
		schedules = 1_000_000
	}
	for _, x := range museum() {
		if x.flaw == "" {
			continue
		}
		t.Run(x.id(), func(t *testing.T) {
			t.Parallel()
			if x.flaw == "disagrees" && !slowtest.Night() {
				t.Skip("three thousand schedules: at night")
			}
			o := explore.Options{
				Faults: explore.Survived, Rule: x.rule, Seed: max(x.seed, 1), Schedules: schedules, Workers: 1,
			}
			if x.rule == "" { // it breaks the promise of every algorithm, which two of its messages can hide
				o.Nodes = []int{9}
				r, err := explore.Run(context.Background(), x.id(), o)
				if err == nil || !strings.Contains(err.Error(), "not deterministic") {
					t.Errorf("found %+v, error %v, want that it is not deterministic", r.Find, err)
				}
				return
			}
			r, err := explore.Run(context.Background(), x.id(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Find == nil || r.Find.Rule != x.rule || len(r.Find.Records) == 0 {
				t.Fatalf("nothing found in %d schedules, want a breach of %s", r.Schedules, x.rule)
			}
			t.Logf("schedule %d, %d processes, %d events: %s", r.Find.Number, r.Find.Schedule.Nodes,
				len(r.Find.Schedule.Events), r.Find.Text)
		})
	}
}

// TestExploreFindsStarvation: what starves one process, while others ask without end, is
// found within a minute, whatever the seed.
func TestExploreFindsStarvation(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("minutes: at night")
	}
	for _, x := range starvers {
		for range 5 {
			seed := rand.Uint64N(1 << 32)
			r, err := explore.Run(context.Background(), x.id(), explore.Options{
				Faults: explore.Survived, Seed: seed, Time: time.Minute, Workers: 2,
			})
			if err != nil || r.Find == nil || r.Find.Rule != x.rule {
				t.Errorf("%s, seed %d: %+v in %d schedules, %v", x.id(), seed, r.Find, r.Schedules, err)
				continue
			}
			t.Logf("%s, seed %d: schedule %d, %v", x.id(), seed, r.Find.Number, r.Elapsed)
		}
	}
}
