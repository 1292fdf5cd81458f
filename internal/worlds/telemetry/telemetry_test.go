//go:build linux || darwin

package telemetry

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func TestMain(m *testing.M) { proctest.Main(m) }

func init() {
	proctest.Programs["telemetry"] = func() {
		w, err := Create(os.Getenv("CONCLAVE_TEST_PATH"), Config{})
		for i := uint64(0); err == nil; i++ {
			if i == 100 {
				fmt.Println("ready")
			}
			err = w.Append(&trace.Record{Type: trace.Send, Seq: i})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestTelemetry_OutlivesASigkill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t")
	s := proc.NewSpawner()
	defer func() { must(t, s.Close()) }()
	c, err := s.Start(proc.Command{Path: os.Args[0],
		Env: append(os.Environ(), "CONCLAVE_TEST_PATH="+path, proctest.Key+"=telemetry")})
	must(t, err)
	defer c.Close()
	if line, err := bufio.NewReader(c.Stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("it said %q (%v): %s", line, err, c.Stderr())
	}
	c.Kill()
	if exit := c.Exit(); exit.Signal != "SIGKILL" {
		t.Fatalf("exit: %v; stderr: %s", exit, c.Stderr())
	}
	r, err := Open(path)
	must(t, err)
	defer func() { must(t, r.Close()) }()
	n := uint64(0)
	must(t, r.Each(func(rec *trace.Record) error {
		if rec.Seq != n {
			t.Fatalf("record %d where %d was due", rec.Seq, n)
		}
		n++
		return nil
	}))
	if n < 100 || n != r.Len() {
		t.Errorf("%d records of %d, want all of at least 100", n, r.Len())
	}
}

func TestTelemetry_ReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, many := range []bool{false, true} {
		readsWhatWasWritten(t, many)
	}
}

func readsWhatWasWritten(t *testing.T, many bool) {
	w, r := telemetryPair(t, Config{Process: 7, Incarnation: 2, Words: 3, Many: many})
	if r.Process != 7 || r.Incarnation != 2 || r.Words() != 3 || w.Words() != 3 {
		t.Errorf("header: process %d, incarnation %d, %d words", r.Process, r.Incarnation, r.Words())
	}
	w.Word(2).Store(99)
	if got := r.Word(2); got != 99 {
		t.Errorf("word 2: %d", got)
	}

	texts := []string{"", "x", strings.Repeat("s", 64), strings.Repeat("l", MaxText+1)}
	var want []string
	for i := range uint64(3 * segmentSlots) {
		must(t, w.Append(&trace.Record{Type: trace.Send, Seq: i}))
		want = append(want, "")
		if i%50 == 0 {
			text := texts[i/50%uint64(len(texts))]
			must(t, w.Append(&trace.Record{Type: trace.Log, Seq: i, Text: text}))
			if len(text) > MaxText {
				text = text[:MaxText-len("... (cut)")] + "... (cut)"
			}
			want = append(want, text)
		}
	}
	var got []string
	must(t, r.Each(func(rec *trace.Record) error {
		if (rec.Type == trace.Log) != (rec.Arg == uint64(len(rec.Text)) && rec.Seq%50 == 0 &&
			rec.Type != trace.Send) {
			t.Fatalf("record %d: %+v with a text of %d bytes", len(got), *rec, len(rec.Text))
		}
		got = append(got, rec.Text)
		return nil
	}))
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("text %d: %.20q of %d bytes, want %.20q", i, got[i], len(got[i]), want[i])
		}
	}
}

