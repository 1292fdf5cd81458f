package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestOrderOfOneInstant: control, deliveries by sender and send order, timers by
// process, commands by process.
func TestOrderOfOneInstant(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" && env.Now() == ms {
			env.SetTimer("t", ms)
			for _, p := range []algo.ID{5, 1, 4, 1} {
				env.Send(p, Note{})
			}
		}
	}
	_, list := script(t, 6, f, func(p *harness.Plan) {
		p.Detector = harness.PerfectDetector(ms)
	},
		harness.Event{At: 2 * ms, Do: "invite", Node: 5, Target: 1},
		harness.Event{At: 2 * ms, Do: harness.DoElect, Node: 4},
		harness.Event{At: 2 * ms, Do: harness.DoElect, Node: 1},
		harness.Event{At: ms, Do: harness.DoElect, Node: 3},
		harness.Event{At: ms, Do: harness.DoElect, Node: 2},
		harness.Event{At: ms, Do: harness.DoCrash, Node: 6},
		harness.Event{At: 2 * ms, Do: harness.DoRestart, Node: 6},
		harness.Event{At: 2 * ms, Do: harness.DoCut, Groups: [][]uint32{{1, 2, 3, 4, 6}, {5}}},
	)
	var instant trace.List
	for _, r := range list {
		if r.At == 2*ms {
			instant = append(instant, r)
		}
	}
	same(t, "the instant 2ms", tell(instant, trace.Cut, trace.Up, trace.Deliver, trace.Lose,
		trace.Timeout, trace.Suspect, trace.Elect, trace.Do), []string{
		"2ms cut 1 2 3 4 6|5", "2ms up p6",
		"2ms lose p5 2 #1", "2ms deliver p1 2 #1", "2ms deliver p4 2 #1", "2ms deliver p1 2 #2",
		"2ms lose p5 3 #1", "2ms deliver p1 3 #1", "2ms deliver p4 3 #1", "2ms deliver p1 3 #2",
		"2ms suspect p1 6", "2ms suspect p2 6", "2ms timeout p2 t", "2ms suspect p3 6",
		"2ms timeout p3 t", "2ms suspect p4 6", "2ms suspect p5 6",
		"2ms elect p1", "2ms elect p4", "2ms do p5 1 invite",
	})
}

// TestDescending: the deliveries of one instant by falling sender, and those of one
// sender in the order of their sending still.
func TestDescending(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			env.Send(1, Note{})
			env.Send(1, Note{})
		}
	}
	_, list := script(t, 3, f, func(p *harness.Plan) { p.Descending = true },
		harness.Event{Do: harness.DoElect, Node: 2}, harness.Event{Do: harness.DoElect, Node: 3})
	same(t, "the deliveries", tell(list, trace.Deliver, trace.Elect), []string{
		"0s elect p2", "0s elect p3",
		"1ms deliver p1 3 #1", "1ms deliver p1 3 #2", "1ms deliver p1 2 #1", "1ms deliver p1 2 #2",
	})
}

// TestNoSharedMemory: what a receiver does to a message changes it nowhere else,
// neither at the sender nor at the other receivers nor in the second copy.
func TestNoSharedMemory(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, m algo.Message) {
		switch {
		case what == "elect" && a.list == nil:
			a.list = []int{1, 2, 3}
			algo.Broadcast(env, a.ID, a.Peers, List{a.list})
		case what == "elect":
			env.Logf("sender has %v", a.list)
			a.list[0] = 100
		case what == "receive":
			l := m.(List)
			env.Logf("got %v", l.Items)
			l.Items[1] = 200
		}
	}
	_, list := script(t, 3, f, func(p *harness.Plan) { p.Network.Duplication = 1 },
		harness.Event{Do: harness.DoElect, Node: 1}, harness.Event{Do: harness.DoElect, Node: 1},
		harness.Event{At: 9 * ms, Do: harness.DoElect, Node: 1})
	same(t, "seen", tell(list, trace.Log), []string{
		"0s log p1 sender has [1 2 3]",
		"1ms log p2 got [1 2 3]", "1ms log p2 got [1 2 3]", "1ms log p3 got [1 2 3]",
		"1ms log p3 got [1 2 3]", "9ms log p1 sender has [100 2 3]"})
}

