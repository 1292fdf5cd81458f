package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// benchmarks reads text as benchstat does, and refuses what it would complain of.
func benchmarks(t testing.TB, text string) (all []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(text), "exported")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			all = append(all, rec.Clone())
		case *benchfmt.SyntaxError:
			t.Errorf("%v", rec)
		}
	}
	must(t, r.Err())
	return all, r.Units()
}

// Every trial with status ok is there, with the values that it has, and nothing else.
func TestGobench_RoundTrip(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Run{"small": small(t), "hostile": hostileRun()} {
		metrics := []string{"election_ms", "messages", "availability"}
		got, units := benchmarks(t, one(t, r, "gobench", Options{Metrics: metrics}))
		next := 0
		for _, c := range r.Cells() {
			for _, trial := range c.Trials {
				if trial.Status != trace.OK {
					continue
				}
				if next == len(got) {
					t.Fatalf("%s: %d lines only", name, next)
				}
				line := got[next]
				next++
				checkLine(t, name, line, c, trial, metrics)
			}
		}
		if next != len(got) {
			t.Errorf("%s: %d lines, want %d", name, len(got), next)
		}
		if b := units.GetBetter("availability"); b != 1 {
			t.Errorf("%s: availability: better %d, want higher", name, b)
		}
		if b := units.GetBetter("election-sec"); b != -1 {
			t.Errorf("%s: election-sec: better %d, want lower", name, b)
		}
	}
}

func checkLine(t *testing.T, name string, line *benchfmt.Result, c *results.Cell, trial *results.Trial,
	metrics []string) {
	t.Helper()
	base, parts := line.Name.Parts()
	if string(base) != "Election" || len(parts) < 3 ||
		string(parts[0]) != "/label="+word(view.Label(c.Design)) || string(parts[1]) != "/nodes="+c.Get("nodes") ||
		string(parts[len(parts)-1]) != "-1" {
		t.Errorf("%s: trial %d: name %q, parts %q", name, trial.Trial, line.Name, parts)
	}
	for _, m := range metrics {
		want, _ := trial.Observe(m)
		unit := m
		if m == "election_ms" {
			want, unit = want/1e3, "election-sec"
		}
		got, ok := line.Value(unit)
		if !ok || math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: trial %d: %s is %v, want %v", name, trial.Trial, unit, got, want)
		}
	}
	if got := len(line.Values); got != len(metrics) {
		t.Errorf("%s: trial %d: %d values, want %d", name, trial.Trial, got, len(metrics))
	}
}

// A cell has a name of its own, whatever it is called.
func TestGobench_NamesDiffer(t *testing.T) {
	t.Parallel()
	all, _ := benchmarks(t, one(t, hostileRun(), "gobench", Options{}))
	names := map[string]int{}
	for _, b := range all {
		names[string(b.Name)]++
	}
	if len(names) != len(hostile) {
		t.Errorf("%d names of %d cells: %v", len(names), len(hostile), names)
	}
}

