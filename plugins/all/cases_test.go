package all

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
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
	"mutex/naimi-trehel":    {"LAST_at_end", "NEXT1_while_in_cs", "NEXT_at_end", "token_at_end"},
	"mutex/naimi-trehel-ft": {"tokens", "tokens_regenerated"},
	"mutex/raynal-original": {"messages_of_farthest", "polls", "polls_of_farthest", "polls_per_node"},
}

// TestReferences: each case of the repository is run, and none of its expectations is
// passed over but those that its algorithm's tests check, which run it as well.
func TestReferences(t *testing.T) {
	t.Parallel()
	list := references(t)
	forms := map[string]int{}
	for _, c := range list {
		forms[c.Form]++
	}
	if len(list) != 149 || forms["exact"] != 141 || forms["statistical"] != 8 {
		t.Errorf("%d cases, %v, want 149: 141 exact, 8 statistical", len(list), forms)
	}
	for i := range list {
		c := &list[i]
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if c.Form == "statistical" && !nightly {
				t.Skip("takes long; the algorithm's own tests run it")
			}
			unchecked, err := c.Run()
			if err != nil {
				t.Error(err)
			}
			for _, name := range unchecked {
				if !slices.Contains(own[c.AlgorithmID()], name) {
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
// outcome were another.
func TestReferences_NoticeEveryChange(t *testing.T) {
	t.Parallel()
	for _, c := range references(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if words, _, _ := strings.Cut(c.Scenario.Channels, ", seeds"); words != "" {
				c.Scenario.Channels = words + ", seeds 0..9" // enough to be another number
			}
			changed := map[string]json.RawMessage{}
			for name, want := range c.Expect {
				if changed[name] = other(t, want); name == "all_informed_within" { // a bound
					changed[name] = json.RawMessage(`0`)
				}
			}
			c.Expect = changed
			unchecked, err := c.Run()
			if err == nil {
				err = errors.New("nothing")
			}
			for name := range changed {
				noticed := strings.Contains("\n"+err.Error(), "\n"+name+": ")
				if !noticed && !slices.Contains(unchecked, name) {
					t.Errorf("%s: %s is noticed as %v", name, changed[name], err)
				}
			}
		})
	}
}

// other is another value than want of the same form.
func other(t *testing.T, want json.RawMessage) json.RawMessage {
	t.Helper()
	var v any
	if err := json.Unmarshal(want, &v); err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case nil:
		return json.RawMessage("1")
	case bool:
		return json.RawMessage(fmt.Sprint(!v))
	case float64:
		return json.RawMessage(fmt.Sprint(v + 1))
	case []any:
		return json.RawMessage("[99]")
	case map[string]any:
		for _, key := range []string{"min", "exact_mean"} {
			if least, ok := v[key].(float64); ok {
				return json.RawMessage(fmt.Sprintf(`{"min": %v}`, least+1e6))
			}
		}
		for key, x := range v { // any of them
			if n, ok := x.(float64); ok {
				v[key] = n + 1
				break
			}
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("%s", want)
	return nil
}
