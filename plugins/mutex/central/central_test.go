package central_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/central"
)

const id = "mutex/central"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestRandomSchedules: with any process for the coordinator.
func TestRandomSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return map[string]any{"coordinator": int64(1 + seed%2)}
	}, nil)
}

// TestCounts: 3 messages an entry, 2 of them before it; none for the
// coordinator. Requests of one instant are served as they arrive.
func TestCounts(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, n := range []int{2, 3, 5, 8} {
		others := int64(n - 1)
		algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...), Order: algotest.Everybody(n),
			Kinds: map[string]int64{"REQUEST": others, "GRANT": others, "RELEASE": others},
			// RELEASE and GRANT; the coordinator's own release needs no message.
			SyncMax: map[bool]time.Duration{true: 2 * ms, false: ms}[n > 2],
		}.Run(t, id)
		last := algo.ID(n)
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(last, last, 1, 1), Order: []algo.ID{last, last, 1, 1},
			Each: []int64{3, 3, 0, 0}, Waiting: []time.Duration{2 * ms, 2 * ms, 0, 0},
			Kinds: map[string]int64{"REQUEST": 2, "GRANT": 2, "RELEASE": 2},
		}.Run(t, id)
		algotest.Entries{
			Nodes: n, Params: map[string]any{"coordinator": int64(n)}, Events: algotest.InTurn(last, 1),
			Order: []algo.ID{last, 1}, Each: []int64{0, 3}, Waiting: []time.Duration{0, 2 * ms},
		}.Run(t, id)
	}
}

// TestCrash: a crash of the coordinator, or of whoever is inside, blocks
// everybody, and is reported so.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, victim := range []algo.ID{1, 3} {
		c := algotest.Entries{Nodes: 4, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 3},
			{At: 2500 * time.Microsecond, Do: harness.DoCrash, Node: victim},
			{At: 10 * time.Millisecond, Do: harness.DoRequest, Node: 2},
		}}
		p := c.Plan(t, id)
		p.InModel = false
		o, err := algotest.Simulate(p)
		if err != nil || o.Status != trace.TimedOut || o.Completed != 1 {
			t.Errorf("%s: %s, %d entries, %v", o.Status, o.Reason, o.Completed, err)
		}
	}
}

func request(p algo.ID, number uint64) algo.Message {
	return central.Request{Turn: central.Turn{ID: p, Number: number}}
}

func grant(p algo.ID, number uint64) algo.Message {
	return central.Grant{Turn: central.Turn{ID: p, Number: number}}
}

func release(p algo.ID, number uint64) algo.Message {
	return central.Release{Turn: central.Turn{ID: p, Number: number}}
}

// TestSecondCopies: a request that comes again with its number is granted once,
// and a second RELEASE or GRANT of an earlier entry does nothing to a later one.
func TestSecondCopies(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 1, 1, nil)
	d.Receives(2, request(2, 1), algotest.Sends(2, grant(2, 1)))
	d.Receives(2, request(2, 1))
	d.Receives(2, release(2, 1))
	d.Receives(2, request(2, 1))
	d.Receives(2, request(2, 2), algotest.Sends(2, grant(2, 2)))
	d.Receives(3, request(3, 1))
	d.Receives(3, request(3, 1))
	d.Receives(2, release(2, 1))
	d.Receives(2, release(2, 2), algotest.Sends(3, grant(3, 1)))
	d.Receives(3, release(3, 1))

	d = algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, request(2, 1)))
	d.Receives(1, grant(2, 1), algotest.Enters())
	d.Receives(1, grant(2, 1))
	d.Releases(algotest.Sends(1, release(2, 1)))
	d.Requests(algotest.Sends(1, request(2, 2)))
	d.Receives(1, grant(2, 1))
	d.Receives(1, grant(2, 2), algotest.Enters())
}

// TestCoordinator: it is one of the processes.
func TestCoordinator(t *testing.T) {
	t.Parallel()
	a := algotest.Lookup(t, id)
	for coordinator, want := range map[int64]string{
		0: "parameter coordinator: 0 is below its minimum 1", 1: "", 3: "",
		4: "parameter coordinator: 4 is no process (has: 1 to 3)",
	} {
		got := ""
		_, errs := a.Spec.Resolve(map[string]any{"coordinator": coordinator}, algo.Network{Nodes: 3})
		for _, err := range errs {
			got += err.Error()
		}
		if got != want {
			t.Errorf("coordinator %d of 3: %q, want %q", coordinator, got, want)
		}
	}
}
