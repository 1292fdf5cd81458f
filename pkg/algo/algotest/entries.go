package algotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Together is a script in which these processes request at the same instant.
func Together(requesters ...algo.ID) []harness.Event {
	return Each(harness.DoRequest, requesters...)
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
	p := MustPlan(t, id, c.Nodes, scenario, c.Params)
	if c.Shape.Kind != "" {
		p.Shape = c.Shape
	}
	p.Holder = c.Holder
	return p
}

// Run simulates the script and compares.
func (c Entries) Run(t testing.TB, id string) {
	t.Helper()
	p := c.Plan(t, id)
	order := harness.Expect{Name: "cs_order", List: []int64{}}
	for _, e := range c.Order {
		order.List = append(order.List, int64(e))
	}
	p.Scenario.Expect = []harness.Expect{order}
	if c.Kinds != nil {
		p.Scenario.Expect = append(p.Scenario.Expect, sent(c.Kinds)...)
	}
	if c.Each != nil {
		p.Scenario.Expect = append(p.Scenario.Expect, harness.Expect{Name: "sent_per_request", List: c.Each})
	}
	if c.SyncMax > 0 {
		p.Scenario.Expect = append(p.Scenario.Expect, harness.Exactly("sync_delay_max", c.SyncMax))
	}
	o := MustSimulate(t, p)
	if o.Status != trace.OK {
		t.Errorf("%s: %s", o.Status, strings.Join(append(o.Violations, o.Reason), "; "))
	}
	var waiting []time.Duration
	for _, op := range o.Operations {
		waiting = append(waiting, op.End-op.Begin)
	}
	if c.Waiting != nil && !slices.Equal(waiting, c.Waiting) {
		t.Errorf("waiting: %v, want %v", waiting, c.Waiting)
	}
}

// sent expects so many messages of each kind, and no others.
func sent(kinds map[string]int64) []harness.Expect {
	all := int64(0)
	for _, n := range kinds {
		all += n
	}
	return []harness.Expect{harness.Exactly("sent", all), harness.Each("sent_by_kind", kinds)}
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

// RunTokenCrashes is of an algorithm in which a process that wants the token asks its holder itself. If
// the idle holder crashes the token is lost, also when it comes back. The crash of another harms none,
// and when that one comes back its requests are heard, whether or not it was served before.
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