// TestBytes: every message is counted with its encoded size, duplicates as well.
func TestBytes(t *testing.T) {
	t.Parallel()
	messages := []algo.Message{Note{}, Note{"abc"}, Note{strings.Repeat("x", 300)},
		List{[]int{1, -70000}}}
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			for _, m := range messages {
				env.Send(2, m)
			}
		}
	}
	p := plan("election/test-actor", 2, harness.Scenario{Plot: &harness.Script{
		Events: []harness.Event{{Do: harness.DoElect, Node: 1}}}}, role(f))
	p.Network.Duplication = 1
	_, list := run(t, p)
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range list {
		switch r.Type {
		case trace.Send, trace.Duplicate, trace.Deliver:
			b, err := s.Alg.Codec.Encode(nil, messages[r.Seq-1])
			if err != nil {
				t.Fatal(err)
			}
			if int(r.Bytes) != len(b) {
				t.Errorf("%s of message %d: %d bytes, want %d", r.Type, r.Seq, r.Bytes, len(b))
			}
			n++
		}
	}
	if n != 4*len(messages) {
		t.Errorf("%d records, want %d", n, 4*len(messages))
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	pingPong := func(a *actor, env algo.Env, _ string, _ algo.ID, _ algo.Message) {
		env.Send(a.Peers[len(a.Peers)-int(a.ID)], Note{})
	}
	elect := func(p *harness.Plan) { p.Scenario = harness.Scenario{Plot: &harness.ColdStart{}} }
	for name, test := range map[string]struct {
		id     string
		act    act
		change func(*harness.Plan)
		reason harness.Reason
		at     time.Duration
		err    string
	}{
		"zero latency, for ever": {"election/test-restless", pingPong, func(p *harness.Plan) {
			elect(p)
			p.Network.Latency = link.Constant(0)
		}, harness.Livelock, 0, ""},
		"a timer of no time, for ever": {"election/test-restless",
			func(_ *actor, env algo.Env, _ string, _ algo.ID, _ algo.Message) { env.SetTimer("t", 0) },
			elect, harness.Livelock, 0, ""},
		"for ever": {"election/test-restless", pingPong, func(p *harness.Plan) {
			elect(p)
			p.TimeLimit = 50*ms + ms/2
		}, harness.TimeLimit, 50*ms + ms/2, ""},
		"at the limit is within it": {"election/test-actor",
			func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
				switch what {
				case "elect":
					env.SetTimer("t", 50*ms)
				case "timeout t":
					env.Elected(1, 0)
				}
			}, func(p *harness.Plan) {
				elect(p)
				p.TimeLimit = 50 * ms
			}, harness.Finished, 50 * ms, ""},
		"nobody does anything": {"election/test-actor",
			func(*actor, algo.Env, string, algo.ID, algo.Message) {}, elect, harness.Stuck, 0, ""},
		"until": {"election/test-restless", pingPong, func(p *harness.Plan) {
			p.Scenario.Set("until", 7*ms)
		}, harness.Finished, 7 * ms, ""},
		"a panic": {"election/test-actor",
			func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
				if what == "elect" && a.ID == 2 {
					var none []int
					_ = none[a.ID]
				}
			}, elect, harness.Broken, 0,
			"process 2: panic: runtime error: index out of range [2] with length 0, in sim_test.TestEnds."},
		"a panic at the start": {"election/test-actor",
			func(a *actor, env algo.Env, _ string, _ algo.ID, _ algo.Message) { panic("no") },
			elect, harness.Broken, 0, "process 1: panic: no, in sim_test.TestEnds."},
		"an undeclared message": {"election/test-actor",
			func(a *actor, env algo.Env, _ string, _ algo.ID, _ algo.Message) { env.Send(3-a.ID, Rumor{}) },
			elect, harness.Broken, 0, "process 1 sends a RUMOR, which the Spec of "},
		"an invariant that does not hold": {"election/test-actor",
			func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
				if what == "elect" && a.ID == 2 {
					a.wrong = errors.New("one is two")
				}
			}, elect, harness.Broken, 0, "process 2: invariant: one is two"},
		"an invariant that does not hold at the start": {"election/test-actor",
			func(a *actor, _ algo.Env, _ string, _ algo.ID, _ algo.Message) { a.wrong = errors.New("no") },
			elect, harness.Broken, 0, "process 1: invariant: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan(test.id, 2, harness.Scenario{Plot: &harness.Script{}}, role(test.act))
			test.change(p)
			end, _ := run(t, p)
			if end.Reason != test.reason || end.At != test.at {
				t.Errorf("ended %q at %v, want %q at %v", end.Reason, end.At, test.reason, test.at)
			}
			if got := fmt.Sprint(end.Err); test.err == "" && end.Err != nil ||
				!strings.Contains(got, test.err) || strings.Contains(got, "\n") {
				t.Errorf("error %q, want a line with %q", got, test.err)
			}
		})
	}
}

