package results

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// complete makes a finished run of four trials, of which two have traces: one was
// repeated, and one timed out.
func complete(t testing.TB) *Folder {
	t.Helper()
	f := create(t, testHeader(4))
	late, again := testTrial(2), testTrial(3)
	late.Status, late.Reason = trace.TimedOut, "no leader"
	only(&late, metric.Detection.Of(10), metric.Election.Of(nan))
	spoiled := again
	spoiled.Status, spoiled.Reason, again.Attempts = trace.Invalid, "strangers", 2
	for n := 1; n <= 2; n++ {
		writeTrace(t, f, Trace{Trial: n, Attempt: 1, Kinds: []string{"ELECTION"}, Records: trace.List{
			{At: 5, Type: trace.Send, Process: 1, Peer: 2, Seq: 1, Due: 9, Bytes: 3},
			{At: 9, Type: trace.Elected, Process: 2, Peer: 2, Arg: 1},
		}})
	}
	must(t, f.Append(testTrial(1)))
	must(t, f.AppendGroup([]Trial{late, spoiled, again, testTrial(4)}))
	if m := finish(t, f); !m.Complete || m.Attempts != 5 {
		t.Fatalf("manifest %+v, want a complete run", m)
	}
	must(t, f.Close())
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readers are everything that is read of a run: what each makes of the run in dir, in
// words.
var readers = map[string]func(dir string) (string, error){
	"table": func(dir string) (string, error) {
		t, err := ReadTable(dir)
		if err != nil {
			return "", err
		}
		for i := range t.Trials {
			t.Trials[i] = settled(t.Trials[i])
		}
		return fmt.Sprintf("%+v %v %v %s", t.Trials, t.Design, t.Metrics, t.Config), nil
	},
	"trials": func(dir string) (string, error) {
		all, err := ReadTrials(dir)
		for i := range all {
			all[i] = settled(all[i])
		}
		return fmt.Sprintf("%+v", all), err
	},
	"attempts": func(dir string) (string, error) {
		all, err := ReadAttempts(dir, 3)
		return fmt.Sprintf("%+v", all), err
	},
	"header": func(dir string) (string, error) {
		h, err := ReadHeader(dir)
		return fmt.Sprintf("%+v", h), err
	},
	"operations": func(dir string) (out string, err error) {
		err = EachOperation(dir, func(trial int, op trace.Operation) error {
			out += fmt.Sprintf("%d %+v\n", trial, op)
			return nil
		})
		return out, err
	},
	"outages": func(dir string) (out string, err error) {
		err = EachOutage(dir, func(trial int, o trace.Outage) error {
			out += fmt.Sprintf("%d %+v\n", trial, o)
			return nil
		})
		return out, err
	},
	"manifest": func(dir string) (string, error) {
		m, err := ReadManifest(dir)
		return fmt.Sprintf("%+v", m), err
	},
	"trace": func(dir string) (string, error) {
		t, err := ReadTrace(dir, 1)
		return fmt.Sprintf("%+v", t), err
	},
	"table alone": func(dir string) (string, error) {
		t, err := ReadTable(filepath.Join(dir, TrialsFile))
		if err != nil {
			return "", err
		}
		for i := range t.Trials {
			t.Trials[i] = settled(t.Trials[i])
		}
		return fmt.Sprintf("%+v", t.Trials), nil
	},
	"resume": func(dir string) (string, error) {
		f, err := Open(dir, Resume{})
		if err != nil {
			return "", err
		}
		defer f.Close()
		return fmt.Sprintf("%v", f.Done()), nil
	},
}

// runFiles are the files of a run, by their names in its manifest.
func runFiles(t testing.TB, dir string) []string {
	t.Helper()
	m, err := ReadManifest(dir)
	must(t, err)
	names := []string{ManifestFile}
	for name := range m.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestWhole_AnyByte: whatever happens to whichever byte of a finished run, a reader
// gives what it gave before, or names the file and what to do.
func TestWhole_AnyByte(t *testing.T) {
	t.Parallel()
	f := complete(t)
	dir := f.Dir()
	want := map[string]string{}
	for name, read := range readers {
		var err error
		want[name], err = read(dir)
		must(t, err)
	}
	step := 211
	if slowtest.Night() {
		step = 7
	}
	damages := map[string]func(b []byte, at int) []byte{
		"a bit of %s flipped at %d": func(b []byte, at int) []byte {
			b = bytes.Clone(b)
			b[at] ^= 1 << (at % 8)
			return b
		},
		"%s cut at %d":               func(b []byte, at int) []byte { return b[:at] },
		"a byte of %s removed at %d": func(b []byte, at int) []byte { return slices.Delete(bytes.Clone(b), at, at+1) },
		"a byte of %s doubled at %d": func(b []byte, at int) []byte { return slices.Insert(bytes.Clone(b), at, b[at]) },
	}
	for _, name := range runFiles(t, dir) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		b := []byte(readFile(t, path))
		for at := len(b) - 1; at >= 0; at -= step {
			for what, damage := range damages {
				write(t, path, string(damage(b, at)))
				refusedOrSame(t, dir, fmt.Sprintf(what, name, at), name, want)
			}
		}
		must(t, os.Remove(path))
		refusedOrSame(t, dir, name+" removed", name, want)
		write(t, path, string(b)+"\n")
		refusedOrSame(t, dir, name+" with a line more", name, want)
		write(t, path, string(b))
		if t.Failed() {
			return
		}
	}
	must(t, Verify(dir))
}

func refusedOrSame(t *testing.T, dir, what, file string, want map[string]string) {
	t.Helper()
	for name, read := range readers {
		got, err := read(dir)
		switch {
		case err != nil && !strings.Contains(err.Error(), filepath.FromSlash(file)):
			t.Errorf("%s: %s: error %q, want it to name the file", what, name, err)
		case err != nil && !strings.Contains(err.Error(), "restore") && !strings.Contains(err.Error(), "put it back") &&
			!strings.Contains(err.Error(), "no run there") && !errors.Is(err, os.ErrNotExist):
			t.Errorf("%s: %s: error %q, want a remedy", what, name, err)
		case err == nil && got != want[name]:
			t.Errorf("%s: %s gives\n%.300s\nwant\n%.300s", what, name, got, want[name])
		}
	}
}

// TestWhole_Refuses says of each kind of damage in a finished run what is said of it.
func TestWhole_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		damage     func(text string) string // nil: the file is removed
		want       []string
	}{
		{"last line of the journal", JournalFile, func(s string) string { return s[:len(s)-20] + "~" + s[len(s)-19:] },
			[]string{"journal.ndjson: line 6 of 6 is damaged, at byte ", "manifest.json says that the run has 5 attempts",
				"restore it from a copy", "trials.csv is intact, and can be read on its own", "--resume"}},
		{"torn journal", JournalFile, func(s string) string { return s[:len(s)-1] }, []string{"line 6 of 6 is damaged"}},
		{"journal without its last line", JournalFile,
			func(s string) string { return s[:strings.LastIndex(s[:len(s)-1], "\n")+1] },
			[]string{"it has 5 lines and had 6", "restore it from a copy"}},
		{"journal with rubbish behind it", JournalFile, func(s string) string { return s + "{" },
			[]string{"1 bytes follow the end of the complete run"}},
		{"journal in the middle", JournalFile, func(s string) string { return s[:900] + "~" + s[901:] },
			[]string{"damaged in the middle of the file", "restore the file from a copy"}},
		{"no journal", JournalFile, nil, []string{"journal.ndjson is missing, and manifest.json says that the run " +
			"has 5 attempts; restore it from a copy", "trials.csv is intact, and can be read on its own"}},
		{"table", TrialsFile, func(s string) string { return strings.Replace(s, ",19,1,", ",18,2,", 1) },
			[]string{"trials.csv was edited or is damaged: sha256 ", "restore it from a copy; or remove manifest.json"}},
		{"no table", SummaryFile, nil, []string{"summary.csv is missing, and manifest.json names it"}},
		{"manifest", ManifestFile, func(s string) string { return strings.Replace(s, `"seed": 1`, `"seed": 2`, 1) },
			[]string{"manifest.json was edited or damaged", "its checksum does not match; restore it"}},
		{"configuration", ConfigFile, func(s string) string { return s + "\n" },
			[]string{"config.resolved.yaml was changed after the run began", "put it back"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := complete(t).Dir()
			path := filepath.Join(dir, test.file)
			if test.damage == nil {
				must(t, os.Remove(path))
			} else {
				write(t, path, test.damage(readFile(t, path)))
			}
			for _, name := range []string{"table", "trials", "attempts", "header", "operations", "outages", "trace", "resume"} {
				_, err := readers[name](dir)
				wantError(t, err, test.want...)
			}
		})
	}
}

