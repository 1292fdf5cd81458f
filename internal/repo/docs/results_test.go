package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// between is the part of a file of the repository from a text to another.
func between(t *testing.T, file, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), file))
	if err != nil {
		t.Fatal(err)
	}
	begin := broken(from).FindIndex(b)
	if begin == nil {
		t.Fatalf("%s has no %q", file, from)
	}
	b = b[begin[1]:]
	end := broken(to).FindIndex(b)
	if end == nil {
		t.Fatalf("%s has no %q behind %q", file, to, from)
	}
	return string(b[:end[0]])
}

// broken finds words wherever a document breaks its lines.
func broken(text string) *regexp.Regexp {
	words := strings.Split(text, " ")
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}

var quoted = regexp.MustCompile("[`\"]([a-z][a-z0-9_]*)[`\"]")

// namesIn are the names in a text that stand in backticks or quotation marks.
func namesIn(text string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// TestResults_Exceptions: the columns that scripts/recompute leaves out are those of which docs/reference/results.md says
// why they do not follow from a trace.
func TestResults_Exceptions(t *testing.T) {
	t.Parallel()
	var said []string
	table := between(t, "docs/reference/results.md", "These columns do not follow from a trace:", "From `bench plan --json`")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			said = append(said, namesIn(cells[1])...)
		}
	}
	said = slices.DeleteFunc(said, func(name string) bool { return name == "trials" })
	slices.Sort(said)
	declared := between(t, "scripts/recompute/__main__.py", "EXCEPTIONS = {", "\ndef same")
	var left []string
	for _, m := range regexp.MustCompile(`"([a-z0-9_]+)":`).FindAllStringSubmatch(declared, -1) {
		left = append(left, m[1])
	}
	slices.Sort(left)
	if len(left) == 0 || !slices.Equal(left, said) {
		t.Errorf("scripts/recompute leaves out\n%v, the document says so of\n%v", left, said)
	}
}
