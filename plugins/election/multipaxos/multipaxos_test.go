package multipaxos_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/multipaxos"
)

const id = "election/multi-paxos"

type params = map[string]any

const ms = time.Millisecond

func plan(t *testing.T, n int, s harness.Scenario) harness.Plan {
	t.Helper()
	p := algotest.MustPlan(t, id, n, s, nil)
	return p
}

func run(t *testing.T, p harness.Plan) algotest.Outcome {
	t.Helper()
	p.TimeLimit = time.Minute
	o := algotest.MustSimulate(t, p)
	if o.Status != trace.OK {
		t.Errorf("n = %d: %s: %s", p.Nodes, o.Status, o.Violations)
	}
	return o
}

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestCases is PAXOS-01 at every size, and with all alive: one process prepares.
func TestCases(t *testing.T) {
	for n := int64(3); n <= 9; n++ {
		for _, crashed := range []bool{true, false} {
			p := plan(t, int(n), harness.Scenario{Plot: &harness.Script{
				Events: []harness.Event{{Do: "prepare", Node: 1}}}})
			back := n - 1
			if crashed {
				p.Leader, p.Crashed, back = algo.ID(n), []algo.ID{algo.ID(n)}, n-2
			}
			sent, delivered, leader, at := n-1+back, 2*back, algo.ID(1), 2*ms
			p.Scenario.Expect = []harness.Expect{
				harness.Exactly("sent", sent), harness.Exactly("delivered", delivered),
				harness.Exactly("leader", leader), harness.Exactly("all_informed_at", at),
				harness.Each("sent_by_kind", map[string]int64{"PREPARE": n - 1, "PROMISE": back, "NACK": 0})}
			run(t, p)
		}
	}
}

// TestTogether: everybody prepares at once. Each refuses those below it and
// promises those above; the highest wins in the first round.
func TestTogether(t *testing.T) {
	for n := int64(2); n <= 9; n++ {
		p := plan(t, int(n), harness.Scenario{Plot: &harness.ColdStart{}})
		o := run(t, p)
		pairs := n * (n - 1) / 2
		for i, want := range []int64{2 * pairs, pairs, pairs} { // PREPARE, PROMISE, NACK
			if got := o.Kinds[i].Sent; got != want {
				t.Errorf("n = %d: %d %s, want %d", n, got, o.Kinds[i].Name, want)
			}
		}
		if op := o.Operations[0]; int64(op.Process) != n {
			t.Errorf("n = %d: %d leads", n, op.Process)
		}
	}
}

// TestScenarios are those that users run.
func TestScenarios(t *testing.T) {
	for n := 1; n <= 9; n++ {
		run(t, plan(t, n, harness.Scenario{Plot: &harness.ColdStart{Initiators: 1}}))
		if n > 2 {
			run(t, plan(t, n, harness.Scenario{Plot: &harness.LeaderCrash{Settle: 50 * ms}}))
		}
	}
}

// TestMinority: two of five, cut off, do not get a leader however often they
// try; and follow that of the others afterwards.
func TestMinority(t *testing.T) {
	p := plan(t, 5, harness.Scenario{Plot: &harness.Script{Until: 2 * time.Second,
		Events: []harness.Event{
			{Do: "cut", Groups: [][]uint32{{1, 2}}},
			{Do: "prepare", Node: 1}, {Do: "prepare", Node: 3},
			{At: time.Second, Do: "heal"},
		}}})
	o := run(t, p)
	for _, r := range o.Trace {
		if r.At < time.Second && r.Process == 1 && r.Peer == 1 && r.Type.String() == "elected" {
			t.Errorf("process 1 leads at %v", r.At)
		}
	}
	if last := o.Operations[len(o.Operations)-1]; last.Process != 1 && last.Process != 3 {
		t.Errorf("%+v", last)
	}
}

// TestPatience: where T is shorter than it takes to win, two proposers outbid each
// other for ever, unless each waits a random time.
func TestPatience(t *testing.T) {
	for backoff, want := range map[time.Duration]trace.Status{0: trace.TimedOut, 50 * ms: trace.OK} {
		p := algotest.MustPlan(t, id, 5, harness.Scenario{Plot: &harness.ColdStart{Initiators: 2}},
			params{"t_prepare": ms * 3 / 2, "backoff": backoff})
		p.TimeLimit = time.Second
		if o, err := algotest.Simulate(p); err != nil || o.Status != want {
			t.Errorf("backoff %v: %s %s %v, want %s", backoff, o.Status, o.Reason, err, want)
		}
	}
}

// TestDuel: two proposers keep refusing each other's ballots only until one
// waits longer than the other.
func TestDuel(t *testing.T) {
	for seed := range uint64(100) {
		p := plan(t, 5, harness.Scenario{Plot: &harness.Script{Until: time.Second,
			Events: []harness.Event{
				{Do: "prepare", Node: 1}, {Do: "prepare", Node: 2}, {Do: "prepare", Node: 5},
			}}})
		p.Seed = seed
		p.Network = link.Network{Latency: link.Uniform(ms/10, 20*ms), Unordered: true}
		run(t, p)
	}
}

func ballot(counter uint64, id algo.ID) multipaxos.Ballot {
	return multipaxos.Ballot{Counter: counter, ID: id}
}

