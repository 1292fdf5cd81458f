package check

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTokens: there is one, with process 1 at first. It travels as PING.
func TestTokens(t *testing.T) {
	t.Parallel()
	seq := uint64(0)
	// sends is a PING that leaves at from and meets its fate two milliseconds later.
	sends := func(from float64, p, q uint32, fate trace.Type, arg ...uint64) []trace.Record {
		seq++
		out, in := at(from, trace.Send, p, q), at(from+2, fate, q, p)
		out.Seq, in.Seq = seq, seq
		for _, a := range arg {
			in.Arg = a
		}
		return []trace.Record{out, in}
	}
	moves := func(from float64, p, q uint32) []trace.Record { return sends(from, p, q, trace.Deliver) }
	copied := func(first, second trace.Type) []trace.Record { // of 1's token to 2
		out := sends(1, 1, 2, first)
		twin, late := out[0], out[1]
		twin.Type, twin.Copy, late.Type, late.Copy, late.At = trace.Duplicate, 1, second, 1, 4*ms1
		return []trace.Record{out[0], twin, out[1], late}
	}
	enters := func(ms float64, p uint32) []trace.Record {
		return join(requested(ms, p, ms), at(ms, trace.Granted, p), at(ms, trace.Released, p))
	}
	pong := at(5, trace.Send, 3, 1)
	pong.Kind = 1
	for name, test := range map[string]struct {
		records       []trace.Record
		lost, doubled float64
		says          string
	}{
		"stays":                        {enters(1, 1), 0, 0, ""},
		"goes round":                   {join(moves(1, 1, 2), enters(4, 2), moves(5, 2, 3), moves(8, 3, 1), enters(12, 1)), 0, 0, ""},
		"another message":              {join(enters(1, 1), pong), 0, 0, ""},
		"kept and sent":                {join(moves(1, 1, 2), enters(4, 1)), 0, 1, "p1 enters with a second token at 4ms: one is with p2"},
		"sent twice":                   {join(moves(1, 1, 2)[0], moves(1, 1, 3)[0]), 0, 1, "p1 sends a second token at 1ms: one is on its way to p2"},
		"out of thin air":              {join(moves(1, 3, 2)), 0, 1, "p3 sends a second token at 1ms: one is with p1"},
		"three":                        {join(enters(1, 2), enters(2, 3)), 0, 2, "p2 enters with a second token at 1ms: one is with p1"},
		"two come to one":              {join(moves(1, 2, 3), moves(1, 1, 3), moves(5, 3, 1), moves(6, 3, 2)), 0, 1, "p2 sends a second"},
		"lost":                         {join(sends(1, 1, 2, trace.Lose)), 1, 0, ""},
		"omitted":                      {join(sends(1, 1, 2, trace.Lose, trace.Omitted)), 1, 0, ""},
		"to one that died":             {join(at(0, trace.Crash, 2), sends(1, 1, 2, trace.Undelivered)), 1, 0, ""},
		"dies with holder":             {join(moves(1, 1, 2), at(5, trace.Crash, 2)), 1, 0, ""},
		"a bystander dies":             {join(moves(1, 1, 2), at(5, trace.Crash, 1)), 0, 0, ""},
		"regenerated":                  {join(sends(1, 1, 2, trace.Lose), enters(9, 3), moves(10, 3, 2)), 1, 0, ""},
		"regenerated, its holder dead": {join(moves(1, 1, 2), at(5, trace.Crash, 2), enters(9, 3)), 1, 0, ""},
		"too early":                    {join(sends(1, 1, 2, trace.Lose)[0], enters(2, 3)), 0, 1, "p3 enters with a second token at 2ms: one is on its way to p2"},
		"copies":                       {join(copied(trace.Deliver, trace.Deliver), enters(5, 2), moves(6, 2, 3)), 0, 0, ""},
		"copies are one": {join(copied(trace.Deliver, trace.Deliver), enters(5, 2), moves(6, 2, 3),
			enters(9, 2)), 0, 1, "p2 enters with a second token at 9ms: one is with p3"},
		"copies, the second first": {join(copied(trace.Lose, trace.Deliver), enters(5, 2)), 0, 0, ""},
		"both copies lost":         {join(copied(trace.Lose, trace.Undelivered)), 1, 0, ""},
		"a copy is taken for one": {join(copied(trace.Deliver, trace.Deliver)[:3], moves(3, 2, 3),
			enters(6, 2)), 0, 1, "p2 enters with a second token at 6ms: one is with p3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, id := range []string{"mutex/test-token", "mutex/test-new-token", "mutex/test-lossy-token"} {
				pending := harness.End{Reason: harness.TimeLimit, At: 20 * ms1}
				v := trial{id: id, nodes: 3, records: test.records, end: pending}.judge(t)
				hasMetrics(t, v, map[string]float64{"tokens_lost": test.lost, "tokens_doubled": test.doubled})
				want := id == "mutex/test-token" && test.says != ""
				if got := len(v.Violations) > 0; got != want || got && !begins(v.Violations[0], "token-uniqueness: "+test.says) {
					t.Errorf("%s: violations %q, want %q", id, v.Violations, test.says)
				}
			}
		})
	}
}

