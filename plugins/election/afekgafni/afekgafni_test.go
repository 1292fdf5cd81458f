package afekgafni_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/afekgafni"
)

const (
	id = "election/afek-gafni"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

var ascending = map[string]any{"capture_order": "ascending"}

// elect runs an election and counts its messages.
func elect(t *testing.T, n int, given map[string]any, latency link.Latency, seed uint64,
	events ...harness.Event) (leader algo.ID, sent int64) {
	t.Helper()
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, given)
	p.Network.Latency, p.Seed = latency, seed
	o := algotest.MustSimulate(t, p)
	if o.Status != trace.OK {
		t.Fatalf("n = %d, seed %d, %v: %s %s", n, seed, events, o.Status, o.Reason)
	}
	for _, k := range o.Kinds {
		sent += k.Sent
	}
	return o.Last(), sent
}

// TestCounts: 3(N-1) messages with one initiator, whoever it is; with all of them 5(N-1) in cyclic
// order, where the largest ID leads, and 7N-9 in ascending order, where 2 does.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 17; n++ {
		all := algotest.Each(harness.DoElect, algotest.Everybody(n)...)
		for name, test := range map[string]struct {
			given  map[string]any
			events []harness.Event
			leader algo.ID
			sent   int
		}{
			"one":       {nil, all[n/2 : n/2+1], algo.ID(n/2 + 1), 3 * (n - 1)},
			"cyclic":    {nil, all, algo.ID(n), 5 * (n - 1)},
			"ascending": {ascending, all, 2, 7*n - 9},
		} {
			leader, sent := elect(t, n, test.given, link.Constant(ms), 1, test.events...)
			if leader != test.leader || sent != int64(test.sent) {
				t.Errorf("n = %d, %s: %d leads after %d messages, want %d after %d",
					n, name, leader, sent, test.leader, test.sent)
			}
		}
	}
}

// TestBound: 4N H(N) + N messages at most, whoever begins and when, if messages overtake each other.
func TestBound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(20)
		given := []map[string]any{nil, ascending}[rng.IntN(2)]
		var events []harness.Event
		for _, i := range rng.Perm(n)[:1+rng.IntN(n)] {
			at := time.Duration(rng.IntN(3)) * time.Duration(rng.IntN(1000)) * ms / 100
			events = append(events, algotest.At(at, harness.DoElect, algo.ID(i+1)))
		}
		_, sent := elect(t, n, given, link.Uniform(ms/100, ms), seed, events...)
		if most := 4*float64(n)*algo.Harmonic(n) + float64(n); float64(sent) > most {
			t.Errorf("seed %d, n = %d: %d messages, at most %.1f expected", seed, n, sent, most)
		}
	}
}

// TestRivals is pitfall P34: the larger half begin at once, and all capture the smaller half first. If
// those were to be had without asking their owners, there would be one leader still, since it must
// capture the other candidates too; but all of them would get as far as that, with N*N/2 messages.
func TestRivals(t *testing.T) {
	t.Parallel()
	const n = 64
	all := algotest.Each(harness.DoElect, algotest.Everybody(n)...)
	leader, sent := elect(t, n, ascending, link.Constant(ms), 1, all[n/2:]...)
	if leader != n/2+1 || sent != 3*(n-1)+4*(n/2-1) {
		t.Errorf("%d leads after %d messages", leader, sent)
	}
}

