package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/trace"
)

func writeTrace(t testing.TB, f *Folder, tr Trace) {
	t.Helper()
	w, err := NewTrace(f.Dir(), f.Header().Trace, tr.Trial, tr.Attempt, tr.Kinds)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.Records {
		w.Record(&tr.Records[i])
	}
	if err := w.Commit(tr.End); err != nil {
		t.Fatal(err)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	for keep, suffix := range map[string]string{trace.KeepAll: "", trace.KeepFailures: ".gz"} {
		t.Run(keep, func(t *testing.T) { testTraces(t, keep, "traces/trial-17.ndjson"+suffix) })
	}
}

func testTraces(t *testing.T, keep, name string) {
	h := testHeader(20)
	h.Trace = keep
	f := create(t, h)
	want := &Trace{
		Trial: 17, Attempt: 2, Kinds: []string{"ELECTION", "ANSWER"}, End: 12,
		Records: trace.List{
			{Type: trace.Up, Process: 1},
			{Type: trace.Log, Process: 1, At: 4, Arg: 3, Text: "a\nb"},
			{Type: trace.Save, Process: 1, At: 4, Arg: 2, Text: "\x01\xff"},
			{Type: trace.Send, Process: 1, Peer: 2, Seq: 1, At: 5, Plane: trace.Detection, Kind: 255},
			{Type: trace.Send, Process: 1, Peer: 2, Seq: 1, At: 5, Due: 7, Kind: 1},
		},
	}
	earlier := *want
	earlier.Attempt, earlier.Records = 1, nil
	for _, tr := range []Trace{earlier, *want} {
		writeTrace(t, f, tr)
	}
	got, err := ReadTrace(f.Dir(), 17)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
	if _, err := ReadTrace(f.Dir(), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a trace that was not kept: %v, want that it does not exist", err)
	}
	if got, err := f.files.traces(); err != nil || !slices.Equal(got, []string{name}) {
		t.Errorf("traces %q, %v, want %s alone", got, err, name)
	}
	whole := readFile(t, f.path(name))
	for _, cut := range []int{0, 10, len(whole) - 40, len(whole) - 1} {
		write(t, f.path(name), whole[:cut])
		if got, err := ReadTrace(f.Dir(), 17); err == nil {
			t.Errorf("cut at %d: read %+v, want an error", cut, got)
		}
	}
}

// A trace that travels keeps its form, and is one file wherever it arrives.
func TestTraces_Travel(t *testing.T) {
	t.Parallel()
	for _, keep := range []string{trace.KeepAll, trace.KeepFailures} {
		h := testHeader(4)
		h.Trace = keep
		from, to := create(t, h), create(t, h)
		writeTrace(t, from, Trace{Trial: 2, Attempt: 1, Records: trace.List{{Type: trace.Up, Process: 1}}})
		before, _ := from.files.traces()
		data, err := from.TakeTrace(2)
		if err != nil || to.KeepTrace(2, data) != nil {
			t.Fatal(err)
		}
		after, _ := to.files.traces()
		if left, _ := from.files.traces(); len(left) > 0 || len(before) != 1 || !slices.Equal(before, after) {
			t.Errorf("%s: %q became %q and %q", keep, before, left, after)
		}
		if got, err := to.ReadTrace(2); err != nil || len(got.Records) != 1 {
			t.Errorf("%s: read %+v, %v", keep, got, err)
		}
		if err := to.KeepTrace(3, data[:len(data)-1]); err == nil {
			t.Errorf("%s: half a trace is taken for one", keep)
		}
	}
}

// TestFirsts: whatever the order and whoever runs them, the same trials are kept, and those are the first.
func TestFirsts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type failure struct{ trial, reason int }
		var all []failure
		for trial := range rapid.IntRange(1, 60).Draw(t, "trials") {
			all = append(all, failure{trial + 1, rapid.IntRange(0, 2).Draw(t, "reason")})
		}
		want := map[int]bool{}
		count := map[int]int{}
		for _, f := range all {
			want[f.trial] = count[f.reason] < MostAlike
			count[f.reason]++
		}
		shuffled := rapid.Permutation(all).Draw(t, "order")
		admit := func(to *Firsts, f failure) (bool, int) {
			return to.Admit(f.trial, trace.TimedOut, fmt.Sprintf("%s after %d ms", "abc"[f.reason:][:1], f.trial))
		}
		var whole Firsts
		parts, files := make([]Firsts, 3), map[int]bool{}
		for i, f := range shuffled {
			if ok, _ := admit(&parts[i%len(parts)], f); !ok && want[f.trial] {
				t.Fatalf("trial %d is among the first of all, and not of a part", f.trial)
			}
			ok, replaced := admit(&whole, f)
			files[f.trial] = ok
			if replaced != 0 {
				files[replaced] = false
			}
		}
		for trial := range want {
			if files[trial] != want[trial] || whole.keeps(trial) != want[trial] {
				t.Errorf("trial %d: file %v, kept %v, want %v", trial, files[trial], whole.keeps(trial), want[trial])
			}
		}
	})
}

