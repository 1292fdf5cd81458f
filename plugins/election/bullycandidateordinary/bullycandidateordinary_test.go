package bullycandidateordinary_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	plugin "github.com/conclave-bench/conclave/plugins/election/bullycandidateordinary"
)

const (
	id = "election/bully-candidate-ordinary"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// params are the time-out of the unit-delay model, the spacing, and how many are
// candidates.
func params(spacing time.Duration, candidates int) map[string]any {
	return map[string]any{
		"t_answer": 2 * ms, "spacing": spacing, "candidates": int64(candidates),
	}
}

func kinds(election, answer, coordinator int) map[string]int64 {
	return map[string]int64{
		"ELECTION": int64(election), "ANSWER": int64(answer), "COORDINATOR": int64(coordinator),
	}
}

// TestOneDetects: c + c' + (N-2) messages, of c candidates contacted c' alive.
func TestOneDetects(t *testing.T) {
	t.Parallel()
	for n := 4; n <= 8; n++ {
		for candidates := 2; candidates < n; candidates++ {
			for dead := 1; dead < candidates; dead++ {
				var crashed []algo.ID
				for p := n; p > n-dead; p-- {
					crashed = append(crashed, algo.ID(p))
				}
				c, alive := candidates-1, candidates-dead
				o := algotest.Ballot{
					Nodes: n, Crashed: crashed, Suspects: []algo.ID{1}, Params: params(0, candidates),
					Kinds: kinds(c, alive, n-2), Delivered: int64(2*alive + n - 2 - (dead - 1)),
					Winner: algo.ID(n - dead), Informed: 3 * ms,
				}.Run(t, id)
				if want := int64(c + alive + n - 2); o.Totals.Sent != want {
					t.Errorf("N = %d, c = %d, c' = %d: sent %d, want %d", n, c, alive, o.Totals.Sent, want)
				}
			}
		}
	}
}

// TestCandidateDetects: it counts itself, and asks the others.
func TestCandidateDetects(t *testing.T) {
	t.Parallel()
	algotest.Ballot{
		Nodes: 5, Crashed: []algo.ID{5}, Suspects: []algo.ID{4}, Params: params(0, 3),
		Kinds: kinds(1, 1, 3), Delivered: 5, Winner: 4, Informed: 3 * ms,
	}.Run(t, id)
	algotest.Ballot{
		Nodes: 5, Crashed: []algo.ID{5}, Suspects: []algo.ID{3}, Params: params(0, 3),
		Kinds: kinds(1, 1, 3), Delivered: 5, Winner: 4, Informed: 3 * ms,
	}.Run(t, id)
}

// TestSpacing: everybody detects at the same instant. One round is held if the
// start-up delays are T + d apart, more if they are less.
func TestSpacing(t *testing.T) {
	t.Parallel()
	algotest.Ballot{ // 5 begins at 0, and tells the others at 3, when 4 would
		Nodes: 6, Crashed: []algo.ID{6}, Suspects: algotest.Others(6, 6), Params: params(3*ms, 4),
		Kinds: kinds(2, 2, 4), Delivered: 8, Winner: 5, Informed: 3 * ms,
	}.Run(t, id)
	algotest.Ballot{ // 4 has asked at 2.5
		Nodes: 6, Crashed: []algo.ID{6}, Suspects: algotest.Others(6, 6), Params: params(5*ms/2, 4),
		Kinds: kinds(4, 4, 4), Delivered: 12, Winner: 5, Informed: 3 * ms,
	}.Run(t, id)
	p := algotest.Ballot{ // the defaults
		Nodes: 6, Crashed: []algo.ID{6}, Suspects: algotest.Others(6, 6),
		Kinds: kinds(2, 2, 4), Delivered: 8, Winner: 5, Informed: 24 * ms,
	}
	p.Run(t, id)
}

// TestSecondSuspicion during an election changes nothing.
func TestSecondSuspicion(t *testing.T) {
	t.Parallel()
	for at := range 6 * ms / (ms / 2) {
		algotest.Ballot{
			Nodes: 6, Crashed: []algo.ID{6}, Suspects: []algo.ID{4}, Params: params(3*ms, 3),
			Events: []harness.Event{{At: at * ms / 2, Do: harness.DoSuspect, Node: 4}},
			Kinds:  kinds(1, 1, 4), Delivered: 6, Winner: 5, Informed: 6 * ms,
		}.Run(t, id)
	}
}

// TestNoCandidate: with all candidates dead nobody leads, though others live. The
// initiator asks again after T, 2T, 4T, and so on; when a candidate is back, it
// leads.
func TestNoCandidate(t *testing.T) {
	t.Parallel()
	b := algotest.Ballot{
		Nodes: 4, Crashed: []algo.ID{3, 4}, Suspects: []algo.ID{1}, Params: params(0, 2),
	}
	p := b.Plan(t, id)
	p.InModel = false
	p.Scenario.Set("until", 1000*ms)
	o, err := algotest.Simulate(p)
	if err != nil || o.Status != trace.TimedOut || o.Completed != 0 {
		t.Errorf("%s: %s, %v, want a time-out", o.Status, o.Reason, err)
	}
	var asked []time.Duration
	for _, r := range o.Trace {
		if r.Type == trace.Send {
			asked = append(asked, r.At)
		}
	}
	// A try takes T; between two are T, 2T, 4T ... 64T.
	if got := fmt.Sprint(asked[:9]); got != "[0s 4ms 10ms 20ms 38ms 72ms 138ms 268ms 398ms]" {
		t.Errorf("asked at %s", got)
	}

	b.Events = []harness.Event{{At: 30 * ms, Do: harness.DoRestart, Node: 3}}
	o, err = algotest.Simulate(b.Plan(t, id))
	if err != nil || o.Status != trace.OK || o.Completed != 1 || o.Operations[0].Process != 3 {
		t.Errorf("%s: %s: %v, %v", o.Status, o.Reason, o.Operations, err)
	}
}

var (
	elect = algo.Event{Type: algo.Elect}
	delta = algotest.Expire("delta")
	timeT = algotest.Expire("T")
)

func suspect(p algo.ID) algo.Event { return algo.Event{Type: algo.Suspect, Peer: p} }
func restore(p algo.ID) algo.Event { return algo.Event{Type: algo.Restore, Peer: p} }

func round(number uint64, initiator algo.ID, incarnation uint32) plugin.Round {
	return plugin.Round{Number: number, Initiator: initiator, Incarnation: incarnation}
}

func asks(from algo.ID, number uint64) algo.Event {
	return algotest.Hear(from, plugin.Election{Round: round(number, from, 0)})
}

func answer(from algo.ID, r plugin.Round, newest uint64) algo.Event {
	return algotest.Hear(from, plugin.Answer{Round: r, Newest: newest})
}

func announces(from algo.ID, number uint64, leader algo.ID) algo.Event {
	return algotest.Hear(from, plugin.Coordinator{Leader: leader, Round: round(number, from, 0)})
}

// TestAnswer: rules 2 to 4; one to an earlier round, or of an earlier life, or
// behind T, does not count.
func TestAnswer(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 1, 5, 2, params(ms, 3))
	s.Want(0, algo.Event{Type: algo.Start}, "leader=0 delta=4ms")
	s.Want(4*ms, delta, "ELECTION>3 ELECTION>4 ELECTION>5 T=2ms")
	s.Want(4*ms, answer(5, round(1, 1, 1), 0), "")
	s.Want(5*ms, answer(4, round(1, 1, 2), 0), "")
	s.Want(5*ms, answer(3, round(1, 1, 2), 0), "")
	s.Want(6*ms, timeT, "-delta -T leader=4 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4 COORDINATOR>5")
	s.Want(6*ms, answer(5, round(1, 1, 2), 0), "")
	s.Want(6*ms, suspect(4), "leader=0 delta=3ms") // the highest left goes first: 4 does not count
	s.Want(6*ms, answer(5, round(1, 1, 2), 0), "")
	s.Want(9*ms, delta, "ELECTION>3 ELECTION>5 T=2ms")
	s.Want(9*ms, answer(5, round(1, 1, 2), 0), "")
	s.Want(11*ms, timeT, "delta=2ms")
	s.Want(13*ms, delta, "ELECTION>3 ELECTION>5 T=2ms")
	s.Want(14*ms, answer(3, round(3, 1, 2), 0), "")
	s.Want(15*ms, timeT, "-delta -T leader=3 COORDINATOR>2 COORDINATOR>3 COORDINATOR>5")
	s.Want(15*ms, suspect(3), "leader=0 delta=3ms")
	s.Want(18*ms, delta, "ELECTION>4 ELECTION>5 T=2ms")
	s.Want(20*ms, timeT, "delta=2ms") // the first try of this election
	s.Want(22*ms, delta, "ELECTION>4 ELECTION>5 T=2ms")
	s.Want(24*ms, timeT, "delta=4ms")
}

