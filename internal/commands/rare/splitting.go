// Package rare estimates how likely an outage is that is too rare to wait for: by multilevel
// splitting of simulated trials.
//
// A path is a trial that is followed by its height, the importance function. Levels are
// heights. From the paths that reach a level as many new ones begin as the stage before
// had, and each continues with draws of its own (fixed effort: Garvels 2000; L'Ecuyer, Demers
// and Tuffin, ACM TOMACS 17(2), 2007). With levels that were fixed before, the product of the
// shares is unbiased, whatever the levels and the height are; these only decide how much it
// varies. A pilot finds the levels (Cérou and Guyader, Stoch. Anal. Appl. 25, 2007), and its paths are not
// counted. Independent replications of it all give the interval.
//
// The state of a process cannot be copied in general. So a path begins at a level by a replay:
// the same draws up to the record at which the level was reached, and others from there on.
package rare

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A Switch is the record of a trial from which on everything is drawn from Seed.
type Switch struct{ Record, Seed uint64 }

// A Branch is all draws of a path: the first Switch, at record 0, has the trial's seed.
type Branch []Switch

// A Peak is a record at which a path is higher than ever before.
type Peak struct {
	Record uint64
	Height float64
}

// A Path is what one came to: it reached the height that was asked for, and was left
// there, or has ended below.
type Path struct {
	Top    Peak
	Peaks  []Peak  // all of them, if they are asked for
	Value  float64 // of a path that has ended: what is measured
	Events uint64  // that it took to simulate it
	Broken string  // a promise, within the model; "": none
}

// A Trial follows the path of a branch until it is as high as that, or ends.
type Trial func(b Branch, until float64, peaks bool) (Path, error)

// Options is how much is done.
type Options struct {
	// Beyond is which values the probability is asked of: that what is measured is greater.
	// Sorted; a path whose height is infinite is beyond all of them.
	Beyond       []float64
	Paths        int // of a stage
	Replications int
	Seed         uint64
	Workers      int
	// Levels bounds the levels of a pilot, whose paths get beyond the bounds with a probability of at least
	// about keep to the power of it. If none does, nothing is estimated: see Result.Below. 0: there are many.
	Levels   int
	Progress func(replications int) // nil: not reported
}

// An Estimate is the probability that the value is beyond one bound.
type Estimate struct {
	Beyond      float64
	Probability float64
	Low, High   float64 // of 95 %; not a number if no replication has reached it
	Reached     int     // replications that did
	Deviation   float64 // of a replication
	Crude       float64 // trials of plain simulation with the same standard error
	Gain        float64 // variance of plain simulation at the same work, by this one's
}

// Spread is the deviation of a replication as a part of the probability; NaN if that is 0.
func (e *Estimate) Spread() float64 { return e.Deviation / e.Probability }

// MostSpread is up to which Spread the intervals of few replications hold what they promise, in
// simulation: docs/evidence/coverage.md has the figures.
const MostSpread = 1

// A Result is what a splitting came to.
type Result struct {
	Height    int // which of the trials were followed
	Levels    []float64
	Estimates []Estimate
	Paths     uint64  // simulated, those of the pilot included
	Events    uint64  // likewise
	PerTrial  float64 // events of a whole trial
	Broken    []string
	Violated  int // paths that broke a promise
	// Below is an upper bound of the probability, of 95 % at each level, where Options.Levels are bounded
	// and no path of the pilot got beyond the bounds. Else it is 0. Top is how high a path got, and Stuck
	// says that none got above the last level.
	Below, Top float64
	Stuck      bool
}

// Confidence is that of the intervals.
const Confidence = 0.95

// keep is the share of a stage that the pilot has reach the next level.
const keep = 0.2

// mostLevels bounds what a pilot does about a height that creeps.
const mostLevels = 1000