// TestFirsts_Attempts: the file of a trial is that of its last failed attempt, and goes with that one's reason.
func TestFirsts_Attempts(t *testing.T) {
	t.Parallel()
	var f Firsts
	f.Admit(20, trace.Invalid, "late")
	for n := range MostAlike {
		f.Admit(n+1, trace.TimedOut, "no leader")
	}
	if ok, _ := f.Admit(20, trace.TimedOut, "no leader"); ok || f.keeps(20) {
		t.Error("the second attempt at trial 20 is not among the first, and its trace is kept")
	}
	f = Firsts{}
	f.Admit(20, trace.Invalid, "late")
	f.Admit(20, trace.TimedOut, "no leader")
	for n := range MostAlike {
		if _, replaced := f.Admit(n+1, trace.Invalid, "late"); replaced != 0 {
			t.Errorf("trial %d, whose trace is of a timeout, makes room for invalid ones", replaced)
		}
	}
	if !f.keeps(20) {
		t.Error("the trace of trial 20 is not kept")
	}
}

func TestAlike(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{
		"p1 names p3 p2 names p3 within 200ms":    "p1 names p3 within 1.5s",
		"p1, p2, p3 wait; nothing moves any more": "p7 wait; nothing moves any more",
		"no leader: p1 names p2 p3 names p4 ...;": "no leader: p9 names p1;",
	} {
		if Alike(a) != Alike(b) {
			t.Errorf("%q and %q differ: %q and %q", a, b, Alike(a), Alike(b))
		}
	}
	if a, b := "p1 names p3", "p1 waits for p3"; Alike(a) == Alike(b) {
		t.Errorf("%q and %q are both %q", a, b, Alike(a))
	}
}

// A trace is as large as it likes: what is written down takes no memory.
func TestTraceWriter_Memory(t *testing.T) {
	f := create(t, testHeader(1))
	w, err := NewTrace(f.Dir(), trace.KeepFailures, 1, 1, []string{"TOKEN"})
	if err != nil {
		t.Fatal(err)
	}
	r := trace.Record{Type: trace.Send, Process: 1, Peer: 2, Seq: 1, At: 5, Due: 7}
	const records = 100_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range records {
		w.Record(&r)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d records take %d bytes of memory", records, grown)
	}
	if err := w.Commit(0); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTrace(f.Dir(), 1)
	if err != nil || len(got.Records) != records {
		t.Errorf("%d records, %v, want %d", len(got.Records), err, records)
	}
	if entries, err := os.ReadDir(f.path(TracesDir)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v, want one file", entries, err)
	}
}

// FuzzTrace: a trace that can be read is written so that it reads the same.
func FuzzTrace(f *testing.F) {
	const header = `{"schema_version":1,"trial":1,"attempt":1,"kinds":["TOKEN"]}` + "\n"
	const end = "\n" + `{"records":1}` + "\n"
	f.Add([]byte(header + `{"at_ns":5,"type":"send","process":1,"kind":"TOKEN","sent_ns":5,"due_ns":9}` + end))
	f.Add([]byte(header + `{"at_ns":5,"type":"save","process":1,"text":"0g"}` + end))
	f.Add([]byte(header))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := parseTrace(b)
		if err != nil {
			return
		}
		lines := make([]traceLine, len(first.Records))
		for i := range lines {
			lines[i] = *lineOf(&first.Records[i], first.Kinds)
			again, err := lines[i].record(first.Kinds)
			if err != nil || again != first.Records[i] {
				t.Errorf("%+v became %+v, %v", first.Records[i], again, err)
			}
		}
	})
}
