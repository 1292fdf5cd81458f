package zabfle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/zabfle"
)

const id = "election/zab-fle"

type params = map[string]any

const ms = time.Millisecond

// What a process that looks does last when it has heard a notification: a majority has
// its vote, and it waits for a larger one; or it waits for more.
const (
	waits = "resend- finalize+"
	polls = "finalize- resend+"
)

func plan(t *testing.T, n int, given params, s harness.Scenario) harness.Plan {
	t.Helper()
	p := algotest.MustPlan(t, id, n, s, given)
	p.TimeLimit = time.Minute
	return p
}

func run(t *testing.T, p harness.Plan) algotest.Outcome {
	t.Helper()
	o := algotest.MustSimulate(t, p)
	if o.Status != trace.OK {
		t.Errorf("n = %d: %s: %s %v", p.Nodes, o.Status, o.Reason, o.Violations)
	}
	return o
}

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestCases: all start together. The simulator delivers the messages of one
// instant in ascending order of their senders, as FLE-02 and FLE-06 want it. The
// opposite order, of FLE-01 and FLE-05, hears the largest vote first; so it is
// made by giving process 1 the largest, and leader 1 stands for the cases' N.
func TestCases(t *testing.T) {
	for n := int64(2); n <= 9; n++ {
		descending := make([]any, n)
		for i := range descending {
			descending[i] = n - int64(i)
		}
		for _, c := range []struct {
			name   string
			given  params
			sent   int64
			leader algo.ID
		}{
			{"(N-1)(2N-1)", params{"zxid": descending}, (n - 1) * (2*n - 1), 1},
			{"(N-1)(N+N(N-1)/2)", params{}, (n - 1) * (n + n*(n-1)/2), algo.ID(n)},
		} {
			t.Run(fmt.Sprintf("%s N=%d", c.name, n), func(t *testing.T) {
				c.given["finalize_wait"] = 2 * ms
				p := plan(t, int(n), c.given, harness.Scenario{Plot: &harness.Script{}})
				for i := range n {
					p.Scenario.Add(harness.Event{Do: "elect", Node: algo.ID(i + 1)})
				}
				at := 4 * ms
				p.Scenario.Expect = []harness.Expect{
					harness.Exactly("sent", c.sent), harness.Exactly("delivered", c.sent),
					harness.Each("sent_by_kind", map[string]int64{"NOTIFICATION": c.sent}),
					harness.Exactly("leader", c.leader), harness.Exactly("all_informed_at", at)}
				run(t, p)
			})
		}
	}
}

// TestLateJoiner: 2(N-1), and the leader stays, though the joiner ranks higher.
func TestLateJoiner(t *testing.T) {
	for n := 2; n <= 9; n++ {
		for joiner := 1; joiner <= n; joiner += n - 1 {
			p := plan(t, n, nil, harness.Scenario{Plot: &harness.Script{
				Events: []harness.Event{{Do: "restart", Node: algo.ID(joiner)}}}})
			p.Leader, p.Crashed = algo.ID(n-joiner+1), []algo.ID{algo.ID(joiner)}
			sent, at := int64(2*(n-1)), 2*ms
			p.Scenario.Expect = []harness.Expect{
				harness.Exactly("sent", sent), harness.Exactly("delivered", sent),
				harness.Exactly("leader", p.Leader), harness.Exactly("all_informed_at", at)}
			run(t, p)
		}
	}
}

// TestScenarios are those that users run, and ranks with ties.
func TestScenarios(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for k := range 3 {
			o := run(t, plan(t, n, nil, harness.Scenario{Plot: &harness.ColdStart{Initiators: k}}))
			if got := o.Operations[0].Process; int(got) != n {
				t.Errorf("n = %d, %d initiators: %d leads", n, k, got)
			}
		}
		if n > 2 {
			run(t, plan(t, n, nil, harness.Scenario{Plot: &harness.LeaderCrash{Settle: 50 * ms}}))
		}
	}
	p := plan(t, 4, params{"zxid": []any{int64(7), int64(9), int64(9), int64(12)},
		"peer_epoch": []any{int64(1), int64(1), int64(1), int64(0)}},
		harness.Scenario{Plot: &harness.ColdStart{}})
	if o := run(t, p); o.Operations[0].Process != 3 {
		t.Errorf("%d leads, want 3: newest epoch, then newest transaction, then ID",
			o.Operations[0].Process)
	}
}

