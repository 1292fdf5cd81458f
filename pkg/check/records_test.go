package check

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const ms1 = time.Millisecond

// Ping and Pong are the messages of the algorithms that these tests judge. The
// algorithms themselves never run: their records are written by hand.
type Ping struct{}

// Pong is the other message.
type Pong struct{}

// Kind is PING.
func (Ping) Kind() string { return "PING" }

// Kind is PONG.
func (Pong) Kind() string { return "PONG" }

type mute struct{}

func (mute) Receive(algo.Env, algo.ID, algo.Message) {}
func (mute) Elect(algo.Env)                          {}
func (mute) Request(algo.Env)                        {}
func (mute) Release(algo.Env)                        {}

func init() {
	spec := func(name string, promises algo.Promises, perpetual bool) algo.Spec {
		s := algo.Spec{
			Name: name, Summary: "never runs", Promises: promises, Perpetual: perpetual,
			Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
			Messages: []algo.Message{Ping{}, Pong{}},
		}
		if perpetual {
			s.Params = []algo.Param{{Name: "beat", Type: algo.Duration, Doc: "the period",
				Default: algo.Const(10 * ms1)}}
			s.Periods = []algo.Period{{Param: "beat", Timer: "beat"}}
		}
		return s
	}
	for name, leadership := range map[string]algo.Leadership{
		"test-eventual": algo.Eventual, "test-one": algo.AtMostOne, "test-term": algo.PerTerm,
		"test-group": algo.PerGroup,
	} {
		algo.RegisterElector(spec(name, algo.Promises{Leadership: leadership}, false),
			func(algo.Config) algo.Elector { return mute{} })
	}
	algo.RegisterElector(spec("test-restless", algo.Promises{}, true),
		func(algo.Config) algo.Elector { return mute{} })
	algo.RegisterMutex(spec("test-fair", algo.Promises{StarvationFree: true}, false),
		func(algo.Config) algo.Mutex { return mute{} })
	algo.RegisterElector(spec("test-highest", algo.Promises{Highest: true}, false),
		func(algo.Config) algo.Elector { return mute{} })
	several := spec("test-several", algo.Promises{StarvationFree: true}, false)
	several.Params = []algo.Param{{Name: "k", Type: algo.Int, Doc: "places", Min: int64(1),
		Default: algo.Const(int64(2))}}
	several.Admits.Places = "k"
	algo.RegisterMutex(several, func(algo.Config) algo.Mutex { return mute{} })
	inSessions := spec("test-grouped", algo.Promises{StarvationFree: true}, false)
	inSessions.Params = []algo.Param{{Name: "session", Type: algo.Int, Doc: "always", Min: int64(0),
		Max: int64(algo.MostSessions), PerProcess: true, Default: algo.Const(int64(0))}}
	inSessions.Admits.Sessions = "session"
	algo.RegisterMutex(inSessions, func(algo.Config) algo.Mutex { return mute{} })
	token := spec("test-token", algo.Promises{StarvationFree: true}, false)
	token.Token = "PING"
	algo.RegisterMutex(token, func(algo.Config) algo.Mutex { return mute{} })
	token.Name, token.Survives.Crashes = "test-new-token", func(n int, _ algo.Params) int { return n - 1 }
	algo.RegisterMutex(token, func(algo.Config) algo.Mutex { return mute{} })
	token.Name, token.Survives = "test-lossy-token", algo.Faults{Loss: true}
	algo.RegisterMutex(token, func(algo.Config) algo.Mutex { return mute{} })
	surviving := spec("test-surviving", algo.Promises{Leadership: algo.Eventual}, false)
	surviving.Survives.Crashes = func(int, algo.Params) int { return 1 }
	algo.RegisterElector(surviving, func(algo.Config) algo.Elector { return mute{} })
	told := spec("test-told", algo.Promises{Leadership: algo.PerGroup}, false)
	told.Needs.Detector = algo.EventuallyPerfect
	algo.RegisterElector(told, func(algo.Config) algo.Elector { return mute{} })
	told.Promises = algo.Promises{StarvationFree: true}
	algo.RegisterMutex(told, func(algo.Config) algo.Mutex { return mute{} })
	hasty := spec("test-synchronous", algo.Promises{Leadership: algo.AtMostOne}, false)
	hasty.Needs.Synchrony, hasty.Needs.Params = algo.Synchronous, func(n algo.Network, _ algo.Params) error {
		if 2*n.Latency > 23*ms1 { // T = 3d + 20ms
			return fmt.Errorf("t 23ms is below 2d = %v", 2*n.Latency)
		}
		return nil
	}
	algo.RegisterElector(hasty, func(algo.Config) algo.Elector { return mute{} })
	hasty.Name, hasty.Needs.Params = "test-tight", func(n algo.Network, _ algo.Params) error {
		if n.Latency > ms1 {
			return fmt.Errorf("t 2ms is below 2d = %v", 2*n.Latency)
		}
		return nil
	}
	algo.RegisterElector(hasty, func(algo.Config) algo.Elector { return mute{} })
	algo.RegisterMutex(spec("test-unfair", algo.Promises{}, false),
		func(algo.Config) algo.Mutex { return mute{} })
}

