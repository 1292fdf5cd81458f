package bullynextinline_test

import (
	"maps"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/bullynextinline"
)

const (
	id = "election/bully-next-in-line"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// list are the time-outs of the unit-delay model and the length of the list.
func list(length int) map[string]any {
	return map[string]any{
		"t_answer": 2 * ms, "t_elected": 4 * ms, "list_length": int64(length),
	}
}

func kinds(election, alive, elected int) map[string]int64 {
	k := map[string]int64{
		"ELECTION": int64(election), "ALIVE": int64(alive), "ELECTED": int64(elected),
	}
	maps.DeleteFunc(k, func(_ string, n int64) bool { return n == 0 })
	return k
}

// top are the k highest of n.
func top(n, k int) (out []algo.ID) {
	for p := n; p > n-k; p-- {
		out = append(out, algo.ID(p))
	}
	return out
}

// TestOutsiderDetects: p + 1 + (N-2) messages when the first live alternative
// stands at position p: N if the first is alive. N = 6, p = 1 is figure 10-2 of
// the lecture notes, N = 6, p = 2 its variant.
func TestOutsiderDetects(t *testing.T) {
	t.Parallel()
	for n := 6; n <= 9; n++ {
		for p := 1; p <= 3; p++ {
			for r := 1; r < n-3; r++ {
				o := algotest.Ballot{
					Nodes: n, Crashed: top(n, p), Suspects: []algo.ID{algo.ID(r)}, Params: list(3),
					Kinds: kinds(p, 1, n-2), Delivered: int64(p + 1 + n - 2 - 2*(p-1)),
					Winner: algo.ID(n - p), Informed: time.Duration(2*(p-1)+2) * ms,
				}.Run(t, id)
				if want := int64(p + 1 + n - 2); o.Totals.Sent != want {
					t.Errorf("N = %d, p = %d, r = %d: sent %d, want %d", n, p, r, o.Totals.Sent, want)
				}
			}
		}
	}
}

// TestAlternativeDetects: (p-1) + (N-2) messages when the one at position p does
// and all before it are dead: N - 2 if it is the first.
func TestAlternativeDetects(t *testing.T) {
	t.Parallel()
	for n := 6; n <= 9; n++ {
		for p := 1; p <= 3; p++ {
			o := algotest.Ballot{
				Nodes: n, Crashed: top(n, p), Suspects: []algo.ID{algo.ID(n - p)}, Params: list(3),
				Kinds: kinds(p-1, 0, n-2), Delivered: int64(n - 2 - (p - 1)),
				Winner: algo.ID(n - p), Informed: time.Duration(2*(p-1)+1) * ms,
			}.Run(t, id)
			if want := int64(p - 1 + n - 2); o.Totals.Sent != want {
				t.Errorf("N = %d, p = %d: sent %d, want %d", n, p, o.Totals.Sent, want)
			}
		}
	}
}

// TestAllDetect at once: the first alternative takes over, and is asked by all
// others while its announcement is on its way.
func TestAllDetect(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 9; n++ {
		algotest.Ballot{
			Nodes: n, Crashed: top(n, 1), Suspects: algotest.Others(n, algo.ID(n)), Params: list(2),
			Kinds: kinds(n-2, n-2, n-2), Delivered: int64(3 * (n - 2)), Winner: algo.ID(n - 1),
			Informed: ms,
		}.Run(t, id)
	}
}

// TestExhausted: all alternatives are dead, and a full election is held. 0 ask 3;
// 2 ask 2, 3 and 4; 3 process 2 answers and asks 3 and 4; 5 it takes over.
func TestExhausted(t *testing.T) {
	t.Parallel()
	algotest.Ballot{
		Nodes: 4, Crashed: top(4, 2), Suspects: []algo.ID{1}, Params: list(1),
		Kinds: kinds(1+3+2, 1, 3), Delivered: 3, Winner: 2, Informed: 6 * ms,
	}.Run(t, id)
	// The detector itself is the highest that is alive: nobody but Old is left out.
	algotest.Ballot{
		Nodes: 4, Crashed: top(4, 2), Suspects: []algo.ID{2}, Params: list(1),
		Kinds: kinds(1+2, 0, 2), Delivered: 1, Winner: 2, Informed: 5 * ms,
	}.Run(t, id)
	// No list at all: plain bully, but that the successor tells higher ones, too.
	algotest.Ballot{
		Nodes: 5, Crashed: top(5, 1), Suspects: []algo.ID{1}, Params: list(0),
		Kinds: kinds(10, 6, 4), Delivered: 6 + 6 + 3, Winner: 4, Informed: 4 * ms,
	}.Run(t, id)
}

// TestReturns: the top announces itself at once to all others. When the lowest
// returns, N² - 1 messages, as plain bully with unicast replies.
func TestReturns(t *testing.T) {
	t.Parallel()
	algotest.Ballot{
		Nodes: 5, Leader: 4, Crashed: top(5, 1), Params: list(2),
		Events: []harness.Event{{Do: harness.DoRestart, Node: 5}},
		Kinds:  kinds(0, 0, 4), Delivered: 4, Winner: 5, Informed: ms,
	}.Run(t, id)
	algotest.Ballot{
		Nodes: 5, Crashed: []algo.ID{1}, Params: list(2),
		Events: []harness.Event{{Do: harness.DoRestart, Node: 1}},
		Kinds:  kinds(10, 10, 4), Delivered: 24, Winner: 5, Informed: 3 * ms,
	}.Run(t, id)
}

// TestAnswererDies: rule 5. 0 ask 3; 1 it takes over, and its announcement is
// cut off; it dies; 6 process 1 starts again and goes on to 2.
func TestAnswererDies(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 4, 1, 4, 0, list(2))
	s.Want(0, suspect(4), "leader=0 ELECTION>3 T=2ms")
	s.Want(2*ms, alive(1, 1), "-T T\"=4ms")
	s.Want(6*ms, algotest.Expire("T\""), "leader=0 ELECTION>3 T=2ms")
	s.Want(8*ms, algotest.Expire("T"), "ELECTION>2 T=2ms")
	s.Want(9*ms, alive(2, 1), "") // the alternative at position 1 is too late
	s.Want(9*ms, alive(1, 2), "") // and so is the attempt before
	s.Want(10*ms, alive(2, 2), "-T T\"=4ms")
	s.Want(14*ms, algotest.Expire("T\""), "leader=0 ELECTION>3 T=2ms")
	s.Want(15*ms, elected(3, 1, 3, 2, 1), "-T -T\" saves leader=3") // it did announce itself
	s.Want(15*ms, elected(3, 1, 3, 2, 1), "")                       // and somebody tells it once more
}

