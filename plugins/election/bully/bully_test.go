package bully_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/bully"
)

const (
	id = "election/bully"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// fast are the time-outs of the unit-delay model.
func fast() map[string]any {
	return map[string]any{"t_answer": 2 * ms, "t_coordinator": 4 * ms}
}

// An election is a script in the unit-delay model with T = 2, T' = 4.
type election algotest.Ballot

func (e election) run(t *testing.T) algotest.Outcome {
	t.Helper()
	e.Params = algotest.With(fast(), e.Params)
	return algotest.MustSimulate(t, algotest.Ballot(e).Plan(t, id))
}

// A tally is what an election comes to.
type tally struct {
	election, answer, coordinator, lost int
	leader                              algo.ID
	informed                            time.Duration
}

// wants runs the election and compares.
func (e election) wants(t *testing.T, want tally) {
	t.Helper()
	e.Params = algotest.With(fast(), e.Params)
	e.Kinds = map[string]int64{
		"ELECTION": int64(want.election), "ANSWER": int64(want.answer), "COORDINATOR": int64(want.coordinator),
	}
	e.Delivered = int64(want.election + want.answer + want.coordinator - want.lost)
	e.Winner, e.Informed = want.leader, want.informed
	algotest.Ballot(e).Run(t, id)
}

func suspect(processes ...algo.ID) []harness.Event {
	return algotest.Each(harness.DoSuspect, processes...)
}

// TestCounts is the table of exact counts, for N = 3 to 8 and every detector r.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 8; n++ {
		top, second := algo.ID(n), algo.ID(n-1)
		dead := election{Nodes: n, Leader: top, Crashed: []algo.ID{top}}
		for r := 1; r < n; r++ {
			t.Run(fmt.Sprintf("N=%d: %d detects", n, r), func(t *testing.T) {
				t.Parallel()
				e, want := dead, tally{(n - r) * (n - r + 1) / 2, (n - r) * (n - r - 1) / 2, n - 2, n - r,
					second, 4 * ms}
				if r == n-1 {
					want.informed = 3 * ms
				}
				e.Events = suspect(algo.ID(r))
				e.wants(t, want)
				if sent := want.election + want.answer + want.coordinator; sent != (n-r)*(n-r)+n-2 ||
					r == 1 && sent != n*n-n-1 || r == n-1 && sent != n-1 {
					t.Errorf("the test's own sum is %d", sent)
				}
			})
			t.Run(fmt.Sprintf("N=%d: all live, %d starts", n, r), func(t *testing.T) {
				t.Parallel()
				asked := (n - r) * (n - r + 1) / 2
				for reply, coordinator := range map[string]int{"broadcast": (n - r) * (n - 1),
					"unicast": n - r} {
					e := election{Nodes: n, Leader: top, Params: map[string]any{"coordinator_reply": reply},
						Events: []harness.Event{{Do: harness.DoElect, Node: algo.ID(r)}}}
					informed := 3 * ms // by the reply to the others, who ask at 1
					if r == n-1 {
						informed = 2 * ms
					}
					e.wants(t, tally{asked, asked, coordinator, 0, top, informed})
				}
			})
		}
		t.Run(fmt.Sprintf("N=%d: all detect at once", n), func(t *testing.T) {
			t.Parallel()
			e := dead
			e.Events = suspect(algotest.Everybody(n - 1)...)
			e.wants(t, tally{n * (n - 1) / 2, (n - 1) * (n - 2) / 2, n - 2, n - 1, second, 3 * ms})
		})
		t.Run(fmt.Sprintf("N=%d: the lowest restarts", n), func(t *testing.T) {
			t.Parallel()
			pairs := n * (n - 1) / 2
			for reply, coordinator := range map[string]int{"broadcast": (n - 1) * (n - 1),
				"unicast": n - 1} {
				e := election{Nodes: n, Leader: top, Crashed: []algo.ID{1},
					Params: map[string]any{"coordinator_reply": reply},
					Events: []harness.Event{{Do: harness.DoRestart, Node: 1}}}
				e.wants(t, tally{pairs, pairs, coordinator, 0, top, 3 * ms})
			}
		})
		t.Run(fmt.Sprintf("N=%d: the top restarts", n), func(t *testing.T) {
			t.Parallel()
			e := election{Nodes: n, Leader: second, Crashed: []algo.ID{top},
				Events: []harness.Event{{Do: harness.DoRestart, Node: top}}}
			e.wants(t, tally{0, 0, n - 1, 0, top, ms})
		})
		t.Run(fmt.Sprintf("N=%d: the literal rules", n), func(t *testing.T) {
			t.Parallel()
			e := dead
			e.Events, e.Params = suspect(1), map[string]any{"suppress_duplicates": false}
			e.wants(t, tally{1<<(n-1) - 1, 1<<(n-2) - 1, (n - 2) << (n - 3), 1 << (n - 2), second,
				time.Duration(n+1) * ms})
		})
	}
}

