package check

import (
	"math"
	"testing"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTerms: 5 of five led term 1 and crashes at 10. All have named a leader by 70.
func TestTerms(t *testing.T) {
	t.Parallel()
	const perTerm = "election/test-term"
	stands := func(ms float64, p uint32, term uint64) trace.Record { return electedIn(ms, p, 0, term) }
	wins := func(ms float64, leader uint32, term uint64) (out []trace.Record) {
		out = append(out, electedIn(ms, leader, leader, term))
		for p := range uint32(4) {
			if p+1 != leader {
				out = append(out, electedIn(ms+1, p+1, leader, term))
			}
		}
		return out
	}
	crash := at(10, trace.Crash, 5)
	change := func(p *harness.Plan) {
		churning(p)
		p.Leader = 5
	}
	for name, test := range map[string]struct {
		id           string
		records      []trace.Record
		terms, split float64
	}{
		"the first that stands wins": {perTerm, join(crash, stands(20, 1, 2), wins(30, 1, 2)), 1, 0},
		"two stand, and one wins": {perTerm, join(crash, stands(20, 1, 2), stands(21, 2, 2),
			wins(30, 2, 2)), 1, 0},
		"two stand, nobody wins, one stands again": {perTerm, join(crash, stands(20, 1, 2), stands(21, 2, 2),
			stands(40, 1, 3), wins(50, 1, 3)), 2, 1 / 2.0},
		"three in vain": {perTerm, join(crash, stands(20, 1, 2), stands(30, 2, 3), stands(40, 3, 4),
			stands(50, 3, 5), wins(60, 3, 5)), 4, 3 / 4.0},
		"a term is skipped": {perTerm, join(crash, stands(20, 1, 2), stands(40, 2, 9), wins(50, 2, 9)), 2, 1 / 2.0},
		"nobody agrees with who wins": {perTerm, join(crash, stands(20, 1, 2), electedIn(25, 1, 1, 2),
			stands(40, 2, 3), wins(50, 2, 3)), 2, 0},
		"the candidate crashes": {perTerm, join(crash, stands(20, 1, 2), at(25, trace.Crash, 1),
			stands(40, 2, 3), wins(50, 2, 3)), 2, 0},
		"it is paused": {perTerm, join(crash, stands(20, 1, 2), at(25, trace.Pause, 1),
			stands(40, 2, 3), electedIn(50, 2, 2, 3), all(51, 2, 3, 4)), 2, 0},
		"it crashes when the next term has begun": {perTerm, join(crash, stands(20, 1, 2), stands(40, 2, 3),
			at(45, trace.Crash, 1), wins(50, 2, 3)), 2, 1 / 2.0},
		"it has given up before it crashes": {perTerm, join(crash, stands(20, 1, 2), stands(21, 2, 2),
			electedIn(24, 1, 0, 0), at(25, trace.Crash, 1), stands(40, 2, 3), wins(50, 2, 3)), 2, 1 / 2.0},
		"it wins, and crashes": {perTerm, join(crash, stands(20, 1, 2), electedIn(24, 1, 1, 2),
			at(25, trace.Crash, 1), stands(40, 2, 3), wins(50, 2, 3)), 2, 0},
		"a minority stands": {perTerm, join(cut(10, "1 2 3 4|5"), stands(15, 5, 2), stands(20, 1, 2),
			stands(30, 5, 3), wins(40, 1, 2), stands(45, 5, 4), stands(60, 5, 5)), 2, 0},
		"a majority stands beside it": {perTerm, join(cut(10, "1 2 3 4|5"), stands(15, 5, 2),
			stands(20, 1, 2), stands(30, 2, 3), wins(40, 2, 3)), 2, 1 / 2.0},
		"an election goes on at the cause": {perTerm, join(at(2, trace.Crash, 2), back(3, 2), stands(5, 1, 2), crash, stands(20, 1, 3),
			wins(30, 1, 3)), 1, 0},
		"in two elections": {perTerm, join(crash, stands(20, 1, 2), stands(30, 1, 3), wins(40, 1, 3),
			at(50, trace.Crash, 1), stands(60, 2, 4), electedIn(62, 2, 2, 4),
			electedIn(63, 3, 2, 4), electedIn(63, 4, 2, 4)), 3 / 2.0, 1 / 3.0},
		"it is not over": {perTerm, join(crash, stands(20, 1, 2), stands(30, 1, 3), stands(40, 1, 4)), math.NaN(), 1},
		"it is not over, and one was elected": {perTerm, join(crash, stands(20, 1, 2), electedIn(25, 1, 1, 2),
			stands(40, 1, 3), stands(50, 2, 4)), math.NaN(), 1 / 2.0},
		"nobody stands":            {perTerm, join(crash, all(20, 4, 4, 3, 2, 1)), absent, absent},
		"terms mean nothing to it": {eventual, join(crash, stands(20, 1, 2), wins(30, 1, 2)), absent, absent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: test.id, nodes: 5, change: change, records: test.records,
				end: harness.End{At: 70 * ms1}}.judge(t)
			hasMetrics(t, v, map[string]float64{
				"terms_per_election": test.terms, "split_vote_share": test.split})
		})
	}
}
