package results

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

func writeTrace(t testing.TB, f *Folder, tr Trace) {
	t.Helper()
	w, err := NewTrace(f.Dir(), tr.Trial, tr.Attempt, tr.Kinds)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.Records {
		w.Record(&tr.Records[i])
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(20))
	want := &Trace{
		Trial: 17, Attempt: 2, Kinds: []string{"ELECTION", "ANSWER"},
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
	whole := readFile(t, tracePath(f.Dir(), 17))
	for _, cut := range []int{0, 10, len(whole) - 40, len(whole) - 1} {
		write(t, tracePath(f.Dir(), 17), whole[:cut])
		if got, err := ReadTrace(f.Dir(), 17); err == nil {
			t.Errorf("cut at %d: read %+v, want an error", cut, got)
		}
	}
}

// A trace is as large as it likes: what is written down takes no memory.
func TestTraceWriter_Memory(t *testing.T) {
	f := create(t, testHeader(1))
	w, err := NewTrace(f.Dir(), 1, 1, []string{"TOKEN"})
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
	if err := w.Commit(); err != nil {
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
