package naimitrehelft_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
	ft "github.com/conclave-bench/conclave/plugins/mutex/naimitrehelft"
)

const (
	id = "mutex/naimi-trehel-ft"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

// times are Twait = 10 and Telec = 4 units.
func times() map[string]any { return map[string]any{"t_wait": 10 * ms, "t_elec": 4 * ms} }

func request(at time.Duration, p algo.ID) harness.Event {
	return algotest.At(at, harness.DoRequest, p)
}

var (
	crash   = algotest.Crash
	restart = algotest.Restart
)

func run(t *testing.T, c algotest.Entries, change func(*harness.Plan)) algotest.Outcome {
	t.Helper()
	p := c.Plan(t, id)
	p.TimeLimit = time.Minute
	if change != nil {
		change(&p)
	}
	return algotest.MustSimulate(t, p)
}

// kinds is the messages sent, as "KIND:count ...".
func kinds(o algotest.Outcome) string {
	var out []string
	for _, k := range o.Kinds {
		if k.Sent > 0 {
			out = append(out, fmt.Sprintf("%s:%d", k.Name, k.Sent))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// regenerated counts how often a candidate won: at the end of its Telec it
// announces an epoch.
func regenerated(o algotest.Outcome) (n int) {
	announced := slices.IndexFunc(o.Kinds, func(k trace.MessageCount) bool {
		return k.Name == "CANDIDATE_ELECTED"
	})
	for i := 1; i < len(o.Trace); i++ {
		expiry, r := o.Trace[i-1], o.Trace[i]
		if r.Type == trace.Save && i+1 < len(o.Trace) { // between the two
			r = o.Trace[i+1]
		}
		if expiry.Type == trace.Timeout && expiry.Process == r.Process && r.Type == trace.Send &&
			int(r.Kind) == announced {
			n++
		}
	}
	return n
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) {
	one := func(r *algotest.Result, want json.RawMessage) error {
		if got := fmt.Sprint(regenerated(r.Trials[0])); got != string(want) {
			return fmt.Errorf("%s regenerated, want %s", got, want)
		}
		return nil
	}
	// The one token that is left in the end is the one that was regenerated.
	algotest.Cases(t, id, algotest.Checks{"tokens_regenerated": one, "tokens": one})
}

// TestHolderCrashed is NT-FT-02 for every N: 4N-3 sent, 4(N-2) delivered, and the
// entry at Twait + 3 Telec.
func TestHolderCrashed(t *testing.T) {
	for n := 3; n <= 8; n++ {
		o := run(t, algotest.Entries{Nodes: n, Params: times(), Events: []harness.Event{request(0, 2)}},
			func(p *harness.Plan) { p.Crashed = []algo.ID{1} })
		want := fmt.Sprintf("CANDIDATE_ELECTED:%d CONSULT:%d ELECTION:%d QUERY:%d REQUEST:1",
			n-1, n-1, n-1, n-1)
		if got := kinds(o); got != want || o.Totals.Sent != int64(4*n-3) ||
			o.Totals.Delivered != int64(4*(n-2)) {
			t.Errorf("n = %d: %s, %d delivered, want %s, %d", n, got, o.Totals.Delivered, want, 4*(n-2))
		}
		if o.Status != trace.OK || o.Operations[0].End != 22*ms {
			t.Errorf("n = %d: %s: %s, entry at %v", n, o.Status, o.Reason, o.Operations[0].End)
		}
	}
}

// TestLongHold is NT-FT-04: a long critical section leads to nothing but CONSULT
// and CONSULT_OK, each time that Twait is over.
func TestLongHold(t *testing.T) {
	o := run(t, algotest.Entries{
		Nodes: 5, Params: times(), Events: algotest.Together(1, 2), Until: 33 * ms,
	}, func(p *harness.Plan) { p.Scenario.Set("hold", link.Constant(30*ms)) })
	if got := kinds(o); got != "CONSULT:8 CONSULT_OK:2 REQUEST:1 TOKEN:1" {
		t.Errorf("sent %s", got)
	}
	if o.Status != trace.OK || o.Operations[0].Process != 1 || o.Operations[1].Process != 2 {
		t.Errorf("%s: %s, entries %v", o.Status, o.Reason, o.Operations)
	}
}

// TestTelecTooShort is NT-FT-06, a negative test: below one message delay a live
// token is regenerated.
func TestTelecTooShort(t *testing.T) {
	o := run(t, algotest.Entries{
		Nodes: 3, Params: map[string]any{"t_wait": 10 * ms, "t_elec": 900 * time.Microsecond},
		Events: algotest.Together(1, 2), Until: 25 * ms,
	}, func(p *harness.Plan) { p.Scenario.Set("hold", link.Constant(30*ms)) })
	if o.Status != trace.Violated || len(o.Violations) != 1 {
		t.Errorf("%s: %s, %d violations, want 1", o.Status, o.Reason, len(o.Violations))
	}
	if got := kinds(o); !strings.Contains(got, "CANDIDATE_ELECTED:2 ") {
		t.Errorf("sent %s, want one announcement to 2", got)
	}
}

// TestHolderBack is NT-FT-07: the holder comes back when its token has been
// replaced. It takes part in the newer epoch, where there is one token.
func TestHolderBack(t *testing.T) {
	for _, given := range []map[string]any{nil, times()} {
		o := run(t, algotest.Entries{Nodes: 3, Params: given, Events: []harness.Event{
			crash(0, 1), request(0, 2), restart(200*ms, 1), request(201*ms, 1), request(201*ms, 2),
		}}, nil)
		if o.Status != trace.OK || o.Completed != 3 {
			t.Errorf("%s: %s, %d entries, want 3", o.Status, o.Reason, o.Completed)
		}
		// one to everybody when the token is regenerated; two answers to the question
		// of whoever came back
		if got := kinds(o); !strings.HasPrefix(got, "CANDIDATE_ELECTED:4 ") {
			t.Errorf("sent %s, want one regeneration", got)
		}
	}
}

// TestWithoutFailures: what it costs is what naimi-trehel costs.
func TestWithoutFailures(t *testing.T) {
	algotest.Entries{ // the lecture notes' example, from step 1 on: 5 messages
		Nodes: 5, Holder: 5, Events: []harness.Event{request(0, 1), request(ms, 3)},
		Order: []algo.ID{1, 3}, Kinds: map[string]int64{"REQUEST": 3, "TOKEN": 2},
		Waiting: []time.Duration{2 * ms, 3 * ms},
	}.Run(t, id)
	for n := 2; n <= 8; n++ {
		p := algotest.Entries{Nodes: n, Events: algotest.Together(algotest.Everybody(n)...)}.Plan(t, id)
		o, err := algotest.Simulate(p)
		if err != nil || o.Status != trace.OK || o.Totals.Sent != int64(3*n-4) {
			t.Errorf("n = %d: %s: %s, %d sent, want 3N-4 = %d", n, o.Status, o.Reason, o.Totals.Sent, 3*n-4)
		}
	}
	algotest.Entries{ // the worst case of one request: N messages
		Nodes: 4, Events: algotest.InTurn(2, 3, 2, 4), Order: []algo.ID{2, 3, 2, 4},
		Each: []int64{2, 3, 2, 4},
	}.Run(t, id)
}

// TestSaturated: the default of Twait knows how long a queue of everybody takes, so
// that a full load costs what it costs naimi-trehel, to the message.
func TestSaturated(t *testing.T) {
	for _, latency := range []link.Latency{link.Constant(ms), link.Uniform(ms, 20*ms)} {
		for _, hold := range []link.Latency{link.Constant(0), link.Constant(ms), link.Uniform(0, 40*ms)} {
			for _, n := range []int{2, 5, 20, 50} {
				sent := func(id string) string {
					p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Closed{
						Requests: 5 * n, Hold: hold, Think: link.Constant(0),
					}}, nil)
					p.Network.Latency = latency
					params, errs := mustLookup(t, id).Spec.Resolve(nil, p.Known())
					if errs != nil {
						t.Fatal(errs)
					}
					p.Params = params
					o, err := algotest.Simulate(p)
					if err != nil || o.Status != trace.OK {
						t.Fatalf("%s: %s, %v", o.Status, o.Reason, err)
					}
					return kinds(o)
				}
				if got, want := sent(id), sent("mutex/naimi-trehel"); got != want {
					t.Errorf("n = %d, latency %v, hold %v: %s, want %s", n, latency, hold, got, want)
				}
			}
		}
	}
}

func mustLookup(t *testing.T, id string) *algo.Algorithm {
	t.Helper()
	alg := algotest.Lookup(t, id)
	return alg
}

// TestTokenThatNeverRests: 2, 3 and 4 ask without a pause and stay inside for less
// than two delays, so that the token is always gone when a wish for a new tree
// comes to the one that said it was there. Whoever needs the new tree waits for
// time-outs all the same, and not for the end of the load.
func TestTokenThatNeverRests(t *testing.T) {
	const elec, wait = 35 * ms, 50 * ms
	busy := []harness.Event{request(0, 2), request(40*ms, 3), request(80*ms, 4)}
	for range 150 {
		busy = append(busy, request(120*ms, 2), request(120*ms, 3), request(120*ms, 4))
	}
	for name, c := range map[string]struct {
		events  []harness.Event
		process algo.ID // who waits
		most    time.Duration
	}{
		// 1 is on the way from 5 to the root: two rounds of Twait, CONSULT and QUERY
		"request died": {[]harness.Event{request(200*ms, 5), crash(202*ms, 1)}, 5, 2*(wait+elec) + 80*ms},
		"came back":    {[]harness.Event{crash(102*ms, 5), restart(200*ms, 5), request(201*ms, 5)}, 5, 80 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				o := run(t, algotest.Entries{
					Nodes: 5, Params: map[string]any{"t_elec": elec, "t_wait": wait},
					Events: append(slices.Clone(busy), c.events...),
				}, func(p *harness.Plan) {
					p.Seed = seed
					if p.Network.Latency = link.Uniform(ms, 5*ms); seed == 0 {
						p.Network.Latency = link.Constant(5 * ms)
					}
				})
				if o.Status != trace.OK {
					t.Fatalf("seed %d: %s: %s", seed, o.Status, o.Reason)
				}
				i := slices.IndexFunc(o.Operations, func(op trace.Operation) bool {
					return algo.ID(op.Process) == c.process
				})
				if op := o.Operations[i]; op.End-op.Begin > c.most {
					t.Errorf("seed %d: process %d waits %v, want %v at most", seed, op.Process,
						op.End-op.Begin, c.most)
				}
			}
		})
	}
}

