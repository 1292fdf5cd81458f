package explore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A shrinker makes a schedule simpler, a step at a time, as long as it does what it is for
// and stays as far within the algorithm's model as it was.
type shrinker struct {
	ctx    context.Context
	holds  func(*Schedule) (bool, error) // it breaks the same rule, or costs as much
	within bool
	best   *Schedule
	tried  int
}

// patience bounds the schedules that are tried on the way to the simplest.
const patience = 30_000

// shrink replaces the schedule of f by the simplest that is found. An interruption
// leaves what there is by then.
func (f *Find) shrink(ctx context.Context) error {
	f.simplify(ctx, f.within(), f.holds(ctx))
	return f.conclude()
}

// simplify finds the simplest schedule that holds, and is within the model if it is to be.
func (f *Found) simplify(ctx context.Context, within bool, holds func(*Schedule) (bool, error)) {
	k := &shrinker{ctx: ctx, within: within, best: f.First, holds: holds}
	defer func() { f.Schedule, f.Tried = k.best, k.tried }()
	for again := true; again; {
		before := k.best
		k.fewer()
		k.seldom()
		k.smaller()
		k.plainer()
		k.spellOut()
		k.sooner()
		k.fewer() // nothing is left that could be left out
		again = k.best != before
	}
}

// try takes s for the best if it does what it is for. Nil is no schedule.
func (k *shrinker) try(s *Schedule) bool {
	if s == nil || k.tried >= patience || k.ctx.Err() != nil {
		return false
	}
	s.tidy()
	if !s.asks() || k.within && !s.within() {
		return false
	}
	k.tried++
	if ok, err := k.holds(s); err != nil || !ok {
		return false
	}
	k.best = s
	return true
}

// lucky is try for changes after which all messages meet other luck: one of some
// seeds may do.
func (k *shrinker) lucky(s *Schedule) bool {
	if s == nil {
		return false
	}
	for seed := range uint64(30) {
		c := s.clone()
		if seed > 0 {
			c.Seed = seed
		}
		if k.try(c) {
			return true
		}
	}
	return false
}

// fewer leaves out events: halves of them first, then smaller parts, in the end
// each (A. Zeller, R. Hildebrandt, Simplifying and isolating failure-inducing
// input, IEEE TSE 28(2), 2002).
func (k *shrinker) fewer() {
	for size := max(len(k.best.Events)/2, 1); size >= 1; {
		left := false
		for at := 0; at < len(k.best.Events); {
			c := k.best.clone()
			c.Events = slices.Delete(c.Events, at, min(at+size, len(c.Events)))
			if k.try(c) {
				left = true
			} else {
				at += size
			}
		}
		if size == 1 && !left {
			return
		}
		size = max(size/2, 1)
	}
}

// seldom has what happens again and again happen less often.
func (k *shrinker) seldom() {
	for i := 0; i < len(k.best.Events); i++ {
		for by := k.best.Events[i].Times / 2; by > 0; {
			c := k.best.clone()
			if c.Events[i].Times -= by; !k.try(c) {
				by /= 2
			}
			by = min(by, k.best.Events[i].Times-1)
		}
	}
}

// smaller takes processes away, the last first.
func (k *shrinker) smaller() {
	for p := k.best.Nodes; p >= 1; p-- {
		if p <= k.best.Nodes {
			k.lucky(k.best.without(algo.ID(p)))
		}
	}
}

// plainer gives up what is out of the ordinary.
func (k *shrinker) plainer() {
	change := func(apply func(s *Schedule) bool) {
		if c := k.best.clone(); apply(c) {
			k.lucky(c)
		}
	}
	d := k.best.network().Latency
	for _, l := range []link.Latency{link.Constant(time.Millisecond), link.Constant(d), link.Uniform(0, d)} {
		change(func(s *Schedule) bool {
			old := s.Latency
			s.Latency = l
			return !old.Fixed() && old.Distribution() != l.Distribution()
		})
	}
	for _, word := range []string{"", "descending"} {
		change(func(s *Schedule) bool {
			s.Shape.Order, s.Shape.Sorted = nil, word
			return k.best.Shape.Order != nil
		})
	}
	change(func(s *Schedule) bool { s.Duplication = 0; return k.best.Duplication > 0 })
	change(func(s *Schedule) bool { s.Unordered = false; return k.best.Unordered })
	change(func(s *Schedule) bool { s.Holder = algo.None; return k.best.Holder != algo.None })
	change(func(s *Schedule) bool {
		s.Hold = link.Constant(d)
		return k.best.Hold.Law != nil && !k.best.Hold.Fixed()
	})
	change(func(s *Schedule) bool {
		s.Detector = harness.PerfectDetector(d)
		return k.best.Detector.Restless()
	})
	for i := range k.best.Events {
		change(func(s *Schedule) bool {
			s.Events[i].For = 0
			return k.best.Events[i].Do == harness.DoCrash && k.best.Events[i].For > 0
		})
	}
}

