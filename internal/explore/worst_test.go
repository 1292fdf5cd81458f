package explore

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// worst is the costliest schedule of a short search.
func worst(t *testing.T, id, cost string, o Options) *Worst {
	t.Helper()
	o.Maximise, o.Seed = Costs(mustLookup(id))[cost], 1
	r, err := Run(context.Background(), id, o)
	if err != nil || r.Find != nil || r.Worst == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Worst
}

// TestMaximise: the same search finds the same with any number of workers, its file costs exactly as
// much, and it costs no less than any schedule of a shorter one but for what shrinking may give up.
func TestMaximise(t *testing.T) {
	t.Parallel()
	for id, cost := range map[string]string{"mutex/raymond": "messages", "election/bully": "outage"} {
		o := Options{Nodes: []int{3}, Faults: Survived, Schedules: 3 * climb, Workers: 1}
		one := worst(t, id, cost, o)
		o.Workers = 3
		if three := worst(t, id, cost, o); three.Value != one.Value || three.Number != one.Number ||
			!reflect.DeepEqual(three.Schedule.Events, one.Schedule.Events) {
			t.Errorf("%s: %v in schedule %d, and with three workers %v in %d", id, one.Value, one.Number,
				three.Value, three.Number)
		}
		o.Schedules = climb
		if few := worst(t, id, cost, o); few.Value*(1-loss) > one.Value {
			t.Errorf("%s: %v of few schedules, and %v of more", id, few.Value, one.Value)
		}
		text, err := one.File()
		path := filepath.Join(t.TempDir(), "worst.yaml")
		if err != nil || os.WriteFile(path, text, 0o644) != nil {
			t.Fatal(err)
		}
		if err := one.Reproduces(path); err != nil {
			t.Error(err)
		}
		one.Value++
		if one.Reproduces(path) == nil {
			t.Error("another value is reproduced")
		}
		if one.Bound == nil || one.Bound.Value <= 0 {
			t.Errorf("%s: bound %+v", id, one.Bound)
		}
	}
}

// TestMaximise_Broken: a schedule that breaks a promise is told, and no cost.
func TestMaximise_Broken(t *testing.T) {
	t.Parallel()
	const id = "mutex/test-enters-at-once"
	r, err := Run(context.Background(), id, Options{Faults: Survived, Schedules: climb, Seed: 1, Workers: 1,
		Maximise: Costs(mustLookup(id))["bypass"]})
	if err != nil || r.Find == nil || r.Worst != nil || r.Find.Rule != "mutual-exclusion" {
		t.Errorf("%+v, %v", r, err)
	}
}