// TestCrashInside: whoever waits enters after Twait + 3 Telec at most, counted
// from the last answer of the one inside.
func TestCrashInside(t *testing.T) {
	for at := 2 * ms; at < 30*ms; at += 500 * time.Microsecond {
		o := run(t, algotest.Entries{Nodes: 4, Params: times(), Events: []harness.Event{
			request(0, 1), request(0, 2), request(0, 3), crash(at, 1),
		}}, func(p *harness.Plan) { p.Scenario.Set("hold", link.Constant(30*ms)) })
		if o.Status != trace.OK || o.Completed != 3 {
			t.Fatalf("crash at %v: %s: %s", at, o.Status, o.Reason)
		}
		if wait := o.Operations[1].End - at; wait > 10*ms+3*4*ms+2*ms {
			t.Errorf("crash at %v: the next enters %v later", at, wait)
		}
	}
}

// TestOlderThanOneWhoCameBack: 2 has known epoch 2 and is down when 1, which
// knows none, comes back alone and makes a token. When 2 comes back as well, 1
// keeps its token, and begins an epoch that is newer than either.
func TestOlderThanOneWhoCameBack(t *testing.T) {
	past := []harness.Event{
		crash(0, 1), request(0, 2), // alone, 2 begins epoch 1 at 22
		crash(30*ms, 2), restart(40*ms, 2), // and epoch 2 at 48
		crash(60*ms, 2), restart(70*ms, 1),
	}
	for name, c := range map[string]struct {
		events []harness.Event
		order  []algo.ID
		at     []time.Duration
		kinds  []string
	}{
		"one after the other": {
			[]harness.Event{request(80*ms, 1), restart(85*ms, 2), request(86*ms, 2)},
			[]algo.ID{2, 1, 2}, []time.Duration{22 * ms, 80 * ms, 111 * ms}, []string{"REBUILD:1 "},
		},
		"together": {
			[]harness.Event{restart(70*ms, 2), request(71*ms, 1), request(71*ms, 2)},
			[]algo.ID{2, 1, 2}, []time.Duration{22 * ms, 78 * ms, 109 * ms}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, algotest.Entries{
				Nodes: 2, Params: times(), Events: append(slices.Clone(past), c.events...),
			}, func(p *harness.Plan) { p.Scenario.Set("hold", link.Constant(30*ms)) })
			if o.Status != trace.OK {
				t.Errorf("%s: %s", o.Status, o.Reason)
			}
			for i, op := range o.Operations {
				if algo.ID(op.Process) != c.order[i] || op.End != c.at[i] {
					t.Errorf("entry %d by %d at %v, want %d at %v", i+1, op.Process, op.End,
						c.order[i], c.at[i])
				}
			}
			for _, k := range c.kinds {
				if !strings.Contains(kinds(o), k) {
					t.Errorf("sent %s, want %s", kinds(o), k)
				}
			}
		})
	}
}

