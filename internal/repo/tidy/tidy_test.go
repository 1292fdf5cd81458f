// Package tidy holds the house rules that a program can check. It is nothing
// but tests; each failure says what to do instead.
package tidy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/conclave-bench/conclave/"

// table is which packages of ours a package may import, by prefix. "std" and
// other people's modules are not meant, but for algo and the plugins, which
// import nothing else at all.
var table = []struct {
	folder  string
	imports []string
}{
	{"pkg/algo/algotest", []string{
		"pkg/algo", "pkg/link", "pkg/trace", "pkg/harness", "pkg/check",
		"internal/commands/conform", "internal/judgement/modelcheck", "internal/judgement/trial",
	}},
	{"pkg/param", nil},
	{"pkg/algo", []string{"pkg/param"}},
	{"internal/base/exact", nil},
	{"pkg/link", []string{"pkg/param", "internal/base/exact"}},
	{"internal/base/transport", nil},
	{"pkg/bus", []string{"internal/base/transport", "internal/base/files"}},
	{"pkg/trace", nil},
	{"internal/base/stats", []string{"internal/base/exact"}},
	{"pkg/metric", []string{"pkg/algo"}},
	{"internal/worlds/guard", []string{"pkg/algo"}},
	{"internal/worlds/guest/wire", []string{"pkg/algo"}},
	{"internal/worlds/guest", []string{"internal/worlds/guest/wire", "pkg/param", "pkg/algo", "pkg/metric", "internal/base/proc", "internal/base/files"}},
	{"kits/go/brokenlock", []string{"pkg/algo"}},
	{"kits/go", []string{"pkg/algo", "internal/worlds/guest/wire"}},
	{"internal/repo/kits", []string{"internal/repo/slowtest"}},
	{"internal/repo/slowtest", nil},
	{"internal/repo/fakes", []string{"pkg/algo"}},
	{"internal/repo/misdeeds", []string{"pkg/algo"}},
	{"pkg/fault", []string{"pkg/algo", "pkg/link", "pkg/trace", "pkg/param"}},
	{"pkg/harness", []string{"pkg/algo", "pkg/link", "pkg/trace", "pkg/metric", "pkg/fault", "pkg/param",
		"internal/base/exact"}},
	{"pkg/sim", []string{
		"pkg/algo", "pkg/link", "pkg/trace", "internal/worlds/guard", "pkg/fault", "pkg/harness", "internal/base/clock",
	}},
	{"internal/base/clock", nil},
	{"internal/base/timeservice", []string{"internal/base/clock"}},
	{"internal/base/proc", []string{"internal/base/clock", "internal/base/text"}},
	{"internal/worlds/telemetry", []string{"pkg/algo", "pkg/trace"}},
	{"internal/worlds/isolate", []string{"internal/worlds/guard", "internal/base/proc", "internal/worlds/telemetry"}},
	{"internal/worlds/wire/mesh", []string{"internal/base/transport"}},
	{"internal/worlds/wire", []string{"pkg/link", "pkg/fault", "internal/base/clock", "internal/base/proc"}},
	{"internal/worlds/host/control", []string{
		"pkg/algo", "pkg/bus", "pkg/trace", "pkg/fault", "pkg/harness", "internal/worlds/wire/mesh",
	}},
	{"internal/worlds/host/node", []string{
		"pkg/algo", "pkg/link", "internal/base/transport", "pkg/bus", "pkg/trace", "internal/worlds/guard", "pkg/fault",
		"pkg/harness", "internal/worlds/host/control", "internal/worlds/wire/mesh",
		"internal/base/clock", "internal/base/proc", "internal/worlds/telemetry",
	}},
	{"internal/worlds/host/agent", []string{
		"pkg/algo", "pkg/bus", "pkg/trace", "internal/worlds/host/control", "internal/base/clock", "internal/base/proc",
		"internal/base/timeservice", "internal/worlds/telemetry", "internal/worlds/guest",
	}},
	{"internal/worlds/host", []string{
		"pkg/algo", "pkg/link", "pkg/bus", "pkg/trace", "pkg/fault", "internal/worlds/guest",
		"pkg/harness", "internal/worlds/host/agent", "internal/worlds/host/control", "internal/worlds/wire",
		"internal/base/clock", "internal/base/proc", "internal/base/timeservice",
	}},
	{"pkg/check", []string{
		"pkg/algo", "pkg/link", "pkg/metric", "pkg/trace", "internal/base/stats", "pkg/fault", "pkg/harness",
	}},
	{"internal/judgement/trial", []string{"pkg/algo", "pkg/link", "pkg/trace", "pkg/harness", "pkg/sim", "pkg/check"}},
	{"internal/judgement/prove", []string{
		"internal/base/clock", "internal/base/files", "internal/base/program", "pkg/algo", "pkg/link", "pkg/harness", "pkg/sim",
		"internal/worlds/guard", "internal/judgement/trial",
	}},
	{"internal/judgement/modelcheck", []string{
		"pkg/algo", "pkg/harness", "pkg/sim", "internal/worlds/guard", "internal/judgement/trial",
	}},
	{"internal/commands/conform", []string{
		"pkg/algo", "pkg/trace", "pkg/harness", "pkg/check", "pkg/experiment",
		"internal/answers/answer", "internal/base/console", "internal/commands/explore", "internal/base/files", "internal/worlds/guard",
		"internal/worlds/guest", "internal/judgement/modelcheck", "internal/judgement/prove", "internal/judgement/trial",
	}},
	{"internal/commands/mutate", []string{"internal/answers/answer"}},
	{"pkg/config", []string{"internal/base/text", "pkg/param"}},
	{"pkg/experiment", []string{"internal/base/console",
		"pkg/config", "internal/base/text", "pkg/param",
		"pkg/algo", "pkg/link", "internal/base/transport", "pkg/metric", "pkg/trace",
		"internal/base/stats", "pkg/fault", "pkg/harness", "pkg/check", "internal/base/files", "pkg/results",
	}},
	{"internal/base/program", nil},
	{"internal/base/text", nil},
	{"internal/base/console", nil},
	{"internal/answers/theme", nil},
	{"internal/answers/answer", []string{"internal/answers/theme", "internal/base/console"}},
	{"internal/commands/catalog", []string{"pkg/param", "internal/answers/answer", "internal/base/console",
		"pkg/algo", "pkg/link", "pkg/metric", "pkg/fault", "pkg/harness", "pkg/experiment"}},
	{"internal/commands/plan", []string{"internal/answers/view", "internal/answers/answer", "internal/base/console", "internal/base/stats",
		"internal/answers/compare", "internal/base/transport", "pkg/experiment", "pkg/metric", "pkg/results", "pkg/runner", "pkg/trace"}},
	{"internal/commands/paper", []string{"internal/answers/answer", "internal/answers/chart", "internal/answers/report",
		"internal/answers/view", "internal/base/console", "internal/base/files", "pkg/metric"}},
	{"internal/commands/scaffold", []string{"internal/answers/answer", "internal/base/console", "internal/base/files",
		"internal/base/program", "kits"}},
	{"kits", nil},
	{"pkg/results", []string{"internal/worlds/guest", "internal/base/text", "pkg/link", "pkg/metric", "pkg/trace", "internal/base/stats", "internal/base/files",
		"internal/base/transport", "internal/base/program"}},
	{"internal/runs/work", []string{
		"pkg/algo", "pkg/link", "internal/base/transport", "pkg/trace", "internal/worlds/guard", "pkg/harness", "pkg/sim",
		"pkg/check", "pkg/experiment", "pkg/results", "internal/base/proc",
	}},
	{"pkg/runner/nodes", []string{
		"pkg/algo", "pkg/bus", "pkg/config", "internal/base/files", "internal/worlds/host", "internal/worlds/host/agent",
		"internal/runs/queue", "internal/runs/work", "pkg/harness", "pkg/experiment", "pkg/results", "pkg/runner",
	}},
	{"pkg/runner", []string{"internal/worlds/guest",
		"pkg/algo", "pkg/link", "internal/base/transport", "pkg/trace", "internal/base/stats", "internal/runs/work",
		"pkg/fault", "pkg/harness", "pkg/check", "pkg/experiment", "pkg/metric", "pkg/results",
		"internal/base/proc", "internal/base/console",
	}},
	{"internal/runs/queue", []string{"internal/worlds/guest",
		"internal/base/text", "pkg/experiment", "pkg/results", "pkg/runner", "internal/runs/work", "pkg/bus",
		"internal/worlds/host/agent", "internal/base/proc", "internal/base/files",
	}},
	{"internal/runs/hub", []string{"internal/base/files", "internal/runs/queue", "internal/worlds/host/agent",
		"pkg/bus"}},
	{"internal/answers/view", []string{"internal/answers/answer", "internal/base/console", "pkg/algo", "pkg/check", "pkg/experiment", "pkg/harness", "pkg/metric",
		"pkg/results", "pkg/trace", "internal/base/stats"}},
	{"internal/answers/compare", []string{"pkg/algo", "internal/base/transport", "pkg/metric", "pkg/trace",
		"internal/base/stats", "pkg/experiment", "pkg/results", "internal/base/program",
		"internal/answers/answer", "internal/base/console", "internal/base/exact", "internal/base/files",
		"internal/answers/chart", "internal/answers/view"}},
	{"internal/commands/gate", []string{"internal/answers/answer", "internal/base/commits", "internal/answers/compare", "internal/base/files",
		"internal/base/proc", "internal/base/program", "internal/base/transport", "pkg/results"}},
	{"internal/commands/outcome", []string{"internal/base/transport", "internal/answers/answer", "internal/answers/compare", "internal/base/console", "internal/base/program",
		"internal/answers/report", "internal/base/stats", "internal/answers/view", "pkg/algo", "pkg/check", "pkg/experiment", "pkg/metric", "pkg/results",
		"pkg/runner", "pkg/trace"}},
	{"internal/commands/progress", []string{"internal/answers/answer", "internal/base/console", "internal/answers/view",
		"internal/commands/outcome", "internal/base/stats", "pkg/runner", "pkg/trace"}},
	{"internal/commands/launch", []string{"internal/worlds/wire", "internal/answers/answer", "internal/commands/catalog", "internal/commands/outcome", "internal/commands/plan",
		"internal/base/program", "internal/commands/progress", "internal/base/console", "internal/runs/hub", "internal/runs/queue", "internal/commands/replay", "internal/base/transport",
		"pkg/experiment", "pkg/results", "pkg/runner"}},
	{"internal/commands/fleet", []string{"internal/answers/answer", "internal/base/files", "internal/base/proc", "internal/base/text",
		"internal/runs/hub", "internal/runs/queue", "internal/answers/view", "pkg/results"}},
	{"internal/answers/chart", nil},
	{"internal/answers/report", []string{"internal/answers/answer", "internal/answers/chart", "internal/answers/theme", "internal/base/console", "internal/base/proc",
		"pkg/algo", "pkg/link", "internal/base/transport", "pkg/trace", "internal/base/stats", "pkg/fault",
		"pkg/harness", "pkg/check", "pkg/experiment",
		"pkg/metric", "pkg/results", "internal/answers/compare", "internal/answers/report", "internal/base/files", "internal/base/program",
		"internal/answers/view",
	}},
	{"internal/commands/replay", []string{"internal/base/transport",
		"pkg/algo", "pkg/trace", "pkg/metric", "pkg/harness", "pkg/check", "pkg/experiment", "pkg/results",
		"pkg/runner", "internal/answers/answer", "internal/answers/compare", "internal/base/console", "internal/worlds/guard",
		"internal/base/program", "internal/answers/report/diagram",
	}},
	{"internal/commands/diff", []string{
		"pkg/algo", "pkg/trace", "pkg/metric", "pkg/harness", "pkg/config", "pkg/experiment", "pkg/results",
		"pkg/runner", "internal/answers/answer", "internal/commands/catalog", "internal/answers/compare", "internal/base/console", "internal/base/files",
		"internal/base/proc", "internal/base/program", "internal/commands/replay", "internal/answers/report/diagram", "internal/base/transport",
	}},
	{"internal/commands/bisect", []string{
		"pkg/metric", "internal/answers/answer", "internal/base/commits", "internal/answers/compare", "internal/base/console",
		"internal/commands/diff", "internal/commands/replay",
	}},
	{"internal/commands/prove", []string{
		"pkg/algo", "pkg/link", "pkg/fault", "pkg/harness", "internal/answers/answer", "internal/base/console",
		"internal/base/files", "internal/base/program", "internal/commands/explore",
		"internal/commands/explore/search", "internal/judgement/prove", "internal/worlds/guard",
	}},
	{"internal/commands/explore/search", []string{
		"pkg/algo", "pkg/trace", "pkg/experiment", "internal/answers/answer", "internal/answers/compare", "internal/base/console",
		"internal/commands/explore", "internal/base/files", "internal/judgement/modelcheck", "internal/base/program", "internal/commands/replay",
		"internal/answers/report/diagram", "internal/base/transport",
	}},
	{"internal/commands/explore", []string{
		"internal/base/clock", "pkg/algo", "pkg/link", "pkg/trace", "pkg/fault", "pkg/harness", "pkg/check", "pkg/config",
		"pkg/experiment", "pkg/metric", "internal/worlds/guard", "internal/judgement/trial",
	}},
	{"internal/commands/rare", []string{
		"internal/commands/plan", "internal/answers/answer", "internal/base/console", "internal/commands/catalog", "internal/base/program", "internal/base/transport", "pkg/experiment", "pkg/metric",
		"pkg/algo", "internal/base/stats", "pkg/trace", "pkg/harness", "pkg/sim", "pkg/check", "pkg/link",
	}},
	{"internal/commands/advise", []string{
		"internal/answers/answer", "internal/answers/report/figure", "internal/answers/theme", "internal/base/console",
		"internal/base/files", "internal/base/stats", "internal/base/text", "internal/commands/rare", "pkg/algo", "pkg/check", "pkg/config",
		"pkg/experiment", "pkg/fault", "pkg/harness", "pkg/link", "pkg/metric", "pkg/sim", "pkg/trace",
	}},
	{"internal/commands/atlas", []string{
		"internal/commands/plan", "internal/commands/rare", "internal/answers/answer", "internal/base/console", "internal/commands/catalog", "internal/base/program", "internal/base/transport", "pkg/experiment", "pkg/metric",
		"pkg/algo", "pkg/fault", "pkg/trace", "pkg/harness", "pkg/sim", "pkg/check", "internal/worlds/guard",
		"internal/answers/chart",
	}},
	{"internal/base/commits", []string{"internal/base/proc"}},
	{"internal/commands/history", []string{"internal/commands/bisect", "internal/commands/diff", "internal/base/proc", "pkg/experiment", "internal/answers/answer", "internal/answers/chart", "internal/answers/theme", "internal/base/console", "internal/base/commits", "internal/answers/compare",
		"internal/base/files", "internal/base/stats", "internal/base/transport", "internal/base/program", "internal/answers/view",
		"pkg/algo", "pkg/metric", "pkg/results", "pkg/trace"}},
	{"internal/commands/twin", []string{
		"internal/commands/plan", "internal/commands/replay", "internal/base/transport", "pkg/runner",
		"pkg/link", "pkg/trace", "internal/base/stats", "internal/base/clock", "pkg/harness", "pkg/sim",
		"pkg/experiment", "pkg/metric", "pkg/results", "internal/answers/answer",
	}},
	{"internal/commands/reproduce", []string{
		"internal/answers/answer", "internal/base/console", "internal/base/program", "internal/base/transport",
		"pkg/algo", "pkg/metric", "pkg/trace", "internal/base/stats", "pkg/experiment", "pkg/results",
		"pkg/runner", "internal/answers/compare", "internal/answers/report",
		"internal/base/files", "internal/commands/launch", "internal/commands/outcome", "internal/commands/progress",
	}},
	{"internal/commands/tune", []string{
		"internal/commands/plan", "internal/base/transport", "internal/answers/answer", "internal/answers/view", "internal/base/console", "internal/base/program", "internal/answers/report/figure", "internal/base/files", "pkg/runner",
		"pkg/algo", "pkg/metric", "pkg/trace", "internal/base/stats", "pkg/fault", "pkg/harness", "pkg/experiment",
		"pkg/results",
		"internal/answers/compare",
	}},
	{"pkg/cli", []string{"pkg", "internal"}},
	{"plugins/all", []string{"plugins"}},
	{"plugins/election/lap", []string{"pkg/algo"}},
	{"plugins/election/timeout", []string{"pkg/algo"}},
	{"plugins/election/ring", []string{"pkg/algo", "plugins/election/timeout"}},
	{"plugins/election", []string{
		"pkg/algo", "plugins/election/lap", "plugins/election/ring", "plugins/election/timeout",
	}},
	{"plugins/mutex/raynal", []string{"pkg/algo"}},
	{"plugins/mutex/quorum", []string{"pkg/algo"}},
	{"plugins/mutex", []string{"pkg/algo", "plugins/mutex/quorum", "plugins/mutex/raynal"}},
	{"cmd", []string{"pkg", "plugins"}},
	{"internal/repo/docs", nil}, // its tests link everything
	{"internal", nil},
	{"scripts", []string{"pkg", "plugins", "internal"}},
}

