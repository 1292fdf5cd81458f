package dolevklawerodeh_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	dkr "github.com/conclave-bench/conclave/plugins/election/dolevklawerodeh"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

const (
	id         = "election/dolev-klawe-rodeh"
	petersonID = "election/peterson"
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestConformance_Peterson(t *testing.T) { algotest.Run(t, petersonID) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

func TestCases_Peterson(t *testing.T) { algotest.Cases(t, petersonID) }

// TestCounts: 2N messages a phase and N in the last, after as many as N can be halved at most.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 7; n++ {
		most := int64(2*n*(bits.Len(uint(n))-1) + n)
		algotest.RunRings(t, id, n, int64(3*n), most)
		algotest.RunRings(t, petersonID, n, int64(3*n), most)
	}
}

// TestInitiators: the largest of those that begin leads, however many they are.
func TestInitiators(t *testing.T) {
	t.Parallel()
	algotest.RunInitiators(t, id, 5)
	algotest.RunInitiators(t, petersonID, 5)
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3.
func TestRules(t *testing.T) {
	t.Parallel()
	one := func(p algo.ID) algo.Event { return algotest.Hear(1, dkr.One{Value: p}) }
	two := func(p algo.ID) algo.Event { return algotest.Hear(1, dkr.Two{Value: p}) }
	elected := func(p algo.ID) algo.Event { return algotest.Hear(1, lap.Elected{ID: p}) }
	begin := algo.Event{Type: algo.Elect}
	for name, test := range map[string]struct {
		events         []algo.Event
		want, peterson string // "": the same
	}{
		"begins":                {[]algo.Event{begin}, "ONE 2 to 3", ""},
		"begins once":           {[]algo.Event{begin, begin}, "nothing", ""},
		"passes on":             {[]algo.Event{one(1)}, "ONE 1 to 3", ""},
		"has passed on":         {[]algo.Event{one(1), begin}, "nothing", ""},
		"passes the second on":  {[]algo.Event{one(1), two(3)}, "TWO 3 to 3", ""},
		"got a larger":          {[]algo.Event{begin, one(3)}, "TWO 3 to 3", ""},
		"got a smaller":         {[]algo.Event{begin, one(1)}, "TWO 1 to 3", "TWO 2 to 3"},
		"the middle is largest": {[]algo.Event{begin, one(3), two(1)}, "ONE 3 to 3", ""},
		"the own is largest":    {[]algo.Event{begin, one(1), two(1)}, "nothing", ""},
		"the far is largest":    {[]algo.Event{begin, one(3), two(4)}, "nothing", ""},
		"of two":                {[]algo.Event{begin, one(3), two(2)}, "ONE 3 to 3", ""},
		"gave up, passes on":    {[]algo.Event{begin, one(1), two(1), one(3)}, "ONE 3 to 3", ""},
		"the value is round":    {[]algo.Event{begin, one(3), two(1), one(3)}, "elected 3 in 1; ELECTED 3 to 3", ""},
		"the news is round":     {[]algo.Event{begin, one(3), two(1), one(3), elected(3)}, "nothing", ""},
		"hears who":             {[]algo.Event{elected(3)}, "elected 3 in 1; ELECTED 3 to 3", ""},
		"leads, hears it":       {[]algo.Event{begin, one(3), two(4), elected(2)}, "elected 2 in 1; ELECTED 2 to 3", ""},
	} {
		for id, want := range map[string]string{id: test.want, petersonID: test.peterson} {
			if want == "" {
				want = test.want
			}
			if want == "nothing" {
				want = ""
			}
			algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, nil, func(m algo.Message) string {
				switch m := m.(type) {
				case dkr.One:
					return fmt.Sprint(m.Value)
				case dkr.Two:
					return fmt.Sprint(m.Value)
				case lap.Elected:
					return fmt.Sprint(m.ID)
				}
				return ""
			}).Want(id+": "+name, test.events, want)
		}
	}
}
