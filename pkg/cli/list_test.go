package cli

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
)

// TestList_Families: each family is a part of the whole list, in both forms; the shell
// completes its name, and nothing is wider than a terminal.
func TestList_Families(t *testing.T) {
	t.Parallel()
	whole := bench(t, "list").want(t, Good).out
	narrow(t, whole)
	left := whole
	for _, name := range catalog.Families() {
		part := bench(t, "list", name).want(t, Good).out
		if len(part) < 100 || !strings.Contains(left, part) {
			t.Errorf("%s is no part of the list:\n%s", name, part)
		}
		left = strings.Replace(left, part, "", 1)
		text := bench(t, "list", name, "--json").want(t, Good).out
		if d, err := answer.Decode([]byte(text)); err != nil || len(d.Table(name)) == 0 {
			t.Errorf("%s: %v: %s", name, err, text)
		}
		has(t, bench(t, "__complete", "list", name[:3]).out, name)
	}
	if strings.Count(left, "\n") > 1 {
		t.Errorf("of no family:\n%s", left)
	}
	has(t, bench(t, "list", "metric").want(t, Usage).errors, `did you mean "metrics"?`)
	bench(t, "list", "metrics", "faults").want(t, Usage)
}
