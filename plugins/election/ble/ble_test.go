package ble_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/ble"
)

const id = "election/ble"

type params = map[string]any

const ms = time.Millisecond

// TestConformance is the kit with fewer schedules: TestSchedules has as many of its own.
func TestConformance(t *testing.T) {
	t.Parallel()
	if err := algotest.Verify(id, algotest.Options{Schedules: int(algotest.Schedules() / 5)}); err != nil {
		t.Error(err)
	}
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestSchedules: one leader of each ballot, and in the end one that all name, by each rule.
func TestSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return []map[string]any{{"announce": true}, {"rule": "happy"}}[seed%2]
	}, nil)
}

// TestFits: a round that is shorter than a round trip finds nobody.
func TestFits(t *testing.T) {
	algotest.RunFits(t, id, map[string]map[string]any{"default": nil, "enough": {"hb_delay": 2 * ms}},
		map[string]map[string]any{"too short": {"hb_delay": 2*ms - 1}})
}

// TestLive: who does not hear a leader itself is told by rule happy alone, whatever was before.
func TestLive(t *testing.T) {
	spec := &algotest.Lookup(t, id).Spec
	for under, given := range map[algo.Connectivity]params{
		algo.InParts: {"announce": true}, algo.QuorumConnected: {"rule": "happy"},
	} {
		p, errs := spec.Resolve(given, algo.Network{Nodes: 5, Latency: ms, Bounded: true})
		if got := spec.LiveOf(5, p); len(errs) > 0 || got != (algo.Liveness{Under: under, Timeouts: 100}) {
			t.Errorf("%v: %+v, %v", given, got, errs)
		}
	}
}

// TestClaims is how long an outage lasts and what it costs, where rounds begin together: at 9 ms,
// the leader's replies at 10.
func TestClaims(t *testing.T) {
	for n := 3; n <= 9; n++ {
		for i, c := range []struct {
			rule     string
			at, down time.Duration
			messages int
		}{
			{"quorum-connected", 9500, 5500, (n - 1) * (4*n - 6)},
			{"quorum-connected", 10500, 7500, (n - 1) * (5*n - 8)},
			{"happy", 9500, 8500, (n-1)*(4*n-6) + (n-1)*(n-2)*2},
			{"happy", 10500, 10500, (n-1)*(5*n-8) + (n-1)*(n-2)*2},
		} {
			p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Until: 40 * ms,
				Events: []harness.Event{algotest.Crash(c.at*time.Microsecond, algo.ID(n))}}},
				params{"hb_delay": 3 * ms, "rule": c.rule})
			p.Leader = algo.ID(n)
			o := algotest.MustSimulate(t, p)
			got := map[string]float64{}
			for _, m := range o.Metrics {
				got[m.Name] = m.Value
			}
			down, sent := got[metric.Downtime.Name]*1000, got[metric.MessagesPerElection.Name]
			if down != float64(c.down) || sent != float64(c.messages) || o.Last() != algo.ID(n-1) {
				t.Errorf("n = %d, %s, crash at %d µs: %d leads after %v µs and %v messages, want %+v",
					n, c.rule, c.at, o.Last(), down, sent, c)
			}
			claims := algotest.Lookup(t, id).Spec.Claims
			if lo, hi := claims[i%2].Bound(n); i < 2 && (sent < lo || sent > hi) {
				t.Errorf("n = %d: %v messages, claimed: %s", n, sent, claims[i].Text)
			}
		}
	}
}

// TestReturn: a leader that comes back at once is not followed by its old ballot, and leads by a
// new one.
func TestReturn(t *testing.T) {
	for _, given := range []params{{"hb_delay": 3 * ms}, {"hb_delay": 3 * ms, "rule": "happy"}} {
		p := algotest.MustPlan(t, id, 5, harness.Scenario{Plot: &harness.Script{Until: 60 * ms,
			Events: []harness.Event{algotest.Crash(9500*time.Microsecond, 5),
				algotest.Restart(10*ms, 5)}}}, given)
		p.Leader = 5
		o := algotest.MustSimulate(t, p)
		for _, r := range o.Trace {
			if r.Type == trace.Elected && r.Process == 5 && r.Peer == 5 && r.Arg <= 10 {
				t.Errorf("%v: leads by its old ballot, %d", given, r.Arg)
			}
		}
		if o.Last() != 5 || o.Status != trace.OK {
			t.Errorf("%v: %d leads, %s %s", given, o.Last(), o.Status, o.Reason)
		}
	}
}

