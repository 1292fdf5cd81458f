package results

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestColumns: figures survive however many trials there are, in blocks of few values and of
// many; a trial that does not name a metric is none that has no figure of it.
func TestColumns(t *testing.T) {
	t.Parallel()
	const trials = 2*rowsOfBlock + 10
	f := create(t, testHeader(trials))
	group := make([]Trial, trials)
	for i := range group {
		trial := randomTrial(i + 1)
		trial.Kinds = trial.Kinds[:i%3]
		trial.Set(metric.Detection.Of(float64(i % 300)))
		switch {
		case i < rowsOfBlock: // the first block names neither of two
			only(&trial, metric.Election.Of(float64(i)))
		case i%7 == 0:
			only(&trial)
		case i%5 == 0:
			only(&trial, metric.SplitBrain.Of(7), metric.Election.Of(nan))
		}
		group[i] = trial
	}
	must(t, f.AppendGroup(group))
	finish(t, f)
	alone := filepath.Join(t.TempDir(), TrialsFile)
	write(t, alone, strings.Join(lines(t, f, TrialsFile), "\n")+"\n")
	for _, path := range []string{f.Dir(), alone} { // the first is of the journal, since trials timed out
		table := readTable(t, path)
		for i := range group {
			a, b := &group[i], &table.Trials[i]
			for _, name := range append(table.Known(), "no_such_metric") {
				v, named := a.Figure(name)
				w, has := b.Figure(name)
				if Number(v) != Number(w) || path == f.Dir() && named != has {
					t.Errorf("trial %d, %s: %v, %v, want %v, %v", a.Trial, name, w, has, v, named)
				}
				if path == f.Dir() {
					if x, y := fmt.Sprint(a.Observe(name)), fmt.Sprint(b.Observe(name)); x != y {
						t.Errorf("trial %d, %s: observes %v, want %v", a.Trial, name, y, x)
					}
				}
			}
		}
	}
}

// TestReadTable_Shares: what many trials have in common is in memory once.
func TestReadTable_Shares(t *testing.T) {
	t.Parallel()
	table := readTable(t, written(t, 6, false).Dir())
	a, b := &table.Trials[0], &table.Trials[1] // of one cell
	if &a.Design[0] != &b.Design[0] || &a.Kinds[0] != &b.Kinds[0] {
		t.Error("two trials have a design, or messages, of their own")
	}
	if extended := append(a.Design, metric.Field{Name: "more"}); &extended[0] == &b.Design[0] {
		t.Error("who appends to the design of a trial writes behind that of another")
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	many := make([]float64, 300)
	for i := range many {
		many[i] = math.Sqrt(float64(i))
	}
	for name, tt := range map[string]struct {
		values []float64
		bytes  int
	}{
		"one value":   {slices.Repeat([]float64{3}, 100), 8},
		"two values":  {slices.Repeat([]float64{3, unnamed}, 50), 16 + 100},
		"many values": {many, 8 * 300},
	} {
		b := blockOf(tt.values)
		if got := 8*len(b.values) + len(b.codes); got != tt.bytes {
			t.Errorf("%s: %d bytes, want %d", name, got, tt.bytes)
		}
		for i, want := range tt.values {
			if got := b.at(i); math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s: %v in place %d, want %v", name, got, i, want)
			}
		}
	}
}

// TestFigure: also a trial that says nothing as an observation tells what stands in its row.
func TestFigure(t *testing.T) {
	t.Parallel()
	trial := testTrial(1)
	trial.Status = trace.Violated
	if v, named := trial.Figure(metric.Detection.Name); v != 10 || !named {
		t.Errorf("%v, %v, want 10 of detection_ms", v, named)
	}
	if _, named := trial.Figure(metric.SplitBrain.Name); named {
		t.Error("a trial names a metric that it does not have")
	}
}
