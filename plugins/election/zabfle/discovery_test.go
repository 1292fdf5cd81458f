package zabfle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/zabfle"
)

// TestDiscoveryCount: four messages more for each of the others, CEPOCH, NEWEPOCH,
// ACKEPOCH and NEWLEADER, and four delays; of two processes the other one has told
// before the leader is ready.
func TestDiscoveryCount(t *testing.T) {
	for n := int64(1); n <= 9; n++ {
		p := plan(t, int(n), params{"finalize_wait": 2 * ms, "discovery": true},
			harness.Scenario{Plot: &harness.ColdStart{}})
		votes, sent := (n-1)*(n+n*(n-1)/2), (n-1)*(n+n*(n-1)/2)+4*(n-1)
		leader, at := algo.ID(n), 8*ms
		switch n {
		case 1:
			at = 2 * ms
		case 2:
			at = 7 * ms
		}
		p.Scenario.Expect = []harness.Expect{
			harness.Exactly("sent", sent), harness.Exactly("delivered", sent),
			harness.Exactly("leader", leader), harness.Exactly("all_informed_at", at),
			harness.Each("sent_by_kind", map[string]int64{
				"NOTIFICATION": votes, "CEPOCH": n - 1, "NEWEPOCH": n - 1, "ACKEPOCH": n - 1,
				"NEWLEADER": n - 1,
			})}
		run(t, p)
	}
}

// TestDiscoveryScenarios: the epoch is the term. One of five that is cut off leads on
// in the first without noticing, while the others have a leader in the second.
func TestDiscoveryScenarios(t *testing.T) {
	given := params{"discovery": true}
	for n := 3; n <= 9; n++ {
		run(t, plan(t, n, given, harness.Scenario{Plot: &harness.LeaderCrash{Settle: 50 * ms}}))
	}
	p := plan(t, 5, given, harness.Scenario{Plot: &harness.Script{Until: 200 * ms,
		Events: []harness.Event{{Do: "cut", Groups: [][]uint32{{5}}}, {Do: "suspect", Node: 1},
			{Do: "suspect", Node: 2}, {Do: "suspect", Node: 3}, {Do: "suspect", Node: 4}}}})
	p.Leader = 5
	leads := map[uint32]string{}
	for _, r := range run(t, p).Trace {
		if r.Type == trace.Elected && r.Peer != 0 {
			leads[r.Process] = fmt.Sprintf("%d in %d", r.Peer, r.Arg)
		}
	}
	for q := uint32(1); q <= 5; q++ {
		want := map[bool]string{false: "4 in 2", true: ""}[q == 5]
		if leads[q] != want {
			t.Errorf("p%d names %q, want %q", q, leads[q], want)
		}
	}
}

// discovering is a process of five that the vote has brought to follow leader.
func discovering(t *testing.T, self, leader algo.ID, c algo.Config) *algotest.Transcript {
	t.Helper()
	c.ID, c.Incarnation = self, c.Incarnation+1
	r := algotest.NewTranscript(t, id, 5, c, params{"discovery": true})
	epoch := uint64(0)
	if saved, ok := c.Saved.(zabfle.AcceptedEpoch); ok {
		epoch = saved.Epoch
	}
	r.Starts("discovery- leader=0/0 " + tellsAll(self, self, 1, 1))
	elected := zabfle.Notification{Vote: vote(leader), Clock: 1, State: zabfle.Looking}
	if self == leader {
		r.Hears(1, elected, polls)
		r.Hears(2, elected, waits)
	} else {
		r.Hears(leader, elected, tellsAll(self, leader, 1, 1))
		r.Hears(3, elected, waits)
	}
	want := "finalize- resend- discovery+"
	if self != leader {
		want += fmt.Sprintf(" CEPOCH{%d}>%d", epoch, leader)
	}
	r.Expires("finalize", want)
	return r
}

