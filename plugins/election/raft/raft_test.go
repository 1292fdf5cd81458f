package raft_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/raft"
)

const id = "election/raft"

type params = map[string]any

const ms = time.Millisecond

func script(t *testing.T, n int, given params, until time.Duration,
	events ...harness.Event) harness.Plan {
	t.Helper()
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{
		Until: until, Events: events,
	}}, given)
	return p
}

func run(t *testing.T, p harness.Plan) algotest.Outcome {
	t.Helper()
	return algotest.MustSimulate(t, p)
}

// TestConformance is the kit with fewer schedules: TestSchedules has a thousand of
// its own.
func TestConformance(t *testing.T) {
	t.Parallel()
	if err := algotest.Verify(id, algotest.Options{Schedules: int(algotest.Schedules() / 5)}); err != nil {
		t.Error(err)
	}
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestCases is one election, the timer of process 1 expiring at 10 ms, with a
// single round of heartbeats. The named rows are the conformance cases.
func TestCases(t *testing.T) {
	for n := int64(3); n <= 9; n++ {
		for _, c := range []struct {
			name             string
			crashed, preVote bool
			sent, lost       int64
			at               time.Duration
		}{
			{"4N-6 (RAFT-01, 07)", true, false, 4*n - 6, 2, 13 * ms},
			{"4(N-1) (RAFT-03, 06, 09)", false, false, 4 * (n - 1), 0, 13 * ms},
			{"6N-9 (RAFT-08)", true, true, 6*n - 9, 3, 15 * ms},
			{"6(N-1)", false, true, 6 * (n - 1), 0, 15 * ms},
		} {
			t.Run(fmt.Sprintf("%s N=%d", c.name, n), func(t *testing.T) {
				given := params{"pre_vote": c.preVote, "heartbeat_rounds": int64(1)}
				p := script(t, int(n), given, 19*ms,
					harness.Event{At: 10 * ms, Do: "election_timeout", Node: 1})
				if c.crashed {
					p.Leader, p.Crashed = algo.ID(n), []algo.ID{algo.ID(n)}
				}
				all, back := n-1, n-1
				if c.crashed {
					back--
				}
				kinds := map[string]int64{"REQUEST_VOTE": all, "VOTE_REPLY": back,
					"APPEND_ENTRIES": all, "APPEND_REPLY": back, "PRE_VOTE": 0, "PRE_VOTE_REPLY": 0}
				if c.preVote {
					kinds["PRE_VOTE"], kinds["PRE_VOTE_REPLY"] = all, back
				}
				leader, delivered := algo.ID(1), c.sent-c.lost
				p.Scenario.Expect = []harness.Expect{
					harness.Exactly("sent", c.sent), harness.Exactly("delivered", delivered),
					harness.Each("sent_by_kind", kinds), harness.Exactly("leader", leader),
					harness.Exactly("all_informed_at", c.at)}
				if o := run(t, p); o.Status != trace.OK {
					t.Errorf("%s: %v", o.Status, o.Violations)
				}
			})
		}
	}
}

// TestSilence: heartbeat_rounds is how often a leader is heard.
func TestSilence(t *testing.T) {
	p := script(t, 3, params{"heartbeat_rounds": int64(3)}, 100*ms,
		harness.Event{Do: "election_timeout", Node: 1})
	if o := run(t, p); o.Kinds[4].Sent != 3*2 {
		t.Errorf("%d heartbeats, want 6", o.Kinds[4].Sent)
	}
}

// TestClaim is 4N-6 as results report it: messages until agreement.
func TestClaim(t *testing.T) {
	for n := 3; n <= 9; n++ {
		p := script(t, n, nil, 0, harness.Event{At: 10 * ms, Do: "election_timeout", Node: 1})
		p.Leader, p.Crashed = algo.ID(n), []algo.ID{algo.ID(n)}
		o := run(t, p)
		i := slices.IndexFunc(o.Metrics, func(m metric.Value) bool {
			return m.Name == metric.MessagesPerElection.Name
		})
		if got, want := o.Metrics[i].Value, float64(4*n-6); got != want {
			t.Errorf("n = %d: %v messages, want %v", n, got, want)
		}
	}
}

// TestScenarios are those that users run: they end with a leader, also where
// every initiator starts at the same instant and the first vote is split.
func TestScenarios(t *testing.T) {
	for kind, plot := range map[string]harness.Plot{
		"cold-start": &harness.ColdStart{}, "leader-crash": &harness.LeaderCrash{Settle: 50 * ms},
	} {
		for n := 1; n <= 9; n++ {
			if n <= 2 && kind == "leader-crash" {
				continue // no majority is left
			}
			for _, preVote := range []bool{false, true} {
				p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: plot},
					params{"pre_vote": preVote})
				p.TimeLimit = 10 * time.Second
				if o := run(t, p); o.Status != trace.OK || o.Completed != 1 {
					t.Errorf("%s, n = %d, pre-vote %t: %s %s", kind, n, preVote, o.Status, o.Reason)
				}
			}
		}
	}
}

