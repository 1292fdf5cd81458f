package itairodeh_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/itairodeh"
)

const (
	id            = "election/itai-rodeh"
	synchronousID = "election/itai-rodeh-synchronous"
	ms            = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestConformance_Synchronous(t *testing.T) { algotest.Run(t, synchronousID) }

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
		p := algotest.MustPlan(t, id, 3, harness.Scenario{Plot: &harness.ColdStart{}}, nil)
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

// TestDraws walks through every schedule of three processes, with each of forty streams of numbers.
func TestDraws(t *testing.T) {
	t.Parallel()
	for _, id := range []string{id, synchronousID} {
		schedules := map[string]bool{}
		for seed := range uint64(40) {
			scope := algotest.Scope{Nodes: 3, Initiators: algotest.Everybody(3), Seed: seed, States: 5000}
			space, err := algotest.Exhaust(id, scope)
			if err != nil || space.Find != nil {
				t.Fatalf("%s, %s: %v, %v", id, scope, space.Find, err)
			}
			if space.Bound == "" {
				schedules[space.Schedules.String()] = true
			}
		}
		if len(schedules) < 5 {
			t.Errorf("%s: %d different walks are complete", id, len(schedules))
		}
	}
}

// TestRounds: of two one is left after 2 rounds on average, of three after 13/6, of many after 2.441715879
// (Lavault and Louchard, TCS 2006), and a round costs N messages.
func TestRounds(t *testing.T) {
	t.Parallel()
	claim := algotest.Lookup(t, synchronousID).Spec.Claims[0]
	rounds := func(n int) float64 {
		lo, hi := claim.Bound(n)
		return (lo+hi)/2/float64(n) - 1
	}
	for n, want := range map[int]float64{1: 1, 2: 2, 3: 13. / 6, 3000: 2.4414679} {
		if got := rounds(n); math.Abs(got-want) > 1e-7 {
			t.Errorf("%d processes: %v rounds, want %v", n, got, want)
		}
	}
	// M(n) = M + c/n + ..., so that the limit follows from two values.
	if limit := 2*rounds(3000) - rounds(1500); math.Abs(limit-2.441715879) > 1e-6 {
		t.Errorf("%v rounds in the limit", limit)
	}
	for _, n := range []int{3, 8} {
		const trials = 1500
		pebbles, terms := 0., 0.
		for seed := range uint64(trials) {
			p := algotest.MustPlan(t, synchronousID, n, harness.Scenario{Plot: &harness.ColdStart{}}, nil)
			p.Seed = seed
			o := algotest.MustSimulate(t, p)
			if o.Status != trace.OK || o.Kinds[0].Sent != int64(n) {
				t.Fatalf("%s: %s: %v", o.Status, o.Reason, o.Kinds)
			}
			pebbles += float64(o.Kinds[1].Sent)
			terms += float64(o.Trace[len(o.Trace)-1].Arg)
		}
		for what, got := range map[string]float64{"rounds": terms / trials, "laps": pebbles / trials / float64(n)} {
			if math.Abs(got/rounds(n)-1) > 0.05 {
				t.Errorf("%d processes: %v %s on average, want %v", n, got, what, rounds(n))
			}
		}
	}
}

// TestRound: the promises need a round of 2Nd.
func TestRound(t *testing.T) {
	t.Parallel()
	algotest.RunFits(t, synchronousID,
		map[string]map[string]any{"default": nil, "just enough": {"round": 10 * ms}},
		map[string]map[string]any{"too short": {"round": 10*ms - 1}})
}

// TestRules_Synchronous is process 2 of the ring 1-2-3. It draws so that it is no candidate in round 1,
// but in rounds 2 and 3 as long as it is not out.
func TestRules_Synchronous(t *testing.T) {
	t.Parallel()
	wake := algotest.Hear(1, itairodeh.Wake{})
	pebble := func(round, hop uint32) algo.Event {
		return algotest.Hear(1, itairodeh.Pebble{Round: round, Hop: hop})
	}
	over := algo.Event{Type: algo.Timeout, Timer: "round"}
	begin := algo.Event{Type: algo.Elect}
	s := algotest.NewSituations(t, synchronousID, 3, algo.Config{ID: 2}, nil, func(m algo.Message) string {
		if m, ok := m.(itairodeh.Pebble); ok {
			return fmt.Sprintf("%d/%d", m.Round, m.Hop)
		}
		return ""
	})
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":            {[]algo.Event{begin}, "WAKE to 3; set round"},
		"begins once":       {[]algo.Event{begin, begin}, ""},
		"is woken":          {[]algo.Event{wake}, "WAKE to 3; set round"},
		"is woken once":     {[]algo.Event{begin, wake}, ""},
		"by a pebble":       {[]algo.Event{pebble(1, 1)}, "WAKE to 3; set round; PEBBLE 1/2 to 3"},
		"passes on":         {[]algo.Event{begin, pebble(1, 2)}, "PEBBLE 1/3 to 3"},
		"its own is round":  {[]algo.Event{begin, over, pebble(2, 3)}, ""},
		"one, before it":    {[]algo.Event{begin, pebble(1, 1), over}, "elected 1 in 1"},
		"one, two before":   {[]algo.Event{begin, pebble(1, 2), over}, "elected 3 in 1"},
		"none":              {[]algo.Event{begin, over}, "PEBBLE 2/1 to 3; set round"},
		"itself alone":      {[]algo.Event{begin, over, over}, "elected 2 in 2"},
		"itself of two":     {[]algo.Event{begin, over, pebble(2, 1), over}, "PEBBLE 3/1 to 3; set round"},
		"itself, one early": {[]algo.Event{begin, pebble(2, 1), over, over}, "PEBBLE 3/1 to 3; set round"},
		"two others":        {[]algo.Event{begin, pebble(1, 1), pebble(1, 2), over}, "set round"},
		"is out":            {[]algo.Event{begin, pebble(1, 1), pebble(1, 2), over, over}, "set round"},
		"is out for ever":   {[]algo.Event{begin, pebble(1, 1), pebble(1, 2), over, over, over, over}, "set round"},
		"is out, one is left": {[]algo.Event{begin, pebble(1, 1), pebble(1, 2), over, pebble(2, 1), over},
			"elected 1 in 2"},
	} {
		s.Want(name, test.events, test.want)
	}
}
