package runner_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A run in memory has the files of one on disk, byte for byte, and is read alike.
func TestInMemory(t *testing.T) {
	t.Parallel()
	e, f := created(t, sweep, t.TempDir())
	_, err := runner.Run(context.Background(), e, f, runner.Options{})
	must(t, err)

	e, err = experiment.Parse("experiment.yaml", []byte(sweep), experiment.Overrides{})
	must(t, err)
	config, err := e.Resolved()
	must(t, err)
	m, err := results.InMemory(runner.Header(e, nil), config)
	must(t, err)
	if _, err := m.File(results.TrialsFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the end: %v", err)
	}
	sum, err := runner.Run(context.Background(), e, m, runner.Options{})
	must(t, err)
	if !sum.Manifest.Complete || m.Dir() != "" || len(m.Done()) != len(e.Trials()) {
		t.Errorf("%d of %d trials are done, complete is %v", len(m.Done()), len(e.Trials()),
			sum.Manifest.Complete)
	}

	want := files(t, f.Dir())
	got := map[string]string{}
	for name := range sum.Manifest.Files {
		b, err := m.File(name)
		must(t, err)
		if strings.HasSuffix(name, ".csv") || strings.HasPrefix(name, results.TracesDir) {
			got[filepath.FromSlash(name)] = string(b)
		}
	}
	same(t, got, want)

	disk, err := results.ReadTable(f.Dir())
	must(t, err)
	table, err := m.Table()
	must(t, err)
	if !reflect.DeepEqual(table.Cells()[0].Design, disk.Cells()[0].Design) ||
		len(table.Trials) != len(disk.Trials) || string(table.Config) != string(disk.Config) {
		t.Error("the tables differ")
	}
	var operations []trace.Operation
	must(t, results.EachOperation(f.Dir(), func(_ int, o trace.Operation) error {
		operations = append(operations, o)
		return nil
	}))
	must(t, m.EachTrial(func(trial *results.Trial) error {
		for _, o := range trial.Ops {
			// An instant that never came is NaN, which is not even itself.
			if w := operations[0]; o.Process != w.Process || o.Status != w.Status || o.Cause != w.Cause {
				t.Fatalf("trial %d: operation %+v, on disk %+v", trial.Trial, o, w)
			}
			operations = operations[1:]
		}
		return nil
	}))
	if len(operations) > 0 {
		t.Errorf("%d operations are on disk alone", len(operations))
	}
	for _, w := range disk.Trials {
		if w.Status != trace.OK {
			trace, err := m.ReadTrace(w.Trial)
			must(t, err)
			if len(trace.Records) == 0 {
				t.Errorf("trial %d: no records", w.Trial)
			}
		}
	}
	must(t, m.Close())
	if err := m.Append(results.Trial{}); err == nil {
		t.Error("a closed run takes trials")
	}
}

// Processes of their own have no folder to put traces into.
func TestInMemory_NoTracesOfOthers(t *testing.T) {
	t.Parallel()
	e, err := experiment.Parse("experiment.yaml", []byte(sweep), experiment.Overrides{})
	must(t, err)
	m, err := results.InMemory(runner.Header(e, nil), nil)
	must(t, err)
	_, err = runner.Run(context.Background(), e, m, options(t))
	if err == nil || !strings.Contains(err.Error(), "set trace: none") {
		t.Errorf("got %v", err)
	}
}