func suspect(p algo.ID) algo.Event { return algo.Event{Type: algo.Suspect, Peer: p} }
func restore(p algo.ID) algo.Event { return algo.Event{Type: algo.Restore, Peer: p} }

// alive answers the given attempt at position k of the list.
func alive(attempt, k uint32) algo.Event {
	return algotest.Hear(algo.None, bullynextinline.Alive{
		Attempt: bullynextinline.Attempt{Count: attempt}, K: k})
}

// elected is the announcement that leader leads in epoch number, from some
// process, with the alternatives.
func elected(from algo.ID, number uint64, leader algo.ID, list ...algo.ID) algo.Event {
	return algotest.Hear(from, bullynextinline.Elected{
		Epoch: bullynextinline.Epoch{Number: number, Leader: leader}, List: list})
}

// asks is the ELECTION of process from, which follows old in epoch number.
func asks(from algo.ID, k uint32, number uint64, old algo.ID) algo.Event {
	return algotest.Hear(from, bullynextinline.Election{
		K: k, Old: old, Epoch: bullynextinline.Epoch{Number: number, Leader: old}})
}

// TestStaleList: that of an older epoch is not taken over, whoever sends it; the
// list that came with the newest is the one that counts.
func TestStaleList(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 6, 1, 6, 0, list(2))
	s.Want(0, elected(5, 3, 5, 2, 3), "-T -T\" saves leader=5")
	s.Want(0, elected(4, 2, 4, 6, 5), "")
	s.Want(0, elected(4, 3, 4, 6, 5), "") // of equal numbers the higher leader counts
	s.Want(0, suspect(5), "leader=0 ELECTION>2 T=2ms")
	s.Want(2*ms, algotest.Expire("T"), "ELECTION>3 T=2ms")
}

