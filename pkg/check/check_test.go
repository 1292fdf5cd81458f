package check

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTotals: every message record goes into the right account.
func TestTotals(t *testing.T) {
	t.Parallel()
	of := func(kind, plane uint8, typ trace.Type, arg uint64) trace.Record {
		r := at(1, typ, 1, 2)
		r.Kind, r.Plane, r.Arg, r.Bytes, r.Seq = kind, plane, arg, 10, 1
		r.Sent, r.Due = 0, ms1
		return r
	}
	ping := func(typ trace.Type) trace.Record { return of(0, trace.Data, typ, 0) }
	records := []trace.Record{
		ping(trace.Send), ping(trace.Send), ping(trace.Send), ping(trace.Send), ping(trace.Duplicate),
		ping(trace.Deliver), of(0, trace.Data, trace.Deliver, 500), ping(trace.Lose),
		ping(trace.Undelivered),
		of(0, trace.Data, trace.Lose, trace.WithSender),
		ping(trace.Send), of(0, trace.Data, trace.Lose, trace.Severed), // the draw would have let it through
		of(1, trace.Data, trace.Send, 0), // still pending
		of(harness.Heartbeat, trace.Detection, trace.Send, 0),
		of(harness.Heartbeat, trace.Detection, trace.Deliver, 0),
		of(harness.Heartbeat, trace.Detection, trace.Lose, 0),
	}
	v := trial{id: fair, nodes: 2, records: records, end: harness.End{Pending: 1}}.judge(t)
	if v.Status != trace.Unknown {
		t.Errorf("status %s (%s), want unknown", v.Status, v.Reason)
	}
	want := Totals{Sent: 6, Delivered: 2, Lost: 3, Duplicated: 1, Undeliverable: 1, Bytes: 60,
		Detector: 1,
		Met:      4, Missed: 1, Late: 1}
	if v.Totals != want {
		t.Errorf("totals %+v, want %+v", v.Totals, want)
	}
	if want := []trace.MessageCount{{Name: "PING", Sent: 5, Delivered: 2, Lost: 3, Bytes: 50},
		{Name: "PONG", Sent: 1, Bytes: 10}}; !slices.Equal(v.Kinds, want) {
		t.Errorf("kinds %+v, want %+v", v.Kinds, want)
	}
	hasMetrics(t, v, map[string]float64{"loss_achieved": 1.0 / 5})
}

func TestLatencies(t *testing.T) {
	t.Parallel()
	var records []trace.Record
	for i := range 101 {
		sent, got := flight(float64(i), 1, 2, uint64(i+1), 1)
		got.At += time.Duration(i) * time.Microsecond // that much later than it was due
		records = append(records, sent, got)
	}
	v := trial{id: fair, nodes: 2, records: records}.judge(t)
	hasMetrics(t, v, map[string]float64{"latency_requested_ms": 1, "latency_drawn_ms": 1, "order_delay_ms": 0,
		"latency_achieved_ms": 1.05, "delay_error_p50_ms": 0.050, "delay_error_p99_ms": 0.099, "loss_achieved": 0})
}

