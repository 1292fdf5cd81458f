package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// TestExplore_Finds: what is found is printed, saved, and repeated by bench run.
func TestExplore_Finds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "found.yaml")
	r := bench(t, "explore", "test-greedy", "--schedules", "500", "--out", path).want(t, Violated)
	has(t, r.out, "schedule 1 breaks a promise", "p1 enters the critical section",
		"violation: mutex/test-greedy: mutual-exclusion: ", "scenario:  "+path+", 2 processes, 2 lines, minimal",
		"reproduce: bench run "+path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "do: request"); got != 2 {
		t.Errorf("%d requests, want 2:\n%s", got, text)
	}
	r = bench(t, "run", path, "--out", t.TempDir()).want(t, Violated)
	has(t, r.out, "violation 1")
	r = bench(t, "explore", "test-greedy", "--schedules", "500", "--out", path).want(t, Usage)
	has(t, r.errors, "exists; name another file")
}

func TestExplore_JSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "found.yaml")
	r := bench(t, "explore", "test-greedy", "--time", "10s", "--out", path, "--json").want(t, Violated)
	got, err := answer.Decode([]byte(r.out))
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Facts; f["rule"] != "mutual-exclusion" || f["in_model"] != true || f["file"] != path ||
		len(got.Table("trace")) < 5 || f["schedules"].(float64) < 1 {
		t.Errorf("%+v", got)
	}
}

// TestExplore_Nothing: that nothing was found is told with how much was tried.
func TestExplore_Nothing(t *testing.T) {
	t.Parallel()
	r := bench(t, "explore", "test-greedy", "--schedules", "40", "--rule", "deadlock",
		"--progress", "json").want(t, Good)
	has(t, r.out, "mutex/test-greedy: no broken promise in 40 schedules (", " per second)")
	r = bench(t, "explore", "test-greedy", "--schedules", "40", "--rule", "deadlock", "--json").want(t, Good)
	has(t, r.out, `"schedules": 40`, `"rule": ""`)
}

// TestExplore_Panic: an algorithm that panics is broken: it could not be run, as in a run.
func TestExplore_Panic(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "found.yaml")
	r := bench(t, "explore", "test-panic", "--schedules", "500", "--out", path).want(t, CouldNotRun)
	has(t, r.out, "violation: mutex/test-panic: broken: ", "no such rule")
	has(t, r.errors, "mutex/test-panic could not be run: ")
}

// TestExplore_BeyondTheModel: what breaks there is a finding, and no error.
func TestExplore_BeyondTheModel(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "found.yaml")
	r := bench(t, "explore", "naimi-trehel", "--faults", "all", "--rule", "mutual-exclusion", "--schedules", "500",
		"--out", path).want(t, Good)
	has(t, r.out, "\nin_model=false: survives 0 of ", "\nfinding: mutex/naimi-trehel: mutual-exclusion: ")
	path = filepath.Join(t.TempDir(), "again.yaml")
	out := bench(t, "explore", "naimi-trehel", "--faults", "all", "--rule", "mutual-exclusion", "--schedules", "500",
		"--out", path, "--json").want(t, Good).out
	got, err := answer.Decode([]byte(out))
	if err != nil || got.Facts["in_model"] != false || len(got.Facts["out_of_model"].([]any)) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestExplore_Maximise: the costliest schedule is printed with what theory allows, and its file is an
// experiment that costs exactly as much.
func TestExplore_Maximise(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "worst.yaml")
	args := []string{"explore", "naimi-trehel", "--maximise", "messages", "--faults", "none", "--nodes", "4",
		"--schedules", "300", "--out"}
	r := bench(t, append(args, path)...).want(t, Good)
	narrow(t, r.out)
	has(t, r.out, "mutex/naimi-trehel: messages_per_entry ", "the most of 300",
		"theory:    no worst case of messages_per_entry is claimed", "scenario:  "+path+", 4 processes", "reproduce: bench run "+path)
	bench(t, "run", path, "--out", t.TempDir(), "--quiet").want(t, Good)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(` in schedule (\d+),`).FindStringSubmatch(r.out)[1]
	has(t, string(text), "# Found by: bench explore naimi-trehel --maximise messages --faults none --nodes 4 "+
		"--schedules "+number+"\n# Theory: ", "\nname: worst-messages-naimi-trehel\n")
	again := filepath.Join(t.TempDir(), "worst.yaml") // by the search that the file names
	bench(t, append(slices.Replace(slices.Clone(args), 9, 10, number), again)...).want(t, Good)
	if same, err := os.ReadFile(again); err != nil || string(same) != string(text) {
		t.Errorf("%v:\n%s\nwas\n%s", err, same, text)
	}
	off := write(t, "off.yaml", strings.Replace(string(text), "min: ", "min: 1", 1))
	bench(t, "run", off, "--out", t.TempDir(), "--quiet").want(t, Usage)
	path = filepath.Join(t.TempDir(), "worst.yaml")
	r = bench(t, append(args, path, "--json")...).want(t, Good)
	got, err := answer.Decode([]byte(r.out))
	if err != nil || got.Facts["metric"] != "messages_per_entry" || got.Facts["value"].(float64) < 2 ||
		got.Facts["bound"] != nil || got.Facts["schedules"] != 300.0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestExplore_Params: the algorithm is searched with them, and what is saved has them.
