package explore

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A Schedule is all that decides a simulated trial: how many processes there are,
// what their applications ask for, what is done to processes and links, how long
// messages take, and the seed of what is left to chance. It says nothing that a
// script cannot say, and a script that says the same leads to the same trial.
type Schedule struct {
	Algorithm   *algo.Algorithm
	Params      map[string]any // as given; the others follow from the latency
	Nodes       int
	Shape       algo.Shape
	Leader      algo.ID // settled at the start: the greatest ID; None: nobody
	Holder      algo.ID // of the token; None: the least ID
	Latency     link.Latency
	Unordered   bool
	Duplication float64
	Detector    harness.Detector
	Hold        link.Latency
	Events      []harness.Event // sorted by instant; their only trigger is an instant
	Seed        uint64          // of the experiment of which this is the one trial
	Until       time.Duration   // the end of what would go on without end; 0: the schedule ends by itself
	Limit       time.Duration   // what has not come to an end by then never does
}

// few is for how many more events a copy has room.
const few = 3

// clone is a copy of s of which any part may be changed.
func (s *Schedule) clone() *Schedule {
	c := *s
	c.Params = maps.Clone(s.Params)
	c.Events = append(make([]harness.Event, 0, len(s.Events)+few), s.Events...)
	return &c
}

// Plan is the plan of the trial, as pkg/experiment makes it of the script.
func (s *Schedule) Plan() (harness.Plan, error) {
	alg := s.Algorithm
	p := harness.Plan{
		Trial: "explore", Algorithm: alg.ID, Label: alg.Spec.Name, Nodes: s.Nodes, Shape: s.Shape,
		Network: link.Network{
			Latency: s.Latency, Unordered: s.Unordered, Duplication: s.Duplication,
		},
		Detector: s.Detector, Leader: s.Leader, Holder: s.Holder, TimeLimit: s.Limit,
		Scenario: harness.Scenario{Plot: &harness.Script{Hold: s.Hold, Events: s.Events, Until: s.Until}},
		Seed:     harness.Derive(s.Seed, "trial", 1),
	}
	params, errs := alg.Spec.Resolve(s.Params, s.network())
	if len(errs) > 0 {
		return p, errs[0]
	}
	p.Params = params
	return p, nil
}

// network is what the defaults of parameters may look at.
func (s *Schedule) network() algo.Network { return harness.Known(s.Nodes, &s.Latency, &s.Hold) }

// params are all of them, the defaults too.
func (s *Schedule) params() algo.Params {
	params, _ := s.Algorithm.Spec.Resolve(s.Params, s.network())
	return params
}

// within says whether nothing happens in s that the algorithm does not survive.
// What is wrong with the parameters that were given does not matter.
func (s *Schedule) within() bool {
	p, err := s.Plan()
	if err != nil {
		return false
	}
	faults, _ := p.Beyond()
	return len(faults) == 0
}

// last is when the last event is over.
func (s *Schedule) last() (at time.Duration) {
	for i := range s.Events {
		at = max(at, over(&s.Events[i]))
	}
	return at
}

// tidy sorts the events and leaves time for an end behind them: much more than
// any time-out that was waited for, and any message on its way. What goes on for
// ever ends then, and so does what is not promised to end.
func (s *Schedule) tidy() {
	slices.SortStableFunc(s.Events, func(a, b harness.Event) int { return cmp.Compare(a.At, b.At) })
	d, hold := s.network().Latency, s.Hold.Average()
	requests := time.Duration(0)
	for i := range s.Events {
		if e := &s.Events[i]; e.Do == harness.DoRequest {
			requests += time.Duration(times(e))
		}
	}
	units, ends := time.Duration(200), check.PromisesEnd(s.Algorithm)
	if !ends {
		units, requests = 20, 0
	}
	calm := units*s.unit() + requests*(2*hold+time.Duration(20*s.Nodes)*d)
	end := (s.last() + calm).Truncate(time.Millisecond) + time.Millisecond
	s.Limit, s.Until = (end + 10*time.Second).Truncate(time.Second), 0
	if !ends {
		s.Limit = end
	}
	if !ends && s.Algorithm.Spec.Perpetual {
		s.Until = end
	}
}