// TestInvariant_BeyondTheModel: there an invariant that does not hold is recorded, once, and the
// trial comes to its end.
func TestInvariant_BeyondTheModel(t *testing.T) {
	t.Parallel()
	end, list := script(t, 2, func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			a.wrong = errors.New("one is two")
			env.Send(3-a.ID, Note{})
		}
	}, func(p *harness.Plan) { p.InModel = false },
		harness.Event{At: 2 * ms, Do: harness.DoElect, Node: 2})
	if end.Err != nil || end.Reason == harness.Broken {
		t.Errorf("ended %q: %v", end.Reason, end.Err)
	}
	var found []string
	for _, r := range list {
		if r.Type == trace.Unsound {
			found = append(found, fmt.Sprintf("p%d at %v: %s", r.Process, r.At, r.Text))
		}
	}
	if want := []string{"p2 at 2ms: one is two"}; !slices.Equal(found, want) {
		t.Errorf("recorded %q, want %q", found, want)
	}
}

// TestPendingAtAgreement: what the last event sends behind the agreement that
// ends the trial is still accounted for.
func TestPendingAtAgreement(t *testing.T) {
	t.Parallel()
	p := plan("election/test-restless", 3, harness.Scenario{Plot: &harness.ColdStart{Initiators: 1}},
		role(func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
			if what == "start" {
				return
			}
			env.Elected(1, 1)
			algo.Broadcast(env, a.ID, a.Peers, Note{})
		}))
	end, list := run(t, p)
	if end.Reason != harness.Finished || end.Pending != 4 {
		t.Errorf("ended %q with %d pending, want finished with 4", end.Reason, end.Pending)
	}
	conserved(t, end, list)
}

