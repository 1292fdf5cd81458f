package results

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// sameSurvey holds what Survey reads against what ReadTable reads.
func sameSurvey(t *testing.T, path string, want *Table) {
	t.Helper()
	got, err := Survey(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Trials) != len(want.Trials) {
		t.Fatalf("a survey has %d trials, want %d", len(got.Trials), len(want.Trials))
	}
	names := append(want.Known(), "no_such_metric")
	for i := range want.Trials {
		a, b := &want.Trials[i], &got.Trials[i]
		for _, name := range names {
			x, seenX := a.Observe(name)
			y, seenY := b.Observe(name)
			v, namedV := a.Figure(name)
			w, namedW := b.Figure(name)
			if Number(x) != Number(y) || seenX != seenY || Number(v) != Number(w) || namedV != namedW {
				t.Errorf("trial %d, %s: a survey has %v, %v (%v, %v), want %v, %v (%v, %v)", a.Trial, name,
					y, seenY, w, namedW, x, seenX, v, namedV)
			}
		}
		rest := *b
		rest.Metrics, rest.held, rest.row = a.Metrics, nil, 0
		if b.Metrics != nil || !equalTrials(*a, rest) {
			t.Errorf("a survey has\n%+v, want\n%+v", rest, *a)
		}
	}
	got.Trials, want = nil, &Table{Path: want.Path, Name: want.Name, Design: want.Design, Metrics: want.Metrics,
		Undeclared: want.Undeclared, Header: want.Header, Manifest: want.Manifest, Config: want.Config,
		CSV: want.CSV, survey: true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("a survey is\n%+v, want\n%+v", got, want)
	}
}

// TestSurvey: figures survive however many trials there are, in blocks of few values and of
// many; a trial that does not name a metric is none that has no figure of it.
func TestSurvey(t *testing.T) {
	t.Parallel()
	const trials = 2*rowsOfBlock + 10
	f := create(t, testHeader(trials))
	group := make([]Trial, trials)
	for i := range group {
		trial := randomTrial(i + 1)
		trial.Kinds = trial.Kinds[:i%3]
		trial.Metrics = append(trial.Metrics, metric.Detection.Of(float64(i%300)))
		switch {
		case i < rowsOfBlock: // the first block names neither of two
			trial.Metrics = trial.Metrics[:1]
		case i%7 == 0:
			trial.Metrics = nil
		case i%5 == 0:
			trial.Metrics = []metric.Value{metric.SplitBrain.Of(7), metric.Election.Of(nan)}
		}
		group[i] = trial
	}
	if err := f.AppendGroup(group); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	sameSurvey(t, f.Dir(), readTable(t, f.Dir())) // from the journal, since trials timed out
	alone := filepath.Join(t.TempDir(), TrialsFile)
	write(t, alone, strings.Join(lines(t, f, TrialsFile), "\n")+"\n")
	sameSurvey(t, alone, readTable(t, alone))
}

// TestSurvey_Shares: what many trials have in common is in memory once.
func TestSurvey_Shares(t *testing.T) {
	t.Parallel()
	table, err := Survey(written(t, 6, false).Dir())
	if err != nil {
		t.Fatal(err)
	}
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
