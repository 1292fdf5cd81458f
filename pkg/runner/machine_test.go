package runner

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
)

// TestOtherProgram: nothing is said where both are certainly built alike.
func TestOtherProgram(t *testing.T) {
	tool := func(binary, commit string, dirty bool) results.Tool {
		return results.Tool{Binary: binary, Commit: commit, Dirty: dirty}
	}
	for name, test := range map[string]struct {
		ours, theirs results.Tool
		want         string // of the note; empty: none
	}{
		"one file":            {tool("a", "", true), tool("a", "", true), ""},
		"one commit":          {tool("a", "c1", false), tool("b", "c1", false), ""},
		"one commit, changed": {tool("a", "c1", false), tool("b", "c1", true), "it is not known"},
		"no commits":          {tool("a", "", false), tool("b", "", false), "it is not known"},
		"nothing known":       {tool("", "", false), tool("", "", false), "it is not known"},
		"two commits":         {tool("a", "c1", false), tool("b", "c2", false), "from commit c2, bench from c1"},
		"one commit known":    {tool("a", "c1", false), tool("b", "", false), "from commit unknown, bench from c1"},
	} {
		got := strings.Join(otherProgram(test.ours, results.Site{Tool: test.theirs}), "")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
