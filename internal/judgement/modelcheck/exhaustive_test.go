package modelcheck_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/conform"
	"github.com/conclave-bench/conclave/internal/judgement/modelcheck"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

var rewrite = flag.Bool("rewrite", false, "write the expected tables anew; read the difference first")

// endless is why a walk cannot come to an end, however long. Others that stop at
// their bound are merely large.
var endless = map[string]string{
	"election/invitation":   "a leader that was not told of the crash invites for ever",
	"election/lease":        "the lease is renewed for ever, and its versions are counted",
	"election/lease-cas":    "the lease is renewed for ever, and its revisions are counted",
	"mutex/raynal-modified": "the turn goes round for ever, and its laps are counted",
}

// further are scopes that show more of an algorithm than those of all. Those with more States than a
// test has time for are walked through at night.
var further = map[string][]modelcheck.Scope{
	"mutex/raynal-modified": {
		{Nodes: 2, Requests: []int{2, 2}, Params: map[string]any{"park": true}},
		{Nodes: 3, Requests: []int{1, 1, 1}, Params: map[string]any{"park": true}},
	},
	"mutex/naimi-trehel-ft": {{Nodes: 2, Requests: []int{1, 1}, Timeouts: 8}},
	"election/raft": {
		{Nodes: 2, Initiators: []algo.ID{1, 2}, Timeouts: 1, Params: map[string]any{"pre_vote": true}},
		{Nodes: 3, Initiators: []algo.ID{1}, Timeouts: 1, States: 50_000},
	},
	"election/ble": {
		{Nodes: 3, Initiators: []algo.ID{1}, Timeouts: 1, States: 300_000},
		{Nodes: 3, Initiators: []algo.ID{1, 2}, Timeouts: 1, States: 600_000},
	},
	"election/lease": {
		{Nodes: 2, Initiators: []algo.ID{1, 2}, Timeouts: 8},
		{Nodes: 3, Initiators: []algo.ID{1, 2}, Timeouts: 8},
		{Nodes: 3, Initiators: []algo.ID{1, 2}, Leader: 3, Crashed: []algo.ID{3}, Timeouts: 20},
		{Nodes: 3, Initiators: []algo.ID{1, 2}, Timeouts: 6, Params: map[string]any{"rule": "ttl"}},
		{Nodes: 3, Initiators: []algo.ID{1, 2}, Leader: 3, Crashed: []algo.ID{3}, Timeouts: 20,
			Params: map[string]any{"rule": "ttl"}},
	},
	"election/lease-cas": {
		{Nodes: 2, Initiators: []algo.ID{1, 2}, Timeouts: 8},
		{Nodes: 3, Initiators: []algo.ID{1, 2}, Timeouts: 8},
		{Nodes: 3, Initiators: []algo.ID{1, 2, 3}, Timeouts: 6},
		{Nodes: 3, Initiators: []algo.ID{1, 2}, Leader: 3, Crashed: []algo.ID{3}, Timeouts: 20},
	},
	"election/viewstamped-replication": {{Nodes: 2, Initiators: []algo.ID{1, 2}, Timeouts: 1}},
}

// TestExhaustive walks through every scope of every algorithm and compares how
// many states, ends and schedules there are, so that a change of what an
// algorithm does shows. -rewrite writes the table anew.
func TestExhaustive(t *testing.T) {
	t.Parallel()
	const few = 2000
	file, states := "exhaustive.txt", 5000
	nightly := slowtest.Night()
	if nightly {
		file, states = "exhaustive-nightly.txt", 50_000
	}
	table := new(strings.Builder)
	fmt.Fprintf(table, "%-33s %-55s %6s %7s %5s %5s %6s %6s  %s\n", "algorithm", "scope",
		"states", "steps", "depth", "ends", "cut", "served", "schedules, or why not all")
	for _, a := range algo.All() {
		if strings.HasPrefix(a.Spec.Name, "test-") {
			continue // broken on purpose
		}
		scopes, err := modelcheck.Scopes(a.ID)
		if err != nil {
			t.Fatal(err)
		}
		whole := false
		for _, scope := range append(scopes, further[a.ID]...) {
			if scope.States > states && !nightly {
				continue
			}
			scope.States = max(scope.States, states)
			if endless[a.ID] != "" && scope.Params == nil { // ever deeper, which takes the square of the time
				scope.States = few
			}
			space, err := modelcheck.Exhaust(a.ID, scope)
			if err != nil {
				t.Fatal(err)
			}
			if space.Find != nil {
				t.Errorf("%s: %s: %v", a.ID, scope, space.Find)
			}
			whole = whole || space.Bound == ""
			fmt.Fprintln(table, row(a.ID, scope, space))
		}
		if !whole {
			t.Errorf("%s: no scope of it is walked through to the end", a.ID)
		}
	}
	compare(t, filepath.Join("testdata", file), table.String())
}

