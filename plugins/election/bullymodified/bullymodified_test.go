package bullymodified_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/plugins/election/bullymodified"
)

const (
	id = "election/bully-modified"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// tight are the time-outs of the unit-delay model.
func tight() map[string]any {
	return map[string]any{"t_answer": 2 * ms, "t_elected": 4 * ms}
}

func kinds(election, alive, grant, elected int) map[string]int64 {
	k := map[string]int64{
		"ELECTION": int64(election), "ALIVE": int64(alive), "GRANT": int64(grant),
		"ELECTED": int64(elected),
	}
	maps.DeleteFunc(k, func(_ string, n int64) bool { return n == 0 })
	return k
}

// TestOneDetects: 3N - 2r - 2 messages when r <= N - 2 detects, N - 1 when the
// second highest does. N = 6, r = 3 is figure 10-1 of the lecture notes.
func TestOneDetects(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 10; n++ {
		for r := 1; r < n; r++ {
			t.Run(fmt.Sprintf("N=%d/r=%d", n, r), func(t *testing.T) {
				b := algotest.Ballot{
					Nodes: n, Crashed: []algo.ID{algo.ID(n)}, Suspects: []algo.ID{algo.ID(r)},
					Params: tight(), Kinds: kinds(n-r, n-1-r, 1, n-2), Delivered: int64(3*n - 2*r - 3),
					Winner: algo.ID(n - 1), Informed: 4 * ms,
				}
				want := int64(3*n - 2*r - 2)
				if r == n-1 {
					b.Kinds, b.Delivered, b.Informed = kinds(1, 0, 0, n-2), int64(n-2), 3*ms
					want = int64(n - 1)
				}
				if o := b.Run(t, id); o.Totals.Sent != want {
					t.Errorf("sent %d, want %d", o.Totals.Sent, want)
				}
			})
		}
	}
}

// TestSeveralDetect at once: every subset. N² + N - 5 messages when all do.
func TestSeveralDetect(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 8; n++ {
		for subset := 1; subset < 1<<(n-1); subset++ {
			var who []algo.ID
			elections, alive := 0, 0
			for p := 1; p < n; p++ {
				if subset>>(p-1)&1 == 1 {
					who = append(who, algo.ID(p))
					elections, alive = elections+n-p, alive+n-1-p
				}
			}
			k := len(who)
			grants, informed := k, 4*ms
			if subset>>(n-2)&1 == 1 { // the winner detects as well
				if grants--; k == 1 {
					informed = 3 * ms
				}
			}
			o := algotest.Ballot{
				Nodes: n, Crashed: []algo.ID{algo.ID(n)}, Suspects: who, Params: tight(),
				Kinds:     kinds(elections, alive, grants, n-2+k-1),
				Delivered: int64(elections - k + alive + grants + n - 2 + k - 1),
				Winner:    algo.ID(n - 1), Informed: informed,
			}.Run(t, id)
			if want := int64(n*n + n - 5); k == n-1 && o.Totals.Sent != want {
				t.Errorf("N = %d, all detect: sent %d, want %d", n, o.Totals.Sent, want)
			}
		}
	}
}

// TestGrantedDies before GRANT comes: the initiator starts again after T".
func TestGrantedDies(t *testing.T) {
	t.Parallel()
	algotest.Ballot{ // 0 ELECTION, 1 ALIVE, 2 GRANT, 3 dies, 6 ELECTION, 8 GRANT, 9 ELECTED
		Nodes: 4, Crashed: []algo.ID{4}, Suspects: []algo.ID{1}, Params: tight(),
		Events: []harness.Event{{At: 2*ms + ms/2, Do: harness.DoCrash, Node: 3}},
		Kinds:  kinds(6, 3, 2, 1), Delivered: 3 - 1 + 2 + 0 + 1 + 1 + 1 + 1, Winner: 2, Informed: 10 * ms,
	}.Run(t, id)
}

// TestDiesAnnouncing: the winner dies when only some have been told.
func TestDiesAnnouncing(t *testing.T) {
	t.Parallel()
	algotest.RunDyingWinners(t, id, 12*ms, tight())
}

// TestReturns: the top announces itself at once to all of lower ID. The lowest that
// returns asks everybody, and grants the leadership to who has it.
func TestReturns(t *testing.T) {
	t.Parallel()
	algotest.Ballot{
		Nodes: 5, Leader: 4, Crashed: []algo.ID{5}, Params: tight(),
		Events: []harness.Event{{Do: harness.DoRestart, Node: 5}},
		Kinds:  kinds(0, 0, 0, 4), Delivered: 4, Winner: 5, Informed: ms,
	}.Run(t, id)
	algotest.Ballot{
		Nodes: 5, Crashed: []algo.ID{1}, Params: tight(),
		Events: []harness.Event{{Do: harness.DoRestart, Node: 1}},
		Kinds:  kinds(4, 4, 1, 1), Delivered: 10, Winner: 5, Informed: 4 * ms,
	}.Run(t, id)
}

// TestSecondSuspicion during an election changes nothing.
func TestSecondSuspicion(t *testing.T) {
	t.Parallel()
	for at := range 4 * ms / (ms / 2) {
		algotest.Ballot{
			Nodes: 6, Crashed: []algo.ID{6}, Suspects: []algo.ID{3}, Params: tight(),
			Events: []harness.Event{{At: at * ms / 2, Do: harness.DoSuspect, Node: 3}},
			Kinds:  kinds(3, 2, 1, 4), Delivered: 9, Winner: 5, Informed: 4 * ms,
		}.Run(t, id)
	}
}

func alive(p algo.ID, incarnation, count uint32) algo.Event {
	return algotest.Hear(p, bullymodified.Alive{
		Round: bullymodified.Round{Incarnation: incarnation, Count: count}})
}

// TestLateAlive: an answer to an earlier round does not count in this one.
func TestLateAlive(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 4, 2, 4, 0, tight())
	elect := algo.Event{Type: algo.Elect}
	s.Want(0, elect, "ELECTION>3 ELECTION>4 leader=0 T=2ms")
	s.Want(2*ms, algotest.Expire("T"), "-T -T\" leader=2 ELECTED>1")
	s.Want(3*ms, alive(4, 0, 1), "")
	s.Want(3*ms, elect, "ELECTION>3 ELECTION>4 leader=0 T=2ms")
	s.Want(3*ms, alive(4, 0, 1), "")
	s.Want(4*ms, alive(3, 0, 2), "")
	s.Want(5*ms, algotest.Expire("T"), "GRANT>3 T\"=4ms")
	s.Want(5*ms, alive(4, 0, 2), "") // behind T: it is too late
	s.Want(9*ms, algotest.Expire("T\""), "ELECTION>3 ELECTION>4 leader=0 T=2ms")
	s.Want(11*ms, algotest.Expire("T"), "-T -T\" leader=2 ELECTED>1")
}

