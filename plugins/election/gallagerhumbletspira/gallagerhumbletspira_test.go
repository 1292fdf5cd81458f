package gallagerhumbletspira_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	ghs "github.com/conclave-bench/conclave/plugins/election/gallagerhumbletspira"
)

const (
	id = "election/gallager-humblet-spira"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestTree: on any connected graph, with any weights, whoever begins, and when: LEADER goes once over each
// link of the minimum spanning tree and over no other, and there are no more messages than the paper says.
func TestTree(t *testing.T) {
	t.Parallel()
	most := 0.0
	for seed := range uint64(600) {
		p, o, graph := random(t, seed)
		tree := kruskal(graph)
		if got := announced(o); o.Status != trace.OK || !slices.Equal(got, tree) {
			t.Fatalf("seed %d, %d processes, %s: %s %s, LEADER over %v, want %v",
				seed, p.Nodes, graph.Name, o.Status, o.Reason, got, tree)
		}
		n, links := float64(p.Nodes), len(graph.Edges())
		var sent int64
		for _, k := range o.Kinds {
			sent += k.Sent
		}
		bound := float64(2*links) + float64(5*n*math.Log2(n)) + n - 1
		if float64(sent) > bound || n > 1 && sent < int64(2*links+2*p.Nodes+1) {
			t.Errorf("seed %d, %d processes, %s: %d messages, want at least 2E+2N+1 and at most %v",
				seed, p.Nodes, graph.Name, sent, bound)
		}
		if n > 1 {
			most = max(most, float64(sent)/bound)
		}
	}
	if most < 0.5 {
		t.Errorf("at most %.2f of the bound: these graphs are too easy", most)
	}
}

// random is a trial on a graph with random weights, in a word or as a list.
func random(t *testing.T, seed uint64) (harness.Plan, algotest.Outcome, *algo.Graph) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	n := 1 + rng.IntN(24)
	var events []harness.Event
	last := time.Duration(rng.IntN(3)) * ms
	for _, i := range rng.Perm(n)[:1+rng.IntN(n)] {
		at := last * time.Duration(rng.IntN(100)) / 100
		events = append(events, algotest.At(at, harness.DoElect, algo.ID(i+1)))
	}
	p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Events: events}}, nil)
	p.Shape, p.Seed, p.Network.Latency = explore.AnyShape(rng), seed, link.Uniform(ms/100, ms)
	p.Shape.Weighing = "random"
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	if rng.IntN(2) == 0 {
		for _, w := range rng.Perm(2 * len(setup.Graph.Edges()))[:len(setup.Graph.Edges())] {
			p.Shape.Weights = append(p.Shape.Weights, algo.Weight(w+1))
		}
		if setup, err = p.Setup(); err != nil {
			t.Fatal(err)
		}
	}
	return p, algotest.MustSimulate(t, p), setup.Graph
}

// announced is the links that a LEADER went over, once for each.
func announced(o algotest.Outcome) (links [][2]algo.ID) {
	for _, r := range o.Trace {
		if r.Type == trace.Send && o.Kinds[r.Kind].Name == "LEADER" {
			from, to := algo.ID(r.Process), algo.ID(r.Peer)
			links = append(links, [2]algo.ID{min(from, to), max(from, to)})
		}
	}
	slices.SortFunc(links, func(a, b [2]algo.ID) int { return slices.Compare(a[:], b[:]) })
	return links
}

// kruskal is the minimum spanning tree of a graph, its links in ascending order.
func kruskal(g *algo.Graph) (tree [][2]algo.ID) {
	weight := map[[2]algo.ID]algo.Weight{}
	part := map[algo.ID]algo.ID{}
	for _, p := range g.Peers() {
		part[p] = p
		for i, q := range g.Adjacent(p) {
			weight[[2]algo.ID{min(p, q), max(p, q)}] = g.Weights(p)[i]
		}
	}
	links := g.Edges()
	slices.SortFunc(links, func(a, b [2]algo.ID) int { return int(weight[a]) - int(weight[b]) })
	for _, l := range links {
		if from, to := part[l[0]], part[l[1]]; from != to {
			tree = append(tree, l)
			for _, p := range g.Peers() {
				if part[p] == from {
					part[p] = to
				}
			}
		}
	}
	slices.SortFunc(tree, func(a, b [2]algo.ID) int { return slices.Compare(a[:], b[:]) })
	return tree
}

