package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/pkg/results"
)

var tables = []string{results.TrialsFile, results.OperationsFile, results.MessagesFile,
	results.SummaryFile}

// contents are the files of a run that have to be the same every time.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range tables {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(b)
	}
	return out
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range tables {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs: got\n%.2000s\nwant\n%.2000s", what, name, got[name], want[name])
		}
	}
}

func TestRun_EndToEnd(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := bench(t, "run", write(t, "small.yaml", small), "--out", root).want(t, Good)
	dir := latest(t, root, "small")
	has(t, r.out, "algorithm", "nodes", "loss", "election_ms", "downtime_ms", "messages", "results: "+dir,
		"in_model=false", "[1] ")
	has(t, r.errors, "seed 1\n", dir, "8 cells x 7 repetitions = 56 trials",
		"bench: note: bully: does not survive message loss (network.loss 0.1)", "trial 56/56 cell=")
	if strings.ContainsAny(r.errors+r.out, "\r\x1b") {
		t.Errorf("frames for a terminal in\n%q", r.errors)
	}
	for _, name := range append(tables, results.ManifestFile, results.ConfigFile, results.JournalFile) {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(contents(t, dir)[results.TrialsFile])).ReadAll()
	if err != nil || len(rows) != 57 {
		t.Errorf("trials.csv: %d lines, %v", len(rows), err)
	}
	if err := results.Verify(dir); err != nil {
		t.Error(err)
	}
	m, err := results.ReadManifest(dir)
	if err != nil || !m.Complete || m.Argv[0] != "bench" || m.Argv[1] != "run" {
		t.Errorf("manifest: %+v, %v", m, err)
	}
}

// The figures of the table are those of summary.csv.
func TestRun_JSONAgreesWithSummary(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := bench(t, "run", write(t, "small.yaml", small), "--out", root, "--json", "--quiet").want(t, Good)
	if r.errors != "" {
		t.Errorf("--quiet, and standard error has %q", r.errors)
	}
	var report runAnswer
	if err := answer.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatal(err)
	}
	if !report.Complete || report.Exit != Good || len(report.Cells) != 8 {
		t.Errorf("report: %+v", report)
	}
	rows, err := csv.NewReader(strings.NewReader(
		contents(t, latest(t, root, "small"))[results.SummaryFile])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return results.Number(*v)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	compared := 0
	for _, c := range report.Cells {
		for _, row := range rows[1:] {
			var m figureAnswer
			if c[row[at["metric"]]] == nil || row[at["label"]] != c["label"] || row[at["nodes"]] != fmt.Sprint(c["nodes"]) ||
				row[at["loss"]] != fmt.Sprint(c["loss"]) {
				continue
			}
			if b, err := json.Marshal(c[row[at["metric"]]]); err != nil || json.Unmarshal(b, &m) != nil {
				t.Fatal(err)
			}
			compared++
			for name, got := range map[string]string{"median": number(m.Value),
				"ci_low": number(m.Low), "ci_high": number(m.High)} {
				if got != row[at[name]] {
					t.Errorf("%v %s: %q, but summary.csv has %q", row, name, got, row[at[name]])
				}
			}
		}
	}
	if compared != 8*3 {
		t.Errorf("compared %d figures, want 24", compared)
	}
}

func TestRun_IsDeterministic(t *testing.T) {
	t.Parallel()
	file := write(t, "small.yaml", small)
	var first map[string]string
	for _, workers := range []string{"1", "2", "2"} {
		root := t.TempDir()
		bench(t, "run", file, "--out", root, "--workers", workers, "--quiet").want(t, Good)
		got := contents(t, latest(t, root, "small"))
		if first == nil {
			first = got
		}
		same(t, workers+" workers", got, first)
	}
}

