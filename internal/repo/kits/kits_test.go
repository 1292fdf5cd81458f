// Package kits_test builds the example algorithms of every kit, and holds them against the plugins in Go.
package kits_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// An algorithm is one that every kit has as an example.
type algorithm struct {
	problem, name string
	snake, camel  string // as files of other languages are called
}

var algorithms = []algorithm{
	{"mutex", "ricart-agrawala", "ricart_agrawala", "RicartAgrawala"},
	{"election", "bully", "bully", "Bully"},
	{"election", "chang-roberts", "chang_roberts", "ChangRoberts"},
}

var broken = algorithm{problem: "mutex", name: "broken-lock", snake: "broken_lock", camel: "BrokenLock"}

// A kit is a language, and how its examples are built and started.
type kit struct {
	name  string
	needs []string // programs
	// build makes whatever the examples need in dir, and test runs the kit's own tests. Commands run in the
	// folder of the kit.
	build, test func(dir string) [][]string
	start       func(dir string, a algorithm) string
}

var kits = []kit{{
	name: "python", needs: []string{"python3"},
	test: func(string) [][]string { return [][]string{{"python3", "-m", "unittest", "-q"}} },
	start: func(_ string, a algorithm) string {
		return "env PYTHONPATH=" + folder("python") + " python3 " +
			folder("python", "examples", a.snake+".py")
	},
}, {
	name: "javascript", needs: []string{"node"},
	test: func(string) [][]string { return [][]string{{"node", "--test", "tests/"}} },
	start: func(_ string, a algorithm) string {
		return "node " + folder("javascript", "examples", a.snake+".mjs")
	},
}, {
	name: "java", needs: []string{"javac", "java"},
	build: func(dir string) [][]string {
		return [][]string{
			{"sh", "-c", "javac -d " + dir + "/kit src/main/java/conclave/*.java"},
			{"sh", "-c", "javac -cp " + dir + "/kit -d " + dir + "/examples examples/*.java"},
			{"sh", "-c", "javac -cp " + dir + "/kit -d " + dir + "/test $(find src/test -name '*.java')"}}
	},
	test: func(dir string) [][]string {
		return [][]string{
			{"java", "-cp", dir + "/kit:" + dir + "/test", "conclave.Tests", "conclave.KitTest"},
			{"java", "-cp", dir + "/kit:" + dir + "/examples", "conclave.Tests", "ExamplesTest"}}
	},
	start: func(dir string, a algorithm) string {
		return "java -XX:+UseSerialGC -Xmx64m -cp " + dir + "/kit:" + dir + "/examples " + a.camel
	},
}, {
	name: "rust", needs: []string{rustc},
	build: func(dir string) [][]string { return rust(dir) },
	test: func(dir string) [][]string {
		return [][]string{{rustc, "--edition", "2021", "--test", "--crate-name", "conclave", "src/lib.rs",
			"-o", dir + "/test"}, {dir + "/test"}}
	},
	start: func(dir string, a algorithm) string { return filepath.Join(dir, a.snake) },
}, {
	name: "rust-wasm", needs: []string{rustc},
	build: func(dir string) [][]string {
		return rust(dir, "--target", "wasm32-unknown-unknown", "-C", "lto", "-C", "strip=symbols")
	},
	start: func(dir string, a algorithm) string { return filepath.Join(dir, a.snake+".wasm") },
}, {
	name: "go-wasm",
	build: func(dir string) (list [][]string) {
		for _, a := range append(slices.Clone(algorithms), broken) {
			name := strings.ReplaceAll(a.name, "-", "")
			list = append(list, []string{"env", "GOOS=wasip1", "GOARCH=wasm", "go", "build", "-buildmode=c-shared",
				"-o", filepath.Join(dir, name+".wasm"), "./examples/" + name})
		}
		return list
	},
	start: func(dir string, a algorithm) string {
		return filepath.Join(dir, strings.ReplaceAll(a.name, "-", "")+".wasm")
	},
}}

// rustc is Debian's, which has the target of WebAssembly as a package; another one may not have it.
const rustc = "/usr/bin/rustc"

// rust builds the kit and its examples with more flags.
func rust(dir string, flags ...string) [][]string {
	base := append([]string{rustc, "--edition", "2021", "-O"}, flags...)
	list := [][]string{append(slices.Clone(base), "--crate-type", "rlib", "--crate-name", "conclave",
		"src/lib.rs", "--out-dir", dir)}
	for _, a := range append(slices.Clone(algorithms), broken) {
		list = append(list, append(slices.Clone(base), "-L", dir, "--extern", "conclave",
			"examples/"+a.snake+".rs", "--out-dir", dir))
	}
	return list
}

// folder is a path among the kits.
func folder(parts ...string) string {
	root, err := filepath.Abs("../../..")
	if err != nil {
		panic(err)
	}
	return filepath.Join(append([]string{root, "kits"}, parts...)...)
}