// TestHalves: a leader that is cut off with a minority gives up; when the network
// is whole again its side joins the other.
func TestHalves(t *testing.T) {
	p := plan(t, 5, nil, harness.Scenario{Plot: &harness.Script{Until: 2 * time.Second,
		Events: []harness.Event{
			{At: 100 * ms, Do: "cut", Groups: [][]uint32{{4, 5}}}, {At: time.Second, Do: "heal"},
		}}})
	p.Leader = 5
	p.Detector = harness.HeartbeatDetector(10*ms, 40*ms)
	o := run(t, p)
	for _, r := range o.Trace {
		if r.Type == trace.Elected && r.Peer != 0 && r.Peer != 3 {
			t.Errorf("p%d names %d at %v", r.Process, r.Peer, r.At)
		}
	}
	if last := o.Operations[len(o.Operations)-1]; last.Process != 3 {
		t.Errorf("%+v, want 3 to lead on", last)
	}
}

// TestPatience: the pauses between repetitions double, up to a bound, and are
// short again in the next search.
func TestPatience(t *testing.T) {
	given := params{"t_resend": 10 * ms, "finalize_wait": 2 * ms}
	p := plan(t, 3, given, harness.Scenario{Plot: &harness.Script{Until: 2 * time.Second,
		Events: []harness.Event{
			{Do: "cut", Groups: [][]uint32{{1}}}, {Do: "elect", Node: 1}, {At: time.Second, Do: "heal"},
			{At: 1500 * ms, Do: "crash", Node: 2}, {At: 1600 * ms, Do: "elect", Node: 1},
		}}})
	p.Crashed = []algo.ID{3}
	o := algotest.MustSimulate(t, p)
	var at []int64
	for _, r := range o.Trace {
		if r.Type == trace.Send && r.Process == 1 && r.Peer == 2 {
			at = append(at, r.At.Milliseconds())
		}
	}
	// At 1270 process 2 hears of it; its vote is larger.
	const want = "[0 10 30 70 150 310 630 950 1270 1272 1600 1610 1630 1670 1750 1910]"
	if got := fmt.Sprint(at); got != want {
		t.Errorf("tells 2 at %s ms, want %s", got, want)
	}
}

// TestPoll: both pauses begin anew with each notification, the longer one as long as it has
// become.
func TestPoll(t *testing.T) {
	s := algotest.NewSolo(t, id, 5, 2, algo.None, 0, params{"t_resend": 10 * ms, "finalize_wait": 2 * ms})
	says := func(p, leader algo.ID) algo.Event {
		return algotest.Hear(p, zabfle.Notification{Vote: vote(leader), Clock: 1, State: zabfle.Looking})
	}
	const tells = "NOTIFICATION>1 NOTIFICATION>3 NOTIFICATION>4 NOTIFICATION>5 "
	s.Want(0, algo.Event{Type: algo.Elect}, "leader=0 "+tells+"-finalize resend=10ms")
	s.Want(4*ms, says(1, 1), "-finalize resend=10ms")
	s.Want(14*ms, algotest.Expire("resend"), tells+"-finalize resend=20ms")
	s.Want(15*ms, says(3, 3), tells+"-finalize resend=20ms")
	s.Want(16*ms, says(1, 3), "-resend finalize=2ms")
	s.Want(17*ms, says(1, 3), "-resend finalize=2ms")
	s.Want(18*ms, says(1, 1), "-finalize resend=20ms")

	// The pause outgrows the wait however short it is at first, so that the wait ends.
	s = algotest.NewSolo(t, id, 5, 2, algo.None, 0, params{"t_resend": ms, "finalize_wait": 50 * ms})
	s.Step(0, algo.Event{Type: algo.Elect})
	for range 20 {
		s.Step(0, algotest.Expire("resend"))
	}
	s.Want(0, says(1, 1), "-finalize resend=1.6s")
}

