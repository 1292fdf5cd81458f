package maekawa_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

const (
	id = "mutex/maekawa"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestRandomSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return map[string]any{"quorums": []string{"auto", "grid"}[seed%2]}
	}, func(p *harness.Plan) { p.Network.Unordered = true })
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// kOf is K of the reference's table.
var kOf = map[int]int{7: 3, 9: 5, 13: 4, 16: 7, 21: 5, 25: 9, 31: 6, 57: 8}

// TestAlone is MAEKAWA-05, 07 and 09: without contention 3(K-1) messages, and a
// round trip. Messages to oneself are not counted.
func TestAlone(t *testing.T) {
	for n, k := range kOf {
		each := int64(3 * (k - 1))
		third := int64(k - 1)
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(algo.ID(n), 1), Order: []algo.ID{algo.ID(n), 1},
			Kinds: map[string]int64{"REQUEST": 2 * third, "LOCKED": 2 * third, "RELEASE": 2 * third},
			Each:  []int64{each, each}, Waiting: []time.Duration{2 * ms, 2 * ms},
		}.Run(t, id)
	}
}

// TestEverybody is MAEKAWA-02, 06, 08, 10 and 12: from 3(K-1) to 5(K-1) messages
// for an entry, and a hand-over in two messages at most. The totals are exactly
// those of the reference's simulation.
func TestEverybody(t *testing.T) {
	for n, sent := range map[int]int64{7: 50, 9: 136, 13: 144, 21: 316, 25: 776} {
		events := algotest.Together(algotest.Everybody(n)...)
		o, err := algotest.Simulate(algotest.Entries{Nodes: n, Events: events}.Plan(t, id))
		if err != nil || o.Status != trace.OK || o.Completed != n {
			t.Fatalf("n = %d: %s: %s, %d entries, %v", n, o.Status, o.Reason, o.Completed, err)
		}
		least := int64(3 * (kOf[n] - 1) * n)
		if got := o.Totals.Sent; got < least || got > least/3*5 || got != sent {
			t.Errorf("n = %d: %d sent, want %d, between %d and %d", n, got, sent, least, least/3*5)
		}
	}
}

// TestHandOver: synchronization takes 2 units at most under full load.
func TestHandOver(t *testing.T) {
	for n := range kOf {
		events := algotest.Together(algotest.Everybody(n)...)
		p := algotest.Entries{Nodes: n, Events: events}.Plan(t, id)
		o := algotest.MustSimulate(t, p)
		var entries []time.Duration
		for _, op := range o.Operations {
			entries = append(entries, op.End)
		}
		slices.Sort(entries)
		for i := 1; i < n; i++ { // 1 ms inside
			if gap := entries[i] - entries[i-1] - ms; gap > 2*ms {
				t.Errorf("n = %d: %v from release %d to the next entry, want 2 ms at most", n, gap, i)
			}
		}
	}
}

// TestDisplacedWaiter is MAEKAWA-13, a negative test: without Sanders' FAILED to
// the displaced waiter some schedules deadlock, with it none does.
func TestDisplacedWaiter(t *testing.T) {
	for _, n := range []int{7, 13} {
		for _, correct := range []bool{true, false} {
			stuck := 0
			for seed := range uint64(150) {
				p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Closed{
					Requests: 3 * n, Hold: link.Uniform(0, 3*ms),
					Think: link.Uniform(0, 3*ms),
				}}, map[string]any{"failed_to_displaced_waiter": correct})
				p.Seed, p.Network.Latency = seed, link.Uniform(ms/10, 10*ms)
				p.Network.Unordered, p.InModel = true, correct
				o, err := algotest.Simulate(p)
				if err != nil || correct && o.Status != trace.OK {
					t.Fatalf("n = %d, seed %d: %s: %s, %v", n, seed, o.Status, o.Reason, err)
				}
				if o.Status == trace.TimedOut && strings.Contains(o.Reason, "the system is quiescent") {
					stuck++
				}
			}
			if (stuck > 0) == correct {
				t.Errorf("n = %d, correction %t: %d of 150 schedules deadlock", n, correct, stuck)
			}
		}
	}
}