func row(id string, scope modelcheck.Scope, s modelcheck.Space) string {
	end := "for ever: there are circles"
	switch {
	case s.Bound != "":
		end = "at the bound: " + cmp.Or(endless[id], large(scope))
	case s.Schedules != nil:
		end = s.Schedules.String()
	}
	return fmt.Sprintf("%-33s %-55s %6d %7d %5d %5d %6d %6d  %s", id, scope,
		s.States, s.Steps, s.Depth, s.Terminal, s.Cut, s.Served, end)
}

// large is why there are too many states.
func large(scope modelcheck.Scope) string {
	if scope.Timeouts > 0 {
		return "timers compete with the messages at every point"
	}
	return "too many orders of the messages in flight"
}

// compare holds got against a golden file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, now := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range min(len(before), len(now)) {
		if now[i] != before[i] {
			t.Fatalf("%s: line %d is now\n%s\nand was\n%s\nif that is meant: "+
				"go test ./internal/judgement/modelcheck -run TestExhaustive -rewrite", file, i+1, now[i], before[i])
		}
	}
	if len(before) != len(now) {
		t.Errorf("%s has %d lines, want %d", file, len(before), len(now))
	}
}

// lines is the find as lines, its schedule numbered from 1.
func lines(f *modelcheck.Find) string {
	if f == nil {
		return "none"
	}
	out := []string{f.Broken}
	for i, s := range f.Schedule {
		out = append(out, fmt.Sprintf("%d %v", i+1, s))
	}
	return strings.Join(out, "\n")
}