// layers are the folders from the ground up: a package imports those of its own layer and of lower ones.
// docs/ARCHITECTURE.md names them in the same order.
var layers = [][]string{
	{"internal/base"},
	{"pkg/param", "pkg/algo"},
	{"pkg/link", "pkg/trace", "pkg/metric", "pkg/fault", "pkg/harness", "pkg/config"},
	{"pkg/bus", "pkg/sim", "internal/worlds"},
	{"pkg/check", "internal/judgement"},
	{"pkg/experiment", "pkg/results", "pkg/runner", "internal/runs"},
	{"internal/answers"},
	{"internal/commands", "pkg/cli", "pkg/algo/algotest"},
}

// layerOf is the layer of a package, by the longest of its folders; -1 for commands, plugins and tests, which
// import what they like.
func layerOf(folder string) (layer int) {
	layer, longest := -1, 0
	for i, folders := range layers {
		for _, f := range folders {
			if (folder == f || strings.HasPrefix(folder, f+"/")) && len(f) > longest {
				layer, longest = i, len(f)
			}
		}
	}
	return layer
}

// TestLayers: no import runs upwards, and every package of pkg and internal has a layer.
func TestLayers(t *testing.T) {
	for _, p := range list(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		layer := layerOf(from)
		if layer < 0 {
			if strings.HasPrefix(from, "pkg/") || strings.HasPrefix(from, "internal/") &&
				!strings.HasPrefix(from, "internal/repo/") {
				t.Errorf("%s has no layer: put it into a folder of one", from)
			}
			continue
		}
		for _, to := range p.Imports {
			to, ours := strings.CutPrefix(to, module)
			if ours && layerOf(to) > layer {
				t.Errorf("%s imports %s, which is above it", from, to)
			}
		}
	}
}

