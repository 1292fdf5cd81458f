package etcdraft_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/plugins/election/raft"
	_ "github.com/conclave-bench/conclave/systems/etcdraft"
)

const id = "election/etcd-raft"

// TestConformance: it keeps every rule of the kit but the last, which compares states of processes: the
// library's hold functions, which cannot be compared.
func TestConformance(t *testing.T) {
	rules := 0
	found := func(r algotest.Rule, err error) {
		rules++
		switch {
		case r.Name != "Exhaustive" && err != nil,
			r.Name == "Exhaustive" && (err == nil || !strings.Contains(err.Error(), "cannot be compared")):
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	_ = algotest.Verify(id, algotest.Options{Schedules: int(algotest.Schedules() / 5), Progress: found})
	if rules != len(algotest.Kit) {
		t.Errorf("%d rules of %d", rules, len(algotest.Kit))
	}
}

// TestSchedules: it keeps its promises in random schedules, with and without pre-votes and the check of the quorum.
func TestSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return map[string]any{"pre_vote": seed%2 == 0, "check_quorum": seed%3 > 0}
	}, nil)
}

// unported are the cases of raft that have no counterpart here, and why.
var unported = map[string]string{
	"RAFTO-PRIO-50":  "the library has no priorities",
	"RAFTO-TAKEOVER": "the library has no priorities",
}

// differs are the cases in which the library elects another leader than raft does, or at another instant,
// and why.
var differs = map[string]string{
	"RAFTO-CHAIN-PV":    "without check_quorum the library has no lease of pre-votes",
	"RAFTO-CRASH-5":     "the time-out counts in ticks: it passes at 30 ms, not at 31",
	"RAFTO-CQ-STEPDOWN": "the time-out counts in ticks: it passes at 35 ms, not at 36",
	"RAFTO-QLOSS-PVCQ":  "the time-out counts in ticks: it passes at 60 ms, not at 61",
	"RAFTO-QLOSS-PLAIN": "time-outs count in ticks: they pass at 70 and 95 ms, not at 71 and 97",
}

// TestCases: the cases of raft, as the library has them. Each is there, or is said to have no counterpart;
// each has the outcome of raft, or is said to have another: the leader, and when the last process comes to
// know it.
func TestCases(t *testing.T) {
	const file = "testdata/cases.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	own, err := algotest.LoadCases(file, text)
	if err != nil {
		t.Fatal(err)
	}
	outcome := map[string]map[string][]harness.Range{}
	for i := range own {
		t.Run(own[i].ID, func(t *testing.T) {
			if unchecked, err := own[i].Run(); err != nil || unchecked != nil {
				t.Fatalf("%v; not checked: %v", err, unchecked)
			}
			outcome[own[i].ID] = leaders(&own[i])
		})
	}
	others, err := algotest.ReferenceCases("election/raft")
	if err != nil || len(others) == 0 {
		t.Fatalf("%d cases of raft: %v", len(others), err)
	}
	for i := range others {
		c := &others[i]
		if err := c.Load(); err != nil {
			t.Fatal(err)
		}
		got, ported := outcome[c.ID]
		if ported == (unported[c.ID] != "") {
			t.Errorf("%s: among the cases: %t; and has no counterpart: %q", c.ID, ported, unported[c.ID])
		} else if ported && reflect.DeepEqual(got, leaders(c)) == (differs[c.ID] != "") {
			t.Errorf("%s: %v, and raft %v; differs: %q", c.ID, got, leaders(c), differs[c.ID])
		}
	}
}

// leaders is what a case expects of who leads, and since when.
func leaders(c *algotest.Reference) map[string][]harness.Range {
	out := map[string][]harness.Range{}
	for _, e := range c.Experiment.Cells[0].Plan.Scenario.Expect {
		if e.Name == "leader" || e.Name == "leaders" || e.Name == "all_informed_at" {
			out[e.Name] = e.Want
		}
	}
	return out
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