// TestFigure181 is the worked example of the notes, message by message: S1 to S3
// and SC are 1 to 4; SC has crashed, and 3 crashes just before it would announce
// itself. It is also the test that a process that answers may die (P10).
func TestFigure181(t *testing.T) {
	t.Parallel()
	o := election{Nodes: 4, Leader: 4, Crashed: []algo.ID{4}, Events: append(suspect(1),
		harness.Event{At: 3 * ms, Do: harness.DoCrash, Node: 3})}.run(t)
	const want = `
0s ELECTION 1>2, 0s ELECTION 1>3, 0s ELECTION 1>4,
1ms ANSWER 2>1, 1ms ELECTION 2>3, 1ms ELECTION 2>4, 1ms ANSWER 3>1, 1ms ELECTION 3>4,
2ms ANSWER 3>2,
6ms ELECTION 1>2, 6ms ELECTION 1>3, 6ms ELECTION 1>4,
7ms ANSWER 2>1, 7ms ELECTION 2>3, 7ms ELECTION 2>4,
9ms COORDINATOR 2>1`
	if text := strings.ReplaceAll(strings.TrimSpace(want), "\n", " "); o.Messages() != text {
		t.Errorf("messages\n got %s\nwant %s", o.Messages(), text)
	}
	if o.Status != trace.OK || o.Totals.Sent != 16 || o.Totals.Delivered != 9 ||
		o.Operations[0].Process != 2 || o.LastNamed() != 10*ms {
		t.Errorf("%s, %d sent, %d delivered, %+v", o.Status, o.Totals.Sent, o.Totals.Delivered,
			o.Operations)
	}
}

// TestInitiators: whoever starts, together or staggered by less than a message's
// delay, the top elects itself once (P4).
func TestInitiators(t *testing.T) {
	t.Parallel()
	const n = 6
	for _, stagger := range []time.Duration{0, ms / 3} {
		for set := 1; set < 1<<(n-1); set++ {
			var events []harness.Event
			lowest := n
			for p := n - 1; p >= 1; p-- {
				if set>>(p-1)&1 == 1 {
					events = append(events, harness.Event{Do: harness.DoSuspect, Node: algo.ID(p),
						At: time.Duration(p%3) * stagger})
					lowest = p
				}
			}
			o := election{Nodes: n, Leader: n, Crashed: []algo.ID{n}, Events: events}.run(t)
			if want := int64((n-lowest)*(n-lowest) + n - 2); o.Status != trace.OK ||
				o.Operations[0].Process != n-1 || o.Totals.Sent != want {
				t.Errorf("initiators %b, stagger %v: %s %s, leader %d, %d sent; want leader %d, %d sent", set,
					stagger, o.Status, o.Reason, o.Operations[0].Process, o.Totals.Sent, n-1, want)
			}
		}
	}
}

