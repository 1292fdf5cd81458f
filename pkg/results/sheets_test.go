package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// Every column of every table has the type of what the tables' writer puts there.
func TestReadSheets_Types(t *testing.T) {
	t.Parallel()
	h := testHeader(2)
	h.Design = append(h.Design, "process") // a swept key called like a count of another table
	f := create(t, h)
	for i := range 2 {
		trial := testTrial(i + 1)
		trial.Design = append(trial.Design, metric.Field{Name: "process", Value: "fast"})
		must(t, f.Append(trial))
	}
	finish(t, f)
	s, err := ReadSheets(f.Dir())
	must(t, err)
	if s.Header.Name != "test" || !s.Manifest.Complete || s.Path != f.Dir() {
		t.Errorf("header %+v, manifest %+v of %s", s.Header, s.Manifest, s.Path)
	}
	var names []string
	got := map[string]Type{}
	for _, sheet := range s.Tables {
		names = append(names, sheet.Name)
		var columns []string
		for _, c := range sheet.Columns {
			columns = append(columns, c.Name)
			got[sheet.Name+"."+c.Name] = c.Type
		}
		if header := lines(t, f, filepath.Base(sheet.Path))[0]; strings.Join(columns, ",") != header {
			t.Errorf("%s has columns %q, want %s", sheet.Name, columns, header)
		}
	}
	if want := []string{"trials", "operations", "outages", "messages", "summary"}; !slices.Equal(names, want) {
		t.Errorf("tables %q, want %q", names, want)
	}
	for _, test := range []struct {
		of      Type
		columns string
	}{
		{Whole, "trials.trial trials.seed trials.nodes trials.attempts trials.operations trials.completed " +
			"trials.messages trials.detector_messages operations.operation operations.process outages.outage " +
			"outages.operation messages.trial messages.sent messages.bytes summary.nodes summary.n"},
		{Real, "trials.latency_ms trials.loss trials.crash_rate trials.duration_ms trials.late_share " +
			"trials.election_ms trials.message_delays operations.cause_ms operations.phase outages.length_ms " +
			"summary.loss summary.mean summary.ci_low"},
		{Truth, "trials.in_model outages.spec"},
		{Text, "trials.algorithm trials.network_order trials.process trials.status trials.reason " +
			"operations.status operations.cause outages.definition messages.kind summary.label summary.process " +
			"summary.metric summary.ci_method"},
	} {
		for _, column := range strings.Fields(test.columns) {
			if got[column] != test.of {
				t.Errorf("%s has type %q, want %q", column, got[column], test.of)
			}
		}
	}
}

// Tables that are not those of their journal are refused; those without one are taken as they
// are, and so is trials.csv alone.
func TestReadSheets_Sources(t *testing.T) {
	t.Parallel()
	f := written(t, 2, false)
	alone := t.TempDir()
	for _, name := range []string{TrialsFile, MessagesFile} {
		must(t, os.WriteFile(filepath.Join(alone, name), []byte(readFile(t, f.Dir(), name)), 0o644))
	}
	for path, want := range map[string]int{alone: 2, filepath.Join(alone, TrialsFile): 1} {
		s, err := ReadSheets(path)
		must(t, err)
		if len(s.Tables) != want || s.Tables[0].Name != "trials" || s.Header != nil {
			t.Errorf("%s has %+v, want %d tables", path, s, want)
		}
	}
	must(t, os.WriteFile(filepath.Join(alone, MessagesFile), nil, 0o644))
	_, err := ReadSheets(alone)
	wantError(t, err, MessagesFile, "empty, expected a header and rows")
	must(t, f.Append(testTrial(3)))
	_, err = ReadSheets(f.Dir())
	wantError(t, err, "out of date", "bench run --resume "+f.Dir())
	must(t, os.WriteFile(filepath.Join(alone, TrialsFile), []byte("a,b\n1,2\n"), 0o644))
	_, err = ReadSheets(alone)
	wantError(t, err, TrialsFile+": line 1", `"a, b"`)
}
