package all

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestDisks: with a disk that is slow, hangs, is full or lies, twenty trials of each algorithm come to an end, no
// process does anything while it waits for a write, and fed again what reached it each asks for the same again.
func TestDisks(t *testing.T) {
	t.Parallel()
	slow := fault.Args{Own: &fault.SlowWriting{By: 100 * time.Millisecond}}
	for _, a := range algo.All() {
		if strings.Contains(a.ID, "/test-") {
			continue
		}
		t.Run(a.Spec.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				for _, e := range []harness.Event{
					{Do: fault.SlowDisk, Args: slow}, {Do: fault.HungDisk}, {Do: fault.FullDisk}, {Do: fault.LyingDisk},
					{Do: fault.HungDisk, For: 300 * time.Millisecond}, {Do: fault.FullDisk, For: 300 * time.Millisecond},
				} {
					p, err := algotest.Schedule(a.ID, seed, nil)
					if err != nil {
						t.Fatal(err)
					}
					p.InModel, p.TimeLimit = false, min(p.TimeLimit, 20*time.Second)
					e.At, e.Node = time.Duration(seed)*7*time.Millisecond, algo.ID(1+seed%uint64(p.Nodes))
					p.Faults.Events = append(p.Faults.Events, e)
					s, err := p.Setup()
					if err != nil {
						t.Fatal(err)
					}
					s.Virtual = true
					var records trace.List
					if end := sim.Run(s, &records); end.Err != nil {
						t.Fatalf("%s, schedule %d: %v", e.Do, seed, end.Err)
					}
					holdsStill(t, records, &e)
					if _, differences := harness.Retrace(s, records); len(differences) > 0 {
						t.Fatalf("%s, schedule %d: %s", e.Do, seed, differences[0])
					}
				}
			}
		})
	}
}

// holdsStill checks that no write is kept against the fault, and that a process whose write failed ends at once.
func holdsStill(t *testing.T, records trace.List, e *harness.Event) {
	t.Helper()
	failing, refused := false, false
	for i := range records {
		r := &records[i]
		if algo.ID(r.Process) != e.Node {
			continue
		}
		if _, in := fault.Parse(r.Text); r.Type == trace.Fault && in.Do == e.Do {
			failing = !in.Undo
		}
		switch {
		case r.Type == trace.Crash:
			failing, refused = false, false // if it still fails then, it says so behind its Up
		case refused && (r.Type == trace.Send && r.Plane == trace.Data || r.Type == trace.Elected):
			t.Fatalf("%v at %v behind a write that failed", r.Type, r.At)
		case r.Type != trace.Save:
		case !failing || e.Do == fault.SlowDisk:
			if r.Peer != trace.Kept {
				t.Fatalf("a write at %v is not kept, and its disk is well", r.At)
			}
		case e.Do == fault.HungDisk, r.Peer == trace.Kept:
			t.Fatalf("a write at %v, against %s", r.At, e.Do)
		case r.Peer == trace.Refused:
			refused = true
		}
	}
	if refused {
		t.Fatal("it goes on although its write failed")
	}
}

// TestDisks_Written: what each fault makes of the writes of raft. A hung vote comes when the disk is well again.
func TestDisks_Written(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	slow := fault.Args{Own: &fault.SlowWriting{By: 100 * ms}}
	for _, c := range []struct {
		event   harness.Event
		kept    bool          // a write of 1 after the crash of the leader
		from    time.Duration // not before
		elected bool
	}{
		{harness.Event{Do: fault.SlowDisk, Args: slow}, true, 200 * ms, true},
		{harness.Event{Do: fault.HungDisk}, false, 0, false},
		{harness.Event{Do: fault.HungDisk, For: 3 * time.Second}, true, 3 * time.Second, true},
		{harness.Event{Do: fault.LyingDisk}, false, 0, true},
		{harness.Event{Do: fault.FullDisk}, false, 0, false},
		{harness.Event{Do: fault.FullDisk, For: 3 * time.Second}, true, 3 * time.Second, true},
	} {
		p := algotest.MustPlan(t, "election/raft", 3, harness.Scenario{Plot: &harness.LeaderCrash{Settle: 100 * ms}}, nil)
		p.InModel, p.TimeLimit = false, 10*time.Second
		for q := range algo.ID(2) { // the two that are left
			e := c.event
			e.Node = q + 1
			p.Faults.Events = append(p.Faults.Events, e)
		}
		o := algotest.MustSimulate(t, p)
		var first *trace.Record
		for i := range o.Trace {
			if r := &o.Trace[i]; r.Type == trace.Save && r.Peer == trace.Kept && r.At > 0 && first == nil {
				first = r
			}
		}
		if (first != nil) != c.kept || first != nil && first.At < c.from || (o.Verdict.Completed == 1) != c.elected {
			t.Errorf("%s for %v: kept %v, %d elections, %s", c.event.Do, c.event.For, first, o.Verdict.Completed,
				o.Verdict.Status)
		}
	}
}
