package chandratoueg_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/chandratoueg"
)

const (
	id = "election/chandra-toueg"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

// run is a trial of so long, in which process 5 leads at first.
func run(t *testing.T, n int, until time.Duration, params map[string]any, events ...harness.Event) algotest.Outcome {
	t.Helper()
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events, Until: until}}, params)
	p.Leader, p.Network.Latency = algo.ID(n), link.Constant(ms)
	return algotest.MustSimulate(t, p)
}

// TestPeriods: N(N-1) ALIVE in each period, and no other message, also for an election.
func TestPeriods(t *testing.T) {
	t.Parallel()
	params := map[string]any{"alive_period": 4 * ms, "timeout": 10 * ms}
	for n := 2; n <= 8; n++ {
		if o := run(t, n, 41*ms, params); o.Kinds[0].Sent != int64(11*n*(n-1)) {
			t.Errorf("%d processes: %d ALIVE in 11 periods", n, o.Kinds[0].Sent)
		}
		o := run(t, n, 81*ms, params, algotest.Crash(41*ms, algo.ID(n)))
		want := int64(11*n*(n-1) + 10*(n-1)*(n-1))
		// The last ALIVE comes at 41 ms.
		if op := o.Operations[0]; o.Kinds[0].Sent != want || op.End != 51*ms || o.Last() != algo.ID(n-1) {
			t.Errorf("%d processes, a crash: %d ALIVE, want %d; %d leads, %+v", n, o.Kinds[0].Sent, want, o.Last(), op)
		}
	}
}

// TestSettled: the largest process leads soon, whichever other one was settled as the leader.
func TestSettled(t *testing.T) {
	t.Parallel()
	for leader := range algo.ID(3) {
		p := algotest.MustPlan(t, id, 4, harness.Scenario{Plot: &harness.Script{Until: 200 * ms}}, nil)
		p.Leader, p.Network.Latency = leader+1, link.Constant(ms)
		if o := algotest.MustSimulate(t, p); o.Status != trace.OK || o.Last() != 4 {
			t.Errorf("%d was settled: %s %s, %d leads", leader+1, o.Status, o.Reason, o.Last())
		}
	}
}

// TestMistakes: with delays above the first patience, mistakes end if the patience grows, and go on if
// it does not.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for increment, settles := range map[time.Duration]bool{5 * ms: true, 0: false} {
		p := algotest.MustPlan(t, id, 4, harness.Scenario{Plot: &harness.Script{Until: 20 * time.Second}},
			map[string]any{"alive_period": 10 * ms, "timeout": 15 * ms, "increment": increment})
		p.Leader, p.Network.Latency = 4, link.Uniform(ms, 40*ms)
		early, late := 0, 0
		for _, r := range algotest.MustSimulate(t, p).Trace {
			switch {
			case r.Type != trace.Elected:
			case r.At < 10*time.Second:
				early++
			default:
				late++
			}
		}
		if early == 0 || (late == 0) != settles {
			t.Errorf("increment %v: %d changes in the first half, %d in the second", increment, early, late)
		}
	}
}

// TestRules is each event in each state, at process 2 of three.
func TestRules(t *testing.T) {
	t.Parallel()
	alive := func(p algo.ID) algo.Event { return algotest.Hear(p, chandratoueg.Alive{}) }
	silent := func(p string) algo.Event { return algotest.Expire(algo.Timer("silence of " + p)) }
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2},
		map[string]any{"timeout": 10 * ms, "alive_period": 4 * ms, "increment": 3 * ms},
		func(algo.Message) string { return "" })
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"says that it is alive":       {[]algo.Event{algotest.Expire("period")}, "ALIVE to 1; ALIVE to 3; set period"},
		"hears of one":                {[]algo.Event{alive(1)}, "set silence of 1"},
		"misses the leader":           {[]algo.Event{silent("3")}, "elected 2"},
		"misses another":              {[]algo.Event{silent("1")}, ""},
		"was wrong about the leader":  {[]algo.Event{silent("3"), alive(3)}, "set silence of 3; elected 3"},
		"was wrong about another one": {[]algo.Event{silent("1"), alive(1)}, "set silence of 1"},
		"an election is asked for":    {[]algo.Event{{Type: algo.Elect}}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}