// TestExhaust_Finds: whatever is broken is found, by the shortest way to it.
func TestExhaust_Finds(t *testing.T) {
	t.Parallel()
	one, two, three := []int{2}, []int{1, 1}, []int{1, 1, 1}
	for id, test := range map[string]struct {
		requests []int
		want     string
	}{
		"mutex/test-no-tie-break": {two, `p2 granted while p1 is inside
1 p1 requests
2 p2 requests
3 p1 receives ASK{Clock:1} from p2
4 p2 receives ASK{Clock:1} from p1
5 p1 receives YES{} from p2, enters
6 p2 receives YES{} from p1, enters`},
		"mutex/test-forgets": {two, `the system is quiescent, but p2 has not completed its entries
1 p1 requests, enters
2 p2 requests
3 p1 receives REQUEST{K:2} from p2
4 p1 releases`},
		"mutex/test-stack": {three, `p1 granted before p3, whose request happened before
1 p2 requests
2 p1 receives ASK{Clock:0} from p2
3 p2 receives YES{} from p1, enters
4 p2 releases
5 p3 requests
6 p1 receives ASK{Clock:0} from p3
7 p1 requests
8 p1 receives DONE{} from p2, enters`},
		"mutex/test-distracted": {[]int{0, 1}, `no schedule from here completes: p2 has not completed its entries
1 p2 requests
2 p2 receives ASK{Clock:0} from p1`},
		"mutex/test-defect-none":  {one, "none"},
		"mutex/test-defect-twice": {one, "p1 granted without a request\n1 p1 requests, enters, enters"},
		"mutex/test-defect-panic": {one, `p1 panics: runtime error: index out of range [2] with length 1
1 p1 requests, enters
2 p1 releases
3 p1 requests, enters
4 p1 releases`},
		"mutex/test-defect-invariant": {one, `p1: invariant: count is 2
1 p1 requests, enters
2 p1 releases
3 p1 requests, enters`},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			scope := modelcheck.Scope{Nodes: len(test.requests), Requests: test.requests}
			space, err := modelcheck.Exhaust(id, scope)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(space.Find); got != test.want {
				t.Errorf("found\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestExhaust_Elections: which leaders there may be is what is promised.
func TestExhaust_Elections(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"term": "p2 leads term 2, which p1 led\n1 p1 starts an election, names p1\n" +
			"2 p2 starts an election, names p2",
		"one": "p2 and p1 both lead\n1 p1 starts an election, names p1\n" +
			"2 p2 starts an election, names p2",
		"eventual": "the system is quiescent, but p2 names p2, another p1\n" +
			"1 p1 starts an election, names p1\n2 p2 starts an election, names p2",
	} {
		space, err := modelcheck.Exhaust("election/test-everybody-leads-"+name,
			modelcheck.Scope{Nodes: 2, Initiators: []algo.ID{1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(space.Find); got != want {
			t.Errorf("%s: found\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestExhaust_Highest: the highest that is up leads in the end, where that is promised.
func TestExhaust_Highest(t *testing.T) {
	t.Parallel()
	for crashed, want := range map[algo.ID]string{
		algo.None: "the system is quiescent, but p2 is up, and above the leader\n" +
			"1 p1 starts an election, names p1\n2 p2 receives DONE{} from p1, names p1",
		2: "none",
	} {
		scope := modelcheck.Scope{Nodes: 2, Initiators: []algo.ID{1}}
		if crashed != algo.None {
			scope.Crashed = []algo.ID{crashed}
		}
		space, err := modelcheck.Exhaust("election/test-lowest-leads", scope)
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(space.Find); got != want {
			t.Errorf("crashed %d: found\n%s\nwant\n%s", crashed, got, want)
		}
	}
}

// TestExhaust_NotPromised: what our algorithms do not promise is not so, and it
// takes so many events to see it. In naimi-trehel and in ricart-agrawala a request
// can be granted before one that happened before; lamport needs links in order.
func TestExhaust_NotPromised(t *testing.T) {
	t.Parallel()
	for id, test := range map[string]struct {
		requests []int
		broken   string
		events   int
	}{
		"mutex/test-promising-naimi-trehel":    {[]int{1, 1, 2}, "whose request happened before", 9},
		"mutex/test-promising-ricart-agrawala": {[]int{2, 1}, "whose request happened before", 8},
		"mutex/test-promising-lamport":         {[]int{1, 2}, "granted while", 4},
	} {
		space, err := modelcheck.Exhaust(id, modelcheck.Scope{Nodes: len(test.requests), Requests: test.requests})
		if err != nil {
			t.Fatal(err)
		}
		got := lines(space.Find)
		if f := space.Find; f == nil || !strings.Contains(f.Broken, test.broken) ||
			len(f.Schedule) != test.events {
			t.Errorf("%s: found %s\nwant %q after %d events", id, got, test.broken, test.events)
		}
	}
}

// TestExhaust_Refused: a scope that makes no sense is an error, and so is a state
// that cannot be compared.
func TestExhaust_Refused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id    string
		scope modelcheck.Scope
		want  string
	}{
		"unknown algorithm": {"mutex/nobody", modelcheck.Scope{Nodes: 2, Requests: []int{1}},
			`unknown algorithm "mutex/nobody"`},
		"unknown parameter": {"mutex/central", modelcheck.Scope{
			Nodes: 2, Requests: []int{1}, Params: map[string]any{"coordinator": "one"},
		}, "parameter coordinator"},
		"nobody": {"mutex/central", modelcheck.Scope{Requests: []int{1}}, "1 to 8 processes"},
		"too many requesters": {"mutex/central", modelcheck.Scope{Nodes: 1, Requests: []int{1, 1}},
			"of these alone"},
		"requests of an election": {"election/bully", modelcheck.Scope{Nodes: 2, Requests: []int{1}},
			"requests are for mutual exclusion"},
		"nothing to do": {"mutex/central", modelcheck.Scope{Nodes: 2}, "requests are for mutual exclusion"},
		"a function in its state": {"mutex/test-defect-function",
			modelcheck.Scope{Nodes: 1, Requests: []int{1}}, "a func() cannot be compared"},
	} {
		_, err := modelcheck.Exhaust(test.id, test.scope)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}

// TestRequestOrder: the kit catches who promises the order of requests and does not
// keep it, in random schedules and in all of a small world.
func TestRequestOrder(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"mutex/test-stack", "mutex/test-promising-ricart-agrawala"} {
		var broken []string
		err := conform.Verify(id, conform.Options{Schedules: 300, Progress: func(r conform.Rule, err error) {
			if err != nil {
				broken = append(broken, r.Name)
			}
		}})
		if got := fmt.Sprint(broken); got != "[Safety Exhaustive]" {
			t.Errorf("%s: %s broken, want Safety and Exhaustive: %v", id, got, err)
		}
		if n := strings.Count(fmt.Sprint(err), "happened before"); n < 2 {
			t.Errorf("%s: the order of requests is named %d times: %v", id, n, err)
		}
	}
}