// TestNewList: the new leader's list is of the highest, but itself and Old.
func TestNewList(t *testing.T) {
	t.Parallel()
	o, err := algotest.Simulate(algotest.Ballot{
		Nodes: 6, Detector: 10 * ms, Params: list(2),
		Events: []harness.Event{
			{Do: harness.DoCrash, Node: 6}, {At: 30 * ms, Do: harness.DoCrash, Node: 5},
		},
	}.Plan(t, id))
	// Twice the first alternative takes over at once, and all the others ask it.
	if err != nil || o.Status != trace.OK || o.Totals.Sent != 3*4+3*3+1 || o.Completed != 2 {
		t.Errorf("%s: %s: %d sent in %d elections, %v", o.Status, o.Reason, o.Totals.Sent, o.Completed, err)
	}
}

// TestElection: rule 3 in all its situations.
func TestElection(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 4, 5, 0, list(2))
	taken := "ALIVE>1 -T -T\" saves leader=4 ELECTED>1 ELECTED>2 ELECTED>3"
	s.Want(0, asks(1, 1, 0, 5), taken)
	s.Want(0, asks(2, 1, 0, 5), "ALIVE>2")           // its ELECTED is on its way
	s.Want(0, asks(3, 1, 1, 4), "ALIVE>3 ELECTED>3") // it knew, and does no longer
	s.Want(0, asks(3, 1, 7, 2), "ALIVE>3 -T -T\" saves leader=4 ELECTED>1 ELECTED>2 ELECTED>3 ELECTED>5")
	s.Want(0, elected(5, 9, 5, 4, 3), "-T -T\" saves leader=5")
	s.Want(0, asks(1, 1, 8, 4), "ALIVE>1 ELECTED>1") // it has not heard of 5
	s.Want(0, asks(1, 1, 8, 5), "ALIVE>1 ELECTED>1") // nor here, that 5 is back
	s.Want(0, asks(1, 0, 9, 5), "ALIVE>1 leader=0 ELECTION>5 T=2ms")
	s.Want(0, asks(2, 0, 9, 5), "ALIVE>2") // one election at a time
	s.Want(0, asks(1, 1, 9, 5), taken)     // asked for by name it leads at once
}

// TestSuspicion of others than the leader, or during an election, changes nothing.
func TestSuspicion(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 1, 5, 0, list(2))
	s.Want(0, suspect(3), "")
	s.Want(0, suspect(5), "leader=0 ELECTION>4 T=2ms")
	s.Want(0, suspect(5), "")
	s.Want(0, algo.Event{Type: algo.Elect}, "")
}

// TestRestore: a suspicion that was wrong must not leave the replaced leader
// alone with its belief.
func TestRestore(t *testing.T) {
	t.Parallel()
	t.Run("who is back is told", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, list(2))
		s.Want(0, suspect(3), "")
		s.Want(0, restore(3), "ELECTED>3")
		s.Want(0, restore(5), "") // the leader knows
	})
	t.Run("after the election", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, list(2))
		s.Want(0, suspect(5), "leader=0 ELECTION>4 T=2ms")
		s.Want(0, restore(5), "")
		s.Want(0, elected(4, 1, 4), "-T -T\" saves leader=4 ELECTED>5")
	})
	t.Run("a leader that others replace yet", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, list(2))
		s.Want(0, suspect(5), "leader=0 ELECTION>4 T=2ms")
		s.Want(0, restore(5), "")
		s.Want(0, elected(5, 1, 5), "-T -T\" saves leader=5")
		s.Want(0, elected(4, 2, 4), "-T -T\" saves leader=4 ELECTED>5")
		s.Want(0, elected(5, 3, 5), "-T -T\" saves leader=5")
		s.Want(0, elected(4, 4, 4), "-T -T\" saves leader=4")
	})
	t.Run("not if it died after all", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, list(2))
		s.Want(0, restore(5), "")
		s.Want(0, suspect(5), "leader=0 ELECTION>4 T=2ms")
		s.Want(0, elected(4, 1, 4), "-T -T\" saves leader=4")
	})
	t.Run("by its successor", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 4, 5, 0, list(2))
		s.Want(0, restore(5), "")
		s.Want(0, asks(1, 1, 0, 5), "ALIVE>1 -T -T\" saves leader=4 ELECTED>1 ELECTED>2 ELECTED>3 ELECTED>5")
	})
}

