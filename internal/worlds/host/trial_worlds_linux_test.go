package host_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// slow is time-outs that no machine is too slow for. How many messages an
// election takes does not depend on them.
var slow = map[string]any{"t_answer": ms(250), "t_coordinator": ms(600)}

func TestTrial_BothWorldsAgree(t *testing.T) {
	t.Parallel()
	type world struct {
		name string
		plan harness.Plan
	}
	var worlds []world
	add := func(name string, p harness.Plan) { worlds = append(worlds, world{name, p}) }
	suspect := func(n int) harness.Scenario {
		return script(harness.Event{Do: harness.DoSuspect, Node: 1, Of: algo.ID(n)})
	}
	for _, n := range []int{3, 5, 8} {
		p := plan(t, "election/bully", n, harness.Scenario{Plot: &harness.LeaderCrash{Settle: ms(20)}}, slow)
		add(fmt.Sprintf("bully crash n=%d", n), p)
		p = plan(t, "election/bully", n, suspect(n), slow)
		p.Leader, p.Crashed = algo.ID(n), []algo.ID{algo.ID(n)}
		add(fmt.Sprintf("bully suspect n=%d", n), p)
	}
	p := plan(t, "election/bully", 8, script(
		harness.Event{Do: harness.DoSuspect, Node: 4, Of: 8},
		harness.Event{At: ms(150), Do: harness.DoCrash, Node: 7}, // has answered, is to announce itself
	), slow)
	p.Leader, p.Crashed = 8, []algo.ID{8}
	add("bully, the next dies too", p)
	for _, n := range []int{3, 5, 8} {
		p := plan(t, "election/ring-list", n, harness.Scenario{Plot: &harness.LeaderCrash{Settle: ms(20)}},
			nil)
		add(fmt.Sprintf("ring-list crash n=%d", n), p)
		p = plan(t, "election/ring-list", n, suspect(n), nil)
		p.Leader, p.Crashed = algo.ID(n), []algo.ID{algo.ID(n)}
		add(fmt.Sprintf("ring-list suspect n=%d", n), p)
	}
	p = plan(t, "mutex/naimi-trehel", 6, harness.Scenario{Plot: &harness.Burst{Hold: link.Constant(ms(2))}},
		nil)
	p.Network.Latency = link.Constant(ms(25)) // all have asked before any hears of it
	add("naimi-trehel burst", p)

	m := newMachine(t, 8)
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			want := simulate(t, w.plan)
			if want.Totals.Sent == 0 {
				t.Fatalf("nothing happened: %+v", want.Verdict)
			}
			got := run(t, m, w.plan, func(o outcome) error { return same(want, o) })
			t.Logf("%d messages, %v; %s", got.Totals.Sent, got.End.At, got.Status)
		})
	}
}

// TestTrial_LeaderOfThen: in both worlds leader-crash crashes the process that leads when the fault
// strikes, though another led at the start, which has crashed meanwhile.
func TestTrial_LeaderOfThen(t *testing.T) {
	t.Parallel()
	p := plan(t, "election/bully", 4, harness.Scenario{Plot: &harness.LeaderCrash{Settle: ms(900)}}, slow)
	p.Faults.Events = []harness.Event{{At: ms(20), Do: harness.DoCrash, Node: 4}}
	twice := func(list []trace.Operation, toll harness.Toll) error {
		if len(list) != 2 || list[0].Process != 3 || list[1].Process != 2 || toll.Struck != 1 || toll.Drawn != 1 {
			return fmt.Errorf("elections %+v, %+v; want those of 3 and then 2, and one crash of the leader", list, toll)
		}
		return nil
	}
	simulated := simulate(t, p)
	if err := twice(simulated.Operations, simulated.End.Toll); err != nil {
		t.Errorf("simulated: %v", err)
	}
	run(t, newMachine(t, 4), p, func(o outcome) error { return twice(o.Operations, o.End.Toll) })
}