// TestLowerAnnounced: a lower one announces itself before, or after, a higher one has answered.
// It did not know of that one, or that one is dead.
func TestLowerAnnounced(t *testing.T) {
	t.Parallel()
	elected := func(p algo.ID) algo.Event { return algotest.Hear(p, bullymodified.Elected{}) }
	started := func() *algotest.Solo {
		s := algotest.NewSolo(t, id, 4, 1, 4, 0, tight())
		s.Want(0, algo.Event{Type: algo.Elect}, "ELECTION>2 ELECTION>3 ELECTION>4 leader=0 T=2ms")
		return s
	}
	s := started()
	s.Want(ms, elected(3), "-T -T\" leader=3")
	s.Want(2*ms, alive(2, 0, 1), "")
	s.Want(2*ms, alive(3, 0, 1), "")
	s.Want(2*ms, alive(4, 0, 1), "ELECTION>2 ELECTION>3 ELECTION>4 leader=0 T=2ms")
	s = started()
	s.Want(ms, alive(4, 0, 1), "")
	s.Want(2*ms, elected(3), "") // the election goes on
	s.Want(2*ms, algotest.Expire("T"), "GRANT>4 T\"=4ms")
	s = started()
	s.Want(ms, alive(4, 0, 1), "")
	s.Want(2*ms, algotest.Expire("T"), "GRANT>4 T\"=4ms")
	s.Want(3*ms, elected(3), "-T -T\" leader=3") // which had time to find out
}

// TestReturnWithinT: answers to the rounds of an earlier life do not count.
func TestReturnWithinT(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 3, 2, 3, 1, tight())
	s.Want(0, algo.Event{Type: algo.Start}, "ELECTION>3 leader=0 T=2ms")
	s.Want(ms, alive(3, 0, 1), "")
	s.Want(2*ms, algotest.Expire("T"), "-T -T\" leader=2 ELECTED>1")
}