// TestElect: nobody is suspected, so nobody is replaced; the leader answers.
func TestElect(t *testing.T) {
	t.Parallel()
	algotest.Ballot{
		Nodes: 5, Params: list(2), Events: []harness.Event{{Do: harness.DoElect, Node: 1}},
		Kinds: kinds(10, 10, 4), Delivered: 24, Winner: 5, Informed: 3 * ms,
	}.Run(t, id)
}

// TestDoubt: a suspected process that announces itself is back, or died again.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for _, died := range []bool{false, true} {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, list(2))
		s.Want(0, suspect(5), "leader=0 ELECTION>4 T=2ms")
		s.Want(0, elected(5, 1, 5, 3), "-T -T\" saves leader=5 doubt=4ms")
		want := "leader=0 ELECTION>3 T=2ms"
		if !died {
			s.Want(0, restore(5), "")
			want = ""
		}
		s.Want(4*ms, algotest.Expire("doubt"), want)
	}
}

// TestLower: a lower process that announces a newer epoch is bullied, after all
// higher ones were asked; one that announces an older one learns the newer.
func TestLower(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 4, 5, 0, list(2))
	s.Want(0, elected(3, 2, 3, 5, 4), "leader=0 ELECTION>5 T=2ms")
	s.Want(0, elected(2, 3, 2), "")
	s.Want(0, alive(1, 1), "")      // not of this election: it is not of a list
	s.Want(0, elected(5, 1, 5), "") // older than what the lower one announced
	s.Want(2*ms, algotest.Expire("T"), "-T -T\" saves leader=4 ELECTED>1 ELECTED>2 ELECTED>3 ELECTED>5")
	s.Want(2*ms, elected(5, 3, 5), "ELECTED>5") // its own is of number 4
	s = algotest.NewSolo(t, id, 5, 4, 5, 0, list(2))
	s.Want(0, asks(1, 1, 3, 5), "ALIVE>1 -T -T\" saves leader=4 ELECTED>1 ELECTED>2 ELECTED>3")
	s.Want(0, elected(5, 1, 5), "ELECTED>5")
}

// TestFull: what is left of the election before does not reach into a full one,
// nor the other way round.
func TestFull(t *testing.T) {
	t.Parallel()
	full := alive(2, 0)
	t.Run("list", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, list(2))
		s.Want(0, algo.Event{Type: algo.Elect},
			"leader=0 ELECTION>2 ELECTION>3 ELECTION>4 ELECTION>5 T=2ms")
		s.Want(0, alive(1, 0), "-T T\"=4ms")
		s.Want(4*ms, algotest.Expire("T\""), "leader=0 ELECTION>4 T=2ms")
		s.Want(4*ms, full, "")
		s.Want(6*ms, algotest.Expire("T"), "ELECTION>3 T=2ms")
	})
	t.Run("the list of an older epoch", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 4, 5, 0, list(2))
		s.Want(0, elected(3, 2, 3, 5, 4), "leader=0 ELECTION>5 T=2ms")
		want := bullynextinline.Election{
			Attempt: bullynextinline.Attempt{Count: 1},
			Epoch:   bullynextinline.Epoch{Number: 2, Leader: 3},
		}
		if s.Sent[0] != want {
			t.Errorf("asks %v, want %v", s.Sent[0], want)
		}
		s.Want(0, alive(1, 0), "-T T\"=4ms")
		s.Want(4*ms, algotest.Expire("T\""), "leader=0 ELECTION>5 T=2ms")
	})
	t.Run("old", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 5, 4, 5, 0, list(2))
		s.Want(0, suspect(5), "leader=0 -T -T\" saves leader=4 ELECTED>1 ELECTED>2 ELECTED>3")
		s.Want(0, elected(5, 2, 5), "-T -T\" saves leader=5 doubt=4ms")
		s.Want(0, asks(1, 0, 2, 5), "ALIVE>1 leader=0 ELECTION>5 T=2ms")
		s.Want(2*ms, algotest.Expire("T"), "-T -T\" saves leader=4 ELECTED>1 ELECTED>2 ELECTED>3 ELECTED>5")
	})
	t.Run("joined without a leader", func(t *testing.T) {
		s := algotest.NewSolo(t, id, 3, 3, 2, 1, list(2))
		s.Want(0, algo.Event{Type: algo.Start}, "leader=0 -T -T\" saves leader=3 ELECTED>1 ELECTED>2")
	})
}

