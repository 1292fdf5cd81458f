package bullyquality_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/bullyquality"
)

const (
	id = "election/bully-quality"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// params are the time-outs of the unit-delay model and the scores by ID.
func params(contact string, hysteresis int, scores ...int) map[string]any {
	list := make([]any, len(scores))
	for i, s := range scores {
		list[i] = int64(s)
	}
	return map[string]any{
		"t_answer": 2 * ms, "t_coordinator": 4 * ms, "contact": contact,
		"hysteresis": int64(hysteresis), "score": list,
	}
}

func kinds(election, answer, coordinator int) map[string]int64 {
	return map[string]int64{
		"ELECTION": int64(election), "ANSWER": int64(answer), "COORDINATOR": int64(coordinator),
	}
}

// ranked are the scores by which order[i] is of rank i, and the highest last.
func ranked(order []int) []int {
	scores := make([]int, len(order))
	for i, p := range order {
		scores[p] = i + 10
	}
	return scores
}

// TestLowestDetects: (N-1)² + (N-1)(N-2)/2 + (N-1) messages when the lowest rank
// detects and the highest has crashed, whatever their IDs.
func TestLowestDetects(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 3; n <= 8; n++ {
		for range 10 {
			order := rng.Perm(n)
			top, low := algo.ID(order[n-1]+1), algo.ID(order[0]+1)
			o := algotest.Ballot{
				Nodes: n, Leader: top, Crashed: []algo.ID{top}, Suspects: []algo.ID{low},
				Params:    params("all", rng.IntN(3), ranked(order)...),
				Kinds:     kinds((n-1)*(n-1), (n-1)*(n-2)/2, n-1),
				Delivered: int64((n-1)*(n-2) + (n-1)*(n-2)/2 + n - 2),
				Winner:    algo.ID(order[n-2] + 1), Informed: 4 * ms,
			}.Run(t, id)
			if want := int64((n-1)*(n-1) + (n-1)*(n-2)/2 + n - 1); o.Totals.Sent != want {
				t.Errorf("N = %d, order %v: sent %d, want %d", n, order, o.Totals.Sent, want)
			}
		}
	}
}

// TestTable: with an exact table of the scores, the counts of plain bully by rank.
func TestTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for n := 3; n <= 8; n++ {
		for r := 1; r < n; r++ {
			order := rng.Perm(n)
			top, informed, up := algo.ID(order[n-1]+1), 4*ms, n-r
			if r == n-1 {
				informed = 3 * ms
			}
			algotest.Ballot{
				Nodes: n, Leader: top, Crashed: []algo.ID{top},
				Suspects:  []algo.ID{algo.ID(order[r-1] + 1)},
				Params:    params("higher", 1, ranked(order)...),
				Kinds:     bullyKinds(up*(up+1)/2, up*(up-1)/2, n-2),
				Delivered: int64(up*up + n - 2 - up), Winner: algo.ID(order[n-2] + 1),
				Informed: informed,
			}.Run(t, id)
		}
	}
}

func bullyKinds(election, answer, coordinator int) map[string]int64 {
	k := kinds(election, answer, coordinator)
	if answer == 0 {
		delete(k, "ANSWER")
	}
	return k
}

// TestTies: of 7, 9, 9 and 12, the 12 crashed, the larger ID among the nines wins.
// So it does among 7, 14, 10 and 21 in buckets of 10.
func TestTies(t *testing.T) {
	t.Parallel()
	b := algotest.Ballot{
		Nodes: 4, Leader: 4, Crashed: []algo.ID{4}, Suspects: []algo.ID{1},
		Params: params("all", 1, 7, 9, 9, 12),
		Kinds:  kinds(9, 3, 3), Delivered: 11, Winner: 3, Informed: 4 * ms,
	}
	b.Run(t, id)
	b.Params = params("all", 1, 7, 14, 10, 21)
	b.Params["bucket"] = int64(10)
	b.Run(t, id)
	b.Params = params("all", 1, -11, -9, -10, 2) // buckets -2, -1, -1 and 0
	b.Params["bucket"] = int64(10)
	b.Run(t, id)
}

