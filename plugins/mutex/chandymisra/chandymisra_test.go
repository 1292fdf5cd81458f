package chandymisra_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	cm "github.com/conclave-bench/conclave/plugins/mutex/chandymisra"
)

const (
	id = "mutex/chandy-misra"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: the largest process lacks all forks at the start, the smallest none; who has eaten pays
// nothing until somebody asks. Together, 2(N-1)^2 in all, and the largest comes first behind 1: all
// others had used forks, and gave them away.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 8} {
		others, last := int64(n-1), algo.ID(n)
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(1, last, last, 1),
			Order: []algo.ID{1, last, last, 1}, Each: []int64{0, 2 * others, 0, 2},
			Kinds:   map[string]int64{"REQUEST": others + 1, "FORK": others + 1},
			Waiting: []time.Duration{0, 2 * ms, 0, 2 * ms},
		}.Run(t, id)
		down := algotest.Everybody(n)
		slices.Reverse(down[1:])
		algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...), Order: down,
			Kinds: map[string]int64{"REQUEST": others * others, "FORK": others * others},
		}.Run(t, id)
	}
}

// TestCrash: who has the fork of a pair takes it with it, also when it comes back.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim, want := range map[algo.ID]trace.Status{1: trace.TimedOut, 3: trace.OK} {
		c := algotest.Entries{Nodes: 3, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 2}, // and has all forks
			{At: 10 * ms, Do: harness.DoCrash, Node: victim},
			{At: 11 * ms, Do: harness.DoRestart, Node: victim},
			{At: 20 * ms, Do: harness.DoRequest, Node: 2},
			{At: 30 * ms, Do: harness.DoRequest, Node: 1},
		}}
		if victim == 1 { // 1 and 3 share a fork, which is with 1
			c.Events[4].Node = 3
		}
		c.RunBeyond(t, id, fmt.Sprint("crash of ", victim), want)
	}
}

// TestRequest_Hungry: a dirty fork is given to whoever asks, and asked for again; a clean one is kept
// until its owner has eaten.
func TestRequest_Hungry(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil) // has the dirty fork of 3
	d.Requests(algotest.Sends(1, cm.Request{}))
	d.Receives(3, cm.Request{}, algotest.Sends(3, cm.Fork{}), algotest.Sends(3, cm.Request{}))
	d.Receives(1, cm.Fork{})
	d.Receives(1, cm.Request{}) // clean
	d.Receives(3, cm.Fork{}, algotest.Enters())
	d.Receives(3, cm.Request{}) // inside
	d.Releases(algotest.Sends(1, cm.Fork{}), algotest.Sends(3, cm.Fork{}))
	d.Requests(algotest.Sends(1, cm.Request{}), algotest.Sends(3, cm.Request{}))
}

// TestRequest_Idle: an idle process hands a fork over, and does not ask for it again; forks that nobody asked
// for stay, dirty.
func TestRequest_Idle(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 1, 1, nil)
	d.Requests(algotest.Enters())
	d.Releases()
	d.Receives(3, cm.Request{}, algotest.Sends(3, cm.Fork{}))
	d.Requests(algotest.Sends(3, cm.Request{}))
	d.Receives(2, cm.Request{}, algotest.Sends(2, cm.Fork{}), algotest.Sends(2, cm.Request{}))
	d.Receives(3, cm.Fork{})
	d.Receives(2, cm.Fork{}, algotest.Enters())
	d.Releases()
	d.Receives(2, cm.Request{}, algotest.Sends(2, cm.Fork{}))
}
