package runner_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// ruled has cells that are precise soon, later, and never.
const ruled = `
name: ruled
problem: election
algorithms: [bully, ring-list]
transport: sim
network: {latency: {distribution: exponential, mean: 2ms}}
detector: {delay: 5ms}
sweep: [{vary: network.loss, over: [0, 0.3]}]
repetitions: {min: 8, max: 60, until: {metric: election_ms, ci: 3%}}
allow: {timeout: 240}
time_limit: 1s
trace: none
`

// The same file and seed stop each cell at the same repetition, whatever the number
// of workers, and whether or not the run was interrupted.
func TestRule_SameBytes(t *testing.T) {
	t.Parallel()
	var record *results.Stopping
	whole := func(workers int) map[string]string {
		e, f := created(t, ruled, t.TempDir())
		_, err := runner.Run(context.Background(), e, f, runner.Options{Workers: workers})
		must(t, err)
		complete(t, f.Dir())
		m, err := results.ReadManifest(f.Dir())
		must(t, err)
		record = m.Stopping
		return files(t, f.Dir())
	}
	want := whole(1)
	ends := map[string]int{}
	counts := map[int]bool{}
	for _, c := range record.Cells {
		ends[c.Stopped]++
		counts[c.Repetitions] = true
	}
	if ends[results.Precise] < 2 || ends[results.AtMost] < 1 || len(counts) < 3 {
		t.Fatalf("cells ended %v after %v repetitions: not all that the rule can do", ends, counts)
	}
	for _, workers := range []int{2, 16} {
		same(t, whole(workers), want)
	}

	e, f := created(t, ruled, t.TempDir())
	for begun := 0; ; begun++ {
		ctx, stop := context.WithCancel(context.Background())
		_, err := runner.Run(ctx, e, f, runner.Options{Workers: 1 + begun%3,
			Progress: func(p runner.Progress) {
				if p.Finished > 25*(begun+1) {
					stop()
				}
			}})
		stop()
		must(t, f.Close())
		f, _ = results.Open(f.Dir(), results.Resume{})
		defer f.Close()
		m, readErr := results.ReadManifest(f.Dir())
		must(t, readErr)
		if m.Complete != (m.Planned == m.Finished) || err == nil && !m.Complete {
			t.Fatalf("%v, complete %v with %d of %d trials", err, m.Complete, m.Finished, m.Planned)
		}
		if m.Complete {
			break
		}
		if begun > 50 {
			t.Fatal("it does not come to an end")
		}
	}
	complete(t, f.Dir())
	same(t, files(t, f.Dir()), want)
}

// A trial is a row of a cell with one metric.
func row(repetition int, status trace.Status, value float64) *results.Trial {
	t := results.Trial{Cell: 1, Repetition: repetition, Attempts: 1, Status: status}.With(metric.Election.Of(value))
	return &t
}

