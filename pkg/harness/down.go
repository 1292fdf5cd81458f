package harness

import (
	"cmp"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
)

// A Roll counts how many processes are down at once: those of which a plan foresees it, or those of
// which the records of a trial show it. Instants must not decrease. What happens at one instant
// counts together: if one process returns as another crashes, they are not down at once.
type Roll struct {
	down map[algo.ID]bool
	now  time.Duration
	most int
	when time.Duration
}

// Elapse has the instant at come, and says whether it is later than all before.
func (r *Roll) Elapse(at time.Duration) bool {
	if at <= r.now {
		return false
	}
	r.Most()
	r.now = at
	return true
}

// Set says whether p is down from the instant at on.
func (r *Roll) Set(at time.Duration, p algo.ID, down bool) {
	r.Elapse(at)
	if r.down == nil {
		r.down = map[algo.ID]bool{}
	}
	if down {
		r.down[p] = true
	} else {
		delete(r.down, p)
	}
}

// Most is the greatest number of processes that have been down at once, and since when.
func (r *Roll) Most() (most int, when time.Duration) {
	if len(r.down) > r.most {
		r.most, r.when = len(r.down), r.now
	}
	return r.most, r.when
}

// down is the greatest number of processes that the plan takes down at once.
//
// What happens at fixed instants is counted from the crash to the return. A process that is chosen in the
// course of the trial counts as a process of its own. What waits for a trigger counts from its
// earliest instant on, once if it is undone after a while: whether that was in time for the next, the
// records show. A rate takes down as many as it may, at any time, and leaves room for one more where
// a process that is up again has to learn from the others what it forgot.
//
// By the model of an algorithm that does not survive recovery nobody comes back. Who stands
// still and is never resumed is as good as crashed.
func (p *Plan) down(s *algo.Spec) int {
	f := foresight{
		plan: p, events: slices.Concat(p.Scenario.Does().Lines(), p.Faults.Events),
		stay: !s.Survives.Recovery,
	}
	for _, q := range p.Crashed {
		f.changes = append(f.changes, change{-1, fault.Restart, true, []algo.ID{q}})
	}
	last := time.Duration(0)
	for i := range f.events {
		e := f.events[i]
		if e.After != "" { // line after line, at the earliest
			last++
			e.At = last
		}
		last = max(last, e.At)
		f.event(&e)
	}
	always := 0
	own := p.Scenario.Does().Happens(p, p.Scenario.Settle())
	for i := range own {
		if kind := fault.Named(own[i].Do); kind.Down != nil && kind.Down(&own[i], own) {
			always += max(len(own[i].Nodes), victims(own[i].Who, p.Nodes))
		}
	}
	if p.Faults.CrashRate > 0 {
		always += p.MostDown()
		if p.Faults.Downtime.Law != nil && s.LiveOf(p.Nodes, p.Params).Learns {
			always++
		}
	}
	return min(f.most()+always, p.Nodes)
}

// A foresight is what a plan foresees of processes that are down. Those that are chosen later have
// numbers above all others.
type foresight struct {
	plan    *Plan
	events  []Event
	stay    bool // nobody comes back
	chosen  int
	changes []change
}

// A change has processes go down, or come back if it is what brings them back.
type change struct {
	at   time.Duration
	undo string // what brings them back
	down bool
	who  []algo.ID // nil: all
}

// event adds what e changes.
func (f *foresight) event(e *Event) {
	kind, known := fault.Named(e.Do), e.On == "" && e.Rate == 0
	if kind == nil {
		return
	}
	who := e.Nodes
	if e.Node != algo.None {
		who = []algo.ID{e.Node}
	}
	if kind.Down == nil {
		if known && !f.stay {
			f.each(e, func(_ int, at time.Duration) {
				f.changes = append(f.changes, change{at, e.Do, false, who})
			})
		}
		return
	}
	if !kind.Down(e, f.events) {
		return
	}
	groups := [][]algo.ID{who}
	if e.Who != "" {
		groups = f.choose(min(strikes(e), f.plan.Nodes), victims(e.Who, f.plan.Nodes))
	}
	down := func(at time.Duration, who []algo.ID) {
		f.changes = append(f.changes, change{at, kind.Undo, true, who})
	}
	if !known {
		for _, who := range groups {
			down(e.At, who)
		}
		return
	}
	f.each(e, func(k int, at time.Duration) {
		who := groups[k%len(groups)]
		down(at, who)
		if e.For > 0 && !f.stay {
			f.changes = append(f.changes, change{at + e.For, kind.Undo, false, who})
		}
	})
}

// choose makes groups of processes that are chosen later.
func (f *foresight) choose(groups, size int) [][]algo.ID {
	out := make([][]algo.ID, groups)
	for i := range out {
		for range size {
			f.chosen++
			out[i] = append(out[i], algo.ID(f.plan.Nodes+f.chosen))
		}
	}
	return out
}

// each is every instant of an event that happens at fixed ones, up to the end of the trial.
func (f *foresight) each(e *Event, do func(k int, at time.Duration)) {
	if e.Every == 0 {
		do(0, e.At)
		return
	}
	at, end := cmp.Or(e.At, e.Every), cmp.Or(f.plan.ends(), f.plan.TimeLimit)
	for k := 0; k < cmp.Or(e.Times, maxForeseen) && at <= end; k++ {
		do(k, at)
		at += e.Every
	}
}

// most is how many are down at once.
func (f *foresight) most() int {
	slices.SortStableFunc(f.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var roll Roll
	undo := map[algo.ID]string{}
	for _, c := range f.changes {
		for _, p := range c.who {
			switch {
			case c.down:
				undo[p] = c.undo
				roll.Set(c.at, p, true)
			case undo[p] == c.undo:
				roll.Set(c.at, p, false)
			}
		}
		if c.who != nil {
			continue
		}
		for p, by := range undo {
			if by == c.undo {
				roll.Set(c.at, p, false)
			}
		}
	}
	most, _ := roll.Most()
	return most
}
