package algotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// model is what a case means that does not say it, in units: the time-outs of the
// unit-delay model.
var model = map[string]any{"t_answer": 2.0, "t_coordinator": 4.0}

// forms is the same for one algorithm, where ours does more than the reference's.
var forms = map[string]map[string]any{
	"election/bully-ok":                 {"t_coordinator": 0.0}, // its text waits for ever
	"election/ring-max":                 {"lap_timeout": 0.0},   // likewise
	"election/bully-candidate-ordinary": {"spacing": 0.0},       // all delays are a case's own
	"election/bully-quorum":             {"backoff": never},     // one round
}

// never is longer than any trial, in units.
const never = float64(2 * time.Hour / unit)

// remarks are parameters that say in words what an algorithm does anyway.
var remarks = map[string]map[string]any{
	"election/bully":         {"announce": "lower-ranked", "contact_suspect": true},
	"election/bully-ok":      {"announce": "all-others", "suppress_duplicates": true},
	"election/bully-quality": {"announce": "all-others", "rank": "(score,id)"},
	"election/bully-modified": {
		"announce": "lower-ranked", "grant_to_leader": "reply ELECTED to sender only",
	},
	"election/bully-next-in-line": {"announce": "all except self and replaced leader"},
	"election/bully-quorum":       {"order": "version desc, id asc"},
	"election/invitation":         {"tie": "inviter leads"},
	"election/ring-list":          {"close_rule": "self-in-list"},
}

// A drawing is a case on its way to becoming a trial.
type drawing struct {
	*Reference
	alg *algo.Algorithm
	n   int
	rng *rand.Rand
}

// Plan is the case as a trial of that seed. One that documents a weakness is out of
// the algorithm's model: what it breaks is what is expected. Its error is a Mistake.
func (c *Reference) Plan(seed uint64) (harness.Plan, error) {
	p, m := c.plan(seed)
	if m != nil {
		m.Line, m.Case = c.Line, c.ID
		return p, m
	}
	return p, nil
}

func (c *Reference) plan(seed uint64) (p harness.Plan, m *Mistake) {
	alg, err := algo.Lookup(c.AlgorithmID())
	if err != nil {
		return p, wrong("algorithm", "%v", err)
	}
	if c.unbuilt != nil {
		return p, wrong(strings.Join(c.unbuilt, ", "), "nothing here understands this yet")
	}
	d := drawing{Reference: c, alg: alg, rng: rand.New(rand.NewPCG(seed, 0x6361736573))}
	if d.n, m = d.nodes(); m != nil {
		return p, m
	}
	scenario, m := d.scenario()
	if m != nil {
		return p, m
	}
	given, m := d.params()
	if m != nil {
		return p, m
	}
	if p, err = Plan(alg.ID, d.n, scenario, given); err != nil {
		return p, wrong("params", "%v", err)
	}
	p.Seed, p.Leader, p.Holder, p.Crashed = seed, c.Scenario.Leader, c.holder(), c.Scenario.Crashed
	p.InModel = len(c.Scenario.Partition) == 0 && c.Scenario.Channels == "" && !c.negative()
	p.Descending = c.Scenario.Order == descending
	if scenario.Kind == harness.Script {
		p.TimeLimit = scenario.Until + patience*unit
		for _, e := range scenario.Events {
			p.TimeLimit = max(p.TimeLimit, e.At+patience*unit)
		}
	}
	if p.Shape, m = d.shape(p.Shape); m != nil {
		return p, m
	}
	d.weather(&p)
	return p, nil
}

// negative says whether the case documents a weakness.
func (c *Reference) negative() bool { return strings.Contains(c.Formula+c.Note, "negative test") }

// holder is who has the token at the start; None: the least ID.
func (c *Reference) holder() (p algo.ID) {
	if token, ok := c.Params["initial_token"].(float64); ok {
		return algo.ID(token)
	}
	if _, who, found := strings.Cut(c.Topology.Shape, "holder "); found {
		_, _ = fmt.Sscan(who, &p)
		return p
	}
	return c.Scenario.TokenAt
}

// most bounds the processes of a case.
const most = 10_000

