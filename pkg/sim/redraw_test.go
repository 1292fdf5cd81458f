package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestRedraw: up to then all is as it was, and afterwards every draw is another one: of processes and
// links that drew before, that did not yet, and that come back. In the large system flows
// are sparse.
func TestRedraw(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			env.Logf("%d", env.Rand().Uint64())
			env.Send(a.Peers[2], Note{})
		}
	}
	do := func(at time.Duration, what string, p algo.ID) harness.Event {
		return harness.Event{At: at * ms, Do: what, Node: p}
	}
	for _, nodes := range []int{3, 300} {
		p := plan("election/test-actor", nodes, harness.Scenario{Plot: &harness.Script{Events: []harness.Event{
			do(0, harness.DoElect, 1), do(10, harness.DoElect, 1), do(20, harness.DoElect, 1),
			do(30, harness.DoElect, 2), do(35, harness.DoElect, 1), do(40, harness.DoCrash, 1),
			do(45, harness.DoRestart, 1), do(50, harness.DoElect, 1)}}}, role(f))
		p.Network.Latency = link.Uniform(ms, 9*ms)
		const from = 25 * ms
		lead := func(seeds ...uint64) (list trace.List) {
			s, err := p.Setup()
			if err != nil {
				t.Fatal(err)
			}
			m := sim.New(s, &list)
			m.RunUntil(from)
			for _, seed := range seeds {
				m.Redraw(seed)
			}
			m.Run()
			return list
		}
		draws := func(list trace.List) (before, after []string) {
			for _, r := range list {
				text := fmt.Sprint(r.At, r.Process, " ", r.Text, " ", r.Due-r.Sent)
				switch {
				case r.Type != trace.Log && r.Type != trace.Send:
				case r.At <= from:
					before = append(before, text)
				default:
					after = append(after, text)
				}
			}
			return before, after
		}
		plain, seven := lead(), lead(7)
		if hash(seven) != hash(lead(7)) {
			t.Errorf("%d nodes: the same seed gives two trials", nodes)
		}
		before, after := draws(plain)
		for name, other := range map[string]trace.List{"7": seven, "8": lead(8), "7 8": lead(7, 8)} {
			same, differ := draws(other)
			if fmt.Sprint(same) != fmt.Sprint(before) || len(before) != 6 {
				t.Errorf("%d nodes, %s: before %v, want %v", nodes, name, same, before)
			}
			for i := range after {
				if len(differ) != 6 || differ[i] == after[i] {
					t.Errorf("%d nodes, %s: draw %d after it: %v, without %v", nodes, name, i, differ, after)
				}
			}
		}
		if hash(lead(8)) == hash(seven) {
			t.Errorf("%d nodes: seeds 7 and 8 give one trial", nodes)
		}
	}
}
