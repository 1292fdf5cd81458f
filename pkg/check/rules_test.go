package check

import (
	"os"
	"strings"
	"testing"
)

// TestDocumented: every rule stands in the documents.
func TestDocumented(t *testing.T) {
	t.Parallel()
	method, err := os.ReadFile("../../docs/methodology.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules {
		if !strings.Contains(string(method), "| `"+r.Name+"` | "+r.Sentence+" |") {
			t.Errorf("docs/methodology.md does not have rule %s: %s", r.Name, r.Sentence)
		}
	}
}
