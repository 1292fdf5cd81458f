package guest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/internal/worlds/guest/guesttest"
	"github.com/conclave-bench/conclave/pkg/harness"
)

func TestMain(m *testing.M) {
	guesttest.Main()
	if len(os.Args) == 4 && os.Args[1] == looping {
		runLooping(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

// lock is the algorithm that the program of most tests is.
const lock = "mutex/fake"

// simulate has three processes enter three times.
func simulate(t *testing.T, id string, seed uint64) trial.Outcome {
	t.Helper()
	plan, err := trial.Plan(id, 3, harness.Scenario{Plot: &harness.Sequential{Requests: 3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Seed = seed
	o, err := trial.Simulate(plan)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// one fails unless a sentence has each of parts, is in one line and quotes little.
func one(t *testing.T, sentence string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(sentence, p) {
			t.Errorf("no %q in: %s", p, sentence)
		}
	}
	sentence = strings.ReplaceAll(sentence, strings.Join(guesttest.Deed{}.Command()[:1], ""), "")
	if strings.Contains(sentence, "\n") {
		t.Errorf("more than a line: %s", sentence)
	}
}