// shared are the folders beside the plugins that hold rules of several of them. They
// register no algorithm.
var shared = []string{
	"plugins/election/lap", "plugins/election/ring", "plugins/election/timeout", "plugins/mutex/quorum",
	"plugins/mutex/raynal",
}

// strict are the folders whose packages import the standard library and our own packages
// as listed, and nothing of anybody else's.
var strict = []string{"pkg/algo", "plugins", "pkg/harness", "pkg/trace", "pkg/sim", "pkg/check"}

type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Standard   bool
}

// list is every package of the module, or those that arguments of go list name.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	if args == nil {
		args = []string{"./..."}
	}
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports"}, args...)...)
	cmd.Dir = root(t)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &errs)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func under(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

func TestImportTable(t *testing.T) {
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		i := slices.IndexFunc(table, func(row struct {
			folder  string
			imports []string
		}) bool {
			return under(path, row.folder)
		})
		if i < 0 {
			t.Errorf("%s is not in the import table: name it there, and in docs/ARCHITECTURE.md", path)
			continue
		}
		for _, imp := range p.Imports {
			ours, found := strings.CutPrefix(imp, module)
			switch {
			case found && !slices.ContainsFunc(table[i].imports, func(folder string) bool {
				return under(ours, folder)
			}):
				t.Errorf("%s imports %s: %s may import %v of ours", path, ours, table[i].folder,
					table[i].imports)
			case !found && strings.Contains(strings.Split(imp, "/")[0], ".") &&
				slices.ContainsFunc(strict, func(folder string) bool { return under(path, folder) }):
				t.Errorf("%s imports %s: %s keeps to the standard library", path, imp, table[i].folder)
			}
		}
	}
}

