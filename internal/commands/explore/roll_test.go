package explore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/raft"
)

// sizes are those of the groups whose processes forget whom they voted for when they crash.
var sizes = []int{3, 4, 5, 6}

func forgetful(n int) string { return fmt.Sprint("test-forgets-its-vote-", n) }

func init() {
	a, err := algo.Lookup("election/raft")
	if err != nil {
		panic(err)
	}
	for _, n := range sizes {
		spec := a.Spec
		spec.Name = forgetful(n)
		spec.Needs.Nodes = func(nodes int) error {
			if nodes != n {
				return fmt.Errorf("%d processes, want %d", nodes, n)
			}
			return nil
		}
		algo.RegisterElector(spec, func(c algo.Config) algo.Elector {
			if saved, ok := c.Saved.(raft.Stable); ok {
				c.Saved = raft.Stable{Term: saved.Term}
			}
			return raft.New(c)
		})
	}
}

// TestRollingRestarts: a search and the conformance kit restart one process after the other, and so
// find two leaders in a term of which the voters forget their votes. With an even number of processes
// two of them have to, though only one may be down at once.
func TestRollingRestarts(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			id := "election/" + forgetful(n)
			r, err := explore.Run(t.Context(), id, explore.Options{
				Faults: explore.Survived, Seed: 3, Schedules: 2000, Workers: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			if f := r.Find; f == nil || f.Rule != "leadership" || !f.InModel || f.Schedule.Nodes != n {
				t.Fatalf("found %+v", f)
			}
			err = algotest.Verify(id, algotest.Options{Schedules: 1000})
			if err == nil || !strings.Contains(err.Error(), "Safety: ") ||
				!strings.Contains(err.Error(), "violation: leadership: ") {
				t.Errorf("the kit says %v", err)
			}
		})
	}
}

// TestTwoLeadersOneAfterTheOther: two of four processes vote, restart one after the other, and vote
// again. That is within the model of raft, which leads on, and shows one that forgets its votes.
func TestTwoLeadersOneAfterTheOther(t *testing.T) {
	const ms = time.Millisecond
	for id, want := range map[string]trace.Status{
		"election/raft": trace.OK, "election/" + forgetful(4): trace.Violated,
	} {
		restart := func(at time.Duration, p algo.ID) harness.Event {
			return harness.Event{At: at, Do: harness.DoCrash, Node: p, For: 10 * ms}
		}
		p := algotest.MustPlan(t, id, 4, harness.Scenario{Plot: &harness.Script{Until: 120 * ms,
			Events: []harness.Event{
				{Do: harness.DoCut, Links: [][2]uint32{{1, 4}}}, algotest.At(0, harness.DoElect, 1),
				restart(20*ms, 2), restart(50*ms, 3), algotest.At(100*ms, harness.DoElect, 4),
			}}}, nil)
		if faults, params := p.Beyond(); len(faults)+len(params) > 0 {
			t.Errorf("%s: beyond its model: %q, %q", id, faults, params)
		}
		o := algotest.MustSimulate(t, p)
		if o.Status != want || !o.Within(&p) {
			t.Errorf("%s: %s %s, want %s within the model", id, o.Status, o.Reason, want)
		}
	}
}