// tellsAll is what self of five says in a life when it looks, with a vote for p.
func tellsAll(self, p algo.ID, clock int, life uint32) (words string) {
	for q := algo.ID(1); q <= 5; q++ {
		if q != self {
			words += fmt.Sprintf("NOTIFICATION{{0 0 %d} %d looking %d}>%d ", p, clock, life, q)
		}
	}
	return words + "finalize- resend+"
}

// TestProspectiveLeader is steps l.1.1 and l.1.2 at process 5 of five, which is one of
// the majority itself.
func TestProspectiveLeader(t *testing.T) {
	r := discovering(t, 5, 5, algo.Config{Saved: zabfle.AcceptedEpoch{Epoch: 2}})
	r.Hears(1, zabfle.CEpoch{Epoch: 3}, "")
	r.Hears(1, zabfle.CEpoch{Epoch: 3}, "") // the network's second copy
	// A majority: later than any epoch in it.
	r.Hears(2, zabfle.CEpoch{Epoch: 0}, "discovery+ NEWEPOCH{4}>1 NEWEPOCH{4}>2 SAVE{4}")
	r.Hears(3, zabfle.CEpoch{Epoch: 4}, "NEWEPOCH{4}>3")
	r.Hears(1, zabfle.AckEpoch{Epoch: 4}, "")
	r.Hears(1, zabfle.AckEpoch{Epoch: 4}, "")
	r.Hears(2, zabfle.AckEpoch{Epoch: 3}, "") // of another epoch
	r.Hears(2, zabfle.AckEpoch{Epoch: 4},
		"NEWLEADER{4}>1 NEWLEADER{4}>2 NEWLEADER{4}>3 discovery- leader=5/4")
	r.Hears(3, zabfle.AckEpoch{Epoch: 4}, "")

	// Who comes when it leads is told all (step l.3.3).
	r.Hears(4, zabfle.CEpoch{Epoch: 1}, "NEWEPOCH{4}>4 NEWLEADER{4}>4")
	r.Hears(3, zabfle.Notification{Vote: vote(5), Clock: 1, State: zabfle.Following}, "") // still
	// For one that has acknowledged a later epoch there is a later one still.
	r.Hears(4, zabfle.CEpoch{Epoch: 8},
		"discovery+ NEWEPOCH{9}>1 NEWEPOCH{9}>2 NEWEPOCH{9}>3 NEWEPOCH{9}>4 SAVE{9}")
	r.Hears(1, zabfle.AckEpoch{Epoch: 4}, "")
	r.Hears(3, zabfle.CEpoch{Epoch: 4}, "NEWEPOCH{9}>3") // which nobody leads yet
	r.Hears(1, zabfle.AckEpoch{Epoch: 9}, "")
	// Who looks is not of those that follow any more.
	r.Hears(2, zabfle.Notification{Vote: vote(2), Clock: 1, State: zabfle.Looking},
		"NOTIFICATION{{0 0 5} 1 leading 1}>2")
	r.Hears(4, zabfle.AckEpoch{Epoch: 9},
		"NEWLEADER{9}>1 NEWLEADER{9}>4 NEWLEADER{9}>3 discovery- leader=5/9")

	// When it looks again it starts from nothing, but for the epochs it has heard of.
	r.Elects("discovery- leader=0/0 " + tellsAll(5, 5, 2, 1))
	r.Hears(1, zabfle.CEpoch{Epoch: 12}, "") // it has decided first
	r.Hears(1, zabfle.AckEpoch{Epoch: 9}, "")
	again := zabfle.Notification{Vote: vote(5), Clock: 2, State: zabfle.Looking}
	r.Hears(1, again, polls) // and looks again
	r.Hears(2, again, waits)
	r.Hears(2, zabfle.CEpoch{Epoch: 9}, "")
	r.Expires("finalize", "finalize- resend- discovery+")
	r.Hears(3, zabfle.CEpoch{Epoch: 9}, "discovery+ NEWEPOCH{13}>2 NEWEPOCH{13}>3 SAVE{13}")
	r.Expires("discovery", "discovery- leader=0/0 "+tellsAll(5, 5, 3, 1))
}

