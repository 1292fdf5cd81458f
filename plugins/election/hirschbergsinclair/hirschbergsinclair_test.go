package hirschbergsinclair_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	hs "github.com/conclave-bench/conclave/plugins/election/hirschbergsinclair"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

const id = "election/hirschberg-sinclair"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: on an ascending ring exactly 5N + 4*2^ceil(log2 N) - 8, and N more for the result; on
// no ring more than the paper's 8N(1 + ceil(log2 N)).
func TestCounts(t *testing.T) {
	t.Parallel()
	sent := func(order []algo.ID) (sum int64) {
		o := algotest.OnRing(t, id, order, algotest.Everybody(len(order))...)
		if o.Last() != algo.ID(len(order)) {
			t.Fatalf("ring %v: %d leads", order, o.Last())
		}
		for _, k := range o.Kinds {
			sum += k.Sent
		}
		return sum - int64(len(order))
	}
	for n := 2; n <= 17; n++ {
		ceil := bits.Len(uint(n - 1))
		if got, want := sent(algotest.Everybody(n)), int64(5*n+4<<ceil-8); got != want {
			t.Errorf("%d ascending: %d messages, want %d", n, got, want)
		}
		if n > 7 {
			continue
		}
		for order := range algotest.Rings(n) {
			if got, most := sent(order), int64(8*n*(1+ceil)); got > most {
				t.Errorf("ring %v: %d messages, at most %d", order, got, most)
			}
		}
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
	probe := func(from, p algo.ID, phase, hop uint32) algo.Event {
		return algotest.Hear(from, hs.Probe{ID: p, Phase: phase, Hop: hop})
	}
	reply := func(from, p algo.ID, phase uint32) algo.Event {
		return algotest.Hear(from, hs.Reply{ID: p, Phase: phase})
	}
	elected := func(p algo.ID) algo.Event { return algotest.Hear(1, lap.Elected{ID: p}) }
	begin := algo.Event{Type: algo.Elect}
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, nil, func(m algo.Message) string {
		switch m := m.(type) {
		case hs.Probe:
			return fmt.Sprintf("%d/%d/%d", m.ID, m.Phase, m.Hop)
		case hs.Reply:
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
		"begins":              {[]algo.Event{begin}, "PROBE 2/0/1 to 1; PROBE 2/0/1 to 3"},
		"begins once":         {[]algo.Event{begin, begin}, ""},
		"the last of its way": {[]algo.Event{probe(1, 1, 1, 2)}, "REPLY 1/1 to 1"},
		"passes on":           {[]algo.Event{probe(1, 1, 1, 1)}, "PROBE 1/1/2 to 3"},
		"passes on, back":     {[]algo.Event{probe(3, 1, 1, 1)}, "PROBE 1/1/2 to 1"},
		"has passed on":       {[]algo.Event{probe(1, 1, 1, 1), begin}, ""},
		"swallows a smaller":  {[]algo.Event{begin, probe(1, 1, 1, 1)}, ""},
		"hears a larger":      {[]algo.Event{begin, probe(1, 3, 0, 1)}, "REPLY 3/0 to 1"},
		"gave up, passes a smaller on": {[]algo.Event{begin, probe(1, 3, 0, 1), probe(3, 1, 1, 1)},
			"PROBE 1/1/2 to 1"},
		"passes a reply on": {[]algo.Event{probe(1, 1, 1, 1), reply(3, 1, 1)}, "REPLY 1/1 to 1"},
		"one reply":         {[]algo.Event{begin, reply(3, 2, 0)}, ""},
		"both replies":      {[]algo.Event{begin, reply(3, 2, 0), reply(1, 2, 0)}, "PROBE 2/1/1 to 1; PROBE 2/1/1 to 3"},
		"one of the next": {[]algo.Event{begin, reply(3, 2, 0), reply(1, 2, 0), reply(1, 2, 1)},
			""},
		"both, but gave up":     {[]algo.Event{begin, reply(3, 2, 0), probe(3, 3, 0, 1), reply(1, 2, 0)}, ""},
		"round":                 {[]algo.Event{begin, probe(1, 2, 2, 3)}, "elected 2 in 1; ELECTED 2 to 3"},
		"round on the way back": {[]algo.Event{begin, probe(1, 2, 2, 3), probe(3, 2, 2, 3)}, ""},
		"hears who":             {[]algo.Event{elected(3)}, "elected 3 in 1; ELECTED 3 to 3"},
		"hears of itself":       {[]algo.Event{begin, probe(1, 2, 2, 3), elected(2)}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}
