package prove

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// TestScript: what is found beyond the model of an algorithm becomes a script, from which the experiment
// that is read breaks the same promise, and from which no line can be left out.
func TestScript(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id     string
		budget prove.Budget
		broken string // by the search
		rule   string // by the trial
	}{
		{"mutex/naimi-trehel", prove.Budget{Losses: 1}, "p1 has not completed", "deadlock"},
		{"mutex/central", prove.Budget{Crashes: 1}, "p2 has not completed", "deadlock"},
		{"mutex/lodha-kshemkalyani", prove.Budget{Copies: 1}, "p3 granted while p1 is inside", "mutual-exclusion"},
		{"mutex/lamport", prove.Budget{Overtakes: 1}, "p2 granted while p1 is inside", "mutual-exclusion"},
		{"mutex/lamport", prove.Budget{Cuts: 1}, "p2 granted while p1 is inside", "mutual-exclusion"},
		{"mutex/agrawal-el-abbadi", prove.Budget{Suspicions: 1}, "p2 granted while p1 is inside",
			"mutual-exclusion"},
		{"mutex/chandy-misra", prove.Budget{Losses: 1}, "p1 has not completed", "deadlock"},
		{"mutex/chandy-misra", prove.Budget{Copies: 1}, "p2 granted without a request", "mutual-exclusion"},
		{"election/lelann", prove.Budget{Overtakes: 1}, "p2 and p1 both lead", "leadership"},
		{"election/bully", prove.Budget{Losses: 1}, "p3 names p3, another p2", "agreement"},
	} {
		q, f := find(t, test.id, test.budget)
		if f == nil || !strings.Contains(f.Broken, test.broken) {
			t.Errorf("%s %+v: found %v, want %q", test.id, test.budget, f, test.broken)
			continue
		}
		check(t, q, test.id, f, test.rule)
	}
}

func find(t *testing.T, id string, b prove.Budget) (*prove.System, *prove.Find) {
	t.Helper()
	requests, timeouts, err := prove.Defaults(id)
	if err != nil {
		t.Fatal(err)
	}
	q := &prove.System{Nodes: 3, Requests: requests, Budget: b, Canonical: true}
	q.Timeouts = timeouts
	s, err := prove.Search(context.Background(), id, *q, prove.Limits{Workers: 1, States: 300_000})
	if err != nil {
		t.Fatal(err)
	}
	return q, s.Find
}

// check makes the script, and reads it as an experiment.
func check(t *testing.T, q *prove.System, id string, f *prove.Find, rule string) {
	t.Helper()
	alg, err := algo.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	beyond, err := q.Beyond(id)
	if err != nil || len(beyond) != 1 {
		t.Errorf("%s: beyond its model: %q, %v", id, beyond, err)
	}
	made, err := script(context.Background(), alg, q, f, beyond)
	if err != nil {
		t.Errorf("%s %+v: %v: %v", id, q.Budget, err, f)
		return
	}
	if made.Rule != rule || made.InModel || fmt.Sprint(made.OutOfModel) == "[]" {
		t.Errorf("%s %+v: broken is %s (%s), want %s; in model: %v", id, q.Budget, made.Rule, made.Text, rule,
			made.InModel)
	}
	if left, err := made.Removable(context.Background()); err != nil || len(left) > 0 {
		t.Errorf("%s %+v: lines %d can be left out, %v", id, q.Budget, left, err)
	}
	text, err := made.File()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "found.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := made.Reproduces(path); err != nil {
		t.Errorf("%s %+v: %v\n%s", id, q.Budget, err, text)
	}
}

// speechless are the finds that have no script: a token that rests for a nanosecond would have to rest longer.
var speechless = map[string]bool{"mutex/token-ring": true, "mutex/raynal-modified": true}

// wordless are the finds of those algorithms that no script reproduces, and why.
var wordless = map[string]prove.Budget{
	// Its shortest find lets a time-out of no length expire after a message has come.
	"election/time-slice": {Losses: 1},
	// A process sends another two messages at one instant, which a script cannot tell apart.
	"election/gallager-humblet-spira": {Copies: 1},
	// The holder stays longer than the time-outs allow for; those of a trial grow with its stays.
	"mutex/naimi-trehel-ft": {Cuts: 1},
}

// TestScript_All tries every kind of fault on every algorithm: all that is found has a script, with the
// exceptions above.
func TestScript_All(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "searches all algorithms five times")
	found := 0
	for _, b := range []prove.Budget{{Losses: 1}, {Crashes: 1}, {Copies: 1}, {Overtakes: 1}, {Suspicions: 1},
		{Cuts: 1}} {
		for _, a := range algo.All() {
			if speechless[a.ID] {
				continue
			}
			q, f := find(t, a.ID, b)
			if f == nil {
				continue
			}
			found++
			beyond, err := q.Beyond(a.ID)
			if err != nil || len(beyond) == 0 {
				t.Errorf("%s %+v: %v, %v, which is within the model", a.ID, b, f, err)
			}
			made, err := script(context.Background(), a, q, f, beyond)
			if without := wordless[a.ID] == b; (made == nil) != without {
				t.Errorf("%s %+v: script %v, %v, want none: %v: %v", a.ID, b, made, err, without, f)
			}
		}
	}
	if found < 60 {
		t.Errorf("%d finds, want 60 at least", found)
	}
}
