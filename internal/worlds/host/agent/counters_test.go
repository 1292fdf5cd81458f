package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// sharing is an agent of so many nodes that are ready, and what they write.
func sharing(tb testing.TB, nodes int) (l *Local, writers []*telemetry.Writer) {
	tb.Helper()
	s := &session{Trial: Trial{Nodes: nodes}}
	for i := range nodes {
		path := filepath.Join(tb.TempDir(), "t")
		w, err := telemetry.Create(path, telemetry.Config{Words: control.Words})
		if err != nil {
			tb.Fatal(err)
		}
		r, err := telemetry.Open(path)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _, _ = w.Close(), r.Close() })
		n := &node{Ref: Ref{ID: algo.ID(i + 1)}}
		n.reader.Store(r)
		s.nodes, writers = append(s.nodes, n), append(writers, w)
	}
	return &Local{session: s}, writers
}

// TestCounters: what a node shares is what its agent says, and a link that carried nothing
// is left out. Of what overtook each other the later one counts; of what was asked before, it
// is known still.
func TestCounters(t *testing.T) {
	t.Parallel()
	l, w := sharing(t, 3)
	l.session.nodes[1].killed = true
	l.session.nodes = append(l.session.nodes, &node{Ref: Ref{ID: 1, Incarnation: 1}}) // not yet ready
	for i := range control.WordBefore {
		w[1].Word(i).Store(uint64(i + 1))
	}
	write := func(to int, list ...trace.Record) {
		for _, r := range list {
			if err := w[to].Append(&r); err != nil {
				t.Fatal(err)
			}
		}
	}
	of := func(what trace.Type, peer uint32, seq uint64) trace.Record {
		return trace.Record{Type: what, Peer: peer, Incarnation: 2, Seq: seq, Sent: 9}
	}
	heartbeat, second := of(trace.Send, 1, 8), of(trace.Duplicate, 3, 7)
	heartbeat.Plane, second.Copy = trace.Detection, 1
	write(1, of(trace.Up, 0, 0), of(trace.Send, 3, 7), second, heartbeat)
	write(2, of(trace.Lose, 2, 6), of(trace.Deliver, 2, 5), of(trace.Undelivered, 1, 1))
	at := func(seq, which Copy) Copy { return 2<<40 | seq<<1 | which }
	wanted := [][]Link{{}, {{Peer: 3, Sent: at(7, 1), SentAt: 9}}, {{Peer: 1, Got: at(1, 0)}, {Peer: 2, Got: at(6, 0)}}}
	for _, links := range []bool{false, true, true} {
		got, err := l.Counters(links)
		if err != nil || len(got) != 3 {
			t.Fatalf("%d nodes, want 3: %v", len(got), err)
		}
		want := fmt.Sprintf("%+v", Counters{Node: Ref{ID: 2}, Activity: 1, Timers: 2, Planned: 3, Inside: true,
			Pending: 5, Executed: 6, Reports: 7, LastDue: 8 * time.Nanosecond, Sent: 9, Got: 10})
		second := got[1]
		second.Links = nil
		if text := fmt.Sprintf("%+v", second); text != want || !second.Busy() || got[0].Busy() {
			t.Errorf("%s, want %s", text, want)
		}
		for i := range got {
			if !links && got[i].Links != nil || links && !slices.Equal(got[i].Links, wanted[i]) {
				t.Errorf("p%d: links %+v, want %+v", i+1, got[i].Links, wanted[i])
			}
		}
	}
	write(1, of(trace.Send, 3, 8))
	if got, err := l.Counters(true); err != nil || got[1].Links[0].Sent != at(8, 0) {
		t.Errorf("%+v (%v), want what was sent since", got[1].Links, err)
	}
}

// TestCounters_EndWithWhoeverIsBusy: to read on would only take time from the nodes.
func TestCounters_EndWithWhoeverIsBusy(t *testing.T) {
	t.Parallel()
	l, w := sharing(t, 3)
	for _, word := range []int{control.WordTimers, control.WordPending, control.WordInside} {
		w[1].Word(word).Store(1)
		if got, err := l.Counters(false); err != nil || len(got) != 2 || !got[1].Busy() {
			t.Errorf("word %d: %+v (%v), want two, the second busy", word, got, err)
		}
		w[1].Word(word).Store(0)
	}
	if got, err := l.Counters(false); err != nil || len(got) != 3 {
		t.Errorf("%+v (%v), want three", got, err)
	}
}

// BenchmarkCounters is one look at so many nodes, each of which has sent to ten others and
// then been quiet.
func BenchmarkCounters(b *testing.B) {
	for _, nodes := range []int{100, 1000} {
		l, writers := sharing(b, nodes)
		for _, w := range writers {
			for i := range 10 {
				r := trace.Record{Type: trace.Send, Peer: uint32(i + 1), Seq: 1}
				if err := w.Append(&r); err != nil {
					b.Fatal(err)
				}
			}
		}
		for _, links := range []bool{false, true} {
			b.Run(fmt.Sprintf("nodes=%d/links=%v", nodes, links), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = l.Counters(links)
				}
			})
		}
	}
}
