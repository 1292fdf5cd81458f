package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// onRun is an expression of a command that does something else than to run an experiment.
func onRun(otherwise string) string {
	return `func() string { if os.Args[1] == "run" { ` + otherwise + ` }; return out }()`
}

// Commands that are worse, or break a promise.
var (
	later  = onRun(`again("--set", "params.t_answer=500ms")`)
	breaks = onRun(`again("--set", "params.turn=0s")`)
)

const (
	elects = "name: elects\nproblem: election\nalgorithms: [bully]\ntransport: sim\nnodes: 3\nrepetitions: 8\n"
	locks  = "name: locks\nproblem: mutex\nalgorithms: [test-turns]\ntransport: sim\nnodes: 3\nrepetitions: 8\n" +
		"scenario: {kind: burst, hold: 5ms}\n"
)

// gated is what a gate has written for people and for programs.
func (f *folder) gated(t *testing.T) (markdown, junit string) {
	t.Helper()
	return f.read(t, "gate/comparison.md"), f.read(t, "gate/junit.xml")
}

// TestGate: a branch is compared with the commit at which it left, not with what others did meanwhile,
// and what nobody has committed is part of it.
func TestGate(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, half)
	here.put(t, "elects.yaml", elects)
	here.put(t, "same.yaml", elects+"scenario: {kind: cold-start}\n") // nobody waits for an answer
	here.git(t, "checkout", "--quiet", "c0")
	here.program(t, later)
	r := here.bench(t, "gate", "--base", "main", "same.yaml", "elects.yaml").want(t, Missed)
	narrow(t, r.out)
	narrow(t, r.errors)
	has(t, r.out, " commit 0\nhead  ", " commit 0, with uncommitted changes\nfails: ", "\n\nelects.yaml\nbase  gate/base/elects/", "; fails: 2\n",
		"something is worse, or misses a threshold\n", "comparison: "+filepath.Join("gate", "comparison.md"))
	has(t, r.errors, "bench: building head (", "bench: head runs same.yaml\nbench: base runs elects.yaml\nbench: head runs elects.yaml\n")
	if first, _, _ := strings.Cut(r.out, "\n\nelects.yaml\n"); !strings.Contains(first, "\nfails: elects.yaml: bully: election_ms: ") {
		t.Errorf("it does not say first what fails:\n%s", r.out)
	}
	markdown, junit := here.gated(t)
	has(t, markdown, "## Conclave: something is worse", "\n## elects.yaml\n\n### Conclave: ", "- **fails**: elects.yaml: bully: election\\_ms: ")
	has(t, junit, `classname="elects.yaml.election_ms"`, `type="Regression"`)
	if strings.Index(markdown, "\n## elects.yaml\n") > strings.Index(markdown, "\n## same.yaml\n") {
		t.Errorf("what fails is not first in\n%s", markdown)
	}
	here.clean(t)

	here.git(t, "commit", "--quiet", "--all", "--message", "slower")
	r = here.bench(t, "gate", "--base", "main", "elects.yaml", "--fail-if", "messages > 10%").want(t, Good)
	has(t, r.out, " slower\n\nelects.yaml\n", "nothing is worse\n")
	if markdown, _ = here.gated(t); !strings.HasPrefix(markdown, "## Conclave: nothing is worse\n") {
		t.Errorf("the comparison is\n%s", markdown)
	}
}

// TestGate_Broken: whatever is wrong with head is said first, with a command that shows it.
func TestGate_Broken(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, plain, breaks)
	here.put(t, "locks.yaml", locks)
	here.put(t, "elects.yaml", elects)
	// What one experiment cannot show, the next one does: no elector has turns.
	r := here.bench(t, "gate", "--base", "c0", "elects.yaml", "locks.yaml", "--out", "kept").want(t, CouldNotRun)
	has(t, r.out, "could not run: elects.yaml: head (", "violation: locks.yaml: ", filepath.Join("kept", "bench-head")+" replay ")
	r = here.bench(t, "gate", "--base", "c0", "locks.yaml").want(t, Violated)
	markdown, junit := here.gated(t)
	const says = "violation: locks.yaml: mutex/test-turns: "
	first, _, found := strings.Cut(r.out, "\n\nlocks.yaml\n")
	if !found || !strings.Contains(first, says) {
		t.Errorf("no %q before the comparison in:\n%s", says, r.out)
	}
	has(t, markdown, "## Conclave: the working tree breaks a promise within the model\n", "- **violation**: locks.yaml: mutex/test-turns: ",
		", and so on in 8 trials\n  `"+filepath.Join("gate", "bench-head")+" replay ")
	has(t, junit, `<failure message="mutex/test-turns: `, `type="violation"`)
	_, hint, _ := strings.Cut(first, "reproduce: ")
	args := strings.Fields(hint)[:5]
	out, err := here.command(here.path(args[0]), args[1:]...).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "violation") {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
	has(t, string(out), "violation", "test-turns")

	here.program(t, half)
	r = here.bench(t, "gate", "--base", "c0", "locks.yaml").want(t, CouldNotRun)
	markdown, junit = here.gated(t)
	has(t, r.out, "could not run: ./cmd/bench: head (", "it does not build: cmd/bench/main.go:15:")
	has(t, markdown, "## Conclave: could not run\n", "- **could not run**: ./cmd/bench: head (")
	has(t, junit, `errors="1"`, "it does not build")
}