// A trial is what a judge is given: records by hand, and how it ended.
type trial struct {
	id      string
	nodes   int
	change  func(*harness.Plan)
	records []trace.Record
	end     harness.End // Reason finished if empty
	real    bool        // not simulated
}

// warm is a scenario of which the first entries are not measured.
type warm struct {
	harness.Calm
	n int
}

func (w warm) Unmeasured() int { return w.n }

func (tr trial) judge(tb testing.TB) Verdict {
	tb.Helper()
	p := harness.Plan{
		Algorithm: tr.id, Nodes: tr.nodes, Shape: algo.Shape{Kind: "complete"},
		Network: link.Network{Latency: link.Constant(ms1)}, InModel: true, TimeLimit: time.Second,
	}
	if tr.change != nil {
		tr.change(&p)
	}
	s, err := p.Setup()
	if err != nil {
		tb.Fatal(err)
	}
	s.Virtual = !tr.real
	j := NewJudge(s)
	for i := range tr.records {
		r := tr.records[i]
		j.Record(&r)
	}
	if tr.end.Reason == "" {
		tr.end.Reason = harness.Finished
	}
	if tr.end.At == 0 && len(tr.records) > 0 {
		tr.end.At = tr.records[len(tr.records)-1].At
	}
	return j.Finish(tr.end)
}

// at is a record of process p; peer may be absent.
func at(ms float64, t trace.Type, p uint32, peer ...uint32) trace.Record {
	r := trace.Record{At: time.Duration(ms * float64(ms1)), Type: t, Process: p}
	if len(peer) > 0 {
		r.Peer = peer[0]
	}
	return r
}

func electedIn(ms float64, p, leader uint32, term uint64) trace.Record {
	r := at(ms, trace.Elected, p, leader)
	r.Arg = term
	return r
}

// requested was meant at the instant intended.
func requested(ms float64, p uint32, intended float64) trace.Record {
	r := at(ms, trace.Request, p)
	r.Arg = uint64(intended * float64(ms1))
	return r
}

func cut(ms float64, groups string) trace.Record {
	return trace.Record{At: time.Duration(ms * float64(ms1)), Type: trace.Cut, Text: groups}
}

// heal restores the links of text: all without.
func heal(ms float64, text ...string) trace.Record {
	r := trace.Record{At: time.Duration(ms * float64(ms1)), Type: trace.Heal}
	for _, t := range text {
		r.Text = t
	}
	return r
}

// flaky gives links other properties; without text no longer.
func flaky(ms float64, text string) trace.Record {
	return trace.Record{At: time.Duration(ms * float64(ms1)), Type: trace.Flaky, Text: text}
}

// slowed takes p longer for each event; 0: no longer.
func slowed(ms float64, p uint32, by time.Duration) trace.Record {
	r := at(ms, trace.Slow, p)
	r.Arg = uint64(by)
	return r
}

// faulted has p in the state that text says; without arguments no longer.
func faulted(ms float64, p uint32, text string) trace.Record {
	r := at(ms, trace.Fault, p)
	r.Text = text
	return r
}

// flight is a message that arrives a millisecond after it was sent.
func flight(ms float64, from, to uint32, seq uint64, depth uint32) (sent, got trace.Record) {
	sent = at(ms, trace.Send, from, to)
	sent.Seq, sent.Depth, sent.Bytes = seq, depth, 10
	sent.Sent, sent.Due = sent.At, sent.At+ms1
	got = sent
	got.Type, got.At, got.Process, got.Peer = trace.Deliver, sent.Due, to, from
	return sent, got
}

// flights are messages that are sent and delivered at once, in pairs.
func flights(ms float64, n int) (out []trace.Record) {
	for i := range n {
		sent, got := flight(ms, 1, 2, uint64(i+1), 1)
		got.At, sent.Due, got.Due = sent.At, sent.At, sent.At
		out = append(out, sent, got)
	}
	return out
}

// answers are flights the other way.
func answers(ms float64, n int) []trace.Record {
	out := flights(ms, n)
	for i := range out {
		out[i].Process, out[i].Peer = out[i].Peer, out[i].Process
	}
	return out
}

func join(parts ...any) (out []trace.Record) {
	for _, p := range parts {
		switch p := p.(type) {
		case trace.Record:
			out = append(out, p)
		case []trace.Record:
			out = append(out, p...)
		}
	}
	return out
}

// absent is a metric that a trial does not have.
const absent = -1

// hasMetrics compares some of the metrics; NaN equals NaN.
func hasMetrics(tb testing.TB, v Verdict, want map[string]float64) {
	tb.Helper()
	got := map[string]float64{}
	for _, m := range v.Metrics {
		got[m.Name] = m.Value
	}
	for name, w := range want {
		g, ok := got[name]
		if w == absent {
			if ok {
				tb.Errorf("%s is %v, want none", name, g)
			}
			continue
		}
		if !ok || math.Abs(g-w) > 1e-9 || math.IsNaN(g) != math.IsNaN(w) {
			tb.Errorf("%s is %v, want %v", name, g, w)
		}
	}
}

