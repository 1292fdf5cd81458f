package tidy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named is a test in a document: package, function, what stands behind a colon (a row
// or a subtest), and whether it is for the night.
var named = regexp.MustCompile("`((?:pkg|internal|cmd|scripts)/[a-z/]+) ((?:Test|Fuzz)\\w+)(?:: ([^`]+))?`( \\(nightly\\))?")

// byNight is how a test asks whether it is night.
var byNight = []string{"nightly()", "times()", "slowtest.Night()"}

// TestDocumentedTests: what the documents say is tested has its tests, and they
// exist: a row of a table that has a column for tests names one at least.
func TestDocumentedTests(t *testing.T) {
	tests := map[string]map[string][]string{}
	for document, least := range map[string]int{"docs/evidence/reliability.md": 42, "docs/evidence/security.md": 12} {
		text, err := os.ReadFile(filepath.Join(root(t), document))
		if err != nil {
			t.Fatal(err)
		}
		rows, column := 0, false
		for i, line := range strings.Split(string(text), "\n") {
			at := fmt.Sprintf("%s:%d", document, i+1)
			found := named.FindAllStringSubmatch(line, -1)
			switch {
			case !strings.HasPrefix(line, "|"):
				column = false
			case !column:
				column = strings.HasSuffix(line, " test |") || strings.HasSuffix(line, " tests |")
			case !strings.HasPrefix(line, "|--"):
				if rows++; len(found) == 0 {
					t.Errorf("%s: no test", at)
				}
			}
			for _, f := range found {
				if tests[f[1]] == nil {
					tests[f[1]] = testsIn(t, filepath.Join(root(t), f[1]))
				}
				checkNamed(t, at, tests[f[1]], f)
			}
		}
		if rows < least {
			t.Errorf("%s: %d rows with tests, want %d at least", document, rows, least)
		}
	}
}

func checkNamed(t *testing.T, at string, in map[string][]string, f []string) {
	t.Helper()
	has, ok := in[f[2]]
	asks := slices.ContainsFunc(byNight, func(s string) bool { return slices.Contains(has, s) })
	switch {
	case !ok:
		t.Errorf("%s: %s has no %s: name the test that took its place", at, f[1], f[2])
	case f[3] != "" && !slices.Contains(has, f[3]):
		t.Errorf("%s: %s of %s has no row %q: name the one that took its place", at, f[2], f[1], f[3])
	case f[4] != "" && !asks:
		t.Errorf("%s: %s of %s does all that it does by day: no (nightly)", at, f[2], f[1])
	case f[4] == "" && slices.Contains(has, "nightly()"):
		t.Errorf("%s: %s of %s is for the night: (nightly)", at, f[2], f[1])
	}
}

// TestUnderFire: each of the tests of reliability has its row.
func TestUnderFire(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs/evidence/reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^\| (T\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		ids = append(ids, m[1])
	}
	var want []string
	for i := 1; i <= 29; i++ {
		want = append(want, fmt.Sprintf("T%d", i))
	}
	if want = append(want, "T34", "T35"); !slices.Equal(ids, want) {
		t.Errorf("rows %v, want %v", ids, want)
	}
}