// TestUnsafe: of the contract and the plugins, one file uses package unsafe, and the build tag purego leaves
// it out.
func TestUnsafe(t *testing.T) {
	const codec = "pkg/algo/codec_direct.go"
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if path != "pkg/algo" && !under(path, "plugins") {
			continue
		}
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			uses := strings.Contains(string(text), `"unsafe"`)
			if file := path + "/" + name; uses != (file == codec) ||
				uses && !strings.HasPrefix(string(text), "//go:build !purego\n") {
				t.Errorf("%s: %s alone uses package unsafe, where the build tag purego is not set", file, codec)
			}
		}
	}
}

// TestFolder: no test changes the working directory, for that is one for all tests of the process, and none
// could run beside it. A test names its folder, or runs a command in it.
func TestFolder(t *testing.T) {
	err := filepath.WalkDir(root(t), func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), ".Ch"+"dir(") {
			t.Errorf("%s changes the working directory: name files by their paths, or run a command with Dir", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestShipped: package testing, and whatever is made for it, is not part of a program that is shipped.
func TestShipped(t *testing.T) {
	for _, p := range list(t, "-deps", "./cmd/bench", "./cmd/node") {
		for _, imp := range p.Imports {
			if imp == "testing" {
				t.Errorf("%s imports testing, and is part of bench or node: tests alone may import "+
					"what needs it", p.ImportPath)
			}
		}
	}
}

// banned is what a plugin must not use, and what to use instead. A bare package
// bans all of it.
var banned = map[string]string{
	"os":                   "a plugin touches no file: use env.Save",
	"net":                  "a plugin opens no connection: use env.Send",
	"sync":                 "a plugin is called by one goroutine: it needs no lock",
	"sync/atomic":          "a plugin is called by one goroutine: it needs no atomic",
	"math/rand":            "use env.Rand, which the run seeds",
	"log":                  "use env.Logf",
	"log/slog":             "use env.Logf",
	"time.Now":             "use env.Now",
	"time.Since":           "use env.Now",
	"time.Sleep":           "use env.SetTimer",
	"time.After":           "use env.SetTimer",
	"time.AfterFunc":       "use env.SetTimer",
	"time.NewTimer":        "use env.SetTimer",
	"time.Tick":            "use env.SetTimer",
	"math/rand/v2.New":     "use env.Rand, which the run seeds",
	"math/rand/v2.NewPCG":  "use env.Rand, which the run seeds",
	"math/rand/v2.IntN":    "use env.Rand, which the run seeds",
	"math/rand/v2.Float64": "use env.Rand, which the run seeds",
	"fmt.Print":            "use env.Logf",
	"fmt.Println":          "use env.Logf",
	"fmt.Printf":           "use env.Logf",
}

func TestPlugins(t *testing.T) {
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if !under(path, "plugins/election") && !under(path, "plugins/mutex") {
			continue
		}
		t.Run(path, func(t *testing.T) { checkPlugin(t, p) })
	}
}

func checkPlugin(t *testing.T, p pkg) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file := filepath.Join(p.Dir, name)
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		if n := fset.File(f.Pos()).LineCount(); n > 320 {
			t.Errorf("%s has %d lines: a plugin's file has about 300 at most", name, n)
		}
		checkFile(t, fset, f)
	}
	own := strings.ReplaceAll(filepath.Base(p.Dir), "-", "")
	if !slices.Contains(p.GoFiles, own+".go") {
		t.Errorf("no %s.go: the file of the package's name comes first", own)
	}
	checkMessages(t, files)
}