// TestElection: only candidates answer, whatever they are doing.
func TestElection(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 2, 5, 0, params(ms, 3))
	s.Want(0, asks(1, 1), "")
	s = algotest.NewSolo(t, id, 5, 3, 5, 0, params(ms, 3))
	s.Want(0, asks(1, 1), "ANSWER>1")
	s.Want(0, elect, "leader=0 delta=2ms")
	s.Want(0, elect, "")
	s.Want(0, asks(1, 1), "ANSWER>1")
	s.Want(2*ms, delta, "ELECTION>4 ELECTION>5 T=2ms")
	if want := (plugin.Election{Round: round(2, 3, 0)}); s.Sent[0] != want {
		t.Errorf("asks %v, want %v: 1 was heard of", s.Sent[0], want)
	}
	s.Want(2*ms, asks(1, 7), "ANSWER>1")
	if want := (plugin.Answer{Round: round(7, 1, 0), Newest: 2}); s.Sent[0] != want {
		t.Errorf("answers %v, want %v", s.Sent[0], want)
	}
}

// TestRounds: the newer announcement counts in whatever order the two come, and a
// process that missed rounds announces one that is newer than these.
func TestRounds(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 1, 5, 0, params(0, 3))
	s.Want(0, announces(2, 3, 4), "-delta -T leader=4")
	s.Want(0, announces(3, 2, 3), "COORDINATOR>3")
	if want := (plugin.Coordinator{Leader: 4, Round: round(3, 2, 0)}); s.Sent[0] != want {
		t.Errorf("tells %v, want %v", s.Sent[0], want)
	}
	s.Want(0, announces(3, 2, 4), "") // no matter: the leader is the same
	s.Want(0, announces(3, 3, 5), "-delta -T leader=5")
	now := plugin.Coordinator{Leader: 3, Round: round(3, 3, 2)}
	before := plugin.Coordinator{Leader: 5, Round: round(3, 3, 1)} // in a former life
	s.Want(0, algotest.Hear(3, now), "-delta -T leader=3")
	s.Want(0, algotest.Hear(3, before), "COORDINATOR>3")
	s.Want(0, elect, "leader=0 delta=0s")
	s.Want(0, announces(2, 3, 4), "") // older, and it hears the newer yet
	s.Want(0, delta, "ELECTION>3 ELECTION>4 ELECTION>5 T=2ms")
	s.Want(ms, answer(4, round(4, 1, 0), 9), "")
	s.Want(ms, answer(3, round(4, 1, 0), 2), "")
	s.Want(2*ms, timeT, "-delta -T leader=4 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4 COORDINATOR>5")
	if want := (plugin.Coordinator{Leader: 4, Round: round(10, 1, 0)}); s.Sent[0] != want {
		t.Errorf("announces %v, want %v", s.Sent[0], want)
	}
	s.Want(2*ms, elect, "leader=0 delta=0s")
	s.Want(2*ms, delta, "ELECTION>3 ELECTION>4 ELECTION>5 T=2ms")
	s.Want(3*ms, answer(4, round(11, 1, 0), 10), "")
	s.Want(4*ms, timeT, "-delta -T leader=4 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4 COORDINATOR>5")
	if want := (plugin.Coordinator{Leader: 4, Round: round(11, 1, 0)}); s.Sent[0] != want {
		t.Errorf("announces %v, want %v", s.Sent[0], want)
	}
	s.Want(4*ms, elect, "leader=0 delta=0s")
	s.Want(4*ms, delta, "ELECTION>3 ELECTION>4 ELECTION>5 T=2ms")
	s.Want(5*ms, answer(4, round(12, 1, 0), 12), "")
	s.Want(6*ms, timeT, "-delta -T leader=4 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4 COORDINATOR>5")
	if want := (plugin.Coordinator{Leader: 4, Round: round(13, 1, 0)}); s.Sent[0] != want {
		t.Errorf("announces %v, want %v", s.Sent[0], want)
	}
}

