package cli

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestPlan_Disk holds what bench plan says of the disk against runs.
func TestPlan_Disk(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"quickstart", "quickstart-mutex", "ci"} {
		args := []string{filepath.Join("..", "..", "configs", name+".yaml"), "--transport", "sim", "--set",
			"repetitions=2", "--set", "trace=all"}
		var plan struct {
			Tables float64 `json:"tables_bytes"`
			Traces float64 `json:"traces_bytes"`
		}
		text := bench(t, append([]string{"plan", "--json"}, args...)...).want(t, Good).out
		if err := answer.Unmarshal([]byte(text), &plan); err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		bench(t, append([]string{"run", "--out", root}, args...)...)
		dir := latest(t, root, name)
		near(t, name+": tables and journal", plan.Tables, 2, filepath.Join(dir, "*.csv"),
			filepath.Join(dir, results.JournalFile))
		near(t, name+": traces", plan.Traces, 5, filepath.Join(dir, results.TracesDir, "*.ndjson"))
	}
}

// near wants a number to be within a factor of the bytes in files.
func near(t *testing.T, what string, said, factor float64, patterns ...string) {
	t.Helper()
	sum := 0.
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			sum += float64(info.Size())
		}
	}
	if off := math.Abs(math.Log(said / sum)); !(off <= math.Log(factor)) {
		t.Errorf("%s: %.0f bytes, plan said %.0f", what, sum, said)
	}
}

// TestRun_TracesLeftOut: a run that leaves traces out says so in a line, and one that keeps all does not.
func TestRun_TracesLeftOut(t *testing.T) {
	t.Parallel()
	path, root := write(t, "flood.yaml", `name: flood
problem: election
algorithms: [bully]
transport: sim
network: {latency: 2ms, loss: 0.5}
detector: {kind: heartbeat}
time_limit: 200ms
scenario: {kind: leader-crash}
nodes: 3
repetitions: 120
seed: 1
`), t.TempDir()
	ran := bench(t, "run", path, "--out", root)
	has(t, ran.out+ran.errors, "timeout trials are kept", "trace: all keeps all")
	all := bench(t, "run", path, "--out", t.TempDir(), "--set", "trace=all")
	if text := all.out + all.errors; strings.Contains(text, "trials are kept") {
		t.Errorf("all traces are kept, and the run says:\n%s", text)
	}
	paths, err := filepath.Glob(filepath.Join(latest(t, root, "flood"), results.TracesDir, "*.ndjson.gz"))
	if err != nil || len(paths) < results.MostAlike {
		t.Errorf("%d compressed traces, %v", len(paths), err)
	}
	for _, verb := range [][]string{{"trace", latest(t, root, "flood"), "--trial", "1"}, {"replay", latest(t, root, "flood"), "--trial", "1"}} {
		bench(t, verb...).want(t, Good)
	}
}
