package algotest

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/conform"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Run makes each rule of the kit a subtest, but References: Cases makes a subtest of each
// of the reference cases, and checks more of them.
func Run(t *testing.T, id string) {
	t.Helper()
	check, err := conform.Checker(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Kit {
		if c.Name == "References" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if err := check(c, func(text string) { t.Log(text) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// RunSchedules simulates random schedules within the model of algorithm id, with the
// parameters that given has for the seed (nil: the defaults), each as change leaves it (nil:
// as it is). No promise may be broken, and all that is promised to come about must, unless the
// trial turns out to be beyond the model (check.Verdict.Beyond).
func RunSchedules(t testing.TB, id string, given func(seed uint64) map[string]any,
	change func(*harness.Plan)) {
	t.Helper()
	for seed := range Schedules() {
		var params map[string]any
		if given != nil {
			params = given(seed)
		}
		p, err := Schedule(id, seed, params)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(&p)
		}
		o := MustSimulate(t, p)
		if o.Beyond == "" && o.Status != trace.OK && o.Status != trace.Unknown {
			t.Fatal(conform.Failure(id, seed, o))
		}
	}
}

// Cases runs every conformance case of algorithm id, each as a subtest. Own are the
// expectations that nothing but the algorithm's own tests can check.
func Cases(t *testing.T, id string, own ...Checks) {
	t.Helper()
	list, err := ReferenceCases(id)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		c := &list[i]
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			unchecked, err := c.Run(own...)
			if err != nil {
				t.Errorf("%v\nformula: %s\nnote: %s", err, c.Formula, c.Note)
			}
			if unchecked != nil {
				t.Errorf("nothing checks %s", strings.Join(unchecked, ", "))
			}
		})
	}
	if len(list) == 0 {
		t.Fatalf("there are no cases for %s", id)
	}
}
