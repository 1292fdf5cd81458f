package host

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// These tests give the collection of records what a machine only seldom does.

// TestMissedStart: five milliseconds, as docs/evidence/reliability.md has it.
func TestMissedStart(t *testing.T) {
	t.Parallel()
	for late, missed := range map[time.Duration]bool{
		0: false, 5 * time.Millisecond: false, 5*time.Millisecond + 1: true, 49 * time.Millisecond: true,
	} {
		if missedStart(late) != missed {
			t.Errorf("%v late: missed the start: %v, want %v", late, !missed, missed)
		}
	}
}

// twoNodes is a trial of two, of which the second crashed at the instant down and wrote
// its last record at the instant last.
func twoNodes(down, last time.Duration) *trial {
	s := &harness.Setup{Plan: harness.Plan{Nodes: 2, Network: link.Network{Latency: link.Constant(time.Millisecond)}}}
	nodes := []*node{
		{Ref: agent.Ref{ID: 1}, ready: true},
		{Ref: agent.Ref{ID: 2}, ready: true, dead: true, downAt: down, last: last},
	}
	return &trial{
		setup: s, nodes: nodes, all: nodes,
		records: trace.List{
			{At: down, Type: trace.Crash, Process: 2},
			{At: last, Type: trace.Pause, Process: 1},
		},
	}
}

// TestPostponeCrashes: a process on another processor may go on for some microseconds
// after the system has taken the signal. Its crash comes behind all that it did, also
// behind what it did at that very instant, and behind whatever else happened then.
func TestPostponeCrashes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ down, last, want time.Duration }{
		{100, 90, 100}, {100, 100, 101}, {100, 130, 131},
	} {
		tr := twoNodes(test.down, test.last)
		tr.postponeCrashes()
		if got := tr.nodes[1].downAt; got != test.want {
			t.Errorf("crash at %v, last record at %v: down at %v, want %v", test.down, test.last, got, test.want)
		}
		last := tr.records[len(tr.records)-1]
		if last.Type != trace.Crash || last.At != test.want {
			t.Errorf("crash at %v, last record at %v: records %+v", test.down, test.last, tr.records)
		}
	}
}

// TestUnaccounted_Fate: what met its receiver down did so when it was due, but not before
// the receiver crashed, if that was a moment later: until then it may have been handled.
func TestUnaccounted_Fate(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for down, want := range map[time.Duration]time.Duration{10 * ms: 20 * ms, 20 * ms: 20 * ms, 25 * ms: 25 * ms} {
		tr := twoNodes(down, down)
		sent := trace.Record{
			At: 12 * ms, Type: trace.Send, Process: 1, Peer: 2, Seq: 1, Sent: 12 * ms, Due: 20 * ms, Arg: uint64(3 * ms),
		}
		m := &merge{}
		var end harness.End
		if err := tr.unaccounted(&sent, map[flight][]uint8{}, time.Second, &end, m); err != nil {
			t.Fatalf("down at %v: %v", down, err)
		}
		r, err := m.next()
		if err != nil || r == nil {
			t.Fatalf("down at %v: no record (%v)", down, err)
		}
		if r.Type != trace.Undelivered || r.At != want || r.Arg != 0 || algo.ID(r.Process) != 2 {
			t.Errorf("down at %v: %+v, want undelivered at %v", down, r, want)
		}
	}
}