// TestReturnWithinT: answers to the attempts of an earlier life do not count; the
// epochs of the earlier life do.
func TestReturnWithinT(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 3, 2, 3, 1, list(2))
	s.Want(0, algo.Event{Type: algo.Start}, "leader=0 ELECTION>3 T=2ms")
	s.Want(ms, alive(1, 0), "")
	s.Want(2*ms, algotest.Expire("T"), "-T -T\" saves leader=2 ELECTED>1 ELECTED>3")

	o, err := algotest.Simulate(algotest.Ballot{
		Nodes: 3, Params: list(2), Events: []harness.Event{
			{Do: harness.DoElect, Node: 3}, // epoch 1
			{At: 5 * ms, Do: harness.DoCrash, Node: 3},
			{At: 6 * ms, Do: harness.DoRestart, Node: 3}, // epoch 2: newer than what the others know
		},
	}.Plan(t, id))
	if err != nil || o.Status != trace.OK || o.Totals.Sent != 4 {
		t.Errorf("%s: %s: %d sent, %v", o.Status, o.Reason, o.Totals.Sent, err)
	}
	for _, r := range o.Trace {
		if want := uint64(1 + r.At/(6*ms)); r.Type == trace.Elected && r.Peer == 3 && r.Arg != want {
			t.Errorf("p%d follows 3 at %v in epoch %d, want %d", r.Process, r.At, r.Arg, want)
		}
	}
}

// TestDiesAnnouncing: the successor dies when only some have been told.
func TestDiesAnnouncing(t *testing.T) {
	t.Parallel()
	algotest.RunDyingWinners(t, id, 10*ms, list(2)) // 4 does so at once
}

// TestTiming: what the time-outs must keep to.
func TestTiming(t *testing.T) {
	t.Parallel()
	algotest.RunTimeOuts(t, id, "t_answer", "t_elected", true)
}

// TestMistakenAndGone: 1 suspects the leader, which is there, asks the next in line to replace it, and
// crashes before it can take that back. The new leader, which never suspected the old one, tells it.
func TestMistakenAndGone(t *testing.T) {
	t.Parallel()
	for _, noticed := range []time.Duration{ms, 20 * ms} { // before it is asked, and later
		p := algotest.MustPlan(t, id, 3, harness.Scenario{Plot: &harness.Script{Events: []harness.Event{
			{Do: harness.DoSuspect, Node: 1, Of: 3}, algotest.Crash(ms/2, 1),
			{At: noticed, Do: harness.DoSuspect, Node: 2, Of: 1},
		}}}, list(2))
		p.Leader = 3
		if o := algotest.MustSimulate(t, p); o.Status != trace.OK || o.Last() != 3 {
			t.Errorf("noticed at %v: %s: %s: %v", noticed, o.Status, o.Reason, o.Operations)
		}
	}
}

// TestLowerOneOfTheList: all but two restart in turn or are gone, and the first of the list that 2 has is
// 1, which leads by a newer epoch. 2 does not follow a lower one, and must not ask it for ever.
func TestLowerOneOfTheList(t *testing.T) {
	t.Parallel()
	crash := func(at time.Duration, p algo.ID, lasts time.Duration) harness.Event {
		return harness.Event{At: at, Do: harness.DoCrash, Node: p, For: lasts}
	}
	for seed := range uint64(100) {
		p := algotest.MustPlan(t, id, 4, harness.Scenario{Plot: &harness.Script{Events: []harness.Event{
			crash(0, 4, 0), crash(70*ms, 3, 160*ms), crash(201*ms, 2, 160*ms), crash(370*ms, 3, 0),
		}}}, map[string]any{"t_answer": 80 * ms, "t_elected": 160 * ms})
		p.Seed, p.Leader, p.TimeLimit = seed, 4, 10*time.Second
		p.Network.Latency = link.Uniform(ms/5, 20*ms)
		p.Detector = harness.PerfectDetector(100 * ms)
		if o := algotest.MustSimulate(t, p); o.Status != trace.OK {
			t.Fatalf("seed %d: %s: %s", seed, o.Status, o.Reason)
		}
	}
}