// weather is a random schedule: one of the kit's, every third with a partition besides that
// lasts until both sides have noticed it.
func weather(t *testing.T, seed uint64, given params) harness.Plan {
	t.Helper()
	p, err := algotest.Schedule(id, seed, given)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Known().Latency; seed%3 == 0 {
		p.Leader = algo.ID(p.Nodes) // otherwise a side may know of nothing
		p.Detector = harness.HeartbeatDetector(2*d, 8*d)
		p.Scenario.Add(harness.Event{
			At: time.Duration(seed%50) * d, For: 40 * d, Do: harness.DoCut,
			Groups: [][]uint32{{1, uint32(p.Nodes)}},
		})
	}
	return p
}

// TestSchedules: once faults stop, all name one leader, and keep it; and where some are decided
// before all votes are heard.
func TestSchedules(t *testing.T) {
	for seed := range algotest.Schedules() {
		var given params
		if seed%11 == 0 {
			given = params{"finalize_wait": ms}
		}
		o := algotest.MustSimulate(t, weather(t, seed, given))
		if o.Status != trace.OK && o.Status != trace.Unknown {
			t.Fatalf("schedule %d: %s: %s", seed, o.Status, o.Reason)
		}
	}
}

func vote(p algo.ID) zabfle.Vote { return zabfle.Vote{ID: p} }

// TestLooking is rules 1 to 3, seen by process 2 of five.
func TestLooking(t *testing.T) {
	says := func(p algo.ID, clock uint64) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: clock, State: zabfle.Looking}
	}
	tells := func(p algo.ID, clock int) string {
		what := fmt.Sprintf("NOTIFICATION{{0 0 %d} %d looking 0}", p, clock)
		return fmt.Sprintf("%s>1 %s>3 %s>4 %s>5 finalize- resend+", what, what, what, what)
	}
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 2}, nil)
	r.Elects("leader=0/0 " + tells(2, 1))
	r.Elects("")
	r.Hears(1, says(1, 1), polls) // a smaller vote
	r.Hears(3, says(3, 1), tells(3, 1))
	r.Hears(1, says(3, 1), waits)       // a majority
	r.Hears(4, says(3, 1), waits)       // more of it
	r.Hears(5, says(5, 1), tells(5, 1)) // a larger vote ends the wait
	r.Expires("resend", tells(5, 1))
	r.Hears(3, says(3, 1), polls)       // overtaken, or a second copy
	r.Hears(4, says(4, 3), tells(4, 3)) // a later round: all anew
	r.Hears(3, says(5, 2), "NOTIFICATION{{0 0 4} 3 looking 0}>3 "+polls)
	r.Hears(3, says(1, 5), tells(2, 5)) // the vote for itself is larger
	r.Hears(1, says(2, 5), polls)
	r.Hears(4, says(2, 5), waits)
	r.Expires("finalize", "finalize- resend- leader=2/5")
	// It leads, and says so to who looks.
	r.Hears(5, says(5, 1), "NOTIFICATION{{0 0 2} 5 leading 0}>5")
	r.Hears(3, zabfle.Notification{Vote: vote(2), Clock: 5, State: zabfle.Following}, "")
	r.Elects("leader=0/0 " + tells(2, 6))
}

