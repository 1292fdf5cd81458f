package cli

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
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
	has(t, text, "by downtime_ms: ", "  ring-list recovers exactly ", "time-outs and detectors are at their defaults")
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