// A line is an event at process 2 of 3, and what it leads to.
type line struct {
	now   time.Duration
	event algo.Event
	want  string
}

func from(p algo.ID, m algo.Message) algo.Event {
	return algo.Event{Type: algo.Receive, Peer: p, Msg: m}
}

func timeout(t algo.Timer) algo.Event { return algo.Event{Type: algo.Timeout, Timer: t} }

func play(t *testing.T, incarnation uint32, saved algo.Message, lines []line) {
	t.Helper()
	p := algotest.Entries{Nodes: 3, Params: times()}.Plan(t, id)
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	s := algo.NewStepper(setup.Alg, setup.Config(2, incarnation, saved), 1, &algo.Buffer{})
	for i, l := range lines {
		var out []string
		for _, e := range s.Step(l.now, l.event) {
			switch e.Op {
			case algo.OpSend:
				out = append(out, fmt.Sprintf("%s>%d", e.Msg.Kind(), e.Peer))
			case algo.OpGranted:
				out = append(out, "granted")
			case algo.OpSave:
				out = append(out, fmt.Sprintf("epoch %d", e.Msg.(ft.Saved).Epoch))
			case algo.OpSetTimer:
				out = append(out, fmt.Sprintf("%s in %v", e.Timer, e.After))
			case algo.OpCancelTimer:
				out = append(out, "no "+string(e.Timer))
			}
		}
		if got := strings.Join(out, ", "); got != l.want {
			t.Fatalf("line %d: %s, want %s", i+1, got, l.want)
		}
		if err := s.Invariant(); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
	}
}