// asks says whether something happens that has an end to come to. A process that is to find a
// leader must be told so, by an application or a detector, and live on. Requests
// need no such care, since those of the dead do not count.
func (s *Schedule) asks() bool {
	if len(s.Events) == 0 || s.Algorithm.Problem != algo.Election || s.Leader != algo.None {
		return len(s.Events) > 0
	}
	return slices.ContainsFunc(s.Events, func(e harness.Event) bool {
		return e.Do == harness.DoElect && !slices.ContainsFunc(s.Events, func(c harness.Event) bool {
			return c.Do == harness.DoCrash && c.Node == e.Node && (c.For == 0 || c.At+c.For > e.At)
		})
	})
}

// unit is the time in which an algorithm thinks: its longest time-out, or what a
// few messages take.
func (s *Schedule) unit() time.Duration {
	return max(4*s.network().Latency, min(s.params().Timeout(), time.Minute))
}

// without is s without process p; those above it move down. Nil: it cannot be
// done.
func (s *Schedule) without(p algo.ID) *Schedule {
	needs := s.Algorithm.Spec.Needs.Nodes
	if s.Nodes < 2 || needs != nil && needs(s.Nodes-1) != nil {
		return nil
	}
	out := s.clone()
	out.Nodes--
	for name, v := range out.Params {
		if list, ok := v.([]any); ok && len(list) == s.Nodes {
			out.Params[name] = slices.Delete(slices.Clone(list), int(p)-1, int(p))
		}
	}
	down := func(q algo.ID) algo.ID {
		if q > p {
			q--
		}
		return q
	}
	out.Shape.Order = nil
	for _, q := range s.Shape.Order {
		if q != p {
			out.Shape.Order = append(out.Shape.Order, down(q))
		}
	}
	if s.Holder == p {
		out.Holder = algo.None
	}
	out.Holder = down(out.Holder)
	out.Leader = min(s.Leader, algo.ID(out.Nodes))
	out.Events = nil
	for _, e := range s.Events {
		if e.Node == p {
			continue
		}
		e.Node = down(e.Node)
		groups, links := e.Groups, e.Links
		e.Groups, e.Links = nil, nil
		for _, g := range groups {
			var side []uint32
			for _, q := range g {
				if q != uint32(p) {
					side = append(side, uint32(down(algo.ID(q))))
				}
			}
			if len(side) > 0 {
				e.Groups = append(e.Groups, side)
			}
		}
		for _, l := range links {
			if l[0] != uint32(p) && l[1] != uint32(p) {
				e.Links = append(e.Links,
					[2]uint32{uint32(down(algo.ID(l[0]))), uint32(down(algo.ID(l[1])))})
			}
		}
		if (groups != nil || links != nil) && e.Groups == nil && e.Links == nil {
			continue
		}
		out.Events = append(out.Events, e)
	}
	return out
}

// Unseen says whether links are cut in a way that amounts to the loss of messages:
// too shortly for who is behind them to be missed, in one direction, or one cut
// upon the other. A process that does not survive loss then promises safety, and no more.
func (s *Schedule) Unseen() bool {
	if s.Algorithm.Spec.Survives.Loss {
		return false
	}
	least, healed := 2*s.Detector.Bound(s.unit()), time.Duration(0)
	for _, e := range s.Events {
		switch {
		case e.Do != harness.DoCut:
			continue
		case e.For < least, len(e.Links) > 0, healed > 0 && e.At < healed+least:
			return true
		}
		healed = e.At + e.For
	}
	return false
}

// survivor is a process that is up in the end; the last one, if none is.
func (s *Schedule) survivor() algo.ID {
	for p := algo.ID(1); int(p) < s.Nodes; p++ {
		if !slices.ContainsFunc(s.Events, func(e harness.Event) bool {
			return e.Do == harness.DoCrash && e.Node == p
		}) {
			return p
		}
	}
	return algo.ID(s.Nodes)
}
