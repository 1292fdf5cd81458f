package check

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const eventual = "election/test-eventual"

func led(by algo.ID) func(*harness.Plan) { return func(p *harness.Plan) { p.Leader = by } }

// all have each of the processes name leader, a millisecond apart.
func all(from float64, leader uint32, processes ...uint32) (out []trace.Record) {
	for i, p := range processes {
		out = append(out, at(from+float64(i), trace.Elected, p, leader))
	}
	return out
}

// TestElectionMetrics: an example small enough to be worked out by hand. The
// leader 3 of three crashes at 10; process 1 begins at 20, process 2 joins at 21,
// names itself at 25, and process 1 follows at 26.
func TestElectionMetrics(t *testing.T) {
	t.Parallel()
	records := join(flights(5, 2), at(10, trace.Crash, 3), flights(11, 1), at(20, trace.Suspect, 1, 3),
		at(20, trace.Elect, 1), at(20, trace.Elected, 1, 0), flights(20, 4), at(21, trace.Elected, 2, 0),
		at(25, trace.Elected, 2, 2), at(26, trace.Elected, 1, 2), flights(30, 1))
	for id, messages := range map[string]float64{eventual: 6, "election/test-restless": 5} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			v := trial{id: id, nodes: 3, change: led(3), records: records,
				end: harness.End{At: 40 * ms1}}.judge(t)
			hasStatus(t, v, trace.OK, "")
			hasOperations(t, v, op(2, 10*ms1, 20*ms1, 26*ms1, "ok"))
			hasMetrics(t, v, map[string]float64{
				"detection_ms": 10, "election_ms": 6, "downtime_ms": 16,
				"messages_per_election": messages, "bytes_per_election": 10 * messages,
				"leader_changes": 1, "split_brain_ms": 0, "message_delays": 1,
				"availability": (10 + 14) / 40.0,
			})
		})
	}
}

// TestOperationsOfElections: what opens an operation and what closes it.
func TestOperationsOfElections(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leader  algo.ID
		records []trace.Record
		want    []trace.Operation
		status  trace.Status
		metrics map[string]float64
	}{
		"cold start": {0, join(at(0, trace.Elect, 1), all(4, 3, 1, 2, 3)),
			[]trace.Operation{op(3, 0, 0, 6*ms1, "ok")}, trace.OK, map[string]float64{"leader_changes": 1}},
		"cold start, late": {0, join(at(3, trace.Elect, 1), all(4, 3, 1, 2, 3)),
			[]trace.Operation{op(3, 0, 3*ms1, 6*ms1, "ok")}, trace.OK, map[string]float64{"detection_ms": 3}},
		"nobody reported when it began": {0, all(4, 3, 1, 2, 3),
			[]trace.Operation{op(3, 0, 0, 6*ms1, "ok")}, trace.OK, nil},
		"a follower crashes": {3, []trace.Record{at(5, trace.Crash, 1)}, nil, trace.Unknown, nil},
		"the last that disagreed crashes": {0, join(all(4, 3, 2, 3), at(9, trace.Crash, 1)),
			[]trace.Operation{op(3, 0, 0, 9*ms1, "ok")}, trace.OK, nil},
		"an initiator though the leader lives": {3, join(at(5, trace.Elect, 1),
			at(5, trace.Elected, 1, 0),
			at(7, trace.Elected, 1, 3)), []trace.Operation{op(3, 5*ms1, 5*ms1, 7*ms1, "ok")}, trace.OK,
			map[string]float64{"leader_changes": 0}},
		"an initiator that says nothing": {3, []trace.Record{at(5, trace.Elect, 1)}, nil, trace.Unknown, nil},
		"one returns": {3, join(at(5, trace.Crash, 1),
			trace.Record{At: 9 * ms1, Type: trace.Up, Process: 1,
				Incarnation: 1}, at(9, trace.Elected, 1, 0), at(11, trace.Elected, 1, 3)),
			[]trace.Operation{op(3, 9*ms1, 9*ms1, 11*ms1, "ok")}, trace.OK, nil},
		"twice": {3, join(at(10, trace.Crash, 3), all(20, 2, 1, 2), at(40, trace.Crash, 2),
			at(44, trace.Elected, 1, 1)), []trace.Operation{op(2, 10*ms1, 10*ms1, 21*ms1, "ok"),
			op(1, 40*ms1, 40*ms1, 44*ms1, "ok")}, trace.OK,
			map[string]float64{"leader_changes": 2, "downtime_ms": (11 + 4) / 2.0}},
		"agreement on a dead one is none": {3, join(at(10, trace.Crash, 3), all(12, 3, 1, 2)),
			[]trace.Operation{op(0, 10*ms1, -1, -1, "pending")}, trace.Violated, nil},
		"a leader that does not exist": {0, all(4, 9, 1, 2, 3),
			[]trace.Operation{op(0, 0, -1, -1, "pending")}, trace.Violated, nil},
		"what the dead name does not count": {0, join(at(1, trace.Crash, 1), all(4, 3, 2, 3),
			at(7, trace.Elected, 1, 1)), []trace.Operation{op(3, 0, 0, 5*ms1, "ok")}, trace.OK, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, change: led(test.leader), records: test.records}.judge(t)
			if v.Status != test.status {
				t.Errorf("status %s (%s), want %s", v.Status, v.Reason, test.status)
			}
			hasOperations(t, v, test.want...)
			hasMetrics(t, v, test.metrics)
		})
	}
}