// TestJoining is rule 4.
func TestJoining(t *testing.T) {
	says := func(p algo.ID, clock uint64, s zabfle.State) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: clock, State: s}
	}
	looks := func() *algotest.Transcript {
		r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 5, Incarnation: 1}, nil)
		what := "NOTIFICATION{{0 0 5} 1 looking 1}"
		r.Starts(fmt.Sprintf("leader=0/0 %s>1 %s>2 %s>3 %s>4 finalize- resend+",
			what, what, what, what))
		return r
	}
	r := looks()
	r.Hears(1, says(3, 7, zabfle.Following), polls)
	r.Hears(2, says(3, 7, zabfle.Following), polls) // a majority with itself, but is 3 alive?
	r.Hears(3, says(3, 7, zabfle.Leading), "finalize- resend- leader=3/7")

	r = looks()
	r.Hears(3, says(3, 7, zabfle.Leading), polls)
	r.Hears(1, says(2, 6, zabfle.Following), polls)
	r.Hears(1, says(3, 7, zabfle.Following), "finalize- resend- leader=3/7")

	// Why FIFO is needed: 3 led in round 7, but looks by now. Its older message,
	// overtaken by the newer one, makes this process follow it.
	r = looks()
	newer := "NOTIFICATION{{0 0 5} 8 looking 1}"
	r.Hears(3, says(3, 8, zabfle.Looking), fmt.Sprintf("%s>1 %s>2 %s>3 %s>4 finalize- resend+",
		newer, newer, newer, newer))
	r.Hears(3, says(3, 7, zabfle.Leading), polls)
	r.Hears(1, says(3, 7, zabfle.Following), "finalize- resend- leader=3/7")

	// 3 led in round 7, but looks by now: it is not followed, though those who have
	// not heard of that follow it still.
	r = looks()
	r.Hears(3, says(3, 7, zabfle.Leading), polls)
	r.Hears(3, says(3, 8, zabfle.Looking), fmt.Sprintf("%s>1 %s>2 %s>3 %s>4 finalize- resend+",
		newer, newer, newer, newer))
	r.Hears(1, says(3, 7, zabfle.Following), polls)
	r.Hears(2, says(3, 7, zabfle.Following), polls)

	// Whom it had voted for is told that it joined another.
	r = looks()
	all := "NOTIFICATION{{0 9 2} 1 looking 1}>1 NOTIFICATION{{0 9 2} 1 looking 1}>2 " +
		"NOTIFICATION{{0 9 2} 1 looking 1}>3 NOTIFICATION{{0 9 2} 1 looking 1}>4 finalize- resend+"
	newest := zabfle.Vote{Zxid: 9, ID: 2}
	r.Hears(4, zabfle.Notification{Vote: newest, Clock: 1, State: zabfle.Looking}, all)
	r.Hears(3, says(3, 1, zabfle.Leading), polls)
	r.Hears(1, says(3, 1, zabfle.Following),
		"finalize- resend- leader=3/1 NOTIFICATION{{0 0 3} 1 following 1}>2")

	// Whom it joins needs no telling.
	r = looks()
	r.Hears(2, zabfle.Notification{Vote: newest, Clock: 1, State: zabfle.Looking}, all)
	r.Hears(2, zabfle.Notification{Vote: newest, Clock: 1, State: zabfle.Leading}, polls)
	r.Hears(1, zabfle.Notification{Vote: newest, Clock: 1, State: zabfle.Following},
		"finalize- resend- leader=2/1")

	// What others report of the same round counts as their vote: for a majority...
	r = looks()
	r.Hears(1, says(5, 1, zabfle.Looking), polls)
	r.Hears(2, says(5, 1, zabfle.Looking), waits)
	r.Hears(2, says(3, 1, zabfle.Following), polls) // ... and against it
	r.Hears(4, says(5, 1, zabfle.Looking), waits)

	// Who joined in another round votes for nobody in this one.
	r = looks()
	r.Hears(1, says(5, 1, zabfle.Looking), polls)
	r.Hears(2, says(5, 1, zabfle.Looking), waits)
	r.Hears(2, says(3, 7, zabfle.Following), polls)

	// Who voted for this process is told that it joined another.
	r = looks()
	r.Hears(1, says(5, 1, zabfle.Looking), polls)
	r.Hears(2, says(5, 1, zabfle.Looking), waits)
	r.Hears(3, says(3, 7, zabfle.Leading), waits)
	r.Hears(4, says(3, 7, zabfle.Following), "finalize- resend- leader=3/7 "+
		"NOTIFICATION{{0 0 3} 7 following 1}>1 NOTIFICATION{{0 0 3} 7 following 1}>2")

	// Others still follow this process: only in its own round does it lead on.
	r = looks()
	r.Hears(1, says(5, 2, zabfle.Following), polls)
	r.Hears(2, says(5, 2, zabfle.Following), polls)
	r.Hears(3, says(5, 1, zabfle.Following), "finalize- resend- leader=5/1")
}

