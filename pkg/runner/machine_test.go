package runner

import (
	"errors"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
)

// TestOtherProgram: nothing is said where both are certainly built alike.
func TestOtherProgram(t *testing.T) {
	tool := func(binary, commit string, dirty bool) results.Tool {
		t := results.Tool{Binary: binary, Commit: commit, Dirty: dirty}
		if commit != "" && !dirty {
			t.Source = "commit " + commit
		}
		return t
	}
	for name, test := range map[string]struct {
		ours, theirs results.Tool
		want         string // of the note; empty: none
	}{
		"one file":            {tool("a", "", true), tool("a", "", true), ""},
		"one commit":          {tool("a", "c1", false), tool("b", "c1", false), ""},
		"one commit, changed": {tool("a", "c1", false), tool("b", "c1", true), "lab1 is not known"},
		"no commits":          {tool("a", "", false), tool("b", "", false), "lab1 is not known"},
		"nothing known":       {tool("", "", false), tool("", "", false), "lab1 is not known"},
		"two commits":         {tool("a", "c1", false), tool("b", "c2", false), "from commit c2, bench from commit c1"},
		"one commit known":    {tool("a", "c1", false), tool("b", "", false), "from commit unknown, bench from commit c1"},
	} {
		got := strings.Join(otherPrograms(test.ours, []results.Site{{Name: "lab1", Tool: test.theirs}}), "")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	one, two := tool("b", "c1", true), tool("b", "c2", false)
	got := otherPrograms(tool("a", "c1", false), []results.Site{{Name: "lab1", Tool: two}, {Name: "lab2", Tool: one},
		{Name: "lab3", Tool: two}})
	if len(got) != 2 || !strings.HasPrefix(got[0], "lab1, lab3: runs another program") ||
		!strings.HasPrefix(got[1], "lab2 is not known") && !strings.HasPrefix(got[1], "lab2 runs another") {
		t.Errorf("%q, want a note for each program", got)
	}
}

// TestOnePlatform: hosts of two platforms are refused before the first trial.
func TestOnePlatform(t *testing.T) {
	site := func(name, arch string) results.Site {
		return results.Site{Name: name, Machine: results.Machine{OS: "linux", Arch: arch}}
	}
	if err := onePlatform([]results.Site{site("lab1", "arm64"), site("lab2", "arm64")}); err != nil {
		t.Error(err)
	}
	err := onePlatform([]results.Site{site("lab1", "amd64"), site("lab2", "arm64")})
	var code interface{ Exit() int }
	if !errors.As(err, &code) || code.Exit() != 2 || !strings.Contains(err.Error(), "lab1 is linux/amd64, and lab2 is linux/arm64") {
		t.Errorf("%v, want a refusal", err)
	}
}
