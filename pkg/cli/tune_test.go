package cli

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// noisy is an experiment in which detectors make mistakes.
const noisy = `
name: noisy
problem: election
algorithms: [bully, {name: ring-list, label: ring, detector: {kind: phi}}]
nodes: 3
network: {latency: {distribution: exponential, mean: 1ms}, loss: 0.01}
detector: {kind: heartbeat}
repetitions: 10
`

// TestTune: a search ends with a table, a CSV file, figures, and an experiment that runs. It is
// simulated, although the file does not say so.
func TestTune(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	file := write(t, "noisy.yaml", noisy)
	r := here.bench(t, "tune", file, "--budget", "3000", "--span", "4").want(t, Good)
	has(t, r.out, "budget      3000 false elections per hour", "messages/s", "detector.interval=", "detector.timeout=",
		"detector.threshold=", "*: out of its model", "bully: out of its model, as with ", "does not survive message loss",
		"compare: bench run results/noisy-tune/")
	has(t, r.errors, "bully detector.timeout=", ": downtime_ms ", ": over", ": within")
	narrow(t, r.out)
	narrow(t, r.errors)
	const dir = "results/noisy-tune/latest/"
	for _, name := range []string{"front.svg", "front.pdf", "front.png", "cost.svg", "cost.pdf", "cost.png"} {
		if info, err := os.Stat(here.path(dir + name)); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(here.read(t, dir+"tune.csv"))).ReadAll()
	if err != nil || len(rows) < 7 {
		t.Fatalf("tune.csv: %v, %d rows", err, len(rows))
	}
	page := string(must(os.ReadFile(filepath.Join(testdata, "..", "..", "..", "docs", "how-to", "tuning.md"))))
	for _, column := range rows[0] {
		has(t, page, "`"+column+"`")
	}
	chosen, limit := slices.Index(rows[0], "chosen"), slices.Index(rows[0], "messages_limit")
	n := map[string]int{}
	for _, row := range rows[1:] {
		if row[chosen] == "true" {
			n[row[limit]]++
		}
	}
	for limit, n := range n {
		if n != 2 {
			t.Errorf("%d settings chosen within %s messages per second, want 2", n, limit)
		}
	}
	if len(n) != 3 {
		t.Errorf("settings chosen within %v messages per second, want three limits", n)
	}
	again := here.bench(t, "run", filepath.FromSlash(dir+"tuned.yaml")).want(t, Good)
	has(t, again.out, "bully", "ring")
	if strings.Contains(again.out, "at their defaults") {
		t.Errorf("the tuned experiment:\n%s", again.out)
	}
	has(t, here.bench(t, "run", file, "--transport", "sim").want(t, Good).out, "at their defaults")

	var report struct {
		Budget     float64 `json:"budget_per_hour"`
		Algorithms []struct {
			Outcome string
			Limit   float64 `json:"messages_limit"`
		}
		Settings []struct {
			Label  string
			Chosen bool
		}
	}
	r = here.bench(t, "tune", file, "--budget", "3000", "--span", "4", "--json", "--quiet").want(t, Good)
	if err := answer.Unmarshal([]byte(r.out), &report); err != nil || r.errors != "" {
		t.Fatalf("%v: %s%s", err, r.out, r.errors)
	}
	if len(report.Algorithms) != 6 || report.Algorithms[0].Limit <= 0 || report.Budget != 3000 || report.Algorithms[0].Outcome != "found" ||
		len(report.Settings) != len(rows)-1 {
		t.Errorf("%+v", report)
	}
}

// TestTune_Refused: what cannot be tuned, and flags that mean nothing, are said with a remedy.
func TestTune_Refused(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	file := write(t, "noisy.yaml", noisy)
	for want, args := range map[string][]string{
		"expected 0.001 to 1000000":     {"--budget", "0"},
		"expected 2 to 1024":            {"--span", "1"},
		"expected shares above 0":       {"--spread", "0"},
		"set a limit with --hours":      {"--transport", "nats"},
		"leave out the sweep":           {"--set", "sweep=[{vary: nodes, over: [3, 5]}]"},
		"write scenario: {kind: leader": {"--set", "scenario.kind=cold-start"},
		"expected 0.001 to 100000":      {"--hours", "-1"},
		"expected 0.05 to 10":           {"--precision", "0"},
		"--messages 0, expected 0.001":  {"--messages", "0"},
		"give one of them":              {"--messages", "10", "--keep-intervals"},
	} {
		has(t, here.bench(t, append([]string{"tune", file}, args...)...).want(t, Usage).errors, want)
	}
	has(t, here.bench(t, "tune", "--algorithms", "bully").want(t, Usage).errors, "detector perfect makes no false suspicion")
	has(t, here.bench(t, "tune").want(t, Usage).errors, "no experiment: expected FILE")
	if left, _ := filepath.Glob(here.path("results/*")); len(left) > 0 {
		t.Errorf("a refusal left %q", left)
	}
	r := here.bench(t, "tune", file, "--hours", "0.001", "--span", "2", "--quiet", "--keep-intervals").want(t, Incomplete)
	has(t, r.out, "bully: cannot be decided in 0.001 hours of quiet running; give")
}
