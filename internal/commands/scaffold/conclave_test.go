package scaffold

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/base/program"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// does runs a command in a folder.
func does(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// small is a clone of what has Conclave's name and as much of it as a new module imports, with one commit.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module " + program.Core + "\n\ngo 1.26.0\n",
		"pkg/cli/cli.go":     "package cli\n\nfunc Bench() int { return 0 }\n",
		"plugins/all/all.go": "package all\n",
		"cmd/bench/main.go":  "package main\n\nfunc main() {}\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	does(t, dir, "git", "init", "--quiet", "--initial-branch=main")
	does(t, dir, "git", "add", "--all")
	does(t, dir, "git", "commit", "--quiet", "--message", "begin")
	return dir
}

// machine is one that has no modules and no network, and the clone in the place of the forge if there is one.
func machine(t *testing.T, forge string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "gitconfig")
	text := "[user]\n\tname = Ada\n\temail = ada@example.com\n"
	if forge != "" {
		text += "[url \"" + filepath.ToSlash(forge) + "\"]\n\tinsteadOf = https://" + program.Core + "\n"
		t.Setenv("GOPRIVATE", program.Core)
	}
	must(t, os.WriteFile(config, []byte(text), 0o644))
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": config, "GOMODCACHE": filepath.Join(t.TempDir(), "mod"), "GOPROXY": "off",
		"GOFLAGS": "-modcacherw", "GOWORK": "off",
	} {
		t.Setenv(name, value)
	}
}

// module writes a module in the folder of a clone, and returns its folder, its files and what was reported.
func module(t *testing.T, clone string) (dir string, file func(name string) string, said string) {
	t.Helper()
	var out bytes.Buffer
	m, err := Module([]string{"example.com/own"}, &out)
	must(t, err)
	m.from = clone
	dir = filepath.Join(t.TempDir(), "own")
	_, err = m.WriteModule(dir, "")
	must(t, err)
	return dir, func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		must(t, err)
		return string(text)
	}, out.String()
}

// A module that is written in a clone requires the commit of the clone, and builds: here from the cache of
// modules, elsewhere from wherever the commit is.
func TestCommit(t *testing.T) {
	machine(t, "")
	clone := small(t)
	dir, file, said := module(t, clone)
	if mod := file("go.mod"); strings.Contains(mod, "\nreplace") ||
		!strings.Contains(mod, "\nrequire "+program.Core+" v0.0.0-2") {
		t.Errorf("go.mod is\n%s", mod)
	}
	head, err := exec.Command("git", "-C", clone, "rev-parse", "HEAD").Output()
	must(t, err)
	workflow := file(".github/workflows/gate.yml")
	if !strings.Contains(workflow, "ref: "+strings.TrimSpace(string(head))+", path: .conclave") ||
		!strings.Contains(workflow, "uses: ./.conclave/") || !strings.Contains(file(".gitignore"), "/.conclave/") {
		t.Errorf("the workflow is\n%s", workflow)
	}
	if !strings.Contains(said, "push it before the workflow runs") || strings.Contains(said, "uncommitted") {
		t.Errorf("reported:\n%s", said)
	}
	does(t, dir, "go", "mod", "tidy")
	does(t, dir, "go", "build", "-o", os.DevNull, ".")

	// Another machine has nothing but the module and, where the workflow puts it, a clone.
	elsewhere := filepath.Join(t.TempDir(), "work")
	must(t, os.CopyFS(elsewhere, os.DirFS(dir)))
	does(t, elsewhere, "git", "clone", "--quiet", clone, ".conclave")
	machine(t, filepath.Join(elsewhere, ".conclave"))
	does(t, elsewhere, "go", "build", "-o", os.DevNull, program.Core+"/cmd/bench")
	does(t, elsewhere, "go", "build", "-o", os.DevNull, ".")
}

