package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// commitsIn makes a repository of a module whose command is this program, but for a few lines of each
// commit's: a Go expression for what it prints instead of the text out.
func commitsIn(t *testing.T, expressions ...string) *folder {
	t.Helper()
	here := newFolder(t)
	here.tmp = t.TempDir()
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+01:00",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com", "TMPDIR": here.tmp} {
		here.env = append(here.env, name+"="+value)
	}
	here.git(t, "init", "--quiet", "--initial-branch=main")
	here.put(t, "go.mod", "module example.com/own\n\ngo 1.26\n")
	for i, expression := range expressions {
		here.program(t, expression)
		here.put(t, "count", fmt.Sprint(i))
		here.git(t, "add", "--all")
		here.git(t, "commit", "--quiet", "--message", fmt.Sprint("commit ", i))
		here.git(t, "tag", fmt.Sprint("c", i))
	}
	return here
}

// program writes such a command. With again it ends as this program with more arguments does.
func (f *folder) program(t *testing.T, expression string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, "cmd/bench/main.go", fmt.Sprintf(`package main

import (
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	c := exec.Command(%q, os.Args[1:]...)
	c.Stderr, c.Env = os.Stderr, append(os.Environ(), "%s=1")
	text, err := c.Output()
	out := string(text)
	os.Stdout.WriteString(%s)
	if err != nil {
		os.Exit(c.ProcessState.ExitCode())
	}
	_, _ = strings.Clone, time.Sleep
}

func again(more ...string) string {
	c := exec.Command(%[1]q, append(os.Args[1:], more...)...)
	c.Stdout, c.Stderr, c.Env = os.Stdout, os.Stderr, append(os.Environ(), "%[2]s=1")
	_ = c.Run()
	os.Exit(c.ProcessState.ExitCode())
	return ""
}
`, self, asBench, expression))
}

// Expressions of histories.
const (
	plain   = `out`
	half    = `out +`
	renamed = `strings.ReplaceAll(out, "COORDINATOR", "VICTORY")`
	heavier = `strings.ReplaceAll(strings.ReplaceAll(out, "COORDINATOR", "VICTORY"), "\"messages\": 5,", "\"messages\": 7,")`
	hangs   = `func() string { os.WriteFile(os.Getenv("HANGING"), nil, 0o644); time.Sleep(time.Hour); return out }()`
	random  = `strings.ReplaceAll(out, "COORDINATOR", func() string { name, _ := os.MkdirTemp("", "x"); return name }())`
)

// TestBisect: the commit, whose it is, and the first message at which the trial parts from the one before.
func TestBisect(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, plain, plain, half, renamed, renamed, heavier, heavier)
	here.put(t, "small.yaml", small)
	r := here.bench(t, "bisect", "c0", "main", "small.yaml", "--trial", "1", "--events", "1").want(t, Incomplete)
	narrow(t, r.out)
	narrow(t, r.errors)
	has(t, r.out, "one of these commits changed trial 1 of small.yaml; only the last can be tested:",
		here.git(t, "rev-parse", "--short=12", "c3")+" commit 3\n  "+here.git(t, "rev-parse", "c4")+
			"\n  Ada <ada@example.com>, 2026-01-02T03:04:05+01:00\n  commit 4\n", "6 commits between, ",
		" commit 3: it does not build: cmd/bench/main.go:15:", "A  "+here.git(t, "rev-parse", "--short=12", "c2")+" commit 2\nB  ",
		" commit 4\ntrial 1 of small.yaml\n", "they diverge at message 5:\n", "p2 sends COORDINATOR to p1", "p2 sends VICTORY to p1")
	has(t, r.errors, "bench: building "+here.git(t, "rev-parse", "--short=12", "c0")+" commit 0\n", "commit 7\n", "bench: 6 left, building ",
		"bench:   skipped: it does not build: ", "bench:   changed\n", "bench:   the same\n")
	here.clean(t)

	r = here.bench(t, "bisect", "c4", "c7", "small.yaml", "--trial", "1", "--metric", "messages", "--json").want(t, Missed)
	got, err := answer.Decode([]byte(r.out))
	if err != nil {
		t.Fatal(err)
	}
	found, ends := got.Table("candidates"), got.Table("ends")
	if got.Facts["same"] != false || len(found) != 1 || found[0]["commit"] != here.git(t, "rev-parse", "c6") ||
		got.Facts["metric"] != "messages" || ends[0]["subject"] != "commit 4" || ends[1]["subject"] != "commit 7" ||
		got.Facts["commits_between"] != 2.0 || len(got.Table("skipped")) != 0 ||
		!strings.HasSuffix(got.Facts["difference_a"].(string), " commit 5") || len(got.Table("outcome")) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestBisect_FirstParent: a merge stands for what it merged.
func TestBisect_FirstParent(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, plain, plain, renamed)
	here.put(t, "small.yaml", small)
	here.git(t, "checkout", "--quiet", "c0")
	here.git(t, "merge", "--quiet", "--no-ff", "--message", "merged", "c2")
	r := here.bench(t, "bisect", "c0", "HEAD", "small.yaml", "--trial", "1", "--first-parent").want(t, Missed)
	has(t, r.out, "  merged\n0 commits between, 2 tried\n")
}

