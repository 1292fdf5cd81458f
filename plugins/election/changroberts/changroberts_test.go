package changroberts_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/changroberts"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

const id = "election/chang-roberts"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestMean: over all arrangements of a ring on which everybody begins, the IDs take N times the N-th harmonic
// number of steps on average, from 2N-1 to N(N+1)/2.
func TestMean(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 6; n++ {
		algotest.RunRings(t, id, n, int64(2*n-1), int64(n*(n+1)/2))
		rings, steps := 0, int64(0)
		for order := range algotest.Rings(n) {
			rings, steps = rings+1, steps+algotest.OnRing(t, id, order, algotest.Everybody(n)...).Kinds[0].Sent
		}
		mean := float64(steps) / float64(rings)
		if want := float64(n) * algo.Harmonic(n); math.Abs(mean-want) > 1e-9 {
			t.Errorf("%d processes: mean %v, want %v", n, mean, want)
		}
	}
}

// TestInitiators: the largest of those that begin leads, however many they are.
func TestInitiators(t *testing.T) {
	t.Parallel()
	algotest.RunInitiators(t, id, 5)
}

// TestPassing: the promises need the rule that makes whoever passes an ID on passive.
func TestPassing(t *testing.T) {
	t.Parallel()
	algotest.RunFits(t, id, map[string]map[string]any{"": nil, "join": {"mode": "join"}},
		map[string]map[string]any{"without": {"relay_makes_passive": false}})
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3.
func TestRules(t *testing.T) {
	t.Parallel()
	probe := func(p algo.ID) algo.Event { return algotest.Hear(1, changroberts.Probe{ID: p}) }
	elected := func(p algo.ID) algo.Event { return algotest.Hear(1, lap.Elected{ID: p}) }
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
			"is told again":                  {[]algo.Event{elected(3), elected(3)}, ""},
			"is told of a smaller":           {[]algo.Event{elected(3), elected(2)}, ""},
			"is told of a larger":            {[]algo.Event{elected(1), elected(3)}, "elected 3 in 1; ELECTED 3 to 3"},
			"passed one on, hears a smaller": {[]algo.Event{probe(3), probe(1)}, "PROBE 1 to 3"},
		},
		"join": {
			"puts its own in place of a smaller": {[]algo.Event{probe(1)}, "PROBE 2 to 3"},
			"passes a larger on":                 {[]algo.Event{probe(3)}, "PROBE 3 to 3"},
			"passed a larger on":                 {[]algo.Event{probe(3), probe(1)}, "PROBE 1 to 3"},
		},
	} {
		s := situations(t, map[string]any{"mode": mode})
		for name, test := range table {
			s.Want(mode+": "+name, test.events, test.want)
		}
	}
	situations(t, map[string]any{"relay_makes_passive": false}).
		Want("not passive: begins once", []algo.Event{begin, probe(3), begin}, "")
}

func situations(t *testing.T, params map[string]any) algotest.Situations {
	t.Helper()
	return algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, params, func(m algo.Message) string {
		switch m := m.(type) {
		case changroberts.Probe:
			return fmt.Sprint(m.ID)
		case lap.Elected:
			return fmt.Sprint(m.ID)
		}
		return ""
	})
}
