package results

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

type seen struct {
	trial int
	op    string
}

// operationsOf reads those of the run at path, in a form that knows NaN.
func operationsOf(t *testing.T, path string) (out []seen) {
	t.Helper()
	err := EachOperation(path, func(trial int, op trace.Operation) error {
		out = append(out, seen{trial, strings.Join([]string{Number(inMS(op.Cause)), Number(inMS(op.Begin)),
			Number(inMS(op.End)), string(op.Status), Number(float64(op.Process))}, " ")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEachOperation_OneTruth: the table and the journal tell the same, and a table older
// than the journal is not believed.
func TestEachOperation_OneTruth(t *testing.T) {
	f := written(t, 3, false)
	want := []seen{{1, " 0.000001 12.5 ok 3"}, {2, " 0.000001 12.5 ok 3"}, {3, " 0.000001 12.5 ok 3"}}
	if got := operationsOf(t, f.Dir()); !reflect.DeepEqual(got, want) {
		t.Errorf("from the table: %v, want %v", got, want)
	}
	alone := t.TempDir()
	write(t, filepath.Join(alone, OperationsFile), readFile(t, f.Dir(), OperationsFile))
	if got := operationsOf(t, alone); !reflect.DeepEqual(got, want) {
		t.Errorf("from the table alone: %v, want %v", got, want)
	}
	if err := f.Append(testTrial(4)); err != nil {
		t.Fatal(err)
	}
	if got := operationsOf(t, f.Dir()); len(got) != 4 {
		t.Errorf("%v, want those of the four trials in the journal", got)
	}
	if got := operationsOf(t, filepath.Join(f.Dir(), TrialsFile)); got != nil {
		t.Errorf("a table of trials has operations: %v", got)
	}
	if got := operationsOf(t, t.TempDir()); got != nil {
		t.Errorf("an empty folder has operations: %v", got)
	}
}

func TestEachOperation_Refuses(t *testing.T) {
	head := "trial,operation,process,cause_ms,begin_ms,end_ms,status,cause,phase\n"
	for _, tt := range []struct{ name, text, want string }{
		{"other columns", "a,b\n1,2\n", "expected"},
		{"a word for a number", head + "1,1,x,0,1,2,ok,,\n",
			`line 2: column process: "x", expected a whole number`},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, OperationsFile), tt.text)
		err := EachOperation(dir, func(int, trace.Operation) error { return nil })
		t.Run(tt.name, func(t *testing.T) { wantError(t, err, OperationsFile, tt.want) })
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, OperationsFile), head+"1,1,1,0,1,2,ok,,\n")
	err := EachOperation(dir, func(int, trace.Operation) error { return os.ErrClosed })
	wantError(t, err, os.ErrClosed.Error())
}

// TestReadSpans_AnyOrder: times belong to their trials, in their order, also where somebody has
// sorted the table anew.
func TestReadSpans_AnyOrder(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	trials := []Trial{testTrial(1), testTrial(2)}
	for i := range trials {
		for k := range 3 {
			trials[i].Ops = append(trials[i].Ops, trace.Operation{Begin: 0, End: instant(float64(10*i + k)),
				Cause: -1, Status: trace.Completed, Origin: trace.LeaderCrashed})
		}
	}
	if err := f.AppendGroup(trials); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	rows := lines(t, f, OperationsFile)
	dir := t.TempDir()
	write(t, filepath.Join(dir, TrialsFile), readFile(t, f.Dir(), TrialsFile))
	mixed := []string{rows[0], rows[5], rows[1], rows[2], rows[6], rows[7], rows[3], rows[8], rows[4]}
	write(t, filepath.Join(dir, OperationsFile), strings.Join(mixed, "\n")+"\n")
	want := "[[12.499999 0 1 2] [12.499999 10 11 12]]"
	for _, path := range []string{f.Dir(), dir} {
		table := readTable(t, path)
		s, err := table.ReadSpans([]*metric.Metric{metric.Election})
		if err != nil {
			t.Fatal(err)
		}
		groups := s.Of(table.Cells()[0], metric.Election)
		if got := fmt.Sprint(groups); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if longer := append(groups[0], 7); fmt.Sprint(groups) != want || len(longer) != 5 {
			t.Error("who appends to the times of a trial writes over those of the next")
		}
	}
}

// TestReadSpans_TimedOut: operations of a trial that ran into its time limit count as those of one
// that ended well, and those of a trial with another status do not.
func TestReadSpans_TimedOut(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(4))
	trials := []Trial{testTrial(1), testTrial(2), testTrial(3), testTrial(4)}
	for i, status := range []trace.Status{trace.OK, trace.TimedOut, trace.Failed, trace.Unknown} {
		trials[i].Status = status
		trials[i].Ops[0].End = trials[i].Ops[0].Begin + instant(float64(i+1))
	}
	if err := f.AppendGroup(trials); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	table := readTable(t, f.Dir())
	s, err := table.ReadSpans([]*metric.Metric{metric.Election})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for i := range table.Cells() {
		got += fmt.Sprint(s.Of(table.Cells()[i], metric.Election))
	}
	if want := "[[1] [2]][[] []]"; got != want {
		t.Errorf("times %s, want %s", got, want)
	}
}