// TestLives: what comes late from a life that has ended tells nothing. Process 3 led in
// round 7, then came back and looks: nobody follows it, votes with it or gives way to it.
func TestLives(t *testing.T) {
	says := func(p algo.ID, clock uint64, s zabfle.State, life uint32) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: clock, State: s, Incarnation: life}
	}
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 5}, nil)
	r.Elects("leader=0/0 " + tellsAll(5, 5, 1, 0))
	r.Hears(3, says(3, 1, zabfle.Looking, 2), polls)
	r.Hears(1, says(3, 7, zabfle.Following, 0), polls)
	r.Hears(3, says(3, 7, zabfle.Leading, 1), "")
	r.Hears(3, says(3, 9, zabfle.Looking, 1), "")
	r.Hears(3, says(3, 7, zabfle.Leading, 2), "finalize- resend- leader=3/7")

	r = settled(t, 2)
	r.Hears(3, says(3, 1, zabfle.Looking, 1), "NOTIFICATION{{0 0 4} 1 following 0}>3")
	r.Hears(3, says(3, 7, zabfle.Leading, 0), "")
	r.Hears(3, says(3, 7, zabfle.Leading, 1), looks2)
}

// TestTwoLeaders: a cut has healed, and the other side has a leader. Whoever is about
// to follow one of this side begins a round behind both, unless it suspects that one.
func TestTwoLeaders(t *testing.T) {
	says := func(p algo.ID, clock uint64, s zabfle.State) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: clock, State: s}
	}
	tells := func(clock int) string {
		what := fmt.Sprintf("NOTIFICATION{{0 0 4} %d looking 0}", clock)
		return fmt.Sprintf("%s>1 %s>2 %s>3 %s>5 finalize- resend+", what, what, what, what)
	}
	for name, c := range map[string]struct {
		other zabfle.Notification
		from  algo.ID
		want  string
	}{
		"of a later round":         {says(5, 7, zabfle.Leading), 5, "leader=0/0 " + tells(8)},
		"of this round":            {says(5, 3, zabfle.Leading), 5, "leader=0/0 " + tells(4)},
		"of an earlier round":      {says(5, 2, zabfle.Leading), 5, "finalize- resend- leader=4/3"},
		"one that says who leads":  {says(3, 7, zabfle.Following), 5, "finalize- resend- leader=4/3"},
		"one that is suspected":    {says(3, 7, zabfle.Leading), 3, "finalize- resend- leader=4/3"},
		"one that this is, itself": {says(4, 7, zabfle.Following), 5, "finalize- resend- leader=4/3"},
	} {
		t.Run(name, func(t *testing.T) {
			r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 4}, nil)
			r.Suspects(3, "")
			r.Elects("leader=0/0 " + tells(1))
			r.Hears(1, says(1, 3, zabfle.Looking), tells(3))
			r.Hears(1, says(4, 3, zabfle.Looking), polls)
			r.Hears(2, says(4, 3, zabfle.Looking), waits)
			r.Hears(c.from, c.other, waits)
			r.Expires("finalize", c.want)
		})
	}
}

// settled is process self of five, of whom 4 leads from the start.
func settled(t *testing.T, self algo.ID) *algotest.Transcript {
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: self, Leader: 4}, nil)
	r.Starts("")
	return r
}

const looks2 = "leader=0/0 NOTIFICATION{{0 0 2} 2 looking 0}>1 NOTIFICATION{{0 0 2} 2 looking 0}>3 " +
	"NOTIFICATION{{0 0 2} 2 looking 0}>4 NOTIFICATION{{0 0 2} 2 looking 0}>5 finalize- resend+"

const looks4 = "leader=0/0 NOTIFICATION{{0 0 4} 2 looking 0}>1 NOTIFICATION{{0 0 4} 2 looking 0}>2 " +
	"NOTIFICATION{{0 0 4} 2 looking 0}>3 NOTIFICATION{{0 0 4} 2 looking 0}>5 finalize- resend+"

