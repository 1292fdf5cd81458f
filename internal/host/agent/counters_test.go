package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/host/control"
	"github.com/conclave-bench/conclave/internal/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// sharing is an agent of so many nodes that are ready, and what they write.
func sharing(tb testing.TB, nodes int) (l *Local, writers []*telemetry.Writer) {
	tb.Helper()
	s := &session{Trial: Trial{Nodes: nodes}}
	for i := range nodes {
		path := filepath.Join(tb.TempDir(), "t")
		w, err := telemetry.Create(path, telemetry.Config{Words: control.Words(nodes)})
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
// is left out.
func TestCounters(t *testing.T) {
	t.Parallel()
	l, w := sharing(t, 3)
	l.session.nodes[1].killed = true
	l.session.nodes = append(l.session.nodes, &node{Ref: Ref{ID: 1, Incarnation: 1}}) // not yet ready
	for i := range control.WordPeers {
		w[1].Word(i).Store(uint64(i + 1))
	}
	to := func(peer, k int) int { return control.WordPeers + control.PeerWords*(peer-1) + k }
	w[1].Word(to(3, control.PeerSent)).Store(control.Stamp(2, 7))
	w[1].Word(to(3, control.PeerSentAt)).Store(9)
	w[2].Word(to(2, control.PeerGot)).Store(control.Stamp(2, 6))
	for _, links := range []bool{false, true} {
		got, err := l.Counters(links)
		if err != nil || len(got) != 3 {
			t.Fatalf("%d nodes, want 3: %v", len(got), err)
		}
		want := fmt.Sprintf("%+v", Counters{Node: Ref{ID: 2}, Activity: 1, Timers: 2, Planned: 3, Inside: true,
			Pending: 5, Executed: 6, Reports: 7, LastDue: 8 * time.Nanosecond})
		second := got[1]
		second.Links = nil
		if text := fmt.Sprintf("%+v", second); text != want || !second.Busy() || got[0].Busy() {
			t.Errorf("%s, want %s", text, want)
		}
		var all [][]Link
		for i := range got {
			all = append(all, got[i].Links)
		}
		wanted := [][]Link{nil, nil, nil}
		if links {
			wanted = [][]Link{{}, {{Peer: 3, Sent: control.Stamp(2, 7), SentAt: 9}},
				{{Peer: 2, Got: control.Stamp(2, 6)}}}
		}
		if !slices.EqualFunc(all, wanted, slices.Equal[[]Link]) {
			t.Errorf("links %+v, want %+v", all, wanted)
		}
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

// BenchmarkCounters is one look at a hundred nodes that all talk to each other.
func BenchmarkCounters(b *testing.B) {
	l, writers := sharing(b, 100)
	for _, w := range writers {
		for i := control.WordPeers; i < w.Words(); i++ {
			w.Word(i).Store(1)
		}
	}
	for _, links := range []bool{false, true} {
		b.Run(fmt.Sprintf("links=%v", links), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = l.Counters(links)
			}
		})
	}
}
