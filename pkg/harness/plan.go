// Package harness is what surrounds the processes of an algorithm, the same in
// simulation and on real processes: the plan of a trial, the application that
// requests the critical section, the failure detector, the coordinator that
// leads a scenario, and the rules by which their events become effects.
//
// It has no clock, no network and no goroutine: the simulator and the host of
// real nodes supply those through Runtime.
package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A Plan is all that there is to know about one trial before it starts. It
// travels as JSON to the nodes. Times are offsets from the trial's start.
type Plan struct {
	Trial     string         `json:"trial"`     // token of the trial's subjects on the bus
	Algorithm string         `json:"algorithm"` // ID
	Label     string         `json:"label"`
	Params    map[string]any `json:"params"` // resolved: every parameter of the Spec
	Nodes     int            `json:"nodes"`  // all processes, servers included
	// Servers is how many of the processes, the last ones, are servers of the system that the others are
	// clients of.
	Servers  int          `json:"servers,omitempty"`
	Shape    algo.Shape   `json:"shape"`
	Network  link.Network `json:"network"`
	Detector Detector     `json:"detector"`
	Scenario Scenario     `json:"scenario"`
	Leader   algo.ID      `json:"leader,omitempty"` // settled at the start
	Holder   algo.ID      `json:"holder,omitempty"` // of the token; None: the least ID
	Crashed  []algo.ID    `json:"crashed,omitempty"`
	Hosts    []Host       `json:"hosts,omitempty"` // nil: the experiment names none
	// PerProcess is how many processes share one of the operating system, as goroutines of it;
	// 0: each has its own.
	PerProcess int `json:"per_process,omitempty"`
	// Probe makes the trial a question to the machines: do they bear so many nodes? See Quality.Shares.
	Probe bool `json:"probe,omitempty"`
	// Reuse has a process of the operating system live through one trial after the other.
	Reuse bool `json:"reuse,omitempty"`
	// Reigns has the judge of an election tell who led from when to when: the trials of a run with
	// libraries.
	Reigns bool `json:"reigns,omitempty"`
	// WritesEvery is how often a client beside each process has the leader make a write; 0: none does.
	WritesEvery time.Duration `json:"writes_every,omitempty"`

	Costs     *Costs        `json:"costs,omitempty"` // nil: handling takes no time in simulation
	Faults    Faults        `json:"faults"`
	Seed      uint64        `json:"seed"` // of everything that all algorithms share
	TimeLimit time.Duration `json:"time_limit"`
	InModel   bool          `json:"in_model"`
	// OutOfModel says why not, a reason each.
	OutOfModel []string `json:"out_of_model,omitempty"`
	// Descending turns the order of the deliveries of one instant round, in
	// simulation: the highest sender's come first.
	Descending bool `json:"descending,omitempty"`
}

// A Setup is a plan with all that follows from it worked out.
type Setup struct {
	Plan
	Alg     *algo.Algorithm
	Graph   *algo.Graph
	Params  algo.Params
	Latency time.Duration // d: the largest latency to reckon with
	Virtual bool          // simulated: instants are exact
	plot    Plot          // of the Scenario, as are:
	load    *load
	lasts   time.Duration
	settle  time.Duration
	entries entries
	lastAt  time.Duration // of open load: the last arrival, and whose it is
	lastBy  algo.ID
	// Watch, if not nil, sees every event that a process has handled, and what it
	// asked for.
	Watch func(now time.Duration, m *Process, ev algo.Event, asked []algo.Effect)
	// Handling, if not nil, adds up what the algorithm's handlers cost the simulator.
	Handling *Handling
}

// Clients is how many processes ask for critical sections, or elect a leader: all but the servers.
func (p *Plan) Clients() int { return p.Nodes - p.Servers }

// Serves says whether process id is one of the servers.
func (p *Plan) Serves(id algo.ID) bool { return int(id) > p.Clients() }

// Places is how many processes of one session may be in the critical section at once; 0: any number, or
// there is none.
func (p *Plan) Places() int {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil || alg.Problem != algo.MutualExclusion {
		return 0
	}
	if n := alg.Spec.Room(p.Params).Places; n < math.MaxInt32 {
		return n
	}
	return 0
}

// Setup looks the plan's algorithm up and builds its graph. The plan was
// validated when it was made: an error means that it comes from elsewhere.
func (p *Plan) Setup() (*Setup, error) {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return nil, err
	}
	graph, err := algo.Build(p.Shape, p.Nodes, Derive(p.Seed, "topology"))
	if err != nil {
		return nil, err
	}
	s := &Setup{Plan: *p, Alg: alg, Graph: graph, Params: algo.Params(p.Params)}
	if at := s.Scenario.Does().Settling(); at != nil && *at == 0 {
		s.Scenario.Set("settle", s.LeastSettle())
	}
	s.plot = s.Scenario.Does()
	s.load, s.lasts, s.entries = s.plot.load(), s.plot.Lasts(), s.plot.entries()
	s.settle = s.Scenario.Settle()
	s.Latency, _ = p.Network.Bound()
	s.Network.Seed = Derive(p.Seed, "network")
	s.lastAt, s.lastBy = s.lastArrival()
	return s, nil
}