// TestFollower: what makes a follower look again.
func TestFollower(t *testing.T) {
	looking := func(p algo.ID, clock uint64) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: clock, State: zabfle.Looking}
	}
	r := settled(t, 2)
	r.Suspects(3, "")
	r.Hears(3, looking(3, 9), "NOTIFICATION{{0 0 4} 1 following 0}>3")
	r.Hears(4, looking(4, 1), "NOTIFICATION{{0 0 4} 1 following 0}>4") // it has not decided yet
	r.Suspects(4, looks2)
	r.Suspects(4, "")

	r = settled(t, 2)
	r.Hears(4, looking(5, 1), looks2+" NOTIFICATION{{0 0 2} 2 looking 0}>4 "+polls) // it votes for another now
	r = settled(t, 2)
	r.Hears(4, looking(4, 2), looks2+" NOTIFICATION{{0 0 4} 2 looking 0}>1 "+
		"NOTIFICATION{{0 0 4} 2 looking 0}>3 NOTIFICATION{{0 0 4} 2 looking 0}>4 "+
		"NOTIFICATION{{0 0 4} 2 looking 0}>5 finalize- resend+")
}

// TestLeader: a leader without a majority looks again. A newcomer votes for itself
// and is told who leads; who looks again does not follow.
func TestLeader(t *testing.T) {
	looks := func(p algo.ID) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: 1, State: zabfle.Looking}
	}
	const told = "NOTIFICATION{{0 0 4} 1 leading 0}>"
	r := settled(t, 4)
	r.Suspects(1, "")
	r.Suspects(1, "")
	r.Hears(1, looks(1), told+"1")
	r.Hears(1, looks(1), told+"1")
	r.Hears(1, looks(1), told+"1") // counted once
	r.Hears(2, looks(2), told+"2")
	r.Hears(3, looks(3), told+"3")
	r.Restores(1, told+"1")
	r.Hears(2, looks(2), told+"2")
	r.Hears(1, looks(1), told+"1")
	r.Suspects(5, "")
	r.Hears(1, looks(1), told+"1 "+looks4)

	// Who is suspected and looks in vain is lost once.
	r = settled(t, 4)
	r.Hears(1, looks(1), told+"1")
	r.Hears(1, looks(1), told+"1")
	r.Suspects(1, "")
	r.Suspects(2, "")
	r.Suspects(3, looks4)

	// Who looked in a later round has left, whatever became of a suspicion.
	later := func(p algo.ID) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: 2, State: zabfle.Looking}
	}
	r = settled(t, 4)
	r.Hears(1, later(1), told+"1")
	r.Hears(2, later(2), told+"2")
	r.Restores(1, told+"1")
	r.Hears(3, later(3), told+"3 "+looks4)

	// Who votes for a third process in the leader's round was persuaded. The third may
	// win that round as well, and nobody else may be left to tell it of this leader.
	r = settled(t, 4)
	r.Hears(1, looks(5), told+"1 "+told+"5")
	r.Hears(2, looks(5), told+"2 "+told+"5")
	r.Hears(3, looks(5), told+"3 "+told+"5 "+looks4)
	r = settled(t, 4) // a vote for this leader, or in another round, concerns no third
	r.Hears(1, looks(4), told+"1")
	r.Hears(2, zabfle.Notification{Vote: vote(5), Clock: 2, State: zabfle.Looking}, told+"2")

	r = settled(t, 4)
	r.Suspects(1, "")
	r.Suspects(1, "")
	r.Suspects(2, "")
	r.Suspects(3, looks4)

	// Who looks in a later round is not about to follow.
	r = settled(t, 4)
	for p := algo.ID(1); p <= 3; p++ {
		want := fmt.Sprint(told, p)
		if p == 3 {
			want += " " + looks4
		}
		r.Hears(p, zabfle.Notification{Vote: vote(p), Clock: 2, State: zabfle.Looking}, want)
	}
}