// TestEqualEstimates: of equal estimates the larger ID wins (P7).
func TestEqualEstimates(t *testing.T) {
	t.Parallel()
	for detector := algo.ID(1); detector <= 3; detector++ {
		e := election{Nodes: 4, Leader: 4, Crashed: []algo.ID{4}, Events: suspect(detector),
			Params: map[string]any{"est": []any{int64(7), int64(9), int64(9), int64(12)}}}
		o := e.run(t)
		if o.Status != trace.OK || o.Operations[0].Process != 3 {
			t.Errorf("%d detects: %s: %s, leader %d, want 3", detector, o.Status, o.Reason,
				o.Operations[0].Process)
		}
	}
	// The order of IDs is not the order of ranks: 1 is the top here.
	o := election{Nodes: 4, Leader: 1, Crashed: []algo.ID{1}, Events: suspect(4),
		Params: map[string]any{"est": []any{int64(12), int64(9), int64(9), int64(7)}}}.run(t)
	if o.Status != trace.OK || o.Operations[0].Process != 3 || o.Totals.Sent != 11 {
		t.Errorf("%s: %s, leader %d, %d sent, want 3 and 11", o.Status, o.Reason,
			o.Operations[0].Process, o.Totals.Sent)
	}
}

// TestDeclarationCutShort: the winner crashes after any prefix of its COORDINATOR
// sends. Those who got it follow a dead leader until their detector says so; the
// others start again when T' is over. All find the next (P11).
func TestDeclarationCutShort(t *testing.T) {
	t.Parallel()
	for n := 4; n <= 7; n++ {
		winner := uint32(n - 1)
		for k := 0; k <= n-2; k++ {
			t.Run(fmt.Sprintf("N=%d: after %d sends", n, k), func(t *testing.T) {
				t.Parallel()
				events := suspect(1)
				if k < n-2 { // what is not sent is lost here
					var rest []uint32
					for p := uint32(k + 1); p <= uint32(n-2); p++ {
						rest = append(rest, p)
					}
					var others []uint32
					for p := uint32(1); p <= uint32(n); p++ {
						if !slices.Contains(rest, p) && p != winner {
							others = append(others, p)
						}
					}
					at := 5 * ms / 2 // it declares itself at 3
					sides := [][]uint32{{winner}, rest}
					events = append(events, harness.Event{At: at, Do: harness.DoCut, Groups: sides})
					if len(others) > 0 { // they hear everybody
						events = append(events,
							harness.Event{At: at, Do: harness.DoHeal, Groups: [][]uint32{others}})
					}
				}
				events = append(events, harness.Event{At: 7 * ms / 2, Do: harness.DoCrash,
					Node: algo.ID(winner)},
					harness.Event{At: 7 * ms / 2, Do: harness.DoHeal})
				e := election{Nodes: n, Leader: algo.ID(n), Crashed: []algo.ID{algo.ID(n)}, Events: events,
					Detector: 10 * ms}
				o := e.run(t)
				heard := 0
				for _, r := range o.Trace {
					if r.Type == trace.Deliver && r.Peer == winner && o.Kinds[r.Kind].Name == "COORDINATOR" {
						heard++
					}
				}
				last := o.Last()
				if heard != k || o.Status != trace.OK || last != algo.ID(n-2) {
					t.Errorf("%d heard of it, %s: %s, leader %d; want %d, ok, %d", heard, o.Status, o.Reason,
						last, k, n-2)
				}
			})
		}
	}
}

// TestTimeoutTooShort: with T below the round trip every process declares itself.
func TestTimeoutTooShort(t *testing.T) {
	t.Parallel()
	o := election{Nodes: 4, Leader: 4, Crashed: []algo.ID{4}, Events: suspect(1),
		Params: map[string]any{"t_answer": 19 * ms / 10}}.run(t)
	split := 0.0
	for _, m := range o.Metrics {
		if m.Name == "split_brain_ms" {
			split = m.Value
		}
	}
	if split == 0 {
		t.Error("nobody declared itself too early")
	}
}

var elect = algo.Event{Type: algo.Elect}

