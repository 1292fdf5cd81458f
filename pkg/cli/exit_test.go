package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

func TestTally_Code(t *testing.T) {
	broken := errors.New("no space left on device")
	stopped := fmt.Errorf("run: %w", &interruption{syscall.SIGINT})
	ended := errors.Join(&interruption{syscall.SIGTERM}, broken)
	all := tally{errors: 1, violations: 1, missed: 1, timeouts: 1, invalid: 1, unknown: 1}
	with := func(change func(*tally)) tally {
		v := all
		change(&v)
		return v
	}
	share := func(v float64) experiment.Allow { return experiment.Allow{Marked: &v} }
	none, tenth := share(0), share(0.1)
	cases := []struct {
		name  string
		tally tally
		want  int
	}{
		{"nothing happened", tally{}, Good},
		{"SIGINT hides all", with(func(t *tally) { t.err = stopped }), 130},
		{"SIGTERM hides all", with(func(t *tally) { t.err = ended }), 143},
		{"ended before its time", tally{err: broken}, CouldNotRun},
		{"a mistake that only its hosts showed", tally{err: errors.Join(&experiment.Error{})}, Usage},
		{"a trial that could not be run comes before a violation", all, CouldNotRun},
		{"a violation comes before a threshold", with(func(t *tally) { t.errors = 0 }), Violated},
		{"a threshold comes before what is missing",
			with(func(t *tally) { t.errors, t.violations = 0, 0 }), Missed},
		{"an invalid trial", tally{invalid: 1}, Incomplete},
		{"a time-out", tally{timeouts: 1}, Incomplete},
		{"an undecided trial", tally{unknown: 1}, Incomplete},
		{"as many invalid as allowed",
			tally{invalid: 2, allow: experiment.Allow{Invalid: 2}}, Good},
		{"as many time-outs as allowed",
			tally{timeouts: 2, allow: experiment.Allow{Timeout: 2}}, Good},
		{"one time-out more than allowed",
			tally{timeouts: 3, allow: experiment.Allow{Invalid: 9, Timeout: 2}}, Incomplete},
		{"marked trials, of which any share is allowed", tally{ok: 10, marked: 10}, Good},
		{"as large a share of marked trials as allowed", tally{ok: 10, marked: 1, allow: tenth}, Good},
		{"a larger share of marked trials", tally{ok: 10, marked: 2, allow: tenth}, Incomplete},
		{"no marked trial is allowed", tally{ok: 10, marked: 1, allow: none}, Incomplete},
		{"no trial, and none marked", tally{allow: none}, Good},
		{"no number of undecided trials is allowed",
			tally{unknown: 1, allow: experiment.Allow{Invalid: 9, Timeout: 9}}, Incomplete},
	}
	for _, c := range cases {
		if got := c.tally.code(); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.want)
		}
	}
}

func TestClassify(t *testing.T) {
	cases := []struct {
		err  error
		want int
	}{
		{errors.New("disk on fire"), CouldNotRun},
		{fmt.Errorf("in: %w", &experiment.Error{}), Usage},
		{usage("what?"), Usage},
		{fmt.Errorf("in: %w", &interruption{syscall.SIGINT}), 130},
	}
	for _, c := range cases {
		if got := classify(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

// A run of each kind ends with its code.
func TestRun_ExitCodes(t *testing.T) {
	const file = `
name: e
problem: mutex
algorithms: [%s]
transport: sim
nodes: 3
repetitions: 2
time_limit: 50ms
scenario: {kind: burst, hold: 5ms}
`
	undecided := `
name: e
problem: mutex
algorithms: [naimi-trehel]
transport: sim
repetitions: 1
scenario: {kind: script, events: [{at: 0ms, do: crash, node: 2}]}
`
	cases := []struct {
		name, file string
		flags      []string
		want       int
		says       []string
	}{
		{"good", fmt.Sprintf(file, "naimi-trehel"), nil, Good, []string{"ok 2"}},
		{"violation", fmt.Sprintf(file, "test-greedy"), nil, Violated,
			[]string{"violation: mutex/test-greedy: ", "  reproduce: bench replay ", " --trial 1"}},
		{"violation outside the model", fmt.Sprintf(file, "test-greedy"),
			[]string{"--set", "network.loss=0.5"}, Good, []string{"violation 2 *", "*: in_model=false: more was asked"}},
		{"error", fmt.Sprintf(file, "test-panic"), nil, CouldNotRun, []string{"error 2"}},
		{"time-out", fmt.Sprintf(file, "test-restless"), nil, Incomplete,
			[]string{"timeout 2", "[n/a]", "allow.timeout is 0"}},
		{"time-out that is allowed", fmt.Sprintf(file, "test-restless"),
			[]string{"--set", "allow.timeout=2"}, Good, []string{"timeout 2"}},
		{"time-out of what promises no end", fmt.Sprintf(file, "test-hopeless"), nil, Good,
			[]string{"timeout 2"}},
		{"undecided", undecided, nil, Incomplete, []string{"unknown 1"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			args := append([]string{"run", write(t, "e.yaml", c.file), "--out", out}, c.flags...)
			r := bench(t, args...).want(t, c.want)
			has(t, r.out, c.says...)
			runs, _ := filepath.Glob(filepath.Join(out, "*", "latest"))
			m, err := results.ReadManifest(strings.Join(runs, " "))
			if err != nil || m.Exit == nil || *m.Exit != c.want {
				t.Errorf("the manifest has another exit code: %v: %+v", err, m)
			}
		})
	}
}

// TestExitCodes_Readme: the table of README.md is the declaration.
func TestExitCodes_Readme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| exit code | means |\n|---|---|\n"
	for _, e := range exitCodes {
		table += "| " + e.codes + " | " + e.means + " |\n"
	}
	has(t, string(text), table)
	has(t, bench(t, "compare", "--help").want(t, Good).out, "5 with --prove, something is neither\nproved")
}