func TestGobench_Remarks(t *testing.T) {
	t.Parallel()
	r := runOf(append(sample("a", 1, 2),
		spec{label: "a", nodes: 3, status: trace.TimedOut, reason: "no leader", ms: math.NaN()},
		spec{label: "a", nodes: 3, status: trace.Violated, reason: "two leaders", outside: true},
	)...)
	text := one(t, r, "gobench", Options{})
	for _, want := range []string{
		"# BenchmarkElection/label=a/nodes=3-1: trial 3: timeout: its times are right-censored: larger than those of " +
			"the others: no leader\n",
		"# BenchmarkElection/label=a/nodes=3-1: trial 4: violation, in_model=false: two leaders\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestIsKey(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"nodes": true, "a-b_1": true, "": false, "Nodes": false, "aBC": false, "1a": false, "_a": false, "a b": false,
		"a:": false, "a.b": false,
	} {
		if got := isKey(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// Counts are exact where all trials of a simulated cell agree, and nowhere else.
func TestGobench_Exact(t *testing.T) {
	t.Parallel()
	exact := func(r *Run, o Options) bool {
		o.Metrics = []string{"messages", "election_ms"}
		text := one(t, r, "gobench", o)
		if strings.Contains(text, "election-ns better=lower assume") {
			t.Error("a time is exact")
		}
		return strings.Contains(text, "Unit messages better=lower assume=exact\n")
	}
	if !exact(small(t), Options{Where: where("loss=0")}) {
		t.Error("simulated without loss: the messages are not exact")
	}
	if exact(small(t), Options{}) {
		t.Error("simulated with loss: the messages differ from trial to trial and are exact")
	}
	if exact(runOf(sample("a", 1, 2, 3)...), Options{}) {
		t.Error("on real nodes: the messages are exact")
	}
}

func TestGobench_Configuration(t *testing.T) {
	t.Parallel()
	keys := func(r *Run, o Options) map[string]string {
		out := map[string]string{}
		all, _ := benchmarks(t, one(t, r, "gobench", o))
		for _, c := range all[0].Config {
			out[c.Key] = string(c.Value)
		}
		return out
	}
	nodes := runOf(sample("a", 1, 2)...)
	nodes.Header = small(t).Header
	for _, test := range []struct {
		name string
		r    *Run
		full bool
		want map[string]string
	}{
		{"simulated", small(t), false, map[string]string{"pkg": "conclave/small"}},
		{"a file alone", runOf(sample("a", 1, 2)...), false, map[string]string{}},
		{"real nodes", nodes, false, map[string]string{"pkg": "conclave/small", "goos": "linux",
			"goarch": "amd64", "cpu": "Example CPU"}},
		{"full", small(t), true, map[string]string{"pkg": "conclave/small", "run": "20261120-101500",
			"seed": "1", "started": "2026-11-20T09:15:00Z", "version": "v1.2.3", "kernel": "6.18",
			"config-sha256": small(t).Header.Config, "transport": "sim", "scenario": "leader-crash",
			"latency_model": "constant", "latency_ms": "2", "duplication": "0", "crash_rate": "0"}},
	} {
		got := keys(test.r, Options{Full: test.full})
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	if text := one(t, nodes, "gobench", Options{}); !strings.Contains(text, "/nodes=3-2 1 ") {
		t.Errorf("real nodes: not the processors of the machine in\n%s", text)
	}
}

// benchstat, the real one, reads what is exported, and sees what our own test sees.
func TestGobench_Benchstat(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to run benchstat with")
	}
	old := append(sample("slower", 10, 11, 12, 13, 14, 15), sample("alike", 10, 12, 14, 16, 18, 20)...)
	fresh := append(sample("slower", 20, 21, 22, 23, 24, 25), sample("alike", 11, 13, 15, 17, 19, 9)...)
	old = append(old, sample("faster", 31, 32, 33, 34, 35.5, 36.25, 37, 38)...)
	fresh = append(fresh, sample("faster", 1, 2, 3, 4, 5, 6, 7, 31.5)...)
	got := benchstat(t, runOf(old...), runOf(fresh...))
	other := runOf(fresh...).Table
	for i := range other.Trials {
		other.Trials[i].Seed += 100 // benchstat knows no pairs
	}
	report, err := compare.Compare(runOf(old...).Table, other,
		compare.Options{Metrics: []string{"election_ms"}})
	must(t, err)
	ours := map[string]compare.Verdict{}
	for _, row := range report.Rows {
		ours[row.Cell[0].Value] = row.Verdict
	}
	for _, label := range []string{"slower", "alike", "faster"} {
		value := func(s spec) bool { return s.label != label }
		p := stats.MannWhitney(milliseconds(slices.DeleteFunc(slices.Clone(old), value)),
			milliseconds(slices.DeleteFunc(slices.Clone(fresh), value))).P
		v, ok := got["Election/label="+label+"/nodes=3-1"]
		if !ok {
			t.Errorf("%s: benchstat has no such row: %v", label, got)
			continue
		}
		if math.Abs(v.p-p) > 0.0005+1e-9 || (v.change == "~") != (p > 0.05) {
			t.Errorf("%s: benchstat says %s, p=%.3f, and our test p=%v", label, v.change, v.p, p)
		}
	}
	for label, want := range map[string]struct {
		verdict compare.Verdict
		sign    string
	}{"slower": {compare.Worse, "+"}, "alike": {compare.Unclear, "~"}, "faster": {compare.Better, "-"}} {
		change := got["Election/label="+label+"/nodes=3-1"].change
		if ours[label] != want.verdict || !strings.HasPrefix(change, want.sign) {
			t.Errorf("%s: bench compare says %q and benchstat %q, want %q and %s", label, ours[label], change,
				want.verdict, want.sign)
		}
	}
}

func milliseconds(specs []spec) (out []float64) {
	for _, s := range specs {
		out = append(out, s.ms)
	}
	return out
}

type verdict struct {
	change string
	p      float64
}

// benchstat runs it on two runs and returns what it says of election-sec, by name.
func benchstat(t *testing.T, old, fresh *Run) map[string]verdict {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, r := range []*Run{old, fresh} {
		path := filepath.Join(dir, []string{"old.txt", "new.txt"}[i])
		o := Options{Metrics: []string{"election_ms"}}
		must(t, os.WriteFile(path, []byte(one(t, r, "gobench", o)), 0o644))
		paths = append(paths, path)
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "golang.org/x/perf/cmd/benchstat",
		"-format", "csv"}, paths...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("benchstat: %v\n%s", err, &stderr)
	}
	if stderr.Len() > 0 {
		t.Errorf("benchstat complains: %s", &stderr)
	}
	rows := csv.NewReader(&stdout)
	rows.FieldsPerRecord = -1
	all, err := rows.ReadAll()
	must(t, err)
	out := map[string]verdict{}
	for _, row := range all { // name, old, interval, new, interval, change, p
		if len(row) < 7 || !strings.HasPrefix(row[6], "p=") {
			continue
		}
		p, err := strconv.ParseFloat(strings.Fields(strings.TrimPrefix(row[6], "p="))[0], 64)
		must(t, err)
		out[row[0]] = verdict{row[5], p}
	}
	if len(out) == 0 {
		t.Fatalf("benchstat compares nothing:\n%v", all)
	}
	return out
}

// The units are ones that benchstat scales.
func TestGobench_Units(t *testing.T) {
	t.Parallel()
	for m, want := range map[*metric.Metric]string{
		metric.Election: "election-ns", metric.WaitingP99: "waiting_p99-ns", metric.Messages: "messages",
		metric.MessagesPerEntry: "messages/entry", metric.Throughput: "throughput/s",
	} {
		if got := benchUnit(m); got != want {
			t.Errorf("%s: %s, want %s", m.Name, got, want)
		}
	}
	if _, unit := benchunit.Tidy(1, benchUnit(metric.Election)); unit != "election-sec" {
		t.Errorf("election_ms ends as %s", unit)
	}
}