// TestWithoutFIFO: where a REPORT overtakes the INITIATE, it counts for nothing, and is missed later.
func TestWithoutFIFO(t *testing.T) {
	t.Parallel()
	count := algotest.CountOutOfModel(t, id, func(p *harness.Plan) {
		p.Network.Unordered, p.Network.Duplication = true, 0
	})
	if count[trace.TimedOut] == 0 {
		t.Errorf("%v, want some in which the system is quiescent", count)
	}
}

// TestRules is each message in each state, at process 2 of a graph in which all four are neighbors. The
// links to 1, 3 and 4 weigh 30, 10 and 20.
func TestRules(t *testing.T) {
	t.Parallel()
	begin := algo.Event{Type: algo.Elect}
	hear := algotest.Hear
	connect := func(from algo.ID, level uint32) algo.Event { return hear(from, ghs.Connect{Level: level}) }
	initiate := func(from algo.ID, level uint32, fragment algo.Weight, find bool) algo.Event {
		return hear(from, ghs.Initiate{Level: level, Fragment: fragment, Find: find})
	}
	test := func(from algo.ID, level uint32, fragment algo.Weight) algo.Event {
		return hear(from, ghs.Test{Level: level, Fragment: fragment})
	}
	report := func(from algo.ID, best algo.Weight) algo.Event { return hear(from, ghs.Report{Best: best}) }
	accept := func(from algo.ID) algo.Event { return hear(from, ghs.Accept{}) }
	reject := func(from algo.ID) algo.Event { return hear(from, ghs.Reject{}) }
	merged := []algo.Event{begin, connect(3, 0), initiate(3, 1, 10, true)} // with 3; tests 4
	reported := algotest.Then(merged, accept(4))                           // 20
	// The core is 2-3, 1 is below and tests, 4 is rejected.
	absorbing := algotest.Then(merged, connect(1, 0), reject(4))
	outside := algotest.Then(absorbing, report(1, 15)) // its way out is below 1
	nowhere := algotest.Then(absorbing, report(1, 0))
	// The core is 2-1; 3 is below, and 4 is rejected.
	larger := algotest.Then(merged, reject(4), accept(1), report(3, 0), connect(1, 1),
		initiate(1, 2, 30, true), report(3, 0))
	s := algotest.NewSituations(t, id, 4, algo.Config{ID: 2, Weights: []algo.Weight{30, 10, 20}}, nil,
		func(m algo.Message) string { return strings.TrimPrefix(fmt.Sprint(m), "{}") })
	for name, row := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"wakes":                        {[]algo.Event{begin}, "CONNECT {0} to 3"},
		"wakes once":                   {[]algo.Event{begin, begin}, ""},
		"is woken":                     {[]algo.Event{connect(4, 0)}, "CONNECT {0} to 3"},
		"is woken by the same":         {[]algo.Event{connect(3, 0)}, "CONNECT {0} to 3; INITIATE {1 10 true} to 3"},
		"is woken by a TEST":           {[]algo.Event{test(4, 1, 7)}, "CONNECT {0} to 3"},
		"merges":                       {[]algo.Event{begin, connect(3, 0)}, "INITIATE {1 10 true} to 3"},
		"merges later":                 {[]algo.Event{begin, connect(4, 0)}, ""},
		"tests":                        {merged, "TEST {1 10} to 4"},
		"absorbs, finding":             {algotest.Then(merged, connect(1, 0)), "INITIATE {1 10 true} to 1"},
		"absorbs, found":               {algotest.Then(reported, connect(1, 0)), "INITIATE {1 10 false} to 1"},
		"does not wait for it":         {algotest.Then(reported, connect(1, 0), report(3, 25)), "CONNECT {1} to 4"},
		"absorbs who waited":           {[]algo.Event{begin, connect(4, 0), connect(3, 0), initiate(3, 1, 10, true)}, "TEST {1 10} to 4; INITIATE {1 10 true} to 4"},
		"waits for a higher level":     {algotest.Then(merged, connect(4, 1)), ""},
		"is absorbed, found":           {[]algo.Event{begin, initiate(3, 2, 7, false)}, ""},
		"passes INITIATE on":           {algotest.Then(outside, initiate(3, 2, 7, true)), "INITIATE {2 7 true} to 1"},
		"answers another fragment":     {algotest.Then(merged, test(1, 1, 7)), "ACCEPT to 1"},
		"answers its own":              {algotest.Then(merged, test(1, 1, 10)), "REJECT to 1"},
		"answers a lower level":        {algotest.Then(merged, test(1, 0, 0)), "ACCEPT to 1"},
		"defers a higher level":        {algotest.Then(merged, test(1, 2, 10)), ""},
		"answers it then":              {algotest.Then(merged, test(1, 2, 7), initiate(3, 2, 7, true)), "TEST {2 7} to 4; REJECT to 1"},
		"two TESTs meet":               {algotest.Then(merged, test(4, 1, 10)), "TEST {1 10} to 1"},
		"is rejected, tests the next":  {algotest.Then(merged, reject(4)), "TEST {1 10} to 1"},
		"is rejected by a branch":      {algotest.Then(merged, connect(4, 0), reject(4), report(4, 0)), ""},
		"rejected all":                 {algotest.Then(merged, reject(4), reject(1)), "REPORT {0} to 3"},
		"is accepted":                  {reported, "REPORT {20} to 3"},
		"is accepted, one is below":    {algotest.Then(absorbing[:4:4], accept(4)), ""},
		"hears from below, lighter":    {outside, "REPORT {15} to 3"},
		"hears from below, heavier":    {algotest.Then(absorbing[:4:4], report(1, 25), accept(4)), "REPORT {20} to 3"},
		"hears from below, no way out": {algotest.Then(absorbing[:4:4], accept(4), report(1, 0)), "REPORT {20} to 3"},
		"nowhere":                      {nowhere, "REPORT {0} to 3"},
		"the other end was faster":     {algotest.Then(merged, report(3, 25)), ""},
		"then knows as well":           {algotest.Then(merged, report(3, 25), accept(4)), "REPORT {20} to 3; CONNECT {1} to 4"},
		"its way out is lighter":       {algotest.Then(reported, report(3, 25)), "CONNECT {1} to 4"},
		"the only one":                 {algotest.Then(reported, report(3, 0)), "CONNECT {1} to 4"},
		"the other's is lighter":       {algotest.Then(reported, report(3, 15)), ""},
		"its way out is below":         {algotest.Then(outside, report(3, 25)), "CHANGE_ROOT to 1"},
		"is told that it is there":     {algotest.Then(reported, hear(3, ghs.ChangeRoot{})), "CONNECT {1} to 4"},
		"is told, it is below":         {algotest.Then(outside, hear(3, ghs.ChangeRoot{})), "CHANGE_ROOT to 1"},
		"merges after CHANGE_ROOT":     {algotest.Then(reported, connect(4, 1), hear(3, ghs.ChangeRoot{})), "CONNECT {1} to 4; INITIATE {2 20 true} to 4"},
		"no way out, the smaller end":  {algotest.Then(nowhere, report(3, 0)), ""},
		"no way out, the larger end":   {algotest.Then(larger, report(1, 0)), "elected 2; LEADER {2} to 1; LEADER {2} to 3"},
		"came back, hears ACCEPT":      {[]algo.Event{accept(4)}, "CONNECT {0} to 3"},
		"came back, hears REPORT":      {[]algo.Event{report(4, 20)}, "CONNECT {0} to 3"},
		"came back, hears CHANGE_ROOT": {[]algo.Event{hear(4, ghs.ChangeRoot{})}, "CONNECT {0} to 3"},
		"hears who":                    {algotest.Then(nowhere, hear(3, ghs.Leader{ID: 3})), "elected 3; LEADER {3} to 1"},
	} {
		s.Want(name, row.events, row.want)
	}
}

