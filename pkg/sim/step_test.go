package sim_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestSimulation: in whatever steps a trial is led to its end, and whoever looks at it
// between them, its records and its end are those of Run; and what is pending first is
// what happens next.
func TestSimulation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, err := anyPlan(t).Setup()
		if err != nil {
			t.Fatal(err)
		}
		var want, got trace.List
		wantEnd := runSetup(s, &want)
		m := sim.New(s, &got)
		for range rapid.IntRange(0, 60).Draw(t, "moves") {
			for p := range algo.ID(s.Nodes) {
				if state := m.Process(p + 1); state.Up != (state.Algorithm != nil) {
					t.Fatalf("p%d: %+v", p+1, state)
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "far") == 0 {
				at := m.Now() + time.Duration(rapid.IntRange(0, 20).Draw(t, "for"))*ms
				if m.RunUntil(at); !m.Done() && m.Now() != at {
					t.Fatalf("it stands at %v, want %v", m.Now(), at)
				}
				continue
			}
			pending := m.Pending()
			e, ok := m.Step()
			e.Waits = false // until its process has a processor
			switch {
			case ok && (len(pending) == 0 || pending[0].String() != e.String() || m.Now() != e.At):
				t.Fatalf("%v happens, pending were %v; now it is %v", e, pending, m.Now())
			case !ok && !m.Done():
				t.Fatalf("done is %v after a step that is %v", m.Done(), ok)
			}
		}
		end := m.Run()
		if !m.Done() || m.End().Events != end.Events {
			t.Fatalf("after Run: done is %v, %+v", m.Done(), m.End())
		}
		if hash(got) != hash(want) || end.At != wantEnd.At || end.Reason != wantEnd.Reason ||
			end.Events != wantEnd.Events || end.Pending != wantEnd.Pending || end.Skipped != wantEnd.Skipped {
			t.Fatalf("in steps: %+v, %d records; at once: %+v, %d records", end, len(got), wantEnd, len(want))
		}
		if e, ok := m.Step(); ok {
			t.Fatalf("%v happens after the end", e)
		}
	})
}

// TestSimulation_Looks: what a process that is paused has to wait for is pending; a
// message that is lost, and one to the dead, say so.
func TestSimulation_Looks(t *testing.T) {
	t.Parallel()
	p := plan("election/test-actor", 2, harness.Scenario{Plot: &harness.Script{Events: append(elects(1, 3),
		harness.Event{At: ms, Do: harness.DoPause, Node: 2, For: 4 * ms},
		harness.Event{At: 6 * ms, Do: harness.DoCut, Groups: [][]uint32{{1}, {2}}},
		harness.Event{At: 8 * ms, Do: harness.DoCrash, Node: 2})}}, role(sender))
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	m := sim.New(s, trace.SinkFunc(func(*trace.Record) {}))
	pending := func() (out []string) {
		for _, e := range m.Pending() {
			out = append(out, e.String())
		}
		return out
	}
	m.RunUntil(3 * ms)
	same(t, "pending at 3ms", pending(), []string{"3ms p2: NOTE from p1, waits",
		"4ms p2: NOTE from p1", "5ms p2: resume", "6ms cut 1|2", "8ms alarm",
		"8ms p2: crash"})
	if e, ok := m.Step(); !ok || e.String() != "4ms p2: NOTE from p1, waits" {
		t.Errorf("at 4ms: %v, %v", e, ok)
	}
	if state := m.Process(2); !state.Up || !state.Paused || state.Leader != algo.None {
		t.Errorf("p2 is paused: %+v", state)
	}
	m.RunUntil(8 * ms)
	if state := m.Process(2); state.Up || state.Paused || state.Incarnation != 1 || state.Variables != nil {
		t.Errorf("p2 is down: %+v", state)
	}
}

// TestSimulation_LooksAtCuts: a message is lost whose link was cut at any instant between its sending
// and its arrival, also if it is whole again by then.
func TestSimulation_LooksAtCuts(t *testing.T) {
	t.Parallel()
	p := plan("election/test-actor", 2, harness.Scenario{Plot: &harness.Script{Events: append(elects(1, 3),
		harness.Event{At: 3*ms + ms/5, Do: harness.DoCut, Groups: [][]uint32{{1}, {2}}, For: ms / 5})}}, role(sender))
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	m := sim.New(s, trace.SinkFunc(func(*trace.Record) {}))
	m.RunUntil(3*ms + ms/2)
	var got []string
	for _, e := range m.Pending() {
		got = append(got, e.String())
	}
	same(t, "pending after the cut", got, []string{"4ms p2: NOTE from p1, lost"})
}

// TestSimulation_Broken: what a plugin breaks ends the trial at the step that does.
func TestSimulation_Broken(t *testing.T) {
	t.Parallel()
	p := plan("election/test-actor", 2, harness.Scenario{Plot: &harness.Script{Events: elects(1, 2)}},
		role(func(_ *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
			if what == "elect" && env.Now() == 2*ms {
				panic("enough")
			}
		}))
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	m := sim.New(s, trace.SinkFunc(func(*trace.Record) {}))
	var last sim.Event
	for !m.Done() {
		last, _ = m.Step()
	}
	if end := m.End(); end.Reason != harness.Broken || last.String() != "2ms p1: elect" ||
		!strings.Contains(end.Err.Error(), "process 1: panic: enough") {
		t.Errorf("after %v: %+v", last, end)
	}
}
