package results

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func readTable(t *testing.T, path string) *Table {
	t.Helper()
	table, err := ReadTable(path)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// written makes a run of n trials and one that is missing, whose fifth, if there is one, timed out.
func written(t *testing.T, n int, timeout bool) *Folder {
	t.Helper()
	f := create(t, testHeader(n+1))
	for i := 1; i <= n; i++ {
		trial := testTrial(i)
		if i == 5 && timeout {
			trial.Status, trial.Reason = trace.TimedOut, "no leader"
			only(&trial, metric.Detection.Of(10), metric.Election.Of(nan))
		}
		if err := f.Append(trial); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, f)
	return f
}

// TestReadTable_OneTruth: the tables and the journal tell the same.
func TestReadTable_OneTruth(t *testing.T) {
	for _, timeout := range []bool{false, true} {
		f := written(t, 6, timeout)
		fast := readTable(t, f.Dir())
		if err := os.Remove(filepath.Join(f.Dir(), ManifestFile)); err != nil {
			t.Fatal(err)
		}
		slow := readTable(t, f.Dir())
		if fast.Name != "test" || !reflect.DeepEqual(fast.Design, slow.Design) ||
			!reflect.DeepEqual(fast.Metrics, slow.Metrics) || len(fast.Trials) != 6 {
			t.Fatalf("tables give %s %v %v, journal %s %v %v", fast.Name, fast.Design, fast.Metrics,
				slow.Name, slow.Design, slow.Metrics)
		}
		for i := range fast.Trials {
			if !equalTrials(fast.Trials[i], slow.Trials[i]) {
				t.Errorf("timeout %v: tables give\n%+v, journal\n%+v", timeout, fast.Trials[i], slow.Trials[i])
			}
		}
	}
}

// TestReadTable_Stale: tables older than the journal are not believed.
func TestReadTable_Stale(t *testing.T) {
	f := written(t, 2, false)
	if err := f.Append(testTrial(3)); err != nil {
		t.Fatal(err)
	}
	if got := len(readTable(t, f.Dir()).Trials); got != 3 {
		t.Errorf("%d trials, want the 3 of the journal", got)
	}
}

// TestReadTable_Alone reads tables that lie in a folder, or alone, as people
// pass them on.
func TestReadTable_Alone(t *testing.T) {
	f, folder := written(t, 6, true), t.TempDir()
	for _, name := range []string{TrialsFile, MessagesFile} {
		write(t, filepath.Join(folder, name), readFile(t, f.Dir(), name))
	}
	for path, kinds := range map[string]int{folder: 2, filepath.Join(folder, TrialsFile): 0} {
		table := readTable(t, path)
		cells := table.Cells()
		if len(cells) != 3 || cells[2].Get("nodes") != "5" || len(cells[2].Trials) != 2 {
			t.Fatalf("%s: cells %+v", path, cells)
		}
		if got := len(table.Trials[0].Kinds); got != kinds {
			t.Errorf("%s: %d kinds, want %d", path, got, kinds)
		}
		values, censored := cells[2].Sample("election_ms")
		if !reflect.DeepEqual(values, []float64{7.5}) || censored != 1 {
			t.Errorf("%s: election_ms %v and %d censored, want 7.5 and 1", path, values, censored)
		}
		values, censored = cells[2].Sample("messages")
		if !reflect.DeepEqual(values, []float64{120}) || censored != 0 {
			t.Errorf("%s: messages %v and %d censored, want 120 and none", path, values, censored)
		}
		if cells[2].Count(trace.TimedOut) != 1 || cells[2].Count(trace.OK) != 1 {
			t.Errorf("%s: statuses are not counted", path)
		}
	}
}

// TestReadTable_NoMessages: who passes the trials on need not pass the messages on.
func TestReadTable_NoMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, TrialsFile), readFile(t, written(t, 2, false).Dir(), TrialsFile))
	if table := readTable(t, dir); len(table.Trials) != 2 || table.Trials[0].Kinds != nil {
		t.Errorf("%+v, want two trials without kinds", table)
	}
}

