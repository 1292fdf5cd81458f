package outcome

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/ringlist"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew; read the difference first")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || got != string(want) {
		t.Errorf("%s: %v: got\n%s\nwant\n%s", path, err, got, want)
	}
}

// TestFolded: notes that are equal but for a cell, a label or a number are one.
func TestFolded(t *testing.T) {
	got := folded([]string{
		"cell 1: 9 faults did not happen", "the machine was busy", "cell 4: 14 faults did not happen",
		"bully: t_answer is below 2d", "ring-list: t_answer is below 2d", "bully: t_answer is below 2d",
		"a: x", "b: x", "c: x", "d: x", "e: x",
		"p99 is 3.5 ms", "p99 is 12 ms", "p50 is 12 ms of time",
		"shard 2/3: cell 8: it took 20 % longer", "cell 8: it took 21 % longer", "cell 9: it took 5 % longer",
		"shard 1/3: it rained", "shard 3/3: it rained",
	})
	want := []string{
		"cell 1 to 4: 9 to 14 faults did not happen (2 alike)", "the machine was busy",
		"bully, ring-list: t_answer is below 2d (3 alike)",
		"a, b, c and 2 more: x (5 alike)",
		"p99 is 3.5 to 12 ms (2 alike)", "p50 is 12 ms of time",
		"cell 8 to 9: it took 5 to 21 % longer (2 alike)", "shard 1 to 3/3: it rained (2 alike)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// busy is the quickstart, simulated, as a busy machine would have left it: a fifth of its trials are marked,
// three are invalid, and there are notes of many kinds.
func busy(t *testing.T) *Outcome {
	t.Helper()
	e, err := experiment.Load("../../../configs/quickstart.yaml", experiment.Overrides{Transport: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := e.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := results.InMemory(runner.Header(e, nil), config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Run(context.Background(), e, folder, runner.Options{}); err != nil {
		t.Fatal(err)
	}
	table, err := folder.Table()
	if err != nil {
		t.Fatal(err)
	}
	o := New(e, "results/quickstart/20260102-030405")
	o.Notes = append(o.Notes, e.Notes...)
	for i := range table.Trials {
		trial := &table.Trials[i]
		switch {
		case i%20 == 7:
			trial.Status = trace.Invalid
			trial.Reason = "the machine was late: 83 % of latency_achieved_ms is lateness of messages and timers " +
				"(33 % is bearable); use fewer nodes or longer latencies, or end what else it does"
		case i%5 == 0:
			trial.Reason = fmt.Sprintf("late: %d %% of election_ms is lateness of messages and timers", 10+i%9)
		}
		o.Add(trial)
	}
	for cell := range 6 {
		o.Notes = append(o.Notes, fmt.Sprintf("cell %d: processes were down %d %% longer than configured "+
			"(outage_achieved_ms): it takes that long to start one; longer downtimes hide it", cell+1, 12+cell))
	}
	for i, text := range []string{"resumed by another build of the program", "the bus was restarted", "the clock was stepped"} {
		o.Notes = append(o.Notes, fmt.Sprintf("%s (%d times)", text, i+2))
	}
	if err := o.hold(table); err != nil {
		t.Fatal(err)
	}
	return o
}

// inText is the document as a terminal of so many columns shows it.
func inText(t *testing.T, o *Outcome, columns int) string {
	t.Helper()
	d := o.Document("run")
	d.Columns = columns
	var text bytes.Buffer
	if err := answer.Named("text").Write(&text, d); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestDocument_Lines: the answer comes first, and fits a screen: a table, which algorithm is the faster, and a
// few notes. A wide terminal has one table, and --notes has everything.
func TestDocument_Lines(t *testing.T) {
	o := busy(t)
	narrow, wide := inText(t, o, 80), inText(t, o, 200)
	golden(t, "narrow.txt", narrow)
	golden(t, "wide.txt", wide)
	if n := strings.Count(narrow, "\n"); n > 24 {
		t.Errorf("%d lines:\n%s", n, narrow)
	}
	o.Whole = true
	whole := inText(t, o, 80)
	golden(t, "whole.txt", whole)
	for _, note := range folded(o.warnings()) {
		end := strings.Fields(note)
		if !strings.Contains(strings.Join(strings.Fields(whole), " "), strings.Join(end, " ")) {
			t.Errorf("--notes lacks %q", note)
		}
	}
	all := string(must(o.Document("run").In("json")))
	if n := strings.Count(all, "outage_achieved_ms"); n != 1 {
		t.Errorf("%d notes on cells in JSON", n)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