// A journal that was cut anywhere, as a crash does, leads to the same tables.
func TestRun_ResumeAfterCrash(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	dir := latest(t, root, "small")
	want := contents(t, dir)
	journal := filepath.Join(dir, results.JournalFile)
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(whole, '\n') + 1
	for _, size := range []int{header, header + 100, len(whole) / 2, len(whole) - 1, len(whole)} {
		if err := os.Truncate(journal, int64(size)); err != nil {
			t.Fatal(err)
		}
		for _, name := range append(tables, results.ManifestFile) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		r := bench(t, "run", "--resume", filepath.Join(root, "small")).want(t, Good)
		if size > len(whole)/3 {
			has(t, r.errors, "resumed     ", " of 56 trials were finished")
		}
		// The order of execution is a column; the tables are the same all the same.
		same(t, "resumed", contents(t, dir), want)
		if whole, err = os.ReadFile(journal); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRun_ResumeRefusesAnotherConfiguration(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	config := filepath.Join(latest(t, root, "small"), results.ConfigFile)
	b, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(b, []byte("seed: 1"), []byte("seed: 2"), 1)
	if err := os.WriteFile(config, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	r := bench(t, "run", "--resume", filepath.Join(root, "small", "latest")).want(t, CouldNotRun)
	has(t, r.errors, results.ConfigFile)
}

func TestReplay(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	dir := latest(t, root, "small")
	for _, trial := range []string{"1", "10", "56"} {
		has(t, bench(t, "replay", dir, "--trial", trial).want(t, Good).out, "same as recorded")
	}
	has(t, bench(t, "replay", dir, "--trial", "1", "--events").want(t, Good).out,
		"p3 crashes", "p1 sends ELECTION to p2", "p2 receives ELECTION from p1", "p2 names itself leader")
	out := bench(t, "replay", dir, "--trial", "1", "--state").want(t, Good).out
	has(t, out, "p1 sends ELECTION{Attempt:{Incarnation:0 Count:1}} to p2", "status idle → electing", "p3 crashes\n")
	events, _, _ := strings.Cut(out, "\n\n")
	for line := range strings.Lines(events) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	var r struct {
		Trial   int
		Differs []string
		Events  []diagram.Event
	}
	out = bench(t, "replay", dir, "--trial", "1", "--state", "--json").want(t, Good).out
	if err := answer.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	sends := slices.IndexFunc(r.Events, func(e diagram.Event) bool {
		return e.Type == "send" && e.Message == "ELECTION" && e.Holds == "{Attempt:{Incarnation:0 Count:1}}"
	})
	changes := slices.IndexFunc(r.Events, func(e diagram.Event) bool {
		return slices.Contains(e.Changes, diagram.Change{Name: "status", Before: "idle", After: "electing"})
	})
	if changes < 0 || sends < changes {
		t.Errorf("a state changes at event %d, and ELECTION is sent at event %d", changes+1, sends+1)
	}
	out = bench(t, "replay", dir, "--trial", "2", "--json").want(t, Good).out
	if err := answer.Unmarshal([]byte(out), &r); err != nil || r.Trial != 2 || len(r.Differs) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	has(t, bench(t, "replay", dir, "--trial", "57").want(t, Usage).errors, "trials 1 to 56")
	bench(t, "replay", filepath.Join(root, "nothing"), "--trial", "1").want(t, Usage)
}

// TestOnlyTrial: the trial of a run that has one need not be named.
func TestOnlyTrial(t *testing.T) {
	t.Parallel()
	root, file := t.TempDir(), write(t, "small.yaml", small)
	bench(t, "run", file, "--out", root).want(t, Good)
	bench(t, "run", "--algorithms", "bully", "--nodes", "3", "--transport", "sim", "--set", "name=one",
		"--set", "repetitions=1", "--out", root).want(t, Good)
	for _, verb := range []string{"replay", "trace"} {
		if r := bench(t, verb, latest(t, root, "one")).want(t, Good); r.out == "" {
			t.Errorf("bench %s prints nothing", verb)
		}
		has(t, bench(t, verb, latest(t, root, "small")).want(t, Usage).errors, "the run has 56 trials; add --trial N")
		has(t, bench(t, verb, latest(t, root, "one"), "--trial", "2").want(t, Usage).errors, "trials 1 to 1")
	}
}

func TestReplay_Violation(t *testing.T) {
	t.Parallel()
	has(t, bench(t, "replay", filepath.Dir(violated(t)), "--trial", "1").want(t, Violated).out,
		"violation: mutex/test-greedy: ", "same as recorded")
}

// TestRun_Thresholds: a run that misses a threshold says which cell by how much.
func TestRun_Thresholds(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	kept := small + "thresholds: [{metric: election_ms, stat: min, max: 100}]\n"
	bench(t, "run", write(t, "kept.yaml", kept), "--out", out).want(t, Good)
	missed := small + "thresholds: [{metric: messages, stat: max, max: 18, where: {algorithm: bully, loss: 0}}]\n"
	r := bench(t, "run", write(t, "missed.yaml", missed), "--out", out).want(t, Missed)
	has(t, r.out, "threshold: bully, nodes=5, loss=0: max of messages at most 18, but it is 19: 1 more (+5.56%)")
	if strings.Contains(r.out, "nodes=3, loss=0: max") {
		t.Errorf("a cell that keeps it is told:\n%s", r.out)
	}
	r = bench(t, "run", write(t, "missed.yaml", missed), "--out", out, "--json").want(t, Missed)
	has(t, r.out, `"exit_code": 4`, `"name": "thresholds_missed",`, `"value": 19`)
}

// TestRun_TailOfOperations: the mean over the entries of a trial hides what each of them
// took; over: operations judges those.
func TestRun_TailOfOperations(t *testing.T) {
	t.Parallel()
	const file = `name: tail
problem: mutex
algorithms: [naimi-trehel]
transport: sim
nodes: 5
network: {latency: {distribution: exponential, mean: 2ms}}
scenario: {kind: open, rate: 40, duration: 2s, hold: 5ms}
repetitions: 20
seed: 3
trace: none
thresholds:
  - {metric: waiting_ms, stat: p99, max: 12}
`
	out := t.TempDir()
	bench(t, "run", write(t, "means.yaml", file), "--out", out).want(t, Good)
	operations := strings.Replace(file, "max: 12", "max: 12, over: operations", 1)
	r := bench(t, "run", write(t, "tail.yaml", operations), "--out", out).want(t, Missed)
	const rests = "over 1536 operations in 20 trials, 95 % interval [17.74, 32.1], design effect 1.454"
	has(t, r.out, "over operations: naimi-trehel: p99 of waiting_ms: 20.56 "+rests,
		"threshold: naimi-trehel: p99 of waiting_ms over operations at most 12, but it is 20.56: 8.564 more (+71.36%), "+rests)
	// A bound above it is kept, and the figure is told all the same.
	r = bench(t, "run", write(t, "kept.yaml", strings.Replace(operations, "max: 12", "max: 100", 1)),
		"--out", out, "--json").want(t, Good)
	has(t, r.out, `"name": "over_operations"`, `"trials": 20`, `"design_effect": 1.`)

	slow := filepath.Join(out, "slow")
	bench(t, "run", write(t, "kept.yaml", strings.Replace(file, "hold: 5ms", "hold: 6ms", 1)), "--out", slow,
		"--set", "thresholds=[]").want(t, Good)
	base, fresh := filepath.Join(out, "tail"), filepath.Join(slow, "tail")
	r = bench(t, "compare", base, fresh, "--over", "operations", "--threshold", "2%").want(t, Missed)
	has(t, flat(r.out), "p50 operations worse 4.583 [4.203, 4.943]", "1536 19/20 tail pairs")
	has(t, flat(r.errors), "fails: naimi-trehel: p50 of waiting_ms over operations: ",
		"likewise mean 5.477 -> 5.892 over operations, p90 ")
	has(t, flat(bench(t, "compare", base, fresh, "--over", "operations", "--prove", "5%").want(t, Missed).errors),
		"inconclusive: naimi-trehel: p50 of waiting_ms over operations: ", "with 20 trials: about ")
	bench(t, "compare", base, fresh, "--over", "operations", "--fail-if", "waiting_ms > 90%").want(t, Good)
	bench(t, "compare", base, fresh, "--over", "operations", "--format", "json", "--no-fail").want(t, Good)
	for _, flags := range [][]string{{"--stat", "p95"}, {"--over", "faults"}, {"--over", "operations", "--strict"},
		{"--over", "operations", "--stat", "p98"},
		{"--over", "operations", "--metrics", "messages"}} {
		bench(t, append([]string{"compare", base, fresh}, flags...)...).want(t, Usage)
	}
}

// TestRun_TailOfOutages: a threshold over operations of the downtime that the Spec names is about
// single outages by that definition, and so is what is exported.
func TestRun_TailOfOutages(t *testing.T) {
	t.Parallel()
	const file = `name: tail
problem: election
algorithms: [bully]
transport: sim
nodes: 5
scenario: {kind: leader-crash, elections: 12}
network: {latency: {distribution: exponential, mean: 2ms}}
repetitions: 8
seed: 3
trace: none
thresholds:
  - {metric: downtime_ms, stat: p95, max: 1, over: operations}
  - {metric: downtime_led_ms, stat: median, max: 100000, over: operations}
`
	out := t.TempDir()
	r := bench(t, "run", write(t, "tail.yaml", file), "--out", out).want(t, Missed)
	has(t, r.out, "over operations: bully: p95 of downtime_ms: ", "over operations: bully: median of downtime_led_ms: ",
		" over 96 operations in 8 trials, 95 % interval [")
	r = bench(t, "export", filepath.Join(out, "tail"), "--format", "csv", "--over", "operations").want(t, Good)
	quantiles := map[string]string{} // by metric
	for line := range strings.Lines(r.out) {
		f := strings.SplitN(line, ",", 14)
		quantiles[f[12]] = f[13]
	}
	got := quantiles["downtime_ms"]
	if got == "" || got != quantiles["downtime_agreed_ms"] || got == quantiles["downtime_led_ms"] {
		t.Errorf("%q, want those of agreed alone", quantiles)
	}
	// A table that nobody passed on hides what is in it, and that alone.
	dir := latest(t, out, "tail")
	alone := t.TempDir()
	for _, name := range []string{"trials.csv", "operations.csv"} {
		put(t, filepath.Join(alone, name), must(os.ReadFile(filepath.Join(dir, name))))
	}
	r = bench(t, "export", alone, "--format", "markdown", "--over", "operations").want(t, Good)
	has(t, r.out, `downtime\_agreed\_ms`)
	r = bench(t, "export", alone, "--format", "csv", "--over", "operations", "--metrics", "downtime_ms").want(t, CouldNotRun)
	has(t, r.errors, "downtime_ms: ", "single outages are not recorded there", "outages.csv has 0 rows")
}

// A host is for nodes, and what a folder says of one is never executed unasked.
func TestRun_Host(t *testing.T) {
	t.Parallel()
	file := "../../configs/ci.yaml"
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{file, "--transport", "sim", "--host", "ssh lab7 ./node host"}, "a simulation has no nodes"},
		{[]string{file, "--transport", "nats", "--host", " "}, `--host " ", expected a command`},
		{[]string{file, "--transport", "nats", "--host", "x", "--set", "bus.url=nats://localhost:1"},
			"a host has a bus of its own"},
	} {
		has(t, bench(t, append([]string{"run"}, test.args...)...).want(t, Usage).errors, test.want)
	}
	out := t.TempDir()
	bench(t, "run", file, "--transport", "sim", "--out", out, "--quiet").want(t, Good)
	dir := filepath.Join(out, "ci", "latest")
	has(t, bench(t, "run", "--resume", dir, "--host", "ssh lab7").want(t, Usage).errors, "began without one")
	has(t, bench(t, "replay", dir, "--trial", "1", "--host", "ssh").want(t, Usage).errors, "without --live")
	has(t, bench(t, "replay", dir, "--trial", "1", "--host", "ssh", "--live").want(t, Usage).errors,
		"a simulation has no nodes")
}

// TestRun_Machines: one flag takes what --host, --hosts and --queue take, and tells them apart.
func TestRun_Machines(t *testing.T) {
	t.Parallel()
	hosts := write(t, "hosts.yaml", "hosts: []\n")
	for which, want := range map[string]string{
		hosts:                         "hosts.yaml:1: hosts: missing; expected at least one",
		"nats://10.0.0.1:4222":        "--queue: nats://10.0.0.1:4222 is on another machine",
		"spread nats://10.0.0.1:4222": "--hosts: nats://10.0.0.1:4222 is on another machine",
		"nothing-of-that-name x://y":  "start host: ",
	} {
		code := Usage
		if strings.HasPrefix(which, "nothing") {
			code = CouldNotRun
		}
		has(t, bench(t, "run", "../../configs/ci.yaml", "--transport", "nats", "--machines", which, "--out",
			t.TempDir()).want(t, code).errors, want)
	}
	has(t, bench(t, "run", "../../configs/ci.yaml", "--machines", hosts, "--host", "x").want(t, Usage).errors,
		"--machines with --host, --hosts or --queue")
}

// TestRun_Unsettled: the end of a run says in how many trials no leader had settled, and how
// often an algorithm never recovered.
func TestRun_Unsettled(t *testing.T) {
	t.Parallel()
	const file = `name: unsettled
problem: election
algorithms: [bully]
transport: sim
nodes: 5
scenario: {kind: leader-crash}
detector: {kind: heartbeat, interval: 10ms, timeout: 15ms}
network: {latency: 2ms, loss: 0.05}
repetitions: 20
seed: 3
trace: none
`
	r := bench(t, "run", write(t, "unsettled.yaml", file), "--out", t.TempDir()).want(t, Good)
	has(t, r.out, " (never settled ", "never settled: no leader had led for settle when the scenario struck it")
	const dead = `name: dead
problem: election
algorithms: [raft, bully]
transport: sim
nodes: 5
scenario: {kind: churn, duration: 20s}
network: {latency: 1ms}
faults: {events: [{at: 2s, do: crash, who: leader, for: 1s}, {at: 8s, do: crash, who: [3, 4, 5]}]}
repetitions: 12
seed: 3
trace: none
time_limit: 60s
`
	r = bench(t, "run", write(t, "dead.yaml", dead), "--out", t.TempDir()).want(t, Good)
	has(t, flat(r.out), "all: n 12, downtime_served_ms > limit [n/a] never recovered: 12 of 12",
		"no order of bully and raft: bully never recovered in 12 of 12, raft never recovered in 12 of 12")
	alone := strings.Replace(dead, "[raft, bully]", "[bully]", 1) // by whose own definition the survivors agree
	if r = bench(t, "run", write(t, "alone.yaml", alone), "--out", t.TempDir()).want(t, Good); strings.Contains(r.out,
		"never recovered") {
		t.Errorf("%s", r.out)
	}
}
