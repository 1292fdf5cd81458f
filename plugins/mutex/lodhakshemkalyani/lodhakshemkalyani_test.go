package lodhakshemkalyani_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	lk "github.com/conclave-bench/conclave/plugins/mutex/lodhakshemkalyani"
)

const (
	id = "mutex/lodha-kshemkalyani"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: 2(N-1) messages for an entry of one alone. Together, N-1 requests each, which answer
// each other, and one FLUSH from entry to entry, in the order of the stamps.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 8} {
		others, last := int64(n-1), algo.ID(n)
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(last, last, 1),
			Order: []algo.ID{last, last, 1}, Each: []int64{2 * others, 2 * others, 2 * others},
			Kinds:   map[string]int64{"REQUEST": 3 * others, "REPLY": 3 * others},
			Waiting: []time.Duration{2 * ms, 2 * ms, 2 * ms},
		}.Run(t, id)
		algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), SyncMax: ms,
			Kinds: map[string]int64{"REQUEST": int64(n) * others, "FLUSH": others},
		}.Run(t, id)
	}
}

// TestFair: entries follow the stamps, whoever has all answers first.
func TestFair(t *testing.T) {
	t.Parallel()
	algotest.Entries{
		Nodes: 3, Order: []algo.ID{3, 1, 2},
		Events: []harness.Event{
			{Do: harness.DoRequest, Node: 3},
			{At: ms + ms/2, Do: harness.DoRequest, Node: 2},
			{At: ms + ms/2, Do: harness.DoRequest, Node: 1},
		},
	}.Run(t, id)
}

// TestCrash: the crash of a process that does not even want to enter blocks everybody.
func TestCrash(t *testing.T) {
	t.Parallel()
	c := algotest.Entries{Nodes: 3, Events: []harness.Event{
		{Do: harness.DoCrash, Node: 3},
		{At: ms, Do: harness.DoRequest, Node: 1},
	}}
	if o := c.RunBeyond(t, id, "crash", trace.TimedOut); o.Completed != 0 {
		t.Errorf("%d entries", o.Completed)
	}
}

func stamp(number uint64, p algo.ID) algo.Stamp { return algo.Stamp{Number: number, ID: p} }

var none algo.Stamp

func request(number uint64, p algo.ID, done algo.Stamp) lk.Request {
	return lk.Request{Stamp: stamp(number, p), Done: done}
}

// TestRequest_Answers: concurrent requests, also smaller ones, answer the own; the FLUSH goes to the
// next in the order of the stamps, and whoever asked again in the meantime is answered at the release.
func TestRequest_Answers(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	own := stamp(1, 2)
	d.Requests(algotest.Sends(1, request(1, 2, none)), algotest.Sends(3, request(1, 2, none)))
	d.Receives(3, request(4, 3, none))
	d.Receives(1, request(1, 1, none)) // all have answered, and 1 is first
	d.Receives(1, lk.Flush{Of: own, Done: stamp(1, 1)}, algotest.Enters())
	d.Receives(1, request(2, 1, stamp(1, 1)))
	d.Releases(algotest.Sends(3, lk.Flush{Of: stamp(4, 3), Done: own}),
		algotest.Sends(1, lk.Reply{Of: stamp(2, 1), Done: own}))
	d.Receives(1, request(3, 1, stamp(4, 3)), algotest.Sends(1, lk.Reply{Of: stamp(3, 1), Done: stamp(4, 3)}))
	d.Requests(algotest.Sends(1, request(5, 2, stamp(4, 3))), algotest.Sends(3, request(5, 2, stamp(4, 3))))
}

// TestRequest_Served: a request that arrives after it has been served answers, and is not waited for.
func TestRequest_Served(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	own := stamp(1, 2)
	d.Requests(algotest.Sends(1, request(1, 2, none)), algotest.Sends(3, request(1, 2, none)))
	d.Receives(3, lk.Flush{Of: own, Done: stamp(1, 1)})
	d.Receives(1, request(1, 1, none), algotest.Enters())
	d.Releases()
}

// TestAnswer_OfAnEarlierRequest: an answer to the request before permits nothing, nor does a second copy.
func TestAnswer_OfAnEarlierRequest(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, request(1, 2, none)), algotest.Sends(3, request(1, 2, none)))
	d.Receives(1, lk.Reply{Of: stamp(1, 2)})
	d.Receives(1, lk.Reply{Of: stamp(1, 2)})
	d.Receives(3, lk.Reply{Of: stamp(0, 2)})
	d.Receives(3, lk.Reply{Of: stamp(1, 2)}, algotest.Enters())
	d.Receives(3, lk.Reply{Of: stamp(1, 2)}) // not let in twice
	d.Releases()
	d.Receives(3, lk.Reply{Of: stamp(1, 2)})
}

// TestRestart: who comes back has numbers beyond its former life.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := algotest.NewSituations(t, id, 2, algo.Config{ID: 2, Incarnation: 1}, nil, func(m algo.Message) string {
		if m, ok := m.(lk.Request); ok && m.Stamp.Number == 1<<32+1 {
			return "beyond"
		}
		return ""
	})
	s.Want("asks", []algo.Event{{Type: algo.Request}}, "REQUEST beyond to 1")
}