// TestRules is one rule after the other, at process 2 of 3.
func TestRules(t *testing.T) {
	request := algo.Event{Type: algo.Request}
	asked := line{0, request, "REQUEST>1, no Telec, Twait in 10ms"}
	consult := line{0, timeout("Twait"), "CONSULT>1, CONSULT>3, Telec in 4ms"}
	query := line{0, timeout("Telec"), "QUERY>1, QUERY>3, Telec in 4ms"}
	elect := line{0, timeout("Telec"), "ELECTION>1, ELECTION>3, Telec in 4ms"}
	again := "no Telec, Twait in 10ms"
	for name, lines := range map[string][]line{
		"4 and 7: misses in a row": {
			asked, {0, from(1, ft.ConsultOK{}), ""}, {0, from(1, ft.TokenHere{}), ""},
			consult, {0, from(1, ft.TokenHere{}), ""}, query, {0, from(1, ft.TokenHere{}), again},
			consult, {0, from(3, ft.ConsultOK{}), again}, // in a queue: not in a row
			consult, query, {0, from(1, ft.TokenHere{}), again},
			consult, query, elect, {0, from(1, ft.TokenHere{}), again + ", REBUILD>1"},
			{0, from(1, ft.Token{}), "no Twait, no Telec, granted"},
			{0, algo.Event{Type: algo.Release}, ""},
			{0, from(3, ft.Request{Origin: 3}), "TOKEN>3"},
			{0, request, "REQUEST>3, " + again},
			consult, query, {0, from(3, ft.TokenHere{}), again}, // the first of this request
		},
		"3: consulted": {
			asked, {0, from(3, ft.Consult{}), ""}, {0, from(1, ft.Request{Origin: 3}), ""},
			{0, from(3, ft.Consult{}), "CONSULT_OK>3"}, {0, from(1, ft.Consult{}), ""},
		},
		"6: asked while the token is on its way": {
			asked, {0, from(1, ft.Query{}), ""}, {2 * ms, from(3, ft.Query{}), ""},
			{5 * ms, from(1, ft.Token{}), "no Twait, no Telec, TOKEN_HERE>3, granted"}, // 1 asked long ago
			{5 * ms, from(1, ft.Query{}), "TOKEN_HERE>1"},
			{6 * ms, algo.Event{Type: algo.Release}, ""},
			{6 * ms, from(1, ft.Request{Origin: 1}), "TOKEN>1"},
			{6 * ms, request, "REQUEST>1, " + again},
			{6 * ms, from(1, ft.Token{}), "no Twait, no Telec, granted"}, // 3 has been told
		},
		"6 and 10: a candidate remembers who else is one": {
			asked, consult, query, elect, {0, from(3, ft.Election{}), ""},
			{0, from(1, ft.Token{}), "no Twait, no Telec, TOKEN_HERE>3, granted"},
		},
		"10: observers": {
			asked, {0, from(3, ft.Election{}), "no Twait, Telec in 8ms"},
			{0, from(1, ft.TokenHere{}), again},
			consult, query, elect, {0, from(1, ft.Election{}), "no Twait, Telec in 8ms"},
			{0, timeout("Telec"), "CONSULT>1, CONSULT>3, Telec in 4ms"}, // the candidate died
		},
		"11: elected": {
			asked, consult, query, elect, {0, timeout("Telec"),
				"no Twait, no Telec, epoch 1, CANDIDATE_ELECTED>1, CANDIDATE_ELECTED>3, granted"},
			{0, from(1, ft.Request{In: ft.In{}, Origin: 1}), ""}, // of the old tree
			{0, from(3, ft.Query{}), "CANDIDATE_ELECTED>3"},      // it has not heard of the new one
			{0, from(3, ft.Rebuild{}), ""},
			{0, from(3, ft.Rebuild{In: ft.In{Epoch: 1}}),
				"epoch 2, CANDIDATE_ELECTED>1, CANDIDATE_ELECTED>3"},
		},
		"8: the token is gone, and the wish goes after it": {
			asked, {0, from(1, ft.Token{}), "no Twait, no Telec, granted"},
			{0, from(3, ft.Request{Origin: 3}), ""},
			{0, algo.Event{Type: algo.Release}, "TOKEN>3"},
			{0, from(1, ft.Rebuild{}), "REBUILD>3"},
			{0, from(1, ft.Rebuild{}), ""}, // one is under way
			{0, request, "REQUEST>3, " + again},
			{0, from(3, ft.Token{}), "no Twait, no Telec, epoch 1, CANDIDATE_ELECTED>1, " +
				"CANDIDATE_ELECTED>3, granted"},
			{0, from(3, ft.Request{In: ft.In{Epoch: 1}, Origin: 3}), ""},
			{0, algo.Event{Type: algo.Release}, "TOKEN>3"},
			{0, request, "REQUEST>3, " + again},
			{0, from(3, ft.Token{In: ft.In{Epoch: 1}}), "no Twait, no Telec, granted"}, // done
		},
		"8: the wish overtakes the token": {
			asked, {0, from(3, ft.Rebuild{}), ""},
			{0, from(1, ft.Token{}), "no Twait, no Telec, epoch 1, CANDIDATE_ELECTED>1, " +
				"CANDIDATE_ELECTED>3, granted"},
		},
		"8: a newer epoch is the new tree": {
			asked, {0, from(3, ft.Rebuild{}), ""},
			{0, from(3, ft.CandidateElected{In: ft.In{Epoch: 1}}),
				"epoch 1, no Twait, no Telec, REQUEST>3, " + again},
			{0, from(3, ft.Token{In: ft.In{Epoch: 1}}), "no Twait, no Telec, granted"},
		},
		"12: a newer epoch": {
			asked, {0, from(1, ft.Token{}), "no Twait, no Telec, granted"},
			{0, algo.Event{Type: algo.Release}, ""}, // the token is idle here
			{0, from(3, ft.CandidateElected{In: ft.In{Epoch: 5}}), "epoch 5, no Twait, no Telec"},
			{0, from(1, ft.Rebuild{In: ft.In{Epoch: 5}}), ""}, // the old token is gone
			{0, request, "REQUEST>3, " + again},
			{0, from(3, ft.Token{In: ft.In{Epoch: 4}}), ""}, // older: dropped
			{0, from(1, ft.CandidateElected{In: ft.In{Epoch: 6}}),
				"epoch 6, no Twait, no Telec, REQUEST>1, " + again}, // pending: again
		},
	} {
		t.Run(name, func(t *testing.T) { play(t, 0, nil, lines) })
	}
}

