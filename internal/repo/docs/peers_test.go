package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestPeers: scripts/peers.sh runs each loop that it finds, and each does as many messages as the others.
func TestPeers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	if !slowtest.Night() {
		t.Skip("compiles and runs five programs of others: CI sets CONCLAVE_NIGHTLY=1 for it")
	}
	t.Parallel()
	p := newPlace(t)
	fake := filepath.Join(p.dir, "python")
	must(t, os.WriteFile(fake, []byte("#!/bin/sh\necho 10 59 0.5\n"), 0o755))
	run := func(env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(root(t), "scripts", "peers.sh"))
		cmd.Dir = p.dir
		cmd.Env = append(slices.Clone(p.env), append([]string{"ROUNDS=1", "NODES=4", "SHARE=200", "DISTALGO="}, env...)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	text, err := run()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	loops := []string{"bench run, judged"}
	if _, err := exec.LookPath("python3"); err == nil {
		loops = append(loops, "a heap in Python", "DistAlgo, its loop ported")
	}
	if _, err := exec.LookPath("javac"); err == nil {
		loops = append(loops, "rounds in Java")
	}
	for _, loop := range loops {
		for algorithm, messages := range map[string]string{"ricart-agrawala": " 6 ", "lamport": " 9 "} {
			if !slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
				return strings.HasPrefix(line, algorithm+" ") && strings.Contains(line, loop) && strings.Contains(line, messages)
			}) {
				t.Errorf("no row of %s in\n%s", loop, text)
			}
		}
	}
	if text, err := run("PYTHON=nowhere"); err != nil || !strings.Contains(text, "there is no nowhere") ||
		strings.Contains(text, "heap in Python ") {
		t.Errorf("without python: %v\n%s", err, text)
	}
	if text, err := run("PYTHON=" + fake); err == nil || !strings.Contains(text, "59 messages for 10 entries, want 6 for each") {
		t.Errorf("a loop that does too few messages: %v\n%s", err, text)
	}
}
