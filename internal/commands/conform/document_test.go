package conform

import (
	"os"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/check"
)

// TestDocument: docs/reference/cases.md explains whatever a case may say.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/reference/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	section := string(text)
	for _, key := range aboutKeys {
		if !strings.Contains(section, "`"+key+"`") {
			t.Errorf("nothing is said of %s", key)
		}
	}
	for _, x := range check.Expectations {
		if !strings.Contains(section, "| `"+x.Name+"` | "+x.Doc+" |") {
			t.Errorf("want the line | `%s` | %s |", x.Name, x.Doc)
		}
	}
}
