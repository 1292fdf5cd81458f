package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
)

// A simulated trial is drawn alike from its trace and from another simulation.
func TestTrace_KeptOrReplayed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := write(t, "small.yaml", small)
	var drawn [2]string
	for i, keep := range []string{"all", "none"} {
		out := filepath.Join(root, keep)
		bench(t, "run", file, "--out", out, "--quiet", "--set", "trace="+keep).want(t, Good)
		dir := latest(t, out, "small")
		if _, err := os.Stat(filepath.Join(dir, "traces")); (err == nil) != (keep == "all") {
			t.Fatalf("trace %s: traces: %v", keep, err)
		}
		for _, format := range diagram.Formats {
			r := bench(t, "trace", dir, "--trial", "30", "--format", format, "--detector")
			drawn[i] += r.want(t, Good).out
		}
	}
	if drawn[0] != drawn[1] {
		t.Error("the trace that was kept gives another diagram than the one of a replay")
	}
	has(t, drawn[0], "<svg ", "=== small, trial 30: ", `"traceEvents"`, "sequenceDiagram",
		"1           0s  p1 is up")
}

func TestTrace_Out(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	dir := latest(t, root, "small")
	path := filepath.Join(root, "one.svg")
	r := bench(t, "trace", dir, "--trial", "1", "--out", path).want(t, Good)
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "<svg ") || r.out != "" {
		t.Errorf("%v, %.20q, and on standard output %q", err, text, r.out)
	}
	has(t, r.errors, "wrote "+path)
	page := filepath.Join(root, "one.html")
	for range 2 { // what it has written itself it replaces
		bench(t, "trace", dir, "--trial", "1", "--html", "--out", page).want(t, Good)
	}
	has(t, bench(t, "trace", dir, "--trial", "1", "--html", "--out", path).want(t, Usage).errors,
		"one.svg exists and is no trace of bench")
	bench(t, "trace", dir, "--trial", "1", "--out", filepath.Join(root, "no", "one.svg")).want(t, CouldNotRun)
	for args, says := range map[string]string{
		"--trial 57":                      "trials 1 to 56",
		"--trial 1 --format png":          "expected one of: svg, shiviz",
		"--trial 1 --from 2ms --to 1ms":   "an instant and a later one",
		"--trial 1 --from 10":             "missing unit",
		"--trial 1 --from 9s":             "the records go from 0s to ",
		"--trial 1 --event 0":             "count from 1",
		"--trial 1 --event 9999":          "the trace has events 1 to ",
		"--trial 1 --event 1 --violation": "leave one of them out",
		"--trial 1 --violation":           "no event of trial 1 breaks a promise",
		"--trial 1 --html --format svg":   "leave one of them out",
		"":                                "--trial N",
	} {
		r := bench(t, append([]string{"trace", dir}, strings.Fields(args)...)...).want(t, Usage)
		has(t, r.errors, says)
	}
}

// The first broken promise is the event at which the second process enters.
func TestTrace_Violation(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := write(t, "greedy.yaml", `
name: greedy
problem: mutex
algorithms: [test-greedy]
transport: sim
nodes: 3
scenario:
  kind: script
  hold: 5ms
  events: [{at: 0ms, do: request, node: 1}, {at: 1ms, do: request, node: 2}, {at: 9ms, do: request, node: 3}]
repetitions: 1
`)
	bench(t, "run", file, "--out", root, "--quiet").want(t, Violated)
	dir := latest(t, root, "greedy")
	events := bench(t, "trace", dir, "--trial", "1", "--format", "events").want(t, Good).out
	enters := regexp.MustCompile(`(?m)^ *(\d+) +1ms  p2 enters the critical section$`)
	found := enters.FindStringSubmatch(events)
	if found == nil {
		t.Fatalf("p2 does not enter at 1ms:\n%s", events)
	}
	one := bench(t, "trace", dir, "--trial", "1", "--violation").want(t, Good).out
	if two := bench(t, "trace", dir, "--trial", "1", "--event", found[1]).want(t, Good).out; one != two {
		t.Errorf("--violation draws another event than %s, at which two are inside", found[1])
	}
	has(t, one, "what could have led to event "+found[1])
	if strings.Contains(one, "p3 is in the critical section") {
		t.Error("what happens later is drawn as well")
	}
}
