package ricartagrawalatoken_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	rat "github.com/conclave-bench/conclave/plugins/mutex/ricartagrawalatoken"
)

const (
	id = "mutex/ricart-agrawala-token"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: N messages for an entry, N-1 of them requests, and none for the holder. Together,
// the token goes round from the holder on, one message from entry to entry.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 8} {
		others, last := int64(n-1), algo.ID(n)
		algotest.Entries{
			Nodes: n, Holder: 1, Events: algotest.Together(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), SyncMax: ms,
			Kinds: map[string]int64{"REQUEST": others * others, "TOKEN": others},
		}.Run(t, id)
		algotest.Entries{
			Nodes: n, Holder: 1, Events: algotest.InTurn(last, last, 1, 1),
			Order: []algo.ID{last, last, 1, 1}, Each: []int64{int64(n), 0, int64(n), 0},
			Kinds:   map[string]int64{"REQUEST": 2 * others, "TOKEN": 2},
			Waiting: []time.Duration{2 * ms, 0, 2 * ms, 0},
		}.Run(t, id)
	}
}

// TestOrder: 2 and 4 ask while 3 is inside, and 1 while 4 is: 3 looks from 4 on, and 4 from 1 on.
// With a queue in the token, as suzuki-kasami has it, 2 would come before 1.
func TestOrder(t *testing.T) {
	t.Parallel()
	algotest.Entries{
		Nodes: 4, Holder: 3, Order: []algo.ID{3, 4, 1, 2},
		Events: []harness.Event{
			{Do: harness.DoRequest, Node: 3},
			{Do: harness.DoRequest, Node: 2},
			{Do: harness.DoRequest, Node: 4},
			{At: ms + ms/2, Do: harness.DoRequest, Node: 1},
		},
	}.Run(t, id)
}

// TestCrash: if the holder crashes, the token is lost, also when it comes back; the crash of an
// idle process hurts nobody, and when it comes back its requests are heard.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim, want := range map[algo.ID]trace.Status{1: trace.TimedOut, 3: trace.OK} {
		c := algotest.Entries{Nodes: 4, Holder: 1, Events: []harness.Event{
			{At: ms, Do: harness.DoCrash, Node: victim},
			{At: 2 * ms, Do: harness.DoRestart, Node: victim},
			{At: 3 * ms, Do: harness.DoRequest, Node: 2},
			{At: 20 * ms, Do: harness.DoRequest, Node: 3},
		}}
		p := c.Plan(t, id)
		p.InModel = false
		if o, err := algotest.Simulate(p); err != nil || o.Status != want {
			t.Errorf("crash of %d: %s: %s, %v", victim, o.Status, o.Reason, err)
		}
	}
}

// TestRestart: who has been served before its crash is served after it.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := algotest.Entries{Nodes: 3, Holder: 1, Events: []harness.Event{
		{Do: harness.DoRequest, Node: 3},
		{At: 10 * ms, Do: harness.DoRequest, Node: 1},
		{At: 20 * ms, Do: harness.DoCrash, Node: 3},
		{At: 21 * ms, Do: harness.DoRestart, Node: 3},
		{At: 30 * ms, Do: harness.DoRequest, Node: 3},
	}}
	p := c.Plan(t, id)
	p.InModel = false
	if o, err := algotest.Simulate(p); err != nil || o.Status != trace.OK || o.Completed != 3 {
		t.Errorf("%s: %s, %d entries, %v", o.Status, o.Reason, o.Completed, err)
	}
}

func token(served ...uint64) rat.Token { return rat.Token{Served: served} }

// TestRequest_Inside: a REQUEST that arrives inside waits for the release, and the first behind
// the holder comes first, whoever asked first.
func TestRequest_Inside(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 4, 2, 1, nil)
	request := rat.Request{N: 1}
	d.Requests(algotest.Sends(1, request), algotest.Sends(3, request), algotest.Sends(4, request))
	d.Receives(4, rat.Request{N: 3}) // no token here
	d.Receives(1, token(0, 0, 0, 2), algotest.Enters())
	d.Receives(1, rat.Request{N: 1})
	d.Receives(4, rat.Request{N: 3})
	d.Releases(algotest.Sends(4, token(0, 1, 0, 2)))
	d.Receives(1, rat.Request{N: 1})
}

// TestRequest_Late: a REQUEST that comes again, or behind its own service, does not get the
// token, and does not take back a later number. A holder that enters again notes the same number.
func TestRequest_Late(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 2, 1, 1, nil)
	d.Receives(2, rat.Request{N: 1}, algotest.Sends(2, token(0, 0)))
	d.Receives(2, rat.Request{N: 1})
	d.Requests(algotest.Sends(2, rat.Request{N: 1}))
	d.Receives(2, token(0, 1), algotest.Enters())
	d.Receives(2, rat.Request{N: 1})
	d.Releases()
	d.Receives(2, rat.Request{N: 1})
	d.Requests(algotest.Enters())
	d.Releases()
	d.Receives(2, rat.Request{N: 3}, algotest.Sends(2, token(1, 1)))
	d.Receives(2, rat.Request{N: 2})
	d.Requests(algotest.Sends(2, rat.Request{N: 2}))
	d.Receives(2, token(1, 2), algotest.Enters())
	d.Releases(algotest.Sends(2, token(2, 2)))
}
