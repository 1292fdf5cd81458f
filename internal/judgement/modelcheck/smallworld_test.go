package modelcheck

import (
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/mutex/lamport"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
	_ "github.com/conclave-bench/conclave/plugins/mutex/ricartagrawala"
	_ "github.com/conclave-bench/conclave/plugins/mutex/suzukikasami"
)

// TestExhaust_Schedules: there are as many schedules as are counted when each is
// followed to its end, without a thought of equal states.
func TestExhaust_Schedules(t *testing.T) {
	t.Parallel()
	for id, scope := range map[string]Scope{
		"election/bully":        {Nodes: 2, Initiators: []algo.ID{1, 2}},
		"mutex/naimi-trehel":    {Nodes: 3, Requests: []int{1, 1, 1}},
		"mutex/ricart-agrawala": {Nodes: 2, Requests: []int{2, 2}},
		"mutex/lamport":         {Nodes: 2, Requests: []int{1, 2}},
		"mutex/suzuki-kasami":   {Nodes: 2, Requests: []int{2, 2}},
	} {
		f, err := newFrame(id, scope)
		if err != nil {
			t.Fatal(err)
		}
		space, err := Exhaust(id, scope)
		if err != nil {
			t.Fatal(err)
		}
		if n := follow(newSmall(f)); space.Schedules == nil || space.Schedules.Int64() != n {
			t.Errorf("%s: %s: %v schedules, but %d when followed", id, scope, space.Schedules, n)
		}
	}
}

func follow(w *small) (schedules int64) {
	choices, _ := w.choices()
	for _, c := range choices {
		next, _ := w.next(c)
		schedules += follow(next)
	}
	return max(schedules, 1)
}

// TestExhaust_Timers: bounded delays keep timers behind all messages and in the
// order of one clock; otherwise each process has its own.
func TestExhaust_Timers(t *testing.T) {
	t.Parallel()
	w := &small{
		frame: &frame{n: 2, setup: mustFrame(t).setup},
		procs: []local{
			{up: true, timers: trial.Alarms{{Name: "a", At: 5}, {Name: "b", At: 5}, {Name: "c", At: 6}}},
			{up: true, timers: trial.Alarms{{Name: "d", At: 7}}},
		},
		links: make([][]string, 8),
	}
	expiries := func() (names string) {
		choices, _ := w.choices()
		for _, c := range choices {
			if c.do == expiry {
				names += string(w.procs[c.who].timers[c.which].Name)
			}
		}
		return names
	}
	for _, step := range []struct {
		what   string
		change func()
		want   string
	}{
		{"bounded", func() {}, "ab"},
		{"free", func() { w.free = true }, "abd"},
		{"free, a message in flight", func() { w.links[0] = []string{"x"} }, "abd"},
		{"bounded, a message in flight", func() { w.free = false }, ""},
		{"bounded, without it", func() { w.links[0] = nil }, "ab"},
		{"no more time-outs", func() { w.scope.Timeouts = 1; w.fired = 1 }, ""},
	} {
		step.change()
		if got := expiries(); got != step.want {
			t.Errorf("%s: %q may expire, want %q", step.what, got, step.want)
		}
	}
	if _, held := w.choices(); !held {
		t.Error("nothing is held back at the bound of time-outs")
	}
}

func mustFrame(t *testing.T) *frame {
	t.Helper()
	f, err := newFrame("mutex/naimi-trehel", Scope{Nodes: 2, Requests: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