// TestRules is each message in each state, at process 2 of four.
func TestRules(t *testing.T) {
	t.Parallel()
	s := func(level uint32, p algo.ID) afekgafni.Strength { return afekgafni.Strength{Level: level, ID: p} }
	capture := func(level uint32, p algo.ID) algo.Event {
		return algotest.Hear(p, afekgafni.Capture{S: s(level, p)})
	}
	asked := func(level uint32, p algo.ID) algo.Event {
		return algotest.Hear(3, afekgafni.ReleaseAsk{S: s(level, p)})
	}
	yes := func(level uint32, p algo.ID) algo.Event {
		return algotest.Hear(1, afekgafni.ReleaseYes{S: s(level, p)})
	}
	no := func(level uint32, p algo.ID) algo.Event {
		return algotest.Hear(1, afekgafni.ReleaseNo{S: s(level, p)})
	}
	begin := algo.Event{Type: algo.Elect}
	accept, refuse := algotest.Hear(3, afekgafni.Accept{}), algotest.Hear(3, afekgafni.Refuse{})
	leads := []algo.Event{begin, accept, accept, accept}
	owned := []algo.Event{capture(0, 1)}                  // by 1
	pends := algotest.Then(owned, capture(0, 3))          // while 1 is asked
	replaced := algotest.Then(pends, capture(1, 4))       // by that of 4
	kept := algotest.Then(owned, capture(1, 4), no(1, 4)) // by 1, against 4
	situations := algotest.NewSituations(t, id, 4, algo.Config{ID: 2}, nil, func(m algo.Message) string {
		switch m := m.(type) {
		case afekgafni.Capture:
			return fmt.Sprint(m.S)
		case afekgafni.ReleaseAsk:
			return fmt.Sprint(m.S)
		case afekgafni.ReleaseYes:
			return fmt.Sprint(m.S)
		case afekgafni.ReleaseNo:
			return fmt.Sprint(m.S)
		}
		return ""
	})
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":                    {[]algo.Event{begin}, "CAPTURE {0 2} to 3"},
		"begins once":               {[]algo.Event{begin, begin}, ""},
		"was captured, begins not":  {algotest.Then(owned, begin), ""},
		"one more":                  {[]algo.Event{begin, accept}, "CAPTURE {1 2} to 4"},
		"leads":                     {leads, "elected 2; LEADER to 1; LEADER to 3; LEADER to 4"},
		"leads, is to be captured":  {algotest.Then(leads, capture(2, 4)), "REFUSE to 4"},
		"leads, is asked":           {algotest.Then(leads, asked(2, 4)), "RELEASE_NO {2 4} to 3"},
		"hears who leads":           {[]algo.Event{algotest.Hear(4, afekgafni.Leader{})}, "elected 4"},
		"is free":                   {[]algo.Event{capture(0, 1)}, "ACCEPT to 1"},
		"a weaker one":              {[]algo.Event{begin, capture(0, 1)}, "REFUSE to 1"},
		"a stronger one":            {[]algo.Event{begin, capture(0, 3)}, "ACCEPT to 3"},
		"a higher one":              {[]algo.Event{begin, capture(1, 1)}, "ACCEPT to 1"},
		"a weaker one, of lower":    {[]algo.Event{begin, accept, capture(0, 4)}, "REFUSE to 4"},
		"refused, is free":          {[]algo.Event{begin, refuse, capture(0, 1)}, "ACCEPT to 1"},
		"refused, then accepted":    {[]algo.Event{begin, refuse, accept}, ""},
		"captured, then accepted":   {[]algo.Event{begin, capture(0, 3), accept}, ""},
		"asked for by a weaker one": {[]algo.Event{begin, accept, asked(0, 4)}, "RELEASE_NO {0 4} to 3"},
		"asked for by a stronger":   {[]algo.Event{begin, accept, asked(1, 4)}, "RELEASE_YES {1 4} to 3"},
		"gave up":                   {[]algo.Event{begin, accept, asked(1, 4), accept}, ""},
		"gave up, is asked":         {[]algo.Event{begin, refuse, asked(0, 1)}, "RELEASE_YES {0 1} to 3"},
		"owned":                     {pends, "RELEASE_ASK {0 3} to 1"},
		"owned, by one as strong":   {algotest.Then([]algo.Event{capture(1, 4)}, capture(1, 3)), "REFUSE to 3"},
		"owned, released":           {algotest.Then(pends, yes(0, 3)), "ACCEPT to 3"},
		"owned anew":                {algotest.Then(pends, yes(0, 3), capture(1, 4)), "RELEASE_ASK {1 4} to 3"},
		"released, a weaker one":    {algotest.Then(pends, yes(0, 3), capture(0, 1)), "REFUSE to 1"},
		"owned, kept":               {algotest.Then(pends, no(0, 3)), "REFUSE to 3"},
		"kept, one as strong":       {algotest.Then(kept, capture(1, 3)), "REFUSE to 3"},
		"kept, a stronger one":      {algotest.Then(kept, capture(2, 3)), "RELEASE_ASK {2 3} to 1"},
		"pends, a stronger one":     {replaced, "REFUSE to 3; RELEASE_ASK {1 4} to 1"},
		"pends, a weaker one":       {algotest.Then(owned, capture(1, 4), capture(0, 3)), "REFUSE to 3"},
		"replaced, the yes is late": {algotest.Then(replaced, yes(0, 3)), ""},
		"replaced, the no is late":  {algotest.Then(replaced, no(0, 3)), ""},
		"replaced, released":        {algotest.Then(replaced, yes(0, 3), yes(1, 4)), "ACCEPT to 4"},
		"kept, the next one pends":  {algotest.Then(kept, capture(2, 3), yes(2, 3)), "ACCEPT to 3"},
		"released, the next pends":  {algotest.Then(pends, yes(0, 3), capture(2, 4), no(2, 4)), "REFUSE to 4"},
		"released, and then kept":   {algotest.Then(pends, yes(0, 3), capture(2, 4), no(2, 4), capture(2, 1)), "REFUSE to 1"},
	} {
		situations.Want(name, test.events, test.want)
	}
	order := algotest.NewSituations(t, id, 4, algo.Config{ID: 2}, ascending, func(algo.Message) string { return "" })
	order.Want("ascending", []algo.Event{begin}, "CAPTURE to 1")
	order.Want("ascending, the next", []algo.Event{begin, accept}, "CAPTURE to 3")
}
