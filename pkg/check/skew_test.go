package check

import (
	"math"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// lagging is a record of a real node whose event ran late by so much, and all that led
// to it by lag.
func lagging(r trace.Record, late, lag time.Duration) trace.Record {
	r.Due, r.Sent = r.At-late, lag
	return r
}

// delayed is a message that was handled so long after it was due.
func delayed(ms float64, seq uint64, latency, late time.Duration) []trace.Record {
	sent, got := flight(ms, 1, 2, seq, 1)
	sent.Due = sent.At + latency
	got.Due, got.At = sent.Due, sent.Due+late
	return []trace.Record{sent, got}
}

// handled says that a process took so much of a processor for the event before, up to ms.
func handled(ms, took float64, p uint32) trace.Record {
	r := at(ms, trace.Handled, p)
	r.Due, r.Arg = r.At, uint64(took*float64(ms1))
	return r
}

// An entry of p1 that it wanted at 0 and was granted at 10 ms, of which so much is late.
func waited(late time.Duration) []trace.Record {
	return join(requested(0, 1, 0), delayed(1, 1, ms1, 0), lagging(at(10, trace.Granted, 1), late, late),
		lagging(at(11, trace.Released, 1), 0, late))
}

// elected is an election behind a crash of p3 at 5 ms: begun at 15 ms, over at 35 ms.
func elected(begin, end trace.Record, between ...any) []trace.Record {
	return join(at(5, trace.Crash, 3), begin, delayed(16, 1, 10*ms1, 0), delayed(16, 2, 10*ms1, 0),
		join(between...), at(34, trace.Elected, 1, 2), end)
}

// TestSkew: a trial is judged by the share of its own times that lateness explains.
func TestSkew(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	begin := func(late, lag time.Duration) trace.Record { return lagging(at(15, trace.Elect, 2), late, lag) }
	end := func(lag time.Duration) trace.Record { return lagging(at(35, trace.Elected, 2, 2), 0, lag) }
	fired := lagging(at(20, trace.Timeout, 2), 0, 0)
	finer := func(latency time.Duration) func(*harness.Plan) {
		return func(p *harness.Plan) { p.Network.Latency = link.Constant(latency) }
	}
	for name, test := range map[string]struct {
		id      string
		records []trace.Record
		change  func(*harness.Plan)
		skew    float64
		status  trace.Status
		reason  string
	}{
		"waiting: nothing is late":    {"mutex/test-fair", waited(0), nil, 0, trace.OK, ""},
		"waiting: 9 % longer":         {"mutex/test-fair", waited(830 * us), nil, 0.083, trace.OK, ""},
		"waiting: 11 % longer":        {"mutex/test-fair", waited(ms1), nil, 0.1, trace.OK, "late: 10 % of waiting_ms is lateness of messages and timers"},
		"waiting: 43 % longer":        {"mutex/test-fair", waited(3 * ms1), nil, 0.3, trace.OK, "late: 30 % of waiting_ms is lateness of messages and timers"},
		"waiting: half as long again": {"mutex/test-fair", waited(4 * ms1), nil, 0.4, trace.Invalid, "the machine was late: 40 % of waiting_ms is lateness of messages and timers (33 % is bearable); use fewer nodes or longer latencies, or end what else it does"},
		"waiting: what led to the wish": {"mutex/test-fair", join(lagging(requested(5, 1, 3), 2*ms1, 7*ms1), // meant at 3 ms, which lagged by 5
			delayed(6, 1, ms1, 0), lagging(at(13, trace.Granted, 1), ms1, 8*ms1)), nil, 0.3, trace.OK, "late: 30 % of waiting_ms is lateness of messages and timers"},
		"waiting: another's history": {"mutex/test-fair", join(requested(0, 1, 0), delayed(1, 1, ms1, 0),
			lagging(at(10, trace.Granted, 1), ms1, 50*ms1)), nil, 0.1, trace.OK, "late: 10 % of waiting_ms is"},
		"waiting: hardly any": {"mutex/test-fair", join(lagging(requested(1.1, 1, 1), 100*us, 100*us), // of one that has the token
			lagging(at(1.1, trace.Granted, 1), 100*us, 100*us), delayed(2, 1, 2*ms1, 0)), nil, 0.05, trace.OK, ""},
		"handing over": {"mutex/test-fair", join(requested(0, 1, 0), at(0, trace.Granted, 1), requested(0, 2, 0),
			delayed(1, 1, ms1, 0), lagging(at(20, trace.Released, 1), 0, ms1), lagging(at(22, trace.Granted, 2), ms1, 2*ms1)),
			nil, 0.5, trace.Invalid, "the machine was late: 50 % of sync_delay_ms is"},
		"one message of four": {"mutex/test-fair", join(waited(0), delayed(12, 2, ms1, 0), delayed(13, 3, ms1, 0),
			delayed(14, 4, ms1, 2*ms1)), nil, 1.0 / 3, trace.OK, "late: 33 % of latency_achieved_ms is"},
		"one message of four, very": {"mutex/test-fair", join(waited(0), delayed(12, 2, ms1, 0), delayed(13, 3, ms1, 0),
			delayed(14, 4, ms1, 50*ms1)), nil, 50.0 / 54, trace.Invalid, "the machine was late: 93 % of latency_achieved_ms is"},
		"less than a machine can do": {"mutex/test-fair", join(requested(0, 1, 0), delayed(1, 1, 50*us, 150*us),
			lagging(at(10, trace.Granted, 1), 0, ms1)), finer(50 * us), 0.75, trace.OK, "late: 75 % of latency_achieved_ms is"},
		"no latency at all": {"mutex/test-fair", join(requested(0, 1, 0), delayed(1, 1, 0, 150*us),
			lagging(at(10, trace.Granted, 1), 0, ms1)), finer(0), 1, trace.OK, "late: 100 % of latency_achieved_ms is"},

		"waiting: for one's own handler": {"mutex/test-fair", join(requested(0, 1, 0), delayed(1, 1, ms1, 0), // 2 to 6 ms
			handled(6, 4, 1), lagging(at(6, trace.Timeout, 1), 4*ms1, 0), lagging(at(10, trace.Granted, 1), 0, 0)), nil, 0, trace.OK, ""},
		"a message, for its receiver's handler": {"mutex/test-fair", join(waited(0), handled(18, 4, 2), delayed(13, 2, ms1, 4*ms1),
			delayed(20, 3, ms1, 0)), nil, 0, trace.OK, ""},
		"a message, and for the machine": {"mutex/test-fair", join(waited(0), handled(17, 3, 2), delayed(13, 2, ms1, 4*ms1)), nil,
			0.5 / 1.5, trace.OK, "late: 33 % of latency_achieved_ms is"},
		"waiting: for the machine, beside another's handler": {"mutex/test-fair", join(requested(0, 1, 0), delayed(1, 1, ms1, 0),
			handled(9, 4, 2), lagging(at(10, trace.Granted, 1), 4*ms1, 4*ms1)), nil, 0.4, trace.Invalid, "the machine was late: 40 % of waiting_ms is"},

		"election: nothing is late":      {eventual, elected(begin(0, 0), end(0)), nil, 0, trace.OK, ""},
		"election: late all along":       {eventual, elected(begin(0, 50*ms1), end(50*ms1)), nil, 0, trace.OK, ""},
		"election: on its way":           {eventual, elected(begin(0, ms1), end(9*ms1)), nil, 0.4, trace.Invalid, "the machine was late: 40 % of election_ms is"},
		"election: begins too late":      {eventual, elected(begin(9*ms1, 9*ms1), end(11*ms1)), nil, 11.0 / 30, trace.Invalid, "the machine was late: 37 % of downtime_ms is"},
		"election: a message beside it":  {eventual, elected(begin(0, 0), end(0), delayed(16, 3, 10*ms1, 8*ms1)), nil, 8.0 / 38, trace.OK, "late: 21 % of latency_achieved_ms"},
		"election: a timer did not wait": {eventual, elected(begin(0, 0), end(0), fired, delayed(16, 3, 10*ms1, 8*ms1)), nil, 0.4, trace.Invalid, "the machine was late: 40 % of election_ms is"},
		"election: by plan": {eventual, join(at(0, trace.Pause, 1), at(0, trace.Resume, 1),
			elected(begin(0, ms1), end(9*ms1))), nil, 0, trace.OK, ""},
		"a broken promise": {"election/test-one", join(delayed(1, 1, ms1, 9*ms1), at(11, trace.Elected, 1, 1), at(12, trace.Elected, 2, 2)),
			nil, 0.9, trace.Violated, "leadership: p2 holds itself leader at 12ms, while another does"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, real := range []bool{true, false} {
				change := test.change
				if test.id == eventual {
					change = led(3)
				}
				v := trial{id: test.id, nodes: 3, change: change, records: test.records, real: real,
					end: harness.End{At: 100 * ms1}}.judge(t)
				plain := v.Status
				if want := map[string]float64{"skew": test.skew}; real {
					hasMetrics(t, v, want)
					v.JudgeTimes()
				} else {
					hasMetrics(t, v, map[string]float64{"skew": absent})
				}
				switch {
				case !real || test.status == trace.Violated:
					if v.Status != plain || v.Status == trace.Invalid {
						t.Errorf("%s: %s", v.Status, v.Reason)
					}
				case v.Status != test.status || len(v.Reason) < len(test.reason) ||
					v.Reason[:len(test.reason)] != test.reason || test.reason == "" && v.Reason != "":
					t.Errorf("%s: %q, want %s: %q", v.Status, v.Reason, test.status, test.reason)
				}
			}
		})
	}
}

