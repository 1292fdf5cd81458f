// Package atlas finds out how an elector fares in every small network: each graph with a
// marked leader, as what is left of the network after cuts. A graph is drawn once, whatever
// its vertices are called, and simulated with several seeds, each with processes of its own
// as the vertices.
package atlas

import (
	"context"
	"fmt"
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
				if outcomes[i], err = try(p, &graphs[i/o.Seeds], i%o.Seeds, &o); err != nil {
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
}

func (e *Entry) add(o *outcome) {
	e.Shares = append(e.Shares, o.share)
	e.Worst = max(e.Worst, o.worst)
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
	length := Length * o.TimeOut
	out.Nodes, out.Leader, out.Crashed, out.Faults = g.Vertices, algo.ID(of[0]), nil, harness.Faults{}
	script := &harness.Script{Until: length}
	out.Scenario = harness.Scenario{Plot: script}
	if cuts := g.Cuts(of); len(cuts) > 0 {
		script.Events = []harness.Event{{Do: fault.Cut, Links: cuts}}
	}
	for i, rank := range rng.Perm(g.Vertices) {
		if !o.Lockstep {
			rate := 1 + float64(Apart*(float64(rank)-float64(g.Vertices-1)/2))
			script.Events = append(script.Events, harness.Event{Do: fault.Drift,
				Node: algo.ID(i + 1), Args: fault.Args{Own: &fault.Drifting{Factor: rate}}})
		}
	}
	out.TimeLimit = 2 * length
	return out
}

func try(p *harness.Plan, g *Graph, number int, o *Options) (out outcome, err error) {
	plan := Plan(p, g, number, o)
	setup, err := plan.Setup()
	if err != nil {
		return out, err
	}
	setup.Virtual = true
	judge := check.NewJudge(setup)
	v := judge.Finish(sim.Run(setup, judge))
	switch {
	case v.Status == trace.Failed:
		return out, fmt.Errorf("a trial could not be run: %s", v.Reason)
	case v.Status == trace.Violated && v.Within(&setup.Plan):
		out.broken = v.Reason
	}
	length := Length * o.TimeOut
	half := length / 2
	there := length - half
	for i := range v.Outages {
		x := &v.Outages[i]
		if x.Definition != o.Service.String() {
			continue
		}
		end := x.End
		if end < 0 {
			end = length
		}
		out.worst = max(out.worst, end-x.Begin)
		there -= max(0, end-max(x.Begin, half))
	}
	out.share = float64(there) / float64(length-half)
	return out, nil
}
