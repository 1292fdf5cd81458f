package tree_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/tree"
)

const (
	id = "election/tree"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

func plan(t *testing.T, n int, shape string, given map[string]any,
	initiators ...algo.ID) harness.Plan {
	t.Helper()
	var events []harness.Event
	for _, p := range initiators {
		events = append(events, harness.Event{Do: harness.DoElect, Node: p})
	}
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, given)
	p.Shape.Tree = shape
	return p
}

// check4N holds a run against the count, the leader and one decision each.
func check4N(t *testing.T, p harness.Plan, leader algo.ID) algotest.Outcome {
	t.Helper()
	o := algotest.MustSimulate(t, p)
	n := int64(p.Nodes)
	wakeups, tokens := o.Kinds[0].Sent, o.Kinds[1].Sent
	if o.Status != trace.OK || algo.ID(o.Operations[0].Process) != leader ||
		wakeups != 2*n-2 || tokens != 2*n-2 {
		t.Errorf("n = %d, %s, seed %d: %s %s, leader %v, WAKEUP %d, TOKEN %d; want %d, and %d of each",
			n, p.Shape.Tree, p.Seed, o.Status, o.Reason, o.Operations, wakeups, tokens, leader, 2*n-2)
	}
	decisions := map[uint32]int{}
	for _, r := range o.Trace {
		if r.Type == trace.Elected && r.Peer != 0 {
			if decisions[r.Process]++; decisions[r.Process] > 1 {
				t.Errorf("n = %d, seed %d: p%d decides twice", n, p.Seed, r.Process)
			}
		}
	}
	return o
}

// diameter of the tree that p builds.
func diameter(t *testing.T, p harness.Plan) (most int) {
	t.Helper()
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	var depth func(at, from algo.ID) int
	depth = func(at, from algo.ID) (far int) {
		for _, q := range s.Graph.Neighbors(at) {
			if q != from && q != algo.None {
				far = max(far, 1+depth(q, at))
			}
		}
		return far
	}
	for _, at := range s.Graph.Peers() {
		most = max(most, depth(at, algo.None))
	}
	return most
}

// TestCounts: 4N-4 for every shape, size and set of initiators, in 3D+1 at most.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 14; n++ {
		for _, shape := range []string{"path", "star", "binary", "balanced", "random"} {
			for seed := range uint64(6) {
				rng := rand.New(rand.NewPCG(seed, uint64(n)))
				var initiators []algo.ID
				for _, i := range rng.Perm(n)[:1+rng.IntN(n)] {
					initiators = append(initiators, algo.ID(i+1))
				}
				p := plan(t, n, shape, nil, initiators...)
				p.Seed = seed
				o := check4N(t, p, algo.ID(n))
				if d := diameter(t, p); o.LastNamed() > time.Duration(3*d+1)*ms {
					t.Errorf("n = %d, %s, %v: decided at %v, diameter %d",
						n, shape, initiators, o.LastNamed(), d)
				}
			}
		}
	}
}

// TestTime: on a path, an end that starts alone needs 2D, all together D + 1.
func TestTime(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 9; n++ {
		d := time.Duration(n - 1)
		if at := check4N(t, plan(t, n, "path", nil, 1), algo.ID(n)).LastNamed(); at != 2*d*ms {
			t.Errorf("path of %d from its end: %v, want %v", n, at, 2*d*ms)
		}
		var all []algo.ID
		for p := range n {
			all = append(all, algo.ID(p+1))
		}
		if at := check4N(t, plan(t, n, "path", nil, all...), algo.ID(n)).LastNamed(); at != (d+1)*ms {
			t.Errorf("path of %d, all initiators: %v, want %v", n, at, (d+1)*ms)
		}
	}
	if at := check4N(t, plan(t, 2, "path", nil, 1), 2).LastNamed(); at != 3*ms {
		t.Errorf("two processes: %v, want 2D + 1 = 3ms", at)
	}
}

