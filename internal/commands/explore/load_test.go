package explore

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestLoad: whoever asks again and again is granted all that it asks for, before the
// schedule is over, also where an algorithm never falls quiet.
func TestLoad(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		if a.Problem != algo.MutualExclusion || !check.PromisesEnd(a) || strings.HasPrefix(a.Spec.Name, "test-") {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			m := &maker{alg: a, options: &Options{Faults: None}, rng: rand.New(rand.NewPCG(1, 1))}
			for loaded := 0; loaded < 3; {
				s := m.draw()
				if !slices.ContainsFunc(s.Events, func(e harness.Event) bool { return e.Every > 0 }) {
					continue
				}
				loaded++
				asked, granted := 0, 0
				for i := range s.Events {
					asked += times(&s.Events[i])
				}
				b, err := s.run(t.Context(), "", trace.SinkFunc(func(r *trace.Record) {
					if r.Type == trace.Granted {
						granted++
					}
				}))
				if err != nil || b != nil || granted != asked {
					t.Errorf("%v, %v: %d of %d requests are granted", b, err, granted, asked)
				}
			}
		})
	}
}

// TestSeldom: of what happens again and again nothing is left but as often as it must.
func TestSeldom(t *testing.T) {
	t.Parallel()
	a := mustLookup("mutex/test-enters-at-once")
	s, _ := sample(a, 1)
	s.Nodes, s.Holder = 2, algo.None
	s.Events = []harness.Event{
		{At: ms, Every: ms, Times: 37, Do: harness.DoRequest, Node: 1},
		{At: ms, Every: ms, Times: 8, Do: harness.DoRequest, Node: 2},
	}
	s.tidy()
	k := &shrinker{ctx: t.Context(), within: true, best: s, holds: func(s *Schedule) (bool, error) {
		b, err := s.run(t.Context(), "mutual-exclusion", nil)
		return b != nil, err
	}}
	k.seldom()
	for _, e := range k.best.Events {
		if e.Times != 1 {
			t.Errorf("%d times, want once: %+v", e.Times, k.best.Events)
		}
	}
}