// TestMessagesOfOperations: each operation has the messages from its cause to
// the quiet before the next one; the restless algorithm's end at agreement.
func TestMessagesOfOperations(t *testing.T) {
	t.Parallel()
	records := join(flights(1, 100), at(10, trace.Crash, 3), flights(15, 3), all(20, 2, 1, 2),
		flights(25, 5), at(40, trace.Crash, 2), flights(41, 7), at(44, trace.Elected, 1, 1),
		flights(45, 9))
	first := join(flights(1, 100), at(10, trace.Elect, 1), flights(10, 3), at(10, trace.Elected, 1, 0),
		flights(12, 2), at(14, trace.Elected, 1, 3))
	for name, test := range map[string]struct {
		id      string
		records []trace.Record
		want    float64
	}{
		"falls quiet":    {eventual, records, (3 + 5 + 7 + 9) / 2.0},
		"never does":     {"election/test-restless", records, (3 + 7) / 2.0},
		"sent before it": {eventual, first, 3 + 2},
		"the last is pending": {eventual, join(at(10, trace.Crash, 3), flights(15, 3), all(20, 2, 1, 2),
			at(40, trace.Crash, 2), flights(41, 7)), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: test.id, nodes: 3, change: led(3), records: test.records}.judge(t)
			hasMetrics(t, v, map[string]float64{
				"messages_per_election": test.want, "bytes_per_election": 10 * test.want})
		})
	}
}

// acknowledged are messages of the detector's plane that say that another was handled.
func acknowledged(messages []trace.Record) []trace.Record {
	for i := range messages {
		messages[i].Plane = trace.Detection
	}
	return messages
}