// TestDiscoveringFollower is steps f.1.1, f.1.2 and f.2.1 at process 2.
func TestDiscoveringFollower(t *testing.T) {
	saved := algo.Config{Saved: zabfle.AcceptedEpoch{Epoch: 3}}
	r := discovering(t, 2, 5, saved)
	r.Hears(4, zabfle.NewEpoch{Epoch: 9}, "") // whom it does not follow
	r.Hears(5, zabfle.NewLeader{Epoch: 4}, "")
	r.Hears(5, zabfle.NewEpoch{Epoch: 4}, "SAVE{4} ACKEPOCH{4}>5")
	r.Hears(5, zabfle.NewEpoch{Epoch: 4}, "")
	r.Hears(5, zabfle.NewEpoch{Epoch: 3}, "")
	r.Hears(5, zabfle.NewLeader{Epoch: 3}, "") // promised to follow in none of those any more
	r.Hears(4, zabfle.NewLeader{Epoch: 4}, "")
	r.Hears(5, zabfle.NewLeader{Epoch: 4}, "discovery- leader=5/4")
	r.Hears(5, zabfle.NewLeader{Epoch: 4}, "")
	r.Hears(1, zabfle.CEpoch{Epoch: 4}, "") // it leads nobody
	r.Hears(5, zabfle.NewEpoch{Epoch: 6}, "SAVE{6} ACKEPOCH{6}>5")
	r.Hears(5, zabfle.NewLeader{Epoch: 6}, "discovery- leader=5/6")
	r.Suspects(5, "discovery- leader=0/0 "+tellsAll(2, 2, 2, 1))

	// 3 is acknowledged already, to one that has failed: it follows all the same.
	r = discovering(t, 2, 5, saved)
	r.Hears(5, zabfle.NewEpoch{Epoch: 3}, "")
	r.Hears(5, zabfle.NewLeader{Epoch: 3}, "discovery- leader=5/3")

	// Who hears nothing looks again.
	r = discovering(t, 2, 5, saved)
	r.Expires("discovery", "discovery- leader=0/0 "+tellsAll(2, 2, 2, 1))
	r.Hears(5, zabfle.NewEpoch{Epoch: 4}, "") // too late
}

// TestSettledEpoch: a leader that is settled leads the first epoch, which all have
// acknowledged. Who comes to it follows it, whatever was thought.
func TestSettledEpoch(t *testing.T) {
	settled := func(self algo.ID) *algotest.Transcript {
		r := algotest.NewTranscript(t, id, 5, algo.Config{ID: self, Leader: 4}, params{"discovery": true})
		r.Starts("SAVE{1}")
		return r
	}
	r := settled(2)
	r.Hears(4, zabfle.NewEpoch{Epoch: 1}, "")
	r.Hears(4, zabfle.NewLeader{Epoch: 1}, "")
	r.Hears(4, zabfle.NewEpoch{Epoch: 2}, "SAVE{2} ACKEPOCH{2}>4")

	r = settled(4)
	const told = "NOTIFICATION{{0 0 4} 1 leading 0}>"
	r.Hears(1, zabfle.AckEpoch{Epoch: 1}, "")
	for _, p := range []algo.ID{1, 2, 2, 3, 5} {
		looks := zabfle.Notification{Vote: vote(p), Clock: 1, State: zabfle.Looking}
		r.Hears(p, looks, fmt.Sprint(told, p))
	}
	r.Hears(2, zabfle.CEpoch{Epoch: 1}, "NEWEPOCH{1}>2 NEWLEADER{1}>2")
	r.Suspects(1, "")
	r.Hears(2, zabfle.Notification{Vote: vote(2), Clock: 1, State: zabfle.Looking}, told+"2")
	r.Suspects(5, "")
	r.Hears(3, zabfle.CEpoch{Epoch: 2}, "discovery+ NEWEPOCH{3}>3 SAVE{3}")
}

