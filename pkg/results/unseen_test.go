package results

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestUnseen: where messages are not seen, their columns are empty, not 0, on the way to
// the tables and back.
func TestUnseen(t *testing.T) {
	t.Parallel()
	trial := testTrial(1)
	trial.Unseen, trial.Kinds = true, nil
	trial.Set(metric.Messages.Of(0), metric.Delivered.Of(0), metric.Lost.Of(0), metric.BytesSent.Of(0))
	f := create(t, testHeader(1))
	if err := f.Append(trial); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	b, err := f.File(TrialsFile)
	if err != nil || !strings.Contains(string(b), ",1,1,11.5,,,,,,,,,,") {
		t.Errorf("%v:\n%s", err, b)
	}
	for _, read := range []func() (*Table, error){
		f.Table,
		func() (*Table, error) { return ReadTable(f.Dir()) },
	} {
		table, err := read()
		if err != nil {
			t.Fatal(err)
		}
		got := &table.Trials[0]
		if v, o := got.Observe(metric.Messages.Name); !got.Unseen || o != Nothing {
			t.Errorf("unseen is %v, messages are %v, %v", got.Unseen, v, o)
		}
		if v, o := got.Observe(metric.Election.Name); v != 1.25 || o != Observed {
			t.Errorf("the election took %v, %v", v, o)
		}
	}
	if b, err := f.File(SummaryFile); err != nil || strings.Contains(string(b), ",messages,") ||
		!strings.Contains(string(b), ",duration_ms,1,") {
		t.Errorf("%v:\n%s", err, b)
	}
}