// TestStays: a leader that is heard is not replaced, whatever a detector says.
func TestStays(t *testing.T) {
	p := script(t, 5, nil, 2*time.Second,
		harness.Event{At: 300 * ms, Do: "suspect", Node: 2},
		harness.Event{At: 300 * ms, Do: "elect", Node: 5},
		harness.Event{At: 300 * ms, Do: "election_timeout", Node: 5})
	p.Leader = 5
	o := run(t, p)
	for _, r := range o.Trace {
		if r.Type == trace.Elected {
			t.Fatalf("p%d names %d at %v", r.Process, r.Peer, r.At)
		}
	}
	if got := o.Kinds[4].Sent; o.Kinds[4].Name != "APPEND_ENTRIES" || got != 4*87 {
		t.Errorf("%d heartbeats, want one to each of four every 23 ms from 0 to 2 s", got)
	}
}

// terms are the terms in which leaderships were reported, by leader.
func terms(o algotest.Outcome) map[algo.ID][]uint64 {
	out := map[algo.ID][]uint64{}
	for _, r := range o.Trace {
		if r.Type == trace.Elected && r.Process == r.Peer {
			out[algo.ID(r.Peer)] = append(out[algo.ID(r.Peer)], r.Arg)
		}
	}
	return out
}

// TestPreVoteKeepsLeader: with pre-vote a process that was cut off comes back
// without a new term; without, it unseats the leader.
func TestPreVoteKeepsLeader(t *testing.T) {
	for _, preVote := range []bool{false, true} {
		p := script(t, 3, params{"pre_vote": preVote}, 4*time.Second,
			harness.Event{At: 0, Do: "election_timeout", Node: 1},
			harness.Event{At: 100 * ms, Do: "cut", Groups: [][]uint32{{3}}},
			harness.Event{At: 1500 * ms, Do: "heal"})
		o := run(t, p)
		if o.Status != trace.OK {
			t.Fatal(o.Status, o.Reason)
		}
		kept := maps.Equal(map[algo.ID]int{1: 1}, lengths(terms(o)))
		if kept != preVote {
			t.Errorf("pre-vote %t: leaderships %v", preVote, terms(o))
		}
	}
}

// TestPreVoteKeepsSettledLeader: 1 does not hear the settled leader, and asks before the
// others have heard the first heartbeat.
func TestPreVoteKeepsSettledLeader(t *testing.T) {
	p := script(t, 5, params{"pre_vote": true}, 60*ms,
		harness.Event{Do: "cut", Links: [][2]uint32{{1, 5}, {5, 1}}},
		harness.Event{Do: "election_timeout", Node: 1})
	p.Leader = 5
	if got := terms(run(t, p)); len(got) > 0 {
		t.Errorf("leaderships %v, want that of 5 to go on", got)
	}
}

func lengths(m map[algo.ID][]uint64) map[algo.ID]int {
	out := map[algo.ID]int{}
	for k, v := range m {
		out[k] = len(v)
	}
	return out
}

// TestNoDoubleVote: 2 votes for 1, crashes, and is asked by 3 in the same term.
// What it saved tells it to refuse.
func TestNoDoubleVote(t *testing.T) {
	// Before it votes, after that, and when the vote is there.
	for _, crash := range []time.Duration{1 * ms, 1*ms + 1, 2 * ms} {
		p := script(t, 3, nil, 30*ms,
			harness.Event{Do: "cut", Groups: [][]uint32{{1}, {3}, {2}}},
			harness.Event{Do: "heal", Groups: [][]uint32{{1, 3}, {2}}},
			harness.Event{Do: "election_timeout", Node: 1},
			harness.Event{At: crash, Do: "crash", Node: 2},
			harness.Event{At: crash + 1, Do: "restart", Node: 2},
			harness.Event{At: 3 * ms, Do: "election_timeout", Node: 3})
		o := run(t, p)
		if o.Status == trace.Violated || len(terms(o)) != 1 {
			t.Errorf("crash at %v: %s, leaderships %v", crash, o.Reason, terms(o))
		}
	}
}

// TestPartialPartition: 1 and 2 do not reach each other, both reach 3. Somebody
// gets a majority.
func TestPartialPartition(t *testing.T) {
	for _, preVote := range []bool{false, true} {
		for seed := range uint64(20) {
			p := script(t, 3, params{"pre_vote": preVote}, 2*time.Second,
				harness.Event{Do: "cut", Groups: [][]uint32{{1}, {2}}},
				harness.Event{Do: "heal", Groups: [][]uint32{{3}}})
			p.Seed = seed + 1
			o := run(t, p)
			if len(terms(o)) == 0 || o.Status == trace.Violated {
				t.Errorf("seed %d: %s, leaderships %v", p.Seed, o.Reason, terms(o))
			}
		}
	}
}

// TestSchedules: whatever happens, one leader in each term; and when it is over,
// one leader that all name, with each choice of options: the kit's schedules have none.
func TestSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		which := 1 + seed%7
		return params{"pre_vote": which&1 != 0, "check_quorum": which&2 != 0,
			"sticky": []string{"off", "drop", "refuse"}[(which>>2)*(1+seed%2)]}
	}, nil)
}
