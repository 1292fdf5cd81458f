package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/runs/hub"
)

// TestRun_Hub: a machine with another program joins a hub, runs the hub's instead, works for a run,
// ends with it, and leaves no file.
func TestRun_Hub(t *testing.T) {
	slowtest.Skip(t, "copies a program")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	folder, err := hub.DefaultFolder()
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.Start(hub.Config{Folder: folder, Listen: "127.0.0.1:0", Exe: exe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	line := bench(t, "hub", "token").want(t, Good).out
	has(t, line, "join "+h.Address()+"#")
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	other, tmp := filepath.Join(t.TempDir(), "bench"), t.TempDir()
	if err := os.WriteFile(other, append(program, 0), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(other, "join", "-", "--machine", "lab1", "--until-done")
	var said bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(line), &said
	c.Env = append(os.Environ(), asBench+"=1", hubHands+"=1", "TMPDIR="+tmp)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	root, file := t.TempDir(), write(t, "small.yaml", small)
	bench(t, "run", file, "--hub", h.Address(), "--out", root).want(t, Good)
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, said.String())
	}
	has(t, said.String(), "the hub has another program", "all runs are over")
	if left, err := filepath.Glob(filepath.Join(tmp, "conclave-join-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	bench(t, "run", file, "--out", filepath.Join(root, "here")).want(t, Good)
	if a, b := contents(t, latest(t, root, "small")), contents(t, latest(t, filepath.Join(root, "here"), "small")); a["trials.csv"] != b["trials.csv"] {
		t.Error("the trials are not those of one machine")
	}
	has(t, bench(t, "workers", "--hub", h.Address()).want(t, Good).out, "no workers")
	has(t, bench(t, "queue", "list", "--hub", string(folder)).want(t, Good).out, "no runs are in the queue")
	has(t, bench(t, "queue", "list", "--hub", h.Address(), "--join", "nats://x").want(t, Usage).errors, "leave one")
	has(t, bench(t, "workers").want(t, Usage).errors, "expected --hub HOST:PORT; or --join URL")
	has(t, bench(t, "run", file, "--hub", h.Address(), "--hosts", "lab1").want(t, Usage).errors, "expected how many")
	has(t, bench(t, "run", file, "--hub", "127.0.0.1:9").want(t, Usage).errors, "no credentials for the hub")
}
