package algotest

import (
	"bytes"
	_ "embed" // the cases
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

//go:embed testdata/cases.json
var cases []byte

// unit is one time unit of a case.
const unit = time.Millisecond

// A Reference is one conformance case: a scenario in the unit-delay model and what it
// leads to, to the message. Its times are in units of a message's delay.
type Reference struct {
	ID        string
	Algorithm string // without its kind: "bully"
	Kind      algo.Problem
	Topology  struct {
		Type  string
		N     json.RawMessage // a number; in words where many sizes are meant
		Order json.RawMessage // of a ring, likewise
		Shape string          // of a tree: "path, holder 1", "star centre 1", "binary heap"
		Edges [][2]algo.ID
	}
	Params   map[string]any
	Scenario struct {
		Crashed   []algo.ID
		Leader    algo.ID `json:"initial_leader"`
		TokenAt   algo.ID `json:"token_at"`
		Partition [][]uint32
		Hold      *float64        `json:"cs_duration"`
		Until     float64         `json:"run_until"`
		Events    json.RawMessage // in words where they are random
		Workload  string
		Channels  string
		Params    map[string]any
	}
	Expect  map[string]json.RawMessage
	Formula string
	Note    string
	Form    string // exact or statistical
}

type caseEvent struct {
	T      float64 `json:"t"`
	When   string  `json:"when"`
	Op     string  `json:"op"`
	Node   algo.ID `json:"node"`
	Target algo.ID `json:"target"`
}

// LoadCases reads a file of cases.
func LoadCases(r io.Reader) ([]Reference, error) {
	var file struct{ Cases []Reference }
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return nil, fmt.Errorf("cases: %w", err)
	}
	return file.Cases, nil
}

// Checks are what only the algorithm's own tests can look at: an expectation
// by name, and what is wrong with what came out.
type Checks map[string]func(*Result, json.RawMessage) error

// A Result is what came out of a case: one trial if it is exact, many if it is
// statistical.
type Result struct {
	Case   *Reference
	Plan   harness.Plan
	Trials []Outcome
}

// Cases runs every conformance case of algorithm id, each as a subtest.
func Cases(t *testing.T, id string, own ...Checks) {
	t.Helper()
	all, err := LoadCases(bytes.NewReader(cases))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range all {
		c := &all[i]
		if c.id() != id {
			continue
		}
		n++
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if err := c.Run(own...); err != nil {
				t.Errorf("%v\nformula: %s\nnote: %s", err, c.Formula, c.Note)
			}
		})
	}
	if n == 0 {
		t.Fatalf("there are no cases for %s", id)
	}
}

func (c *Reference) id() string { return string(c.Kind) + "/" + c.Algorithm }