// TestBack is rule 14: whoever comes back is in no tree until it knows an epoch
// that it has not taken part in.
func TestBack(t *testing.T) {
	start := line{0, algo.Event{Type: algo.Start}, "QUERY>1, QUERY>3, Telec in 4ms"}
	in := func(epoch uint64) ft.In { return ft.In{Epoch: epoch} }
	for name, lines := range map[string][]line{
		"somebody knows a newer one": {
			start, {0, from(3, ft.Request{In: in(4), Origin: 3}), ""},
			{0, algo.Event{Type: algo.Request}, ""}, // not before it knows
			{0, from(3, ft.CandidateElected{In: in(5)}),
				"epoch 5, no Twait, no Telec, REQUEST>3, no Telec, Twait in 10ms"},
		},
		"the holder is asked for one": {
			start, {0, from(3, ft.TokenHere{In: in(4)}), "no Telec, Twait in 10ms, REBUILD>3"},
			{0, from(3, ft.CandidateElected{In: in(4)}), ""}, // it has acted in that
			{0, from(3, ft.CandidateElected{In: in(5)}), "epoch 5, no Twait, no Telec"},
		},
		"its own request brings the token": {
			start, {0, from(3, ft.Token{In: in(4)}),
				"no Twait, no Telec, epoch 5, CANDIDATE_ELECTED>1, CANDIDATE_ELECTED>3"},
		},
		"nobody answers": {
			start, {0, timeout("Telec"), "ELECTION>1, ELECTION>3, Telec in 4ms"},
			{0, from(3, ft.Query{In: ft.In{Epoch: 8, Back: true}}), ""}, // knows more, and no tree
			{0, timeout("Telec"),
				"no Twait, no Telec, epoch 9, CANDIDATE_ELECTED>1, CANDIDATE_ELECTED>3"},
		},
		"another candidate": {
			start, {0, from(3, ft.Election{In: in(2)}), "no Twait, Telec in 8ms"},
			{0, from(3, ft.Token{In: in(2)}), ""}, {0, from(1, ft.Consult{In: in(2)}), ""},
		},
	} {
		t.Run(name, func(t *testing.T) { play(t, 1, ft.Saved{Epoch: 4}, lines) })
	}
}