// TestWhole_Trace: a trace that was edited, and one that was put there, are refused.
func TestWhole_Trace(t *testing.T) {
	t.Parallel()
	dir := complete(t).Dir()
	path := filepath.Join(dir, traceName(1, false))
	good := readFile(t, path)
	write(t, path, strings.Replace(good, `"process":2,"peer":2`, `"process":2,"peer":9`, 1))
	_, err := ReadTrace(dir, 1)
	wantError(t, err, "trace: ", "trial-1.ndjson was edited or is damaged", "restore it from a copy")
	write(t, path, good)
	write(t, filepath.Join(dir, traceName(3, false)), strings.Replace(good, `"trial":1`, `"trial":3`, 1))
	_, err = ReadTrace(dir, 3)
	wantError(t, err, "trial-3.ndjson is not among the files of manifest.json; remove it")
	must(t, os.Remove(path))
	_, err = ReadTrace(dir, 1)
	wantError(t, err, "trial-1.ndjson is missing, and manifest.json names it")
	if _, err := ReadTrace(dir, 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a trial that kept none: %v, want fs.ErrNotExist", err)
	}
	wantError(t, Verify(dir), "trial-1.ndjson is missing")
}

// TestWhole_Interrupted: an interrupted run has lost nothing of what its manifest knows;
// what a resumed run has added and a crash has torn is no damage.
func TestWhole_Interrupted(t *testing.T) {
	t.Parallel()
	f := written(t, 3, false)
	journal := f.path(JournalFile)
	known := readFile(t, journal)
	write(t, journal, known[:len(known)-1])
	_, err := ReadTable(f.Dir())
	wantError(t, err, "line 4 of 4 is damaged", "restore it")
	write(t, journal, known)
	must(t, f.Append(testTrial(4)))
	must(t, f.Close())
	torn := readFile(t, journal)[:len(known)+30]
	write(t, journal, torn)
	write(t, f.path(TrialsFile), "tables of a Finish that was killed")
	table, err := ReadTable(f.Dir())
	if err != nil || len(table.Trials) != 3 || table.CSV != "" {
		t.Errorf("%+v, %v, want three trials of the journal", table, err)
	}
	again, err := Open(f.Dir(), Resume{})
	must(t, err)
	defer again.Close()
	want := []string{"the journal ended in an unfinished record of 30 bytes, which was removed"}
	if got := again.Notes(); !reflect.DeepEqual(got, want) {
		t.Errorf("notes %q, want %q", got, want)
	}
}

// TestWhole_ReportIsNoPart: a report in the folder of a run may come, change and go.
func TestWhole_ReportIsNoPart(t *testing.T) {
	t.Parallel()
	dir := complete(t).Dir()
	path := filepath.Join(dir, "report.html")
	write(t, path, "one")
	f, err := Open(dir, Resume{})
	must(t, err)
	finish(t, f)
	must(t, f.Close())
	write(t, path, "two")
	must(t, Verify(dir))
}