// TestHighestResponder, in whatever order they answer; and none holds an
// election of its own.
func TestHighestResponder(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 1, 5, 0, tight())
	s.Want(0, algo.Event{Type: algo.Elect},
		"ELECTION>2 ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms")
	for _, p := range []algo.ID{3, 4, 2} {
		s.Want(ms, alive(p, 0, 1), "")
	}
	s.Want(2*ms, algotest.Expire("T"), "GRANT>4 T\"=4ms")
	s.Want(4*ms, algotest.Hear(4, bullymodified.Elected{}), "-T -T\" leader=4")
	s.Want(5*ms, algotest.Hear(2, bullymodified.Election{}), "ALIVE>2")
}

// TestGrant: it makes a leader of who is none, also amid an election of its own;
// a leader tells the granter alone.
func TestGrant(t *testing.T) {
	t.Parallel()
	grant := algotest.Hear(1, bullymodified.Grant{})
	s := algotest.NewSolo(t, id, 4, 3, 4, 0, tight())
	s.Want(0, algo.Event{Type: algo.Elect}, "ELECTION>4 leader=0 T=2ms")
	s.Want(ms, grant, "-T -T\" leader=3 ELECTED>1 ELECTED>2")
	s.Want(ms, grant, "ELECTED>1")
}

// TestRace: what a process does that did not hear that a higher one is back must
// not undo its announcement; after T it is believed.
func TestRace(t *testing.T) {
	t.Parallel()
	from := func(p algo.ID) algo.Event { return algotest.Hear(p, bullymodified.Elected{}) }
	grant := algotest.Hear(1, bullymodified.Grant{})
	s := algotest.NewSolo(t, id, 5, 2, 5, 0, tight())
	s.Want(0, from(4), "-T -T\" leader=4") // nobody higher announced itself lately
	s.Want(9*ms, from(5), "-T -T\" leader=5")
	s.Want(10*ms, from(4), "ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms")
	s.Want(10*ms, from(3), "")
	s.Want(10*ms, grant, "")
	s.Want(10*ms, from(5), "-T -T\" leader=5")
	s.Want(11*ms, grant, "ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms")
	s.Want(12*ms, grant, "-T -T\" leader=2 ELECTED>1")
	s.Want(12*ms, from(5), "-T -T\" leader=5")
	s.Want(14*ms, from(3), "-T -T\" leader=3")
}

// TestRace_Several: who is heard does not hide that a lower one, still higher than this
// process, was heard as well, and later.
func TestRace_Several(t *testing.T) {
	t.Parallel()
	elected := func(p algo.ID) algo.Event { return algotest.Hear(p, bullymodified.Elected{}) }
	grant := algotest.Hear(1, bullymodified.Grant{})
	s := algotest.NewSolo(t, id, 5, 2, 5, 0, tight())
	s.Want(0, elected(5), "-T -T\" leader=5")
	s.Want(ms, algo.Event{Type: algo.Elect}, "ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms")
	s.Want(ms, alive(4, 0, 1), "") // 5 is dead, which nobody knows yet
	s.Want(ms+ms/2, elected(4), "")
	s.Want(2*ms+ms/2, grant, "") // of one that asked when 4 was not back yet
	s.Want(3*ms, algotest.Expire("T"), "GRANT>4 T\"=4ms")

	s = algotest.NewSolo(t, id, 5, 2, 5, 0, tight())
	s.Want(0, elected(5), "-T -T\" leader=5")
	s.Want(ms, algo.Event{Type: algo.Elect}, "ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms")
	s.Want(ms+ms/2, elected(4), "") // which was down when it was asked
	s.Want(3*ms, algotest.Expire("T"), "ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms")
}

// TestTooShortT: a T below the round trip makes several leaders.
func TestTooShortT(t *testing.T) {
	t.Parallel()
	algotest.RunHasty(t, id, map[string]any{"t_answer": 12 * ms / 10, "t_elected": 4 * ms})
}

// TestTiming: what the time-outs must keep to.
func TestTiming(t *testing.T) {
	t.Parallel()
	algotest.RunTimeOuts(t, id, "t_answer", "t_elected", false)
}
