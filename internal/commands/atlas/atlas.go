// Package atlas finds out how an elector fares in every small network: each graph with a
// marked leader, as what is left of the network after cuts. A graph is drawn once, whatever
// its vertices are called, and simulated with several seeds, each with processes of its own
// as the vertices.
package atlas

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const (
	// Length is how long a trial is, in time-outs.
	Length = 100
	// Apart is by how much the clocks of processes differ in rate, from one to the next: all of them
	// would suspect the leader at one instant otherwise, as in no network but a simulated one.
	Apart = 0.03
	// Threshold is the share of the second half of a trial that a leader has to be there.
	Threshold = 0.97
)

// A Class is how an elector fares in a graph.
type Class uint8

// The classes.
const (
	Serves Class = iota
	Flaps
	Never
)

// Classes are what they mean.
var Classes = []struct{ Name, Doc string }{
	Serves: {"serves", fmt.Sprintf("a leader is present for %v %% of the second half or more, with every "+
		"seed",
		100*Threshold)},
	Flaps: {"flaps", "anything between"},
	Never: {"never", "no leader is present in the second half, with any seed"},
}

func (c Class) String() string { return Classes[c].Name }

// An Entry is how an elector fares in one graph.
type Entry struct {
	Graph  Graph
	Shares []float64     // of the second half, by seed, for which a leader was there
	Worst  time.Duration // the longest outage of all seeds, of the whole trial
	Broken []string      // promises, in the model
	Healed []Healing     // by seed, where the links come back
}

// A Healing is what happens once the links are back.
type Healing struct {
	Led       bool          // there was a leader at that instant
	Elections int           // outages that ended after it, each with a new leader
	Longest   time.Duration // of the outages, from then on
	Over      bool          // there is a leader in the end
}

// Deposed is in how many trials a leader lost its place although all links were back.
func (e *Entry) Deposed() (n int) {
	for _, h := range e.Healed {
		if h.Led && h.Longest > 0 {
			n++
		}
	}
	return n
}

// AfterHeal is how many elections a trial had after the links were back, on average, and the longest outage
// of all trials from then on.
func (e *Entry) AfterHeal() (elections float64, longest time.Duration) {
	for _, h := range e.Healed {
		elections += float64(h.Elections) / float64(len(e.Healed))
		longest = max(longest, h.Longest)
	}
	return elections, longest
}

// Share is the mean of the shares.
func (e *Entry) Share() (mean float64) {
	for _, s := range e.Shares {
		mean += s
	}
	return mean / float64(len(e.Shares))
}

// Class is how the elector fares.
func (e *Entry) Class() Class {
	switch {
	case slices.Min(e.Shares) >= Threshold:
		return Serves
	case slices.Max(e.Shares) == 0:
		return Never
	}
	return Flaps
}

// Seeds is with how many seeds the elector serves, and never does.
func (e *Entry) Seeds() (serves, never int) {
	for _, s := range e.Shares {
		switch {
		case s >= Threshold:
			serves++
		case s == 0:
			never++
		}
	}
	return serves, never
}

// Count is how many entries are of each class.
func Count(entries []Entry) (n [3]int) {
	for i := range entries {
		n[entries[i].Class()]++
	}
	return n
}

// Options is how an atlas is made.
type Options struct {
	Service algo.Service  // the definition of an outage
	TimeOut time.Duration // the unit of time
	Seeds   int
	Seed    uint64
	Workers int
	// Lockstep has all clocks run alike.
	Lockstep bool
	// Heal has all links come back after Length, and the trial last twice as long.
	Heal bool
	// Run runs a trial of a system; nil: trials are simulated.
	Run func(context.Context, *harness.Plan) (check.Verdict, error)
	// Progress, if not nil, is called with the number of trials done.
	Progress func(done int)
}

// Refuse says why a plan's algorithm has no atlas; nil if it has one.
func Refuse(p *harness.Plan) error {
	alg, err := algo.Lookup(p.Algorithm)
	switch {
	case err != nil:
		return err
	case alg.Problem != algo.Election:
		return fmt.Errorf("%s elects nobody", p.Algorithm)
	case alg.Spec.Needs.Topology != algo.Complete && alg.Spec.Needs.Topology != algo.LogicalRing:
		return fmt.Errorf("%s needs a network of its own (%s), and not what is left of a complete one",
			p.Algorithm, alg.Spec.Needs.Topology)
	}
	return nil
}

// Survey simulates the algorithm of a plan in each of the graphs. The same seed gives the same,
// with any number of workers.
func Survey(ctx context.Context, p *harness.Plan, graphs []Graph, o Options) ([]Entry, error) {
	if err := Refuse(p); err != nil {
		return nil, err
	}
	guard.Ballast()
	entries := make([]Entry, len(graphs))
	outcomes := make([]outcome, len(graphs)*o.Seeds)
	for i := range graphs {
		entries[i].Graph = graphs[i]
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next, done atomic.Int64
	var told sync.Mutex
	var pool sync.WaitGroup
	for range max(o.Workers, 1) {
		pool.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(outcomes) {
					return
				}
				var err error
				if outcomes[i], err = try(ctx, p, &graphs[i/o.Seeds], i%o.Seeds, &o); err != nil {
					stop(fmt.Errorf("%s in %v: %w", p.Algorithm, &graphs[i/o.Seeds], err))
					return
				}
				n := int(done.Add(1))
				if o.Progress != nil {
					told.Lock()
					o.Progress(n)
					told.Unlock()
				}
			}
		})
	}
	pool.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for i := range outcomes {
		entries[i/o.Seeds].add(&outcomes[i])
	}
	return entries, nil
}