func (d *drawing) nodes() (n int, m *Mistake) {
	const key = "topology.n"
	var lo, hi int
	_, err := fmt.Sscanf(string(d.Topology.N), `"%d..%d"`, &lo, &hi)
	switch {
	case err == nil && d.words() == "":
		return 0, wrong(key, "%s is for random events alone, want a number", d.Topology.N)
	case err == nil && 1 <= lo && lo <= hi && hi <= most:
		n = lo + d.rng.IntN(hi-lo+1)
	case d.Topology.N == nil:
		return 0, wrong(key, "missing, want a number of processes")
	case json.Unmarshal(d.Topology.N, &n) != nil || n < 1 || n > most:
		return 0, wrong(key, "%s, want a number of processes from 1 to %d", d.Topology.N, most)
	}
	if needs := d.alg.Spec.Needs.Nodes; needs != nil && needs(n) != nil {
		return 0, wrong(key, "%d: %v", n, needs(n))
	}
	d.n = n
	for _, p := range d.Scenario.Crashed {
		if m := d.process("scenario.crashed", p); m != nil {
			return 0, m
		}
	}
	if m := d.process("scenario.initial_leader", max(1, d.Scenario.Leader)); m != nil { // 0: nobody
		return 0, m
	}
	return n, d.process("the token's holder", max(1, d.holder()))
}

// process says whether p is one of the processes.
func (d *drawing) process(key string, p algo.ID) *Mistake {
	if p < 1 || int(p) > d.n {
		return wrong(key, "process %d of %d, want one from 1 to %d", p, d.n, d.n)
	}
	return nil
}

// shape is the graph that the case names, of the kind that the algorithm needs.
func (d *drawing) shape(s algo.Shape) (algo.Shape, *Mistake) {
	t, need := &d.Topology, d.alg.Spec.Needs.Topology
	ring := need == algo.LogicalRing || need == algo.Ring || need == algo.BidirectionalRing
	switch {
	case t.Type == "", t.Type == "ring" && ring: // the algorithm's own
	case t.Type == "complete", t.Type == "tree", t.Type == "grid":
		s = algo.Shape{Kind: t.Type}
	case t.Type == "ring":
		s = algo.Shape{Kind: "bidirectional-ring"}
	case t.Type == "path", t.Type == "star":
		s = algo.Shape{Kind: "tree", Tree: t.Type}
	case t.Type == "graph" && t.Edges != nil:
		s = algo.Shape{Kind: "file"}
	default:
		return s, unknown("topology.type", "topology", t.Type,
			[]string{"complete", "ring", "tree", "path", "star", "grid", "graph"})
	}
	for _, word := range []string{"path", "star", "binary", "balanced"} {
		if s.Kind == "tree" && strings.Contains(t.Shape, word) {
			s.Tree = word
		}
	}
	if s.Kind == "tree" && s.Tree == "" && d.n > 1 {
		return s, wrong("topology.shape", "%q, want a path, a star, a binary or a balanced tree", t.Shape)
	}
	if t.Order != nil && json.Unmarshal(t.Order, &s.Order) != nil {
		return s, wrong("topology.order", "%s, want a list of all processes", t.Order)
	}
	if s.Kind == "file" && json.Unmarshal(t.Edges, &s.Edges) != nil {
		return s, wrong("topology.edges", "%s, want a list of pairs, as [[1, 2], [2, 3]]", t.Edges)
	}
	graph, err := algo.Build(s, d.n, 1)
	if err != nil {
		return s, wrong("topology", "%v", err)
	}
	if !graph.Satisfies(need) {
		return s, wrong("topology.type", "%s, but %s needs a graph that is %v", t.Type, d.alg.ID, need)
	}
	return s, nil
}

// params turns the case's parameters into the plugin's.
func (d *drawing) params() (map[string]any, *Mistake) {
	given := map[string]any{}
	presets := maps.Clone(model)
	if d.words() == "" { // a random scenario takes what is exact there
		maps.Copy(presets, forms[d.alg.ID])
	}
	for name, v := range presets {
		if i := d.param(name); i >= 0 {
			given[name], _ = d.value("", d.alg.Spec.Params[i], v)
		}
	}
	all := map[string]any{}
	maps.Copy(all, d.Params)
	maps.Copy(all, d.Scenario.Params)
	for name, v := range map[string]map[string]any{"score": d.Scenario.Score, "delta": d.Scenario.Delta} {
		if v != nil {
			all[name] = v
		}
	}
	if d.Scenario.Candidates != nil {
		members := map[string]any{}
		for _, p := range d.Scenario.Candidates {
			members[fmt.Sprint(p)] = 1.0
		}
		all["candidate"] = members
	}
	if t := d.Topology.Quorums; t != "" {
		all["quorums"] = map[bool]string{true: "grid", false: "plane"}[strings.HasPrefix(t, "grid")]
	}
	if list := d.Scenario.FailoverList; list != nil {
		if m := d.failover(list); m != nil {
			return nil, m
		}
		all["list_length"] = float64(len(list))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v, m := all[name], (*Mistake)(nil)
		if i := d.param(name); i >= 0 {
			given[name], m = d.value("params."+name, d.alg.Spec.Params[i], v)
		} else {
			m = d.remark(name, v)
		}
		if m != nil {
			return nil, m
		}
	}
	return given, nil
}

