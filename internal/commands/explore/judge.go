package explore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The names that pkg/check has none for.
const (
	// broken is a panic, or an invariant of the algorithm's own that does not hold.
	broken = "broken"
	// noEnd is an operation that is promised to complete, and has not long after
	// everything that was done to it.
	noEnd = "no-end"
)

// lives says whether the rule is about what comes about in the end, if everything
// is as it should be.
func lives(a *algo.Algorithm, rule string) bool {
	switch rule {
	case broken, "mutual-exclusion", "request-order", "token-uniqueness":
		return false
	case "leadership": // of groups it is looked at in the end
		return a.Spec.Promises.Leadership == algo.PerGroup
	}
	return true
}

// Rules are the names of what a search can find.
func Rules() []string {
	out := []string{broken, noEnd}
	for _, r := range check.Rules {
		// A schedule expects nothing, and is judged as if it were within the model.
		if r.Name != "expectation" && r.Name != "invariant" {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return out
}

// A breach is a promise that a schedule broke. Beyond says that its records are beyond the model, which
// excuses no panic.
type breach struct{ rule, text, beyond string }

// run simulates the schedule and says what it breaks: under the rule alone, if
// that is not empty. Nil: nothing.
//
// The judge is as strict beyond an algorithm's model as within it: a user who asks
// for schedules from there wants to see what breaks.
func (s *Schedule) run(ctx context.Context, rule string, sink trace.Sink) (*breach, error) {
	p, err := s.Plan()
	if err != nil {
		return nil, err
	}
	return judge(ctx, &p, s.Unseen(), rule, sink)
}

// judge simulates the plan; where only safety is promised, nothing else counts. Its error
// is that of the context if that ends before.
func judge(ctx context.Context, p *harness.Plan, safety bool, rule string, sink trace.Sink) (*breach, error) {
	alg, v, err := simulate(ctx, p, sink)
	if err != nil {
		return nil, err
	}
	return broke(alg, v, safety, rule), nil
}

// simulate simulates the plan, as strictly as if nothing in it were beyond the algorithm's model.
func simulate(ctx context.Context, p *harness.Plan, sink trace.Sink) (
	*algo.Algorithm, *check.Verdict, error) {
	strict := *p
	strict.InModel = true
	setup, err := strict.Setup()
	if err != nil {
		return nil, nil, err
	}
	v, _, err := trial.Run(ctx, setup, sink, math.MaxInt)
	return setup.Alg, &v, err
}

// broke is the first promise that a verdict says is broken, of those that count.
func broke(a *algo.Algorithm, v *check.Verdict, safety bool, rule string) *breach {
	for _, b := range breaches(a, v) {
		if (rule == "" || rule == b.rule) && !(safety && lives(a, b.rule)) {
			return &b
		}
	}
	return nil
}

// breaches is what a verdict says is broken, in the order in which it was.
func breaches(a *algo.Algorithm, v *check.Verdict) (out []breach) {
	for _, text := range v.Violations {
		rule, text, _ := strings.Cut(text, ": ")
		out = append(out, breach{rule, text, v.Beyond})
	}
	switch {
	case v.Status == trace.Failed:
		out = append(out, breach{broken, v.Reason, ""})
	case v.Status == trace.TimedOut && check.PromisesEnd(a):
		out = append(out, breach{noEnd, v.Reason, v.Beyond})
	}
	return out
}

// hash stands for a trace.
type hash uint64

func (h *hash) Record(r *trace.Record) {
	const prime = 1099511628211 // of FNV-1a
	var b [trace.Size]byte
	r.Put(b[:])
	for i := 0; i < len(b); i++ {
		*h = (*h ^ hash(b[i])) * prime
	}
}

// repeats says that the schedule leads to the same trace twice; otherwise the
// algorithm is not deterministic, and nothing that is found can be replayed.
func (s *Schedule) repeats(ctx context.Context) error {
	var first, second hash
	for _, h := range []*hash{&first, &second} {
		if _, err := s.run(ctx, "", h); err != nil {
			return err
		}
	}
	if first != second {
		return s.moody()
	}
	return nil
}

// moody is the error that the schedule leads to one trace now and to another then.
func (s *Schedule) moody() error {
	return fmt.Errorf("%s is not deterministic: the same schedule led to two different traces, so "+
		"that nothing found here could be replayed; it may range over a map, or read a clock",
		s.Algorithm.ID)
}