// TestGate_Base: what is wrong with the base keeps nobody from seeing what is wrong with head.
func TestGate_Base(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, half, onRun("os.Exit(7)"), breaks)
	here.put(t, "locks.yaml", locks)
	for base, says := range map[string]string{
		"c0": "could not run: ./cmd/bench: base (" + here.git(t, "rev-parse", "--short=12", "c0") + " commit 0): it does not build: ",
		"c1": "could not run: locks.yaml: base (" + here.git(t, "rev-parse", "--short=12", "c1") + " commit 1) does not run it: ",
	} {
		r := here.bench(t, "gate", "--base", base, "locks.yaml").want(t, CouldNotRun)
		has(t, r.out, says, "violation: locks.yaml: mutex/test-turns: ")
		_, junit := here.gated(t)
		has(t, junit, `failures="`, `type="violation"`, `type="could not run"`)
	}
}

// TestGate_Turns: experiments on real processes go to and fro, with a seed for each turn.
func TestGate_Turns(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	turns := `func() string {
	switch {
	case os.Args[1] == "plan":
		return strings.Replace(out, "\"transport\": \"sim\"", "\"transport\": \"nats\"", 1)
	case os.Args[1] == "run":
		f, _ := os.OpenFile("order", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		f.WriteString(strings.Join(os.Args[4:7], " ") + "\n")
	}
	return out
}()`
	here := commitsIn(t, turns, turns)
	here.put(t, "elects.yaml", elects+"seed: 5\n")
	r := here.bench(t, "gate", "--base", "c0", "elects.yaml", "--turns", "3").want(t, Good)
	order := strings.ReplaceAll(here.read(t, "order"), string(filepath.Separator), "/")
	const want = "gate/base --set seed=5\ngate/head --set seed=5\ngate/head --set seed=6\ngate/base --set seed=6\n" +
		"gate/base --set seed=7\ngate/head --set seed=7\n"
	if order != want {
		t.Errorf("the order is\n%swant\n%s", order, want)
	}
	has(t, r.errors, "head runs elects.yaml, turn 3 of 3\n")
	has(t, r.out, "base  gate/base/elects.csv: 24 trials (ok 24)\n")
}

