package compare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// withOperations is a run whose trials have operations, as rows of the columns from
// cause_ms on.
func withOperations(t *testing.T, n int, of func(trial int) []string) *results.Table {
	t.Helper()
	table := run("sim", n, nil)
	table.Path = t.TempDir()
	var b strings.Builder
	b.WriteString("trial,operation,process,cause_ms,begin_ms,end_ms,status,cause,phase\n")
	for _, trial := range table.Trials {
		for i, row := range of(trial.Trial) {
			fmt.Fprintf(&b, "%d,%d,1,%s,\n", trial.Trial, i+1, row)
		}
	}
	if err := os.WriteFile(filepath.Join(table.Path, results.OperationsFile), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return table
}

// tenEach are operations of 1 to 10 ms in each trial.
func tenEach(int) (rows []string) {
	for i := range 10 {
		rows = append(rows, fmt.Sprintf("0,0.25,%d,ok,leader-crash", i+1))
	}
	return rows
}

// TestMisses_OverOperations: what is judged are all operations that count, whatever the
// means of the trials are, and what is pending is longer than all of them.
func TestMisses_OverOperations(t *testing.T) {
	t.Parallel()
	one := []metric.Field{{Name: "algorithm", Value: "raft"}, {Name: "nodes", Value: "5"}}
	bound := func(v float64) *float64 { return &v }
	max := func(name, stat string, v float64) experiment.Threshold {
		return experiment.Threshold{Metric: name, Stat: stat, Over: "operations", Max: bound(v), Where: one}
	}
	const pending, other = "9,9.5,,pending,leader-crash", "0,1,99,other,unneeded"
	for _, tt := range []struct {
		name       string
		trials     int
		operations func(int) []string
		t          experiment.Threshold
		told, miss string
	}{
		{"kept", 10, tenEach, max("downtime_agreed_ms", "p90", 9.2),
			"p90 of downtime_agreed_ms: 9.1 over 100 operations in 10 trials, 95 % interval [9, 10], design effect 0", ""},
		{"missed", 10, tenEach, max("downtime_agreed_ms", "p90", 9), "9.1 over 100 operations",
			"over operations at most 9, but it is 9.1: 0.1 more (+1.11%), over 100 operations in 10 trials, 95 % interval"},
		{"from the begin", 10, tenEach, max("election_ms", "max", 9.7), "max of election_ms: 9.75 over 100",
			"it is 9.75: 0.05 more"},
		{"too few trials", 5, tenEach, max("downtime_agreed_ms", "p90", 50), "interval n/a: 5 trials, of 6 needed",
			"it is not known: 9.1 of too few, 50 operations in 5 trials"},
		{"too few operations", 7, tenEach, max("downtime_agreed_ms", "p95", 50), "equivalent to 19 independent operations, " +
			"of 72 needed: about 16 trials like these", "it is not known: 10 of too few"},
		{"a maximum needs no interval", 5, tenEach, max("downtime_agreed_ms", "max", 50), "in 5 trials", ""},
		{"pending", 10, func(n int) []string { return append(tenEach(n), pending, other) },
			max("downtime_agreed_ms", "p90", 10), "10 over 110 operations in 10 trials (10 still pending, taken as " +
				"longer than all others), 95 % interval [10, ...]", ""},
		{"beyond", 10, func(n int) []string { return append(tenEach(n), pending) },
			max("downtime_agreed_ms", "p95", 1e9), "n/a over 110", "it is larger than every observed value: 110 operations in 10"},
		{"begun before the end", 10, func(n int) []string { return append(tenEach(n), pending) },
			max("detection_ms", "max", 1), "max of detection_ms: 0.5 over 110 operations in 10 trials", ""},
		{"none", 10, func(n int) []string { return []string{other} }, max("downtime_agreed_ms", "median", 10),
			"n/a over 0 operations", "no trial has an operation that counts"},
	} {
		table := withOperations(t, tt.trials, tt.operations)
		misses, told, err := Misses(table, []experiment.Threshold{tt.t})
		if err != nil || len(told) != 1 || !strings.Contains(told[0].String(), tt.told) {
			t.Errorf("%s: told %v, %v, want %q", tt.name, &told[0], err, tt.told)
		}
		if (len(misses) > 0) != (tt.miss != "") || tt.miss != "" && !strings.Contains(misses[0].Miss(), tt.miss) {
			t.Errorf("%s: %v, want %q", tt.name, misses, tt.miss)
		}
	}
}

// TestMisses_WithoutOperations: a table of trials has no operations to judge, and a trial
// that broke a promise has none that count.
func TestMisses_WithoutOperations(t *testing.T) {
	t.Parallel()
	thresholds := []experiment.Threshold{{Metric: "election_ms", Stat: "max", Over: "operations"}}
	if _, _, err := Misses(run("sim", 6, nil), thresholds); err == nil ||
		!strings.Contains(err.Error(), "no operations are recorded") {
		t.Errorf("%v, want that there are none", err)
	}
	table := withOperations(t, 6, tenEach)
	for i := range table.Trials {
		table.Trials[i].Status = trace.Violated
	}
	table.Trials[0].Status = trace.TimedOut
	_, told, err := Misses(table, thresholds)
	if err != nil || told[0].Tail.N != 10 || told[1].Tail.N != 0 {
		t.Errorf("%+v, %v, want the operations of the trial that timed out", told, err)
	}
}

// TestTailText: a table says of each quantile its interval, or what one takes.
func TestTailText(t *testing.T) {
	t.Parallel()
	groups := func(trials, each int, pending float64) (out [][]float64) {
		for i := range trials {
			var g []float64
			for k := range each {
				g = append(g, float64(1+(i+k)%each))
			}
			out = append(out, append(g, pending))
		}
		return out
	}
	nan := math.NaN()
	for _, tt := range []struct {
		groups [][]float64
		p      float64
		want   string
	}{
		{nil, 0.5, "none"},
		{groups(5, 10, nan), 0.5, "5.5 [refused: needs 6 trials]"},
		{groups(7, 3, nan), 0.95, "3 [refused: worth 7, needs n >= 72]"},
		{groups(20, 10, nan), 0.5, "5.5 [5, 6]"},
		{groups(20, 10, math.Inf(1)), 0.5, "6 [6, 6]"},
		{groups(20, 10, math.Inf(1)), 0.95, "pending [n/a]"},
	} {
		tail := stats.GroupedQuantile(tt.groups, tt.p, stats.Confidence)
		if got := new(view.Legend).Tail(&tail); got != tt.want {
			t.Errorf("%v of %v: %q, want %q", tt.p, tt.groups, got, tt.want)
		}
	}
}

// TestRecorded: where a run has no outages, agreement is what ends a downtime.
func TestRecorded(t *testing.T) {
	t.Parallel()
	old := withOperations(t, 6, tenEach)
	for want, got := range map[string][]*metric.Metric{
		"election_ms downtime_ms":        MainTails("election"),
		"election_ms downtime_agreed_ms": MainTails("election", old),
		"waiting_ms":                     MainTails("mutex"),
		"downtime_agreed_ms": Recorded([]*metric.Metric{metric.Downtime, metric.Agreed.Downtime, metric.Led.Downtime,
			metric.Messages}, old),
	} {
		if text := strings.Join(metric.Names(got), " "); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
