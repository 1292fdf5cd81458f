package harness

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestForeseen: what happens to links again and again is known before the start, each
// time at its very instant and between the same sides as when the coordinator is asked, late
// as that may be. What depends on what happens, and what happens to processes, is not.
func TestForeseen(t *testing.T) {
	t.Parallel()
	loss := 0.5
	for name, test := range map[string]struct {
		event Event
		known int // instructions by the time limit
	}{
		"every":          {Event{Every: 10 * ms, Do: DoCut, Groups: [][]uint32{{1}}, For: 3 * ms}, 2 * 10},
		"from on":        {Event{At: 45 * ms, Every: 10 * ms, Do: DoCut, Shape: "halves"}, 6},
		"so often":       {Event{Every: 10 * ms, Times: 3, Do: DoHeal}, 3},
		"drawn anew":     {Event{Every: 10 * ms, Do: DoCut, Shape: "random", For: ms}, 2 * 10},
		"flaky":          {Event{Every: 20 * ms, Do: DoFlaky, Args: fault.Lossy(loss), For: ms}, 2 * 5},
		"at a rate":      {Event{Rate: 200, Do: DoCut, Groups: [][]uint32{{1}}, For: ms}, -1},
		"once":           {Event{At: 10 * ms, Do: DoCut, Groups: [][]uint32{{1}}}, 0},
		"around leaders": {Event{Every: 10 * ms, Do: DoCut, Shape: "isolate"}, 0},
		"of a process":   {Event{Every: 10 * ms, Do: DoCrash, Node: 2}, 0},
		"when elected":   {Event{On: "elected", Times: 5, Do: DoCut, Groups: [][]uint32{{1}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := NewCoordinator(mustSetup(t, "election/test-puppet", 5, Scenario{Plot: &Churn{Duration: time.Hour}},
				func(p *Plan) {
					p.Faults.Events, p.TimeLimit = []Event{test.event}, 100*ms
				}))
			pending := d.Timeline()
			known := d.Foreseen()
			if len(known) != test.known && (test.known >= 0 || len(known) < 10) {
				t.Fatalf("%d instructions are known: %q", len(known), toldFaults(known))
			}
			var asked []Instruction
			for len(known) > 0 && len(pending) > 0 && pending[0].At <= 100*ms {
				i := pending[0]
				pending = pending[1:]
				for _, j := range d.Strike(i.At+9*ms, i) { // the coordinator is asked late
					if j.Strike() && j.Fault > 0 {
						pending = []Instruction{j}
					} else if !j.Strike() {
						asked = append(asked, j)
					}
				}
			}
			if len(known) > 0 {
				slices.SortStableFunc(asked, func(a, b Instruction) int { return cmp.Compare(a.At, b.At) })
				same(t, "known", toldFaults(known), toldFaults(asked))
			}
		})
	}
}

// TestRandomVictims: never one that is paused. One that crashed while it was paused is
// none any more when it is back.
func TestRandomVictims(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		records []trace.Type // of process 2
		hit     bool
	}{
		"paused":                 {[]trace.Type{trace.Pause}, false},
		"paused, and resumed":    {[]trace.Type{trace.Pause, trace.Resume}, true},
		"down":                   {[]trace.Type{trace.Crash}, false},
		"paused, down, and back": {[]trace.Type{trace.Pause, trace.Crash, trace.Up}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hit := false
			for seed := range uint64(50) {
				d := NewCoordinator(mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Churn{Duration: time.Hour}},
					func(p *Plan) {
						p.Faults.Events = []Event{{Every: ms, Do: DoPause, Who: "random"}}
						p.Seed = seed
					}))
				strike := d.Timeline()[0]
				for _, r := range test.records {
					d.Observe(&trace.Record{Type: r, Process: 2, Incarnation: 1})
				}
				for _, i := range d.Strike(ms, strike) {
					hit = hit || i.Do == DoPause && i.Node == algo.ID(2)
				}
			}
			if hit != test.hit {
				t.Errorf("process 2 was hit: %v, want %v", hit, test.hit)
			}
		})
	}
}