// TestRounds: the longest chain is counted from the operation's cause, whatever
// depth the records have reached before.
func TestRounds(t *testing.T) {
	t.Parallel()
	send := func(ms float64, from, to uint32, seq uint64, depth uint32) []trace.Record {
		sent, got := flight(ms, from, to, seq, depth)
		return []trace.Record{sent, got}
	}
	heartbeats := join(send(1, 3, 1, 1, 1), send(2, 1, 3, 1, 2), send(3, 3, 1, 2, 3),
		send(4, 1, 3, 2, 4),
		send(5, 3, 2, 1, 5))
	// 2 asks 1, which knows less: the record says 7, but it is 1 long; then 1 answers.
	election := join(send(20, 2, 1, 1, 6), send(21, 1, 2, 1, 7), all(22, 2, 2, 1))
	late, arrived := flight(9.5, 1, 2, 9, 8) // on its way at the crash: of no chain
	for name, test := range map[string]struct {
		leader  algo.ID
		records []trace.Record
		want    float64
	}{
		"from the start": {0, join(send(1, 1, 2, 1, 1), send(2, 2, 3, 1, 2), send(3, 3, 1, 1, 3),
			all(4, 3, 1, 2, 3)), 3},
		"after other messages": {3, join(heartbeats, at(10, trace.Crash, 3), election), 2},
		"one on its way": {3, join(heartbeats, late, at(10, trace.Crash, 3), arrived,
			election), 2},
		"two operations": {0, join(send(1, 1, 2, 1, 1), send(2, 2, 3, 1, 2), all(4, 3, 1, 2, 3),
			at(10, trace.Crash, 3), election), (2 + 2) / 2.0},
		"what comes later and knows less": {3, join(heartbeats, late, at(10, trace.Crash, 3),
			send(20, 2, 1, 1, 6), send(21, 1, 2, 1, 7), arrived, send(25, 2, 1, 2, 8), all(30, 2, 2, 1)), 3},
		"who comes back knows nothing": {3, join(heartbeats, at(10, trace.Crash, 3), send(20, 2, 1, 1, 6),
			at(22, trace.Crash, 1), back(23, 1), send(24, 1, 2, 1, 7), all(30, 2, 2, 1)), 1},
		"a duplicate goes as far": {3, join(heartbeats, at(10, trace.Crash, 3),
			send(20, 2, 1, 1, 6), send(20, 2, 1, 1, 6)[1], send(21, 1, 2, 1, 7), all(22, 2, 2, 1)), 2},
		"an acknowledgement goes as far, and is no link": {3, join(heartbeats, at(10, trace.Crash, 3),
			send(20, 2, 1, 1, 6), acknowledged(send(21, 1, 2, 1, 6)), send(22, 2, 1, 2, 7), all(23, 2, 2, 1)), 2},
		"another soon afterwards": {3, join(heartbeats, at(10, trace.Crash, 3), send(20, 2, 1, 1, 6),
			send(21, 1, 2, 1, 7), all(22, 2, 2, 1), at(24, trace.Timeout, 1), at(24, trace.Elected, 1, 0),
			send(25, 2, 1, 2, 8), all(30, 2, 1)), (2 + 1) / 2.0},
		"over, and on again at that instant": {3, join(heartbeats, at(10, trace.Crash, 3),
			send(20, 2, 1, 1, 6), send(21, 1, 2, 1, 7), at(23, trace.Elected, 2, 2), at(23, trace.Elected, 1, 2),
			at(23, trace.Timeout, 1), at(23, trace.Elected, 1, 0), send(25, 2, 1, 2, 8), all(30, 2, 1)), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 3, records: test.records, change: func(p *harness.Plan) {
				p.Leader, p.Network.Duplication = test.leader, 0.5
			}}.judge(t)
			hasMetrics(t, v, map[string]float64{"message_delays": test.want})
		})
	}
}

// TestPartition: agreement is asked of the largest part alone; both sides count
// for split brain and availability.
func TestPartition(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		records []trace.Record
		want    []trace.Operation
		metrics map[string]float64
	}{
		"the minority elects its own": {join(cut(10, "1 2|3 4 5"), all(20, 2, 1, 2), heal(50),
			all(59, 5, 1, 2)), []trace.Operation{op(5, 50*ms1, 50*ms1, 60*ms1, "ok")},
			map[string]float64{"split_brain_ms": 60 - 21, "availability": 70 / 80.0, "availability_led": 1, "leader_changes": 0}},
		"the majority elects its own": {join(cut(10, "1 2 3|4 5"), all(20, 3, 3, 2, 1), heal(50),
			all(60, 5, 1, 2, 3)), []trace.Operation{op(3, 10*ms1, 10*ms1, 22*ms1, "ok"),
			op(5, 50*ms1, 50*ms1, 62*ms1, "ok")},
			// 5 has three voices within reach until 10, 3 has them from 22 to 60, when it names 5.
			map[string]float64{"split_brain_ms": 62 - 20, "availability": (10 + 28 + 18) / 80.0,
				"availability_led": (10 + 58) / 80.0, "leader_changes": 2}},
		"the leader has gone, and nobody has three voices": {join(cut(10, "1 2 3|4 5"),
			at(20, trace.Elected, 1, 0), at(21, trace.Elected, 2, 0), at(22, trace.Elected, 3, 0),
			all(30, 3, 3, 2, 1)), []trace.Operation{op(3, 10*ms1, 20*ms1, 32*ms1, "ok")},
			map[string]float64{"split_brain_ms": 50, "availability": (10 + 48) / 80.0,
				"detection_ms": 10, "downtime_ms": 22}},
		"the largest part of the living": {join(cut(10, "1 2 3|4 5"), at(15, trace.Elected, 1, 0),
			at(20, trace.Crash, 1), at(20, trace.Crash, 2)),
			[]trace.Operation{op(5, 10*ms1, 15*ms1, 20*ms1, "ok")}, nil},
		"healed before anybody noticed": {join(cut(10, "1 2 3|4 5"), heal(30), at(40, trace.Crash, 5),
			all(50, 4, 1, 2, 3, 4)), []trace.Operation{op(4, 40*ms1, 40*ms1, 53*ms1, "ok")},
			map[string]float64{"leader_changes": 1}},
		"three ways, a tie": {join(cut(10, "1 2|3 4|5"), all(20, 2, 1, 2)),
			[]trace.Operation{op(2, 10*ms1, 10*ms1, 21*ms1, "ok")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: eventual, nodes: 5, change: led(5), records: test.records,
				end: harness.End{At: 80 * ms1}}.judge(t)
			hasStatus(t, v, trace.OK, "")
			hasOperations(t, v, test.want...)
			hasMetrics(t, v, test.metrics)
		})
	}
}