// TestHysteresis: a process of higher rank that comes back displaces the leader
// only if it exceeds it by the hysteresis.
func TestHysteresis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hysteresis, score5 int
		winner             algo.ID
	}{{0, 3, 5}, {1, 3, 4}, {1, 4, 5}, {2, 4, 4}, {2, 5, 5}} {
		b := algotest.Ballot{ // 4 is elected when 5 crashes, and 5 returns
			Nodes: 5, Detector: 10 * ms, Params: params("all", c.hysteresis, 3, 3, 3, 3, c.score5),
			Events: []harness.Event{
				{Do: harness.DoCrash, Node: 5}, {At: 40 * ms, Do: harness.DoRestart, Node: 5},
			},
		}
		o, err := algotest.Simulate(b.Plan(t, id))
		if n := len(o.Operations); err != nil || o.Status != trace.OK ||
			algo.ID(o.Operations[n-1].Process) != c.winner {
			t.Errorf("%+v: %s: %s: %v, %v", c, o.Status, o.Reason, o.Operations, err)
		}
	}
}

var elect = algo.Event{Type: algo.Elect}

func do(op string) algo.Event { return algo.Event{Type: algo.Do, Op: op} }

func asks(from algo.ID, score int64) algo.Event {
	return algotest.Hear(from, bullyquality.Election{Score: score})
}

func answer(incarnation, count uint32) algo.Event {
	return algotest.Hear(5, bullyquality.Answer{
		Attempt: bullyquality.Attempt{Incarnation: incarnation, Count: count}})
}

func announces(from algo.ID, score int64) algo.Event {
	return algotest.Hear(from, bullyquality.Coordinator{Score: score})
}

// TestFrozen: a score that changes during an attempt counts in the next one.
func TestFrozen(t *testing.T) {
	t.Parallel()
	p := params("all", 1, 3, 3, 3)
	p["bucket"] = int64(2)
	s := algotest.NewSolo(t, id, 3, 2, 3, 0, p)
	all := "ELECTION>1 ELECTION>3 leader=0 T=2ms"
	score := func(want int64) {
		t.Helper()
		var got int64
		switch m := s.Sent[len(s.Sent)-1].(type) {
		case bullyquality.Election:
			got = m.Score
		case bullyquality.Coordinator:
			got = m.Score
		}
		if got != want {
			t.Errorf("%v: score %d, want %d", s.Sent, got, want)
		}
	}
	s.Want(0, do("improve"), "")
	s.Want(0, elect, all)
	score(2)
	s.Want(0, do("improve"), "")
	s.Want(ms, asks(3, 2), "-T T'=4ms") // it is higher: this attempt is not won
	s.Want(ms, asks(1, 2), "ANSWER>1")
	s.Want(5*ms, algotest.Expire("T'"), all)
	score(3)
	s.Want(7*ms, algotest.Expire("T"), "-T -T' leader=2 COORDINATOR>1 COORDINATOR>3")
	score(4) // defended by one more
	s.Want(7*ms, asks(3, 4), "")
	s.Want(7*ms, asks(1, 4), "ANSWER>1 "+all)
	score(4)
	s.Want(7*ms, algotest.Expire("T"), "-T -T' leader=2 COORDINATOR>1 COORDINATOR>3")
	score(4) // and not by two
	s.Want(7*ms, do("degrade"), "")
	s.Want(7*ms, asks(1, 3), "ANSWER>1 "+all)
	score(3)
	s.Want(9*ms, announces(3, 4), "-T -T' leader=3")
	s.Want(9*ms, elect, all)
	score(2)
}

// TestTableIsFixed: scores do not change, and nobody is defended.
func TestTableIsFixed(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 3, 2, 3, 0, params("higher", 1, 3, 3, 2))
	s.Want(0, do("degrade"), "")
	s.Want(0, elect, "-T -T' leader=2 COORDINATOR>1 COORDINATOR>3")
	if got := s.Sent[0].(bullyquality.Coordinator).Score; got != 3 {
		t.Errorf("announces score %d, want 3", got)
	}
}

