package check

import (
	"os"
	"strings"
	"testing"
)

// TestDocumented: docs/explanation/operations.md has the row of every rule.
func TestDocumented(t *testing.T) {
	t.Parallel()
	method, err := os.ReadFile("../../docs/explanation/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules {
		if !strings.Contains(string(method), "| `"+r.Name+"` | "+r.Sentence+" |") {
			t.Errorf("docs/explanation/operations.md does not have rule %s: %s", r.Name, r.Sentence)
		}
	}
}
