//go:build linux || darwin

package telemetry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

func BenchmarkTelemetryAppend(b *testing.B) {
	const limit = 64 << 20
	path := filepath.Join(Dir(limit), "conclave-bench-"+time.Now().Format("150405.000"))
	var w *Writer
	create := func() {
		var err error
		w, err = Create(path, Config{Limit: limit})
		must(b, err)
	}
	remove := func() { must(b, errors.Join(w.Close(), os.Remove(path))) }
	create()
	defer func() { remove() }()
	rec := trace.Record{Type: trace.Send, Process: 1, Peer: 2}
	for b.Loop() {
		if w.Len() == limit/trace.Size {
			b.StopTimer()
			remove()
			create()
			b.StartTimer()
		}
		rec.Seq++
		if err := w.Append(&rec); err != nil {
			b.Fatal(err)
		}
	}
}

// Without the reserving of memory: what a node's goroutine itself does.
func BenchmarkTelemetryAppendInSegment(b *testing.B) {
	w, _ := telemetryPair(b, Config{})
	rec := trace.Record{Type: trace.Send, Process: 1, Peer: 2}
	for b.Loop() {
		if w.n == segmentSlots/2-1 {
			w.n = 0
		}
		rec.Seq++
		_ = w.Append(&rec)
	}
}

func BenchmarkTelemetryCreate(b *testing.B) {
	path := filepath.Join(Dir(1<<20), "conclave-bench-create")
	for b.Loop() {
		w, err := Create(path, Config{Words: 100})
		must(b, err)
		must(b, errors.Join(w.Close(), os.Remove(path)))
	}
}

func BenchmarkTelemetryRead(b *testing.B) {
	w, r := telemetryPair(b, Config{})
	for range 10_000 {
		must(b, w.Append(&trace.Record{Type: trace.Send}))
	}
	for b.Loop() {
		must(b, r.Each(func(*trace.Record) error { return nil }))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/record")
}