// TestBisect_Metric: what changed other things does not count.
func TestBisect_Metric(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, plain, renamed, heavier, heavier)
	here.put(t, "small.yaml", small)
	args := []string{"bisect", "c0", "c3", "small.yaml", "--trial", "1", "--metric"}
	r := here.bench(t, append(args, "messages")...).want(t, Missed)
	has(t, r.out, "the first commit that changed messages of trial 1 of small.yaml:\n", "commit 2\nmessages was 5 and is 7\n",
		" commit 1\nB  ", "to the last\n")
	r = here.bench(t, append(args, "election_ms")...).want(t, Good)
	has(t, r.out, "election_ms of trial 1 of small.yaml is the same at c0 and c3\n", "they diverge at message 5")
	if strings.Contains(r.errors, "left") {
		t.Errorf("it searches for what is not there:\n%s", r.errors)
	}
	has(t, here.bench(t, append(args, "messagse")...).want(t, Usage).errors, `--metric: "messagse" is no metric; did you mean "messages"?`)
	has(t, here.bench(t, append(args, "waiting_ms")...).want(t, Usage).errors, "of problem mutex, not of election")
	has(t, here.bench(t, append(args, "lost")...).want(t, Usage).errors, `--metric "lost", expected one of: messages, duration_ms, `)
}

func TestBisect_Mistakes(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, plain, random, half, `out[:0]`)
	here.put(t, "small.yaml", small)
	for name, test := range map[string]struct {
		args string
		code int
		says string
	}{
		"two arguments":  {"c0 c1", Usage, "2 arguments, expected two commits and FILE"},
		"number":         {"c0 c1 small.yaml --trial -1", Usage, "no number below 0"},
		"which trial":    {"c0 c1 small.yaml", Usage, "56 trials; add --trial N"},
		"no such trial":  {"c0 c1 small.yaml --trial 57", Usage, "trials 1 to 56"},
		"no FILE":        {"c0 c1 smal.yaml --trial 1", Usage, "smal.yaml"},
		"no GOOD":        {"c9 c1 small.yaml --trial 1", Usage, `GOOD: "c9" is no commit of this repository, expected a branch`},
		"no BAD":         {"c0 c9 small.yaml --trial 1", Usage, `BAD: "c9" is no commit`},
		"the same":       {"c1 c1 small.yaml --trial 1", Usage, "c1 and c1 are the same commit, "},
		"backwards":      {"c1 c0 small.yaml --trial 1", Usage, "name the older one first"},
		"does not build": {"c0 c2 small.yaml --trial 1", CouldNotRun, " commit 2: it does not build: cmd/bench/main.go"},
		"no events":      {"c0 c3 small.yaml --trial 1", CouldNotRun, " commit 3: its program does not simulate trial 1: "},
		"no package":     {"c0 c1 small.yaml --trial 1 --package ./cmd/bnch", CouldNotRun, "it has no folder cmd/bnch; --package names"},
		"not twice":      {"c1 c2 small.yaml --trial 1", CouldNotRun, "something is not deterministic"},
	} {
		t.Run(name, func(t *testing.T) {
			has(t, here.bench(t, append([]string{"bisect"}, strings.Fields(test.args)...)...).want(t, test.code).errors, test.says)
		})
	}
}

// TestBisect_Module: a module of one's own, beside a clone of Conclave, and a plugin with a bug.
func TestBisect_Module(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "it builds two commands with Conclave in them")
	clone, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	here := commitsIn(t)
	here.bench(t, "new", "algorithm", "election/my-election", "--module", "example.com/own", "--conclave", clone).want(t, Good)
	here = here.in("myelection")
	here.does(t, "go", "mod", "tidy")
	const path = "myelection/myelection.go"
	good := here.read(t, path)
	bad := strings.Replace(good, "n.asked = true\n", "", 1)
	if bad == good {
		t.Fatal("no line to leave out")
	}
	for i, text := range []string{good, good, bad, bad} {
		here.put(t, path, text)
		here.put(t, "README.md", fmt.Sprint(i))
		here.git(t, "add", "--all")
		here.git(t, "commit", "--quiet", "--message", fmt.Sprint("commit ", i))
	}
	here.put(t, "one.yaml", "name: one\nproblem: election\nalgorithms: [my-election]\ntransport: sim\nnodes: 3\nrepetitions: 1\n"+
		"scenario: {kind: cold-start}\n")
	out, err := here.command("go", "run", ".", "bisect", "HEAD~3", "HEAD", "one.yaml", "--package", ".").CombinedOutput()
	if err == nil {
		t.Error("the code is 0")
	}
	has(t, string(out), "the first commit that changed trial 1 of one.yaml:\n  "+here.git(t, "rev-parse", "HEAD~1")+"\n", "  A  sends no more\n",
		"exit status 4")
}
