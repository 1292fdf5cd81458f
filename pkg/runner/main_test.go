package runner_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/host/node"
	"github.com/conclave-bench/conclave/pkg/cli"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/runner/nodes"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/ringlist"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// roles are the programs that the test binary is with such a first argument. Each
// file of tests adds its own in an init function.
var roles = map[string]func() int{
	"run": bench, "replay": bench, "__node": cli.Bench, "__bus": cli.Bench, "__work": cli.Bench, "__isolated": bench, "host": cli.Node, doomedRole: doomedNode,
}

// bench is the command, for which what steers the tests would be an override.
func bench() int {
	os.Unsetenv("CONCLAVE_NIGHTLY")
	os.Unsetenv("CONCLAVE_SLOW")
	return cli.Bench()
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			os.Exit(role())
		}
	}
	os.Exit(m.Run())
}

// doomedRole makes a node that kills itself when an election begins, if the token
// of its attempt matches the regular expression that follows.
const doomedRole = "__doomed"

var doomed bool

func doomedNode() int {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadString('\n')
	var plan struct{ Trial string }
	if err == nil {
		err = json.Unmarshal([]byte(line), &plan)
	}
	if err == nil {
		doomed = regexp.MustCompile(os.Args[2]).MatchString(plan.Trial)
		err = node.Run(io.MultiReader(strings.NewReader(line), in), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// times is how often a test repeats what depends on luck.
func times(normal, nightly int) int {
	if slowtest.Night() {
		return nightly
	}
	return normal
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes the file of an experiment and returns its path.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "experiment.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// created is the experiment text with a folder of results below root.
func created(t testing.TB, text, root string) (*experiment.Experiment, *results.Folder) {
	t.Helper()
	e, err := experiment.Load(write(t, text), experiment.Overrides{})
	must(t, err)
	config, err := e.Resolved()
	must(t, err)
	f, err := results.Create(root, runner.Header(e, nil), config)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() }) // some tests have closed it
	return e, f
}

// options run nodes of this binary.
func options(t testing.TB) runner.Options {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	return runner.Options{Machine: nodes.Machine, Exe: exe, NodeArgs: []string{"__node"}, BusArgs: []string{"__bus"},
		WorkArgs: []string{"__work"}}
}

// until waits for what to come true, and says what it waited for otherwise.
func until(t testing.TB, limit time.Duration, what string, come func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !come() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// table reads a CSV file of a run as rows by column.
func table(t testing.TB, dir, name string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	must(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	must(t, err)
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// complete fails unless the run in dir has every planned trial exactly once, as
// planned, in files that its manifest vouches for.
func complete(t testing.TB, dir string) {
	t.Helper()
	e, err := experiment.Load(filepath.Join(dir, results.ConfigFile), experiment.Overrides{})
	must(t, err)
	planned := needed(t, e, dir)
	m, err := results.ReadManifest(dir)
	must(t, err)
	if !m.Complete || m.Planned != len(planned) || m.Finished != len(planned) {
		t.Errorf("manifest: complete %v, %d of %d finished, want all of %d", m.Complete, m.Finished,
			m.Planned, len(planned))
	}
	must(t, results.Verify(dir))
	rows := table(t, dir, results.TrialsFile)
	if len(rows) != len(planned) {
		t.Fatalf("%d rows of %d planned trials", len(rows), len(planned))
	}
	slices.SortFunc(planned, func(a, b experiment.Trial) int { return a.Number - b.Number })
	for i, row := range rows {
		p := planned[i]
		want := fmt.Sprint(p.Number, p.Cell, p.Repetition, p.Order, p.Seed)
		got := strings.Join([]string{row["trial"], row["cell"], row["repetition"], row["run_order"],
			row["seed"]}, " ")
		if got != want {
			t.Fatalf("row %d of %s is trial, cell, repetition, run_order, seed %s, want %s", i+1,
				results.TrialsFile, got, want)
		}
		if e.Trace == "all" && trace.Status(row["status"]) != trace.Invalid { // which may have no records
			if _, err := results.ReadTrace(dir, p.Number); err != nil {
				t.Errorf("trial %d: %v", p.Number, err)
			}
		}
	}
}

// needed are the trials that a run has, in the order of execution: each cell goes on
// until what its rows in trials.csv say is precise, as its rule wants it.
func needed(t testing.TB, e *experiment.Experiment, dir string) (out []experiment.Trial) {
	t.Helper()
	if e.Until == nil {
		return e.Trials()
	}
	rows := map[string]map[string]string{}
	for _, row := range table(t, dir, results.TrialsFile) {
		rows[row["trial"]] = row
	}
	values, censored, ended := map[int][]float64{}, map[int]int{}, map[int]bool{}
	for r := 1; r <= e.Repetitions; r++ {
		block := e.Block(r, len(out), func(cell int) bool { return !ended[cell] })
		for _, p := range block {
			row := rows[strconv.Itoa(p.Number)]
			v, err := strconv.ParseFloat(row[e.Until.Metric], 64)
			switch {
			case row == nil:
				t.Fatalf("repetition %d of cell %d is not there, and it is needed", r, p.Cell)
			case trace.Status(row["status"]) == trace.OK && err == nil:
				values[p.Cell] = append(values[p.Cell], v)
			case trace.Status(row["status"]) == trace.TimedOut: // of a metric that is a time
				censored[p.Cell]++
			}
			d := stats.Describe(values[p.Cell], censored[p.Cell])
			ended[p.Cell] = r >= e.Fewest && (d.CIHigh-d.CILow)/2/d.Median <= e.Until.CI
		}
		out = append(out, block...)
	}
	return out
}

// finished are the trials in the journal that need no further attempt, if there
// is a journal.
func finished(dir string) map[string]string {
	found := map[string]string{}
	_ = results.EachTrial(dir, func(t *results.Trial) error {
		if t.Status != trace.Invalid {
			found[strconv.Itoa(t.Trial)] = string(t.Status)
		}
		return nil
	})
	return found
}

// files are the tables and traces of a run by name.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.csv", results.TracesDir + "/*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		must(t, err)
		for _, path := range paths {
			b, err := os.ReadFile(path)
			must(t, err)
			name, err := filepath.Rel(dir, path)
			must(t, err)
			found[name] = string(b)
		}
	}
	return found
}

// same fails unless two runs have left the same tables and traces.
func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) || len(want) < 4 {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
}