func begins(text, with string) bool { return len(text) >= len(with) && text[:len(with)] == with }

// TestTokensAtTheStart: the plan says who has the token; nobody if that one is down.
func TestTokensAtTheStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		holder  algo.ID
		crashed []algo.ID
		doubled float64 // when 2 enters
	}{
		"the least":      {0, nil, 1},
		"2":              {2, nil, 0},
		"3":              {3, nil, 1},
		"3, who is down": {3, []algo.ID{3}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: "mutex/test-token", nodes: 3, records: entry(2, 1, 2, 3),
				change: func(p *harness.Plan) { p.Holder, p.Crashed = test.holder, test.crashed }}.judge(t)
			hasMetrics(t, v, map[string]float64{"tokens_doubled": test.doubled, "tokens_lost": 0})
		})
	}
}

// TestRecovery: from what went wrong until all are granted that waited then.
func TestRecovery(t *testing.T) {
	t.Parallel()
	gone := at(20, trace.Lose, 2, 1) // the token, from 1 to 2
	sentOn := at(19, trace.Send, 1, 2)
	for name, test := range map[string]struct {
		records []trace.Record
		want    float64
		never   float64
	}{
		"nothing wrong":              {entry(1, 0, 5, 6), absent, 0},
		"one waits":                  {join(requested(0, 1, 0), at(10, trace.Crash, 3), at(25, trace.Granted, 1)), 15, 0},
		"one comes later":            {join(at(10, trace.Crash, 3), requested(20, 1, 15), at(25, trace.Granted, 1)), 5, 0},
		"nobody comes":               {join(at(10, trace.Crash, 3)), math.NaN(), 0},
		"never again":                {join(requested(0, 1, 0), at(10, trace.Crash, 3)), math.NaN(), 1},
		"the next ones do not count": {join(requested(0, 1, 0), at(10, trace.Crash, 3), at(25, trace.Granted, 1), entry(2, 30, 90, 91)), 15, 0},
		"two crashes":                {join(requested(0, 1, 0), at(10, trace.Crash, 3), at(20, trace.Crash, 2), at(25, trace.Granted, 1)), (15 + 5) / 2.0, 0},
		"one after the other": {join(requested(0, 1, 0), at(10, trace.Crash, 3), at(25, trace.Granted, 1), at(26, trace.Released, 1),
			requested(30, 1, 30), at(40, trace.Crash, 2), at(47, trace.Granted, 1)), (15 + 7) / 2.0, 0},
		"the one that waits crashes": {join(requested(0, 1, 0), at(10, trace.Crash, 3), at(15, trace.Crash, 1), requested(40, 2, 40), at(48, trace.Granted, 2)), 8, 0},
		"and then all goes on": {join(requested(0, 1, 0), at(10, trace.Crash, 3), at(15, trace.Crash, 1),
			requested(40, 2, 40), at(48, trace.Granted, 2), requested(50, 3, 50), at(60, trace.Crash, 1),
			at(80, trace.Granted, 3)), (8 + 8 + 20) / 3.0, 0},
		"a token is lost":         {join(requested(0, 2, 0), sentOn, gone, at(27, trace.Granted, 2)), 7, 0},
		"with its holder":         {join(requested(0, 2, 0), at(20, trace.Crash, 1), at(27, trace.Granted, 2)), 7, 0},
		"another message is lost": {join(requested(0, 2, 0), again(sentOn, 1), at(20, trace.Lose, 2, 3), at(27, trace.Granted, 2)), absent, 0},
		"two wait":                {join(requested(0, 1, 0), requested(0, 2, 0), at(10, trace.Crash, 3)), math.NaN(), 2},
		"both are granted":        {join(requested(0, 1, 0), requested(0, 2, 0), at(10, trace.Crash, 3), at(12, trace.Granted, 1), at(13, trace.Released, 1), at(19, trace.Granted, 2)), 9, 0},
		"one is, and not the other": {join(requested(0, 1, 0), requested(0, 2, 0), at(10, trace.Crash, 3), at(12, trace.Granted, 1), at(13, trace.Released, 1)),
			math.NaN(), 1},
		"others go on, one waits": {join(requested(0, 1, 0), at(10, trace.Crash, 3), entry(2, 11, 12, 13), entry(2, 14, 15, 16), at(90, trace.Granted, 1)), 80, 0},
		"one is, the other died": {join(requested(0, 1, 0), requested(0, 2, 0), at(10, trace.Crash, 3), at(12, trace.Granted, 1), at(13, trace.Released, 1),
			at(40, trace.Crash, 2), entry(1, 50, 57, 58)), (2 + 7) / 2.0, 0},
		"each has its own": {join(requested(0, 1, 0), at(10, trace.Crash, 3), requested(11, 2, 11), at(20, trace.Crash, 3), at(25, trace.Granted, 1),
			at(26, trace.Released, 1), at(60, trace.Granted, 2)), (15 + 40) / 2.0, 0},
		"one waits, one died": {join(requested(0, 1, 0), requested(0, 2, 0), at(10, trace.Crash, 2)), math.NaN(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: "mutex/test-new-token", nodes: 3, records: test.records,
				end: harness.End{Reason: harness.TimeLimit, At: 100 * ms1}}.judge(t)
			hasMetrics(t, v, map[string]float64{"recovery_ms": test.want, "never_granted": test.never})
		})
	}
}

