package experiment

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/fault"
)

var rewrite = flag.Bool("rewrite", false, "write the expected texts anew; read the diff")

// inputs are the files of a folder of testdata but for the expected texts.
func inputs(t testing.TB, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range all {
		switch filepath.Ext(f) {
		case ".txt", ".edges":
		default:
			out = append(out, f)
		}
	}
	return out
}

// overrides are those that a file's first comments name.
func overrides(t testing.TB, path string) (o Overrides) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if s, ok := strings.CutPrefix(line, "# --set "); ok {
			o.Set = append(o.Set, s)
		}
		if s, ok := strings.CutPrefix(line, "# env: "); ok {
			o.Env = append(o.Env, s)
		}
	}
	return o
}

// golden compares got with what stands beside the input.
func golden(t *testing.T, input, got string) {
	t.Helper()
	path := input + ".txt"
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s\nif it is meant: go test ./pkg/experiment -rewrite", got, want)
	}
}

// longList is a list of more than six words.
var longList = regexp.MustCompile(`((?:has: |one of )[^ ,]+, [^ ,]+, [^ ,]+), (?:[^ ,\n]+, ){3,}[^ ,);\n]+`)

// elided is a text in which long lists end early: a word more does not concern those
// that are not about it.
func elided(text string) string { return longList.ReplaceAllString(text, "$1, ...") }

func TestListsOfWordsAreWhole(t *testing.T) {
	t.Parallel()
	for text, words := range map[string][]string{
		"faults: {events: [{at: 1s, do: zzzzzz}]}":             fault.Names(false),
		"faults: {events: [{at: 1s, do: cut, shape: zzzzzz}]}": fault.Shapes.Names(),
		"scenario: {zzzzzz: 1}":                                keysOf(scenarioFields(&settings{})),
	} {
		_, err := Parse("x.yaml", []byte(bully+text), Overrides{})
		if list := strings.Join(words, ", "); err == nil || !strings.Contains(err.Error(), list) {
			t.Errorf("%s: %v, want all of %s", text, err, list)
		}
	}
}

func keysOf(fields []config.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

func TestMalformedFilesAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	files := inputs(t, "bad")
	if len(files) < 40 {
		t.Fatalf("%d malformed files, want 40", len(files))
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			e, err := Load(f, overrides(t, f))
			var all *Error
			if e != nil || !errors.As(err, &all) {
				t.Fatalf("loads, or fails with %v, want an *Error", err)
			}
			if got := len(all.Unwrap()); got != len(all.Mistakes) || got == 0 {
				t.Errorf("%d errors unwrapped of %d", got, len(all.Mistakes))
			}
			text := strings.ReplaceAll(err.Error(), filepath.ToSlash(f), filepath.Base(f)) + "\n"
			golden(t, f, elided(text))
		})
	}
}