// TestHearsOfANewerRound: a process that announced a leader passes the leader of a newer round on to all,
// unless the process that made that round tells it, and so tells all itself.
func TestHearsOfANewerRound(t *testing.T) {
	t.Parallel()
	for from, passed := range map[algo.ID]string{
		2: " COORDINATOR>2 COORDINATOR>3 COORDINATOR>4 COORDINATOR>5", 3: "",
	} {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, params(0, 3))
		s.Want(0, elect, "leader=0 delta=0s")
		s.Want(0, delta, "ELECTION>3 ELECTION>4 ELECTION>5 T=2ms")
		s.Want(ms, answer(4, round(1, 1, 0), 0), "")
		s.Want(2*ms, timeT, "-delta -T leader=4 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4 COORDINATOR>5")
		newer := plugin.Coordinator{Leader: 3, Round: round(2, 3, 0)}
		s.Want(3*ms, algotest.Hear(from, newer), "-delta -T leader=3"+passed)
		if passed != "" && s.Sent[0] != newer {
			t.Errorf("passes %v on, want %v", s.Sent[0], newer)
		}
		newer.Round.Number++ // it follows another's round by now
		s.Want(4*ms, algotest.Hear(2, newer), "-delta -T leader=3")
	}
}

// TestRestore: a leader that was left out wrongly is told, and so is who is back,
// by whoever announced the leader.
func TestRestore(t *testing.T) {
	t.Parallel()
	lead := func(t *testing.T, before ...algo.Event) *algotest.Solo {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, params(0, 3))
		s.Want(0, suspect(5), "leader=0 delta=0s")
		s.Want(0, delta, "ELECTION>3 ELECTION>4 T=2ms")
		s.Want(ms, answer(4, round(1, 1, 0), 0), "")
		for _, ev := range before {
			s.Want(ms, ev, "")
		}
		return s
	}
	told := "-delta -T leader=4 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4"
	s := lead(t)
	s.Want(2*ms, timeT, told)
	s.Want(3*ms, restore(5), "COORDINATOR>5")
	s.Want(3*ms, restore(2), "COORDINATOR>2")
	s.Want(3*ms, elect, "leader=0 delta=0s")
	s.Want(3*ms, restore(2), "")
	s.Want(4*ms, announces(2, 2, 3), "-delta -T leader=3")
	s.Want(4*ms, restore(5), "")
	s = lead(t, restore(5)) // before it is announced
	s.Want(2*ms, timeT, told+" COORDINATOR>5")
	s = algotest.NewSolo(t, id, 5, 1, 5, 0, params(0, 3))
	s.Want(0, restore(3), "") // nothing was announced
	s.Want(0, elect, "leader=0 delta=0s")
	s.Want(0, suspect(3), "")
}