func TestStopping(t *testing.T) {
	t.Parallel()
	const text = "problem: election\nalgorithms: [bully]\nretries: 2\n" +
		"repetitions: {min: 6, max: 9, until: {metric: election_ms, ci: 10%}}\n"
	e, err := experiment.Load(write(t, text), experiment.Overrides{})
	must(t, err)
	ok := func(values ...float64) (rows []*results.Trial) {
		for i, v := range values {
			rows = append(rows, row(i+1, trace.OK, v))
		}
		return rows
	}
	with := func(rows []*results.Trial, status trace.Status, repetition int) []*results.Trial {
		rows[repetition-1] = row(repetition, status, rows[repetition-1].Value(metric.Election))
		return rows
	}
	backwards := func(rows []*results.Trial) (out []*results.Trial) {
		for i := range rows {
			out = append(out, rows[len(rows)-1-i])
		}
		return out
	}
	invalid := func(attempts int) *results.Trial {
		again := row(6, trace.Invalid, math.NaN())
		again.Attempts = attempts
		return again
	}
	for name, test := range map[string]struct {
		rows        []*results.Trial
		repetitions int
		ended       string
		planned     int
		width       float64
	}{
		"below the least": {ok(5, 5, 5, 5, 5), 5, "", 9, math.NaN()},
		"at the bound":    {ok(9, 9, 10, 10, 11, 11), 6, results.Precise, 6, 0.1},
		"beyond it":       {ok(9, 9, 10, 10, 11, 11.1), 6, "", 9, 0.105},
		"all the same":    {ok(0, 0, 0, 0, 0, 0), 6, results.Precise, 6, 0},
		"about nothing":   {ok(-1, -1, 0, 0, 1, 1), 6, "", 9, math.NaN()},
		"in any order":    {backwards(ok(9, 9, 10, 10, 11, 11)), 6, results.Precise, 6, 0.1},
		"with a gap":      {ok(9, 9, 10, 10, 11, 11)[1:], 0, "", 9, math.NaN()},
		"a timeout is larger than all": {with(ok(9, 9, 10, 10, 11, 11), trace.TimedOut, 1), 6, "", 9,
			math.NaN()},
		"a violation is none":         {with(ok(9, 9, 10, 10, 11, 11), trace.Violated, 1), 6, "", 9, math.NaN()},
		"invalid, to be repeated":     {append(ok(9, 9, 10, 10, 11), invalid(1)), 5, "", 9, math.NaN()},
		"invalid, one retry is left":  {append(ok(9, 9, 10, 10, 11), invalid(2)), 5, "", 9, math.NaN()},
		"invalid for good":            {append(ok(9, 9, 10, 10, 11), invalid(3)), 6, "", 9, math.NaN()},
		"in the end":                  {ok(1, 2, 3, 4, 5, 6, 7, 8, 9), 9, results.AtMost, 9, 0.6},
		"precise in the last of them": {ok(20, 9, 10, 10, 10, 1, 10, 10, 10), 9, results.Precise, 9, 0.05},
	} {
		s := runner.NewStopping(e)
		for _, r := range test.rows {
			s.Add(r)
		}
		c := s.Record().Cells[0]
		width := math.NaN()
		if c.HalfWidth != nil {
			width = *c.HalfWidth
		}
		same := math.Abs(width-test.width) < 1e-9 || math.IsNaN(width) && math.IsNaN(test.width)
		if c.Repetitions != test.repetitions || c.Stopped != test.ended || s.Planned() != test.planned ||
			!same {
			t.Errorf("%s: %+v, half-width %v, %d planned, want %+v", name, c, width, s.Planned(), test)
		}
		if needs := s.Needs(1, test.repetitions+1); needs != (test.ended == "") {
			t.Errorf("%s: needs a further repetition: %v", name, needs)
		}
		if !s.Needs(1, 1) {
			t.Errorf("%s: the first repetition is not needed", name)
		}
	}
}

// A journal and an experiment that do not belong together are found out.
func TestEachTrial(t *testing.T) {
	t.Parallel()
	e, f := created(t, ruled, t.TempDir())
	_, err := runner.Run(context.Background(), e, f, runner.Options{})
	must(t, err)
	n := 0
	must(t, runner.EachTrial(e, f.Dir(), func(*results.Trial) { n++ }))
	if n < 4*8 {
		t.Errorf("%d trials, want 8 or more of each of 4 cells", n)
	}
	other, _ := created(t, strings.Replace(ruled, "[bully, ring-list]", "[bully]", 1), t.TempDir())
	if _, err := runner.ReadStopping(other, f.Dir()); err == nil ||
		!strings.Contains(err.Error(), "is of cell 3, but the run has 2 cells") &&
			!strings.Contains(err.Error(), "is of cell 4, but the run has 2 cells") {
		t.Error(err)
	}
}

func TestStopping_Note(t *testing.T) {
	t.Parallel()
	e, err := experiment.Load(write(t, ruled), experiment.Overrides{})
	must(t, err)
	s := runner.NewStopping(e)
	for r := 1; r <= 60; r++ {
		for cell, value := range []float64{5, float64(r), math.NaN()} {
			if s.Needs(cell+1, r) {
				trial := row(r, trace.OK, value)
				trial.Cell = cell + 1
				s.Add(trial)
			}
		}
	}
	for _, want := range []string{"election_ms is within ±3 %", "from repetition 8 on: 1 of 4 cells did",
		"after 8; not within", "not within 60: cell 2 (±27.9 %), 3 (no interval)", "unfinished: cell 4"} {
		if !strings.Contains(s.Note(), want) {
			t.Errorf("no %q in %q", want, s.Note())
		}
	}
}
