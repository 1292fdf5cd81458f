package ricartagrawalatoken_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
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

// TestCrash: with the idle holder the token is lost; another is heard when it comes back, served before or not.
func TestCrash(t *testing.T) {
	t.Parallel()
	algotest.RunTokenCrashes(t, id)
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

// TestRestart: who comes back has no token, and numbers beyond its former life.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := algotest.NewSituations(t, id, 2, algo.Config{ID: 2, Holder: 2, Incarnation: 1}, nil, func(m algo.Message) string {
		if m, ok := m.(rat.Request); ok && m.N == 1<<32+1 {
			return "beyond"
		}
		return ""
	})
	s.Want("asks", []algo.Event{{Type: algo.Request}}, "REQUEST beyond to 1")
}