func ballot(n uint64, p algo.ID) ble.Ballot { return ble.Ballot{N: n, ID: p} }

// contents tells of ballots as number.ID, and of requests nothing.
func contents(m algo.Message) string {
	tell := func(b ble.Ballot) string { return fmt.Sprintf("%d.%d", b.N, b.ID) }
	switch m := m.(type) {
	case ble.Reply:
		return fmt.Sprintf("%d %s/%s %t", m.Round, tell(m.Ballot), tell(m.Leader), m.Fit)
	case ble.Prepare:
		return tell(m.Ballot)
	case ble.Stable:
		return tell(m.Leader)
	}
	return "-"
}

var (
	start   = algo.Event{Type: algo.Start}
	expires = algotest.Expire("round")
)

// reply is one of from in a round, by whom the leader is and whether it is fit itself.
func reply(round uint64, own, leader ble.Ballot, fit bool) algo.Event {
	return algotest.Hear(own.ID, ble.Reply{Round: round, Ballot: own, Leader: leader, Fit: fit})
}

// TestRules is process 2 of five, which 5 leads by ballot 1.
func TestRules(t *testing.T) {
	t.Parallel()
	five := ballot(1, 5)
	says := func(round uint64, p algo.ID, fit bool) algo.Event {
		if p == 5 {
			return reply(round, five, five, fit)
		}
		return reply(round, ballot(0, p), five, fit)
	}
	asked := algotest.Hear(3, ble.Request{Round: 7})
	missed := []algo.Event{start, says(1, 1, true), says(1, 3, true), expires}
	raised := "elected 0 in 12; set round" // of five, by rank
	for _, test := range []struct {
		announce bool
		name     string
		events   []algo.Event
		want     string
	}{
		{false, "begins", []algo.Event{start}, "save 1.5; set round"},
		{false, "is told to elect", []algo.Event{start, {Type: algo.Elect}}, ""},
		{false, "replies", []algo.Event{start, asked}, "HEARTBEAT_REPLY 7 0.2/1.5 true to 3"},
		{false, "its leader is there", []algo.Event{start, says(1, 1, true), says(1, 5, true), expires}, "set round"},
		{false, "it is not", missed, raised},
		{false, "has given it up", algotest.Then(missed, asked), "HEARTBEAT_REPLY 7 2.2/0.0 true to 3"},
		{false, "it reaches no majority", []algo.Event{start, says(1, 1, true), says(1, 5, false), expires}, raised},
		{false, "nor does this process", []algo.Event{start, says(1, 1, true), expires}, "set round"},
		{false, "and says so", []algo.Event{start, says(1, 1, true), expires, asked}, "HEARTBEAT_REPLY 7 0.2/1.5 false to 3"},
		{false, "and again does", []algo.Event{start, expires, says(2, 1, true), says(2, 5, true), expires, asked},
			"HEARTBEAT_REPLY 7 0.2/1.5 true to 3"},
		{false, "the same reply twice", []algo.Event{start, says(1, 1, true), says(1, 1, true), expires}, "set round"},
		{false, "a reply of another round (P1)", []algo.Event{start, expires, says(1, 1, true), says(1, 3, true), expires},
			"set round"},
		{false, "replies of the last round", algotest.Then(missed, expires), "set round"},
		{false, "is elected", algotest.Then(missed, says(2, 1, true), says(2, 3, true), expires),
			"save 2.2; elected 2 in 12; set round"},
		{false, "another is", algotest.Then(missed, says(2, 1, true), reply(2, ballot(2, 4), ballot(0, 0), true), expires),
			"save 2.4; elected 4 in 14; set round"},
		{false, "another that reaches no majority", algotest.Then(missed, says(2, 1, true),
			reply(2, ballot(2, 4), ballot(0, 0), false), expires), "save 2.2; elected 2 in 12; set round"},
		{false, "loses its majority meanwhile", algotest.Then(missed, expires, asked),
			"HEARTBEAT_REPLY 7 2.2/0.0 false to 3"},
		{true, "tells all", algotest.Then(missed, says(2, 1, true), says(2, 3, true), expires),
			"save 2.2; elected 2 in 12; PREPARE 2.2 to 1; PREPARE 2.2 to 3; PREPARE 2.2 to 4; PREPARE 2.2 to 5; set round"},
		{true, "and once more who names another", algotest.Then(missed, says(2, 1, true), says(2, 3, true), expires,
			says(3, 1, true), reply(3, ballot(0, 3), ballot(2, 2), true), expires), "PREPARE 2.2 to 1; set round"},
		{true, "another is, who tells", algotest.Then(missed, says(2, 1, true),
			reply(2, ballot(2, 4), ballot(0, 0), true), expires), "save 2.4; elected 4 in 14; set round"},
		{true, "is told", []algo.Event{start, algotest.Hear(4, ble.Prepare{Ballot: ballot(2, 4)})},
			"save 2.4; elected 4 in 14"},
		{true, "is told too late", []algo.Event{start, algotest.Hear(4, ble.Prepare{Ballot: ballot(1, 4)})}, ""},
		{true, "is told again", []algo.Event{start, algotest.Hear(5, ble.Prepare{Ballot: five})}, ""},
		{true, "is told by whom it has given up", algotest.Then(missed, algotest.Hear(5, ble.Prepare{Ballot: five})),
			"elected 5 in 10"},
		{true, "and says so", algotest.Then(missed, algotest.Hear(5, ble.Prepare{Ballot: five}), asked),
			"HEARTBEAT_REPLY 7 2.2/1.5 true to 3"},
	} {
		algotest.NewSituations(t, id, 5, algo.Config{ID: 2, Leader: 5}, params{"announce": test.announce}, contents).
			Want(test.name, test.events, test.want)
	}
}