// TestStarvation: of n processes that all know each other one may wait while others
// enter 4n times, counted from when its request could have gone from one to the next.
func TestStarvation(t *testing.T) {
	t.Parallel()
	const n = 3
	// others is k entries of process 2, a millisecond apart, while 1 waits.
	others := func(from float64, k int) (out []trace.Record) {
		for i := range k {
			ms := from + float64(i)
			out = append(out, entry(2, ms, ms, ms+0.5)...)
		}
		return out
	}
	waits := requested(0, 1, 0)
	slowest, _ := flight(0, 2, 3, 1, 1) // of a millisecond: three of them take three
	const early, late = 3, 20
	says := func(since, at, fault string) []string {
		if fault != "" {
			fault = " and the last fault, over at " + fault + ", found out"
		}
		return []string{fmt.Sprintf("starvation: p1 waits since %s, and at %s others have entered 13 times "+
			"since its request could have been known%s", since, at, fault)}
	}
	for name, test := range map[string]struct {
		records []trace.Record
		want    []string
	}{
		"4n times":                   {join(waits, slowest, others(early, 12)), nil},
		"once more":                  {join(waits, slowest, others(early, 13)), says("0s", "15ms", "")},
		"ever after":                 {join(waits, slowest, others(early, 30)), says("0s", "15ms", "")},
		"nobody could know":          {join(waits, slowest, others(1, 14)), nil},
		"all at once":                {join(waits, others(0, 13)), says("0s", "12ms", "")},
		"granted at last":            {join(waits, slowest, others(early, 12), at(50, trace.Granted, 1), at(50, trace.Released, 1), requested(51, 1, 51), others(60, 12)), nil},
		"after a pause":              {join(waits, slowest, at(15, trace.Pause, 3), others(20, 12), at(40, trace.Resume, 3), others(41, 13)), nil},
		"long after a pause":         {join(waits, slowest, at(15, trace.Pause, 3), at(17, trace.Resume, 3), others(20, 13)), says("0s", "32ms", "17ms")},
		"while one is slow":          {join(waits, slowest, slowed(1, 3, ms1), others(late, 30)), nil},
		"slow, and nothing was sent": {join(waits, slowed(1, 3, ms1), others(late, 30)), nil},
		"while links are flaky":      {join(waits, slowest, flaky(1, "all"), others(late, 30)), nil},
		"while some still are":       {join(waits, slowest, flaky(1, "1>3"), flaky(1, "3>1"), flaky(2, ""), others(late, 30)), nil},
		"flaky no longer":            {join(waits, slowest, flaky(1, "all"), flaky(2, ""), others(5, 13)), says("0s", "17ms", "2ms")},
		"while a link is cut":        {join(waits, slowest, cut(1, "1>3"), others(late, 30)), nil},
		"after a heal":               {join(waits, slowest, cut(1, "1>3"), heal(2), others(5, 13)), says("0s", "17ms", "2ms")},
		"after a crash":              {join(waits, slowest, at(1, trace.Crash, 3), others(late, 13)), says("0s", "32ms", "1ms")},
		"after a return":             {join(waits, slowest, at(1, trace.Crash, 3), back(18, 3), others(late, 14)), says("0s", "33ms", "18ms")},
		"after a message was lost":   {join(waits, slowest, at(18, trace.Lose, 3, 2), others(late, 14)), says("0s", "33ms", "18ms")},
		"crash upon crash":           {join(waits, slowest, others(4, 8), at(18, trace.Crash, 3), others(21, 12)), nil},
		"a message finds nobody":     {join(waits, slowest, at(1, trace.Crash, 3), others(late, 6), at(26, trace.Undelivered, 3, 2), others(26, 7)), says("0s", "32ms", "1ms")},
		"two wait, one is unlucky":   {join(requested(0, 3, 0), waits, slowest, others(early, 12), at(late, trace.Granted, 3), at(late, trace.Released, 3)), says("0s", "20ms", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := trial{id: fair, nodes: n, records: test.records,
				end: harness.End{Reason: harness.TimeLimit, At: 100 * ms1}}
			if v := tr.judge(t); !slices.Equal(v.Violations, test.want) {
				t.Errorf("violations\n got %q\nwant %q", v.Violations, test.want)
			}
			tr.change = func(p *harness.Plan) { p.InModel = false }
			if v := tr.judge(t); len(v.Violations) > 0 {
				t.Errorf("out of model: %q", v.Violations)
			}
			tr.id, tr.change = unfair, nil
			if v := tr.judge(t); len(v.Violations) > 0 {
				t.Errorf("not promised: %q", v.Violations)
			}
			tr.id, tr.change = fair, func(p *harness.Plan) { p.Shape = algo.Shape{Kind: "tree", Tree: "path"} }
			if v := tr.judge(t); len(v.Violations) > 0 {
				t.Errorf("from neighbor to neighbor: %q", v.Violations)
			}
		})
	}
}