// Split estimates. The trials are those of several heights: the first is taken whose pilot gets
// beyond all bounds. The result is the same for any number of workers.
func Split(ctx context.Context, trials []Trial, o Options) (*Result, error) {
	r := &Result{}
	for i, trial := range trials {
		pilot := &replication{ctx: ctx, trial: trial, o: &o, result: r,
			seed: harness.Derive(o.Seed, "rare pilot", uint64(i))}
		levels, beyond, err := pilot.levels(o.Levels > 0)
		if err != nil {
			return nil, err
		}
		if i == 0 || beyond {
			r.Levels, r.Height = levels, i
			r.PerTrial = float64(pilot.first) / float64(o.Paths)
		}
		if beyond {
			break
		}
	}
	if r.Below > 0 {
		for _, beyond := range o.Beyond {
			r.Estimates = append(r.Estimates, Estimate{Beyond: beyond, Low: math.NaN(), High: math.NaN()})
		}
		return r, nil
	}
	all, err := replicate(ctx, trials[r.Height], &o, r)
	if err != nil {
		return nil, err
	}
	for i, beyond := range o.Beyond {
		values := make([]float64, len(all))
		for k := range all {
			values[k] = all[k][i]
		}
		r.Estimates = append(r.Estimates, estimate(beyond, values, r))
	}
	return r, nil
}

// replicate is what each replication estimates.
func replicate(ctx context.Context, trial Trial, o *Options, r *Result) ([][]float64, error) {
	var (
		pool  sync.WaitGroup
		mu    sync.Mutex
		first error
		next  int
		done  int
		out   = make([][]float64, o.Replications)
		parts = make([]Result, o.Replications)
	)
	take := func() (k int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		k, next = next, next+1
		return k, k < o.Replications && first == nil
	}
	for range max(o.Workers, 1) {
		pool.Go(func() {
			for {
				k, ok := take()
				if !ok {
					return
				}
				one := &replication{ctx: ctx, trial: trial, o: o,
					seed: harness.Derive(o.Seed, "rare", uint64(k)), result: &parts[k]}
				values, err := one.estimate(r.Levels)
				mu.Lock()
				out[k] = values
				first = cmp.Or(first, err)
				if done++; o.Progress != nil && first == nil {
					o.Progress(done)
				}
				mu.Unlock()
			}
		})
	}
	pool.Wait()
	for i := range parts {
		r.add(&parts[i])
	}
	return out, first
}

// mostBroken bounds how many broken promises are described in words.
const mostBroken = 10

func (r *Result) add(part *Result) {
	r.Paths += part.Paths
	r.Events += part.Events
	r.Violated += part.Violated
	r.Broken = append(r.Broken, part.Broken...)
	r.Broken = r.Broken[:min(len(r.Broken), mostBroken)]
}

// estimate makes one of the replications' values.
func estimate(beyond float64, values []float64, r *Result) Estimate {
	e := Estimate{Beyond: beyond, Low: math.NaN(), High: math.NaN()}
	for _, v := range values {
		if v > 0 {
			e.Reached++
		}
	}
	e.Probability, e.Deviation, e.Low, e.High = stats.LogMeanInterval(values, Confidence)
	if variance := e.Deviation * e.Deviation / float64(len(values)); variance > 0 {
		e.Crude = e.Probability * (1 - e.Probability) / variance
		e.Gain = e.Crude * r.PerTrial / float64(r.Events)
	}
	return e
}

// A replication is one splitting, from the start to the last level.
type replication struct {
	ctx    context.Context
	trial  Trial
	o      *Options
	seed   uint64
	stage  uint64
	first  uint64 // events of the paths that began at the start
	result *Result
}

// An entrance is a path where it has reached a level.
type entrance struct {
	branch Branch // without what is drawn from here on
	top    Peak
	level  float64
}

// run follows a path that goes on from an entrance with draws of its own. The first
// stage has none: its trials begin.
func (s *replication) run(from *entrance, path int, until float64, peaks bool) (Branch, Path, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, Path{}, context.Cause(s.ctx)
	}
	b := append(slices.Clone(from.branch), Switch{from.top.Record,
		harness.Derive(s.seed, "path", s.stage, uint64(path))})
	p, err := s.trial(b, until, peaks)
	s.result.Paths++
	s.result.Events += p.Events
	if s.stage == 0 {
		s.first += p.Events
	}
	if p.Broken != "" {
		s.result.Violated++
		s.result.Broken = append(s.result.Broken, p.Broken)[:min(len(s.result.Broken)+1, mostBroken)]
	}
	return b, p, err
}

// deal says from which entrance each path of a stage begins: from each equally often, but
// for a rest that is drawn.
func (s *replication) deal(entrances int) []int {
	out := make([]int, s.o.Paths)
	order := rand.New(rand.NewPCG(harness.Derive(s.seed, "deal", s.stage), 0)).Perm(entrances)
	for i := range out {
		out[i] = order[i%entrances]
	}
	return out
}