// A commit that a branch of the forge has needs nothing but its version, and neither does a tag. A fork is not
// the forge.
func TestPublished(t *testing.T) {
	machine(t, "")
	clone := small(t)
	does(t, clone, "git", "remote", "add", "fork", "https://github.com/ada/conclave")
	does(t, clone, "git", "update-ref", "refs/remotes/fork/main", "HEAD")
	if _, file, _ := module(t, clone); !strings.Contains(file(".github/workflows/gate.yml"), ".insteadOf") {
		t.Error("a branch of a fork counts as published")
	}
	does(t, clone, "git", "remote", "add", "origin", "git@github.com:conclave-bench/conclave.git")
	does(t, clone, "git", "update-ref", "refs/remotes/origin/main", "HEAD")
	does(t, clone, "git", "tag", "v0.1.0")
	does(t, clone, "git", "commit", "--quiet", "--allow-empty", "--message", "more")
	if _, file, _ := module(t, clone); !strings.Contains(file("go.mod"), " v0.1.1-0.2") ||
		!strings.Contains(file("go.mod"), "may not be published") {
		t.Errorf("a commit that was not pushed: go.mod is\n%s", file("go.mod"))
	}
	does(t, clone, "git", "reset", "--quiet", "--hard", "v0.1.0")
	machine(t, "") // what a machine knows of a commit, it keeps
	dir, file, said := module(t, clone)
	if mod := file("go.mod"); !strings.Contains(mod, "require "+program.Core+" v0.1.0\n") ||
		strings.Contains(mod, "//") || strings.Contains(said, "note:") {
		t.Errorf("go.mod is\n%s\nreported:\n%s", mod, said)
	}
	if w := file(".github/workflows/gate.yml"); strings.Contains(w, ".conclave") || !strings.Contains(w, "gate@") {
		t.Errorf("the workflow is\n%s", w)
	}
	machine(t, clone) // another one, with a forge
	does(t, dir, "go", "mod", "tidy")
	does(t, dir, "go", "build", "-o", os.DevNull, ".")
}

// What a clone has besides its commit is reported, since the module does not have it; a clone without a
// history is used as it lies there.
func TestNoCommit(t *testing.T) {
	machine(t, "")
	clone := small(t)
	must(t, os.WriteFile(filepath.Join(clone, "go.mod"), []byte("module "+program.Core+"\n\ngo 1.26.0\n\n"), 0o644))
	_, _, said := module(t, clone)
	if words := strings.Join(strings.Fields(said), " "); !strings.Contains(words, "without the uncommitted changes in "+clone) {
		t.Errorf("reported:\n%s", said)
	}
	must(t, os.RemoveAll(filepath.Join(clone, ".git")))
	dir, file, said := module(t, clone)
	if !strings.Contains(file("go.mod"), "replace "+program.Core+" => "+clone) ||
		!strings.Contains(said, "has no history") {
		t.Errorf("go.mod is\n%s\nreported:\n%s", file("go.mod"), said)
	}
	does(t, dir, "go", "mod", "tidy")
	does(t, dir, "go", "build", "-o", os.DevNull, ".")
}

// A program knows the version that it was installed with, and a clone's version is none.
func TestInstalled(t *testing.T) {
	core := func(version, sum string) debug.Module {
		return debug.Module{Path: program.Core, Version: version, Sum: sum}
	}
	const pseudo = "v0.0.0-20261127061540-1e122a13aaaa"
	replaced := core("v0.1.0", "h1:x")
	replaced.Replace = &debug.Module{Path: "../conclave"}
	released, built := core("v0.1.0", "h1:x"), core(pseudo, "")
	for want, info := range map[string]debug.BuildInfo{
		"v0.1.0": {Main: core("v0.1.0", "")},   // as a release
		pseudo:   {Main: core(pseudo, "h1:x")}, // go install ...@main
		"v0.1.1": {Main: debug.Module{Path: "example.com/own"}, Deps: []*debug.Module{new(core("v0.1.1", "h1:x"))}},
	} {
		if got := installed(&info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, info := range []debug.BuildInfo{
		{Main: built}, {Main: core("(devel)", "")}, {Main: core("v0.1.0+dirty", "")},
		{Main: debug.Module{Path: "example.com/own"}, Deps: []*debug.Module{&replaced}},
	} {
		if got := installed(&info); got != "" {
			t.Errorf("%+v: %q", info, got)
		}
	}
	if (conclave{Version: released.Version}).Ref() != "v0.1.0" || (conclave{Version: pseudo}).Ref() != "main" ||
		(conclave{Version: pseudo, Commit: "abc"}).Ref() != "abc" {
		t.Error("Ref")
	}
}

// Without a clone and a version of its own, the module takes what is published last.
func TestUnknown(t *testing.T) {
	m, err := Module([]string{"example.com/own"}, io.Discard)
	must(t, err)
	dir := t.TempDir()
	must(t, m.write(dir, [][2]string{{"go.mod", "go.mod"}, {"gate.yml", "gate.yml"}}))
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	must(t, err)
	if string(mod) != "module example.com/own\n\ngo 1.26.0\n" {
		t.Errorf("go.mod is\n%s", mod)
	}
}