// TestSkew_Nothing: where nothing was timed there is no skew, and nothing to mark.
func TestSkew_Nothing(t *testing.T) {
	t.Parallel()
	v := trial{id: "mutex/test-fair", nodes: 2, real: true}.judge(t)
	hasMetrics(t, v, map[string]float64{"skew": math.NaN()})
	v.JudgeTimes()
	hasStatus(t, v, trace.Unknown, "no process entered the critical section")
}

// TestDelays: what was delayed at the same time counts once.
func TestDelays(t *testing.T) {
	t.Parallel()
	var d delays
	for _, r := range []struct{ due, at float64 }{{0, 0}, {1, 2}, {4, 5}, {3.5, 6}, {8, 9}, {9, 10}, {20, 20}} {
		record := at(r.at, trace.Timeout, 1)
		record.Due = time.Duration(r.due * float64(ms1))
		d.record(&record, 0)
		host := at(r.at, trace.Crash, 1) // due at no instant
		d.record(&host, 0)
	}
	for from, want := range map[time.Duration]float64{0: 5.5, 1: 5.5, 2: 4.5, 4: 4, 5: 3, 7: 2, 9: 1, 10: 0, 99: 0} {
		if got := ms(d.since(from * ms1)); got != want {
			t.Errorf("since %d ms: %v ms, want %v", from, got, want)
		}
	}
	for i := range 2 * mostDelays {
		record := at(float64(100+2*i), trace.Timeout, 1)
		record.Due = record.At - ms1
		d.record(&record, 0)
	}
	if got := ms(d.since(50 * ms1)); len(d) > mostDelays || got < mostDelays/2 {
		t.Errorf("%d are remembered, of %v ms", len(d), got)
	}
}