func TestLeadership(t *testing.T) {
	t.Parallel()
	const one, term = "election/test-one", "election/test-term"
	for name, test := range map[string]struct {
		id      string
		records []trace.Record
		want    []string
	}{
		"one after the other": {one, join(at(1, trace.Elected, 2, 2), at(5, trace.Elected, 2, 3),
			at(6, trace.Elected, 3, 3), at(7, trace.Elected, 1, 3)), nil},
		"two at once": {one, join(at(1, trace.Elected, 2, 2), at(5, trace.Elected, 3, 3),
			at(7, trace.Elected, 1, 3), at(8, trace.Elected, 2, 3)),
			[]string{"leadership: p3 holds itself leader at 5ms, while another does"}},
		"one of three stops": {one, join(at(1, trace.Elected, 2, 2), at(5, trace.Elected, 3, 3),
			at(6, trace.Elected, 1, 1), at(7, trace.Elected, 1, 3), at(8, trace.Elected, 2, 3)),
			[]string{"leadership: p3 holds itself leader at 5ms, while another does",
				"leadership: p1 holds itself leader at 6ms, while another does"}},
		"the other has crashed": {one, join(at(1, trace.Elected, 2, 2), at(4, trace.Crash, 2),
			at(5, trace.Elected, 3, 3), at(7, trace.Elected, 1, 3)), nil},
		"two at once, not promised": {eventual, join(at(1, trace.Elected, 2, 2), all(5, 3, 1, 2, 3)),
			nil},
		"one in each term": {term, join(electedIn(1, 2, 2, 1), electedIn(2, 3, 3, 2),
			electedIn(3, 1, 3, 2), electedIn(4, 2, 3, 2)), nil},
		"the same twice in a term": {term, join(electedIn(1, 3, 3, 1), electedIn(2, 3, 0, 1),
			electedIn(3, 3, 3, 1), electedIn(4, 1, 3, 1), electedIn(4, 2, 3, 1)), nil},
		"two in a term": {term, join(electedIn(1, 2, 2, 7), electedIn(2, 3, 3, 7),
			electedIn(3, 1, 3, 7), electedIn(4, 2, 3, 7)), []string{"leadership: p3 leads term 7 at 2ms, which p2 led"}},
		"two in a term, one dead": {term, join(electedIn(1, 2, 2, 7), at(2, trace.Crash, 2),
			electedIn(3, 3, 3, 7), electedIn(4, 1, 3, 7)), []string{"leadership: p3 leads term 7 at 3ms, which p2 led"}},
		"two in a term, not promised": {one, join(electedIn(1, 2, 2, 7), electedIn(2, 2, 3, 7),
			electedIn(3, 3, 3, 7), electedIn(4, 1, 3, 7)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: test.id, nodes: 3, records: test.records}.judge(t)
			if !slices.Equal(v.Violations, test.want) {
				t.Errorf("violations %q, want %q", v.Violations, test.want)
			}
			status := trace.OK
			if test.want != nil {
				status = trace.Violated
			}
			if v.Status != status {
				t.Errorf("status %s (%s), want %s", v.Status, v.Reason, status)
			}
		})
	}
}