// TestSmallestTrace is the path 1-2-3 with initiator 1.
func TestSmallestTrace(t *testing.T) {
	t.Parallel()
	o := check4N(t, plan(t, 3, "path", nil, 1), 3)
	want := []string{
		"0 WAKEUP 1→2", "1 WAKEUP 2→1", "1 WAKEUP 2→3", "2 TOKEN 1→2", "2 WAKEUP 3→2",
		"2 TOKEN 3→2", "3 TOKEN 2→3", "3 TOKEN 2→1",
	}
	var got []string
	for _, r := range o.Trace {
		if r.Type == trace.Send {
			got = append(got, fmt.Sprintf("%d %s %d→%d", r.At.Milliseconds(),
				[]string{"WAKEUP", "TOKEN"}[r.Kind], r.Process, r.Peer))
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("sent\n got %v\nwant %v", got, want)
	}
	if at := o.LastNamed(); at != 4*ms {
		t.Errorf("last decision at %v, want 4ms", at)
	}
}

// TestRanks is pitfall P7: estimates decide, then IDs.
func TestRanks(t *testing.T) {
	t.Parallel()
	list := func(v ...int64) map[string]any {
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return map[string]any{"est": out}
	}
	for _, shape := range []string{"path", "star", "binary"} {
		check4N(t, plan(t, 4, shape, list(7, 9, 9, 1), 2), 3)
		check4N(t, plan(t, 4, shape, list(12, 9, 9, 1), 4), 1)
		check4N(t, plan(t, 4, shape, list(-3, -2, -5, -4), 1), 2)
	}
}

// TestOnce: wishes during and after the election change nothing.
func TestOnce(t *testing.T) {
	t.Parallel()
	p := plan(t, 7, "binary", nil, 4, 4)
	for at := ms; at < 20*ms; at += ms {
		for who := range 7 {
			p.Scenario.Add(harness.Event{At: at, Do: harness.DoElect, Node: algo.ID(who + 1)})
		}
	}
	check4N(t, p, 7)
}

// TestTokensBeforeTheStart is pitfall P14: in a star whose center is slow to
// hear the last WAKEUP, all TOKENs are there before it starts.
func TestTokensBeforeTheStart(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	params, _ := alg.Spec.Resolve(nil, algo.Network{Nodes: 4})
	s := algo.NewStepper(alg, algo.Config{
		ID: 1, Peers: []algo.ID{1, 2, 3, 4}, Neighbors: []algo.ID{algo.None, 2, 3, 4}, Params: params,
	}, 1, &algo.Buffer{})
	wakeup, token := alg.Spec.Messages[0], alg.Spec.Messages[1]
	step := func(from algo.ID, m algo.Message) (out []string) {
		for _, e := range s.Step(0, algo.Event{Type: algo.Receive, Peer: from, Msg: m}) {
			switch e.Op {
			case algo.OpSend:
				out = append(out, fmt.Sprintf("%s to %d", e.Msg.Kind(), e.Peer))
			case algo.OpElected:
				out = append(out, fmt.Sprintf("elected %d", e.Peer))
			}
		}
		if err := s.Invariant(); err != nil {
			t.Error(err)
		}
		return out
	}
	for i, test := range []struct {
		from algo.ID
		msg  algo.Message
		want string
	}{
		{2, wakeup, "[elected 0 WAKEUP to 2 WAKEUP to 3 WAKEUP to 4]"},
		{2, token, "[]"},
		{3, token, "[]"}, // before the WAKEUP of the same neighbor: overtaken
		{4, wakeup, "[]"},
		{4, token, "[]"},
		{3, wakeup, "[TOKEN to 2 elected 1 TOKEN to 3 TOKEN to 4]"},
		{2, token, "[]"}, // rule 7
	} {
		if got := fmt.Sprint(step(test.from, test.msg)); got != test.want {
			t.Errorf("event %d: got %s, want %s", i, got, test.want)
		}
	}
}

// TestSchedules: random trees, initiators and delays, with and without
// overtaking: the count never changes.
func TestSchedules(t *testing.T) {
	t.Parallel()
	for seed := range algotest.Schedules() {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := 1 + rng.IntN(14)
		est := make([]any, n)
		best := 0
		for i := range est {
			est[i] = rng.Int64N(4)
			if est[i].(int64) >= est[best].(int64) {
				best = i
			}
		}
		p := plan(t, n, "random", map[string]any{"est": est})
		p.Seed = seed
		p.Network = link.Network{Latency: link.Uniform(ms/100, ms), Unordered: seed%2 == 0}
		for range 1 + rng.IntN(n) {
			p.Scenario.Add(harness.Event{
				At: time.Duration(rng.Int64N(int64(2 * ms))), Do: harness.DoElect,
				Node: algo.ID(1 + rng.IntN(n))})
		}
		if check4N(t, p, algo.ID(best+1)); t.Failed() {
			return
		}
	}
}
