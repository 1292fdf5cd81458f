package outcome

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
)

// write makes a file in a temporary folder and returns its path.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutcome_Marked: more marked trials than the experiment allows end the run with 5, and it says how many
// there are and why the first is one.
func TestOutcome_Marked(t *testing.T) {
	t.Parallel()
	for allow, want := range map[string]int{"": answer.Good, "allow: {marked: 20%}\n": answer.Good, "allow: {marked: 0.2}\n": answer.Good,
		"allow: {marked: 10%}\n": answer.Incomplete, "allow: {marked: 0}\n": answer.Incomplete} {
		e, err := experiment.Load(write(t, "small.yaml", "problem: election\nalgorithms: [bully]\n"+
			"transport: nats\nrepetitions: 10\nnodes: 3\n"+allow), experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		o := New(e, t.TempDir())
		for i := range 10 {
			trial := &results.Trial{Trial: i + 1, Cell: 1, Repetition: i + 1, Status: trace.OK}
			if i == 3 || i == 7 {
				trial.Reason = "late by 12 %"
			}
			o.Add(trial)
		}
		o.Add(&results.Trial{InModel: true, Trial: 11, Cell: 1, Repetition: 11, Status: trace.Unstable,
			Reason: "not counted"})
		if got := o.Tally.Code(); got != want {
			t.Errorf("%q: exit code %d, want %d", allow, got, want)
		}
		text := strings.Join(o.warnings(), "\n")
		if told := strings.Contains(text, "2 of 10 trials with status ok are marked (allow.marked is ") &&
			strings.Contains(text, "trial 4: late by 12 %"); told != (want == answer.Incomplete) {
			t.Errorf("%q: %s", allow, text)
		}
	}
}

// A trial that timed out says of each metric what it says in summary.csv: nothing of a
// state that lasts, nor of what does not apply to it, and "longer" of what it waited for.
func TestOutcome_TimedOut(t *testing.T) {
	t.Parallel()
	root, file := t.TempDir(), write(t, "small.yaml", "name: small\nproblem: election\nalgorithms: [bully]\n"+
		"transport: sim\nrepetitions: 6\nnodes: 3\nscenario: {kind: churn, duration: 1s}\n"+
		"faults: {crash_rate: 0.1}\n")
	e, err := experiment.Load(file, experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := e.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := results.Create(root, runner.Header(e, nil), config)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if _, err := runner.Run(t.Context(), e, folder, runner.Options{}); err != nil {
		t.Fatal(err)
	}
	o, err := Of(e, folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	none := math.NaN()
	for i, metrics := range [][]metric.Value{
		{metric.Downtime.Of(none), metric.SplitBrain.Of(5), metric.Availability.Of(0.5)},
		{metric.SplitBrain.Of(5)},
	} {
		before := map[string]int{}
		for _, m := range o.Metrics {
			before[m] = o.cells[0].Describe(m).N
		}
		late := results.Trial{InModel: true, Trial: 6 + i, Cell: 1, Repetition: 6 + i, Status: trace.TimedOut}
		late.Set(append(metrics, metric.Messages.Of(9))...)
		o.Add(&late)
		for _, m := range o.Metrics {
			want := 0
			if m == "downtime_ms" {
				want = 1 // the first of them
			}
			if d := o.cells[0].Describe(m); d.Censored != want || d.N != before[m] {
				t.Errorf("%s: %d trials that were cut short, want %d; %d values, want %d", m, d.Censored, want, d.N,
					before[m])
			}
		}
	}
	if notes := o.table(answer.New("run", "")); len(notes) != 2 {
		t.Errorf("%q", notes)
	}
	good := results.Trial{InModel: true, Trial: 8, Cell: 1, Repetition: 8, Status: trace.OK}
	good.Set(metric.SplitBrain.Of(0), metric.ClockError.Of(200))
	o.Add(&good)
	d := answer.New("run", "")
	notes := o.table(d)
	row := d.Blocks[0].(*answer.Table).Rows[0]
	if len(notes) != 4 || !strings.HasSuffix(notes[3], "(0.4 ms)") ||
		!slices.ContainsFunc(row, func(v answer.Value) bool {
			shown, is := v.(answer.Shown)
			return is && strings.HasPrefix(shown.Text, "0.286? [")
		}) {
		t.Errorf("%q, %q", row, notes)
	}
	if o.cells[0].Statuses[trace.TimedOut] != 2 || o.cells[0].Describe("availability").N != 6 {
		t.Errorf("%+v", o.cells[0])
	}
}