// TestCrash: a crash takes the process's timers; messages to it never arrive,
// not even if it is up again when they are due, nor do those that it sends get
// lost.
func TestCrash(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, from algo.ID, _ algo.Message) {
		switch {
		case what == "elect":
			env.SetTimer("t", 4*ms)
			env.Send(3-a.ID, Note{})
		case what == "receive" || what == "timeout t":
			env.Logf("%s %d", what, from)
		}
	}
	p := func(p *harness.Plan) { p.Network.Latency = link.Constant(3 * ms) }
	_, list := script(t, 2, f, p,
		harness.Event{Do: harness.DoElect, Node: 1}, // to reach 2 at 3ms, were it not for the crash
		harness.Event{Do: harness.DoElect, Node: 2}, // reaches 1 at 3ms; its timer would fire at 4ms
		harness.Event{At: 1 * ms, Do: harness.DoCrash, Node: 2},
		harness.Event{At: 2 * ms, Do: harness.DoRestart, Node: 2},
		harness.Event{At: 2 * ms, Do: harness.DoElect, Node: 1}, // reaches the restarted one
		harness.Event{At: 4 * ms, Do: harness.DoCrash, Node: 2}, // had it not crashed again
		harness.Event{At: 6 * ms, Do: harness.DoRestart, Node: 2},
		harness.Event{At: 6 * ms, Do: harness.DoElect, Node: 1}, // reaches it
		harness.Event{At: 20 * ms, Do: harness.DoCrash, Node: 2},
		harness.Event{At: 20 * ms, Do: harness.DoElect, Node: 1}, // it is down
		harness.Event{At: 20 * ms, Do: harness.DoElect, Node: 2}, // and does nothing
		harness.Event{At: 20 * ms, Do: harness.DoCrash, Node: 2}, // nor crash again
	)
	same(t, "what happened", tell(list, trace.Up, trace.Crash, trace.Deliver, trace.Undelivered,
		trace.Timeout), []string{
		"0s up p1", "0s up p2", "1ms crash p2", "2ms up p2",
		"3ms undelivered p2 1 #1", "3ms deliver p1 2 #1", "4ms crash p2",
		"5ms undelivered p2 1 #2", "6ms up p2", "6ms timeout p1 t", "9ms deliver p2 1 #3",
		"10ms timeout p1 t", "20ms crash p2", "23ms undelivered p2 1 #4", "24ms timeout p1 t"})
	for _, r := range list {
		if r.Type == trace.Up && r.Process == 2 && r.At == 6*ms && r.Incarnation != 2 {
			t.Errorf("incarnation %d at the second restart, want 2", r.Incarnation)
		}
	}
}

// TestRestartOfOneThatNeverRan: it had a life before the trial.
func TestRestartOfOneThatNeverRan(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		env.Logf("%s %d leader %d", what, a.Incarnation, a.Leader)
	}
	_, list := script(t, 2, f, func(p *harness.Plan) { p.Crashed, p.Leader = []algo.ID{2}, 1 },
		harness.Event{At: ms, Do: harness.DoRestart, Node: 2},
		harness.Event{At: ms, Do: harness.DoRestart, Node: 1}) // is up: nothing
	same(t, "starts", tell(list, trace.Log), []string{"0s log p1 start 0 leader 1",
		"1ms log p2 start 1 leader 0"})
}

// TestFates: what becomes of each message is what the network model says.
func TestFates(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			algo.Broadcast(env, a.ID, a.Peers, Note{})
		}
	}
	p := plan("election/test-actor", 3, harness.Scenario{Plot: &harness.Script{}}, role(f))
	for i := range 100 {
		p.Scenario.Add(harness.Event{At: time.Duration(i) * ms,
			Do: harness.DoElect, Node: algo.ID(i%3 + 1)})
	}
	p.Network = link.Network{Latency: link.Uniform(ms, 9*ms), Loss: 0.3, Duplication: 0.3}
	_, list := run(t, p)
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	flows, fates := map[[2]uint32]*link.Flow{}, map[[2]uint32][]link.Fate{}
	lost, copies := 0, 0
	for _, r := range list {
		k := [2]uint32{r.Process, r.Peer}
		back := [2]uint32{r.Peer, r.Process}
		switch r.Type {
		case trace.Send:
			if flows[k] == nil {
				flow := s.Network.Flow(trace.Data, k[0], 0, k[1])
				flows[k] = &flow
			}
			fate := s.Network.Send(flows[k], r.At, 0, nil)
			if r.Seq != fate.Seq || r.Due != fate.Due {
				t.Fatalf("%+v, want %+v", r, fate)
			}
			fates[k] = append(fates[k], fate)
		case trace.Duplicate:
			if fate := fates[k][r.Seq-1]; !fate.Duplicated || r.Due != fate.CopyDue || r.Copy != 1 {
				t.Fatalf("%+v, want %+v", r, fate)
			}
			copies++
		case trace.Deliver, trace.Lose:
			fate := fates[back][r.Seq-1]
			want := r.Copy == 0 && fate.Lost || r.Copy == 1 && fate.CopyLost
			if (r.Type == trace.Lose) != want {
				t.Fatalf("%+v, want %+v", r, fate)
			}
			if want {
				lost++
			}
		}
	}
	if lost < 30 || copies < 30 {
		t.Errorf("%d lost, %d duplicated: too few to tell", lost, copies)
	}
}