// TestLatencies_AskedFor: the mean of the distribution stands beside what was drawn for
// every copy, the lost ones too, and beside what the order of the link added to that.
func TestLatencies_AskedFor(t *testing.T) {
	t.Parallel()
	var records []trace.Record
	for i, drawn := range []time.Duration{4 * ms1, ms1, ms1} { // the second waits for the first
		sent, got := flight(float64(i), 1, 2, uint64(i+1), 1)
		sent.Due = max(sent.Sent+drawn, 4*ms1)
		sent.Arg = uint64(sent.Due - sent.Sent - drawn)
		got.At, got.Due = sent.Due, sent.Due
		if i == 0 {
			got.Type = trace.Lose
		}
		records = append(records, sent, got)
	}
	far := link.Latency{Law: &link.Regions{Places: []string{"a", "b"},
		RoundTrips: [][]time.Duration{{ms1, 6 * ms1}, {8 * ms1, ms1}}}}
	for name, test := range map[string]struct {
		change func(*harness.Plan)
		want   float64
	}{
		"one distribution": {func(p *harness.Plan) {
			p.Network.Latency = link.Latency{Law: &link.Exponential{Mean: 5 * ms1, Max: 5 * ms1}}
		}, 5 * (1 - math.Exp(-1))},
		"one of the link": {func(p *harness.Plan) { p.Network.Latency = far }, 3},
		"another for a while": {func(p *harness.Plan) {
			p.Faults.Events = []harness.Event{{Do: harness.DoFlaky, Latency: &far}}
		}, math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: fair, nodes: 2, records: records, change: test.change}.judge(t)
			hasMetrics(t, v, map[string]float64{"latency_drawn_ms": 6.0 / 3, "order_delay_ms": (2.0 + 1) / 3,
				"latency_achieved_ms": (3.0 + 2) / 2})
			for _, m := range v.Metrics {
				if m.Name == "latency_requested_ms" && math.Abs(m.Value-test.want) > 1e-6 {
					t.Errorf("latency_requested_ms %v, want %v", m.Value, test.want)
				}
			}
		})
	}
}

// TestSampleThins: a very long sample keeps exact sums and fair quantiles.
func TestSampleThins(t *testing.T) {
	t.Parallel()
	var s sample
	const n = 300_000
	for i := range n {
		s.add(time.Duration(i%1000) * ms1)
	}
	if got := s.mean(); got != 499.5 || len(s.kept) > maxKept {
		t.Errorf("mean %v of %d kept, want 499.5 of at most %d", got, len(s.kept), maxKept)
	}
	for _, p := range []float64{0, 0.25, 0.5, 0.99, 1} {
		if got := s.quantile(p); math.Abs(got-p*999) > 8 {
			t.Errorf("quantile %v is %v, want about %v", p, got, p*999)
		}
	}
}

func TestVerdictsInOrderOfWeight(t *testing.T) {
	t.Parallel()
	overlap := join(requested(0, 1, 0), requested(0, 2, 0), at(1, trace.Granted, 1),
		at(2, trace.Granted, 2),
		at(3, trace.Released, 1), at(3, trace.Released, 2))
	const violated = "mutual-exclusion: p2 granted at 2ms while p1 is inside since 1ms"
	missing := join(overlap, flights(4, 2)[:3])
	const lost = "messages do not add up: 2 sent + 0 duplicated, but 1 delivered + 0 lost + " +
		"0 undeliverable + 0 pending"
	broken := errors.New("process 1: invariant: no")
	invalid := []string{"the bus died", "telemetry of p1 is full"}
	for name, test := range map[string]struct {
		trial
		status trace.Status
		reason string
	}{
		"good":                 {trial{id: fair, records: entry(1, 0, 0, 1)}, trace.OK, ""},
		"a violation":          {trial{id: fair, records: overlap}, trace.Violated, violated},
		"messages are missing": {trial{id: fair, records: missing}, trace.Failed, lost},
		"pending ones are counted": {trial{id: fair, records: missing, end: harness.End{Pending: 1}},
			trace.Violated, violated},
		"broken": {trial{id: fair, records: missing,
			end: harness.End{Reason: harness.Broken, Err: broken}},
			trace.Failed, "process 1: invariant: no"},
		"invalid": {trial{id: fair, records: missing, end: harness.End{Reason: harness.Broken,
			Invalid: invalid}}, trace.Invalid, "the bus died; telemetry of p1 is full"},
		"an error wins": {trial{id: fair, records: missing, end: harness.End{Reason: harness.Broken,
			Err: broken, Invalid: invalid}}, trace.Failed, "process 1: invariant: no"},
		"an invariant out of model": {trial{id: fair,
			records: join(entry(1, 0, 0, 1), []trace.Record{{At: time.Millisecond, Type: trace.Unsound, Process: 2, Text: "no"}}),
			change:  func(p *harness.Plan) { p.InModel = false }}, trace.Violated, "invariant: p2 at 1ms: no"},
		"a violation out of model is one": {trial{id: fair, records: overlap,
			change: func(p *harness.Plan) { p.InModel = false }}, trace.Violated, violated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.nodes = 2
			hasStatus(t, test.judge(t), test.status, test.reason)
		})
	}
}

