package raymondk_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/raymondk"
)

const (
	id = "mutex/raymond-k"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

func k(places int64) map[string]any { return map[string]any{"k": places} }

// TestCounts: together, all cost 2(N-1) and enter in groups of k, one message apart; where there is
// a place for everybody they enter at once.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 6; n++ {
		for places := 1; places <= n+1; places++ {
			pairs := int64(n * (n - 1))
			c := algotest.Entries{
				Nodes: n, Events: algotest.Together(algotest.Everybody(n)...), Order: algotest.Everybody(n),
				Kinds: map[string]int64{"REQUEST": pairs, "REPLY": pairs}, Params: k(int64(places)),
			}
			if n == 1 {
				c.Kinds = map[string]int64{}
			}
			for i := range n {
				at := 2 * ms * time.Duration(1+i/places)
				if places >= n {
					at = 0
				}
				c.Waiting = append(c.Waiting, at)
			}
			if places < n {
				c.SyncMax = ms
			}
			c.Run(t, id)
		}
	}
}

// TestMerged is pitfall P43: while k-1 stay inside, m requests of another cost m(2N-k-1), and k-1
// late replies in all, for they answer whatever has come.
func TestMerged(t *testing.T) {
	t.Parallel()
	alg, err := algo.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 7; n++ {
		for places := 1; places <= n; places++ {
			params, _ := alg.Spec.Resolve(k(int64(places)), algo.Network{Nodes: n})
			sent, inside := 0, make([]bool, n+1)
			procs := make([]*algo.Stepper, n+1)
			var links []algo.Effect // from in Term
			feed := func(p algo.ID, ev algo.Event) {
				for _, e := range procs[p].Step(0, ev) {
					if inside[p] = inside[p] || e.Op == algo.OpGranted; e.Op == algo.OpSend {
						e.Term, sent = uint64(p), sent+1
						links = append(links, e)
					}
				}
			}
			flush := func() {
				for len(links) > 0 {
					e := links[0]
					links = links[1:]
					feed(e.Peer, algo.Event{Type: algo.Receive, Peer: algo.ID(e.Term), Msg: e.Msg})
				}
			}
			everybody := algotest.Everybody(n)
			for _, p := range everybody {
				c := algo.Config{ID: p, Peers: everybody, Neighbors: everybody, Params: params}
				procs[p] = algo.NewStepper(alg, c, 1, &algo.Buffer{})
			}
			for p := algo.ID(1); int(p) < places; p++ {
				feed(p, algo.Event{Type: algo.Request})
				flush()
			}
			sent = 0
			last, m := algo.ID(n), 3
			for range m {
				feed(last, algo.Event{Type: algo.Request})
				if flush(); !inside[last] {
					t.Fatalf("n = %d, k = %d: p%d is not inside", n, places, last)
				}
				feed(last, algo.Event{Type: algo.Release})
				inside[last] = false
				flush()
			}
			before := sent
			for p := algo.ID(1); int(p) < places; p++ {
				feed(p, algo.Event{Type: algo.Release})
			}
			late := 0
			for _, e := range links {
				if e.Peer == last {
					late++
				}
			}
			if before != m*(2*n-places-1) || late != places-1 {
				t.Errorf("n = %d, k = %d: %d messages, then %d late; want %d, %d", n, places, before, late,
					m*(2*n-places-1), places-1)
			}
		}
	}
}

// TestNoMoreThanK is pitfall P44, on random schedules: with more who ask than places there are as
// many inside as may be, and no more.
func TestNoMoreThanK(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		places := 1 + int(seed%3)
		p := algotest.MustPlan(t, id, 5, harness.Scenario{Plot: &harness.Closed{Requests: 60, Warmup: 10,
			Hold: link.Uniform(5*ms, 9*ms), Think: link.Uniform(0, ms)}}, k(int64(places)))
		p.Seed, p.Network.Latency, p.Network.Unordered = seed, link.Uniform(ms/10, 2*ms), true
		o, err := algotest.Simulate(p)
		most := 1.0
		for _, m := range o.Metrics {
			if m.Name == metric.MostInside.Name {
				most = m.Value
			}
		}
		if err != nil || o.Status != trace.OK || int(most) != places {
			t.Errorf("k = %d: %s: %s, %v inside, %v", places, o.Status, o.Reason, most, err)
		}
	}
}

