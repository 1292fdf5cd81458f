package all

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestRetrace: fed again what reached it in random schedules, with what fails that
// it survives, every algorithm asks for the same again.
func TestRetrace(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		if strings.Contains(a.ID, "/test-") {
			continue
		}
		t.Run(a.Spec.Name, func(t *testing.T) {
			t.Parallel()
			fed := 0
			for seed := range uint64(12) {
				p, err := algotest.Schedule(a.ID, seed, nil)
				if err != nil {
					t.Fatal(err)
				}
				events, differences := retraced(t, p, nil)
				fed += events
				for _, text := range differences {
					t.Errorf("schedule %d: %s", seed, text)
				}
			}
			if fed < 100 {
				t.Errorf("%d events: too little happened", fed)
			}
		})
	}
}

// retraced simulates p and walks through its records, which change may change.
func retraced(t *testing.T, p harness.Plan, change func(trace.List) trace.List) (int, []string) {
	t.Helper()
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	s.Virtual = true
	var records trace.List
	sim.Run(s, &records)
	if change != nil {
		records = change(records)
	}
	return harness.Retrace(s, records)
}

// TestRetrace_Differences: records that no run of the algorithm can have are told.
func TestRetrace_Differences(t *testing.T) {
	t.Parallel()
	p := algotest.MustPlan(t, "election/raft", 3, harness.Scenario{Plot: &harness.LeaderCrash{Elections: 5}}, nil)
	find := func(l trace.List, is trace.Type, skip int) int {
		for i := range l {
			if l[i].Type == is && l[i].Plane == trace.Data {
				if skip--; skip < 0 {
					return i
				}
			}
		}
		t.Fatalf("no %v in %d records", is, len(l))
		return 0
	}
	without := func(l trace.List, i int) trace.List { return append(l[:i:i], l[i+1:]...) }
	for name, test := range map[string]struct {
		change func(trace.List) trace.List
		says   string
	}{
		"another kind": {func(l trace.List) trace.List {
			l[find(l, trace.Send, 2)].Kind ^= 1
			return l
		}, "the records have that it sends"},
		"another receiver": {func(l trace.List) trace.List {
			r := &l[find(l, trace.Send, 0)]
			r.Peer = 6 - r.Peer - r.Process
			return l
		}, "the records have that it sends"},
		"other content": {func(l trace.List) trace.List {
			l[find(l, trace.Send, 1)].Bytes++
			return l
		}, "bytes in the records and"},
		"a message is missing": {func(l trace.List) trace.List {
			return without(l, find(l, trace.Send, 1))
		}, "which no process sent"},
		"a message too few": {func(l trace.List) trace.List {
			return without(l, find(l, trace.Send, 2))
		}, "the algorithm sends"},
		"a message is made up": {func(l trace.List) trace.List {
			l[find(l, trace.Deliver, 0)].Seq += 1000
			return l
		}, "which no process sent"},
		"a delivery is missing": {func(l trace.List) trace.List {
			return without(l, find(l, trace.Deliver, 0))
		}, "the records have that it"},
		"a timer is missing": {func(l trace.List) trace.List {
			return without(l, find(l, trace.Timeout, 0))
		}, "the algorithm asks for nothing more"},
		"a timer is early": {func(l trace.List) trace.List {
			l[find(l, trace.Timeout, 0)].At -= 1
			return l
		}, "fires before it is due"},
		"an unknown timer": {func(l trace.List) trace.List {
			l[find(l, trace.Timeout, 0)].Text = "lunch"
			return l
		}, "timer lunch fires, which the algorithm has not set"},
		"another leader": {func(l trace.List) trace.List {
			r := &l[find(l, trace.Elected, 3)]
			r.Peer = r.Peer%3 + 1
			return l
		}, "and the algorithm names"},
		"another term": {func(l trace.List) trace.List {
			l[find(l, trace.Elected, 3)].Arg++
			return l
		}, "and the algorithm names"},
		"a timer that was cancelled": {func(l trace.List) trace.List {
			i := find(l, trace.Elected, 0)
			for l[i].Process != l[i].Peer { // until somebody leads, and waits to be elected no more
				i++
			}
			fired := l[i]
			fired.Type, fired.Text = trace.Timeout, "election"
			return slices.Insert(l, i+1, fired)
		}, "timer election fires, which the algorithm has not set"},
		"an event behind the crash": {func(l trace.List) trace.List {
			i := find(l, trace.Crash, 0)
			late := l[i]
			late.Type = trace.Elect
			return slices.Insert(l, i+1, late)
		}, "elect reaches it while it is down"},
		"the dead speak": {func(l trace.List) trace.List {
			i := find(l, trace.Timeout, 0)
			for l[i].Type != trace.Send {
				i++
			}
			return slices.Insert(l, i, trace.Record{At: l[i].At, Type: trace.Crash, Process: l[i].Process})
		}, "the records have that it sends APPEND_ENTRIES to p1, and the algorithm asks for nothing more"},
		"wherever one looks": {func(l trace.List) trace.List {
			for i := range l {
				l[i].Bytes++
			}
			return l
		}, " more"},
		"another vote is saved": {func(l trace.List) trace.List {
			r := &l[find(l, trace.Save, 0)]
			r.Text += "\x01"
			return l
		}, "and the algorithm saves its state"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, differences := retraced(t, p, test.change)
			if text := strings.Join(differences, "\n"); !strings.Contains(text, test.says) {
				t.Errorf("no %q in:\n%s", test.says, text)
			}
		})
	}
	dies := func(crash bool) []string {
		_, differences := retraced(t, p, func(l trace.List) trace.List {
			i := find(l, trace.Timeout, 0)
			for l[i].Type != trace.Send {
				i++
			}
			if l = l[:i+1]; crash {
				l = append(l, trace.Record{At: l[i].At, Type: trace.Crash, Process: l[i].Process})
			}
			return l
		})
		return differences
	}
	if got := dies(true); len(got) > 0 {
		t.Errorf("dead with half of its messages sent: %q", got)
	}
	if got := dies(false); len(got) == 0 {
		t.Error("alive, and half of its messages are missing: no difference")
	}
	if fed, differences := retraced(t, p, nil); fed < 20 || len(differences) > 0 {
		t.Errorf("unchanged: %d events, %q", fed, differences)
	}
}

