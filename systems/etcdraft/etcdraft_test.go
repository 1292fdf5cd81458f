package etcdraft_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/systems/etcdraft"
)

const id = "election/etcd-raft"

// TestSchedules: it keeps its promises in random schedules, with and without pre-votes and the check of the quorum.
// The rest of the kit compares states, and the library's hold functions, which cannot be compared.
func TestSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return map[string]any{"pre_vote": seed%2 == 0, "check_quorum": seed%3 > 0}
	}, nil)
}

// TestRepeats: twenty runs of a seed give one trace, though the library draws from a source that cannot be seeded:
// when a message makes it a candidate, and without pre-votes when a tick does.
func TestRepeats(t *testing.T) {
	for _, ask := range []bool{true, false} {
		p := algotest.MustPlan(t, id, 5, harness.Scenario{Plot: &harness.LeaderCrash{Elections: 5}},
			map[string]any{"pre_vote": ask})
		p.TimeLimit = 5 * time.Minute
		first := ""
		for run := range 20 {
			o := algotest.MustSimulate(t, p)
			if o.Verdict.Completed < 5 {
				t.Fatalf("%s: %s, %d elections", o.Verdict.Status, o.Verdict.Reason, o.Verdict.Completed)
			}
			if text := fmt.Sprint(o.Trace); run == 0 {
				first = text
			} else if text != first {
				t.Fatalf("pre_vote %t: run %d has another trace", ask, run+1)
			}
		}
	}
}
