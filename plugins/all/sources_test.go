package all

import (
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// TestSources: whose the claims are that are not derived. A claim of another's is
// refuted if it does not hold, so that it must be theirs.
func TestSources(t *testing.T) {
	t.Parallel()
	want := map[string]algo.Source{
		"mutex/maekawa":         algo.FromPaper, // section 4
		"mutex/naimi-trehel":    algo.FromPaper, // Theorem 5
		"mutex/ricart-agrawala": algo.FromPaper, // section 3
		"mutex/suzuki-kasami":   algo.FromPaper, // abstract
		"election/tree":         algo.FromNotes, // two messages of each sort in every channel
	}
	for _, a := range algo.All() {
		source, ok := want[a.ID]
		if !ok {
			source = algo.Derived
		}
		for _, c := range a.Spec.Claims {
			if c.Source != source {
				t.Errorf("%s claims %q: source %s, want %s", a.ID, c.Text, c.Source, source)
			}
		}
	}
}

// TestTextbookForms: who implements another form than that of its paper says so, and
// what of the paper's is missing.
func TestTextbookForms(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"election/bully", "election/bully-ok"} {
		a := algotest.Lookup(t, id)
		missing := []string{"textbook form", "messages are counted by it", "in turn", "HALT", "READY", "Reorganization"}
		missing = slices.DeleteFunc(missing, func(word string) bool {
			return strings.Contains(a.Spec.Paper.Deviations, word)
		})
		if len(missing) > 0 {
			t.Errorf("%s departs from its paper, and does not say: %q", id, missing)
		}
	}
}
