package check

import (
	"os"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestDocumented: every rule and every metric stands in the documents.
func TestDocumented(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		b, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	method, columns := read("methodology.md"), read("results.md")
	for _, r := range Rules {
		if !strings.Contains(method, "| `"+r.Name+"` | "+r.Sentence+" |") {
			t.Errorf("docs/methodology.md does not have rule %s: %s", r.Name, r.Sentence)
		}
	}
	for _, p := range []algo.Problem{algo.Election, algo.MutualExclusion} {
		for _, name := range MetricNames(p) {
			if !strings.Contains(columns, "`"+name+"`") {
				t.Errorf("docs/results.md does not define %s", name)
			}
		}
	}
}