func checkFile(t *testing.T, fset *token.FileSet, f *ast.File) {
	names := map[string]string{} // local name of an import → path
	for _, imp := range f.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		if why := banned[path]; why != "" {
			t.Errorf("%s: %s is banned in plugins: %s", fset.Position(imp.Pos()), path, why)
		}
		name := filepath.Base(path)
		if path == "math/rand/v2" {
			name = "rand"
		}
		if imp.Name != nil {
			name = imp.Name.Name
		}
		names[name] = path
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				if v := s.(*ast.ValueSpec); v.Names[0].Name != "_" {
					t.Errorf("%s: %s is a package-level variable: state belongs to a process",
						fset.Position(v.Pos()), v.Names[0].Name)
				}
			}
		}
	}
	maps := mapNames(f)
	ast.Inspect(f, func(n ast.Node) bool {
		at := func() string { return fset.Position(n.Pos()).String() }
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: go is banned in plugins: an event is handled by one goroutine", at())
		case *ast.ChanType, *ast.SelectStmt:
			t.Errorf("%s: channels are banned in plugins: use env.Send and env.SetTimer", at())
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && names[x.Name] != "" {
				if why := banned[names[x.Name]+"."+n.Sel.Name]; why != "" {
					t.Errorf("%s: %s.%s is banned in plugins: %s", at(), x.Name, n.Sel.Name, why)
				}
			}
		case *ast.RangeStmt:
			if name := lastName(n.X); maps[name] {
				t.Errorf("%s: range over the map %s: its order differs in every run; "+
					"range over a sorted slice", at(), name)
			}
		}
		return true
	})
}