// TestRules_Happy is the same process under rule happy.
func TestRules_Happy(t *testing.T) {
	t.Parallel()
	five := ballot(2, 5)
	says := func(round uint64, p algo.ID, fit bool) algo.Event {
		if p == 5 {
			return reply(round, five, five, fit)
		}
		return reply(round, ballot(1, p), five, fit)
	}
	asked := algotest.Hear(3, ble.Request{Round: 7})
	missed := []algo.Event{start, says(1, 1, true), says(1, 3, true), expires}
	leads := algotest.Then(missed, says(2, 1, false), says(2, 3, false), expires)
	below := reply(3, ballot(1, 1), five, false)
	above := func(fit bool) algo.Event { return reply(3, ballot(1, 4), ballot(3, 3), fit) }
	s := algotest.NewSituations(t, id, 5, algo.Config{ID: 2, Leader: 5}, params{"rule": "happy"}, contents)
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"its leader is there":   {[]algo.Event{start, says(1, 5, true), expires, asked}, "HEARTBEAT_REPLY 7 1.2/2.5 true to 3"},
		"it is not happy":       {[]algo.Event{start, says(1, 5, false), expires, asked}, "HEARTBEAT_REPLY 7 1.2/2.5 false to 3"},
		"it is not there":       {algotest.Then(missed, asked), "HEARTBEAT_REPLY 7 1.2/2.5 false to 3"},
		"others are happy":      {missed, "set round"},
		"nobody is":             {leads, "elected 0 in 17; save 3.2; elected 2 in 17; set round"},
		"nobody of a minority":  {algotest.Then(missed, says(2, 1, false), expires), "set round"},
		"one still is":          {algotest.Then(missed, says(2, 1, false), says(2, 3, true), expires), "set round"},
		"a higher one is there": {[]algo.Event{start, reply(1, ballot(3, 4), five, false), expires}, "save 3.4; elected 4 in 19; set round"},
		"others are happy with a lower one": {algotest.Then(missed, says(2, 1, false),
			reply(2, ballot(1, 3), ballot(1, 4), true), expires), "elected 0 in 17; save 3.2; elected 2 in 17; set round"},
		"leads a majority":     {algotest.Then(leads, below, reply(3, ballot(1, 3), ballot(3, 2), false), expires, asked), "HEARTBEAT_REPLY 7 3.2/3.2 true to 3"},
		"leads a minority":     {algotest.Then(leads, below, expires, asked), "HEARTBEAT_REPLY 7 3.2/3.2 false to 3"},
		"a higher one is near": {algotest.Then(leads, below, above(true), expires, asked), "HEARTBEAT_REPLY 7 3.2/3.2 true to 3"},
		"a higher one is gone": {algotest.Then(leads, below, above(false), expires),
			"elected 0 in 22; save 4.2; elected 2 in 22; set round"},
	} {
		s.Want(name, test.events, test.want)
	}
}