// Known is what the defaults of parameters may look at.
func (p *Plan) Known() algo.Network { return Known(p.Nodes, &p.Network, p.Scenario.Hold()) }

// Known is what the defaults of parameters may look at. An election has no hold.
func Known(nodes int, network interface {
	Bound() (time.Duration, bool)
	Slowest() time.Duration
}, hold *link.Latency) algo.Network {
	net := algo.Network{Nodes: nodes, Mean: network.Slowest()}
	net.Latency, net.Bounded = network.Bound()
	if hold != nil && hold.Law != nil {
		net.Hold, _ = hold.Bound()
	}
	return net
}

// Cold says whether the scenario begins with what happens to a settled leader, and there is none at the
// start: it waits for the first, whose election is no part of it.
func (s *Setup) Cold() bool {
	return s.Leaderless() && s.plot.Settling() != nil
}

// Leaderless says whether the scenario begins with a leader, and there is none at the start, as of a library:
// the first election is no part of what is measured.
func (s *Setup) Leaderless() bool {
	_, led := s.plot.(interface{ begins() })
	return (led || s.plot.Settling() != nil) && s.Leader == algo.None && s.Alg.Problem == algo.Election
}

// Config is what process id knows at its start. Where a token is handed round in a
// tree, its holder is the root.
func (s *Setup) Config(id algo.ID, incarnation uint32, saved algo.Message) algo.Config {
	c := algo.Config{
		ID: id, Peers: s.Graph.Peers(), Neighbors: s.Graph.Neighbors(id), Ring: s.Graph.Ring,
		Leader: s.Leader, Holder: s.Holder, Incarnation: incarnation, Saved: saved,
		Params: s.Params.Of(id),
	}
	if c.Holder == algo.None {
		c.Holder = c.Peers[0]
	}
	switch {
	case s.Alg.Spec.Needs.Topology.Arbitrary(): // whatever the graph is
		c.Neighbors = s.Graph.Adjacent(id)
		if s.Alg.Spec.Needs.Topology == algo.Weighted {
			c.Weights = s.Graph.Weights(id)
		}
	case s.Alg.Problem == algo.MutualExclusion && s.Graph.Class == algo.Tree:
		c.Neighbors = rooted(s.Graph, id, c.Holder)
	}
	if incarnation > 0 {
		c.Leader = algo.None
	}
	c.LeaderDown = slices.Contains(s.Crashed, c.Leader)
	return c
}

// rooted is the neighbors of id in the tree g, with root for the tree's root: the
// neighbor on the way there (None at root), then the others.
func rooted(g *algo.Graph, id, root algo.ID) []algo.ID {
	own := g.Neighbors(id)
	below := algo.None // of p, on the way from root up to the top of g
	for p := root; p != algo.None; p = g.Neighbors(p)[0] {
		if p == id {
			return append([]algo.ID{below}, slices.DeleteFunc(slices.Clone(own),
				func(q algo.ID) bool { return q == below || q == algo.None })...)
		}
		below = p
	}
	return own
}

// WriteLimit is how long a client waits until its write is acknowledged: a second, and 10 times the longest
// latency.
func (s *Setup) WriteLimit() time.Duration { return time.Second + 10*s.Latency }

// Derive makes the seed of one purpose, and of numbered parts of it, from a
// common one. Seeds stay below 2^53, so that every JSON reader keeps them whole.
func Derive(seed uint64, purpose string, parts ...uint64) uint64 {
	h := seed ^ 0xcbf29ce484222325
	for i := range len(purpose) {
		h = link.Mix(h ^ uint64(purpose[i]))
	}
	for _, p := range parts {
		h = link.Mix(h ^ p)
	}
	return link.Mix(h) >> 11
}

// UnmarshalJSON reads a plan and gives its parameters back the types that the
// Spec declares, which JSON does not know.
func (p *Plan) UnmarshalJSON(b []byte) error {
	type plain Plan
	in := json.NewDecoder(bytes.NewReader(b))
	in.UseNumber() // a float64 does not hold every int64
	if err := in.Decode((*plain)(p)); err != nil {
		return err
	}
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return err
	}
	for _, d := range alg.Spec.Params {
		v, ok := p.Params[d.Name]
		if !ok {
			return fmt.Errorf("plan: parameter %s of %s is missing", d.Name, p.Algorithm)
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for i := range list {
			if list[i], err = typed(d.Type, list[i]); err != nil {
				return fmt.Errorf("plan: parameter %s of %s: %w", d.Name, p.Algorithm, err)
			}
		}
		if !ok {
			p.Params[d.Name] = list[0]
		}
	}
	return nil
}

func typed(t algo.ParamType, v any) (any, error) {
	n, ok := v.(json.Number)
	if !ok {
		return v, nil
	}
	switch t {
	case algo.Int:
		return n.Int64()
	case algo.Duration:
		ns, err := n.Int64()
		return time.Duration(ns), err
	}
	return n.Float64()
}