// random is a plan of a random workload with random crash-stops, and with
// recoveries if back.
func random(t *testing.T, seed uint64, back bool, given map[string]any) (harness.Plan, int) {
	rng := rand.New(rand.NewPCG(seed, 10))
	n := 2 + rng.IntN(6)
	var events []harness.Event
	at := func(most time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(most))) }
	for p := range n {
		for range rng.IntN(4) {
			events = append(events, request(at(300*ms), algo.ID(p+1)))
		}
	}
	for _, v := range rng.Perm(n)[:rng.IntN(n)] {
		down := at(300 * ms)
		events = append(events, crash(down, algo.ID(v+1)))
		for back && rng.IntN(3) > 0 {
			up := down + 1 + at(200*ms)
			events = append(events, restart(up, algo.ID(v+1)), request(up+at(50*ms), algo.ID(v+1)))
			if rng.IntN(3) > 0 {
				break
			}
			down = up + 1 + at(200*ms)
			events = append(events, crash(down, algo.ID(v+1)))
		}
	}
	p := algotest.Entries{Nodes: n, Events: events, Holder: algo.ID(1 + rng.IntN(n))}.Plan(t, id)
	p.Seed, p.TimeLimit = seed, time.Minute
	p.Network.Latency = link.Uniform(ms/10, 10*ms)
	p.Network.Unordered = true
	p.Scenario.Set("hold", link.Uniform(0, 20*ms))
	p.Params["t_elec"], p.Params["t_wait"] = 31*ms, 40*ms
	for k, v := range given {
		p.Params[k] = v
	}
	return p, len(events)
}

