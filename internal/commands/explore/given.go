package explore

import (
	"context"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// Given is the find of a schedule that another command has found, without every event that it does not
// need to break the same promise. Nil: it breaks none. By is the command, and beyond says what else is beyond
// the model of the algorithm. Suspicions stay where an end is promised, which rests on them.
func Given(ctx context.Context, s *Schedule, by string, beyond []string) (*Find, error) {
	s.tidy()
	b, err := s.run(ctx, "", nil)
	if b == nil || err != nil {
		return nil, err
	}
	f := &Find{Found: Found{Number: 1, First: s, Schedule: s}, Rule: b.rule, Text: b.text, beyond: b.beyond,
		by: by, suspects: s.suspicions()}
	k := &shrinker{ctx: ctx, within: f.within(), best: s, holds: f.holds(ctx)}
	k.fewer()
	f.Schedule, f.Tried = k.best, k.tried
	if err := f.conclude(); err != nil {
		return f, err
	}
	if f.InModel && len(beyond) > 0 {
		f.InModel, f.OutOfModel = false, beyond
	}
	return f, nil
}

// suspicions is how many lines make a process suspect another.
func (s *Schedule) suspicions() (n int) {
	for i := range s.Events {
		if s.Events[i].Do == harness.DoSuspect {
			n++
		}
	}
	return n
}

// within says whether what was found first is within the model, so that what it is reduced to has to be, too.
func (f *Find) within() bool { return f.beyond == "" && f.First.within() }

// holds says of schedules whether they break the promise of f, and have the suspicions that it rests on.
func (f *Find) holds(ctx context.Context) func(*Schedule) (bool, error) {
	within := f.within()
	return func(s *Schedule) (bool, error) {
		if lives(s.Algorithm, f.Rule) && s.suspicions() < f.suspects {
			return false, nil
		}
		b, err := s.run(ctx, f.Rule, nil)
		return b != nil && (b.beyond == "" || !within), err
	}
}

// Removable are the events without which the schedule of f breaks the same promise: each is left out once.
// There is none if the schedule is minimal.
func (f *Find) Removable(ctx context.Context) (out []int, err error) {
	holds, within := f.holds(ctx), f.within()
	for i := range f.Schedule.Events {
		c := f.Schedule.clone()
		c.Events = slices.Delete(c.Events, i, i+1)
		c.tidy()
		if !c.asks() || within && !c.within() {
			continue
		}
		is, err := holds(c)
		if err != nil {
			return nil, err
		}
		if is {
			out = append(out, i)
		}
	}
	return out, nil
}

// Minimal says in words whether the schedule of f is minimal, which it tries.
func (f *Find) Minimal(ctx context.Context) (text string, err error) {
	left, err := f.Removable(ctx)
	if len(left) > 0 {
		return "not minimal: line " + strconv.Itoa(left[0]+1) + " is not needed", err
	}
	return "minimal: without any one of its lines it breaks no promise", err
}
