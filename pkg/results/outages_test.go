package results

import (
	"bytes"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// counted is testTrial with the counts of its outages, as every election has them.
func counted(n int) Trial {
	t := testTrial(n)
	return t.With(metric.Agreed.Number.Of(1), metric.Led.Number.Of(2), metric.Served.Number.Of(0))
}

func countedHeader(n int) Header {
	h := testHeader(n)
	h.Metrics = append(h.Metrics, metric.Names(metric.NumbersOfOutages())...)
	return h
}

// TestReadSpans_Outages: a downtime by a definition is that of the outages by that definition
// with status ok, from their cause; one that is measured and goes on is longer than any.
func TestReadSpans_Outages(t *testing.T) {
	t.Parallel()
	f := create(t, countedHeader(2))
	pending := counted(2)
	pending.Outages[2].Status = trace.Pending
	must(t, f.AppendGroup([]Trial{counted(1), pending}))
	finish(t, f)
	table, err := ReadTable(f.Dir())
	must(t, err)
	for m, want := range map[*metric.Metric][][]float64{
		metric.Downtime:        {{2}, {2, math.Inf(1)}},
		metric.Led.Downtime:    {{2}, {2, math.Inf(1)}},
		metric.Served.Downtime: {nil, nil},
	} {
		s, err := table.ReadSpans([]*metric.Metric{m, metric.Election})
		must(t, err)
		if got := s.Of(table.Cells()[0], m); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", m.Name, got, want)
		}
	}
}

// TestReadSpans_OldRun: a run of a version without outages.csv is read like any other, but its
// single outages are not known.
func TestReadSpans_OldRun(t *testing.T) {
	t.Parallel()
	f := create(t, countedHeader(2))
	one := counted(1)
	one.Outages = nil // the journal of such a version has none
	two := counted(2)
	two.Outages = nil
	must(t, f.AppendGroup([]Trial{one, two}))
	m := finish(t, f)
	must(t, f.files.remove(OutagesFile))
	delete(m.Files, OutagesFile)
	text, err := seal(m)
	must(t, err)
	write(t, f.path(ManifestFile), string(text))
	must(t, Verify(f.Dir()))
	table, err := ReadTable(f.Dir())
	if err != nil || len(table.Trials) != 2 {
		t.Fatalf("%v, %v, want two trials", table, err)
	}
	if s, err := table.ReadSpans([]*metric.Metric{metric.Election}); err != nil || s == nil {
		t.Error(err)
	}
	_, err = table.ReadSpans([]*metric.Metric{metric.Downtime})
	wantError(t, err, "downtime_ms: ", "trial 1, outages.csv has 0 rows and trials.csv counts 3", "downtime_agreed_ms")
	// A table of somebody else's in its place is not believed.
	write(t, f.path(OutagesFile), "trial\n")
	wantError(t, Verify(f.Dir()), OutagesFile, "is not among the files of manifest.json")
}

// TestReadSpans_OlderRun: before there were definitions, trials did not count outages either.
func TestReadSpans_OlderRun(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(1))
	trial := testTrial(1)
	trial.Outages = nil
	must(t, f.Append(trial))
	finish(t, f)
	table, err := ReadTable(f.Dir())
	must(t, err)
	wantError(t, table.HasOutages(), "trials.csv counts none")
}

// TestOutages_DamagedJournal: columns of one length, or none of them is believed.
func TestOutages_DamagedJournal(t *testing.T) {
	t.Parallel()
	trial := testTrial(1)
	b, err := EncodeTrial(&trial)
	must(t, err)
	b = bytes.Replace(b, []byte(`"begin_ms":[1e-06,1e-06,10]`), []byte(`"begin_ms":[1e-06,10]`), 1)
	_, err = DecodeTrial(b, testHeader(1).Design)
	wantError(t, err, "columns of outages differ in length")
}

// TestEachOutage: the table, on its own as well, and the journal tell the same.
func TestEachOutage(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	must(t, f.Append(testTrial(1)))
	finish(t, f)
	read := func(path string) (out []trace.Outage) {
		must(t, EachOutage(path, func(_ int, o trace.Outage) error {
			out = append(out, o)
			return nil
		}))
		return out
	}
	alone := t.TempDir()
	write(t, filepath.Join(alone, OutagesFile), readFile(t, f.Dir(), OutagesFile))
	want := testTrial(1).Outages
	for _, path := range []string{f.Dir(), alone} {
		if got := read(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	must(t, f.Append(testTrial(2))) // the table is older than the journal now
	if got := read(f.Dir()); !reflect.DeepEqual(got, append(want, want...)) {
		t.Errorf("%+v, want those of two trials", got)
	}
	write(t, filepath.Join(alone, OutagesFile), readFile(t, f.Dir(), OutagesFile)+"1,led,3,perhaps,0,0,0,0,ok,crash,1\n")
	err := EachOutage(alone, func(int, trace.Outage) error { return nil })
	wantError(t, err, OutagesFile+": line 5: column spec: \"perhaps\", expected true or false")
}