// one is process 1 of 7, whose quorum is {1, 2, 4}, for rules one at a time.
func one(t *testing.T) func(algo.Event) string {
	t.Helper()
	p := algotest.Entries{Nodes: 7}.Plan(t, id)
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	s := algo.NewStepper(setup.Alg, setup.Config(1, 0, nil), 1, &algo.Buffer{})
	return func(ev algo.Event) (out string) {
		for _, e := range s.Step(0, ev) {
			if e.Op == algo.OpGranted {
				out += "granted "
				continue
			}
			out += fmt.Sprintf("%s%v>%d ", e.Msg.Kind(), e.Msg, e.Peer)
		}
		if err := s.Invariant(); err != nil {
			t.Error(err)
		}
		return strings.TrimSuffix(out, " ")
	}
}

func stamp(clock uint64, p algo.ID) algo.Stamp { return algo.Stamp{Number: clock, ID: p} }

func from(p algo.ID, m algo.Message) algo.Event {
	return algo.Event{Type: algo.Receive, Peer: p, Msg: m}
}

// A line is an event and what it leads to.
type line struct {
	event algo.Event
	want  string
}

func play(t *testing.T, lines []line) {
	t.Helper()
	step := one(t)
	for i, l := range lines {
		if got := step(l.event); got != l.want {
			t.Fatalf("line %d: %q, want %q", i+1, got, l.want)
		}
	}
}

// TestArbiter is rules 2, 6 and 8 at an arbiter that does not request.
func TestArbiter(t *testing.T) {
	play(t, []line{
		{from(5, quorum.Request{S: stamp(5, 5)}), "LOCKED{{5 5} 5}>5"},    // free
		{from(6, quorum.Request{S: stamp(6, 6)}), "FAILED{{6 6}}>6"},      // later than the lock
		{from(7, quorum.Request{S: stamp(4, 7)}), "INQUIRE{{5 5}}>5"},     // before it: ask
		{from(4, quorum.Request{S: stamp(5, 4)}), "FAILED{{5 4}}>4"},      // before it, not first
		{from(3, quorum.Request{S: stamp(3, 3)}), "FAILED{{4 7}}>7"},      // displaces; asked already
		{from(5, quorum.Relinquish{S: stamp(5, 5)}), "LOCKED{{3 3} 6}>3"}, // the first of all
		{from(5, quorum.Relinquish{S: stamp(5, 5)}), ""},                  // stale
		{from(5, quorum.Release{S: stamp(5, 5)}), ""},                     // stale
		{from(2, quorum.Request{S: stamp(3, 2)}), "INQUIRE{{3 3}}>3"},     // equal clocks: by ID
		{from(3, quorum.Release{S: stamp(3, 3)}), "LOCKED{{3 2} 6}>2"},    // it was inside
		{from(2, quorum.Release{S: stamp(3, 2)}), "LOCKED{{4 7} 6}>7"},    // in the order of stamps
		{from(7, quorum.Release{S: stamp(4, 7)}), "LOCKED{{5 4} 6}>4"},    //
		{from(4, quorum.Release{S: stamp(5, 4)}), "LOCKED{{5 5} 6}>5"},    // who had relinquished
		{from(5, quorum.Release{S: stamp(5, 5)}), "LOCKED{{6 6} 6}>6"},    //
		{from(6, quorum.Release{S: stamp(6, 6)}), ""},                     // free again
		{from(6, quorum.Request{S: stamp(7, 6)}), "LOCKED{{7 6} 7}>6"},    //
		{from(7, quorum.Request{S: stamp(9, 7)}), "FAILED{{9 7}}>7"},      //
		{from(5, quorum.Request{S: stamp(8, 5)}), "FAILED{{8 5}}>5"},      // first of the waiting only
	})
}