// TestRules drives one process of three, number 2 unless the name says other,
// through a rule or a pitfall.
func TestRules(t *testing.T) {
	t.Parallel()
	answer := func(incarnation, count uint32) algo.Message {
		return bully.Answer{Attempt: bully.Attempt{Incarnation: incarnation, Count: count}}
	}
	question := bully.Election{Attempt: bully.Attempt{Count: 7}}
	type step struct {
		event algo.Event
		want  string
	}
	for name, test := range map[string]struct {
		self        algo.ID
		incarnation uint32
		steps       []step
	}{
		"an answer to an earlier attempt is stale (P1)": {2, 0, []step{
			{elect, "ELECTION{{0 1}}>3 leader=0/0 T+"},
			{algotest.Hear(3, answer(0, 1)), "T- T'+"},
			{algotest.Expire("T'"), "ELECTION{{0 2}}>3 leader=0/0 T+"},
			{algotest.Hear(3, answer(0, 1)), ""},
			{algotest.Expire("T"), "T'- leader=2/0 COORDINATOR{}>1"},
		}},
		"an answer after the declaration changes nothing (P1)": {2, 0, []step{
			{elect, "ELECTION{{0 1}}>3 leader=0/0 T+"},
			{algotest.Expire("T"), "T'- leader=2/0 COORDINATOR{}>1"},
			{algotest.Hear(3, answer(0, 1)), ""},
		}},
		"a second answer changes nothing": {1, 0, []step{
			{elect, "ELECTION{{0 1}}>2 ELECTION{{0 1}}>3 leader=0/0 T+"},
			{algotest.Hear(2, answer(0, 1)), "T- T'+"},
			{algotest.Hear(3, answer(0, 1)), ""},
		}},
		"a suspicion during an election is ignored (P5)": {2, 0, []step{
			{elect, "ELECTION{{0 1}}>3 leader=0/0 T+"},
			{elect, ""},
			{algotest.Hear(3, answer(0, 1)), "T- T'+"},
			{elect, ""},
		}},
		"counters go on after a crash, old answers are ignored (P8)": {2, 1, []step{
			{algo.Event{Type: algo.Start}, "ELECTION{{1 1}}>3 leader=0/0 T+"},
			{algotest.Hear(3, answer(0, 1)), ""},
			{algotest.Hear(3, answer(1, 1)), "T- T'+"},
		}},
		"the first start is quiet": {2, 0, []step{{algo.Event{Type: algo.Start}, ""}}},
		"a lower coordinator is bullied (P12)": {2, 0, []step{
			{algotest.Hear(1, bully.Coordinator{}), "ELECTION{{0 1}}>3 leader=0/0 T+"},
		}},
		"a lower coordinator, the top (P12)": {3, 0, []step{
			{algotest.Hear(1, bully.Coordinator{}), "T'- leader=3/0 COORDINATOR{}>1 COORDINATOR{}>2"},
		}},
		"a higher coordinator ends the election": {2, 0, []step{
			{elect, "ELECTION{{0 1}}>3 leader=0/0 T+"},
			{algotest.Hear(3, bully.Coordinator{}), "T- T'- leader=3/0"},
		}},
		"duplicates are suppressed": {2, 0, []step{
			{algotest.Hear(1, question), "ANSWER{{0 7}}>1 ELECTION{{0 1}}>3 leader=0/0 T+"},
			{algotest.Hear(1, question), "ANSWER{{0 7}}>1"},
			{algotest.Hear(3, answer(0, 1)), "T- T'+"},
			{algotest.Hear(1, question), "ANSWER{{0 7}}>1"},
		}},
		"the coordinator is asked": {3, 0, []step{
			{elect, "T'- leader=3/0 COORDINATOR{}>1 COORDINATOR{}>2"},
			{algotest.Hear(1, question), "ANSWER{{0 7}}>1 T'- leader=3/0 " +
				"COORDINATOR{}>1 COORDINATOR{}>2"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := algotest.NewTranscript(t, id, 3, algo.Config{ID: test.self, Incarnation: test.incarnation}, fast())
			for _, s := range test.steps {
				r.Feed(s.event, s.want)
			}
		})
	}
}

// TestNoPatience: a T' of 0 is over at once; in bully-ok it never is.
func TestNoPatience(t *testing.T) {
	t.Parallel()
	answered := bully.Attempt{Count: 1}
	s := algotest.NewSolo(t, id, 3, 2, 3, 0, map[string]any{"t_coordinator": 0 * ms, "t_answer": 2 * ms})
	s.Want(0, elect, "ELECTION>3 leader=0 T=2ms")
	s.Want(ms, algotest.Hear(3, bully.Answer{Attempt: answered}), "-T T'=0s")
	s = algotest.NewSolo(t, okID, 3, 2, 3, 0, literal())
	s.Want(0, elect, "ELECTION>3 leader=0 T=2ms")
	s.Want(ms, algotest.Hear(3, bully.OK{Attempt: answered}), "-T")
}

// TestRacedAnnouncements: what one of lower rank sent before it heard of one that
// came back may arrive last. Within T it is not believed but starts an election;
// later it is, as the higher one may have died.
func TestRacedAnnouncements(t *testing.T) {
	t.Parallel()
	from := func(p algo.ID) algo.Event { return algotest.Hear(p, bully.Coordinator{}) }
	params := map[string]any{"t_answer": 2 * ms, "t_coordinator": 4 * ms,
		"est": []any{int64(0), int64(0), int64(9), int64(5), int64(1)}} // the order of ranks: 3, 4, 5, 2, 1
	const higher = "ELECTION>2 ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms"
	for _, test := range []struct {
		then time.Duration // after 3 announced itself, at 9 ms
		from algo.ID
		want string
	}{
		{0, 4, higher},
		{2*ms - 1, 4, higher},
		{2*ms - 1, 5, higher},
		{2 * ms, 4, "-T' leader=4"},
		{2*ms - 1, 3, "-T' leader=3"}, // it repeats itself
	} {
		s := algotest.NewSolo(t, id, 5, 1, 5, 0, params)
		s.Want(8*ms, from(5), "-T' leader=5") // at first nobody is known to be higher
		s.Want(9*ms, from(3), "-T' leader=3")
		s.Want(9*ms+test.then, from(test.from), test.want)
	}
	s := algotest.NewSolo(t, id, 5, 2, 3, 0, params)
	s.Want(9*ms, from(1), "ELECTION>3 ELECTION>4 ELECTION>5 leader=0 T=2ms") // bullied at any time
	s = algotest.NewSolo(t, id, 5, 1, 5, 0, params)
	s.Want(9*ms, from(3), "-T' leader=3")
	s.Want(9*ms, elect, higher)
	s.Want(10*ms, from(4), "") // the election that is running tells
	s.Want(11*ms, from(4), "-T -T' leader=4")
	s = algotest.NewSolo(t, id, 5, 1, 5, 0, params)
	s.Want(9*ms, from(3), "-T' leader=3")
	s.Want(9*ms, elect, higher)
	s.Want(10*ms, from(4), "")
	s.Want(11*ms, from(5), "") // it raced 4, which was not believed itself
	s.Want(12*ms, from(5), "-T -T' leader=5")
}

// TestAnswerAtTheLastInstant: an answer that comes in the instant in which T
// expires counts; the expiry does not (P36).
func TestAnswerAtTheLastInstant(t *testing.T) {
	t.Parallel()
	o := election{Nodes: 3, Leader: 3, Crashed: []algo.ID{3}, Events: suspect(1)}.run(t)
	for _, r := range o.Trace {
		if r.Type == trace.Timeout && r.Process == 1 {
			t.Errorf("T of process 1 fired at %v, in the instant of the answer", r.At)
		}
	}
}

// TestStaleAnswerInAWholeRun: an answer that a restarted process had asked for in
// its former life changes nothing (P8).
func TestStaleAnswerInAWholeRun(t *testing.T) {
	t.Parallel()
	o := election{Nodes: 3, Leader: 3, Crashed: []algo.ID{3}, Events: append(suspect(1),
		harness.Event{At: ms / 2, Do: harness.DoCrash, Node: 1},
		harness.Event{At: 3 * ms / 4, Do: harness.DoRestart, Node: 1})}.run(t)
	if last := o.Last(); o.Status != trace.OK || last != 2 {
		t.Errorf("%s: %s, leader %d, want 2", o.Status, o.Reason, last)
	}
}