// An outcome is that of one trial.
type outcome struct {
	share  float64
	worst  time.Duration
	broken string
	healed *Healing
}

func (e *Entry) add(o *outcome) {
	e.Shares = append(e.Shares, o.share)
	e.Worst = max(e.Worst, o.worst)
	if o.healed != nil {
		e.Healed = append(e.Healed, *o.healed)
	}
	if o.broken != "" && !slices.Contains(e.Broken, o.broken) {
		e.Broken = append(e.Broken, o.broken)
	}
}

// Plan is that of the trial with one of the seeds: the process of each vertex is drawn, the vertex 1
// leads, and all links but those of the graph are cut from the start. Whose clock is the fastest
// is drawn as well.
func Plan(p *harness.Plan, g *Graph, number int, o *Options) harness.Plan {
	out := *p
	out.Seed = harness.Derive(o.Seed, "atlas", uint64(number))
	rng := rand.New(rand.NewPCG(out.Seed, 0))
	of := make([]uint32, g.Vertices)
	for i, v := range rng.Perm(g.Vertices) {
		of[i] = uint32(v + 1)
	}
	start, length := o.start(), Length*o.TimeOut
	out.Nodes, out.Leader, out.Crashed, out.Faults = g.Vertices, algo.ID(of[0]), nil, harness.Faults{}
	script := &harness.Script{Until: start + length}
	out.Scenario = harness.Scenario{Plot: script}
	if cuts := g.Cuts(of); len(cuts) > 0 {
		script.Events = []harness.Event{{At: start, Do: fault.Cut, Links: cuts}}
	}
	if o.Heal {
		script.Until += length
		script.Events = append(script.Events, harness.Event{At: start + length, Do: fault.Heal})
	}
	for i, rank := range rng.Perm(g.Vertices) {
		if !o.Lockstep && o.Run == nil {
			rate := 1 + float64(Apart*(float64(rank)-float64(g.Vertices-1)/2))
			script.Events = append(script.Events, harness.Event{Do: fault.Drift,
				Node: algo.ID(i + 1), Args: fault.Args{Own: &fault.Drifting{Factor: rate}}})
		}
	}
	out.TimeLimit = 2 * length
	if script.Until >= out.TimeLimit {
		out.TimeLimit = 2 * script.Until
	}
	if o.Run != nil { // it elects its first leader, which then hands over to this one
		out.Params = maps.Clone(out.Params)
		out.Params[First], out.Leader = int64(of[0]), algo.None
	}
	return out
}

// First is the parameter of a system that says which process leads at the start.
const First = "first"

// start is when links are cut: of a system later, so that all have seen the leader.
func (o *Options) start() time.Duration {
	if o.Run != nil {
		return settled * o.TimeOut
	}
	return 0
}

// settled is how many time-outs the first leader of a system leads before anything happens.
const settled = 10

func try(ctx context.Context, p *harness.Plan, g *Graph, number int, o *Options) (out outcome, err error) {
	plan := Plan(p, g, number, o)
	run := o.Run
	if run == nil {
		run = simulate
	}
	v, err := run(ctx, &plan)
	switch {
	case err != nil:
		return out, err
	case v.Status == trace.Failed || v.Status == trace.Invalid:
		return out, fmt.Errorf("a trial could not be run: %s", v.Reason)
	case v.Status == trace.Violated && v.Within(&plan):
		out.broken = v.Reason
	}
	begin, length := o.start(), Length*o.TimeOut
	end := begin + length
	half := begin + length/2
	there := end - half
	for x := range outages(&v, o.Service, plan.TimeLimit) {
		out.worst = max(out.worst, min(x.End, end)-max(x.Begin, begin))
		there -= max(0, min(x.End, end)-max(x.Begin, half))
	}
	out.share = float64(there) / float64(end-half)
	if o.Heal {
		out.healed = healing(&v, o.Service, end, end+length)
	}
	return out, nil
}

// outages are those of a definition. One that is not over ends at the limit.
func outages(v *check.Verdict, by algo.Service, limit time.Duration) iter.Seq[trace.Outage] {
	return func(yield func(trace.Outage) bool) {
		for _, x := range v.Outages {
			if x.Definition != by.String() {
				continue
			}
			if x.End < 0 {
				x.End = limit
			}
			if !yield(x) {
				return
			}
		}
	}
}

// healing is what happened from when the links were back to the end.
func healing(v *check.Verdict, by algo.Service, back, end time.Duration) *Healing {
	h := &Healing{Led: true, Over: true}
	for x := range outages(v, by, end+1) {
		if x.End <= back {
			continue
		}
		h.Led = h.Led && x.Begin >= back
		h.Longest = max(h.Longest, min(x.End, end)-max(x.Begin, back))
		if x.End <= end {
			h.Elections++
		} else {
			h.Over = false
		}
	}
	return h
}

func simulate(_ context.Context, plan *harness.Plan) (check.Verdict, error) {
	setup, err := plan.Setup()
	if err != nil {
		return check.Verdict{}, err
	}
	setup.Virtual = true
	judge := check.NewJudge(setup)
	return judge.Finish(sim.Run(setup, judge)), nil
}
