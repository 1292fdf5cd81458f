package changroberts_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/changroberts"
)

const id = "election/chang-roberts"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestMean: over all arrangements of a ring on which everybody begins, the IDs take N times the N-th harmonic
// number of steps on average, from 2N-1 to N(N+1)/2, and the result N more.
func TestMean(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 6; n++ {
		rings, steps, least, most := 0, int64(0), int64(math.MaxInt64), int64(0)
		for order := range algotest.Rings(n) {
			o := elect(t, order, algotest.Everybody(n)...)
			probes := o.Kinds[0].Sent
			if o.Last() != algo.ID(n) || o.Kinds[1].Sent != int64(n) {
				t.Fatalf("ring %v: %d leads, %s", order, o.Last(), o.Messages())
			}
			rings, steps, least, most = rings+1, steps+probes, min(least, probes), max(most, probes)
		}
		mean := float64(steps) / float64(rings)
		if want := float64(n) * algo.Harmonic(n); math.Abs(mean-want) > 1e-9 ||
			least != int64(2*n-1) || most != int64(n*(n+1)/2) {
			t.Errorf("%d processes: mean %v, want %v; %d to %d", n, mean, want, least, most)
		}
	}
}

// elect runs an election on a ring that all of these begin at once.
func elect(t *testing.T, order []algo.ID, initiators ...algo.ID) algotest.Outcome {
	t.Helper()
	p := algotest.MustPlan(t, id, len(order), harness.Scenario{Kind: harness.Script,
		Events: algotest.Each(harness.DoElect, initiators...)}, nil)
	p.Shape.Order = order
	o := algotest.MustSimulate(t, p)
	if o.Status != trace.OK {
		t.Fatalf("ring %v: %s %s", order, o.Status, o.Reason)
	}
	return o
}

// TestInitiators: the largest of those that begin leads, however many they are.
func TestInitiators(t *testing.T) {
	t.Parallel()
	for order := range algotest.Rings(5) {
		for set := 1; set < 1<<5; set++ {
			var initiators []algo.ID
			for p := range algo.ID(5) {
				if set>>p&1 == 1 {
					initiators = append(initiators, p+1)
				}
			}
			if o := elect(t, order, initiators...); o.Last() != slices.Max(initiators) {
				t.Fatalf("ring %v, %v begin: %d leads", order, initiators, o.Last())
			}
		}
	}
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3.
func TestRules(t *testing.T) {
	t.Parallel()
	probe := func(p algo.ID) algo.Event { return algotest.Hear(1, changroberts.Probe{ID: p}) }
	elected := func(p algo.ID) algo.Event { return algotest.Hear(1, changroberts.Elected{ID: p}) }
	begin := algo.Event{Type: algo.Elect}
	for mode, table := range map[string]map[string]struct {
		events []algo.Event
		want   string
	}{
		"initiators-only": {
			"begins":                         {[]algo.Event{begin}, "PROBE 2 to 3"},
			"begins once":                    {[]algo.Event{begin, begin}, ""},
			"passes a smaller one on":        {[]algo.Event{probe(1)}, "PROBE 1 to 3"},
			"has passed one on":              {[]algo.Event{probe(1), begin}, ""},
			"takes part, hears a smaller":    {[]algo.Event{begin, probe(1)}, ""},
			"takes part, hears a larger":     {[]algo.Event{begin, probe(3)}, "PROBE 3 to 3"},
			"its own comes round":            {[]algo.Event{begin, probe(2)}, "elected 2 in 1; ELECTED 2 to 3"},
			"hears who leads":                {[]algo.Event{elected(3)}, "elected 3 in 1; ELECTED 3 to 3"},
			"hears that it leads":            {[]algo.Event{begin, probe(2), elected(2)}, ""},
			"passed one on, hears a smaller": {[]algo.Event{probe(3), probe(1)}, "PROBE 1 to 3"},
		},
		"join": {
			"puts its own in place of a smaller": {[]algo.Event{probe(1)}, "PROBE 2 to 3"},
			"passes a larger on":                 {[]algo.Event{probe(3)}, "PROBE 3 to 3"},
			"passed a larger on":                 {[]algo.Event{probe(3), probe(1)}, "PROBE 1 to 3"},
		},
	} {
		s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, map[string]any{"mode": mode},
			func(m algo.Message) string {
				switch m := m.(type) {
				case changroberts.Probe:
					return fmt.Sprint(m.ID)
				case changroberts.Elected:
					return fmt.Sprint(m.ID)
				}
				return ""
			})
		for name, test := range table {
			s.Want(mode+": "+name, test.events, test.want)
		}
	}
}