func TestTelemetry_CanBeFollowed(t *testing.T) {
	t.Parallel()
	w, r := telemetryPair(t, Config{})
	const n = 3*segmentSlots + 5
	written := make(chan error, 1)
	go func() {
		for i := range uint64(n) {
			if err := w.Append(&trace.Record{Type: trace.Deliver, Seq: i}); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	next, seen := uint64(0), uint64(0)
	for deadline := time.Now().Add(10 * time.Second); seen < n; {
		if time.Now().After(deadline) {
			t.Fatalf("after 10s: %d of %d records", seen, n)
		}
		var err error
		next, err = r.EachFrom(next, func(rec *trace.Record) error {
			if rec.Seq != seen {
				t.Fatalf("record %d where %d was due", rec.Seq, seen)
			}
			seen++
			return nil
		})
		must(t, err)
	}
	must(t, <-written)
	stop := errors.New("enough")
	if at, err := r.EachFrom(4, func(*trace.Record) error { return stop }); at != 4 ||
		err != stop {
		t.Errorf("visit fails: stopped at %d, %v; want 4 and its own error", at, err)
	}
	if _, err := r.EachFrom(n+1, nil); err == nil {
		t.Error("behind the end: no error")
	}
}

func TestTelemetry_LimitIsReported(t *testing.T) {
	t.Parallel()
	w, r := telemetryPair(t, Config{Limit: 3 * trace.Size})
	must(t, w.Append(&trace.Record{Type: trace.Up}))
	must(t, w.Append(&trace.Record{Type: trace.Up}))
	if r.Full() {
		t.Error("full before the limit")
	}
	if err := w.Append(&trace.Record{Type: trace.Log, Text: "x"}); !errors.Is(err, ErrFull) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := w.Append(&trace.Record{Type: trace.Up}); !errors.Is(err, ErrFull) {
		t.Errorf("behind a gap: %v", err)
	}
	if !r.Full() || r.Len() != 2 {
		t.Errorf("full %v, %d records, want true and 2", r.Full(), r.Len())
	}
}

func TestTelemetry_SpaceRunsOut(t *testing.T) {
	t.Parallel()
	w, r := telemetryPair(t, Config{})
	for range segmentSlots / 2 {
		must(t, w.Append(&trace.Record{Type: trace.Up}))
	}
	w.ahead = make(chan reservation, 1)
	w.ahead <- reservation{err: syscall.ENOSPC}
	for range segmentSlots / 2 {
		must(t, w.Append(&trace.Record{Type: trace.Up}))
	}
	for range 2 {
		if err := w.Append(&trace.Record{Type: trace.Up}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("got %v, want %v", err, syscall.ENOSPC)
		}
	}
	if !r.Full() || r.Len() != segmentSlots {
		t.Errorf("full %v, %d records", r.Full(), r.Len())
	}
	must(t, r.Each(func(*trace.Record) error { return nil }))
}

func TestTelemetry_Close(t *testing.T) {
	t.Parallel()
	w, err := Create(filepath.Join(t.TempDir(), "t"), Config{})
	must(t, err)
	for range segmentSlots/2 + 1 { // a segment is being reserved
		must(t, w.Append(&trace.Record{Type: trace.Up}))
	}
	must(t, w.Close())
	if err := w.Append(&trace.Record{Type: trace.Up}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("append after Close: %v", err)
	}
}

func TestCreateTelemetry_Refuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t")
	for _, c := range []Config{{Words: -1}, {Words: maxWords + 1}, {Limit: 1}, {Limit: -1}} {
		if _, err := Create(path, c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	must(t, os.WriteFile(path, nil, 0o600))
	if _, err := Create(path, Config{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("file exists: %v", err)
	}
}

func TestTelemetryReader_FindsDamage(t *testing.T) {
	t.Parallel()
	whole := telemetryFile(t)
	header := os.Getpagesize()
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"not finished", func(b []byte) []byte { clear(b[:8]); return b }},
		{"other version", func(b []byte) []byte { b[atVersion]++; return b }},
		{"words beyond the header", func(b []byte) []byte { b[atWordCount+1] = 255; return b }},
		{"header beyond the file", func(b []byte) []byte { return b[:header-1] }},
		{"count beyond the file", func(b []byte) []byte { return b[:header+3*trace.Size] }},
		{"count beyond the limit", func(b []byte) []byte { clear(b[atLimit:][:8]); return b }},
		{"a slot was never written", func(b []byte) []byte {
			clear(b[header+trace.Size:][:trace.Size])
			return b
		}},
		{"text beyond the count", func(b []byte) []byte { b[header+2*trace.Size+33] = 9; return b }},
		{"text beyond reason", func(b []byte) []byte { b[header+2*trace.Size+39] = 9; return b }},
	} {
		if err := readTelemetry(t, c.damage(bytes.Clone(whole))); err == nil {
			t.Errorf("%s: no error", c.name)
		} else {
			t.Logf("%s: %v", c.name, err)
		}
	}
	must(t, readTelemetry(t, whole))
}

func FuzzTelemetry(f *testing.F) {
	whole := telemetryFile(f)
	f.Add(whole)
	f.Add(whole[:os.Getpagesize()])
	f.Fuzz(func(t *testing.T, file []byte) {
		_ = readTelemetry(t, file) // any error will do
	})
}

// telemetryFile is a small telemetry file: two records and a text.
func telemetryFile(tb testing.TB) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "t")
	w, err := Create(path, Config{Process: 1, Words: 2})
	must(tb, err)
	must(tb, w.Append(&trace.Record{Type: trace.Up}))
	must(tb, w.Append(&trace.Record{Type: trace.Crash}))
	must(tb, w.Append(&trace.Record{Type: trace.Timeout, Text: "hello"}))
	must(tb, w.Close())
	file, err := os.ReadFile(path)
	must(tb, err)
	return file[:os.Getpagesize()+4*trace.Size]
}

// readTelemetry reads all that there is in a file of that content.
func readTelemetry(tb testing.TB, content []byte) error {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "t")
	must(tb, os.WriteFile(path, content, 0o600))
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { must(tb, r.Close()) }()
	for i := range r.Words() {
		r.Word(i)
	}
	return r.Each(func(rec *trace.Record) error {
		if len(rec.Text) > MaxText {
			tb.Errorf("text of %d bytes", len(rec.Text))
		}
		return nil
	})
}

// telemetryPair is both ends of one file.
func telemetryPair(tb testing.TB, c Config) (*Writer, *Reader) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "t")
	w, err := Create(path, c)
	must(tb, err)
	r, err := Open(path)
	must(tb, err)
	tb.Cleanup(func() { must(tb, errors.Join(w.Close(), r.Close())) })
	return w, r
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
