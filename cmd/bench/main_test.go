package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// asBench in the environment makes the test binary the command.
const asBench = "CONCLAVE_TEST_AS_BENCH"

func TestMain(m *testing.M) {
	nodeOrBus := len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "__")
	if nodeOrBus || os.Getenv(asBench) != "" {
		os.Unsetenv(asBench) // or it would be taken for an override
		main()
	}
	os.Exit(m.Run())
}

const quick = `
name: quick
problem: election
algorithms: [bully, ring-list]
transport: nats
nodes: 3
network: {latency: 1ms}
scenario: {kind: leader-crash, settle: 10ms}
repetitions: 2
retries: 5
allow: {invalid: 4}
`

func command(t *testing.T, text string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, append([]string{"run", file}, args...)...)
	c.Env = append(os.Environ(), asBench+"=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	return c, &out, &errs
}

// children are the live processes that a run has started, by what their environment says. A run of
// another program may have begun in the same second, and so have the same name.
func children(t *testing.T, run string) (out []string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, err := os.ReadFile(f)
		program, _ := os.Readlink(filepath.Join(filepath.Dir(f), "exe"))
		// What has ended, or is a zombie, has no environment.
		if err == nil && program == exe && bytes.Contains(b, []byte("CONCLAVE_RUN="+run)) {
			out = append(out, f)
		}
	}
	return out
}

// none waits until nothing is left of a run.
func none(t *testing.T, run string) {
	t.Helper()
	deadline := time.Now().Add(time.Second)
	for len(children(t, run)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("left behind: %v", children(t, run))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestRun_OnRealNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	root := t.TempDir()
	c, out, errs := command(t, quick, "--out", root)
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	m, err := results.ReadManifest(filepath.Join(root, "quick", "latest"))
	if err != nil || !m.Complete || m.Statuses[trace.OK]+m.Statuses[trace.Invalid] != 4 {
		t.Errorf("manifest: %+v, %v", m, err)
	}
	if m.Statuses[trace.OK] == 0 {
		t.Errorf("no trial is ok:\n%s%s", out, errs)
	}
	none(t, m.Run)
}

// An interrupted run leaves its finished trials and no process.
func TestRun_Interrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	root := t.TempDir()
	c, out, errs := command(t, strings.Replace(quick, "repetitions: 2", "repetitions: 500", 1),
		"--out", root)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	dir, deadline := "", time.Now().Add(30*time.Second)
	for {
		select {
		case err := <-ended:
			t.Fatalf("it ended before a trial was recorded: %v\n%s%s", err, out, errs)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("no trial was recorded\n%s", errs)
		}
		time.Sleep(20 * time.Millisecond)
		var err error
		if dir, err = results.Resolve(filepath.Join(root, "quick")); err != nil {
			continue
		}
		valid := func(t results.Trial) bool { return t.Status != trace.Invalid }
		if rows, err := results.ReadTrials(dir); err == nil && slices.ContainsFunc(rows, valid) {
			break
		}
	}
	begun := time.Now()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("%v\n%s%s", err, out, errs)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v to end", took)
	}
	m, err := results.ReadManifest(dir)
	if err != nil || m.Complete || m.Finished == 0 || results.Verify(dir) != nil {
		t.Errorf("manifest: %+v, %v, %v", m, err, results.Verify(dir))
	}
	none(t, filepath.Base(dir))
}
