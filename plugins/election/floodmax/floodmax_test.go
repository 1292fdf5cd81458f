package floodmax_test

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
	"github.com/conclave-bench/conclave/plugins/election/floodmax"
)

const (
	id = "election/flood-max"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

// diameter is the largest distance in a graph, by a search from each process.
func diameter(neighbors map[algo.ID][]algo.ID) (largest int64) {
	for from := range neighbors {
		at := map[algo.ID]int64{from: 0}
		for queue := []algo.ID{from}; len(queue) > 0; queue = queue[1:] {
			for _, p := range neighbors[queue[0]] {
				if _, seen := at[p]; !seen {
					at[p] = at[queue[0]] + 1
					largest = max(largest, at[p])
					queue = append(queue, p)
				}
			}
		}
	}
	return largest
}

// TestRounds: on any connected graph the largest of all leads, whichever processes begin, after as many
// rounds as the graph has a diameter, of two messages for each edge. So it is after N-1 rounds.
func TestRounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(14)
		shape := explore.AnyShape(rng)
		var events []harness.Event
		for _, i := range rng.Perm(n)[:1+rng.IntN(n)] {
			at := time.Duration(rng.IntN(3)) * ms * time.Duration(rng.IntN(100)) / 100
			events = append(events, algotest.At(at, harness.DoElect, algo.ID(i+1)))
		}
		for _, exact := range []bool{false, true} {
			p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, nil)
			p.Shape, p.Seed, p.Network.Latency = shape, seed, link.Uniform(ms/100, ms)
			setup, err := p.Setup()
			if err != nil {
				t.Fatal(err)
			}
			edges, rounds := setup.Graph.Edges(), int64(n-1)
			if exact && n > 1 {
				rounds = diameter(neighbors(edges))
				p.Params["diameter"] = rounds
			}
			o := algotest.MustSimulate(t, p)
			want := 2 * rounds * int64(len(edges))
			if sent := o.Kinds[0].Sent; o.Status != trace.OK || o.Last() != algo.ID(n) || sent != want {
				t.Errorf("seed %d, %d processes, %d edges, %d rounds: %s %s, %d leads, %d messages, want %d", seed, n,
					len(edges), rounds, o.Status, o.Reason, o.Last(), sent, want)
			}
		}
	}
}

func neighbors(edges [][2]algo.ID) map[algo.ID][]algo.ID {
	out := map[algo.ID][]algo.ID{}
	for _, e := range edges {
		out[e[0]], out[e[1]] = append(out[e[0]], e[1]), append(out[e[1]], e[0])
	}
	return out
}

// TestRules is each message in each state, at process 2 of a graph in which all three are neighbors,
// with two rounds.
func TestRules(t *testing.T) {
	t.Parallel()
	hear := func(from algo.ID, round uint32, largest algo.ID) algo.Event {
		return algotest.Hear(from, floodmax.Largest{Round: round, ID: largest})
	}
	begin := algo.Event{Type: algo.Elect}
	first := []algo.Event{begin, hear(1, 1, 1)}
	second := algotest.Then(first, hear(3, 1, 3))
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, nil,
		func(m algo.Message) string { return fmt.Sprint(m) })
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":                {[]algo.Event{begin}, "LARGEST {1 2} to 1; LARGEST {1 2} to 3"},
		"begins once":           {[]algo.Event{begin, begin}, ""},
		"joins":                 {[]algo.Event{hear(3, 1, 3)}, "LARGEST {1 2} to 1; LARGEST {1 2} to 3"},
		"joined":                {[]algo.Event{hear(3, 1, 3), begin}, ""},
		"heard of one":          {first, ""},
		"a neighbor is ahead":   {algotest.Then(first, hear(1, 2, 3)), ""},
		"second round":          {second, "LARGEST {2 3} to 1; LARGEST {2 3} to 3"},
		"second round, one":     {algotest.Then(second, hear(1, 2, 3)), ""},
		"the end":               {algotest.Then(second, hear(1, 2, 3), hear(3, 2, 3)), "elected 3 in 1"},
		"the end, by one ahead": {algotest.Then(first, hear(1, 2, 3), hear(3, 1, 3), hear(3, 2, 3)), "elected 3 in 1"},
		"after the end":         {algotest.Then(second, hear(1, 2, 3), hear(3, 2, 3), begin), ""},
	} {
		s.Want(name, test.events, test.want)
	}
}