// TestStarvation_Timeouts: an algorithm has ten of its longest time-outs, and what a
// detector takes if it needs one, to find out what a fault has done: to a request that
// was there by then, or to one that came later.
func TestStarvation_Timeouts(t *testing.T) {
	t.Parallel()
	const timeout, detects = 2, 7 // ms: 20 in all, or 28 with the latency of the detector's message
	crash := at(1, trace.Crash, 3)
	for name, test := range map[string]struct {
		id     string
		events []trace.Record // before others enter
		from   float64        // they do, a millisecond apart
		want   bool           // by the 13th time; by the 12th in any case not
		down   bool           // 3 is, from the start on
	}{
		"nothing went wrong":               {fair, nil, 0, true, false},
		"a crash":                          {fair, join(crash), 21, true, false},
		"in the middle of it":              {fair, join(crash), 20, false, false},
		"a request that came later":        {fair, join(crash, at(40, trace.Released, 1), requested(40, 1, 40)), 60, true, false},
		"came later, and in the middle":    {fair, join(crash, at(40, trace.Released, 1), requested(40, 1, 40)), 59, false, false},
		"another crash":                    {fair, join(crash, at(20, trace.Crash, 2)), 40, true, false},
		"another crash, and in the middle": {fair, join(crash, at(20, trace.Crash, 2)), 39, false, false},
		"down from the start on":           {fair, nil, 20, true, true},
		"down, and in the middle":          {fair, nil, 19, false, true},
		"a detector finds out":             {"mutex/test-told", join(crash), 29, true, false},
		"a detector, and in the middle":    {"mutex/test-told", join(crash), 28, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, more := range []int{12, 13} {
				records := join(requested(0, 1, 0), test.events)
				if len(test.events) > 1 && test.events[1].Type == trace.Released { // the first one was let in
					records = join(requested(0, 1, 0), at(0, trace.Granted, 1), test.events)
				}
				for i := range more {
					ms := test.from + float64(i)
					records = append(records, entry(2, ms, ms, ms+0.5)...)
				}
				v := trial{id: test.id, nodes: 3, records: records,
					change: func(p *harness.Plan) {
						p.Params = map[string]any{"patience": timeout * ms1, "ranks": []any{int64(1), ms1, ms1}}
						p.Detector = harness.PerfectDetector(detects * ms1)
						if test.down {
							p.Crashed = []algo.ID{3}
						}
					}, end: harness.End{Reason: harness.TimeLimit, At: 100 * ms1}}.judge(t)
				if got := len(v.Violations) > 0; got != (test.want && more == 13) {
					t.Errorf("%d entries: violations %q, want one: %t", more, v.Violations, !got)
				}
			}
		})
	}
}