// mapNames are the fields and variables of f that are declared as maps.
func mapNames(f *ast.File) map[string]bool {
	maps := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if _, ok := n.Type.(*ast.MapType); ok {
				for _, name := range n.Names {
					maps[name.Name] = true
				}
			}
		case *ast.AssignStmt:
			for i, rhs := range n.Rhs {
				if isMap(rhs) && i < len(n.Lhs) {
					maps[lastName(n.Lhs[i])] = true
				}
			}
		}
		return true
	})
	return maps
}

func isMap(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit:
		_, ok := e.Type.(*ast.MapType)
		return ok
	case *ast.CallExpr:
		if len(e.Args) > 0 {
			_, ok := e.Args[0].(*ast.MapType)
			return ok
		}
	}
	return false
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// checkMessages wants one case in Receive for each message that the Spec
// declares, or that a function Messages lists for the Specs of several plugins.
func checkMessages(t *testing.T, files []*ast.File) {
	declared, handled := map[string]bool{}, map[string]bool{}
	declare := func(e ast.Expr) {
		if list, ok := e.(*ast.CompositeLit); ok {
			for _, e := range list.Elts {
				if lit, ok := e.(*ast.CompositeLit); ok {
					declared[lastName(lit.Type)] = true
				}
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				key, _ := n.Key.(*ast.Ident)
				if key == nil || key.Name != "Messages" && key.Name != "Auxiliary" {
					return true
				}
				declare(n.Value)
			case *ast.FuncDecl:
				switch n.Name.Name {
				case "Messages":
					if ret, ok := n.Body.List[0].(*ast.ReturnStmt); ok {
						declare(ret.Results[0])
					}
				case "Receive":
					ast.Inspect(n, func(m ast.Node) bool {
						if c, ok := m.(*ast.CaseClause); ok {
							for _, e := range c.List {
								handled[lastName(e)] = true
							}
						}
						return true
					})
				}
			}
			return true
		})
	}
	for name := range declared {
		if !handled[name] {
			t.Errorf("message %s is declared but Receive has no case for it", name)
		}
	}
	for name := range handled {
		if !declared[name] {
			t.Errorf("Receive has a case for %s, which the Spec does not declare", name)
		}
	}
}

