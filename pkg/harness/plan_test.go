package harness

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
)

// allTypes is an algorithm with a parameter of every type, each also as a list.
func init() {
	params := []algo.Param{
		{Name: "truth", Type: algo.Bool, Default: algo.Const(false)},
		{Name: "whole", Type: algo.Int, Default: algo.Const(int64(0))},
		{Name: "real", Type: algo.Float, Default: algo.Const(0.0)},
		{Name: "span", Type: algo.Duration, Default: algo.Const(time.Duration(0))},
		{Name: "choice", Type: algo.Enum, Choices: []string{"7", "b"}, Default: algo.Const("b")},
	}
	for _, p := range params {
		p.Name += "_list"
		p.PerProcess = true
		params = append(params, p)
	}
	for i := range params {
		params[i].Doc = "test"
	}
	algo.RegisterElector(algo.Spec{
		Name: "test-params", Summary: "has every type of parameter",
		Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
		Messages: []algo.Message{Note{}}, Params: params,
	}, func(c algo.Config) algo.Elector { return &puppet{Config: c} })
}

func anyParams(t *rapid.T, nodes int) map[string]any {
	draw := map[string]func() any{
		"truth":  func() any { return rapid.Bool().Draw(t, "truth") },
		"whole":  func() any { return rapid.Int64().Draw(t, "whole") },
		"real":   func() any { return rapid.Float64Range(-1e300, 1e300).Draw(t, "real") },
		"span":   func() any { return time.Duration(rapid.Int64().Draw(t, "span")) },
		"choice": func() any { return rapid.SampledFrom([]string{"7", "b"}).Draw(t, "choice") },
	}
	out := map[string]any{}
	for name, f := range draw {
		out[name] = f()
		list := make([]any, nodes)
		for i := range list {
			list[i] = f()
		}
		out[name+"_list"] = list
	}
	return out
}

// TestPlanTravelsAsJSON: a plan comes back as it went, types included, though
// JSON knows but one kind of number.
func TestPlanTravelsAsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.Int64Range(0, 99).Draw(t, "sent")
		nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
		want := Plan{
			Trial: "t1", Algorithm: "election/test-params", Label: "l", Nodes: nodes,
			Params: anyParams(t, nodes),
			Shape: algo.Shape{Kind: "tree", Tree: "binary", Order: []algo.ID{1}, Degree: 1.5,
				Weights: []algo.Weight{3, 1<<32 - 1}, Weighing: "random"},
			Network:  link.Network{Latency: link.Uniform(1, 2), Loss: 0.1, Duplication: 0.2, Unordered: true},
			Detector: HeartbeatDetector(3, 4),
			Scenario: Scenario{Plot: &Script{Hold: link.Constant(5), Until: 7,
				Descending: true, Events: []Event{
					{At: 1, Do: "cut", Groups: [][]uint32{{1}, {2, 3}}},
					{After: "quiet", Do: "suspect", Node: 1, Of: 2, Target: 3}},
			}, Expect: []Expect{Exactly("sent", sent), Each("sent_by_kind", map[string]int64{"A": 1}),
				{Name: "cs_order", List: []int64{1, 2}}, {Name: "sent_within", From: 1, To: 2}}},
			Leader: 1, Holder: 2, Crashed: []algo.ID{3}, Faults: Faults{CrashRate: 0.5},
			Seed:      rapid.Uint64Range(0, 1<<53-1).Draw(t, "seed"),
			TimeLimit: time.Hour, InModel: true, OutOfModel: []string{"why"}, Descending: true,
		}
		b, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		var got Plan
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %#v\nwant %#v", got, want)
		}
	})
}

func TestPlanThatCannotBeRead(t *testing.T) {
	t.Parallel()
	good := map[string]any{"truth": true, "whole": 1, "real": 1.5, "span": 1, "choice": "b"}
	for name := range map[string]any{"truth": 0, "whole": 0, "real": 0, "span": 0, "choice": 0} {
		good[name+"_list"] = good[name]
	}
	for name, test := range map[string]struct {
		change func(plan, params map[string]any)
		want   string
	}{
		"good":              {func(_, _ map[string]any) {}, ""},
		"unknown algorithm": {func(p, _ map[string]any) { p["algorithm"] = "election/nobody" }, "nobody"},
		"parameter missing": {func(_, p map[string]any) { delete(p, "whole") }, "whole"},
		"not whole":         {func(_, p map[string]any) { p["whole"] = 1.5 }, "whole"},
		"not whole, in a list": {func(_, p map[string]any) { p["span_list"] = []any{1, 1e300} },
			"span_list"},
		"not a plan": {func(p, _ map[string]any) { p["nodes"] = "many" }, "nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			params := map[string]any{}
			for k, v := range good {
				params[k] = v
			}
			plan := map[string]any{"algorithm": "election/test-params", "params": params}
			test.change(plan, params)
			b, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			var p Plan
			err = json.Unmarshal(b, &p)
			if test.want == "" && err != nil || test.want != "" &&
				(err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want one about %q", err, test.want)
			}
		})
	}
}

