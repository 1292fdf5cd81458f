// Package explore searches for a schedule under which an algorithm breaks a
// promise: in simulation, at random and then where the trials themselves show that
// something depends on what comes first. What it finds it makes as small as it can
// and writes down as a script, which is an experiment like any other.
//
// It proves nothing: that nothing was found says how much was tried. It knows no
// algorithm; what may happen to one is what its Spec says that it survives.
package explore

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Faults is what may happen in the schedules of a search, besides messages that
// take their time.
type Faults string

// The bounds of a search.
const (
	None     Faults = "none"     // nothing
	Crashes  Faults = "crashes"  // as many processes crash as may, and no message takes longer than it may
	Survived Faults = "survived" // what the algorithm says that it survives
	All      Faults = "all"      // anything
)

// Options is what a search is for and how far it goes.
type Options struct {
	Params  map[string]any // to set
	Nodes   []int          // one of them, in each schedule; nil: from two to nine
	Latency time.Duration  // the largest; 0: one of several
	Faults  Faults
	Rule    string // to look for; empty: any
	// Maximise is what the schedule that costs most is looked for by; nil: only broken promises are.
	Maximise *metric.Metric
	// Events is how many events such a schedule may have, not counting delays of single messages; 0: 32
	// with them.
	Events    int
	Seed      uint64
	Schedules uint64        // how many; 0: any number
	Time      time.Duration // for how long; 0: until the context ends
	Workers   int           // 0: one per core
	// Progress, if not nil, is called twice a second with the number of schedules tried.
	Progress func(tried uint64, elapsed time.Duration)
}

// A Report is what a search came to.
type Report struct {
	Schedules uint64 // tried
	Elapsed   time.Duration
	Find      *Find  // nil: nothing is broken
	Worst     *Worst // nil: nothing was maximised, or no schedule has the metric
}

// A Find is a broken promise and the schedule that breaks it.
type Find struct {
	Found      // Schedule is the smallest that breaks the same rule
	Rule, Text string
	Records    trace.List // of the smallest, without heartbeats
	beyond     string     // the records of First are beyond the model
	by         string     // the command that found it; "": bench explore
	suspects   int        // suspicions that stay where an end is promised
}

// A Found is a schedule that a search keeps.
type Found struct {
	Number     uint64    // of the schedule that was the first to do what is looked for
	First      *Schedule // that schedule
	Schedule   *Schedule // a simple one that does it, too
	Tried      int       // schedules on the way to that
	InModel    bool
	OutOfModel []string // why not
}

// Unrunnable says whether no promise broke but the algorithm's code: it panicked, or broke the
// contract of plugins.
func (f *Find) Unrunnable() bool {
	return f.Rule == broken && !strings.Contains(f.Text, ": "+harness.ErrInvariant.Error()+": ")
}

// family is how many schedules are made of one: a random one, and others that
// differ from it where it was delicate. A family follows from the seed and its
// number alone, so that a search finds the same with any number of workers.
const family = 16

// doubtful says whether the first schedule of a family is simulated twice, to see whether
// the algorithm is deterministic at all. One schedule can show the same trace twice by luck:
// a map of two keys is often walked in the same order. So that a short search notices it
// too, the first families are all doubtful, and one in 64 after them.
func doubtful(family uint64) bool { return family < 32 || family%64 == 0 }

// Run searches until something is found, all schedules are tried or the context
// ends. That is no error.
func Run(ctx context.Context, id string, options Options) (Report, error) {
	alg, err := algo.Lookup(id)
	if err != nil {
		return Report{}, err
	}
	guard.Ballast()
	s := &search{alg: alg, options: &options, begun: time.Now()}
	s.first.Store(^uint64(0))
	workers := options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	search := ctx
	if options.Time > 0 {
		var cancel context.CancelFunc
		search, cancel = context.WithTimeout(ctx, options.Time)
		defer cancel()
	}
	stop := s.report()
	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() { s.work(search) })
	}
	pool.Wait()
	stop()
	if s.err != nil {
		return Report{}, s.err
	}
	out := Report{Schedules: s.tried.Load(), Elapsed: time.Since(s.begun), Find: s.found}
	switch {
	case s.found != nil:
		err = s.found.shrink(ctx)
	case s.worst != nil:
		out.Worst = s.worst
		err = s.worst.shrink(ctx)
	}
	return out, err
}