// TestProposer is phase 1 seen by process 2 of five.
func TestProposer(t *testing.T) {
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 2, Leader: 5}, nil)
	r.Starts("SAVE{{1 5}}")
	prepare := "SAVE{{2 2}} leader=0/11 PREPARE{{2 2}}>1 PREPARE{{2 2}}>3 PREPARE{{2 2}}>4 " +
		"PREPARE{{2 2}}>5 retry+"
	r.Elects(prepare)
	r.Elects("")
	r.Hears(3, multipaxos.Promise{Ballot: ballot(1, 2)}, "") // of another ballot
	r.Hears(1, multipaxos.Promise{Ballot: ballot(2, 2)}, "")
	r.Hears(1, multipaxos.Promise{Ballot: ballot(2, 2)}, "") // the network's second copy
	r.Hears(3, multipaxos.Promise{Ballot: ballot(2, 2)}, "retry- leader=2/11")
	r.Hears(4, multipaxos.Promise{Ballot: ballot(2, 2)}, "")
	// Somebody has promised more: no leader any more, and a higher ballot later.
	r.Hears(5, multipaxos.Nack{Ballot: ballot(2, 2), Promised: ballot(7, 4)},
		"SAVE{{7 4}} leader=0/0 retry+")
	r.Hears(4, multipaxos.Nack{Ballot: ballot(2, 2), Promised: ballot(7, 4)}, "")
	r.Hears(4, multipaxos.Promise{Ballot: ballot(2, 2)}, "") // too late
	r.Elects("")
	r.Expires("retry", "SAVE{{8 2}} leader=0/41 PREPARE{{8 2}}>1 PREPARE{{8 2}}>3 PREPARE{{8 2}}>4 "+
		"PREPARE{{8 2}}>5 retry+")
	r.Hears(4, multipaxos.Nack{Ballot: ballot(2, 2), Promised: ballot(7, 4)}, "") // later still
	r.Hears(1, multipaxos.Nack{Ballot: ballot(8, 2), Promised: ballot(8, 3)},
		"SAVE{{8 3}} leader=0/0 retry+")
	r.Hears(3, multipaxos.Prepare{Ballot: ballot(8, 3)}, "retry- leader=3/42 PROMISE{{8 3}}>3")
	r.Hears(1, multipaxos.Nack{Ballot: ballot(8, 2), Promised: ballot(8, 3)}, "")
	r.Hears(3, multipaxos.Prepare{Ballot: ballot(8, 3)}, "PROMISE{{8 3}}>3") // a second copy
	r.Hears(1, multipaxos.Prepare{Ballot: ballot(8, 1)}, "NACK{{8 1} {8 3}}>1")
}

// TestMissedPrepare: 3 was down when 5 asked for (7, 5). The refusal of its own
// ballot tells it that whoever asks for less has lost, be it before or after.
func TestMissedPrepare(t *testing.T) {
	back := algo.Config{ID: 3, Incarnation: 1, Saved: multipaxos.Stable{Promised: ballot(4, 5)}}
	nack := multipaxos.Nack{Ballot: ballot(5, 3), Promised: ballot(7, 5)}
	late := multipaxos.Prepare{Ballot: ballot(6, 2)}
	const prepares = "SAVE{{5 3}} leader=0/27 PREPARE{{5 3}}>1 PREPARE{{5 3}}>2 PREPARE{{5 3}}>4 " +
		"PREPARE{{5 3}}>5 retry+"
	r := algotest.NewTranscript(t, id, 5, back, nil)
	r.Starts(prepares)
	r.Hears(2, late, "SAVE{{6 2}} retry- leader=2/31 PROMISE{{6 2}}>2")
	r.Hears(1, nack, "SAVE{{7 5}} leader=0/0 retry+")
	r.Expires("retry", "SAVE{{8 3}} leader=0/42 PREPARE{{8 3}}>1 PREPARE{{8 3}}>2 PREPARE{{8 3}}>4 "+
		"PREPARE{{8 3}}>5 retry+")
	r = algotest.NewTranscript(t, id, 5, back, nil)
	r.Starts(prepares)
	r.Hears(1, nack, "SAVE{{7 5}} leader=0/0 retry+")
	r.Hears(2, late, "NACK{{6 2} {7 5}}>2")
}

// TestLeaderGivesWay: a leader heeds a higher ballot as everybody does, and a
// leader that is asked to elect prepares anew.
func TestLeaderGivesWay(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, nil)
	r.Starts("SAVE{{1 3}}")
	r.Hears(1, multipaxos.Prepare{Ballot: ballot(1, 1)}, "NACK{{1 1} {1 3}}>1")
	r.Hears(1, multipaxos.Prepare{Ballot: ballot(2, 1)},
		"SAVE{{2 1}} retry- leader=1/6 PROMISE{{2 1}}>1")
	r.Elects("SAVE{{3 3}} leader=0/11 PREPARE{{3 3}}>1 PREPARE{{3 3}}>2 retry+")
	r.Hears(1, multipaxos.Promise{Ballot: ballot(3, 3)}, "retry- leader=3/11")
	r.Elects("SAVE{{4 3}} leader=0/14 PREPARE{{4 3}}>1 PREPARE{{4 3}}>2 retry+")
}

// TestKeepsPromise: what was promised before a crash binds after it, and the
// ballots used before it are not used again.
func TestKeepsPromise(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{
		ID: 2, Incarnation: 1, Saved: multipaxos.Stable{Promised: ballot(6, 2)},
	}, nil)
	r.Hears(3, multipaxos.Prepare{Ballot: ballot(5, 3)}, "NACK{{5 3} {6 2}}>3")
	r.Hears(1, multipaxos.Promise{Ballot: ballot(6, 2)}, "")
	r.Starts("SAVE{{7 2}} leader=0/22 PREPARE{{7 2}}>1 PREPARE{{7 2}}>3 retry+")
	// A refused ballot tells how high to go next.
	r.Hears(3, multipaxos.Prepare{Ballot: ballot(9, 3)},
		"SAVE{{9 3}} retry- leader=3/29 PROMISE{{9 3}}>3")
	r.Elects("SAVE{{10 2}} leader=0/31 PREPARE{{10 2}}>1 PREPARE{{10 2}}>3 retry+")
}