// TestSchedules: any delays within the bound, overtaking, crash-stops of up to
// N-1 processes, and recoveries. Nobody starves, and no two are inside.
func TestSchedules(t *testing.T) {
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprintf("back=%t", back), func(t *testing.T) {
			for seed := range algotest.Schedules() {
				p, events := random(t, seed, back, nil)
				if events == 0 {
					continue
				}
				o, err := algotest.Simulate(p)
				if err != nil || o.Status != trace.OK && o.Status != trace.Unknown {
					t.Fatalf("seed %d, n = %d: %s: %s, %v", seed, p.Nodes, o.Status, o.Reason, err)
				}
			}
		})
	}
}

// TestTelecBound: the Spec wants Telec above three delays, and below it some
// schedule breaks the promise.
func TestTelecBound(t *testing.T) {
	alg := mustLookup(t, id)
	net := algo.Network{Nodes: 3, Latency: 10 * ms}
	for elec, want := range map[time.Duration]string{
		31 * ms: "<nil>", 30 * ms: "t_elec 30ms is not above 3d = 30ms",
	} {
		p := algo.Params{"t_elec": elec, "rebuild": true}
		if got := fmt.Sprint(alg.Spec.Needs.Params(net, p)); got != want {
			t.Errorf("%v: %s, want %s", elec, got, want)
		}
	}
	if alg.Spec.Needs.Params(net, algo.Params{"t_elec": time.Second, "rebuild": false}) == nil {
		t.Error("rebuild false is within the model")
	}
	broken := 0
	for seed := range uint64(1000) {
		p, _ := random(t, seed, false, map[string]any{"t_elec": 3 * ms, "t_wait": 10 * ms})
		p.InModel, p.TimeLimit = false, 5*time.Second
		if o, err := algotest.Simulate(p); err != nil {
			t.Fatal(err)
		} else if o.Status == trace.Violated {
			broken++
		}
	}
	if broken == 0 {
		t.Error("no schedule breaks with Telec = 0.3d")
	}
}