// TestReadTable_Spreadsheet: a table that a spreadsheet has saved again is the same.
func TestReadTable_Spreadsheet(t *testing.T) {
	good := readFile(t, written(t, 2, false).Dir(), TrialsFile)
	path := filepath.Join(t.TempDir(), "trials.csv")
	write(t, path, good)
	want := readTable(t, path)
	write(t, path, byteOrderMark+strings.ReplaceAll(good, "\n", "\r\n"))
	got := readTable(t, path)
	if !slices.EqualFunc(got.Trials, want.Trials, equalTrials) {
		t.Errorf("%+v\nwant %+v", got.Trials, want.Trials)
	}
	if got.Trials, want.Trials = nil, nil; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestReadTable_Refuses(t *testing.T) {
	good := readFile(t, written(t, 2, false).Dir(), TrialsFile)
	head, rows, _ := strings.Cut(good, "\n")
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "empty, expected a header"},
		{"other columns", "a,b\n1,2\n", "expected those of trials.csv"},
		{"semicolons", strings.ReplaceAll(good, ",", ";"), "they are not separated by commas"},
		{"a control character", strings.Replace(good, ",sim,", ",\"si\nm\",", 1),
			`line 2: column transport: "si\nm", expected no control character`},
		{"a word for a number", strings.Replace(good, "\n1,1,1,1,", "\n1,1,x,1,", 1),
			`line 2: column repetition: "x", expected a whole number`},
		{"an unknown status", strings.Replace(good, ",ok,", ",fine,", 1), `status "fine", expected one of ["ok"`},
		{"infinite", strings.Replace(good, ",11.5,", ",+Inf,", 1), "column duration_ms"},
		{"a short row", head + "\n1,2,3\n", "line 2"},
		{"an open quote", head + "\n\"" + rows, "line 2"},
		{"no truth", strings.Replace(good, ",true,", ",yes,", 1), "column in_model"},
	} {
		path := filepath.Join(t.TempDir(), "x.csv")
		write(t, path, tt.text)
		_, err := ReadTable(path)
		t.Run(tt.name, func(t *testing.T) { wantError(t, err, path, tt.want) })
	}
	_, err := ReadTable(filepath.Join(t.TempDir(), "missing"))
	wantError(t, err, "no run there")
}

// TestReadTable_Ranges: a value that cannot be is refused by every reader, with file, line, column and what is
// wanted, in every column that holds numbers; what can be is read.
func TestReadTable_Ranges(t *testing.T) {
	all, at := tablesOf(t, written(t, 2, false).Dir()), t.TempDir()
	for file := range all {
		all.write(t, at, file, "", "")
	}
	bad := []string{"NaN", "Inf", "-Inf", "-5", "abc", "0x10", "1,000", "1e308", "1e400", "1e-320", " 5", "true",
		"99999999999999999999", "\u0663"}
	for _, c := range []struct {
		file, columns string
		empty         bool // may be
	}{
		{TrialsFile, "trial cell repetition run_order seed nodes attempts operations completed", false},
		{TrialsFile, "latency_ms loss crash_rate duration_ms late_share election_ms split_brain_ms", true},
		{MessagesFile, "trial sent delivered lost bytes", false},
		{OperationsFile, "trial operation process", false},
		{OperationsFile, "cause_ms begin_ms end_ms phase", true},
		{OutagesFile, "trial outage operation", false},
		{OutagesFile, "begin_ms cause_ms end_ms length_ms", true},
		{SummaryFile, "n mean median ci_high", true},
	} {
		for i, column := range strings.Fields(c.columns) {
			values := bad
			if i > 0 { // the others are read alike
				values = bad[:5]
			}
			if !c.empty {
				values = append(slices.Clone(values), "")
			}
			for _, value := range values {
				if c.file == SummaryFile && value == "-5" {
					continue // of an autocorrelation, it may be
				}
				all.write(t, at, c.file, column, value)
				err := errors.Join(readAll(at)...)
				if c.file == SummaryFile {
					_, err = ReadSheets(at)
				}
				if err == nil || !strings.Contains(err.Error(), c.file+": line 2: column "+column+": ") ||
					!strings.Contains(err.Error(), "expected ") {
					t.Errorf("%s: %s %q: %v", c.file, column, value, err)
				}
				if _, err := ReadSheets(at); err == nil {
					t.Errorf("%s: %s %q: no error before it is passed on", c.file, column, value)
				}
			}
		}
		all.write(t, at, c.file, "", "")
	}
	all.write(t, at, TrialsFile, "election_ms", "0")
	if err := errors.Join(readAll(at)...); err != nil {
		t.Error(err)
	}
}

// readAll reads all of a folder of tables.
func readAll(dir string) []error {
	_, table := ReadTable(dir)
	return []error{table, EachOperation(dir, func(int, trace.Operation) error { return nil }),
		EachOutage(dir, func(int, trace.Outage) error { return nil })}
}

// foreign are the tables of a run alone.
type foreign map[string][][]string

func tablesOf(t *testing.T, dir string) foreign {
	t.Helper()
	all := foreign{}
	for _, name := range []string{TrialsFile, MessagesFile, OperationsFile, OutagesFile, SummaryFile} {
		rows, err := csv.NewReader(strings.NewReader(readFile(t, dir, name))).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("%s: %v, %v", name, rows, err)
		}
		all[name] = rows
	}
	return all
}

// write writes a table into a folder, with another value of a column in the first row.
func (all foreign) write(t *testing.T, dir, file, column, value string) {
	t.Helper()
	rows := slices.Clone(all[file])
	rows[1] = slices.Clone(rows[1])
	if i := slices.Index(rows[0], column); i >= 0 {
		rows[1][i] = value
	} else if column != "" {
		t.Fatalf("%s has no column %s", file, column)
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, file), b.String())
}

func FuzzReadTable(f *testing.F) {
	f.Add("")
	f.Add(strings.Join(append(names(identity), fixedColumns()...), ",") + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.csv")
		write(t, path, text)
		table, err := ReadTable(path)
		if err != nil {
			return
		}
		for _, c := range table.Cells() {
			for _, name := range table.Known() {
				c.Sample(name)
			}
		}
	})
}