// sooner gives events plainer instants and spans: whole milliseconds, or those of
// what happens before.
func (k *shrinker) sooner() {
	for i := range k.best.Events {
		before := time.Duration(0)
		if i > 0 {
			before = k.best.Events[i-1].At
		}
		k.plain(i, before, func(e *harness.Event) *time.Duration { return &e.At })
		k.plain(i, 0, func(e *harness.Event) *time.Duration { return &e.For })
		k.plain(i, 0, func(e *harness.Event) *time.Duration { return &e.Every })
	}
	if l := &k.best.Hold; l.Fixed() && odd(l.Average()) > 0 {
		c := k.best.clone()
		c.Hold = link.Constant(l.Average().Round(time.Millisecond))
		k.try(c)
	}
}

func (k *shrinker) plain(i int, before time.Duration, field func(*harness.Event) *time.Duration) {
	if i >= len(k.best.Events) {
		return
	}
	old := *field(&k.best.Events[i])
	grids := []time.Duration{time.Millisecond, 100 * time.Microsecond, 10 * time.Microsecond}
	values := []time.Duration{before}
	for _, grid := range grids {
		values = append(values, old.Truncate(grid), old.Truncate(grid)+grid)
	}
	for _, v := range values {
		simpler := odd(v) < odd(old) || odd(v) == odd(old) && v < old
		if v == 0 && field(&k.best.Events[i]) != &k.best.Events[i].At || !simpler {
			continue // without for or every, it would be another event
		}
		c := k.best.clone()
		*field(&c.Events[i]) = v
		if k.try(c) {
			return
		}
	}
}

// odd is how many digits a duration needs behind its milliseconds.
func odd(d time.Duration) (digits int) {
	for grid := time.Millisecond; grid > 1 && d%grid != 0; grid /= 10 {
		digits++
	}
	return digits
}

// most is how many messages may have delays of their own before it is plainer to
// leave them to chance.
const most = 12

// spellOut replaces random delays by one that all messages have, but for a few
// that are named: in steps as coarse as possible.
func (k *shrinker) spellOut() {
	random := k.best
	if random.Latency.Fixed() || random.Duplication > 0 {
		return
	}
	d := random.network().Latency
	for _, step := range []time.Duration{d, d / 2, d / 4, d / 10, d / 100} {
		if !k.try(k.spelled(random, step.Truncate(tick))) {
			continue
		}
		k.fewer()
		named := 0
		for _, e := range k.best.Events {
			if e.Do == harness.DoFlaky && e.Latency != nil {
				named++
			}
		}
		if named <= most {
			return
		}
		k.best = random
	}
}

// A messageID names one message of a trial: the n-th that an incarnation of one
// process sent to another.
type messageID struct {
	from, to, incarnation uint32
	seq                   uint64
}

// messages are the messages of the algorithm that s leads to, as they are sent.
func (s *Schedule) messages(ctx context.Context) (list []messageID, sent, takes map[messageID]time.Duration) {
	sent, takes = map[messageID]time.Duration{}, map[messageID]time.Duration{}
	_, err := s.run(ctx, "", trace.SinkFunc(func(r *trace.Record) {
		if r.Type != trace.Send || r.Plane != trace.Data || len(list) == cap(list) && len(list) >= enough {
			return
		}
		l := messageID{r.Process, r.Peer, r.Incarnation, r.Seq}
		list = append(list, l)
		sent[l], takes[l] = r.Sent, r.Due-r.Sent
	}))
	if err != nil {
		return nil, nil, nil
	}
	return list, sent, takes
}

// spelled is s with delays in whole steps: that of most messages for the network,
// and the others by name. Where nobody may rely on less than the largest delay, it
// is that.
func (k *shrinker) spelled(s *Schedule, step time.Duration) *Schedule {
	list, _, takes := s.messages(k.ctx)
	if step <= 0 || len(list) == 0 || len(list) >= enough { // that takes long, and names too many
		return nil
	}
	count := map[time.Duration]int{}
	for l, d := range takes {
		takes[l] = (d + step - 1) / step * step
		count[takes[l]]++
	}
	base := s.network().Latency
	if s.Algorithm.Spec.Needs.Synchrony != algo.Synchronous {
		delays := make([]time.Duration, 0, len(count))
		for d := range count {
			delays = append(delays, d)
		}
		base = slices.MaxFunc(delays, func(a, b time.Duration) int {
			return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(b, a))
		})
	}
	out := s.clone()
	out.Latency = link.Constant(max(base, step))
	done := map[messageID]bool{}
	for range 300 { // each delay moves what is sent after it, so one instant after the other
		out.tidy()
		list, sent, _ := out.messages(k.ctx)
		at := slices.IndexFunc(list, func(l messageID) bool {
			d, known := takes[l]
			return known && !done[l] && d != out.Latency.Average()
		})
		if at < 0 {
			return out
		}
		for _, l := range list[at:] {
			if d, known := takes[l]; known && sent[l] == sent[list[at]] && !done[l] &&
				d != out.Latency.Average() {
				done[l] = true
				own := link.Constant(d)
				out.Events = append(out.Events, harness.Event{
					At: sent[l], Do: harness.DoFlaky, For: tick, Latency: &own,
					Links: [][2]uint32{{l.from, l.to}},
				})
			}
		}
		k.tried++
	}
	return nil
}
