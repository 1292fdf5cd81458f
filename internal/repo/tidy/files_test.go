package tidy

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFiles: the files of the command line refer to each other in one direction. A name that two files
// need of each other belongs into a third, or into a package of its own.
func TestFiles(t *testing.T) {
	for _, cycle := range cycles(references(t, "pkg/cli")) {
		t.Errorf("pkg/cli: %s", cycle)
	}
}

// TestCycles: the test above finds cycles, of two and of three files.
func TestCycles(t *testing.T) {
	got := cycles(map[string]map[string]string{
		"a": {"b": "x"}, "b": {"c": "y", "d": "z"}, "c": {"a": "w"}, "e": {"f": "v"}, "f": {"e": "u"},
	})
	want := []string{"a needs x of b", "b needs y of c", "c needs w of a", "e needs v of f", "f needs u of e"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// references are, for each file of a package, the files that it needs, with a name of each.
func references(t *testing.T, folder string) map[string]map[string]string {
	t.Helper()
	goList := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./"+folder)
	goList.Dir = root(t)
	out, err := goList.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, p := range list(t, "./"+folder) {
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	own, err := config.Check(module+folder, set, files, info)
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]map[string]string{}
	for name, object := range info.Uses {
		from := filepath.Base(set.Position(name.Pos()).Filename)
		to := filepath.Base(set.Position(object.Pos()).Filename)
		if object.Pkg() == own && from != to {
			if needs[from] == nil {
				needs[from] = map[string]string{}
			}
			needs[from][to] = max(needs[from][to], object.Name())
		}
	}
	return needs
}

// cycles are the references that lead back to where they begin.
func cycles(needs map[string]map[string]string) (found []string) {
	var leads func(from, to string, seen map[string]bool) bool
	leads = func(from, to string, seen map[string]bool) bool {
		for next := range needs[from] {
			if next == to || !seen[next] && func() bool { seen[next] = true; return leads(next, to, seen) }() {
				return true
			}
		}
		return false
	}
	for _, from := range slices.Sorted(maps.Keys(needs)) {
		for _, to := range slices.Sorted(maps.Keys(needs[from])) {
			if leads(to, from, map[string]bool{}) {
				found = append(found, fmt.Sprintf("%s needs %s of %s", from, needs[from][to], to))
			}
		}
	}
	return found
}