// TestBeginnings is process 2 of three at its start, and in its first round after a crash.
func TestBeginnings(t *testing.T) {
	t.Parallel()
	one := func(c algo.Config, given params) algotest.Situations {
		c.ID = 2
		return algotest.NewSituations(t, id, 3, c, given, contents)
	}
	asked := algotest.Hear(3, ble.Request{Round: 7})
	happy := params{"rule": "happy"}
	one(algo.Config{}, nil).Want("cold", []algo.Event{start}, "elected 0 in 2; set round")
	one(algo.Config{}, happy).Want("cold, happy", []algo.Event{start}, "save 1.2; elected 0 in 5; elected 2 in 5; set round")
	one(algo.Config{Leader: 2}, nil).Want("leads", []algo.Event{start, asked}, "HEARTBEAT_REPLY 7 1.2/1.2 true to 3")
	one(algo.Config{Leader: 2}, happy).Want("leads, happy", []algo.Event{start, asked}, "HEARTBEAT_REPLY 7 2.2/2.2 true to 3")
	ranks := params{"priority": []any{int64(9), int64(0), int64(0)}}
	one(algo.Config{}, ranks).Want("ranks", []algo.Event{start}, "elected 0 in 1; set round")
	one(algo.Config{Leader: 1}, ranks).Want("a settled rank", []algo.Event{start,
		algotest.Hear(1, ble.Prepare{Ballot: ble.Ballot{N: 1, Priority: 9, ID: 1}})}, "")

	round := uint64(1)<<32 + 1 // the first of the second life
	saved := ble.Stable{Leader: ballot(4, 3)}
	back := one(algo.Config{Incarnation: 1, Saved: saved}, nil)
	back.Want("is back", []algo.Event{start}, "elected 0 in 2; set round")
	back.Want("says whom it followed", []algo.Event{start, asked}, "HEARTBEAT_REPLY 7 0.2/4.3 true to 3")
	back.Want("hears of its first life (P8)", []algo.Event{start, reply(1, ballot(4, 3), ballot(4, 3), true), expires},
		"elected 3 in 15; set round")
	back.Want("finds it", []algo.Event{start, reply(round, ballot(4, 3), ballot(4, 3), true), expires},
		"elected 3 in 15; set round")
	back.Want("misses it", []algo.Event{start, reply(round, ballot(0, 1), ballot(4, 3), true), expires},
		"elected 0 in 17; set round")
	back.Want("finds another", []algo.Event{start, reply(round, ballot(5, 1), ballot(5, 1), true), expires},
		"save 5.1; elected 1 in 16; set round")
	led := one(algo.Config{Incarnation: 1, Saved: ble.Stable{Leader: ballot(4, 2)}}, nil)
	led.Want("has led", []algo.Event{start, expires}, "set round")
	led.Want("leads anew", []algo.Event{start, reply(round, ballot(0, 1), ballot(4, 2), true), expires,
		reply(round+1, ballot(0, 1), ballot(4, 2), true), expires}, "save 5.2; elected 2 in 17; set round")
}