func TestEveryPluginIsLinked(t *testing.T) {
	all, err := os.ReadFile(filepath.Join(root(t), "plugins/all/all.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if (under(path, "plugins/election") || under(path, "plugins/mutex")) && !slices.Contains(shared,
			path) &&
			!bytes.Contains(all, []byte(strconv.Quote(p.ImportPath))) {
			t.Errorf("%s is not imported by plugins/all: add its line", path)
		}
	}
}

func TestSource(t *testing.T) {
	for _, p := range list(t) {
		for _, name := range p.GoFiles {
			file := filepath.Join(p.Dir, name)
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(root(t), file)
			checkSource(t, rel, src)
		}
	}
}

func checkSource(t *testing.T, file string, src []byte) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(f) {
		return
	}
	for i, line := range strings.Split(string(src), "\n") {
		width := len([]rune(strings.ReplaceAll(line, "\t", "    ")))
		if width > 110 && !strings.Contains(line, "http") {
			t.Errorf("%s:%d is %d columns wide: break it", file, i+1, width)
		}
		if strings.Contains(line, "FIX"+"ME") || strings.Contains(line, "TO"+"DO") {
			t.Errorf("%s:%d: finish it, or say why not", file, i+1)
		}
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "init" {
			continue
		}
		lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
		if lines > 75 {
			t.Errorf("%s: %s has %d lines: a function fits on a screen, 70 at most",
				fset.Position(fn.Pos()), fn.Name.Name, lines)
		}
	}
}