// Run runs the case and returns all that is not as expected, joined.
func (c *Reference) Run(own ...Checks) error {
	p, err := c.Plan()
	if err != nil {
		return err
	}
	r := Result{Case: c, Plan: p}
	seeds := uint64(1)
	if c.Scenario.Channels != "" {
		seeds = 300
	}
	var errs []error
	for seed := range seeds {
		p.Seed = seed
		o, err := Simulate(p)
		if err != nil {
			return err
		}
		r.Trials = append(r.Trials, o)
		switch {
		case o.Status == check.Error || o.Status == check.Invalid,
			o.Status == check.Violation && p.InModel:
			errs = append(errs, fmt.Errorf("%s: %s", o.Status, o.Reason))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Expect)) {
		f := expectations[name]
		for _, checks := range own {
			if checks[name] != nil {
				f = checks[name]
			}
		}
		if f == nil {
			errs = append(errs, fmt.Errorf("%s: nothing can check this expectation", name))
		} else if err := f(&r, c.Expect[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// Plan is the case as a trial. One that documents a weakness is out of the
// algorithm's model: what it breaks is what is expected.
func (c *Reference) Plan() (harness.Plan, error) {
	var n int
	if err := json.Unmarshal(c.Topology.N, &n); err != nil {
		return harness.Plan{}, fmt.Errorf("topology.n: %s is not a number of processes", c.Topology.N)
	}
	sc, err := c.scenario()
	if err != nil {
		return harness.Plan{}, err
	}
	given, holder, err := c.params()
	if err != nil {
		return harness.Plan{}, err
	}
	p, err := Plan(c.id(), n, sc, given)
	if err != nil {
		return p, err
	}
	p.Leader, p.Holder, p.Crashed = c.Scenario.Leader, holder, c.Scenario.Crashed
	p.InModel = len(c.Scenario.Partition) == 0 && c.Scenario.Channels == "" &&
		!strings.Contains(c.Formula+c.Note, "negative test")
	if strings.Contains(c.Scenario.Channels, "random delays") {
		p.Network.Latency = bus.Uniform(unit/100, unit)
		p.Network.Unordered = strings.Contains(c.Scenario.Channels, "non-FIFO")
	}
	if p.Shape.Kind != "complete" && len(c.Topology.Order) > 0 {
		if err := json.Unmarshal(c.Topology.Order, &p.Shape.Order); err != nil {
			return p, fmt.Errorf("topology.order: %s is no list of processes", c.Topology.Order)
		}
	}
	for _, shape := range []string{"path", "star", "binary"} {
		if p.Shape.Kind == "tree" && strings.Contains(c.Topology.Shape, shape) {
			p.Shape.Tree = shape
		}
	}
	if _, who, found := strings.Cut(c.Topology.Shape, "holder "); found {
		if _, err := fmt.Sscan(who, &p.Holder); err != nil {
			return p, fmt.Errorf("topology.shape: %q: %w", c.Topology.Shape, err)
		}
	}
	if c.Topology.Edges != nil {
		p.Shape = algo.Shape{Kind: "file", Edges: c.Topology.Edges}
	}
	return p, nil
}

// verbs are the operations of cases that have another name here. Those that
// stand in neither list are the algorithm's own.
var verbs = map[string]string{"start": harness.DoElect}

func (c *Reference) scenario() (sc harness.Scenario, err error) {
	s := &c.Scenario
	hold := 1.0
	if s.Hold != nil {
		hold = *s.Hold
	}
	sc = harness.Scenario{Kind: harness.Script, Until: times(s.Until), Hold: bus.Constant(times(hold))}
	if s.Workload != "" {
		sc.Kind, sc.Requesters = harness.Sequential, "uniform"
		_, err := fmt.Sscanf(s.Workload,
			"%d sequential requests, node uniform at random (holder included), %d warm-up",
			&sc.Requests, &sc.Warmup)
		sc.Requests += sc.Warmup
		return sc, err
	}
	if s.Events == nil && s.Channels != "" { // only the links matter: everybody asks again and again
		sc.Kind, sc.Requests, sc.Think = harness.Closed, 30, bus.Uniform(0, 2*unit)
		return sc, nil
	}
	if len(s.Partition) > 0 {
		sc.Events = append(sc.Events, harness.Event{Do: harness.DoCut, Groups: s.Partition})
	}
	var events []caseEvent
	if err := json.Unmarshal(s.Events, &events); err != nil {
		return sc, fmt.Errorf("scenario.events: %w", err)
	}
	for _, e := range events {
		to := harness.Event{At: times(e.T), Do: e.Op, Node: e.Node, Target: e.Target}
		if verbs[e.Op] != "" {
			to.Do = verbs[e.Op]
		}
		switch e.When {
		case "":
		case "network quiescent":
			to.After = "quiet"
		case "immediately after its release":
			to.After = "release"
		default:
			return sc, fmt.Errorf("scenario.events: when: %q", e.When)
		}
		sc.Events = append(sc.Events, to)
	}
	return sc, nil
}

func times(units float64) time.Duration { return time.Duration(units * float64(unit)) }

// rules are parameters of cases that say in words what an algorithm does anyway,
// or what stands in another place as well.
var rules = []string{
	"announce", "contact_suspect", "close_rule", "tie", "grant_to_leader", "order", "initial_last",
	"initial_forks", "contact", "rank", "cs_duration",
}

// params turns the case's parameters into the plugin's: a plain number for a
// duration is in time units.
func (c *Reference) params() (given map[string]any, holder algo.ID, err error) {
	alg, err := algo.Lookup(c.id())
	if err != nil {
		return nil, 0, err
	}
	given, holder = map[string]any{}, c.Scenario.TokenAt
	all := maps.Clone(c.Params)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, c.Scenario.Params)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		i := slices.IndexFunc(alg.Spec.Params, func(p algo.Param) bool { return p.Name == name })
		switch number, ok := all[name].(float64); {
		case i >= 0:
			if given[name], err = value(alg.Spec.Params[i].Type, all[name]); err != nil {
				return nil, 0, fmt.Errorf("parameter %s: %w", name, err)
			}
		case name == "initial_token" && ok:
			holder = algo.ID(number)
		case !slices.Contains(rules, name):
			return nil, 0, fmt.Errorf("parameter %s is not one of %s", name, c.id())
		}
	}
	return given, holder, nil
}

func value(t algo.ParamType, v any) (any, error) {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = value(t, v[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case float64:
		switch t {
		case algo.Duration:
			return times(v), nil
		case algo.Int:
			return int64(v), nil
		}
		return v, nil
	case string:
		var share float64
		if t != algo.Duration {
			return v, nil
		}
		if _, err := fmt.Sscanf(v, "%g x maximum one-way delay", &share); err != nil {
			return nil, fmt.Errorf("%q is not understood", v)
		}
		return times(share), nil
	}
	return v, nil
}

// only is the one trial of an exact case.
func (r *Result) only() *Outcome { return &r.Trials[0] }

// beliefs is whom each live process names in the end.
func (r *Result) beliefs(o *Outcome) map[algo.ID]algo.ID {
	out := map[algo.ID]algo.ID{}
	for i := range r.Plan.Nodes {
		if p := algo.ID(i + 1); !slices.Contains(r.Plan.Crashed, p) {
			out[p] = r.Plan.Leader
		}
	}
	for _, rec := range o.Trace {
		switch p := algo.ID(rec.Process); {
		case rec.Type == trace.Crash:
			delete(out, p)
		case rec.Type == trace.Up && rec.Incarnation > 0:
			out[p] = algo.None
		case rec.Type == trace.Elected:
			out[p] = algo.ID(rec.Peer)
		}
	}
	return out
}