func TestGate_Mistakes(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, plain, plain)
	here.put(t, "elects.yaml", elects)
	here.put(t, "wrong.yaml", elects+"repetition: 3\n")
	for name, test := range map[string]struct {
		args string
		code int
		says string
	}{
		"no base":        {"elects.yaml", Usage, "expected --base, the branch or commit to compare with"},
		"no FILE":        {"--base c0", Usage, "expected FILE, an experiment"},
		"turns":          {"--base c0 elects.yaml --turns 0", Usage, "--turns 0, expected 1 or more"},
		"no such commit": {"--base c9 elects.yaml", Usage, `configuration: gate: --base: "c9" is no commit of this repository`},
		"nothing new":    {"--base main elects.yaml", Usage, "there is nothing to compare; --base HEAD~1 names the commit before"},
		"threshold":      {"--base c0 elects.yaml --threshold x", Usage, "--threshold x: "},
		"no such file":   {"--base c0 elect.yaml", Usage, "configuration: gate: elect.yaml: no such file"},
		"wrong file":     {"--base c0 wrong.yaml", Usage, "configuration: wrong.yaml:7: repetition: unknown key"},
		"no package":     {"--base c0 elects.yaml --package ./cmd/bnch", CouldNotRun, "it has no folder cmd/bnch; --package names"},
		"no such metric": {"--base c0 elects.yaml --metrics messagse", Usage, `did you mean "messages"?`},
	} {
		t.Run(name, func(t *testing.T) {
			r := here.bench(t, append([]string{"gate"}, strings.Fields(test.args)...)...).want(t, test.code)
			has(t, r.out+r.errors, test.says)
			if strings.HasPrefix(test.args, "--base c") && name != "no FILE" && name != "turns" { // it was understood
				markdown, junit := here.gated(t)
				has(t, markdown, "## Conclave: "+answer.Meaning("gate", test.code)+"\n")
				has(t, junit, `errors="1"`)
			}
			if err := os.RemoveAll(here.path("gate")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestGate_Before: an algorithm that head adds does not keep the others from being compared, and an
// experiment that it adds is judged by itself.
func TestGate_Before(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, `func() string {
	if text, _ := os.ReadFile(os.Args[2]); strings.Contains(string(text), "ring-list") {
		os.Stderr.WriteString("bench: no such algorithm\n")
		os.Exit(2)
	}
	return out
}()`)
	here.put(t, "elects.yaml", elects)
	here.git(t, "add", "elects.yaml")
	here.git(t, "commit", "--quiet", "--message", "elects")
	here.program(t, plain)
	here.put(t, "elects.yaml", strings.Replace(elects, "bully", "bully, ring-list", 1))
	here.put(t, "fresh.yaml", strings.Replace(elects, "bully", "ring-list", 1))
	r := here.bench(t, "gate", "--base", "HEAD", "elects.yaml", "fresh.yaml").want(t, Good)
	narrow(t, r.out)
	const ran, alone = " elects) runs its own version of the file, since it cannot run that of head: no such algorithm",
		" elects) does not have this file, and cannot run that of head: there is nothing to compare"
	text := strings.Join(strings.Fields(r.out), " ")
	has(t, text, "note: elects.yaml: base (", ran, "note: fresh.yaml: base (", alone, "nothing is worse")
	markdown, junit := here.gated(t)
	has(t, markdown, "> elects.yaml: base (", ran, alone, "\n## elects.yaml\n")
	has(t, junit, ran, alone)
	here.program(t, breaks)
	here.put(t, "locks.yaml", locks+"# ring-list\n")
	here.bench(t, "gate", "--base", "HEAD", "locks.yaml").want(t, Violated)
}

// TestGate_Shallow: what a workflow checks out unless it asks for more.
func TestGate_Shallow(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, plain)
	here.git(t, "clone", "--quiet", "--depth=1", "file://"+filepath.ToSlash(here.dir), "shallow")
	here = here.in("shallow")
	here.put(t, "elects.yaml", elects)
	r := here.bench(t, "gate", "--base", "origin/topic", "elects.yaml").want(t, Usage)
	markdown, _ := here.gated(t)
	for _, text := range []string{strings.Join(strings.Fields(r.out), " "), markdown} {
		has(t, text, `is a shallow clone: git fetch --unshallow`, "fetch-depth: 0", `DEPTH: "0"`)
	}
}

// TestNewModule: what bench new module writes builds, runs, and is gated, by a command that need not know it.
func TestNewModule(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "it builds commands with Conclave in them")
	clone, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	here := commitsIn(t)
	here.env = append(here.env, "GOFLAGS=-trimpath") // what is built of the clone is built once for all places
	if spaced := filepath.Join(t.TempDir(), "my clone"); os.Symlink(clone, spaced) == nil {
		clone = spaced
	}
	for _, path := range []string{"", "example.com/own own", "Example.com", "/own", "example.com/"} {
		r := here.bench(t, append([]string{"new", "module"}, strings.Fields(path)...)...).want(t, Usage)
		has(t, r.errors, "expected one module path, as example.com/own")
	}
	r := here.bench(t, "new", "module", "example.com/mine", "--conclave", clone).want(t, Good)
	has(t, r.errors, "wrote mine/main.go", "wrote mine/.github/workflows/gate.yml", "wrote mine/go.mod")
	here = here.in("mine")
	here.does(t, "go", "mod", "tidy")
	here.git(t, "add", "--all")
	here.git(t, "commit", "--quiet", "--message", "base")
	args := []string{"gate", "--base", "HEAD", "--package", ".", "experiment.yaml"}
	text := here.read(t, "main.go")
	here.put(t, "main.go", text+"// more\n")
	here.bench(t, args...).want(t, Good)
	// It names itself, and its own version, in what it says.
	head := "." + string(filepath.Separator) + filepath.Join("gate", "bench-head")
	for command, says := range map[string]string{
		"init first.yaml": "run it with: " + head + " run first.yaml", "version": "conclave (devel)\nexample.com/mine (devel), commit ",
		"run experiment.yaml": "experiment  first: election, sim, ",
	} {
		out, err := here.command(head, strings.Fields(command)...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		has(t, string(out), says)
	}
	has(t, here.read(t, "results/first/latest/manifest.json"), `"version": "(devel)"`,
		`"own_module": "example.com/mine (devel)"`)
	here.put(t, "main.go", text+"more\n")
	has(t, here.bench(t, args...).want(t, CouldNotRun).out, "it does not build: ")
	here.does(t, "go", "build", "-o", os.DevNull, program.Core+"/cmd/bench") // in the module
}