// TestSaved: a process gets back what it saved last, as it was then.
func TestSaved(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		switch what {
		case "start":
			env.Logf("saved %v", a.Saved)
		case "elect":
			a.list = append(a.list, 7)
			env.Save(List{a.list})
			env.SetTimer("t", ms)
		case "timeout t":
			a.list[0] = 9 // must not reach what was saved
		}
	}
	_, list := script(t, 1, f, nil,
		harness.Event{Do: harness.DoElect, Node: 1},
		harness.Event{At: 2 * ms, Do: harness.DoElect, Node: 1},
		harness.Event{At: 5 * ms, Do: harness.DoCrash, Node: 1},
		harness.Event{At: 6 * ms, Do: harness.DoRestart, Node: 1})
	same(t, "seen", tell(list, trace.Log), []string{"0s log p1 saved <nil>",
		"6ms log p1 saved {[9 7]}"})
	if n := len(tell(list, trace.Save)); n != 2 {
		t.Errorf("%d saves recorded, want 2", n)
	}
}

// TestCuts: a message is lost if its link is cut at any instant of its way.
func TestCuts(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			env.Send(2, Note{})
			env.Send(3, Note{})
		}
	}
	groups := [][]uint32{{1, 3}, {2}}
	for name, test := range map[string]struct {
		cut, heal time.Duration
		want      string
	}{
		"before it, healed before it":     {1 * ms, 9 * ms, "deliver"},
		"before it, healed when sent":     {1 * ms, 10 * ms, "deliver"},
		"before it, healed on its way":    {1 * ms, 12 * ms, "lose"},
		"on its way, healed on its way":   {11 * ms, 12 * ms, "lose"},
		"when sent":                       {10 * ms, 30 * ms, "lose"},
		"when due":                        {14 * ms, 30 * ms, "lose"},
		"after it":                        {15 * ms, 30 * ms, "deliver"},
		"on its way, healed when it came": {13 * ms, 14 * ms, "lose"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, list := script(t, 3, f,
				func(p *harness.Plan) { p.Network.Latency = link.Constant(4 * ms) },
				harness.Event{At: 10 * ms, Do: harness.DoElect, Node: 1},
				harness.Event{At: test.cut, Do: harness.DoCut, Groups: groups},
				harness.Event{At: test.heal, Do: harness.DoHeal, Groups: groups})
			same(t, "outcomes", tell(list, trace.Deliver, trace.Lose),
				[]string{"14ms " + test.want + " p2 1 #1", "14ms deliver p3 1 #1"})
			same(t, "changes", tell(list, trace.Cut, trace.Heal), []string{
				fmt.Sprintf("%v cut 1 3|2", test.cut), fmt.Sprintf("%v heal 1 3|2", test.heal)})
		})
	}
}

// TestScriptsGoOn: a script ends neither at the quiet between two of its lines
// nor at a line for a process that is down.
func TestScriptsGoOn(t *testing.T) {
	t.Parallel()
	f := func(*actor, algo.Env, string, algo.ID, algo.Message) {}
	end, list := script(t, 3, f, nil,
		harness.Event{Do: harness.DoElect, Node: 1},
		harness.Event{At: ms, Do: harness.DoCrash, Node: 2},
		harness.Event{After: "quiet", Do: harness.DoElect, Node: 2},
		harness.Event{After: "quiet", Do: harness.DoElect, Node: 3},
		harness.Event{At: 50 * ms, Do: harness.DoElect, Node: 3},
		harness.Event{At: 60 * ms, Do: harness.DoHeal})
	same(t, "elections", tell(list, trace.Elect),
		[]string{"0s elect p1", "1ms elect p3", "50ms elect p3"})
	if end.Reason != harness.Finished || end.At != 60*ms {
		t.Errorf("ended %q at %v, want finished at 60ms", end.Reason, end.At)
	}
}