// TestStarvation_Elsewhere: where requests go from neighbor to neighbor 4n² entries are
// not too many, and on real processes a message may take longer than the network says.
func TestStarvation_Elsewhere(t *testing.T) {
	t.Parallel()
	tree := func(p *harness.Plan) { p.Shape = algo.Shape{Kind: "tree", Tree: "path"} }
	ring := func(p *harness.Plan) { p.Shape = algo.Shape{Kind: "logical-ring"} }
	for name, test := range map[string]struct {
		entries int
		change  func(*harness.Plan)
		real    bool
		want    bool
	}{
		"in a tree":                {36, tree, false, false},
		"in a tree, once more":     {37, tree, false, true},
		"round a ring":             {12, ring, false, false},
		"round a ring, once more":  {13, ring, false, true},
		"really":                   {60 + 12, nil, true, false},
		"really, and once more":    {60 + 13, nil, true, true},
		"really, in a virtual one": {60 + 12, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := join(requested(0, 1, 0))
			for i := range test.entries { // from the start on, a millisecond apart
				records = append(records, entry(2, float64(i), float64(i), float64(i)+0.5)...)
			}
			v := trial{id: fair, nodes: 3, records: records, change: test.change, real: test.real,
				end: harness.End{Reason: harness.TimeLimit, At: 100 * ms1}}.judge(t)
			if got := len(v.Violations) > 0; got != test.want {
				t.Errorf("violations %q, want one: %t", v.Violations, test.want)
			}
		})
	}
}
