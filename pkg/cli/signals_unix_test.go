//go:build unix

package cli

import (
	"bufio"
	"encoding/csv"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A plugin that does not come back ends bench verify and bench explore, which simulate
// themselves: with exit code 1, and with its name and what it did.
func TestVerify_Goexit(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"verify", "explore"} {
		c := exec.Command(exe, verb, "mutex/test-goexit")
		c.Env = append(os.Environ(), asBench+"=1")
		out, _ := c.CombinedOutput() // its exit code is asked for
		if code := c.ProcessState.ExitCode(); code != CouldNotRun {
			t.Errorf("%s: exit code %d, want %d", verb, code, CouldNotRun)
		}
		has(t, string(out), "bench: mutex/test-goexit, ", ": Request: it has ended its goroutine")
	}
}

// started starts the command as a process of its own, and returns when it has
// said ready on standard error.
func started(t *testing.T, ready string, args ...string) *exec.Cmd {
	t.Helper()
	return newFolder(t).started(t, ready, args...)
}

func (f *folder) started(t *testing.T, ready string, args ...string) *exec.Cmd {
	t.Helper()
	c := f.benchCommand(t, args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	lines := make(chan string, 1000)
	go func() {
		for in := bufio.NewScanner(stderr); in.Scan(); {
			select {
			case lines <- in.Text():
			default: // nobody reads any more
			}
		}
		close(lines)
	}()
	deadline := time.After(mostWait)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("it ended without saying %q", ready)
			}
			if strings.Contains(line, ready) {
				return c
			}
		case <-deadline:
			t.Fatalf("it did not say %q", ready)
		}
	}
}

// mostWait is how long a busy machine may take for what takes a moment.
const mostWait = time.Minute

// ends waits for the end of c and returns its exit code.
func ends(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	late := time.AfterFunc(mostWait, func() {
		t.Errorf("it has not ended after %v", mostWait)
		_ = c.Process.Kill()
	})
	err := c.Wait()
	late.Stop()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return Good
}

const many = `
name: many
problem: mutex
algorithms: [naimi-trehel]
transport: sim
nodes: 30
repetitions: 50000
scenario: {kind: closed, requests: 300}
`

// endless is one trial that takes for ever and cannot be cut short.
const endless = `
name: endless
problem: mutex
algorithms: [naimi-trehel]
transport: sim
nodes: 200
repetitions: 1
time_limit: 20h
scenario: {kind: closed, requests: 50000000}
`

func TestInterrupt_KeepsWhatIsFinished(t *testing.T) {
	t.Parallel()
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			c := started(t, `"status":"ok"`, "run", write(t, "many.yaml", many), "--out", root,
				"--progress", "json")
			if err := c.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if got := ends(t, c); got != code {
				t.Errorf("exit code %d, want %d", got, code)
			}
			dir := latest(t, root, "many")
			m, err := results.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			if m.Complete || m.Finished == 0 || results.Verify(dir) != nil {
				t.Errorf("complete %v, finished %d, %v", m.Complete, m.Finished, results.Verify(dir))
			}
			rows, err := csv.NewReader(strings.NewReader(contents(t, dir)[results.TrialsFile])).ReadAll()
			if err != nil || len(rows) != m.Finished+1 {
				t.Errorf("trials.csv: %d lines for %d trials, %v", len(rows), m.Finished, err)
			}
		})
	}
}

// A trial that does not end does not keep the run from ending.
func TestInterrupt_InTheMiddleOfATrial(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	c := started(t, "results", "run", write(t, "endless.yaml", endless), "--out", root)
	time.Sleep(200 * time.Millisecond) // into the trial, which nothing announces
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := ends(t, c); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
	if m, err := results.ReadManifest(latest(t, root, "endless")); err != nil || m.Complete {
		t.Errorf("manifest %+v, %v", m, err)
	}
}

