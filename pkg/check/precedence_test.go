package check

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const ordered = "mutex/test-ordered"

func init() {
	algo.RegisterMutex(algo.Spec{
		Name: "test-ordered", Summary: "never runs", Messages: []algo.Message{Ping{}},
		Auxiliary: []algo.Message{Pong{}}, Promises: algo.Promises{RequestOrder: true},
		Paper: algo.Paper{Authors: "test", Title: "test", Year: 2026},
	}, func(algo.Config) algo.Mutex { return mute{} })
}

// sent and arrives are the ends of message seq of a link.
func sent(ms float64, from, to uint32, seq uint64) trace.Record {
	r := at(ms, trace.Send, from, to)
	r.Seq = seq
	return r
}

func arrives(ms float64, from, to uint32, seq uint64) trace.Record {
	r := at(ms, trace.Deliver, to, from)
	r.Seq = seq
	return r
}

// aside puts a record on the plane of the detector, as a message of this kind.
func aside(r trace.Record, kind uint8) trace.Record {
	r.Plane, r.Kind = trace.Detection, kind
	return r
}

func again(r trace.Record, incarnation uint32) trace.Record {
	r.Incarnation = incarnation
	return r
}

// TestRequestOrder: process 3 enters before process 1, which asked before it. That
// breaks the promise exactly if a message could have told 3 of it.
func TestRequestOrder(t *testing.T) {
	t.Parallel()
	first := requested(0, 1, 0)
	second := join(requested(5, 3, 5), at(6, trace.Granted, 3), at(7, trace.Released, 3),
		at(8, trace.Granted, 1), at(9, trace.Released, 1))
	const broken = "request-order: p3 granted at 6ms before p1, whose request at 0s happened before its own"
	for name, test := range map[string]struct {
		before []trace.Record // what happens until 3 asks
		want   string
	}{
		"nobody told it": {join(first), ""},
		"told":           {join(first, sent(1, 1, 3, 1), arrives(2, 1, 3, 1)), broken},
		"told by way of 2": {join(first, sent(1, 1, 2, 1), arrives(2, 1, 2, 1),
			sent(3, 2, 3, 1), arrives(4, 2, 3, 1)), broken},
		"told aside": {join(first, aside(sent(1, 1, 3, 1), 1), aside(arrives(2, 1, 3, 1), 1)), broken},
		"a heartbeat is not of the algorithm": {join(first, aside(sent(1, 1, 3, 1), harness.Heartbeat),
			aside(arrives(2, 1, 3, 1), harness.Heartbeat)), ""},
		"sent before":     {join(sent(0, 1, 3, 1), first, arrives(2, 1, 3, 1)), ""},
		"not yet arrived": {join(first, sent(1, 1, 3, 1)), ""},
		"lost":            {join(first, sent(1, 1, 3, 1), at(2, trace.Lose, 3, 1)), ""},
		"2 had sent before": {join(first, sent(1, 1, 2, 1), sent(1, 2, 3, 1),
			arrives(2, 1, 2, 1), arrives(4, 2, 3, 1)), ""},
		"another message of the link": {join(sent(0, 1, 3, 1), first, sent(1, 1, 3, 2),
			arrives(2, 1, 3, 1)), ""},
		"the second overtakes": {join(sent(0, 1, 3, 1), first, sent(1, 1, 3, 2),
			arrives(2, 1, 3, 2)), broken},
		"told of an earlier request": {join(entry(1, 0, 0, 0), sent(0, 1, 3, 1),
			arrives(2, 1, 3, 1), requested(3, 1, 3)), ""},
		"forgot it in a crash": {join(first, sent(1, 1, 3, 1), arrives(2, 1, 3, 1), at(3, trace.Crash, 3),
			again(at(4, trace.Up, 3), 1)), ""},
		"1 is gone": {join(first, sent(1, 1, 3, 1), arrives(2, 1, 3, 1), at(3, trace.Crash, 1),
			again(at(4, trace.Up, 1), 1), requested(5, 1, 5)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := trial{id: ordered, nodes: 3, records: join(test.before, second)}
			if got := strings.Join(tr.judge(t).Violations, "; "); got != test.want {
				t.Errorf("violations %q, want %q", got, test.want)
			}
			tr.id = fair // does not promise it, and is not held to it
			if v := tr.judge(t); len(v.Violations) > 0 {
				t.Errorf("not promised, but violations %q", v.Violations)
			}
		})
	}
}

// TestRequestOrder_Copies: a second copy tells what the first did.
func TestRequestOrder_Copies(t *testing.T) {
	t.Parallel()
	late, second := arrives(4, 1, 3, 1), at(1, trace.Duplicate, 1, 3)
	late.Copy, second.Copy, second.Seq = 1, 1, 1
	records := join(requested(0, 1, 0), sent(1, 1, 3, 1), second,
		arrives(2, 1, 3, 1), at(3, trace.Crash, 3), again(at(3, trace.Up, 3), 1), late,
		requested(5, 3, 5), at(6, trace.Granted, 3))
	v := trial{id: ordered, nodes: 3, records: records, change: func(p *harness.Plan) {
		p.Network.Duplication = 0.5
	}}.judge(t)
	if len(v.Violations) != 1 || !strings.Contains(v.Violations[0], "request-order: p3 granted at 6ms before p1") {
		t.Errorf("violations %q, want that of p3", v.Violations)
	}
}