// TestAdapters: an adapter of a system is written in an afternoon, and read in a minute. What several of them need
// is in package service.
func TestAdapters(t *testing.T) {
	const most = 300 // lines
	folders, err := filepath.Glob(filepath.Join(root(t), "systems/service/*"))
	if err != nil {
		t.Fatal(err)
	}
	adapters := 0
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		lines, adapter := 0, false
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			lines += bytes.Count(src, []byte("\n"))
			adapter = adapter || bytes.Contains(src, []byte("\ntype System struct"))
			rel, _ := filepath.Rel(root(t), file)
			checkSource(t, rel, src)
		}
		if !adapter {
			continue
		}
		if adapters++; lines > most {
			t.Errorf("%s has %d lines, %d at most: move what others need, too, to systems/service",
				filepath.Base(folder), lines, most)
		}
	}
	if adapters < 6 {
		t.Errorf("%d adapters were found: do they have another type than System?", adapters)
	}
}

// TestDependencies wants a sentence in docs/ARCHITECTURE.md for each module that
// go.mod requires directly.
func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root(t), "docs/ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "\t") || len(words) < 2 || strings.Contains(line, "// indirect") {
			continue
		}
		if !bytes.Contains(doc, []byte(words[0])) {
			t.Errorf("%s has no sentence in docs/ARCHITECTURE.md: say what it does for us and why it",
				words[0])
		}
	}
}

// Example of what the messages look like, so that a change of them is seen.
func Example_banned() {
	fmt.Printf("time.Now is banned in plugins: %s\n", banned["time.Now"])
	// Output: time.Now is banned in plugins: use env.Now
}
