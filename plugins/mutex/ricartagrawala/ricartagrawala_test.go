package ricartagrawala_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	ra "github.com/conclave-bench/conclave/plugins/mutex/ricartagrawala"
)

const id = "mutex/ricart-agrawala"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestRandomSchedules(t *testing.T) { algotest.RunRandomEntries(t, id, nil) }

// TestCounts: 2(N-1) messages for each entry, however many ask at once. Alone,
// the replies are there after a round trip; together, entries follow the order
// of the stamps, and each waits one message for the one before.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 10; n++ {
		pairs := int64(n * (n - 1))
		all := algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...), Order: algotest.Everybody(n),
			Kinds: map[string]int64{"REQUEST": pairs, "REPLY": pairs}, SyncMax: time.Millisecond,
		}
		if n == 1 {
			all.Kinds, all.SyncMax = map[string]int64{}, 0
		}
		all.Run(t, id)
		if n == 1 {
			continue
		}
		each := int64(2 * (n - 1))
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(algo.ID(n), 1, 1), Order: []algo.ID{algo.ID(n), 1, 1},
			Each:    []int64{each, each, each},
			Kinds:   map[string]int64{"REQUEST": 3 * each / 2, "REPLY": 3 * each / 2},
			Waiting: []time.Duration{2 * time.Millisecond, 2 * time.Millisecond, 2 * time.Millisecond},
		}.Run(t, id)
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
	if err != nil || o.Status != check.Timeout || o.Completed != 1 {
		t.Errorf("%s: %s, %d entries, %v", o.Status, o.Reason, o.Completed, err)
	}
}

// A drive feeds events to one process and keeps what it asked for.
type drive struct {
	*algo.Stepper
	t *testing.T
}

func process(t *testing.T, self algo.ID, n int) drive {
	alg, err := algo.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	c := algo.Config{ID: self, Peers: algotest.Everybody(n), Neighbors: algotest.Everybody(n)}
	return drive{algo.NewStepper(alg, c, 1, &algo.Buffer{}), t}
}

// does feeds ev and wants these effects: a message to each receiver, or an entry.
func (d drive) does(ev algo.Event, want ...algo.Effect) {
	d.t.Helper()
	got := d.Step(0, ev)
	if len(got) != len(want) {
		d.t.Fatalf("%+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			d.t.Errorf("effect %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if err := d.Invariant(); err != nil {
		d.t.Error(err)
	}
}

func receive(from algo.ID, m algo.Message) algo.Event {
	return algo.Event{Type: algo.Receive, Peer: from, Msg: m}
}

func send(to algo.ID, m algo.Message) algo.Effect {
	return algo.Effect{Op: algo.OpSend, Peer: to, Msg: m}
}

// TestRequest_ComparesTheRequestNotTheClock: 2 asks with number 1, then hears of
// number 9. A request with number 5 comes after its own, although the highest
// number that it has seen is larger.
func TestRequest_ComparesTheRequestNotTheClock(t *testing.T) {
	t.Parallel()
	d := process(t, 2, 3)
	own := ra.Stamp{Number: 1, ID: 2}
	d.does(algo.Event{Type: algo.Request}, send(1, ra.Request{Stamp: own}), send(3, ra.Request{Stamp: own}))
	d.does(receive(3, ra.Request{Stamp: ra.Stamp{Number: 9, ID: 3}}))
	d.does(receive(1, ra.Request{Stamp: ra.Stamp{Number: 5, ID: 1}}))
	d.does(receive(1, ra.Reply{Stamp: own}))
	d.does(receive(3, ra.Reply{Stamp: own}), algo.Effect{Op: algo.OpGranted})
	d.does(algo.Event{Type: algo.Release},
		send(3, ra.Reply{Stamp: ra.Stamp{Number: 9, ID: 3}}),
		send(1, ra.Reply{Stamp: ra.Stamp{Number: 5, ID: 1}}))
	own.Number = 10 // above the highest seen
	d.does(algo.Event{Type: algo.Request}, send(1, ra.Request{Stamp: own}), send(3, ra.Request{Stamp: own}))
}

// TestRequest_EqualNumbers: the smaller process comes first.
func TestRequest_EqualNumbers(t *testing.T) {
	t.Parallel()
	d := process(t, 2, 3)
	own, before, after := ra.Stamp{Number: 1, ID: 2}, ra.Stamp{Number: 1, ID: 1}, ra.Stamp{Number: 1, ID: 3}
	d.does(algo.Event{Type: algo.Request}, send(1, ra.Request{Stamp: own}), send(3, ra.Request{Stamp: own}))
	d.does(receive(1, ra.Request{Stamp: before}), send(1, ra.Reply{Stamp: before}))
	d.does(receive(3, ra.Request{Stamp: after}))
}

// TestReply_OfAnEarlierRequest: a second copy of a reply from the entry before
// permits nothing, nor does a second copy of a reply to this request.
func TestReply_OfAnEarlierRequest(t *testing.T) {
	t.Parallel()
	d := process(t, 1, 3)
	first, second := ra.Stamp{Number: 1, ID: 1}, ra.Stamp{Number: 2, ID: 1}
	late := ra.Stamp{Number: 1, ID: 3}
	d.does(algo.Event{Type: algo.Request}, send(2, ra.Request{Stamp: first}), send(3, ra.Request{Stamp: first}))
	d.does(receive(2, ra.Reply{Stamp: first}))
	d.does(receive(3, ra.Request{Stamp: late}))
	d.does(receive(3, ra.Reply{Stamp: first}), algo.Effect{Op: algo.OpGranted})
	d.does(algo.Event{Type: algo.Release}, send(3, ra.Reply{Stamp: late}))
	d.does(algo.Event{Type: algo.Request}, send(2, ra.Request{Stamp: second}), send(3, ra.Request{Stamp: second}))
	d.does(receive(2, ra.Reply{Stamp: first}))
	d.does(receive(3, ra.Reply{Stamp: second}))
	d.does(receive(3, ra.Reply{Stamp: second}))
	d.does(receive(2, ra.Reply{Stamp: second}), algo.Effect{Op: algo.OpGranted})
	d.does(receive(2, ra.Reply{Stamp: second})) // not let in twice
}