// TestComesBack: for T, whoever has come back follows no announcement, but notes which
// is the newest. Its own is newer than that.
func TestComesBack(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 5, 1, 5, 1, params(ms/4, 3))
	s.Want(0, algo.Event{Type: algo.Start}, "leader=0 delta=1ms")
	s.Want(0, announces(2, 3, 4), "")
	s.Want(ms, delta, "ELECTION>3 ELECTION>4 ELECTION>5 T=2ms")
	s.Want(2*ms-1, announces(3, 5, 5), "")
	s.Want(2*ms, announces(2, 4, 4), "") // older than what it noted
	s.Want(3*ms, answer(5, round(4, 1, 1), 0), "")
	s.Want(3*ms, timeT, "-delta -T leader=5 COORDINATOR>2 COORDINATOR>3 COORDINATOR>4 COORDINATOR>5")
	if want := (plugin.Coordinator{Leader: 5, Round: round(6, 1, 1)}); s.Sent[0] != want {
		t.Errorf("announces %v, want %v", s.Sent[0], want)
	}
	s = algotest.NewSolo(t, id, 5, 1, 5, 1, params(ms, 3))
	s.Want(0, algo.Event{Type: algo.Start}, "leader=0 delta=4ms")
	s.Want(2*ms, announces(2, 3, 4), "-delta -T leader=4")
}