// TestDerive: seeds stay below 2^53, and no two purposes, parts or seeds share
// one. Random draws from them are uniform in every bit.
func TestDerive(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	ones := [53]int{}
	n := 0
	for _, purpose := range []string{"", "network", "workload", "crash", "krowten", "algorithm a"} {
		for seed := range uint64(20) {
			for _, parts := range [][]uint64{nil, {0}, {1}, {0, 0}, {0, 1}, {1, 0}, {1, 1},
				{math.MaxUint64}} {
				s := Derive(seed, purpose, parts...)
				if s >= 1<<53 {
					t.Fatalf("Derive(%d, %q, %v) = %d, not below 2^53", seed, purpose, parts, s)
				}
				if s != Derive(seed, purpose, parts...) {
					t.Fatalf("Derive(%d, %q, %v) differs from call to call", seed, purpose, parts)
				}
				if seen[s] != "" {
					t.Fatalf("Derive(%d, %q, %v) is also that of %s", seed, purpose, parts, seen[s])
				}
				seen[s] = purpose
				for bit := range ones {
					ones[bit] += int(s >> bit & 1)
				}
				n++
			}
		}
	}
	for bit, count := range ones {
		if d := math.Abs(float64(count)-float64(n)/2) / math.Sqrt(float64(n)/4); d > 5 {
			t.Errorf("bit %d is set in %d of %d seeds", bit, count, n)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	s := mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}}, func(p *Plan) {
		p.Leader = 3
	})
	first := s.Config(2, 0, nil)
	if first.Leader != 3 || first.Holder != 1 || first.ID != 2 || len(first.Peers) != 3 {
		t.Errorf("at the start: %+v", first)
	}
	if s.Crashed = []algo.ID{1}; first.LeaderDown || s.Config(2, 0, nil).LeaderDown {
		t.Error("a leader that is up is down")
	}
	if s.Crashed = []algo.ID{3}; !s.Config(2, 0, nil).LeaderDown {
		t.Error("a leader that crashed before the start is up")
	}
	back := s.Config(2, 1, Note{"saved"})
	if back.Leader != algo.None || back.LeaderDown || back.Incarnation != 1 || back.Saved != (Note{"saved"}) {
		t.Errorf("after a crash: %+v", back)
	}
	s.Holder = 2
	if h := s.Config(1, 0, nil).Holder; h != 2 {
		t.Errorf("holder %d, want 2", h)
	}
}

// TestConfig_Connected: whoever needs a connected graph gets to know the others that
// it has a link to, each once, whatever graph it is.
func TestConfig_Connected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape algo.Shape
		n     int
		id    algo.ID
		want  []algo.ID
	}{
		{algo.Shape{Kind: "complete"}, 4, 3, []algo.ID{1, 2, 4}},
		{algo.Shape{Kind: "complete"}, 1, 1, nil},
		{algo.Shape{Kind: "tree", Tree: "star"}, 4, 1, []algo.ID{2, 3, 4}},
		{algo.Shape{Kind: "tree", Tree: "star"}, 4, 2, []algo.ID{1}},
		{algo.Shape{Kind: "bidirectional-ring"}, 4, 1, []algo.ID{2, 4}},
		{algo.Shape{Kind: "bidirectional-ring"}, 2, 1, []algo.ID{2}},
		{algo.Shape{Kind: "bidirectional-ring"}, 1, 1, nil},
		{algo.Shape{Kind: "grid"}, 4, 1, []algo.ID{2, 3}},
	} {
		s := mustSetup(t, "election/test-puppet", c.n, Scenario{Plot: &Script{}}, func(p *Plan) {
			p.Shape = c.shape
		})
		before := slices.Clone(s.Graph.Neighbors(c.id))
		alg := *s.Alg
		alg.Spec.Needs.Topology = algo.Connected
		s.Alg = &alg
		if got := s.Config(c.id, 0, nil).Neighbors; !slices.Equal(got, c.want) {
			t.Errorf("%s, n = %d: process %d has %v, want %v", c.shape.Kind, c.n, c.id, got, c.want)
		}
		if after := s.Graph.Neighbors(c.id); !slices.Equal(before, after) {
			t.Errorf("the graph's own neighbors were %v and are %v", before, after)
		}
	}
}

// TestConfig_Weighted: whoever needs weights gets to know those of its own links, and nobody else does.
func TestConfig_Weighted(t *testing.T) {
	t.Parallel()
	s := mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}}, func(p *Plan) {
		p.Shape = algo.Shape{Kind: "tree", Tree: "path", Weights: []algo.Weight{7, 5}}
	})
	for needs, want := range map[algo.Topology][]algo.Weight{algo.Connected: nil, algo.Weighted: {7, 5}} {
		alg := *s.Alg
		alg.Spec.Needs.Topology = needs
		s.Alg = &alg
		c := s.Config(2, 0, nil)
		if !slices.Equal(c.Neighbors, []algo.ID{1, 3}) || !slices.Equal(c.Weights, want) {
			t.Errorf("%v: process 2 has %v and %v, want 1 and 3 and %v", needs, c.Neighbors, c.Weights, want)
		}
	}
}

// TestLeaderless: a scenario that begins with a leader does so without one where there is none, as of a library.
func TestLeaderless(t *testing.T) {
	t.Parallel()
	for plot, want := range map[Plot][2]bool{ // leaderless, and cold
		&LeaderCrash{}: {true, true}, &LeaderRestart{}: {true, true}, &Partition{}: {true, true},
		&Churn{Duration: time.Second}: {true, false}, &ColdStart{}: {false, false}, &Script{Until: time.Second}: {false, false},
	} {
		for _, leader := range []algo.ID{algo.None, 3} {
			s := &Setup{Plan: Plan{Leader: leader}, plot: plot, Alg: &algo.Algorithm{Problem: algo.Election}}
			if got := [2]bool{s.Leaderless(), s.Cold()}; got != want && leader == algo.None ||
				got != [2]bool{} && leader != algo.None {
				t.Errorf("%T with leader %d: leaderless and cold %v, want %v", plot, leader, got, want)
			}
		}
	}
}