// A search is one, by several workers.
type search struct {
	alg     *algo.Algorithm
	options *Options
	begun   time.Time
	tried   atomic.Uint64
	next    atomic.Uint64 // family
	first   atomic.Uint64 // family in which something was found

	mu    sync.Mutex
	found *Find
	worst *Worst
	err   error
}

// report reports the progress until it is stopped.
func (s *search) report() (stop func()) {
	if s.options.Progress == nil {
		return func() {}
	}
	return clock.Every(500*time.Millisecond, func() {
		s.options.Progress(s.tried.Load(), time.Since(s.begun))
	})
}

// work tries families until nothing is left. Those before one in which something
// was found are tried to their end: the first find counts, not the fastest.
func (s *search) work(ctx context.Context) {
	var list members
	size, try := uint64(family), func(number uint64) error { return s.family(ctx, number, &list) }
	if s.options.Maximise != nil {
		size, try = climb, func(number uint64) error { return s.climb(ctx, number) }
	}
	for {
		number := s.next.Add(1) - 1
		if number >= s.first.Load() || s.options.Schedules > 0 && number*size >= s.options.Schedules {
			return
		}
		if err := try(number); err != nil {
			s.mu.Lock()
			if s.err == nil {
				s.err = err
			}
			s.mu.Unlock()
			s.first.Store(0)
			return
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// members are the schedules of a family, with the moments of their trials.
type members [family]struct {
	schedule *Schedule
	moments  moments
}

// family tries the schedules of one, which are put into list.
func (s *search) family(ctx context.Context, number uint64, list *members) error {
	m := s.maker(number)
	size := uint64(family)
	if all := s.options.Schedules; all > 0 {
		size = min(size, all-number*family)
	}
	for i := range size {
		if ctx.Err() != nil || s.first.Load() < number {
			return nil
		}
		now := &list[i]
		now.moments = now.moments[:0]
		if i == 0 {
			now.schedule = m.draw()
		} else {
			before := &list[i-1-min(i-1, m.rng.Uint64N(3))] // one of the last three
			now.schedule = m.vary(before.schedule, before.moments)
		}
		b, err := now.schedule.run(ctx, s.options.Rule, &now.moments)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		s.tried.Add(1)
		if b == nil && i == 0 && doubtful(number) {
			if err := now.schedule.repeats(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
		if b != nil && (b.beyond == "" || s.options.Faults == All) {
			s.keep(number, number*family+i+1, now.schedule, b)
			return nil
		}
	}
	return nil
}

// maker makes the schedules of a family.
func (s *search) maker(number uint64) *maker {
	seed := harness.Derive(s.options.Seed, "explore", number)
	return &maker{alg: s.alg, options: s.options, rng: rand.New(rand.NewPCG(seed, seed))}
}

// keep notes what a schedule of a family breaks, if no family before it has a find.
func (s *search) keep(family, number uint64, now *Schedule, b *breach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if family < s.first.Load() {
		s.first.Store(family)
		s.found = &Find{Found: Found{Number: number, First: now, Schedule: now}, Rule: b.rule, Text: b.text,
			beyond: b.beyond}
	}
}

// conclude fills in what is to be told of the schedule that was found. What the algorithm does
// by chance is no find, even if it broke the rule whenever it was tried.
func (f *Find) conclude() error {
	for _, s := range []*Schedule{f.First, f.Schedule} {
		if err := s.repeats(context.Background()); err != nil {
			return err
		}
	}
	f.Records = nil
	b, err := f.Schedule.run(context.Background(), f.Rule, trace.SinkFunc(func(r *trace.Record) {
		if !harness.IsHeartbeat(r) {
			f.Records.Record(r)
		}
	}))
	switch {
	case err != nil:
		return err
	case b == nil: // it broke the rule a moment ago
		return f.Schedule.moody()
	}
	f.Text = b.text
	return f.place(b.beyond)
}

// place says whether the schedule is within the algorithm's model. Beyond is why its records are not.
func (k *Found) place(beyond string) error {
	p, err := k.Schedule.Plan()
	if err != nil {
		return err
	}
	faults, params := p.Beyond()
	if k.OutOfModel = append(faults, params...); beyond != "" {
		k.OutOfModel = append(k.OutOfModel, beyond)
	}
	k.InModel = len(k.OutOfModel) == 0
	return nil
}