// same compares what does not depend on when things happened.
func same(want algotest.Outcome, got outcome) error {
	if want.Status != got.Status || want.End.Reason != got.End.Reason {
		return fmt.Errorf("simulated: %s (%s) %s; on nodes: %s (%s) %s", want.Status, want.Reason,
			want.End.Reason, got.Status, got.Reason, got.End.Reason)
	}
	a, b := want.Totals, got.Totals
	a.Late, b.Late = 0, 0
	if a != b || !slices.Equal(want.Kinds, got.Kinds) {
		return fmt.Errorf("simulated: %+v %v; on nodes: %+v %v", a, want.Kinds, b, got.Kinds)
	}
	if want.End.Pending != got.End.Pending || want.Completed != got.Completed {
		return fmt.Errorf("simulated: %d operations, %d pending; on nodes: %d, %d", want.Completed,
			want.End.Pending, got.Completed, got.End.Pending)
	}
	return nil
}

// TestTrial_SequentialCountsAreExact: nothing about these depends on time, so the
// first valid trial must agree to the last byte.
func TestTrial_SequentialCountsAreExact(t *testing.T) {
	m := newMachine(t, 16)
	requests := 100
	if slowtest.Night() {
		requests = 300
	}
	for i, n := range []int{4, 8, 16} {
		p := plan(t, "mutex/naimi-trehel", n, harness.Scenario{Plot: &harness.Sequential{
			Requests: requests, Hold: link.Constant(100 * time.Microsecond),
		}}, nil)
		p.Network.Latency, p.Seed = link.Constant(0), uint64(i+1)
		p.TimeLimit = time.Minute
		want := simulate(t, p)
		got := run(t, m, p)
		if err := same(want, got); err != nil {
			t.Errorf("n=%d: %v", n, err)
		}
		if got.Completed != requests || got.Status != trace.OK {
			t.Errorf("n=%d: %d of %d entries, %s: %s", n, got.Completed, requests, got.Status, got.Reason)
		}
		t.Logf("n=%d: %v for an entry and its quiet", n, got.End.At/time.Duration(requests))
	}
}

// A linkMessage names one copy of one message.
type linkMessage struct {
	from, to uint32
	seq      uint64
	copy     uint8
}

// A fate is what became of it.
type fate struct {
	takes time.Duration // from sent to due
	what  trace.Type
}

func fates(t *testing.T, list trace.List) map[linkMessage]fate {
	t.Helper()
	out := map[linkMessage]fate{}
	for i := range list {
		switch r := &list[i]; r.Type {
		case trace.Deliver, trace.Lose, trace.Undelivered:
			k := linkMessage{r.Peer, r.Process, r.Seq, r.Copy}
			if _, twice := out[k]; twice {
				t.Errorf("two ends of %+v", k)
			}
			out[k] = fate{r.Due - r.Sent, r.Type}
		}
	}
	return out
}

func TestTrial_LuckIsTheSameInBothWorlds(t *testing.T) {
	p := plan(t, "election/test-numbered", 4, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"messages": int64(100)})
	usual := link.Network{Latency: link.Uniform(ms(1), ms(30)), Loss: 0.2, Duplication: 0.1}
	unordered, unlike, all, slow := usual, usual, 1.0, link.Constant(ms(50))
	unordered.Unordered = true
	unlike.Variation, unlike.Bandwidth = &link.Variation{Sigma: 0.5, Directed: true}, 20_000
	unlike.Links = []link.Own{{Links: [][2]uint32{{1, 2}}, Latency: &slow}, {Links: [][2]uint32{{2, 1}}, Loss: &all}}
	for name, network := range map[string]link.Network{"usual": usual, "unordered": unordered, "unlike": unlike} {
		p.Network = network
		m := newMachine(t, 4)
		want, got := simulate(t, p), run(t, m, p)
		a, b := fates(t, want.Trace), fates(t, got.Trace)
		if len(a) < 1200 || !maps.Equal(a, b) {
			t.Errorf("%s: simulated %d fates, on nodes %d, or different ones", name, len(a), len(b))
		}
		if err := same(want, got); err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d copies, %d lost", name, len(b), got.Totals.Lost)
	}
}