// A study that is interrupted ends as a run does.
func TestInterrupt_Reproduce(t *testing.T) {
	t.Parallel()
	papers := study(t, "small", stated)
	if err := os.WriteFile(filepath.Join(papers, "small.yaml"), []byte(many), 0o644); err != nil {
		t.Fatal(err)
	}
	c := started(t, "reproduce  small: 50000 trials", "reproduce", "--papers", papers, "--out", t.TempDir())
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := ends(t, c); got != 143 {
		t.Errorf("exit code %d, want 143", got)
	}
}

// A second signal does not wait for anything. That signals of a kind that are
// pending are one is why there may be more than two.
func TestInterrupt_TwiceEndsAtOnce(t *testing.T) {
	t.Parallel()
	c := started(t, "results", "run", write(t, "endless.yaml", endless), "--out", t.TempDir())
	done := make(chan struct{})
	go func() {
		for {
			_ = c.Process.Signal(syscall.SIGINT) // the error is that it has ended
			select {
			case <-done:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	got := ends(t, c)
	close(done)
	if got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
}

// TestInterrupt_Bisect: nothing is left of a search, in the repository or elsewhere, whether a commit
// was being built or simulated the trial.
func TestInterrupt_Bisect(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, hangs)
	here.put(t, "small.yaml", small)
	signs := t.TempDir()
	// A compiler that does not come back mostWait, when asked for more than its version.
	tool := write(t, "tool", "#!/bin/sh\ncase \"$*\" in\n*-V=full*) exec \"$@\";;\nesac\ntouch "+signs+
		"/builds\nsleep 20\n")
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ sign, goflags string }{{"builds", "-toolexec=" + tool}, {"simulates", ""}} {
		here := &folder{here.dir, append(slices.Clone(here.env), "GOFLAGS="+test.goflags, "HANGING="+filepath.Join(signs, test.sign)), here.tmp}
		c := here.started(t, "building ", "bisect", "c0", "c1", "small.yaml", "--trial", "1")
		await(t, filepath.Join(signs, test.sign))
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if code := ends(t, c); code != 130 {
			t.Errorf("%s: exit code %d", test.sign, code)
		}
		here.clean(t)
		if trees := here.git(t, "worktree", "list"); strings.Contains(trees, "\n") {
			t.Errorf("%s: worktrees:\n%s", test.sign, trees)
		}
	}
}

// TestInterrupt_Gate: a pipeline that is cancelled finds out why there is no comparison.
func TestInterrupt_Gate(t *testing.T) {
	t.Parallel()
	here := commitsIn(t, plain, hangs)
	here.put(t, "elects.yaml", elects)
	sign := filepath.Join(t.TempDir(), "hangs")
	here.env = append(here.env, "HANGING="+sign)
	c := here.started(t, "building ", "gate", "--base", "c0", "elects.yaml")
	await(t, sign)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, c); code != 143 {
		t.Errorf("exit code %d", code)
	}
	markdown, junit := here.gated(t)
	has(t, markdown, "## Conclave: interrupted\n", "- **interrupted**: elects.yaml: interrupted by SIGTERM")
	has(t, junit, `type="interrupted"`)
	here.clean(t)
}

// await returns when there is a file.
func await(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(mostWait); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s is not there after %v", path, mostWait)
			return
		}
	}
}

// The program that writes stores is told, and has removed its drafts when bench ends.
func TestInterrupt_Export(t *testing.T) {
	t.Parallel()
	dir, programs := smallRun(t), t.TempDir()
	text := "#!/bin/sh\ncd " + programs +
		"\ntrap 'echo >tidied; exit 1' INT\necho >begun\nwhile :; do sleep 0.1; done\n"
	err := os.WriteFile(filepath.Join(programs, export.StoreProgram), []byte(text), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "export", dir, "--format", "sqlite", "--out", filepath.Join(programs, "run.db"))
	c.Env = append(os.Environ(), asBench+"=1", "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	await(t, filepath.Join(programs, "begun"))
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, c); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	if _, err := os.Stat(filepath.Join(programs, "tidied")); err != nil {
		t.Error(err)
	}
}