// TestElection: rule 2 in all its situations.
func TestElection(t *testing.T) {
	t.Parallel()
	all := "ELECTION>1 ELECTION>2 ELECTION>4 ELECTION>5 leader=0 T=2ms"
	s := algotest.NewSolo(t, id, 5, 3, 5, 0, params("all", 1, 5, 5, 5, 5, 5))
	s.Want(0, asks(4, 5), "") // higher, and this one is idle
	s.Want(0, asks(2, 6), "") // higher by score
	s.Want(0, asks(4, 4), "ANSWER>4 "+all)
	s.Want(0, asks(2, 5), "ANSWER>2") // one at a time
	s.Want(0, asks(4, 5), "-T T'=4ms")
	s.Want(ms, asks(4, 5), "")
	s.Want(ms, answer(0, 1), "")
	s.Want(ms, asks(2, 5), "ANSWER>2")
	s.Want(ms, elect, "")
}

// TestAnswer: one to an earlier attempt, or of an earlier life, does not count.
func TestAnswer(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 3, 2, 3, 1, params("all", 1, 5, 5, 5))
	all := "ELECTION>1 ELECTION>3 leader=0 T=2ms"
	s.Want(0, algo.Event{Type: algo.Start}, all)
	s.Want(ms, answer(0, 1), "")
	s.Want(2*ms, algotest.Expire("T"), "-T -T' leader=2 COORDINATOR>1 COORDINATOR>3")
	s.Want(2*ms, answer(1, 1), "")
	s.Want(2*ms, elect, all)
	s.Want(2*ms, answer(1, 1), "")
	s.Want(2*ms, answer(1, 2), "-T T'=4ms")
	s.Want(3*ms, answer(1, 2), "")
}

// TestCoordinator: rule 6, and announcements that race each other.
func TestCoordinator(t *testing.T) {
	t.Parallel()
	all := "ELECTION>1 ELECTION>2 ELECTION>4 leader=0 T=2ms"
	s := algotest.NewSolo(t, id, 4, 3, 4, 0, params("all", 1, 5, 5, -5, 5))
	s.Want(0, announces(1, -5), all) // of lower rank
	s.Want(0, announces(2, -6), "")
	s.Want(ms, announces(2, -4), "-T -T' leader=2") // nobody higher announced itself lately
	s.Want(ms, announces(4, 5), "-T -T' leader=4")
	s.Want(2*ms, announces(2, 5), all)
	s.Want(2*ms, announces(1, 5), "")
	s.Want(3*ms, announces(1, 5), "-T -T' leader=1")
}

// random is the schedule of that seed with random scores, which change, and the
// other parameters at random.
func random(t *testing.T, seed uint64) harness.Plan {
	t.Helper()
	p, err := algotest.Schedule(id, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	list := make([]any, p.Nodes)
	for i := range list {
		list[i] = int64(rng.IntN(10) - 2)
	}
	p.Params["score"], p.Params["bucket"] = list, int64(1+rng.IntN(3))
	p.Params["hysteresis"] = int64(rng.IntN(3))
	p.Params["contact"] = []string{"all", "all", "higher"}[rng.IntN(3)]
	for range rng.IntN(10) {
		p.Scenario.Add(harness.Event{
			At: time.Duration(rng.IntN(300)) * ms, Do: []string{"improve", "degrade"}[rng.IntN(2)],
			Node: algo.ID(1 + rng.IntN(p.Nodes)),
		})
	}
	return p
}

// TestRandomScores: whatever the scores and however they change, all live
// processes agree in the end.
func TestRandomScores(t *testing.T) {
	t.Parallel()
	for seed := range algotest.Schedules() {
		o, err := algotest.Simulate(random(t, seed))
		if err != nil || o.Status != trace.OK && o.Status != trace.Unknown {
			t.Fatalf("seed %d: %s: %s, %v", seed, o.Status, o.Reason, err)
		}
	}
}

// TestTooShortT: a T below the round trip makes several coordinators.
func TestTooShortT(t *testing.T) {
	t.Parallel()
	hasty := params("higher", 1, 0, 0, 0, 0, 0)
	hasty["t_answer"] = 12 * ms / 10
	algotest.RunHasty(t, id, hasty)
}

// TestDiesAnnouncing: the winner dies when only some have been told.
func TestDiesAnnouncing(t *testing.T) {
	t.Parallel()
	algotest.RunDyingWinners(t, id, 12*ms, params("all", 1, 1, 1, 1, 1, 1))
}

// TestTiming: what the time-outs must keep to.
func TestTiming(t *testing.T) {
	t.Parallel()
	algotest.RunTimeOuts(t, id, "t_answer", "t_coordinator", true)
}