// TestScriptWithDetector: a script ends when the detector has said its word.
func TestScriptWithDetector(t *testing.T) {
	t.Parallel()
	f := func(_ *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			env.Elected(2, 0)
		}
	}
	for kind, at := range map[string]time.Duration{"perfect": 10 * ms, "heartbeat": 0, "none": 0} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			end, list := script(t, 3, f, func(p *harness.Plan) {
				p.Leader = 3
				switch kind {
				case "perfect":
					p.Detector = harness.PerfectDetector(10 * ms)
				case "heartbeat":
					p.Detector = harness.HeartbeatDetector(20*ms, 50*ms)
				}
			}, harness.Event{Do: harness.DoCrash, Node: 3})
			want := 2
			if kind == "none" {
				want = 0
			}
			if n := len(tell(list, trace.Elected)); n != want {
				t.Errorf("%d processes heard of the crash, want %d", n, want)
			}
			if end.Reason != harness.Finished || kind != "heartbeat" && end.At != at {
				t.Errorf("ended %q at %v, want finished at %v", end.Reason, end.At, at)
			}
		})
	}
}

// TestManyProcesses: sparse links, beyond the number that are kept in a table,
// behave like dense ones.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			for range 3 {
				env.Send(a.Peers[(int(a.ID)+1)%len(a.Peers)], Note{})
			}
		}
	}
	outcome := func(n int) (out []string) {
		_, list := script(t, n, f, func(p *harness.Plan) {
			p.Network.Latency = link.Uniform(ms, 9*ms)
			p.Network.Loss, p.Network.Duplication = 0.3, 0.3
		}, harness.Event{Do: harness.DoElect, Node: 1},
			harness.Event{At: 20 * ms, Do: harness.DoElect, Node: 1})
		return tell(list, trace.Send, trace.Deliver, trace.Duplicate, trace.Lose)
	}
	same(t, "the same luck", outcome(300), outcome(200))
}

// TestRepeats: the same plan gives the same records, twice and beside others.
func TestRepeats(t *testing.T) {
	t.Parallel()
	plans := []*harness.Plan{}
	for _, id := range []string{"election/bully", "election/ring-list", "mutex/naimi-trehel"} {
		plans = append(plans, busy(t, id))
	}
	want := make([]uint64, len(plans))
	for i, p := range plans {
		_, list := run(t, p)
		want[i] = hash(list)
		if len(list) < 100 {
			t.Errorf("%s: %d records are no evidence", p.Algorithm, len(list))
		}
	}
	var wait sync.WaitGroup
	for round := range 6 {
		i := round % len(plans)
		wait.Go(func() {
			if _, list := run(t, plans[i]); hash(list) != want[i] {
				t.Errorf("%s: different records beside other simulations", plans[i].Algorithm)
			}
		})
	}
	wait.Wait()
}

// TestGolden pins one run of each plugin, bit by bit. Whatever changes a hash
// changes published results: say so in the changelog.
func TestGolden(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct {
		records int
		hash    uint64
	}{
		"election/bully":     {407, 0xd3af5d132b4a7ba9},
		"election/ring-list": {1067, 0x7617f4d4f9c8825e},
		"mutex/naimi-trehel": {560, 0xe348312cccd2aa3},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			p := busy(t, id)
			p.Network.Latency = link.Constant(ms) // exact on every architecture
			if _, list := run(t, p); len(list) != want.records || hash(list) != want.hash {
				t.Errorf("%d records, hash %#x; want %d, %#x", len(list), hash(list), want.records, want.hash)
			}
		})
	}
}
