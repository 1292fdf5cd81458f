package host

import (
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// merged is what a merge makes of the records of sources.
func merged(t *testing.T, real bool, sources ...trace.List) (list trace.List) {
	t.Helper()
	tr := &trial{setup: &harness.Setup{Plan: harness.Plan{Network: link.Network{Real: real}}}, sites: []*site{{}, {}}}
	m := newMerge(tr)
	for i, records := range sources {
		m.sources = append(m.sources, source{ahead: records, id: 1})
		m.offer(i + 1) // the first is that of the host
	}
	for {
		r, err := m.next()
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			return list
		}
		list = append(list, *r)
	}
}

func message(what trace.Type, at time.Duration, process, peer uint32, seq uint64) trace.Record {
	return trace.Record{Type: what, At: at, Process: process, Peer: peer, Seq: seq, Plane: trace.Data}
}

// TestMerge_Causal: the clock of p2 is behind, so that it seems to get messages before they were sent. Over
// a real network they come after it, and so does what p2 does next and what follows from that; what it did
// before stays where it is.
func TestMerge_Causal(t *testing.T) {
	t.Parallel()
	p1 := trace.List{message(trace.Send, 10, 1, 2, 1), message(trace.Send, 11, 1, 2, 2), message(trace.Deliver, 11, 1, 3, 1)}
	p2 := trace.List{message(trace.Send, 4, 2, 1, 1), message(trace.Deliver, 5, 2, 1, 2), message(trace.Send, 6, 2, 3, 1)}
	p3 := trace.List{message(trace.Deliver, 7, 3, 2, 1), message(trace.Send, 8, 3, 1, 1), message(trace.Deliver, 9, 3, 4, 1)}
	places := func(list trace.List) (out []uint32) {
		for _, r := range list {
			out = append(out, r.Process)
		}
		return out
	}
	list := merged(t, true, slices.Clone(p1), slices.Clone(p2), slices.Clone(p3))
	if got, want := places(list), []uint32{2, 1, 1, 2, 2, 3, 3, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	for i, r := range list {
		if i > 0 && r.At < list[i-1].At {
			t.Errorf("record %d is at %v, after one at %v", i, r.At, list[i-1].At)
		}
		if r.Type == trace.Deliver && r.At < 11 {
			t.Errorf("p%d gets message %d of p%d at %v", r.Process, r.Seq, r.Peer, r.At)
		}
	}
	list = merged(t, false, p1, p2, p3) // where a model delays messages, clocks decide
	if got, want := places(list), []uint32{2, 2, 2, 3, 3, 3, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}
