package echoextinction_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/echoextinction"
)

const (
	id = "election/echo-extinction"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestSilent: with announce: false the leader alone knows, which is not what is promised.
func TestSilent(t *testing.T) {
	t.Parallel()
	algotest.RunFits(t, id, map[string]map[string]any{"told": nil},
		map[string]map[string]any{"not told": {"announce": false}})
}

// TestWaves: on any connected graph the largest of those that begin before they hear of another leads.
// Its wave takes 2|E| messages, all k take 2k|E| at most, and the news takes 2|E|-(N-1).
func TestWaves(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(16)
		shape := explore.AnyShape(rng)
		var events []harness.Event
		largest, last := algo.None, time.Duration(rng.IntN(3))*ms
		for _, i := range rng.Perm(n)[:1+rng.IntN(n)] {
			p := algo.ID(i + 1)
			at := last * time.Duration(rng.IntN(100)) / 100
			events = append(events, algotest.At(at, harness.DoElect, p))
			largest = max(largest, p)
		}
		p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, nil)
		p.Shape, p.Seed, p.Network.Latency = shape, seed, link.Uniform(ms/100, ms)
		setup, err := p.Setup()
		if err != nil {
			t.Fatal(err)
		}
		edges := int64(len(setup.Graph.Edges()))
		o := algotest.MustSimulate(t, p)
		tokens, news := o.Kinds[0].Sent, o.Kinds[1].Sent
		if o.Status != trace.OK || last == 0 && o.Last() != largest ||
			tokens < 2*edges || tokens > 2*edges*int64(len(events)) || news != 2*edges-int64(n-1) {
			t.Errorf("seed %d, %d processes, %d edges, %v: %s %s, %d leads after %d TOKENs and %d LEADERs",
				seed, n, edges, events, o.Status, o.Reason, o.Last(), tokens, news)
		}
	}
}

// TestRules is each message in each state, at process 2 of a graph in which all four are neighbors.
func TestRules(t *testing.T) {
	t.Parallel()
	token := func(from, wave algo.ID) algo.Event {
		return algotest.Hear(from, echoextinction.Token{Wave: wave})
	}
	leader := func(from, p algo.ID) algo.Event { return algotest.Hear(from, echoextinction.Leader{ID: p}) }
	begin := algo.Event{Type: algo.Elect}
	own := []algo.Event{begin, token(1, 2), token(3, 2)}
	joined := []algo.Event{token(3, 4), token(1, 4)}
	for announce, table := range map[bool]map[string]struct {
		events []algo.Event
		want   string
	}{
		true: {
			"begins":                     {[]algo.Event{begin}, "TOKEN {2} to 1; TOKEN {2} to 3; TOKEN {2} to 4"},
			"begins once":                {[]algo.Event{begin, begin}, ""},
			"joined, begins not":         {[]algo.Event{token(1, 1), begin}, ""},
			"joins":                      {[]algo.Event{token(1, 1)}, "TOKEN {1} to 3; TOKEN {1} to 4"},
			"joins another":              {[]algo.Event{begin, token(3, 4)}, "TOKEN {4} to 1; TOKEN {4} to 4"},
			"joins a third":              {[]algo.Event{token(1, 3), token(3, 4)}, "TOKEN {4} to 1; TOKEN {4} to 4"},
			"drops a smaller one":        {[]algo.Event{begin, token(1, 1)}, ""},
			"heard from two":             {joined, ""},
			"heard from all, echoes":     {algotest.Then(joined, token(4, 4)), "TOKEN {4} to 3"},
			"echoes, but not another":    {algotest.Then(joined, token(4, 3)), ""},
			"counts those of one wave":   {[]algo.Event{token(1, 3), token(3, 3), token(3, 4), token(1, 4)}, ""},
			"its own, from two":          {own, ""},
			"its own is back, leads":     {algotest.Then(own, token(4, 2)), "elected 2; LEADER {2} to 1; LEADER {2} to 3; LEADER {2} to 4"},
			"hears who":                  {[]algo.Event{leader(3, 4)}, "elected 4; LEADER {4} to 1; LEADER {4} to 4"},
			"hears who again":            {[]algo.Event{leader(3, 4), leader(1, 4)}, ""},
			"leads, and hears of itself": {algotest.Then(own, token(4, 2), leader(1, 2)), ""},
		},
		false: {
			"its own is back, leads": {algotest.Then(own, token(4, 2)), "elected 2"},
		},
	} {
		s := algotest.NewSituations(t, id, 4, algo.Config{ID: 2}, map[string]any{"announce": announce},
			func(m algo.Message) string { return fmt.Sprint(m) })
		for name, test := range table {
			s.Want(name, test.events, test.want)
		}
	}
}