func TestExplore_Params(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "found.yaml")
	bench(t, "explore", "test-everything", "--schedules", "50", "--params", "patience=7ms", "--out", path).
		want(t, Violated)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(text), "patience: 7ms")
}

func TestExplore_Mistakes(t *testing.T) {
	t.Parallel()
	full := filepath.Join(t.TempDir(), "found.json")
	for name, test := range map[string]struct{ args, says string }{
		"no algorithm":     {"", "0 algorithms, expected one"},
		"unknown":          {"mutex/test-greddy", `did you mean "mutex/test-greedy"?`},
		"faults":           {"test-greedy --faults some", "expected one of: none, crashes, survived, all"},
		"rule":             {"test-greedy --rule safety", "expected one of: after-heal, agreement"},
		"progress":         {"test-greedy --progress loud", "expected one of: auto"},
		"workers":          {"test-greedy --workers -1", "expected 1 or more"},
		"schedules":        {"test-greedy --schedules 0", "--schedules 0, expected 1 or more"},
		"time":             {"test-greedy --time -3s", "expected a duration above 0"},
		"no time":          {"test-greedy --time 0s", "--time 0s, expected a duration above 0"},
		"latency":          {"test-greedy --latency 1ns", "expected 100us to 1m"},
		"nodes":            {"test-greedy --nodes many", "expected numbers from 2 to 100"},
		"nodes it cannot":  {"test-everything --nodes 4", "want an odd number of processes"},
		"params":           {"test-everything --params patience", "expected NAME=VALUE"},
		"unknown param":    {"test-everything --params patients=1ms", "patience"},
		"value of a param": {"test-everything --params mode=slow", "safe"},
		"out":              {"test-greedy --out " + full, "expected a file of type .yaml"},
		"maximise":         {"test-greedy --maximise bypas", `did you mean "bypass"?`},
		"not a cost":       {"test-greedy --maximise fairness", "of which less is better"},
		"events":           {"test-greedy --maximise bypass --events -1", "--events -1, expected 1 or more"},
		"events alone":     {"test-greedy --events 1", "--events without --maximise"},
		"cost and rule":    {"test-greedy --maximise bypass --rule deadlock", "leave one of them out"},
		"exhaustive":       {"test-greedy --exhaustive --seed 3", "--seed means nothing with --exhaustive"},
	} {
		t.Run(name, func(t *testing.T) {
			r := bench(t, append([]string{"explore"}, strings.Fields(test.args)...)...).want(t, Usage)
			has(t, r.errors, test.says)
		})
	}
}

// TestExplore_Exhaustive: the table of the smallest systems, and what breaks there.
func TestExplore_Exhaustive(t *testing.T) {
	t.Parallel()
	r := bench(t, "explore", "test-greedy", "--exhaustive").want(t, Violated)
	has(t, r.out, "n=2 requests=[2,2]", "broken",
		"violation: mutex/test-greedy: p2 granted while p1 is inside")
}

// TestExploreShowsACycleOnce: what repeats without end is told once, and not line by line.
func TestExploreShowsACycleOnce(t *testing.T) {
	t.Parallel()
	r := bench(t, "explore", "test-restless", "--schedules", "20", "--out", filepath.Join(t.TempDir(), "f.yaml"))
	r.want(t, Violated)
	has(t, r.out, "\nfrom ", " repeats:\n  p", ": no-end: ")
	if lines := strings.Count(r.out, "\n"); lines > 60 {
		t.Errorf("%d lines:\n%s", lines, r.out)
	}
}
