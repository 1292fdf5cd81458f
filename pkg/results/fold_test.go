package results

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// wide is trials of two cells with so many each, of which some fail.
func wide(each int) (out []Trial) {
	for i := range 2 * each {
		t := testTrial(1)
		t.Cell = i/each + 1
		t.Trial, t.Repetition, t.RunOrder = i+1, i%each+1, i+1
		t.Design[4].Value = fmt.Sprint(2 + t.Cell)
		t.Set(metric.Election.Of(math.Exp(float64(i*37%101)/20)), metric.Detection.Of(float64(i%13)),
			metric.SplitBrain.Of(float64(i%4/3)*0.1*float64(i)))
		switch i % 9 {
		case 3:
			t.Status, t.Reason, t.InModel = trace.TimedOut, fmt.Sprintf("no leader after %d s", i), i%2 == 0
			t.Set(metric.Election.Of(math.NaN()))
		case 5:
			t.Status, t.Reason = trace.Violated, "two leaders"
		}
		out = append(out, t)
	}
	return out
}

func folding(planned int) Header {
	h := testHeader(planned)
	h.Keep, h.Trace = trace.KeepSummary, trace.KeepFailures
	return h
}

// summaryOf is summary.csv by cell and metric.
func summaryOf(t *testing.T, dir string) (header []string, rows [][]string) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSpace(readFile(t, dir, SummaryFile)), "\n") {
		if cells := strings.Split(line, ","); i == 0 {
			header = cells
		} else {
			rows = append(rows, cells)
		}
	}
	return header, rows
}

