package conform

import (
	"os"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/check"
)

// TestDocument: docs/adding-an-algorithm.md explains whatever a case may say.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/adding-an-algorithm.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## 9. Write reference cases")
	if !found {
		t.Fatal("there is no section on cases")
	}
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
