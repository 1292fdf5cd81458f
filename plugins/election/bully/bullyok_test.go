package bully_test

import (
	"fmt"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/bully"
)

const okID = "election/bully-ok"

func TestConformance_OK(t *testing.T) {
	t.Parallel()
	algotest.Run(t, okID)
}

func TestCases_OK(t *testing.T) { algotest.Cases(t, okID) }

// tight are the time-outs of the unit-delay model.
func tight() map[string]any {
	return map[string]any{"t_ok": 2 * ms, "t_coordinator": 4 * ms}
}

// literal is the text of the notes: no bound on the wait for the announcement.
func literal() map[string]any {
	return map[string]any{"t_ok": 2 * ms, "t_coordinator": 0 * ms}
}

func kinds(election, ok, coordinator int) map[string]int64 {
	return map[string]int64{
		"ELECTION": int64(election), "OK": int64(ok), "COORDINATOR": int64(coordinator),
	}
}

// TestOneDetects: (N-r)² + N - 1 messages when r detects, with or without T'.
func TestOneDetects(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 8; n++ {
		for r := 1; r < n; r++ {
			up := n - r
			informed := 4 * ms
			if r == n-1 {
				informed = 3 * ms
			}
			for _, params := range []map[string]any{tight(), literal()} {
				t.Run(fmt.Sprintf("N=%d/r=%d/T'=%v", n, r, params["t_coordinator"]), func(t *testing.T) {
					o := algotest.Ballot{
						Nodes: n, Crashed: []algo.ID{algo.ID(n)}, Suspects: []algo.ID{algo.ID(r)},
						Params: params, Kinds: kinds(up*(up+1)/2, up*(up-1)/2, n-1),
						Delivered: int64(up*up + n - 1 - up - 1), Winner: algo.ID(n - 1), Informed: informed,
					}.Run(t, okID)
					if want := int64(up*up + n - 1); o.Totals.Sent != want {
						t.Errorf("sent %d, want %d", o.Totals.Sent, want)
					}
				})
			}
		}
	}
}

// TestAllDetect: N² - N messages, whoever else detects together with the lowest.
func TestAllDetect(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 8; n++ {
		for subset := 1; subset < 1<<(n-1); subset += 2 {
			var who []algo.ID
			for p := range n - 1 {
				if subset>>p&1 == 1 {
					who = append(who, algo.ID(p+1))
				}
			}
			informed := 4 * ms
			if subset>>(n-2)&1 == 1 { // the winner detects as well
				informed = 3 * ms
			}
			algotest.Ballot{
				Nodes: n, Crashed: []algo.ID{algo.ID(n)}, Suspects: who, Params: tight(),
				Kinds:     kinds(n*(n-1)/2, (n-1)*(n-2)/2, n-1),
				Delivered: int64(n * (n - 2)), Winner: algo.ID(n - 1), Informed: informed,
			}.Run(t, okID)
		}
	}
}

// dies is the case in which process 3, which said OK, dies before it announces
// itself.
func dies(params map[string]any) algotest.Ballot {
	return algotest.Ballot{
		Nodes: 4, Crashed: []algo.ID{4}, Suspects: []algo.ID{1}, Params: params,
		Events: []harness.Event{{At: 3 * ms, Do: harness.DoCrash, Node: 3}},
	}
}

// TestResponderDies: without T' processes 1 and 2 wait for ever; with it the
// course is that of the estimate-based form, with two COORDINATORs more.
func TestResponderDies(t *testing.T) {
	t.Parallel()
	b := dies(literal())
	b.Kinds, b.Delivered = kinds(6, 3, 0), 6
	if o := b.Run(t, okID); o.Status != trace.TimedOut {
		t.Errorf("%s: %s, want a time-out", o.Status, o.Reason)
	}
	if o, _ := algotest.Simulate(b.Plan(t, okID)); o.Status != trace.Violated {
		t.Errorf("%s: it was promised that somebody leads", o.Status)
	}
	b = dies(tight())
	b.Kinds, b.Delivered, b.Winner, b.Informed = kinds(11, 4, 3), 9, 2, 10*ms
	b.Run(t, okID)
}

// TestDiesAnnouncing: the winner dies when only some have been told.
func TestDiesAnnouncing(t *testing.T) {
	t.Parallel()
	algotest.RunDyingWinners(t, okID, 12*ms, tight())
}

// TestTopReturns: it announces itself at once, to all others.
func TestTopReturns(t *testing.T) {
	t.Parallel()
	algotest.Ballot{
		Nodes: 5, Leader: 4, Crashed: []algo.ID{5}, Params: tight(),
		Events: []harness.Event{{Do: harness.DoRestart, Node: 5}},
		Kinds:  kinds(0, 0, 4), Delivered: 4, Winner: 5, Informed: ms,
	}.Run(t, okID)
}

