package harness

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
)

// Live is what the algorithm promises of leaders, and how long one may then be missing after
// anything has changed: the time in which a detector notices that, if one is needed, and the
// time-outs of the promise. 0: it promises nothing.
func (p *Plan) Live(s *algo.Spec) (algo.Liveness, time.Duration) {
	l := s.LiveOf(p.Nodes, p.Params)
	if l.Under == algo.Unpromised {
		return l, 0
	}
	return l, p.noticed(s, l)
}

// noticed is how long the time-outs of l take, once a detector has noticed that they have to,
// if one is needed.
func (p *Plan) noticed(s *algo.Spec, l algo.Liveness) time.Duration {
	d, _ := p.Network.Bound()
	within := l.Within(p.Params, d)
	if s.Needs.Detector != algo.NoDetector {
		within += p.Detector.Bound(d)
	}
	return within
}

// Recovers is how long an outage lasts at most as a rule, whatever is promised. One that has
// lasted longer when the trial ends counts as endless.
func (p *Plan) Recovers(s *algo.Spec) time.Duration {
	return p.noticed(s, algo.Liveness{Timeouts: patience})
}

// Endless is Recovers for the algorithm of p; 0: it elects no process.
func (p *Plan) Endless() time.Duration {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil || alg.Problem != algo.Election {
		return 0
	}
	return p.Recovers(&alg.Spec)
}

// patience is how many of the longest time-outs an election is over in as a rule.
const patience = 10

// unconnected says that for longer than an election takes the links that are left are enough
// for a leader, and less than the algorithm promises one under; cause is what cuts them.
// It knows of cuts at fixed instants. Nil: it is not so, or no cut is survived at all.
func (p *Plan) unconnected(s *algo.Spec, cause string) []string {
	promise, _ := p.Live(s)
	if promise.Under == algo.Unpromised || cause == "" || !s.Survives.Partition {
		return nil
	}
	d, _ := p.Network.Bound()
	within := algo.Liveness{Timeouts: patience}.Within(p.Params, d)
	cuts, instants := p.cuts()
	majority := s.Service != algo.Agreed
	for i, from := range instants {
		to := p.ends()
		if i+1 < len(instants) && (to == 0 || instants[i+1] < to) {
			to = instants[i+1]
		}
		link := func(a, b algo.ID) bool {
			return !slices.Contains(p.Crashed, a) && !slices.Contains(p.Crashed, b) &&
				!cuts.Severed(uint32(a), uint32(b), from, from)
		}
		if to-from > within && (!majority || algo.QuorumConnected.Holds(p.Nodes, true, link)) &&
			!promise.Under.Holds(p.Nodes, majority, link) {
			return []string{fmt.Sprintf("promises a leader while %s, and from %v to %v that is not so (%s)",
				promise.Under, from, to, cause)}
		}
	}
	return nil
}

// ends is when the trial ends at the latest, as far as the scenario says so; 0: it does not.
func (p *Plan) ends() time.Duration {
	return p.Scenario.Does().Ends()
}

// cuts is what is cut at fixed instants, and the instants at which that changes.
func (p *Plan) cuts() (c link.Cuts, instants []time.Duration) {
	cut := func(e *Event) {
		if e.Do != DoCut && e.Do != DoHeal || e.On != "" || e.After != "" || e.Again() {
			return
		}
		for _, change := range e.Instructions(nil, foreseen{p}, e.At) {
			_, effect := change.Network(change.At)
			c.Add(*effect.Change)
			instants = append(instants, change.At)
		}
	}
	for e := range p.Timeline() {
		cut(e)
	}
	for _, e := range p.Scenario.Does().Happens(p, p.Scenario.Settle()) {
		cut(&e)
	}
	slices.Sort(instants)
	return c, slices.Compact(instants)
}

// foreseen is the situation that a plan foresees, where what matters is how the network falls
// apart and not which processes these are: the last process leads, and nobody is down.
type foreseen struct{ p *Plan }

func (f foreseen) Peers() []algo.ID {
	peers := make([]algo.ID, f.p.Nodes)
	for i := range peers {
		peers[i] = algo.ID(i + 1)
	}
	return peers
}

func (f foreseen) Up(algo.ID) bool     { return true }
func (f foreseen) Paused(algo.ID) bool { return false }
func (f foreseen) Inside(algo.ID) bool { return false }
func (f foreseen) Servers() int        { return f.p.Servers }
func (f foreseen) Leader() algo.ID     { return cmp.Or(f.p.Leader, algo.ID(f.p.Nodes)) }
func (f foreseen) Holder() algo.ID     { return f.p.Holder }
func (f foreseen) Dice() *rand.Rand    { return rand.New(rand.NewPCG(f.p.Seed, 0)) }
