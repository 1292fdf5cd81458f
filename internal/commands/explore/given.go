package explore

import (
	"context"

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
		by: by}
	within, suspects := b.beyond == "" && s.within(), s.suspicions()
	k := &shrinker{ctx: ctx, within: within, best: s, holds: func(s *Schedule) (bool, error) {
		if lives(s.Algorithm, f.Rule) && s.suspicions() < suspects {
			return false, nil
		}
		b, err := s.run(ctx, f.Rule, nil)
		return b != nil && (b.beyond == "" || !within), err
	}}
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

// Removable are the events without which the schedule of f breaks the same promise. There is none if it is
// minimal.
func (f *Find) Removable(ctx context.Context) (out []int, err error) {
	for i := range f.Schedule.Events {
		c := f.Schedule.clone()
		c.Events = append(c.Events[:i:i], c.Events[i+1:]...)
		c.tidy()
		fewer := lives(c.Algorithm, f.Rule) && c.suspicions() < f.Schedule.suspicions()
		if fewer || !c.asks() || f.InModel && !c.within() {
			continue
		}
		b, err := c.run(ctx, f.Rule, nil)
		if err != nil {
			return nil, err
		}
		if b != nil && (b.beyond == "" || !f.InModel) {
			out = append(out, i)
		}
	}
	return out, nil
}