// TestDetails: what the details of the records so far add up to is what the simulator's
// processes hold at that step, and what a message holds is what was delivered.
func TestDetails(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		if strings.Contains(a.ID, "/test-") {
			continue
		}
		t.Run(a.Spec.Name, func(t *testing.T) {
			t.Parallel()
			compared, contents := 0, 0
			for seed := range uint64(4) {
				p, err := algotest.Schedule(a.ID, seed, nil)
				if err != nil {
					t.Fatal(err)
				}
				s, n := detailed(t, p)
				compared, contents = compared+s, contents+n
			}
			if compared < 50 || contents < 50 && a.Spec.Name == "raft" {
				t.Errorf("%d states and %d messages compared: too little happened", compared, contents)
			}
		})
	}
}

// detailed compares the details of a trial with the simulator, step by step, and says how
// many states and messages that were.
func detailed(t *testing.T, p harness.Plan) (states, contents int) {
	t.Helper()
	setup := func() *harness.Setup {
		s, err := p.Setup()
		if err != nil {
			t.Fatal(err)
		}
		s.Virtual = true
		return s
	}
	var records trace.List
	sim.Run(setup(), &records)
	found := harness.Details(setup(), records, new(algo.Buffer))
	if len(found.Differences) > 0 {
		t.Fatal(found.Differences)
	}
	told := make([][]harness.Variable, p.Nodes+1)
	var again trace.List
	m := sim.New(setup(), &again)
	for i, more := 0, true; more; {
		var e sim.Event
		for ; i < len(again); i++ {
			r, d := &again[i], &found.Details[i]
			if r.Type == trace.Up {
				told[r.Process] = nil
			}
			for _, c := range d.Changes {
				k := slices.IndexFunc(told[r.Process], func(v harness.Variable) bool { return v.Name == c.Name })
				switch {
				case k < 0:
					told[r.Process] = append(told[r.Process], harness.Variable{Name: c.Name, Value: c.After})
				case told[r.Process][k].Value != c.Before:
					t.Fatalf("event %d changes %s from %s, which was %s", i+1, c.Name, c.Before,
						told[r.Process][k].Value)
				default:
					told[r.Process][k].Value = c.After
				}
			}
		}
		for id := algo.ID(1); int(id) <= p.Nodes; id++ {
			is := m.Process(id)
			if is.Up && !slices.Equal(is.Variables, told[id]) {
				t.Fatalf("after event %d, at %v, p%d:\n got %v\nwant %v", i, m.Now(), id, told[id], is.Variables)
			}
			states++
		}
		if e, more = m.Step(); e.Message != nil && i < len(again) && again[i].Type == trace.Deliver {
			want := fmt.Sprintf("%+v", e.Message)
			if got := found.Details[i].Message; got != strings.TrimPrefix(want, "{}") {
				t.Fatalf("event %d delivers %s, and the detail is %s", i+1, want, got)
			} else if got != "" {
				contents++
			}
		}
	}
	return states, contents
}
