package cli

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// lossy is an experiment in which a message that is lost may cost a leader.
const lossy = `
name: lossy
problem: election
algorithms: [bully]
nodes: 3
network: {latency: {distribution: exponential, mean: 2ms}, loss: 0.2}
detector: {kind: heartbeat}
scenario: {kind: leader-crash}
repetitions: 10
`

// TestRare: the table, the CSV file and the JSON say the same, and every column is documented.
func TestRare(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	file := write(t, "lossy.yaml", lossy)
	args := []string{"rare", file, "--beyond", "4,200ms", "--paths", "50"}
	r := here.bench(t, append(args, "--csv", "rare.csv")...).want(t, Good)
	has(t, r.out, "bully       200ms          2", "bully       400ms          4", "time-out detector.timeout 100ms",
		"outages by downtime_agreed_ms", "10 replications of 50 paths a stage", "results: rare.csv")
	narrow(t, r.out)
	rows, err := csv.NewReader(strings.NewReader(here.read(t, "rare.csv"))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("rare.csv: %v, %v", err, rows)
	}
	page := string(must(os.ReadFile(filepath.Join(testdata, "..", "..", "..", "docs", "how-to", "rare.md"))))
	for _, column := range rows[0] {
		has(t, page, "`"+column+"`")
	}
	j := here.bench(t, append(args, "--json", "--quiet", "--workers", "3")...).want(t, Good)
	report, err := answer.Decode([]byte(j.out))
	if err != nil || j.errors != "" {
		t.Fatalf("%v: %s%s", err, j.out, j.errors)
	}
	tail := report.Table("estimates")
	number := func(row int, column string) float64 { return tail[row][column].(float64) }
	for i, row := range rows[1:] {
		for column, name := range rows[0] {
			if got, _ := strconv.ParseFloat(row[column], 64); column > 1 && math.Abs(got-number(i, name)) > 1e-12 {
				t.Errorf("%s of row %d: %v in the CSV file, %v in JSON", name, i, got, tail[i][name])
			}
		}
	}
	if !(number(0, "probability") > number(1, "probability") && number(1, "probability") > 1e-4 &&
		number(1, "low") < number(1, "high")) {
		t.Errorf("%+v", tail)
	}
}

// TestRare_Unreached: a bound that no path gets beyond is n/a, null and empty, and the exit code says so.
func TestRare_Unreached(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	file := write(t, "lossy.yaml", lossy)
	args := []string{"rare", file, "--beyond", "1h", "--paths", "10", "--replications", "2", "--set", "network.loss=0",
		"--csv", "rare.csv"}
	r := here.bench(t, args...).want(t, Incomplete)
	has(t, r.out, "[n/a, n/a]", "careful: no path exceeded 1h0m0s")
	has(t, here.read(t, "rare.csv"), "bully,downtime_agreed_ms,3600000,36000,0,,,,2,0,10,")
	has(t, here.bench(t, append(args, "--json")...).want(t, Incomplete).out, `"low": null`)
}

// TestRare_Refused: what cannot be estimated is refused with a remedy.
func TestRare_Refused(t *testing.T) {
	t.Parallel()
	file := write(t, "lossy.yaml", lossy)
	for want, args := range map[string][]string{
		"--beyond \"soon\", expected numbers of time-outs": {"--beyond", "soon"},
		"--beyond 0, expected more than 0":                 {"--beyond", "0"},
		"--paths 1, expected 10":                           {"--paths", "1"},
		"--replications 1, expected 2":                     {"--replications", "1"},
		"--workers -1, expected 1":                         {"--workers", "-1"},
		"scenario.kind churn: a trial is followed until": {"--set", "scenario={kind: churn, duration: 1s}", "--set",
			"faults.crash_rate=0.5"},
		"cannot go on twice":           {"--transport", "nats"},
		"bully has no single time-out": {"--set", "detector={kind: perfect}"},
	} {
		has(t, bench(t, append([]string{"rare", file}, args...)...).want(t, Usage).errors, want)
	}
	has(t, bench(t, "rare").want(t, Usage).errors, "no experiment: expected FILE")
}