// TestRival: a leader and its followers give way to one of a later round, or with
// a larger vote; not to what is said of the same leader. A leader that is to give way,
// and says that it leads, is told why.
func TestRival(t *testing.T) {
	rival := func(p algo.ID, clock uint64) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: clock, State: zabfle.Following}
	}
	r := settled(t, 4)
	r.Hears(1, rival(3, 1), "")
	r.Hears(1, rival(4, 2), "")
	r.Hears(1, rival(3, 2), looks4)
	r.Restores(1, "") // it has nobody to tell of
	r = settled(t, 4) // three that voted for it have joined another
	r.Hears(1, rival(3, 1), "")
	r.Hears(2, rival(3, 1), "")
	r.Hears(5, rival(3, 0), "")
	leads := rival(3, 1)
	leads.State = zabfle.Leading
	r.Hears(3, leads, "NOTIFICATION{{0 0 4} 1 leading 0}>3 "+looks4)
	r = settled(t, 4)
	r.Hears(1, rival(5, 1), looks4)
	r = settled(t, 2)
	r.Hears(1, rival(4, 2), "")
	r.Hears(1, rival(3, 1), "")
	r.Hears(3, leads, "NOTIFICATION{{0 0 4} 1 following 0}>3")       // its leader does not know of that one
	r.Hears(3, rival(2, 1), "NOTIFICATION{{0 0 4} 1 following 0}>3") // nor does who follows this one
	r.Hears(1, rival(5, 2), looks2)
	r = settled(t, 2) // its leader has joined another, though that one's vote is smaller
	r.Hears(4, rival(3, 1), looks2)
}

// TestSecondTerm: a new leadership begins with a clean slate, and does not begin
// without a majority.
func TestSecondTerm(t *testing.T) {
	votes := func() zabfle.Notification {
		return zabfle.Notification{Vote: vote(3), Clock: 2, State: zabfle.Looking}
	}
	newcomer := func(p algo.ID) zabfle.Notification {
		return zabfle.Notification{Vote: vote(p), Clock: 1, State: zabfle.Looking}
	}
	const looks = "leader=0/0 NOTIFICATION{{0 0 3} 2 looking 0}>1 NOTIFICATION{{0 0 3} 2 looking 0}>2 finalize- resend+"
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, nil)
	r.Hears(1, newcomer(1), "NOTIFICATION{{0 0 3} 1 leading 0}>1")
	r.Hears(1, newcomer(1), "NOTIFICATION{{0 0 3} 1 leading 0}>1")
	r.Elects(looks)
	r.Hears(1, votes(), waits)
	r.Expires("finalize", "finalize- resend- leader=3/2")
	r.Hears(1, newcomer(1), "NOTIFICATION{{0 0 3} 2 leading 0}>1")
	r.Hears(2, newcomer(2), "NOTIFICATION{{0 0 3} 2 leading 0}>2")
	r.Hears(2, newcomer(2), "NOTIFICATION{{0 0 3} 2 leading 0}>2")

	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, nil)
	r.Elects(looks)
	r.Hears(1, votes(), waits)
	r.Suspects(1, "")
	r.Suspects(2, "")
	r.Expires("finalize", "finalize- resend- leader=3/2 leader=0/0 "+
		"NOTIFICATION{{0 0 3} 3 looking 0}>1 NOTIFICATION{{0 0 3} 3 looking 0}>2 finalize- resend+")
}

// TestSuspectedWinner: a leader that is suspected already is none.
func TestSuspectedWinner(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, nil)
	r.Suspects(3, "")
	r.Elects("leader=0/0 NOTIFICATION{{0 0 1} 1 looking 0}>2 NOTIFICATION{{0 0 1} 1 looking 0}>3 finalize- resend+")
	r.Hears(3, zabfle.Notification{Vote: vote(3), Clock: 1, State: zabfle.Looking},
		"NOTIFICATION{{0 0 3} 1 looking 0}>2 NOTIFICATION{{0 0 3} 1 looking 0}>3 resend- finalize+")
	r.Expires("finalize", "finalize- resend- leader=3/1 leader=0/0 "+
		"NOTIFICATION{{0 0 1} 2 looking 0}>2 NOTIFICATION{{0 0 1} 2 looking 0}>3 finalize- resend+")
}