// TestInvariant: a level that is too high for so few, and a leader while a fragment waits.
func TestInvariant(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events []algo.Message // from 1
		want   string
	}{
		"of two":           {[]algo.Message{ghs.Initiate{Level: 1, Fragment: 1}}, ""},
		"of four":          {[]algo.Message{ghs.Initiate{Level: 2, Fragment: 1}}, "level 2 among 3 processes"},
		"has a leader":     {[]algo.Message{ghs.Leader{ID: 1}}, ""},
		"one is deferred":  {[]algo.Message{ghs.Test{Level: 1, Fragment: 1}, ghs.Leader{ID: 1}}, "1 messages deferred"},
		"tests":            {[]algo.Message{ghs.Initiate{Level: 1, Fragment: 1, Find: true}, ghs.Leader{ID: 1}}, "knows the leader: true"},
		"a report is late": {[]algo.Message{ghs.Report{Best: 1}, ghs.Leader{ID: 1}}, "waits for -1 reports"},
	} {
		c := algo.Config{ID: 2, Peers: algotest.Everybody(3), Neighbors: []algo.ID{1, 3}, Weights: []algo.Weight{1, 2}}
		step := algo.NewStepper(algotest.Lookup(t, id), c, 1, &algo.Buffer{})
		for _, m := range test.events {
			step.Step(0, algotest.Hear(1, m))
		}
		if err := step.Invariant(); (err == nil) != (test.want == "") || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
