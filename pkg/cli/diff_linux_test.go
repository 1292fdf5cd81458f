package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/diff"
)

// builds are this program, and one that sends VICTORY where this sends COORDINATOR.
func builds(t *testing.T) (here, there string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := newFolder(t)
	for name, line := range map[string]string{"here": `exec "$0" "$@"`, "there": `"$0" "$@" | sed s/COORDINATOR/VICTORY/`} {
		programs.put(t, name, "#!/bin/sh\nexport "+asBench+"=1\n"+strings.ReplaceAll(line, "$0", exe)+"\n")
		if err := os.Chmod(programs.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return programs.path("here"), programs.path("there")
}

// TestDiff_Builds: each program simulates the trial; what it says is compared.
func TestDiff_Builds(t *testing.T) {
	t.Parallel()
	here, there := builds(t)
	file := write(t, "small.yaml", small)
	has(t, bench(t, "diff", here, here, file, "--trial", "1").want(t, Good).out,
		"A  "+here, "trial 1 of "+file, "the same: ")
	r := bench(t, "diff", here, there, file, "--trial", "1", "--events", "0").want(t, Missed)
	has(t, r.out, "they diverge at message 5:", "p2 sends COORDINATOR to p1", "p2 sends VICTORY to p1", "sent VICTORY")

	// An experiment on real nodes, and in another format, is told with all its defaults, in simulation.
	toml := write(t, "small.toml", "name = 'small'\nproblem = 'election'\nalgorithms = ['bully']\nrepetitions = 1\n")
	has(t, bench(t, "diff", here, here, toml).want(t, Good).out, "the same: ")
	root := t.TempDir()
	bench(t, "run", toml, "--transport", "sim", "--out", root, "--quiet").want(t, Good)
	has(t, bench(t, "diff", here, here, latest(t, root, "small")).want(t, Good).out, "the same: ")
	real := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(real, []byte("#!/bin/sh\necho broken >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	has(t, bench(t, "diff", here, real, file, "--trial", "1").want(t, CouldNotRun).errors,
		"does not simulate trial 1: exit status 1: broken")
}

// TestDiff_Interrupted: what a program has started is not waited for once it was killed.
func TestDiff_Interrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := write(t, "bench", "#!/bin/sh\n(sleep 6; touch "+dir+"/done) &\ntouch "+dir+"/begun\nwait\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	trial := 1
	w, err := diff.ReadSubject(write(t, "small.yaml", small), &trial)
	if err != nil {
		t.Fatal(err)
	}
	stopped := &interruption{os.Interrupt}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		await(t, dir+"/begun")
		cancel(stopped)
	}()
	if _, err := w.By(ctx, script); !errors.Is(err, stopped) {
		t.Error(err)
	}
	if _, err := os.Stat(dir + "/done"); err == nil {
		t.Error("it was waited for")
	}
}
