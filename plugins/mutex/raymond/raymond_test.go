package raymond_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/mutex/raymond"
)

const (
	id = "mutex/raymond"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

func tree(shape string) algo.Shape { return algo.Shape{Kind: "tree", Tree: shape} }

// TestDistance: an entry costs two messages for each link on the way to the idle
// holder, and as many units of time; none for the holder itself.
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape           string
		n               int
		from, to, above algo.ID // the holder, who requests, and its parent
		distance        int64
	}{
		{"path", 7, 1, 7, 6, 6}, {"path", 7, 3, 6, 5, 3}, {"path", 7, 6, 2, 1, 4},
		{"star", 7, 1, 7, 1, 1}, {"star", 7, 2, 7, 1, 2}, {"binary", 15, 1, 15, 7, 3},
		{"binary", 15, 8, 15, 7, 6}, {"balanced", 9, 9, 5, 2, 4},
	} {
		algotest.Entries{
			Nodes: c.n, Shape: tree(c.shape), Holder: c.from, Events: algotest.InTurn(c.to, c.to, c.above),
			Order: []algo.ID{c.to, c.to, c.above}, Each: []int64{2 * c.distance, 0, 2},
			Waiting: []time.Duration{time.Duration(2*c.distance) * ms, 0, 2 * ms},
		}.Run(t, id)
	}
}

// TestTogether: all request at once.
func TestTogether(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 10; n++ {
		for _, c := range []struct {
			shape  string
			holder algo.ID
			each   int64 // messages of either kind
		}{
			{"path", 1, int64(n - 1)},   // 2(N-1)
			{"star", 1, int64(2*n - 3)}, // 4N-6
			{"star", 2, int64(2*n - 4)}, // 4N-8
		} {
			order := algotest.Everybody(n)
			order[0], order[c.holder-1] = c.holder, 1
			e := algotest.Entries{
				Nodes: n, Shape: tree(c.shape), Holder: c.holder,
				Events: algotest.Together(algotest.Everybody(n)...), Order: order,
				Kinds: map[string]int64{"REQUEST": c.each, "PRIVILEGE": c.each}, SyncMax: 2 * ms,
			}
			if c.shape == "path" || n == 3 && c.holder == 2 { // nobody enters behind another's back
				e.SyncMax = ms
			}
			e.Run(t, id)
		}
	}
}

// TestSaturation: on a star, where everybody asks again at once, an entry costs
// almost four messages.
func TestSaturation(t *testing.T) {
	t.Parallel()
	p := algotest.MustPlan(t, id, 10, harness.Scenario{Plot: &harness.Closed{
		Requests: 1000, Warmup: 100,
	}}, nil)
	p.Shape = tree("star")
	p.Scenario.Set("think", link.Constant(0))
	o, err := algotest.Simulate(p)
	if err != nil || o.Status != trace.OK {
		t.Fatalf("%s: %s, %v", o.Status, o.Reason, err)
	}
	if got := o.Metrics[0].Value; got < 3.5 || got > 4 {
		t.Errorf("%s: %v, want about 4", o.Metrics[0].Name, got)
	}
}

// TestCrash: if the holder crashes, the privilege is lost, also when it comes
// back; if a process between them crashes, the others cannot ask any more.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim, want := range map[algo.ID]trace.Status{
		1: trace.TimedOut, 2: trace.TimedOut, 4: trace.OK,
	} {
		c := algotest.Entries{Nodes: 4, Shape: tree("path"), Holder: 1, Events: []harness.Event{
			{Do: harness.DoCrash, Node: victim},
			{At: 2 * ms, Do: harness.DoRequest, Node: 3},
			{At: 20 * ms, Do: harness.DoRestart, Node: victim},
			{At: 30 * ms, Do: harness.DoRequest, Node: 3},
		}}
		c.RunBeyond(t, id, fmt.Sprint("crash of ", victim), want)
	}
}

// TestRestart: a process that had the privilege at the start and comes back
// makes no second one, but gets the one that is there.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := algotest.Entries{Nodes: 2, Holder: 1, Events: []harness.Event{
		{Do: harness.DoRequest, Node: 2},
		{At: ms, Do: harness.DoRequest, Node: 1},
		{At: 1500 * time.Microsecond, Do: harness.DoCrash, Node: 1},
		{At: 1600 * time.Microsecond, Do: harness.DoRestart, Node: 1},
		{At: 2 * ms, Do: harness.DoRequest, Node: 1},
	}}
	c.RunBeyond(t, id, "crash", trace.OK)
}
