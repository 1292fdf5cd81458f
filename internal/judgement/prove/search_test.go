package prove_test

import (
	"context"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/all"
	"github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// TestSearch_States: there are as many states as two other programs count, of three processes with two
// requests each: the exhaustive walk of package modelcheck, with a bound raised, and one in C++.
func TestSearch_States(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{
		"mutex/raymond": 1004, "mutex/naimi-trehel": 1530, "mutex/neilsen-mizuno": 1112,
		"mutex/chandy-misra": 4571, "mutex/central": 4739, "mutex/singhal": 36_529,
		"mutex/ricart-agrawala-token": 39_421, "mutex/suzuki-kasami": 58_933,
		"mutex/carvalho-roucairol": 94_004, "mutex/ricart-agrawala": 150_719,
		"mutex/maekawa": 228_366, "mutex/lodha-kshemkalyani": 331_106,
	} {
		s, err := prove.Search(context.Background(), id, prove.System{Nodes: 3, Requests: 2},
			prove.Limits{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if s.Find != nil {
			t.Errorf("%s: %v", id, s.Find)
		}
		t.Logf("%-28s %7d states %8d steps depth %d, %6d states of processes, %d calls, %v: %.0f states/s, %d MiB",
			id, s.States, s.Steps, s.Depth, s.Locals, s.Calls, s.Elapsed,
			float64(s.States)/s.Elapsed.Seconds(), s.Memory>>20)
		if s.States != want || s.Bound != "" {
			t.Errorf("%s: %d states, want %d; %s", id, s.States, want, s.Bound)
		}
	}
}

// wrapped is an algorithm behind another's methods.
type wrapped struct{ algo.Mutex }

// TestSearch_Wrapped: a process that another one holds is restored as a whole, and reaches as many states.
func TestSearch_Wrapped(t *testing.T) {
	t.Parallel()
	s, err := prove.Search(context.Background(), "mutex/test-wrapped", prove.System{Nodes: 3, Requests: 2},
		prove.Limits{})
	if err != nil || s.States != 1530 || s.Find != nil {
		t.Errorf("%d states, %v, %v, want 1530", s.States, s.Find, err)
	}
}

func init() {
	a, err := algo.Lookup("mutex/naimi-trehel")
	if err != nil {
		panic(err)
	}
	spec := a.Spec
	spec.Name = "test-wrapped"
	algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex { return &wrapped{naimitrehel.New(c)} })
}
