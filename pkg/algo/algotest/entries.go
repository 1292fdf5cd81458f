package algotest

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Together is a script in which these processes request at the same instant.
func Together(requesters ...algo.ID) []harness.Event {
	var out []harness.Event
	for _, p := range requesters {
		out = append(out, harness.Event{Do: harness.DoRequest, Node: p})
	}
	return out
}

// InTurn is a script in which each process requests when the network has fallen
// quiet after the one before.
func InTurn(requesters ...algo.ID) []harness.Event {
	out := Together(requesters...)
	for i := range out {
		out[i].After = "quiet"
	}
	return out
}

// An Entries is a script of requests and what it comes to, exactly, in the
// unit-delay model: latency and time inside 1 ms.
type Entries struct {
	Nodes  int
	Shape  algo.Shape // the zero value: the default
	Holder algo.ID
	Params map[string]any
	Events []harness.Event
	Until  time.Duration

	Order   []algo.ID        // of the entries
	Kinds   map[string]int64 // messages sent, every kind that was
	Each    []int64          // messages sent from each request to the next; nil: not checked
	Waiting []time.Duration  // from request to entry, by entry; nil: not checked
	SyncMax time.Duration    // longest from a release to the next entry; 0: not checked
}

// Plan is the plan of the script.
func (c Entries) Plan(t testing.TB, id string) harness.Plan {
	t.Helper()
	scenario := harness.Scenario{Plot: &harness.Script{Events: c.Events, Until: c.Until}}
	p, err := Plan(id, c.Nodes, scenario, c.Params)
	if err != nil {
		t.Fatal(err)
	}
	if c.Shape.Kind != "" {
		p.Shape = c.Shape
	}
	p.Holder = c.Holder
	return p
}

// Run simulates the script and compares.
func (c Entries) Run(t testing.TB, id string) {
	t.Helper()
	o, err := Simulate(c.Plan(t, id))
	if err != nil {
		t.Fatal(err)
	}
	if o.Status != trace.OK {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
	var order []algo.ID
	var waiting []time.Duration
	for _, op := range o.Operations {
		order, waiting = append(order, algo.ID(op.Process)), append(waiting, op.End-op.Begin)
	}
	kinds := map[string]int64{}
	for _, k := range o.Kinds {
		if k.Sent > 0 {
			kinds[k.Name] = k.Sent
		}
	}
	each, sync := perRequest(&o)
	for _, got := range []struct {
		what      string
		got, want any
		ignore    bool
	}{
		{"order", order, c.Order, false},
		{"messages", kinds, c.Kinds, c.Kinds == nil},
		{"messages of each request", each, c.Each, c.Each == nil},
		{"waiting", waiting, c.Waiting, c.Waiting == nil},
		{"longest hand-over", sync, c.SyncMax, c.SyncMax == 0},
	} {
		if g, w := fmt.Sprint(got.got), fmt.Sprint(got.want); g != w && !got.ignore {
			t.Errorf("%s: %s, want %s", got.what, g, w)
		}
	}
}

// RunBeyond simulates the script, in which more happens than the algorithm survives, and wants that end.
func (c Entries) RunBeyond(t testing.TB, id, name string, want trace.Status) Outcome {
	t.Helper()
	p := c.Plan(t, id)
	p.InModel = false
	o := MustSimulate(t, p)
	if o.Status != want {
		t.Errorf("%s: %s: %s, want %s", name, o.Status, o.Reason, want)
	}
	return o
}

// RunTokenCrashes is of an algorithm in which whoever wants the token asks its holder itself. If the idle
// holder crashes the token is lost, also when it comes back. The crash of another hurts nobody, and
// when that one comes back its requests are heard, whether or not it was served before.
func RunTokenCrashes(t testing.TB, id string) {
	t.Helper()
	const ms = time.Millisecond
	for victim, want := range map[algo.ID]trace.Status{1: trace.TimedOut, 3: trace.OK} {
		for _, served := range []bool{false, true} {
			events := []harness.Event{
				Crash(30*ms, victim), Restart(31*ms, victim),
				At(40*ms, harness.DoRequest, 2), At(60*ms, harness.DoRequest, 3),
				At(80*ms, harness.DoRequest, 4),
			}
			if served {
				events = append(events, At(0, harness.DoRequest, 3), At(10*ms, harness.DoRequest, 1))
			}
			o := Entries{Nodes: 4, Holder: 1, Events: events}.RunBeyond(t, id,
				fmt.Sprintf("crash of %d, served before: %t", victim, served), want)
			if entries := len(events) - 2; want == trace.OK && o.Completed != entries {
				t.Errorf("crash of %d: %d entries, want %d", victim, o.Completed, entries)
			}
		}
	}
}

// perRequest counts the messages sent from each request to the next, and finds
// the longest hand-over from a release to an entry while somebody waited.
func perRequest(o *Outcome) (each []int64, longest time.Duration) {
	released, waiting := time.Duration(-1), 0
	for _, r := range o.Trace {
		switch {
		case r.Type == trace.Request:
			each = append(each, 0)
			waiting++
		case r.Type == trace.Send && r.Plane == trace.Data && len(each) > 0:
			each[len(each)-1]++
		case r.Type == trace.Released && waiting > 0:
			released = r.At
		case r.Type == trace.Granted:
			waiting--
			if released >= 0 {
				longest = max(longest, r.At-released)
			}
			released = -1
		}
	}
	return each, longest
}

// CountOutOfModel simulates random schedules, changed so that they are out of the
// algorithm's model, and counts how they ended.
func CountOutOfModel(t *testing.T, id string, change func(*harness.Plan)) map[trace.Status]int {
	t.Helper()
	count := map[trace.Status]int{}
	for seed := range Schedules() {
		p, err := Schedule(id, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.InModel = false
		change(&p)
		count[MustSimulate(t, p).Status]++
	}
	return count
}

// Everybody is 1..n.
func Everybody(n int) (out []algo.ID) {
	for p := algo.ID(1); p <= algo.ID(n); p++ {
		out = append(out, p)
	}
	return out
}
