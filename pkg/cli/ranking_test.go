package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
)

// TestRun_Ranking: a run of several algorithms says which is the faster, and that their
// time-outs are not tuned alike.
func TestRun_Ranking(t *testing.T) {
	t.Parallel()
	run := func(args ...string) string {
		return bench(t, append([]string{"run", "--nodes", "5", "--transport", "sim", "--set", "repetitions=10",
			"--out", t.TempDir(), "--quiet"}, args...)...).want(t, Good).out
	}
	text := run("--algorithms", "bully,ring-list", "--set", "network.latency=3ms")
	has(t, text, "\nring-list takes exactly 1.214x as long as bully; 10 seed-matched pairs;\n  time-outs as set, not tuned\nby downtime_ms: ",
		"time-outs and detectors are at their defaults: ", "tune them with: bench tune FILE")
	if strings.Index(text, "by downtime_ms: ") > strings.Index(text, "n: trials with status ok") {
		t.Errorf("the ranking is not the first after the table:\n%s", text)
	}
	if text = run("--algorithms", "bully"); strings.Contains(text, "by downtime_ms") || strings.Contains(text, "defaults") {
		t.Errorf("one algorithm is ranked:\n%s", text)
	}
	var r runAnswer
	if err := answer.Unmarshal([]byte(run("--algorithms", "bully,ring-list", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if d := r.Ranking[0]; d.Slower != "ring-list" || d.Faster != "bully" || !d.Shown || !d.SameLuck || d.N != 10 ||
		d.Ratio == nil || *d.Ratio <= 1 || d.Difference != nil || d.Metric != "downtime_ms" {
		t.Errorf("%+v", r.Ranking)
	}
}

// TestRun_OwnN: a figure that fewer trials have than the row says so.
func TestRun_OwnN(t *testing.T) {
	t.Parallel()
	text := bench(t, "run", "--algorithms", "bully", "--nodes", "5", "--transport", "sim", "--set", "repetitions=12",
		"--set", "scenario={kind: churn, duration: 3s}", "--set", "faults.crash_rate=0.1", "--out", t.TempDir(),
		"--quiet").want(t, Good).out
	has(t, text, " n=", "n=A beside a figure: it has a value in A trials, not in all n of the row")
}

// TestRun_Wide: above 40 cells people see one metric, with the swept key that has the most values as columns, and
// programs see all.
func TestRun_Wide(t *testing.T) {
	t.Parallel()
	file := write(t, "wide.yaml", `name: wide
problem: election
algorithms: [bully, ring-list]
transport: sim
sweep:
  - {vary: nodes, over: [3, 4, 5, 6, 7, 8, 9]}
  - {vary: network.loss, over: [0, 0.01, 0.02]}
repetitions: 10
`)
	args := []string{"run", file, "--out", t.TempDir(), "--quiet"}
	text := bench(t, args...).want(t, Good).out
	has(t, flat(text), "downtime_ms, by nodes: algorithm loss 3 4 5 6 7 bully 0 38 38 38 38 38 bully 0.01 38 * ", "/10 *",
		"nodes=3, loss=0; ",
		"the table shows only downtime_ms, of 42 cells")
	if n := strings.Count(text, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
	var r runAnswer
	if err := answer.Unmarshal([]byte(bench(t, append(args, "--json")...).want(t, Good).out), &r); err != nil || len(r.Cells) != 42 {
		t.Errorf("%v, %d cells", err, len(r.Cells))
	}
}

// TestCompare_Algorithms: two algorithms of one run are compared by the main time, or by the metrics that are
// asked for, each with its own test; what cannot rank algorithms is refused.
func TestCompare_Algorithms(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", "--algorithms", "bully,ring-list", "--nodes", "5", "--transport", "sim", "--repetitions", "10",
		"--set", "network.latency=3ms", "--out", root, "--quiet").want(t, Good)
	run := filepath.Join(root, "bully-vs-ring-list")
	pair := func(args ...string) ran {
		return bench(t, append([]string{"compare", run, "bully", "ring-list"}, args...)...)
	}
	has(t, flat(pair().want(t, Good).out), "by downtime_ms: ",
		"ring-list takes exactly 1.214x as long as bully; 10 seed-matched pairs. Test: Student's t of pairs",
		"adjusted for 1 comparison (Westfall and Young)", "; time-outs as set, not tuned")
	text := flat(pair("--metrics", "messages_per_election,downtime_ms").want(t, Good).out)
	has(t, text, "by messages_per_election: ", "ring-list has exactly 2.105x the messages per election of bully",
		"by downtime_ms: ", "ring-list takes exactly 1.214x")
	if messages, _, _ := strings.Cut(text, "by downtime_ms"); strings.Contains(messages, compare.AsSetNote) {
		t.Errorf("messages depend on time-outs: %s", messages)
	}
	has(t, pair("--metrics", "availability").want(t, Usage).errors, "no two algorithms can be ranked by it")
	has(t, pair("--metrics", "messags").want(t, Usage).errors, `did you mean "messages"?`)
	has(t, bench(t, "compare", run, "bully", "raft").want(t, Usage).errors, `unknown algorithm "raft"`)
}
