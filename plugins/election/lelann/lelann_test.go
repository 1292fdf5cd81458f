package lelann_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/lelann"
)

const id = "election/lelann"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: N messages for each of those that begin, on every ring.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 5; n++ {
		for order := range algotest.Rings(n) {
			for k := 1; k <= n; k++ {
				o := algotest.OnRing(t, id, order, order[:k]...)
				if got, want := o.Kinds[0].Sent, int64(k*n); got != want || o.Last() != slices.Max(order[:k]) {
					t.Errorf("ring %v, %v begin: %d messages, want %d; %d leads", order, order[:k], got, want, o.Last())
				}
			}
		}
	}
}

// TestInitiators: the largest of those that begin leads, however many they are.
func TestInitiators(t *testing.T) {
	t.Parallel()
	algotest.RunInitiators(t, id, 5)
}

// TestWithoutFIFO: where tokens overtake each other, two lead at once.
func TestWithoutFIFO(t *testing.T) {
	t.Parallel()
	count := algotest.CountOutOfModel(t, id, func(p *harness.Plan) {
		p.Network.Unordered, p.Network.Duplication = true, 0
	})
	if count[trace.Violated] == 0 {
		t.Errorf("no violation: %v", count)
	}
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3.
func TestRules(t *testing.T) {
	t.Parallel()
	token := func(p algo.ID) algo.Event { return algotest.Hear(1, lelann.Token{ID: p}) }
	begin := algo.Event{Type: algo.Elect}
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, nil,
		func(m algo.Message) string { return fmt.Sprint(m.(lelann.Token).ID) })
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":                    {[]algo.Event{begin}, "TOKEN 2 to 3"},
		"begins once":               {[]algo.Event{begin, begin}, ""},
		"passes on":                 {[]algo.Event{token(1)}, "elected 1 in 1; TOKEN 1 to 3"},
		"passes a larger on":        {[]algo.Event{token(1), token(3)}, "elected 3 in 1; TOKEN 3 to 3"},
		"passes a smaller on":       {[]algo.Event{token(3), token(1)}, "TOKEN 1 to 3"},
		"has passed on":             {[]algo.Event{token(1), begin}, ""},
		"wants to, hears a smaller": {[]algo.Event{begin, token(1)}, "TOKEN 1 to 3"},
		"wants to, hears a larger":  {[]algo.Event{begin, token(3)}, "TOKEN 3 to 3"},
		"is the largest":            {[]algo.Event{begin, token(1), token(2)}, "elected 2 in 1"},
		"is not":                    {[]algo.Event{begin, token(3), token(2)}, "elected 3 in 1"},
		"has decided":               {[]algo.Event{begin, token(2), token(3)}, "TOKEN 3 to 3"},
	} {
		s.Want(name, test.events, test.want)
	}
}