func TestElectionsThatDoNotComplete(t *testing.T) {
	t.Parallel()
	disagree := join(at(1, trace.Elect, 1), all(4, 3, 1, 3))
	const what = "no agreement on a leader: p1 names p3 p2 names none p3 names p3"
	outside := func(p *harness.Plan) { p.InModel = false }
	until := func(p *harness.Plan) {
		p.Scenario = harness.Scenario{Plot: &harness.Script{
			Until: 9 * ms1}}
	}
	for name, test := range map[string]struct {
		trial
		status trace.Status
		reason string
	}{
		"stuck": {trial{id: eventual, records: disagree, end: harness.End{Reason: harness.Stuck}},
			trace.Violated, "agreement: " + what + ", and the system is quiescent"},
		"out of model": {trial{id: eventual, records: disagree, change: outside,
			end: harness.End{Reason: harness.Stuck}}, trace.TimedOut, what + "; the system is quiescent"},
		"a leader for each group is enough": {trial{id: "election/test-group", records: disagree,
			end: harness.End{Reason: harness.Stuck}}, trace.TimedOut, what + "; the system is quiescent"},
		"time limit": {trial{id: eventual, records: disagree,
			end: harness.End{Reason: harness.TimeLimit, At: time.Second}}, trace.TimedOut, what + " within 1s"},
		"until": {trial{id: eventual, records: disagree, change: until}, trace.TimedOut, what + " within 5ms"},
		"restless, finished": {trial{id: "election/test-restless", records: disagree},
			trace.TimedOut, what + " within 5ms"},
		"livelock": {trial{id: eventual, records: disagree, end: harness.End{Reason: harness.Livelock}},
			trace.TimedOut, what + "; livelock: messages without end at 5ms"},
		"never quiet": {trial{id: eventual, records: all(1, 3, 1, 2, 3),
			end: harness.End{Reason: harness.TimeLimit, At: time.Second}},
			trace.TimedOut, "the scenario did not come to its end within 1s"},
		"nothing happened": {trial{id: eventual, change: led(3)}, trace.Unknown, "no election took place"},
		"all are dead": {trial{id: eventual, records: join(at(1, trace.Crash, 1), at(1, trace.Crash, 2),
			at(1, trace.Crash, 3)), end: harness.End{Reason: harness.Stuck}},
			trace.Violated, "agreement: no agreement on a leader:, and the system is quiescent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.nodes = 3
			hasStatus(t, test.judge(t), test.status, test.reason)
		})
	}
	v := trial{id: eventual, nodes: 10, end: harness.End{At: 1}}.judge(t)
	if want := "p8 names none ... within 1ns"; v.Status != trace.Violated && len(v.Reason) > 0 &&
		v.Reason[max(0, len(v.Reason)-len(want)):] != want {
		t.Errorf("reason %q, want one that ends in %q", v.Reason, want)
	}
	hasMetrics(t, v, map[string]float64{"election_ms": math.NaN(), "messages_per_election": math.NaN(),
		"availability": 0, "message_delays": math.NaN()})
}

// TestElections_Handling: what a handler took belongs to the election, and changes nothing else: what
// a process says at the end of its handler follows from what reached it at its beginning, and what it
// sent there is the election's.
func TestElections_Handling(t *testing.T) {
	t.Parallel()
	for name, took := range map[string]float64{"at once": 0, "after 5 ms": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, got := flight(20+took, 1, 2, 1, 1)
			records := join(at(20, trace.Elect, 1), handled(20+took, took, 1), sent,
				at(20+took, trace.Elected, 1, 0), got, at(21+took, trace.Elected, 2, 2), at(22+took, trace.Elected, 1, 2))
			v := trial{id: eventual, nodes: 2, change: led(1), records: records, real: true,
				end: harness.End{At: 40 * ms1}}.judge(t)
			if len(v.Operations) != 1 {
				t.Fatalf("operations: %+v", v.Operations)
			}
			if op := v.Operations[0]; op.Origin != trace.Asked {
				t.Errorf("its origin is %q", op.Origin)
			}
			hasMetrics(t, v, map[string]float64{"messages_per_election": 1, "election_ms": 2 + took, "skew": 0})
		})
	}
}
