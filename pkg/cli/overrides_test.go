package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
)

// TestOverrides_Environment: a variable that changes an experiment is told, also by a
// command that must be quiet, and stands in the files of the run.
func TestOverrides_Environment(t *testing.T) {
	t.Parallel()
	root, file := t.TempDir(), write(t, "small.yaml", "problem: election\nalgorithms: [bully]\nnodes: 5\n")
	env := []string{"CONCLAVE_NODES=3", "CONCLAVE_RUN=something of ours"}
	run := func(args ...string) ran {
		var out, errors bytes.Buffer
		code := newStreams(strings.NewReader(""), &out, &errors, env).bench(append(args, "--transport", "sim",
			"--set", "repetitions=1"))
		return ran{code, out.String(), errors.String()}
	}
	r := run("run", file, "--out", root, "--quiet").want(t, Good)
	if r.errors != "override    nodes=3 (environment CONCLAVE_NODES)\n" {
		t.Errorf("quiet: %q, want the variable alone", r.errors)
	}
	m, err := results.ReadManifest(latest(t, root, "small"))
	if err != nil {
		t.Fatal(err)
	}
	want := []results.Override{{Key: "nodes", Value: "3", From: "environment CONCLAVE_NODES"},
		{Key: "transport", Value: "sim", From: "--transport"}, {Key: "repetitions", Value: "1", From: "--set"}}
	if !reflect.DeepEqual(m.Overrides, want) {
		t.Errorf("manifest: %+v, want %+v", m.Overrides, want)
	}
	has(t, run("run", file, "--out", root).want(t, Good).errors, "override    nodes=3 (environment CONCLAVE_NODES)",
		"override    transport=sim (--transport)", "override    repetitions=1 (--set)")
	has(t, run("plan", file).want(t, Good).errors, "override    nodes=3 (environment CONCLAVE_NODES)")
}

// TestOverrides_Contradict: of two values of one key on the command line none wins.
func TestOverrides_Contradict(t *testing.T) {
	t.Parallel()
	root, file := t.TempDir(), write(t, "small.yaml", small)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{file, "--transport", "sim", "--set", "transport=nats"},
			"--set transport=nats: transport: is also set by --transport sim; leave one of them out"},
		{[]string{file, "--set", "seed=3", "--set", "seed=4"}, "--set seed=4: seed: is also set by --set seed=3"},
		{[]string{"--algorithms", "bully", "--nodes", "3", "--set", "nodes=5"},
			"--set nodes=5: nodes: is also set by --nodes 3"},
	} {
		for _, verb := range []string{"run", "plan"} {
			args := append([]string{verb}, c.args...)
			if verb == "run" {
				args = append(args, "--out", root)
			}
			has(t, bench(t, args...).want(t, Usage).errors, c.want)
		}
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("%v, %v, want no run", left, err)
	}
	bench(t, "plan", file, "--transport", "sim", "--set", "transport=sim").want(t, Good)
}

// TestRun_LatestIsTaken: a user's file stays, and nothing runs.
func TestRun_LatestIsTaken(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	taken := filepath.Join(root, "small", "latest")
	if err := os.Mkdir(filepath.Dir(taken), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, taken, []byte("mine"))
	r := bench(t, "run", write(t, "small.yaml", small), "--out", root).want(t, CouldNotRun)
	has(t, r.errors, taken+" exists, but bench did not write it", "move it away")
	if left, err := os.ReadDir(filepath.Dir(taken)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v, want the file alone", left, err)
	}
	if text := must(os.ReadFile(taken)); string(text) != "mine" {
		t.Errorf("the file holds %q", text)
	}
}