func hasStatus(tb testing.TB, v Verdict, status trace.Status, reason string) {
	tb.Helper()
	if v.Status != status || v.Reason != reason {
		tb.Errorf("%s: %q, want %s: %q", v.Status, v.Reason, status, reason)
	}
}

// hasOperations compares operations; an origin that is not wanted may be any.
func hasOperations(tb testing.TB, v Verdict, want ...trace.Operation) {
	tb.Helper()
	if !slices.EqualFunc(v.Operations, want, func(got, want trace.Operation) bool {
		if want.Origin == "" {
			got.Origin = ""
		}
		return got == want
	}) {
		tb.Errorf("operations\n got %+v\nwant %+v", v.Operations, want)
	}
}

// TestMetrics: a real trial in which everything happens has all the metrics that
// results list, in their order; any other has some of them.
func TestMetrics(t *testing.T) {
	t.Parallel()
	troubled := join(at(0.1, trace.Suspect, 1, 2), at(0.2, trace.Restore, 1, 2),
		at(1, trace.Crash, 3), cut(2, "1|2"), heal(3), back(4, 3))
	detected := func(p *harness.Plan) { p.Detector = harness.PerfectDetector(0) }
	offered := func(p *harness.Plan) {
		detected(p)
		p.Scenario = harness.Scenario{Plot: &harness.Open{Rate: 1, Duration: time.Second}}
	}
	rising := func(p *harness.Plan) {
		detected(p)
		p.Scenario = harness.Scenario{Plot: &harness.Ramp{From: 1, To: 2, Steps: 2, Duration: time.Second}}
	}
	for name, test := range map[string]struct {
		trial
		problem algo.Problem
		missing []string
	}{
		"election": {trial{id: "election/test-term", change: detected, records: troubled,
			end: harness.End{Toll: harness.Toll{Due: 1, Struck: 1, Drawn: 1}}}, algo.Election, []string{"hastened_share"}},
		"entries": {trial{id: "mutex/test-token", change: offered, records: troubled},
			algo.MutualExclusion, []string{"knee_per_s", "kept_up_per_s"}},
		"a ramp": {trial{id: "mutex/test-token", change: rising, records: troubled},
			algo.MutualExclusion, []string{"waiting_ms", "waiting_p99_ms", "turnaround_ms", "throughput_per_s"}},
		"calm election": {trial{id: eventual, change: detected}, algo.Election,
			[]string{"suspicion_ms", "heal_ms", "outage_requested_ms", "outage_achieved_ms",
				"mistake_duration_ms", "mistake_recurrence_ms", "terms_per_election", "split_vote_share",
				"leader_wait_ms", "settled_share", "hastened_share"}},
		"several inside": {trial{id: several, records: troubled, change: func(p *harness.Plan) {
			offered(p)
			two(p)
		}}, algo.MutualExclusion, []string{"tokens_lost", "tokens_doubled", "knee_per_s", "kept_up_per_s"}},
		"calm entries": {trial{id: fair}, algo.MutualExclusion, []string{"suspicion_ms", "recovery_ms",
			"tokens_lost", "tokens_doubled", "arrival_rate_requested", "arrival_rate_achieved",
			"outage_requested_ms", "outage_achieved_ms", "mistake_duration_ms", "mistake_recurrence_ms",
			"query_accuracy", "knee_per_s", "kept_up_per_s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.nodes, test.real = 3, true
			var got []string
			for _, m := range test.judge(t).Metrics {
				got = append(got, m.Name)
			}
			// What the machine did, no record tells; and of a series there are too few operations.
			missing := append(test.missing, metric.CPU.Name, metric.BusiestCPU.Name, metric.Switches.Name,
				metric.BusiestSwitches.Name, metric.InvoluntarySwitches.Name, metric.WarmupFound.Name,
				metric.Autocorrelation.Name, metric.EffectiveOperations.Name, metric.ClockError.Name,
				metric.Handling.Name, metric.Takeover.Name, metric.BusyShare.Name, metric.StealShare.Name, metric.Throttled.Name)
			if test.id != several {
				missing = append(missing, metric.Concurrency.Name, metric.MostInside.Name)
			}
			if test.id != grouped {
				missing = append(missing, metric.SessionSwitches.Name)
			}
			want := slices.DeleteFunc(metric.Names(metric.Columns(test.problem)),
				func(name string) bool { return slices.Contains(missing, name) || metric.Named(name).Wire })
			if !slices.Equal(got, want) {
				t.Errorf("metrics\n got %q\nwant %q", got, want)
			}
		})
	}
}

func op(process uint32, cause, begin, end time.Duration, status trace.Progress) trace.Operation {
	return trace.Operation{Process: process, Cause: cause, Begin: begin, End: end, Status: status}
}
