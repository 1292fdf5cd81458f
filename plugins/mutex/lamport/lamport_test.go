package lamport_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/lamport"
)

const id = "mutex/lamport"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: 3(N-1) messages for each entry, however many ask at once. Entries
// follow the order of the requests, one message apart.
func TestCounts(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, n := range []int{2, 3, 5, 8} {
		pairs, others, last := int64(n*(n-1)), int64(n-1), algo.ID(n)
		algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...), Order: algotest.Everybody(n),
			Kinds: map[string]int64{"REQUEST": pairs, "REPLY": pairs, "RELEASE": pairs}, SyncMax: ms,
		}.Run(t, id)
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(last, 1, 1), Order: []algo.ID{last, 1, 1},
			Kinds:   map[string]int64{"REQUEST": 3 * others, "REPLY": 3 * others, "RELEASE": 3 * others},
			Each:    []int64{3 * others, 3 * others, 3 * others},
			Waiting: []time.Duration{2 * ms, 2 * ms, 2 * ms},
		}.Run(t, id)
	}
}

// TestWithoutFIFO: mutual exclusion fails where messages overtake each other.
func TestWithoutFIFO(t *testing.T) {
	count := algotest.CountOutOfModel(t, id, func(p *harness.Plan) {
		p.Network.Unordered, p.Network.Duplication = true, 0
	})
	if count[trace.Violated] == 0 {
		t.Errorf("no violation: %v", count)
	}
}

// TestCrashInside: a crash inside blocks everybody else, and is reported so.
func TestCrashInside(t *testing.T) {
	t.Parallel()
	c := algotest.Entries{Nodes: 3, Events: []harness.Event{
		{Do: harness.DoRequest, Node: 1},
		{At: 2500 * time.Microsecond, Do: harness.DoCrash, Node: 1},
		{At: 3 * time.Millisecond, Do: harness.DoRequest, Node: 2},
	}}
	p := c.Plan(t, id)
	p.InModel = false
	o, err := algotest.Simulate(p)
	if err != nil || o.Status != trace.TimedOut || o.Completed != 1 {
		t.Errorf("%s: %s, %d entries, %v", o.Status, o.Reason, o.Completed, err)
	}
}

// TestRules follows process 2 through the five rules and its clock with them.
func TestRules(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Receives(3, lamport.Request{TS: 4}, algotest.Sends(3, lamport.Reply{TS: 5}))
	d.Requests(algotest.Sends(1, lamport.Request{TS: 6}), algotest.Sends(3, lamport.Request{TS: 6}))
	d.Receives(1, lamport.Request{TS: 6}, algotest.Sends(1, lamport.Reply{TS: 7})) // 1 before 2
	d.Receives(3, lamport.Reply{TS: 9})                                            // 10
	d.Receives(1, lamport.Reply{TS: 8})                                            // 11
	d.Receives(3, lamport.Release{TS: 11})                                         // 12
	d.Receives(1, lamport.Release{TS: 20}, algotest.Enters())                      // 21
	d.Receives(3, lamport.Request{TS: 12}, algotest.Sends(3, lamport.Reply{TS: 22}))
	d.Releases(algotest.Sends(1, lamport.Release{TS: 23}), algotest.Sends(3, lamport.Release{TS: 23}))
	d.Receives(3, lamport.Release{TS: 24}) // not let in without a request
}

// TestEqualTimes: of two requests made at the same time, that of the smaller
// process comes first; the other's REQUEST is as good as its REPLY.
func TestEqualTimes(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 2, 1, 1, nil)
	d.Requests(algotest.Sends(2, lamport.Request{TS: 1}))
	d.Receives(2, lamport.Request{TS: 1}, algotest.Sends(2, lamport.Reply{TS: 2}), algotest.Enters())
	d = algotest.NewDrive(t, id, 2, 2, 1, nil)
	d.Requests(algotest.Sends(1, lamport.Request{TS: 1}))
	d.Receives(1, lamport.Request{TS: 1}, algotest.Sends(1, lamport.Reply{TS: 2}))
	d.Receives(1, lamport.Reply{TS: 2})
	d.Receives(1, lamport.Release{TS: 4}, algotest.Enters())
}