// TestRequester is rules 3, 4, 5 and 7 at process 1, with arbiters 2 and 4.
func TestRequester(t *testing.T) {
	s, old := stamp(1, 1), stamp(9, 1)
	request := algo.Event{Type: algo.Request}
	ask := "REQUEST{{1 1}}>2 REQUEST{{1 1}}>4"
	for name, lines := range map[string][]line{
		"plain": {
			{request, ask}, {from(2, quorum.Locked{S: s}), ""}, {from(4, quorum.Locked{S: s}), "granted"},
			{from(2, quorum.Inquire{S: s}), ""}, // inside: the RELEASE will answer
			{algo.Event{Type: algo.Release}, "RELEASE{{1 1}}>2 RELEASE{{1 1}}>4"},
			{from(4, quorum.Inquire{S: s}), ""}, // outdated
			{request, "REQUEST{{2 1}}>2 REQUEST{{2 1}}>4"},
		},
		"fails, then is asked": {
			{request, ask}, {from(2, quorum.Locked{S: s}), ""}, {from(4, quorum.Failed{S: s}), ""},
			{from(2, quorum.Inquire{S: s}), "RELINQUISH{{1 1}}>2"},
			{from(4, quorum.Locked{S: s}), ""}, {from(4, quorum.Inquire{S: s}), "RELINQUISH{{1 1}}>4"},
			{from(2, quorum.Locked{S: s}), ""}, {from(4, quorum.Locked{S: s}), "granted"},
		},
		"is asked, then fails": {
			{request, ask}, {from(2, quorum.Locked{S: s}), ""}, {from(2, quorum.Inquire{S: s}), ""},
			{from(4, quorum.Failed{S: s}), "RELINQUISH{{1 1}}>2"},
		},
		"is asked before it has the lock": {
			{request, ask}, {from(4, quorum.Failed{S: s}), ""}, {from(2, quorum.Inquire{S: s}), ""},
			{from(2, quorum.Locked{S: s}), "RELINQUISH{{1 1}}>2"},
			{from(4, quorum.Locked{S: s}), ""}, {from(2, quorum.Locked{S: s}), "granted"},
		},
		"does not give back without failing": {
			{request, ask}, {from(2, quorum.Locked{S: s}), ""}, {from(2, quorum.Inquire{S: s}), ""},
			{from(4, quorum.Locked{S: s}), "granted"},
		},
		"is asked for an earlier request": {
			{request, ask}, {from(2, quorum.Locked{S: s}), ""}, {from(2, quorum.Inquire{S: old}), ""},
			{from(4, quorum.Failed{S: s}), ""},
		},
		"stale": {
			{request, ask}, {from(2, quorum.Locked{S: old}), ""}, {from(4, quorum.Locked{S: s}), ""},
			{from(4, quorum.Failed{S: s}), ""}, // overtaken by the LOCKED
			{from(2, quorum.Failed{S: old}), ""}, {from(2, quorum.Inquire{S: old}), ""},
			{from(4, quorum.Inquire{S: s}), ""}, {from(2, quorum.Locked{S: s}), "granted"},
		},
	} {
		t.Run(name, func(t *testing.T) { play(t, lines) })
	}
}