// TestCommon: each column that every table has is read from its own place, and by its
// own name.
func TestCommon(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(1))
	trial := testTrial(1)
	for i, m := range metric.Fixed() {
		trial.Set(m.Of(float64(i) + 1))
	}
	trial.Set(metric.LateShare.Of(0.11))
	if err := f.Append(trial); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	rows := lines(t, f, TrialsFile)
	head, row := strings.Split(rows[0], ","), strings.Split(rows[1], ",")
	for _, table := range []*Table{readTable(t, f.Dir()), {Trials: []Trial{trial}}} {
		for _, name := range metric.Names(metric.Fixed()) {
			v, seen := table.Trials[0].Observe(name)
			want := row[slices.Index(head, name)]
			if Number(v) != want || seen != Observed {
				t.Errorf("%s: %v, %v, want %s", name, v, seen, want)
			}
		}
	}
}

// TestReadTable_TimedOut: that a metric does not apply to a trial that timed out stands
// in the journal alone. Where there is none, what others have is taken to be cut off,
// and what nobody has is not.
func TestReadTable_TimedOut(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	trials := []Trial{testTrial(1), testTrial(2)} // of one cell
	trials[1].Status = trace.TimedOut
	only(&trials[1], metric.Detection.Of(10))
	if err := f.AppendGroup(trials); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	alone := filepath.Join(t.TempDir(), TrialsFile)
	rows := lines(t, f, TrialsFile)
	write(t, alone, rows[0]+",heal_ms\n"+rows[1]+",\n"+rows[2]+",\n")
	for path, want := range map[string]int{f.Dir(): 0, alone: 1} {
		c := readTable(t, path).Cells()[0]
		for metric, want := range map[string]int{"election_ms": want, "heal_ms": 0, "detection_ms": 0} {
			if _, censored := c.Sample(metric); censored != want {
				t.Errorf("%s: %d trials are censored of %s, want %d", path, censored, metric, want)
			}
		}
	}
}

// TestReadTable_AnyOrder: rows in any order are sorted.
func TestReadTable_AnyOrder(t *testing.T) {
	t.Parallel()
	f := written(t, 3, false)
	path := filepath.Join(t.TempDir(), TrialsFile)
	rows := lines(t, f, TrialsFile)
	slices.Reverse(rows[1:])
	write(t, path, strings.Join(rows, "\n")+"\n")
	for i, trial := range readTable(t, path).Trials {
		if trial.Trial != i+1 {
			t.Errorf("trial %d in place %d", trial.Trial, i+1)
		}
	}
}

// TestReadTable_Messages: what is wrong with messages.csv is said.
func TestReadTable_Messages(t *testing.T) {
	t.Parallel()
	f := written(t, 2, false)
	good := readFile(t, f.Dir(), MessagesFile)
	for _, tt := range []struct{ name, text, want string }{
		{"of another run", strings.Replace(good, "\n1,", "\n99,", 1), "line 2: trial 99 is not in trials.csv"},
		{"other columns", "trial,kind\n", "expected"},
		{"half a message", strings.Replace(good, ",12,", ",12.5,", 1), `column sent: "12.5", expected a whole number`},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, TrialsFile), readFile(t, f.Dir(), TrialsFile))
		write(t, filepath.Join(dir, MessagesFile), tt.text)
		_, err := ReadTable(dir)
		t.Run(tt.name, func(t *testing.T) { wantError(t, err, MessagesFile, tt.want) })
	}
}

// TestUndeclared: columns of a run of another version, of which this one knows nothing,
// are named and left out; nothing is guessed about them, and nobody goes on with the run.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	f := written(t, 2, false)
	path := filepath.Join(t.TempDir(), TrialsFile)
	rows := lines(t, f, TrialsFile)
	write(t, path, rows[0]+",leap_ms,rounds\n"+rows[1]+",soon,3\n"+rows[2]+",,\n")
	table := readTable(t, path)
	if want := []string{"leap_ms", "rounds"}; !slices.Equal(table.Undeclared, want) {
		t.Errorf("undeclared %q, want %q", table.Undeclared, want)
	}
	if slices.Contains(table.Metrics, "leap_ms") || !slices.Contains(table.Metrics, "election_ms") {
		t.Errorf("metrics %q, want those that are declared", table.Metrics)
	}
	trial := testTrial(1)
	trial.Set(metric.Value{Name: "leap_ms", Value: 3})
	for _, status := range []trace.Status{trace.OK, trace.TimedOut} {
		trial.Status = status
		if v, seen := trial.Observe("leap_ms"); seen != Nothing {
			t.Errorf("%s: observes %v of what nobody knows", status, v)
		}
	}
	f.log.header.Metrics = append(f.log.header.Metrics, "leap_ms", "rounds")
	const want = "no metric of these names, and leaves them out: leap_ms, rounds is called message_delays now"
	wantError(t, f.refuse(Resume{AnyBinary: true}, nil), want)
}
