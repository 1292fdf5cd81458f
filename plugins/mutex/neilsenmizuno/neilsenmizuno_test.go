package neilsenmizuno_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	nm "github.com/conclave-bench/conclave/plugins/mutex/neilsenmizuno"
)

const (
	id = "mutex/neilsen-mizuno"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestDistance: an entry costs a message for each edge to the idle holder, and one back; none if
// the process is the holder. On all trees, for all pairs.
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tree := range []string{"star", "path", "binary", "balanced"} {
		for n := 2; n <= 11; n++ {
			g, err := algo.Build(algo.Shape{Kind: "tree", Tree: tree}, n, 1)
			if err != nil {
				t.Fatal(err)
			}
			for from := algo.ID(1); from <= algo.ID(n); from++ {
				for holder := algo.ID(1); holder <= algo.ID(n); holder++ {
					d := distance(g, from, holder)
					want := algotest.Entries{
						Nodes: n, Holder: holder, Events: algotest.InTurn(from), Order: []algo.ID{from},
						Params: map[string]any{"tree": tree}, Each: []int64{0}, Waiting: []time.Duration{0},
					}
					if d > 0 {
						want.Each[0], want.Waiting[0] = int64(d+1), time.Duration(d+1)*ms
					}
					t.Run(fmt.Sprint(tree, n, from, holder), func(t *testing.T) { want.Run(t, id) })
				}
			}
		}
	}
}

// distance is how many edges lie between two processes of a tree.
func distance(g *algo.Graph, from, to algo.ID) int {
	before, todo := map[algo.ID]int{from: 0}, []algo.ID{from}
	for ; len(todo) > 0; todo = todo[1:] {
		for _, q := range g.Adjacent(todo[0]) {
			if _, seen := before[q]; !seen {
				before[q], todo = before[todo[0]]+1, append(todo, q)
			}
		}
	}
	return before[to]
}

// TestBurst: everybody at once, on a star and on a path.
func TestBurst(t *testing.T) {
	t.Parallel()
	for n := int64(3); n <= 8; n++ {
		for name, test := range map[string]struct {
			tree   string
			holder algo.ID
			sent   int64
		}{
			"holder in the center": {"star", 1, 3*n - 4},
			"holder a leaf":        {"star", 2, 3*n - 5},
			"holder at the end":    {"path", 1, 2 * (n - 1)},
			"holder beside it":     {"path", 2, 2*n - 1},
		} {
			all := algotest.Everybody(int(n))
			c := algotest.Entries{Nodes: int(n), Holder: test.holder, Events: algotest.Together(all...),
				Params: map[string]any{"tree": test.tree}}
			o := algotest.MustSimulate(t, c.Plan(t, id))
			sent := int64(0)
			for _, k := range o.Kinds {
				sent += k.Sent
			}
			if o.Status != trace.OK || sent != test.sent {
				t.Errorf("%d processes, %s: %s, %d messages, want %d", n, name, o.Status, sent, test.sent)
			}
		}
	}
}

// TestCrash: without the center of the star nobody is heard; a leaf that neither has the privilege nor
// waits for it does no harm; a holder that comes back has no privilege.
func TestCrash(t *testing.T) {
	t.Parallel()
	crash := func(p algo.ID) harness.Event { return harness.Event{At: ms, Do: harness.DoCrash, Node: p} }
	for name, test := range map[string]struct {
		events []harness.Event
		want   trace.Status
	}{
		"center": {[]harness.Event{crash(1)}, trace.TimedOut},
		"holder": {[]harness.Event{crash(2), {At: 2 * ms, Do: harness.DoRestart, Node: 2}}, trace.TimedOut},
		"leaf":   {[]harness.Event{crash(4)}, trace.OK},
	} {
		c := algotest.Entries{Nodes: 4, Holder: 2,
			Events: append(test.events, harness.Event{At: 3 * ms, Do: harness.DoRequest, Node: 3})}
		c.RunBeyond(t, id, "crash of the "+name, test.want)
	}
}

func request(x, y algo.ID) nm.Request { return nm.Request{X: x, Y: y} }

// TestRequest_PassedOn: who passes a request on sends it in its own name, and its edge leads to
// where the request came from, not to who wants the privilege.
func TestRequest_PassedOn(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 5, 3, 5, map[string]any{"tree": "path"})
	d.Receives(2, request(2, 1), algotest.Sends(4, request(3, 1)))
	d.Receives(4, request(4, 5), algotest.Sends(2, request(3, 5)))
	d.Requests(algotest.Sends(4, request(3, 3)))
}

// TestRequest_Waits: a sink that waits or is inside remembers who comes next, and forgets it when the
// privilege goes there.
func TestRequest_Waits(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 1, 2, nil)
	d.Requests(algotest.Sends(2, request(1, 1)))
	d.Receives(3, request(3, 3))
	d.Receives(2, nm.Privilege{}, algotest.Enters())
	d.Receives(2, request(2, 2), algotest.Sends(3, request(1, 2)))
	d.Releases(algotest.Sends(3, nm.Privilege{}))
	d.Requests(algotest.Sends(2, request(1, 1)))
	d.Receives(2, nm.Privilege{}, algotest.Enters())
	d.Receives(3, request(3, 3)) // inside: nobody gets the privilege
	d.Releases(algotest.Sends(3, nm.Privilege{}))
}

// TestRestart: the root had the privilege when it crashed. It is a sink no more, and asks below.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, tree := range []string{"star", "path", "binary", "balanced"} {
		config := algo.Config{ID: 1, Holder: 1, Incarnation: 1}
		s := algotest.NewSituations(t, id, 5, config, map[string]any{"tree": tree},
			func(algo.Message) string { return "" })
		s.Want(tree, []algo.Event{{Type: algo.Request}}, "REQUEST to 2")
	}
}

// TestRequest_Idle: an idle holder gives the privilege up at once, and once.
func TestRequest_Idle(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 1, 1, nil)
	d.Requests(algotest.Enters())
	d.Releases()
	d.Receives(2, request(2, 2), algotest.Sends(2, nm.Privilege{}))
	d.Receives(3, request(3, 3), algotest.Sends(2, request(1, 3)))
}
