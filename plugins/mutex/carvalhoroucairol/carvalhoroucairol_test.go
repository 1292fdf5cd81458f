package carvalhoroucairol_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	cr "github.com/conclave-bench/conclave/plugins/mutex/carvalhoroucairol"
)

const (
	id = "mutex/carvalho-roucairol"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: 2(N-1) messages for the first entry and none for the next; who lacks one
// permission pays two. Together, everybody pays 2(N-1), and entries follow the stamps.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 8} {
		all, last := int64(2*(n-1)), algo.ID(n)
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(last, last, 1, 1, last),
			Order: []algo.ID{last, last, 1, 1, last}, Each: []int64{all, 0, all, 0, 2},
			Waiting: []time.Duration{2 * ms, 0, 2 * ms, 0, 2 * ms},
		}.Run(t, id)
		algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), SyncMax: ms,
			Kinds: map[string]int64{"REQUEST": int64(n) * all / 2, "REPLY": int64(n) * all / 2},
		}.Run(t, id)
	}
}

// TestOrder: who kept its permissions enters before a request with a smaller stamp, of which
// it has not heard.
func TestOrder(t *testing.T) {
	t.Parallel()
	algotest.Entries{
		Nodes: 2, Order: []algo.ID{2, 2, 1}, Each: []int64{2, 1, 1},
		Events: []harness.Event{
			{Do: harness.DoRequest, Node: 2},
			{At: 10 * ms, Do: harness.DoRequest, Node: 1},
			{At: 10*ms + ms/2, Do: harness.DoRequest, Node: 2},
		},
	}.Run(t, id)
}

// TestCrash: who has the permission of a pair takes it with it. Here 1 does of all, and 2
// waits for ever; 3 has none of 2's.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim, want := range map[algo.ID]trace.Status{1: trace.TimedOut, 3: trace.OK} {
		c := algotest.Entries{Nodes: 3, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 1},
			{At: 10 * ms, Do: harness.DoRequest, Node: 2},
			{At: 20 * ms, Do: harness.DoCrash, Node: victim},
			{At: 30 * ms, Do: harness.DoRequest, Node: 2},
			{At: 40 * ms, Do: harness.DoRequest, Node: 1},
		}}
		if victim == 1 {
			c.Events = c.Events[:1]
			c.Events = append(c.Events, harness.Event{At: 5 * ms, Do: harness.DoCrash, Node: 1},
				harness.Event{At: 10 * ms, Do: harness.DoRequest, Node: 2})
		} else {
			c.Events = c.Events[:4]
		}
		c.RunBeyond(t, id, fmt.Sprint("crash of ", victim), want)
	}
}

func request(number uint64, p algo.ID) cr.Request {
	return cr.Request{Stamp: algo.Stamp{Number: number, ID: p}}
}

// TestRequest_AskedAgain: 2 has the permission that it shares with 1, and waits for that of 3.
// An earlier request of 1 takes the permission, and 2 asks for it again, with its own stamp.
// An earlier request of 3 is granted too; but 2 has asked 3 already, and does not again.
func TestRequest_AskedAgain(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, request(1, 2)), algotest.Sends(3, request(1, 2)))
	d.Receives(1, cr.Reply{})
	d.Receives(1, request(1, 1), algotest.Sends(1, cr.Reply{}), algotest.Sends(1, request(1, 2)))
	d.Receives(3, request(0, 3), algotest.Sends(3, cr.Reply{}))
	d.Receives(3, cr.Reply{})
	d.Receives(1, cr.Reply{}, algotest.Enters())
	d.Releases()
	d.Receives(3, request(4, 3), algotest.Sends(3, cr.Reply{}))
	d.Receives(1, request(3, 1), algotest.Sends(1, cr.Reply{})) // 4 is the highest number still
	d.Requests(algotest.Sends(1, request(5, 2)), algotest.Sends(3, request(5, 2)))
}

// TestRequest_Inside: whoever asks while the process is inside waits until it leaves, also with
// a smaller stamp, and in the order of arrival.
func TestRequest_Inside(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, request(1, 2)), algotest.Sends(3, request(1, 2)))
	d.Receives(1, cr.Reply{})
	d.Receives(3, cr.Reply{}, algotest.Enters())
	d.Releases()
	d.Requests(algotest.Enters())
	d.Receives(3, request(1, 3))
	d.Receives(1, request(1, 1))
	d.Releases(algotest.Sends(3, cr.Reply{}), algotest.Sends(1, cr.Reply{}))
	d.Requests(algotest.Sends(1, request(2, 2)), algotest.Sends(3, request(2, 2)))
}

// TestRequest_ComesLater: while it waits, a later request waits as well, equal numbers by ID.
func TestRequest_ComesLater(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, request(1, 2)), algotest.Sends(3, request(1, 2)))
	d.Receives(3, request(1, 3))
	d.Receives(1, request(2, 1))
	d.Receives(1, cr.Reply{})
	d.Receives(3, cr.Reply{}, algotest.Enters())
	d.Releases(algotest.Sends(3, cr.Reply{}), algotest.Sends(1, cr.Reply{}))
}

// TestRestart: who comes back has no permission, and numbers beyond its former life.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := algotest.NewSituations(t, id, 2, algo.Config{ID: 2, Incarnation: 1}, nil, func(m algo.Message) string {
		if m, ok := m.(cr.Request); ok && m.Stamp.Number == 1<<32+1 {
			return "beyond"
		}
		return ""
	})
	s.Want("asks", []algo.Event{{Type: algo.Request}}, "REQUEST beyond to 1")
}
