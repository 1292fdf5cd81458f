package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestScenarios: each is declared in full, docs/explanation/model.md has its row, and an unknown one is
// refused.
func TestScenarios(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/explanation/model.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Scenarios() {
		problem := map[bool]string{true: "both", false: string(k.Problem)}[k.Problem == ""]
		row := fmt.Sprintf("| `%s` | %s | %s | `%s` |\n", k.Name, problem, k.Doc, k.Example)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/explanation/model.md, Scenarios: want the row\n%s", row)
		}
		if k.Name == "" || k.Doc == "" || ScenarioOf(k.Name) != k {
			t.Errorf("%s: %+v, want all that is declared of a scenario", k.Name, k)
		}
		if k.Plot.load() != nil && k.Problem != algo.MutualExclusion {
			t.Errorf("%s: a load of problem %q", k.Name, k.Problem)
		}
		for _, p := range k.Plot.Params() {
			if p.Doc == "" {
				t.Errorf("%s: nothing is said of %s", k.Name, p.Name)
			}
		}
	}
	var s Scenario
	if err := json.Unmarshal([]byte(`{"kind": "picnic"}`), &s); err == nil || err.Error() != `kind: "picnic" is unknown` {
		t.Errorf("an unknown scenario: %v", err)
	}
}

// upon is a scenario that waits for records of a type.
type upon struct {
	Calm
	cause trace.Type
}

func (u upon) Cause() []trace.Type { return []trace.Type{u.cause} }

// TestCauses: whatever the type of the records is that a scenario waits for, the coordinator is told
// of them, and the scenario ends once there is agreement behind one.
func TestCauses(t *testing.T) {
	t.Parallel()
	for cause := range trace.Types() {
		s := mustSetup(t, "election/test-puppet", 3, Scenario{Plot: upon{cause: cause}}, nil)
		d := NewCoordinator(s)
		all := len(s.Alg.Codec.Kinds())
		if !d.Watches(cause) || cause.IsMessage() && len(d.WatchedKinds()) != all {
			t.Errorf("%v: watches it: %v, of kinds %v, want all %d", cause, d.Watches(cause), d.WatchedKinds(), all)
		}
		agree := func() bool {
			for p := range uint32(3) {
				d.Observe(&trace.Record{Type: trace.Elected, Process: p + 1, Peer: 3})
			}
			return slices.ContainsFunc(d.Quiet(0, 0, false), func(i Instruction) bool { return i.Finish() })
		}
		if cause != trace.Elected && agree() {
			t.Errorf("%v: it ends before there is one", cause)
		}
		if cause == trace.Up {
			d.Observe(&trace.Record{Type: cause, Process: 1})
			if agree() {
				t.Errorf("%v: the first one of a process counts", cause)
			}
		}
		if cause == trace.Done {
			d.Done(1)
		} else {
			d.Observe(&trace.Record{Type: cause, Process: 1, Peer: 3, Incarnation: 1})
		}
		if !agree() {
			t.Errorf("%v: it does not end behind one", cause)
		}
	}
}