// folder is where its sources are: the forms of one language share them.
func (k *kit) folder() string {
	name, _, _ := strings.Cut(k.name, "-")
	return folder(name)
}

// ready skips a test that needs programs which this machine does not have; in CI it fails.
func (k *kit) ready(t *testing.T) {
	t.Helper()
	slowtest.Skip(t, "the kit for "+k.name)
	for _, name := range k.needs {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is not installed: scripts/kits.sh installs it", name)
			}
			t.Skip(name + " is not installed")
		}
	}
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// build builds the examples of a kit, and returns the folder in which they are.
func (k *kit) built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if k.build != nil {
		for _, args := range k.build(dir) {
			run(t, k.folder(), args...)
		}
	}
	return dir
}

// TestKits builds the examples of each kit, and holds their tables against those of the plugins in Go.
func TestKits(t *testing.T) {
	slowtest.Skip(t, "kits")
	bench := filepath.Join(t.TempDir(), "bench")
	run(t, ".", "go", "build", "-o", bench, "./testdata/bench")
	for i := range kits {
		k := &kits[i]
		t.Run(k.name, func(t *testing.T) {
			k.ready(t)
			dir := k.built(t)
			if k.test != nil {
				for _, args := range k.test(dir) {
					run(t, k.folder(), args...)
				}
			}
			for _, a := range algorithms {
				t.Run(a.name, func(t *testing.T) {
					identical(t, bench, k.start(dir, a), a)
					cases(t, bench, k.start(dir, a), a)
				})
			}
			t.Run(broken.name, func(t *testing.T) { found(t, bench, k.start(dir, broken)) })
		})
	}
}

// seeds is how many trials are compared.
const seeds = 200

// identical compares every row of the tables of an algorithm in both forms: only the names of the algorithm,
// and what runs it, may differ.
func identical(t *testing.T, bench, command string, a algorithm) {
	dir := t.TempDir()
	other := "x-" + a.name
	file := filepath.Join(dir, "experiment.yaml")
	table := func(name string, more ...string) map[string][][]string {
		text := fmt.Sprintf("name: same\nproblem: %s\nalgorithms: [%s]\nnodes: 5\ntransport: sim\n"+
			"repetitions: %d\n", a.problem, name, seeds)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, name)
		run(t, dir, append([]string{bench, "run", file, "--out", out, "--quiet"}, more...)...)
		tables := map[string][][]string{}
		for _, name := range []string{"trials", "messages", "operations"} {
			tables[name] = rows(t, filepath.Join(out, "same", "latest", name+".csv"))
		}
		return tables
	}
	native := table(a.name)
	for name, got := range table(other, "--plugin", a.problem+"/"+other+"="+command) {
		want := native[name]
		if len(got) != len(want) || len(got) < seeds {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("%s, row %d:\n got %v\nwant %v", name, i, got[i], want[i])
			}
		}
	}
}

// rows are those of a table without the columns that name the algorithm.
func rows(t *testing.T, path string) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"algorithm": true, "label": true, "hosting": true}
	for _, column := range slices.Backward(slices.Clone(all[0])) {
		if i := slices.Index(all[0], column); names[column] {
			for k := range all {
				all[k] = slices.Delete(all[k], i, i+1)
			}
		}
	}
	return all
}

// cases runs the reference cases of the plugin in Go.
func cases(t *testing.T, bench, command string, a algorithm) {
	b, err := os.ReadFile(filepath.Join("../../commands/conform/testdata/cases", a.problem, a.name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	other := "x-" + a.name
	text := strings.NewReplacer("algorithms: ["+a.name+"]", "algorithms: ["+other+"]",
		"{name: "+a.name+",", "{name: "+other+",").Replace(string(b))
	file := filepath.Join(t.TempDir(), "cases.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	id := a.problem + "/" + other
	out := run(t, ".", bench, "verify", id, "--cases", file, "--plugin", id+"="+command)
	if strings.Contains(out, "FAILED") || !strings.Contains(out, "ok ") {
		t.Errorf("%s", out)
	}
}

// found has bench explore find what is wrong with the broken lock: the schedule that remains is that of its
// counterpart in Go.
func found(t *testing.T, bench, command string) {
	plain := filepath.Join(t.TempDir(), "bench")
	run(t, ".", "go", "build", "-o", plain, "../../../cmd/bench")
	const id = "mutex/broken-lock"
	search := func(program string, more ...string) string {
		file := filepath.Join(t.TempDir(), "found.yaml")
		args := append([]string{"explore", id, "--schedules", "50", "--out", file, "--quiet"}, more...)
		c := exec.Command(program, args...)
		out, err := c.CombinedOutput()
		if c.ProcessState.ExitCode() != 3 {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got, want := search(plain, "--plugin", id+"="+command), search(bench); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
}