// What is folded says the same as rows, but for quantiles to 0.1 % and the intervals of pooled means.
func TestFold(t *testing.T) {
	t.Parallel()
	trials := wide(300)
	rows, folds := create(t, testHeader(600)), create(t, folding(600))
	for _, f := range []*Folder{rows, folds} {
		if err := f.AppendGroup(trials); err != nil {
			t.Fatal(err)
		}
		finish(t, f)
	}
	header, want := summaryOf(t, rows.Dir())
	again, got := summaryOf(t, folds.Dir())
	if !slices.Equal(header, again) || len(got) != len(want) {
		t.Fatalf("%d rows of %q, want %d of %q", len(got), again, len(want), header)
	}
	at := slices.Index(header, "metric")
	for i := range want {
		pooled := metric.Named(want[i][at]).Kind.Pooled()
		for k, name := range header {
			a, b := got[i][k], want[i][k]
			if pooled && (name == "ci_low" || name == "ci_high" || name == "ci_method") {
				if a != "" {
					t.Errorf("%s of %s is %s, want none", name, want[i][at], a)
				}
				continue
			}
			var x, y float64
			if _, err := fmt.Sscan(a, &x); err == nil {
				_, err = fmt.Sscan(b, &y)
				if err == nil && math.Abs(x-y) <= 0.001*max(math.Abs(x), math.Abs(y)) {
					continue
				}
			}
			if a != b {
				t.Errorf("row %d: %s of %s is %q, want %q", i, name, want[i][at], a, b)
			}
		}
	}
	if err := Verify(folds.Dir()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{TrialsFile, OperationsFile, OutagesFile, MessagesFile} {
		if _, err := os.Lstat(filepath.Join(folds.Dir(), name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want none", name, err)
		}
	}
	a, b := folds.manifest, rows.manifest
	if a.Attempts != b.Attempts || a.Finished != 600 || a.Statuses[trace.Violated] != b.Statuses[trace.Violated] {
		t.Errorf("manifest %+v, want %+v", a, b)
	}
}

func TestFold_Refusals(t *testing.T) {
	t.Parallel()
	f := create(t, folding(20))
	if err := f.AppendGroup(wide(10)); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	nothing := func(*Trial) error { return nil }
	_, table := ReadTable(f.Dir())
	_, trials := ReadTrials(f.Dir())
	for i, err := range []error{table, trials, f.EachTrial(nothing), Follow(f.Dir()).Next(func(*Trial, bool) {}),
		EachOperation(f.Dir(), func(int, trace.Operation) error { return nil })} {
		var folded *Folded
		if !errors.As(err, &folded) || folded.Exit() != 2 {
			t.Errorf("reader %d: %v, want that no single trial is there", i, err)
		}
	}
	cells, err := ReadCells(f.Dir())
	if err != nil || len(cells.Cells()) != 2 || !cells.Folded() || cells.Cells()[0].Size() != 10 {
		t.Errorf("the cells are %+v, %v", cells, err)
	}
}

// However trials are divided, and wherever the journal is folded or cut, the summary is the same.
func TestFold_Divided(t *testing.T) {
	t.Parallel()
	trials := wide(60)
	whole := create(t, folding(120))
	if err := whole.AppendGroup(trials); err != nil {
		t.Fatal(err)
	}
	finish(t, whole)
	want := readFile(t, whole.Dir(), SummaryFile)
	for step := 7; step < 60; step += 13 {
		f := create(t, folding(120))
		order := slices.Clone(trials)
		slices.Reverse(order)
		for n := 0; len(order) > 0; n++ {
			k := min(step, len(order))
			if err := f.AppendGroup(order[:k]); err != nil {
				t.Fatal(err)
			}
			order = order[k:]
			if n%2 == 1 {
				f.mu.Lock()
				err := f.condense()
				f.mu.Unlock()
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if m := finish(t, f); !m.Complete || m.Attempts != 120 || len(f.Done()) != 120 {
			t.Errorf("in groups of %d: %+v", step, m)
		}
		if got := readFile(t, f.Dir(), SummaryFile); got != want {
			t.Errorf("in groups of %d the summary differs:\n%s\nwant:\n%s", step, got, want)
		}
	}
}

// A process may be killed at any byte of a journal that holds folds and rows, and before a folded journal
// takes the place of the old one.
func TestFold_Crash(t *testing.T) {
	t.Parallel()
	trials := wide(40)
	f := create(t, folding(80))
	if err := f.AppendGroup(trials[:50]); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	err := f.condense()
	f.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	folded := f.log.tail.end
	for _, group := range [][]Trial{trials[50:65], trials[65:]} {
		if err := f.AppendGroup(group); err != nil {
			t.Fatal(err)
		}
	}
	journal := readFile(t, f.Dir(), JournalFile)
	finish(t, f)
	want := readFile(t, f.Dir(), SummaryFile)
	for cut := folded; cut <= int64(len(journal)); cut += 97 {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, ConfigFile), testConfig)
		write(t, filepath.Join(dir, JournalFile), journal[:cut])
		write(t, filepath.Join(dir, "."+JournalFile+"1234"), "half of a folded journal")
		g, err := Open(dir, Resume{})
		if err != nil {
			t.Fatal(err)
		}
		done := g.Done()
		if len(done) < 50 {
			t.Errorf("cut at byte %d: %d trials are done, want those that were folded", cut, len(done))
		}
		left := slices.DeleteFunc(slices.Clone(trials), func(trial Trial) bool {
			_, is := done[trial.Trial]
			return is
		})
		if err := g.AppendGroup(left); err != nil {
			t.Fatal(err)
		}
		finish(t, g)
		if got := readFile(t, dir, SummaryFile); got != want {
			t.Errorf("cut at byte %d: the summary differs from that of the undisturbed run", cut)
		}
		if _, err := os.Lstat(filepath.Join(dir, "."+JournalFile+"1234")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what a killed process left stays: %v", err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A trial that takes another attempt is not folded before.
func TestFold_Invalid(t *testing.T) {
	t.Parallel()
	f := create(t, folding(20))
	trials := wide(10)
	spoiled := slices.Clone(trials)
	spoiled[4].Status, spoiled[4].Reason = trace.Invalid, "the bus was stalled"
	if err := f.AppendGroup(spoiled); err != nil {
		t.Fatal(err)
	}
	if m := finish(t, f); m.Finished != 19 || m.Statuses[trace.Invalid] != 1 {
		t.Errorf("before the second attempt: %+v", m)
	}
	trials[4].Attempts = 2
	if err := f.Append(trials[4]); err != nil {
		t.Fatal(err)
	}
	if m := finish(t, f); !m.Complete || m.Statuses[trace.Invalid] != 0 {
		t.Errorf("after it: %+v", m)
	}
}

func TestMerge_Folds(t *testing.T) {
	t.Parallel()
	root, trials := t.TempDir(), wide(30)
	whole := create(t, folding(60))
	if err := whole.AppendGroup(trials); err != nil {
		t.Fatal(err)
	}
	finish(t, whole)
	var dirs []string
	for i := range 2 {
		h := folding(60)
		h.Shard = &Shard{Index: i + 1, Of: 2}
		f, err := Create(root, h, []byte(testConfig))
		if err != nil {
			t.Fatal(err)
		}
		var mine []Trial
		for k := i; k < 60; k += 2 {
			mine = append(mine, trials[k])
		}
		if err := f.AppendGroup(mine); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Finish(End{Planned: 30}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, f.Dir())
	}
	dir, err := Merge(dirs, root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := readFile(t, dir, SummaryFile), readFile(t, whole.Dir(), SummaryFile); got != want {
		t.Errorf("merged:\n%s\nwant:\n%s", got, want)
	}
	if err := Verify(dir); err != nil {
		t.Error(err)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for _, numbers := range [][]int{nil, {1}, {1, 2, 3}, {1, 3, 4, 9}, {7, 8}} {
		got, err := numbersIn(ranges(numbers))
		if err != nil || !slices.Equal(got, numbers) {
			t.Errorf("%v as %q reads back as %v, %v", numbers, ranges(numbers), got, err)
		}
	}
	for _, bad := range []string{"x", "3-1", "1-", "1-99999999999"} {
		if _, err := numbersIn(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
