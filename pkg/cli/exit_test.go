package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

func TestTally_Code(t *testing.T) {
	broken := errors.New("no space left on device")
	stopped := fmt.Errorf("run: %w", &interruption{syscall.SIGINT})
	ended := errors.Join(&interruption{syscall.SIGTERM}, broken)
	all := outcome.Tally{Errors: 1, Violations: 1, Missed: 1, Timeouts: 1, Invalid: 1, Unknown: 1}
	with := func(change func(*outcome.Tally)) outcome.Tally {
		v := all
		change(&v)
		return v
	}
	share := func(v float64) experiment.Allow { return experiment.Allow{Marked: &v} }
	none, tenth := share(0), share(0.1)
	cases := []struct {
		name  string
		tally outcome.Tally
		want  int
	}{
		{"nothing happened", outcome.Tally{}, Good},
		{"SIGINT hides all", with(func(t *outcome.Tally) { t.Err = stopped }), 130},
		{"SIGTERM hides all", with(func(t *outcome.Tally) { t.Err = ended }), 143},
		{"ended before its time", outcome.Tally{Err: broken}, CouldNotRun},
		{"a mistake that only its hosts showed", outcome.Tally{Err: errors.Join(&experiment.Error{})}, Usage},
		{"a trial that could not be run comes before a violation", all, CouldNotRun},
		{"a violation comes before a threshold", with(func(t *outcome.Tally) { t.Errors = 0 }), Violated},
		{"a threshold comes before what is missing",
			with(func(t *outcome.Tally) { t.Errors, t.Violations = 0, 0 }), Missed},
		{"an invalid trial", outcome.Tally{Invalid: 1}, Incomplete},
		{"a time-out", outcome.Tally{Timeouts: 1}, Incomplete},
		{"an undecided trial", outcome.Tally{Unknown: 1}, Incomplete},
		{"as many invalid as allowed",
			outcome.Tally{Invalid: 2, Allow: experiment.Allow{Invalid: 2}}, Good},
		{"as many time-outs as allowed",
			outcome.Tally{Timeouts: 2, Allow: experiment.Allow{Timeout: 2}}, Good},
		{"one time-out more than allowed",
			outcome.Tally{Timeouts: 3, Allow: experiment.Allow{Invalid: 9, Timeout: 2}}, Incomplete},
		{"marked trials, of which any share is allowed", outcome.Tally{OK: 10, Marked: 10}, Good},
		{"as large a share of marked trials as allowed", outcome.Tally{OK: 10, Marked: 1, Allow: tenth}, Good},
		{"a larger share of marked trials", outcome.Tally{OK: 10, Marked: 2, Allow: tenth}, Incomplete},
		{"no marked trial is allowed", outcome.Tally{OK: 10, Marked: 1, Allow: none}, Incomplete},
		{"no trial, and none marked", outcome.Tally{Allow: none}, Good},
		{"no number of undecided trials is allowed",
			outcome.Tally{Unknown: 1, Allow: experiment.Allow{Invalid: 9, Timeout: 9}}, Incomplete},
	}
	for _, c := range cases {
		if got := c.tally.Code(); got != c.want {
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
		if got := answer.ExitOf(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

// A run of each kind ends with its code.
func TestRun_ExitCodes(t *testing.T) {
	t.Parallel()
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
			[]string{"--set", "network.loss=0.5"}, Good, []string{"\ntest-greedy *  ", "trials: violation 2\n", "*: in_model=false: conditions exceed what"}},
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

// TestExitCodes_Documented: the table of the reference is the declaration.
func TestExitCodes_Documented(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| exit code | means |\n|---|---|\n"
	for _, e := range answer.Codes {
		table += "| " + e.Codes + " | " + e.Means + " |\n"
	}
	has(t, string(text), table)
	has(t, bench(t, "compare", "--help").want(t, Good).out, "5 with --prove, something is neither\nproved")
}