// TestCrashes: each of k-1 dead processes takes a place, wherever it dies, and the k-th blocks.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for dead := range 4 {
		events := []harness.Event{{Do: harness.DoRequest, Node: 5}, {Do: harness.DoRequest, Node: 4}}
		for p := range dead { // 5 and 4 die inside, 3 idle
			events = append(events, harness.Event{At: 2500 * time.Microsecond, Do: harness.DoCrash,
				Node: algo.ID(5 - p)})
		}
		events = append(events, harness.Event{At: 5 * ms, Do: harness.DoRequest, Node: 1},
			harness.Event{At: 5 * ms, Do: harness.DoRequest, Node: 2})
		c := algotest.Entries{Nodes: 5, Events: events, Params: k(3)}
		p := c.Plan(t, id)
		p.InModel = false
		o, err := algotest.Simulate(p)
		want := trace.OK
		if dead == 3 {
			want = trace.TimedOut
		}
		if err != nil || o.Status != want {
			t.Errorf("%d dead: %s: %s, %v", dead, o.Status, o.Reason, err)
		}
	}
}

// TestRestart: who comes back numbers its requests beyond those of its former life, to which
// replies may still come.
func TestRestart(t *testing.T) {
	t.Parallel()
	alg, err := algo.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	s := algo.NewStepper(alg, algo.Config{ID: 1, Peers: algotest.Everybody(3), Incarnation: 1,
		Neighbors: algotest.Everybody(3), Params: k(2)}, 1, &algo.Buffer{})
	s.Step(0, algo.Event{Type: algo.Receive, Peer: 2, Msg: reply(1)})
	if err := s.Invariant(); err != nil {
		t.Error(err)
	}
	sent := s.Step(0, algo.Event{Type: algo.Request})
	if want := request(1<<32 + 1); len(sent) != 2 || sent[0].Msg != algo.Message(want) {
		t.Errorf("%+v, want %+v to 2 and 3", sent, want)
	}
}

func request(n uint64) raymondk.Request { return raymondk.Request{N: n} }

func reply(n uint64) raymondk.Reply { return raymondk.Reply{N: n} }

// TestReply_Late is pitfall P42: a reply that comes after the entry is of the request before,
// and counts for no later one; nor does a second copy of any.
func TestReply_Late(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 4, 1, 1, k(2))
	ask := func(n uint64) {
		t.Helper()
		d.Requests(algotest.Sends(2, request(n)), algotest.Sends(3, request(n)), algotest.Sends(4, request(n)))
	}
	ask(1)
	d.Receives(2, reply(1))
	d.Receives(2, reply(1))
	d.Receives(3, reply(1), algotest.Enters())
	d.Receives(3, reply(1))
	d.Releases()
	ask(2)
	d.Receives(4, reply(1))
	d.Receives(2, reply(2))
	d.Receives(3, reply(1))
	d.Receives(4, reply(2), algotest.Enters())
	d.Releases()
	d.Receives(4, reply(1)) // a second copy, out of order
	d.Receives(3, request(9), algotest.Sends(3, reply(9)))
	ask(10)
}

// TestRequest_PutOff: inside, every request is put off; waiting, what comes after the own one, of
// equal numbers that of the larger process. A second request of the same process takes the
// place of the first.
func TestRequest_PutOff(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, k(2))
	d.Receives(1, request(4), algotest.Sends(1, reply(4)))
	d.Requests(algotest.Sends(1, request(5)), algotest.Sends(3, request(5)))
	d.Receives(1, request(5), algotest.Sends(1, reply(5)))
	d.Receives(3, request(5))
	d.Receives(3, reply(5), algotest.Enters())
	d.Receives(1, request(3)) // older than its own
	d.Receives(3, request(6))
	d.Receives(3, request(5)) // a copy
	d.Releases(algotest.Sends(1, reply(3)), algotest.Sends(3, reply(6)))
	d.Requests(algotest.Sends(1, request(7)), algotest.Sends(3, request(7)))
	d.Receives(1, reply(7), algotest.Enters())
	d.Releases()
}
