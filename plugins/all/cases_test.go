package all

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// references is every case of the repository.
func references(t *testing.T) (list []algotest.Reference) {
	t.Helper()
	for _, a := range algo.All() {
		own, err := algotest.ReferenceCases(a.ID)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, own...)
	}
	return list
}

// own are the expectations that take a look into the processes, or know what the
// algorithm's messages mean: the algorithm's own tests check them.
var own = map[string][]string{
	"election/itai-rodeh":   {"mean_sent"},
	"mutex/naimi-trehel":    {"LAST_at_end", "NEXT1_while_in_cs", "NEXT_at_end", "token_at_end"},
	"mutex/naimi-trehel-ft": {"tokens", "tokens_regenerated"},
	"mutex/raynal-original": {"messages_of_farthest", "polls", "polls_of_farthest", "polls_per_node"},
}

// TestReferences_AreAllThere: no case of the list is lost or renamed.
func TestReferences_AreAllThere(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range references(t) {
		got = append(got, c.Algorithm+" "+c.ID+" "+c.Form)
		if c.Formula == "" || c.Basis == "" {
			t.Errorf("%s: no formula or basis", c.ID)
		}
	}
	slices.Sort(got)
	listed := strings.Split(strings.TrimSpace(string(want)), "\n")
	slices.Sort(listed)
	if !slices.Equal(got, listed) {
		t.Errorf("%d cases, want the %d of testdata/cases.txt", len(got), len(listed))
	}
}

// TestReferences: as the kit runs the cases of the repository, none of their expectations
// is passed over but those that only the algorithm's own tests can check. By day those
// tests alone run the cases, with all of their expectations.
func TestReferences(t *testing.T) {
	t.Parallel()
	if !nightly {
		t.Skip("the algorithms' own tests run every case")
	}
	list := references(t)
	for i := range list {
		c := &list[i]
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			unchecked, err := c.Run()
			if err != nil {
				t.Error(err)
			}
			for _, name := range unchecked {
				if !slices.Contains(own[c.Algorithm], name) {
					t.Errorf("nothing checks %s", name)
				}
			}
		})
	}
}

// TestReferences_AreRunByThePlugins: an algorithm with cases hands them to Cases, with
// the checks of its own, since Cases fails where an expectation has no check.
func TestReferences_AreRunByThePlugins(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		list, err := algotest.ReferenceCases(a.ID)
		if err != nil || len(list) == 0 {
			continue
		}
		if text, id := testsOf(t, a); !strings.Contains(text, "algotest.Cases(t, "+id) {
			t.Errorf("%s has %d cases: its tests call algotest.Cases(t, id)", a.ID, len(list))
		}
	}
}

// TestReferences_NoticeEveryChange: whatever a case expects, it would fail if the
// outcome were another. A negative one fails if what it expects always comes.
func TestReferences_NoticeEveryChange(t *testing.T) {
	slowtest.Skip(t, "changes each reference case")
	t.Parallel()
	for _, c := range references(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if err := c.Load(); err != nil {
				t.Fatal(err)
			}
			e := c.Experiment
			if c.Form == "statistical" {
				e.Repetitions = 2 // enough to be another number
			}
			var names []string
			for i := range e.Cells {
				s := &e.Cells[i].Plan.Scenario
				names = nil
				for j := range s.Expect {
					s.Expect[j] = other(s.Expect[j], c.Negative)
					names = append(names, s.Expect[j].Name)
				}
			}
			_, err := c.Run()
			if err == nil {
				t.Fatal("nothing is noticed")
			}
			if c.Negative {
				names = []string{"the case is negative"}
			}
			for _, name := range names {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%s is noticed as %v", name, err)
				}
			}
		})
	}
}

// other expects something else, or whatever comes.
func other(e harness.Expect, whatever bool) harness.Expect {
	e.Want = slices.Clone(e.Want)
	for i := range e.Want {
		r := &e.Want[i]
		switch {
		case whatever:
			r.Min, r.Max = nil, nil
		case r.Max == nil:
			r.Max, r.Min = r.Min, nil
			*r.Max--
		default:
			x := *r.Max + 1e6
			r.Min, r.Max = &x, nil
		}
	}
	if e.Want == nil {
		e.List = []int64{99}
	}
	return e
}