// TestClock: a request is stamped later than every request received, and than those
// that an arbiter has heard of, be it with a LOCKED that comes too late.
func TestClock(t *testing.T) {
	play(t, []line{
		{from(5, quorum.Request{S: stamp(7, 5)}), "LOCKED{{7 5} 7}>5"},
		{algo.Event{Type: algo.Request}, "REQUEST{{8 1}}>2 REQUEST{{8 1}}>4"},
		{from(5, quorum.Release{S: stamp(7, 5)}), ""}, // to itself: LOCKED
		{from(2, quorum.Locked{S: stamp(8, 1), Clock: 20}), ""},
		{from(4, quorum.Locked{S: stamp(8, 1), Clock: 8}), "granted"},
		{algo.Event{Type: algo.Release}, "RELEASE{{8 1}}>2 RELEASE{{8 1}}>4"},
		{algo.Event{Type: algo.Request}, "REQUEST{{21 1}}>2 REQUEST{{21 1}}>4"},
		{from(2, quorum.Locked{S: stamp(8, 1), Clock: 30}), ""},
		{from(3, quorum.Request{S: stamp(22, 3)}), "FAILED{{22 3}}>3"},
		{from(2, quorum.Locked{S: stamp(21, 1), Clock: 21}), ""},
		{from(4, quorum.Locked{S: stamp(21, 1), Clock: 21}), "granted"},
		{algo.Event{Type: algo.Release}, "RELEASE{{21 1}}>2 RELEASE{{21 1}}>4 LOCKED{{22 3} 30}>3"},
		{algo.Event{Type: algo.Request}, "REQUEST{{31 1}}>2 REQUEST{{31 1}}>4"},
	})
}

// TestNobodyIsPassedAgainAndAgain: one process has asked forty times, and its clock
// runs ahead of those that are not its arbiters. When it asks together with one who
// asks again and again, that one goes before it twice at most: with the request that
// is under way, and the next, stamped before it could know.
func TestNobodyIsPassedAgainAndAgain(t *testing.T) {
	for _, n := range []int{4, 7, 9, 13} {
		for often := range algo.ID(n) {
			for other := range algo.ID(n) {
				if often == other {
					continue
				}
				var events []harness.Event
				ask := func(at time.Duration, p algo.ID) {
					events = append(events, harness.Event{At: at, Do: harness.DoRequest, Node: p + 1})
				}
				for i := range 40 {
					ask(time.Duration(i)*10*ms, often)
				}
				for range 20 {
					ask(500*ms, other)
				}
				ask(500*ms, often)
				o, err := algotest.Simulate(algotest.Entries{Nodes: n, Events: events}.Plan(t, id))
				if err != nil || o.Status != trace.OK {
					t.Fatalf("n = %d: %s: %s, %v", n, o.Status, o.Reason, err)
				}
				if passed := before(o.Operations, often+1); passed > 2 {
					t.Errorf("n = %d: %d enters %d times before %d", n, other+1, passed, often+1)
				}
			}
		}
	}
}

// before is how often others enter while the last request of p waits.
func before(list []trace.Operation, p algo.ID) (n int) {
	var last trace.Operation
	for _, op := range list {
		if algo.ID(op.Process) == p && op.Begin > last.Begin {
			last = op
		}
	}
	for _, op := range list {
		if algo.ID(op.Process) != p && op.End > last.Begin && op.End < last.End {
			n++
		}
	}
	return n
}

// TestOutOfModel: a plane that is not known here is said to be none, and the printed
// text to deadlock.
func TestOutOfModel(t *testing.T) {
	alg := algotest.Lookup(t, id)
	for _, c := range []struct {
		n     int
		tells bool
		want  string
	}{
		{7, true, "<nil>"}, {8, true, "no projective plane of 8 points"},
		{7, false, "failed_to_displaced_waiter false"},
	} {
		err := alg.Spec.Needs.Params(algo.Network{Nodes: c.n},
			algo.Params{"quorums": "plane", "failed_to_displaced_waiter": c.tells})
		if got := fmt.Sprint(err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestCrashInside: a crash inside blocks everybody whose quorum meets it.
func TestCrashInside(t *testing.T) {
	p := algotest.Entries{Nodes: 7, Events: []harness.Event{
		{Do: harness.DoRequest, Node: 1},
		{At: 2500 * time.Microsecond, Do: harness.DoCrash, Node: 1},
		{At: 3 * ms, Do: harness.DoRequest, Node: 2},
	}}.Plan(t, id)
	p.InModel = false
	o, err := algotest.Simulate(p)
	if err != nil || o.Status != trace.TimedOut ||
		!strings.Contains(o.Reason, "1 requests not granted") {
		t.Errorf("%s: %s, %v", o.Status, o.Reason, err)
	}
}