// TestBounds: with discovery there must be time for it, and whoever tells its vote again
// must leave time for the answer: less than d/32 floods the links, and nobody decides.
func TestBounds(t *testing.T) {
	alg := algotest.Lookup(t, id)
	for _, c := range []struct {
		discovery bool
		t, resend time.Duration
		want      string
	}{
		{true, 4 * ms, 2 * ms, "<nil>"}, {false, 3 * ms, 2 * ms, "<nil>"},
		{true, 3 * ms, 2 * ms, "t_discovery 3ms is below 4d = 4ms, from CEPOCH to NEWLEADER"},
		{false, 4 * ms, ms, "t_resend 1ms is below 2d = 2ms: more is sent again than answered"},
	} {
		p := algo.Params{"discovery": c.discovery, "t_discovery": c.t, "t_resend": c.resend}
		if got := fmt.Sprint(alg.Spec.Needs.Params(algo.Network{Latency: ms}, p)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestEveryOrder: two of two processes, and two of three whose leader crashed, in every
// order of messages and of two time-outs.
func TestEveryOrder(t *testing.T) {
	list, err := algotest.Scopes(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Nodes-len(s.Crashed) > 2 {
			continue // millions of states
		}
		s.Params = params{"discovery": true}
		space, err := algotest.Exhaust(id, s)
		if err != nil || space.Find != nil || space.Bound != "" || space.Served == 0 {
			t.Errorf("%s: %+v: %v", s, space, err)
		}
	}
}

// TestDiscoverySchedules: with discovery all agree in the end as without, and every
// epoch has one leader at most, whatever happens.
func TestDiscoverySchedules(t *testing.T) {
	slowtest.Skip(t, "some thousand schedules")
	t.Parallel()
	elected := uint64(0)
	schedules := algotest.Schedules() / 3 // each is ten times an ordinary one
	for seed := range schedules {
		p := weather(t, seed, params{"discovery": true})
		wild := seed%5 == 2 // beyond the model
		if wild {
			p.InModel = false
			p.Network.Loss, p.Network.Unordered, p.Network.Duplication = 0.1, true, 0.2
			for q := 1; q < p.Nodes; q++ { // back at random, or soon
				p.Scenario.Add(harness.Event{
					At: time.Duration(q*q) * 7 * ms, For: 50 * ms, Do: harness.DoCrash, Node: algo.ID(q),
				})
			}
		}
		o := algotest.MustSimulate(t, p)
		if o.Status == trace.Failed || !wild && o.Status != trace.OK && o.Status != trace.Unknown {
			t.Fatalf("schedule %d: %s: %s", seed, o.Status, o.Reason)
		}
		e := epochs{}
		if p.Leader != algo.None {
			e[1] = p.Leader
		}
		before := len(e)
		for _, r := range o.Trace {
			if r.Type == trace.Elected {
				if err := e.elected(algo.ID(r.Process), algo.ID(r.Peer), r.Arg); err != nil {
					t.Fatalf("schedule %d, at %v: %v", seed, r.At, err)
				}
			}
		}
		if len(e) > before {
			elected++
		}
	}
	if elected < schedules*9/10 {
		t.Errorf("elections in %d schedules of %d: nothing was tried", elected, schedules)
	}
}

// epochs is who leads in each.
type epochs map[uint64]algo.ID

// elected says what is wrong with p's taking leader for that of the epoch: another
// leads in it, or that one does not.
func (e epochs) elected(p, leader algo.ID, epoch uint64) error {
	switch l := e[epoch]; {
	case leader == algo.None:
	case l == algo.None && p == leader:
		e[epoch] = leader
	case l != leader:
		return fmt.Errorf("p%d names p%d in epoch %d, which p%d leads", p, leader, epoch, l)
	}
	return nil
}