// TestFormerLife: 2 announces itself, crashes, and is back before it is missed. 1
// follows that life. The next one does not follow 1, which announced itself before it
// heard of that.
func TestFormerLife(t *testing.T) {
	t.Parallel()
	p := algotest.Ballot{
		Nodes: 2, Params: map[string]any{"t_answer": 170 * ms, "spacing": 340 * ms},
		Events: []harness.Event{
			{At: 298 * ms, Do: harness.DoCrash, Node: 2, For: 146 * ms},
			{At: 615 * ms, Do: harness.DoCrash, Node: 2, For: ms},
		},
	}.Plan(t, id)
	p.Network.Latency = link.Constant(50 * ms)
	p.Detector = harness.HeartbeatDetector(100*ms, 200*ms)
	for seed := range uint64(50) { // the phases of the heartbeats
		p.Seed = seed
		o, err := algotest.Simulate(p)
		if err != nil || o.Status != trace.OK {
			t.Errorf("seed %d: %s: %s, %v", seed, o.Status, o.Reason, err)
		}
	}
}

// TestDoubt: a suspected process that is announced is back, or died again.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for _, died := range []bool{false, true} {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, params(0, 3))
		s.Want(0, suspect(5), "leader=0 delta=0s")
		s.Want(0, announces(2, 1, 5), "-delta -T leader=5 doubt=2ms")
		want := "leader=0 delta=0s"
		if !died {
			s.Want(0, restore(5), "")
			want = ""
		}
		s.Want(2*ms, algotest.Expire("doubt"), want)
	}
}

// TestDiesAnnouncing: the initiator dies when only some have been told; the next
// in the order of delays goes on.
func TestDiesAnnouncing(t *testing.T) {
	t.Parallel()
	algotest.RunDyingWinners(t, id, 12*ms, params(3*ms, 3))
}

// TestDefaults: of n processes n/2 + 1 are candidates, and T covers a round trip.
func TestDefaults(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	net := algo.Network{Nodes: 7, Latency: ms}
	p, _ := alg.Spec.Resolve(nil, net)
	got := fmt.Sprint(p["t_answer"], p["spacing"], p["candidates"], alg.Spec.Survives.CrashesOf(7, p))
	if got != "23ms 46ms 4 3" {
		t.Errorf("defaults %s", got)
	}
	for answer, good := range map[time.Duration]bool{2 * ms: true, 2*ms - 1: false} {
		p["t_answer"] = answer
		if err := alg.Spec.Needs.Params(net, p); (err == nil) != good {
			t.Errorf("T = %v: %v", answer, err)
		}
	}
}

// TestSurvives: as many crashes as leave a candidate, whoever they are.
func TestSurvives(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	one, none := int64(1), int64(0)
	for name, test := range map[string]struct {
		given map[string]any
		want  int
		ok    bool
	}{
		"defaults":         {nil, 2, true},
		"one candidate":    {map[string]any{"candidates": one}, 0, true},
		"more than all":    {map[string]any{"candidates": int64(1 << 53)}, 4, true},
		"a list":           {map[string]any{"candidate": []any{one, one, none, none, none}}, 1, true},
		"a list of nobody": {map[string]any{"candidate": []any{none, none, none, none, none}}, 0, false},
		"nobody":           {map[string]any{"candidate": none}, 0, false},
	} {
		net := algo.Network{Nodes: 5, Latency: ms, Bounded: true}
		p, errs := alg.Spec.Resolve(test.given, net)
		err := alg.Spec.Needs.Params(net, p.Of(1))
		if got := alg.Spec.Survives.CrashesOf(5, p); got != test.want || (err == nil) != test.ok || errs != nil {
			t.Errorf("%s: survives %d crashes, %v, %v", name, got, err, errs)
		}
	}
}
