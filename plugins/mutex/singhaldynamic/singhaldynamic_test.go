package singhaldynamic_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/singhaldynamic"
)

const (
	id = "mutex/singhal-dynamic"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

// TestTurns: one request at a time, in any order, costs two messages for each process that was inside since
// the last entry of the process, or, if it has not been inside, since the start, or that has a smaller ID
// and was not inside.
func TestTurns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := 1 + rng.IntN(9)
		var order []algo.ID
		var each []int64
		var waits []time.Duration
		for range 12 {
			p := algo.ID(1 + rng.IntN(n))
			asks := int64(0)
			for q := algo.ID(1); int(q) <= n; q++ {
				own, other := slices.Index(order, p), slices.Index(order, q) // the last entry stands first
				switch {
				case q == p:
				case own < 0 && other < 0 && q < p, other >= 0 && (own < 0 || other < own):
					asks++
				}
			}
			order = slices.Insert(order, 0, p)
			each = append(each, 2*asks)
			waits = append(waits, min(2*ms, time.Duration(asks)*2*ms))
		}
		slices.Reverse(order)
		algotest.Entries{Nodes: n, Events: algotest.InTurn(order...), Order: order, Each: each,
			Waiting: waits}.Run(t, id)
	}
}

// TestTogether: when all ask at once at the start, each asks those with smaller IDs, and entries follow the IDs.
func TestTogether(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 8} {
		pairs := int64(n * (n - 1) / 2)
		algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), SyncMax: ms,
			Kinds: map[string]int64{"REQUEST": pairs, "REPLY": pairs},
		}.Run(t, id)
	}
}

// TestRules is each message in each state, at process 2 of three.
func TestRules(t *testing.T) {
	t.Parallel()
	asks := func(from algo.ID, clock uint64) algo.Event {
		return algotest.Hear(from, singhaldynamic.Request{Stamp: algo.Stamp{Number: clock, ID: from}})
	}
	allows := func(from algo.ID, clock uint64) algo.Event {
		return algotest.Hear(from, singhaldynamic.Reply{Clock: clock})
	}
	begin, release := algo.Event{Type: algo.Request}, algo.Event{Type: algo.Release}
	inside := []algo.Event{begin, allows(1, 1)}
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, nil,
		func(m algo.Message) string { return fmt.Sprint(m) })
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"asks the smaller":     {[]algo.Event{begin}, "REQUEST {{1 2}} to 1"},
		"is asked, idle":       {[]algo.Event{asks(3, 4)}, "REPLY {4} to 3"},
		"asks who was allowed": {[]algo.Event{asks(3, 4), begin}, "REQUEST {{5 2}} to 1; REQUEST {{5 2}} to 3"},
		"an earlier one":       {[]algo.Event{begin, asks(1, 1)}, "REPLY {1} to 1"},
		"one that was not asked": {[]algo.Event{begin, asks(3, 0)},
			"REPLY {1} to 3; REQUEST {{1 2}} to 3"},
		"a later one":           {[]algo.Event{begin, asks(3, 1)}, ""},
		"inside":                {algotest.Then(inside, asks(1, 0)), ""},
		"leaves":                {algotest.Then(inside, release), ""},
		"leaves, asked":         {algotest.Then(inside, asks(3, 7), asks(1, 2), release), "REPLY {7} to 3; REPLY {7} to 1"},
		"again, asked":          {algotest.Then(inside, asks(3, 7), release, begin), "REQUEST {{8 2}} to 3"},
		"the clock of a REPLY":  {[]algo.Event{begin, allows(1, 9), release, asks(3, 1)}, "REPLY {9} to 3"},
		"asks both, hears of 1": {[]algo.Event{asks(3, 4), begin, allows(1, 5)}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}

// TestEnter: a process enters when it has been allowed by all that it asked, also by one that had gone first,
// and at once if it has to ask nobody.
func TestEnter(t *testing.T) {
	t.Parallel()
	request := func(clock uint64, p algo.ID) singhaldynamic.Request {
		return singhaldynamic.Request{Stamp: algo.Stamp{Number: clock, ID: p}}
	}
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, request(1, 2)))
	d.Receives(1, request(1, 1), algotest.Sends(1, singhaldynamic.Reply{Clock: 1}))
	d.Receives(1, singhaldynamic.Reply{Clock: 2}, algotest.Enters())
	d.Receives(3, request(1, 3))
	d.Releases(algotest.Sends(3, singhaldynamic.Reply{Clock: 2}))
	d.Requests(algotest.Sends(3, request(3, 2)))
	d.Receives(3, singhaldynamic.Reply{Clock: 2}, algotest.Enters())
	d.Releases()
	d.Requests(algotest.Enters())
}

// TestCrash: a process that asks one that is gone waits forever; one that need not ask it enters.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim, want := range map[algo.ID]trace.Status{1: trace.TimedOut, 3: trace.OK} {

		events := []harness.Event{algotest.At(0, harness.DoCrash, victim), algotest.At(ms, harness.DoRequest, 2)}
		algotest.Entries{Nodes: 3, Events: events}.RunBeyond(t, id, fmt.Sprint("crash of ", victim), want)
	}
}
