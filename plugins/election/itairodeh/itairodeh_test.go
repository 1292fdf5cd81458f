package itairodeh_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/itairodeh"
)

const id = "election/itai-rodeh"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) {
	algotest.Cases(t, id, algotest.Checks{"mean_sent": func(r *algotest.Result, want json.RawMessage) error {
		var w struct{ Approx, Tol float64 }
		if err := json.Unmarshal(want, &w); err != nil {
			return err
		}
		sent := 0.0
		for _, o := range r.Trials {
			sent += float64(o.Kinds[0].Sent)
		}
		if got := sent / float64(len(r.Trials)); math.Abs(got-w.Approx) > w.Tol {
			return fmt.Errorf("%.3f messages on average, want %v give or take %v", got, w.Approx, w.Tol)
		}
		return nil
	}})
}

// TestMean holds the claim's formula against all that can be drawn.
func TestMean(t *testing.T) {
	t.Parallel()
	claim := algotest.Lookup(t, id).Spec.Claims[1]
	for n := 1; n <= 4; n++ {
		lo, hi := claim.Bound(n)
		if got, want := (lo+hi)/2, drawn(n, (1<<n)-1, map[int]float64{}); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d processes: %v messages on average, want %v", n, got, want)
		}
	}
}

// drawn is how many messages an election takes on average in which this set of n processes is active.
func drawn(n, active int, known map[int]float64) float64 {
	if known[active] > 0 {
		return known[active]
	}
	var at []int // the places of the active
	for p := range n {
		if active>>p&1 == 1 {
			at = append(at, p)
		}
	}
	draws := int(math.Pow(float64(n), float64(len(at))))
	sum, again := 0.0, 0
	for d := range draws {
		number, rest := make([]int, n), d
		for _, p := range at {
			number[p], rest = 1+rest%n, rest/n
		}
		largest, left := slices.Max(number), 0
		for _, p := range at {
			hops := 1
			for number[(p+hops)%n] <= number[p] && hops < n {
				hops++
			}
			sum += float64(hops)
			if number[p] == largest {
				left |= 1 << p
			}
		}
		switch {
		case left&(left-1) == 0: // one is left: it leads
		case left == active:
			again++
		default:
			sum += drawn(n, left, known)
		}
	}
	known[active] = sum / float64(draws-again)
	return known[active]
}

// TestPlaces: where the processes stand on the ring, and which of them begin, makes no difference: those that
// begin at once elect one of themselves.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for order := range algotest.Rings(5) {
		for k := 1; k <= 5; k++ {
			o := algotest.OnRing(t, id, order, order[:k]...)
			if !slices.Contains(order[:k], o.Last()) || k == 1 && o.Kinds[0].Sent != 5 {
				t.Errorf("ring %v, %v begin: %d leads after %s", order, order[:k], o.Last(), o.Messages())
			}
		}
	}
}

// TestFair: each of three leads about as often as the others.
func TestFair(t *testing.T) {
	t.Parallel()
	leads := map[algo.ID]int{}
	for seed := range uint64(600) {
		p := algotest.MustPlan(t, id, 3, harness.Scenario{Kind: harness.ColdStart}, nil)
		p.Seed = seed
		o := algotest.MustSimulate(t, p)
		if o.Status != trace.OK {
			t.Fatal(o.Reason)
		}
		leads[o.Last()]++
	}
	for p := algo.ID(1); p <= 3; p++ {
		if leads[p] < 160 || leads[p] > 240 { // 200, give or take three and a half standard deviations
			t.Errorf("%v", leads)
		}
	}
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3. It draws 2, and then 1.
func TestRules(t *testing.T) {
	t.Parallel()
	hears := func(round, number, hop uint32, unique bool) algo.Event {
		return algotest.Hear(1, itairodeh.Token{Round: round, Number: number, Hop: hop, Unique: unique})
	}
	begin := algo.Event{Type: algo.Elect}
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, nil, func(m algo.Message) string {
		k := m.(itairodeh.Token)
		return fmt.Sprintf("%d/%d/%d/%t", k.Round, k.Number, k.Hop, k.Unique)
	})
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":      {[]algo.Event{begin}, "TOKEN 1/2/1/true to 3"},
		"begins once": {[]algo.Event{begin, begin}, ""},
		"passes on": {[]algo.Event{hears(1, 1, 1, true)},
			"elected 1 in 1; TOKEN 1/1/2/true to 3"},
		"of two before it": {[]algo.Event{hears(1, 1, 2, true)},
			"elected 3 in 1; TOKEN 1/1/3/true to 3"},
		"has passed on": {[]algo.Event{hears(1, 1, 1, true), begin}, ""},
		"passes a larger on": {[]algo.Event{hears(1, 1, 1, true), hears(1, 2, 2, true)},
			"elected 3 in 1; TOKEN 1/2/3/true to 3"},
		"passes a smaller on": {[]algo.Event{hears(1, 2, 1, true), hears(1, 1, 2, false)},
			"TOKEN 1/1/3/false to 3"},
		"passes the same on": {[]algo.Event{hears(1, 2, 1, true), hears(1, 2, 2, true)},
			"TOKEN 1/2/3/true to 3"},
		"of a later round": {[]algo.Event{hears(1, 2, 1, true), hears(2, 1, 2, true)},
			"elected 3 in 2; TOKEN 2/1/3/true to 3"},
		"gets a larger": {[]algo.Event{begin, hears(1, 3, 1, true)},
			"elected 1 in 1; TOKEN 1/3/2/true to 3"},
		"gets a smaller": {[]algo.Event{begin, hears(1, 1, 1, true)}, ""},
		"gets the same":  {[]algo.Event{begin, hears(1, 2, 1, true)}, "TOKEN 1/2/2/false to 3"},
		"gets a later round's": {[]algo.Event{begin, hears(2, 1, 1, true)},
			"elected 1 in 2; TOKEN 2/1/2/true to 3"},
		"gave up": {[]algo.Event{begin, hears(1, 3, 1, true), hears(1, 1, 2, true)},
			"TOKEN 1/1/3/true to 3"},
		"is alone":            {[]algo.Event{begin, hears(1, 2, 3, true)}, "elected 2 in 1"},
		"is not, draws again": {[]algo.Event{begin, hears(1, 2, 3, false)}, "TOKEN 2/1/1/true to 3"},
		"an earlier round's":  {[]algo.Event{begin, hears(1, 2, 3, false), hears(1, 3, 1, true)}, ""},
		"is alone at last": {[]algo.Event{begin, hears(1, 2, 3, false), hears(2, 1, 3, true)},
			"elected 2 in 2"},
		"leads, gets a smaller": {[]algo.Event{begin, hears(1, 2, 3, true), hears(1, 1, 2, true)}, ""},
		"its own, overtaken":    {[]algo.Event{begin, hears(2, 1, 1, true), hears(1, 2, 3, false)}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}
