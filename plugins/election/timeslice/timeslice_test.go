package timeslice_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/lap"
	"github.com/conclave-bench/conclave/plugins/election/timeslice"
)

const id = "election/time-slice"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

// TestRings: on every ring, whichever processes begin, the smallest of all leads: after N messages that
// wake all, and the N of its lap.
func TestRings(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 5; n++ {
		for order := range algotest.Rings(n) {
			for begin := range algotest.Initiators(n) {
				o := algotest.OnRing(t, id, order, begin...)
				if o.Last() != 1 || o.Kinds[0].Sent != int64(n) || o.Kinds[1].Sent != int64(n) {
					t.Errorf("ring %v, %v begin: %d leads, %s", order, begin, o.Last(), o.Messages())
				}
			}
		}
	}
}

// TestTime: if all begin, 1 leads at once, and the news takes d for each step.
func TestTime(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 9; n++ {
		p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{
			Events: algotest.Each(harness.DoElect, algotest.Everybody(n)...)}}, nil)
		p.Network.Latency = link.Constant(time.Millisecond)
		last := time.Duration(-1)
		for _, r := range algotest.MustSimulate(t, p).Trace {
			if r.Type == trace.Elected {
				last = max(last, r.At)
			}
		}
		if want := time.Duration(n-1) * time.Millisecond; last != want {
			t.Errorf("%d processes: the last one knows after %v, want %v", n, last, want)
		}
	}
}

// TestPhases: phases that are longer than a lap, and the steps between the first process and the last
// to begin, keep the promise. Others are out of the model.
func TestPhases(t *testing.T) {
	t.Parallel()
	algotest.RunFits(t, id, map[string]map[string]any{"usual": nil},
		map[string]map[string]any{"short": {"t_phase": time.Millisecond}})
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3.
func TestRules(t *testing.T) {
	t.Parallel()
	wake, elected := algotest.Hear(1, timeslice.Wake{}), algotest.Hear(1, lap.Elected{ID: 1})
	begin, over := algo.Event{Type: algo.Elect}, algotest.Expire("phase")
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, map[string]any{"t_phase": time.Second},
		func(m algo.Message) string { return fmt.Sprint(m) })
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":                        {[]algo.Event{begin}, "WAKE {} to 3; set phase"},
		"begins once":                   {[]algo.Event{begin, begin}, ""},
		"wakes":                         {[]algo.Event{wake}, "WAKE {} to 3; set phase"},
		"is awake":                      {[]algo.Event{begin, wake}, ""},
		"its phase begins":              {[]algo.Event{begin, over}, "elected 2 in 1; ELECTED {2} to 3"},
		"hears who leads":               {[]algo.Event{begin, elected}, "cancel phase; elected 1 in 1; ELECTED {1} to 3"},
		"hears who leads, asleep":       {[]algo.Event{elected}, "cancel phase; elected 1 in 1; ELECTED {1} to 3"},
		"heard who leads, is not woken": {[]algo.Event{elected, wake}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}