// TestSecondSuspicion during an election changes nothing.
func TestSecondSuspicion(t *testing.T) {
	t.Parallel()
	for at := range 4 * ms / (ms / 2) {
		algotest.Ballot{
			Nodes: 5, Crashed: []algo.ID{5}, Suspects: []algo.ID{1}, Params: tight(),
			Events: []harness.Event{{At: at * ms / 2, Do: harness.DoSuspect, Node: 1}},
			Kinds:  kinds(10, 6, 4), Delivered: 15, Winner: 4, Informed: 4 * ms,
		}.Run(t, okID)
	}
}

// TestReturnWithinT: the initiator crashes and is back before the OKs to its
// first attempt come; they are not taken for OKs to its second.
func TestReturnWithinT(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, okID, 3, 2, 3, 1, tight())
	s.Want(0, algo.Event{Type: algo.Start}, "ELECTION>3 leader=0 T=2ms")
	s.Want(ms, algotest.Hear(3, bully.OK{Attempt: bully.Attempt{Count: 1}}), "")
	s.Want(ms, algotest.Hear(3, bully.OK{
		Attempt: bully.Attempt{Incarnation: 1, Count: 1}}), "-T T'=4ms")
}

// TestLateOK: one to an attempt that is over neither ends the next one nor makes
// it longer; one to the attempt that is waiting already does not either.
func TestLateOK(t *testing.T) {
	t.Parallel()
	ok := func(count uint32) algo.Event {
		return algotest.Hear(3, bully.OK{Attempt: bully.Attempt{Count: count}})
	}
	elect := algo.Event{Type: algo.Elect}
	s := algotest.NewSolo(t, okID, 3, 2, 3, 0, tight())
	s.Want(0, elect, "ELECTION>3 leader=0 T=2ms")
	s.Want(2*ms, algotest.Expire("T"), "-T' leader=2 COORDINATOR>1 COORDINATOR>3")
	s.Want(3*ms, ok(1), "")
	s.Want(4*ms, elect, "ELECTION>3 leader=0 T=2ms")
	s.Want(4*ms, ok(1), "")
	s.Want(5*ms, ok(2), "-T T'=4ms")
	s.Want(6*ms, ok(2), "")
	s.Want(6*ms, elect, "")
	s.Want(9*ms, algotest.Expire("T'"), "ELECTION>3 leader=0 T=2ms")
}

// TestElection: a process that is asked says OK and holds one election at a time.
func TestElection(t *testing.T) {
	t.Parallel()
	asked := algotest.Hear(1, bully.Election{Attempt: bully.Attempt{Incarnation: 7, Count: 9}})
	s := algotest.NewSolo(t, okID, 3, 2, 3, 0, tight())
	s.Want(0, asked, "OK>1 ELECTION>3 leader=0 T=2ms")
	s.Want(ms, asked, "OK>1")
	s.Want(ms, algotest.Hear(3, bully.Coordinator{}), "-T -T' leader=3")
	s.Want(ms, asked, "OK>1 ELECTION>3 leader=0 T=2ms")
}

// TestCoordinator: one of lower number is bullied; of two that race, an election
// decides; later the lower one is believed.
func TestCoordinator(t *testing.T) {
	t.Parallel()
	from := func(p algo.ID) algo.Event { return algotest.Hear(p, bully.Coordinator{}) }
	s := algotest.NewSolo(t, okID, 5, 5, 4, 0, tight())
	s.Want(0, from(2), "-T' leader=5 COORDINATOR>1 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4")
	s = algotest.NewSolo(t, okID, 5, 1, 5, 0, tight())
	s.Want(0, from(4), "-T' leader=4") // nobody of higher number announced itself lately
	s.Want(9*ms, from(5), "-T' leader=5")
	s.Want(11*ms, from(4), "-T' leader=4")
	s.Want(11*ms, from(3), "ELECTION>2 ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms")
}

// TestRaceWhileElecting: the announcement of a lower process that did not hear of
// the higher one does not end the election in which that one will answer.
func TestRaceWhileElecting(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, okID, 3, 1, 3, 0, tight())
	s.Want(9*ms, algotest.Hear(3, bully.Coordinator{}), "-T' leader=3")
	s.Want(10*ms, algo.Event{Type: algo.Elect}, "ELECTION>2 ELECTION>3 leader=0 T=2ms")
	s.Want(10*ms, algotest.Hear(2, bully.Coordinator{}), "")
	s.Want(11*ms, algotest.Hear(2, bully.Coordinator{}), "-T -T' leader=2")
}

// TestTooShortT: a T below the round trip makes several coordinators.
func TestTooShortT(t *testing.T) {
	t.Parallel()
	algotest.RunHasty(t, okID, map[string]any{"t_ok": 12 * ms / 10, "t_coordinator": 4 * ms})
}

// TestTiming: what the time-outs must keep to.
func TestTiming(t *testing.T) {
	t.Parallel()
	algotest.RunTimeOuts(t, okID, "t_ok", "t_coordinator", true)
	algotest.RunFits(t, okID, nil, map[string]map[string]any{"for ever": literal()})
}