func TestExpect(t *testing.T) {
	t.Parallel()
	type list = []harness.Expect
	one, each := harness.Exactly[int64], harness.Each
	at6 := harness.Exactly("all_informed_at", 6*ms1)
	bounds := func(name string, lo, hi float64) harness.Expect {
		return harness.Expect{Name: name, Want: []harness.Range{{Min: &lo, Max: &hi}}}
	}
	election := trial{id: eventual, nodes: 3,
		records: join(at(0, trace.Elect, 1), flights(1, 2), all(4, 3, 1, 2, 3))}
	mutex := trial{id: fair, nodes: 3, records: join(entry(2, 0, 0, 1), entry(1, 2, 2, 3))}
	for name, test := range map[string]struct {
		trial
		want list
		errs []string
	}{
		"nothing": {election, nil, nil},
		"all of it": {election, list{one("sent", 2), one("delivered", 2),
			each("sent_by_kind", map[string]int64{"PING": 2, "PONG": 0}), one("leader", 3), at6,
			each("leaders", map[string]int64{"1": 3, "2": 3}), one("new_leader", 3), one("most_leaders", 1),
			one("quiescent", 1)}, nil},
		"sent":      {election, list{one("sent", 3)}, []string{"expectation: sent: expected 3, got 2"}},
		"delivered": {election, list{one("delivered", 0)}, []string{"expectation: delivered: expected 0, got 2"}},
		"by kind": {election, list{each("sent_by_kind", map[string]int64{"PONG": 1, "PING": 1, "X": 0})},
			[]string{"expectation: sent_by_kind: PING: expected 1, got 2",
				"expectation: sent_by_kind: PONG: expected 1, got 0"}},
		"bounds": {election, list{bounds("sent", 1, 2)}, nil},
		"other bounds": {election, list{bounds("sent", 3, 4)},
			[]string{"expectation: sent: expected 3 to 4, got 2"}},
		"in time": {election, list{{Name: "sent_within", From: 9 * ms1, To: 12 * ms1,
			Want: each("", map[string]int64{"PING": 1}).Want}},
			[]string{"expectation: sent_within: PING: expected 1, got 0"}},
		"leader": {election, list{one("leader", 2)}, []string{"expectation: leader: expected 2, got 3"}},
		"leaders": {election, list{each("leaders", map[string]int64{"2": 1, "4": 1})},
			[]string{"expectation: leaders: process 2: expected 1, got 3",
				"expectation: leaders: process 4: expected 1, got none: there is no such process"}},
		"informed": {election, list{harness.Exactly("all_informed_at", 4*ms1)},
			[]string{"expectation: all_informed_at: expected 4ms, got 6ms"}},
		"several": {election, list{one("sent", 1), one("delivered", 1)},
			[]string{"expectation: sent: expected 1, got 2", "expectation: delivered: expected 1, got 2"}},
		"order": {mutex, list{{Name: "cs_order", List: []int64{2, 1}}, one("entries", 2),
			harness.Exactly("second_entry_at", 2*ms1), one("never_granted", 0), one("deadlock", 0),
			one("violations", 0)}, nil},
		"other order": {mutex, list{{Name: "cs_order", List: []int64{1, 2}}},
			[]string{"expectation: cs_order: expected [1 2], got [2 1]"}},
		"nobody": {mutex, list{{Name: "cs_order"}}, []string{"expectation: cs_order: expected [], got [2 1]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.change = func(p *harness.Plan) {
				p.Scenario = harness.Scenario{Plot: &harness.Script{}, Expect: test.want}
			}
			v := test.judge(t)
			if !slices.Equal(v.Violations, test.errs) {
				t.Errorf("mismatches %q, want %q", v.Violations, test.errs)
			}
			if got := v.Status == trace.Violated; got != (test.errs != nil) {
				t.Errorf("status %s with mismatches %q", v.Status, test.errs)
			}
		})
	}
}