// param is the place of a parameter in the Spec; -1: it has none.
func (d *drawing) param(name string) int {
	return slices.IndexFunc(d.alg.Spec.Params, func(p algo.Param) bool { return p.Name == name })
}

// failover says whether the list is the one that a leader publishes here.
func (d *drawing) failover(list []algo.ID) *Mistake {
	want := Others(d.n, d.Scenario.Leader)
	slices.Reverse(want)
	if len(list) > len(want) || !slices.Equal(list, want[:len(list)]) {
		return wrong("scenario.failover_list", "%v, want the highest processes after the leader, falling, "+
			"as %v", list, want[:min(len(list), len(want))])
	}
	return nil
}

// remark says what is wrong with a parameter that the plugin does not have.
func (d *drawing) remark(name string, v any) *Mistake {
	key := "params." + name
	same := func(want any) *Mistake {
		if v != want {
			return wrong(key, "%v, but here it is always %v", v, want)
		}
		return nil
	}
	if want, ok := remarks[d.alg.ID][name]; ok {
		return same(want)
	}
	switch token, ok := v.(float64); {
	case name == "initial_token" && ok && token == math.Trunc(token):
		return nil // see holder
	case name == "initial_token":
		return wrong(key, "%v, want a process, as 1", v)
	case name == "initial_last":
		return same(fmt.Sprintf("all %d", max(1, d.holder())))
	case name == "cs_duration":
		return same(d.hold())
	}
	has := []string{"initial_token"}
	for _, p := range d.alg.Spec.Params {
		has = append(has, p.Name)
	}
	return unknown(key, "parameter", name, has)
}

// value is a parameter's value as the plugin has it. A duration is a number of
// units, or a multiple of the latency in words; null is none, that is 0; a block
// goes by process, 0 where it says nothing.
func (d *drawing) value(key string, p algo.Param, v any) (any, *Mistake) {
	switch v := v.(type) {
	case nil:
		return d.value(key, p, 0.0)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var m *Mistake
			if list[i], m = d.value(key, p, v[i]); m != nil {
				return nil, m
			}
		}
		return list, nil
	case map[string]any:
		return d.byProcess(key, p, v)
	case float64:
		switch {
		case p.Type == algo.Duration && math.Abs(v) <= 2*never:
			return units(v), nil
		case p.Type == algo.Int && v == math.Trunc(v) && math.Abs(v) < 1<<53:
			return int64(v), nil
		case p.Type == algo.Duration || p.Type == algo.Int:
			return nil, wrong(key, "%v, want %s", v, map[algo.ParamType]string{
				algo.Duration: "a number of time units", algo.Int: "a whole number",
			}[p.Type])
		}
	case string:
		var share float64
		if p.Type != algo.Duration {
			return v, nil
		}
		if _, err := fmt.Sscanf(v, "%g x maximum one-way delay", &share); err != nil {
			return nil, wrong(key, `%q, want a number of time units, or "1.2 x maximum one-way delay"`, v)
		}
		return units(share), nil
	}
	return v, nil // its type is checked with the Spec's
}

func (d *drawing) byProcess(key string, p algo.Param, v map[string]any) (any, *Mistake) {
	list := make([]any, d.n)
	for i := range list {
		list[i], _ = d.value(key, p, 0.0)
	}
	for _, who := range slices.Sorted(maps.Keys(v)) {
		var i algo.ID
		if _, err := fmt.Sscan(who, &i); err != nil {
			return nil, wrong(key, `%q, want a process, as {"3": ...}`, who)
		}
		m := d.process(key, i)
		if m == nil {
			list[i-1], m = d.value(key, p, v[who])
		}
		if m != nil {
			return nil, m
		}
	}
	return list, nil
}

func units(n float64) time.Duration { return time.Duration(n * float64(unit)) }