// estimate is the estimate of each bound. A path that ended in a stage stands for as much of
// the whole as the stages before have left, by the number of its paths.
func (s *replication) estimate(levels []float64) ([]float64, error) {
	out := make([]float64, len(s.o.Beyond))
	from, weight := []entrance{{}}, 1.0
	for stage := 0; stage <= len(levels) && len(from) > 0; stage++ {
		s.stage = uint64(stage)
		until := math.Inf(1)
		if stage < len(levels) {
			until = levels[stage]
		}
		var reached []entrance
		for i, k := range s.deal(len(from)) {
			e := from[k]
			if e.top.Height < until {
				b, p, err := s.run(&from[k], i, until, false)
				if err != nil {
					return nil, err
				}
				if p.Top.Height < until {
					s.count(out, p.Value, weight)
					continue
				}
				e = entrance{b, p.Top, until}
			}
			reached = append(reached, e)
		}
		weight *= float64(len(reached)) / float64(s.o.Paths)
		from = reached
	}
	if len(from) > 0 { // they are beyond all
		for i := range out {
			out[i] += weight
		}
	}
	return out, nil
}

// count adds a path that has ended with a value.
func (s *replication) count(out []float64, value, weight float64) {
	for i, beyond := range s.o.Beyond {
		if value > beyond {
			out[i] += weight / float64(s.o.Paths)
		}
	}
}

// levels are those that a share of the pilot's paths reach from the one before; beyond says
// whether these lead beyond all bounds. If they do not, bound has the result say what is known.
func (s *replication) levels(bound bool) (levels []float64, beyond bool, err error) {
	from, below := []entrance{{}}, 1.0
	for len(levels) < cmp.Or(s.o.Levels, mostLevels) {
		s.stage = uint64(len(levels))
		branches, paths := make([]Branch, s.o.Paths), make([]Path, s.o.Paths)
		for i, k := range s.deal(len(from)) {
			branches[i], paths[i], err = s.run(&from[k], i, math.Inf(1), true)
			if err != nil {
				return nil, false, err
			}
		}
		next := nextLevel(paths, from[0].level)
		if math.IsInf(next, 1) {
			beyond = slices.ContainsFunc(paths, func(p Path) bool { return p.Top.Height >= next })
			if !beyond && bound {
				s.result.Below, s.result.Stuck = below*zero/float64(s.o.Paths), true
			}
			return levels, beyond, nil
		}
		levels = append(levels, next)
		from = nil
		for i := range paths {
			if top := paths[i].Top.Height; !math.IsInf(top, 1) {
				s.result.Top = max(s.result.Top, top)
			}
			k := slices.IndexFunc(paths[i].Peaks, func(p Peak) bool { return p.Height >= next })
			if k >= 0 {
				from = append(from, entrance{branches[i], paths[i].Peaks[k], next})
			}
		}
		_, high := stats.BinomialInterval(len(from), s.o.Paths, Confidence)
		below *= high
	}
	if bound {
		s.result.Below = below
	}
	return levels, false, nil
}

// zero is the upper bound of a mean of which no event was seen, of 95 %.
const zero = 3.0

// nextLevel is the height that about the share to keep of the paths reach; infinite if so many are
// beyond all bounds, or none gets above the last level. Of heights that equally many reach
// it is the lowest: who parts sooner has more before him that is not drawn yet.
func nextLevel(paths []Path, last float64) float64 {
	tops := make([]float64, len(paths))
	for i := range paths {
		tops[i] = paths[i].Top.Height
	}
	slices.Sort(tops)
	worst, below := math.Inf(1), math.Inf(1)
	for i, top := range tops { // share who reach top; at first sight of each
		if top <= last || i > 0 && top == tops[i-1] {
			continue
		}
		share := float64(len(tops)-i) / float64(len(tops))
		if off := math.Abs(math.Log(share / keep)); off < worst {
			worst, below = off, last
			if i > 0 {
				below = max(last, tops[i-1])
			}
			if share >= keep && math.IsInf(top, 1) {
				return top
			}
		}
	}
	next := math.Inf(1)
	for i := range paths {
		for _, p := range paths[i].Peaks {
			if p.Height > below {
				next = min(next, p.Height)
				break
			}
		}
	}
	return next
}
