package franklin_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/franklin"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

const id = "election/franklin"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: 2N messages a phase, and one phase more than N can be halved at most.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 7; n++ {
		phases := bits.Len(uint(n)) // floor(log2 N) + 1
		algotest.RunRings(t, id, n, int64(4*n), int64(2*n*phases))
	}
}

// TestInitiators: the largest of those that begin leads, however many they are.
func TestInitiators(t *testing.T) {
	t.Parallel()
	algotest.RunInitiators(t, id, 5)
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3.
func TestRules(t *testing.T) {
	t.Parallel()
	hears := func(from, p algo.ID, phase uint32) algo.Event {
		return algotest.Hear(from, franklin.ID{ID: p, Phase: phase})
	}
	elected := func(p algo.ID) algo.Event { return algotest.Hear(1, lap.Elected{ID: p}) }
	begin := algo.Event{Type: algo.Elect}
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, nil, func(m algo.Message) string {
		switch m := m.(type) {
		case franklin.ID:
			return fmt.Sprintf("%d/%d", m.ID, m.Phase)
		case lap.Elected:
			return fmt.Sprint(m.ID)
		}
		return ""
	})
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":                       {[]algo.Event{begin}, "ID 2/0 to 1; ID 2/0 to 3"},
		"begins once":                  {[]algo.Event{begin, begin}, ""},
		"passes on":                    {[]algo.Event{hears(1, 1, 0)}, "ID 1/0 to 3"},
		"passes on, back":              {[]algo.Event{hears(3, 1, 0)}, "ID 1/0 to 1"},
		"has passed on":                {[]algo.Event{hears(1, 1, 0), begin}, ""},
		"waits for the other side":     {[]algo.Event{begin, hears(1, 3, 0)}, ""},
		"gives up":                     {[]algo.Event{begin, hears(1, 1, 0), hears(3, 3, 0)}, ""},
		"gave up, passes on":           {[]algo.Event{begin, hears(1, 1, 0), hears(3, 3, 0), hears(3, 3, 1)}, "ID 3/1 to 1"},
		"goes on":                      {[]algo.Event{begin, hears(1, 1, 0), hears(3, 1, 0)}, "ID 2/1 to 1; ID 2/1 to 3"},
		"keeps what is of a later one": {[]algo.Event{begin, hears(1, 1, 1), hears(3, 1, 0)}, ""},
		"goes on by what it kept": {[]algo.Event{begin, hears(1, 1, 1), hears(3, 1, 0), hears(1, 1, 0), hears(3, 1, 1)},
			"ID 2/2 to 1; ID 2/2 to 3"},
		"gives up, passes on what it kept": {[]algo.Event{begin, hears(3, 3, 1), hears(3, 3, 0), hears(1, 1, 0)},
			"ID 3/1 to 1"},
		"round":           {[]algo.Event{begin, hears(1, 2, 0), hears(3, 2, 0)}, "elected 2 in 1; ELECTED 2 to 3"},
		"hears who":       {[]algo.Event{elected(3)}, "elected 3 in 1; ELECTED 3 to 3"},
		"hears of itself": {[]algo.Event{begin, hears(1, 2, 0), hears(3, 2, 0), elected(2)}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}
