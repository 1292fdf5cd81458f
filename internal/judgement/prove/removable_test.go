package prove

import (
	"context"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// TestRemovable: of the shortest schedule every event is needed; of a longer one those are found that are not.
func TestRemovable(t *testing.T) {
	t.Parallel()
	for id, b := range map[string]Budget{
		"mutex/naimi-trehel":       {Losses: 1},
		"mutex/central":            {Crashes: 1},
		"mutex/lodha-kshemkalyani": {Copies: 1},
		"mutex/lamport":            {Overtakes: 1},
		"mutex/agrawal-el-abbadi":  {Suspicions: 1},
	} {
		w := System{Nodes: 3, Requests: 2, Budget: b, Canonical: true}
		s, err := Search(context.Background(), id, w, Limits{Workers: 1, States: 300_000})
		if err != nil || s.Find == nil {
			t.Fatalf("%s: %v, %v", id, s.Find, err)
		}
		f := s.Find
		if left := f.Removable(); left != nil {
			t.Errorf("%s: events %d of the shortest schedule are not needed: %v", id, left, f)
		}
		if !f.narrator.breaksBy(f.Schedule) {
			t.Errorf("%s: the whole schedule breaks nothing: %v", id, f)
		}
	}
}

// TestRemovable_Longer: an event that a schedule has for nothing is found, wherever it is.
func TestRemovable_Longer(t *testing.T) {
	t.Parallel()
	w := System{Nodes: 3, Requests: 1}
	s, err := Search(context.Background(), "mutex/test-enters-at-once", w, Limits{Workers: 1})
	if err != nil || s.Find == nil || len(s.Find.Schedule) != 2 || s.Find.Removable() != nil {
		t.Fatal(s.Find, err)
	}
	idle := Step{Do: Command, Process: 3} // two processes are enough
	tried := 0
	for at := range s.Find.Schedule {
		longer := *s.Find
		longer.Schedule = slices.Insert(slices.Clone(s.Find.Schedule), at, idle)
		if !longer.narrator.breaksBy(longer.Schedule) {
			continue
		}
		tried++
		if left := longer.Removable(); !slices.Contains(left, at) {
			t.Errorf("event %d is not needed, found %d: %v", at, left, &longer)
		}
	}
	if tried != 2 {
		t.Errorf("an event can be added at %d places of %v", tried, s.Find)
	}
}

// eager is who enters when it likes to.
type eager struct{}

func (eager) Request(env algo.Env)                    { env.Granted() }
func (eager) Release(algo.Env)                        {}
func (eager) Receive(algo.Env, algo.ID, algo.Message) {}

type idleTalk struct{}

func (idleTalk) Kind() string { return "IDLE" }

func init() {
	algo.RegisterMutex(algo.Spec{
		Name: "test-enters-at-once", Summary: "broken",
		Paper: algo.Paper{Authors: "nobody", Title: "none", Year: 2026}, Breaks: "by itself",
		Messages: []algo.Message{idleTalk{}},
	}, func(algo.Config) algo.Mutex { return eager{} })
}
