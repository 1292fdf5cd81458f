package explore

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A corner is an algorithm with a parameter or two at an extreme.
type corner struct {
	*testing.T
	alg   *algo.Algorithm
	set   map[string]any
	nodes int
	d     time.Duration // the largest latency
}

func (c *corner) String() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(c.set)) {
		words = append(words, name+"="+written(c.set[name]))
	}
	return fmt.Sprintf("n=%d d=%v %s", c.nodes, c.d, strings.Join(words, " "))
}

// written is a value as it stands in an experiment.
func written(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = written(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// systems are how many processes there are, and how far apart, at a corner.
var systems = []struct {
	nodes int
	d     time.Duration
}{{4, 2 * ms}, {2, 20 * ms}, {3, ms}, {5, 20 * ms}, {1, ms}, {8, 2 * ms}}

// TestExtremes: with every parameter of every algorithm at its extremes, and with two
// of them, no promise is broken within the model. What the extremes are follows from
// the Spec, so that a new parameter is walked through as well. By day there are few
// schedules of each corner, of one system; at night (CONCLAVE_NIGHTLY) hundreds of six.
func TestExtremes(t *testing.T) {
	slowtest.Skip(t, "explores the corners of an experiment")
	t.Parallel()
	some, pairs, schedules := systems[:1], 3, 2
	if slowtest.Night() {
		some, pairs, schedules = systems, 20, 200
	}
	for _, a := range algo.All() {
		if strings.HasPrefix(a.Spec.Name, "test-") {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			w := walk{schedules: schedules}
			rng := rand.New(rand.NewPCG(uint64(len(a.ID)), 3))
			for _, s := range some {
				if needs := a.Spec.Needs.Nodes; needs != nil && needs(s.nodes) != nil {
					continue
				}
				for _, set := range corners(a, s.nodes, s.d, pairs, rng) {
					w.visit(&corner{t, a, set, s.nodes, s.d})
				}
			}
			t.Logf("%d corners in the model, %d beyond it; %d schedules", w.within, w.beyond, w.tried)
			if len(a.Spec.Params) > 0 && w.within == 0 {
				t.Error("no corner is in the model")
			}
		})
	}
}

// corners are parameters to set: each at each of its extremes, and pairs of them.
func corners(a *algo.Algorithm, n int, d time.Duration, pairs int, rng *rand.Rand) (out []map[string]any) {
	if len(a.Spec.Params) == 0 {
		return nil
	}
	values := make([][]any, len(a.Spec.Params))
	for i := range a.Spec.Params {
		p := &a.Spec.Params[i]
		values[i] = extremes(a, p, n, d)
		for _, v := range values[i] {
			out = append(out, map[string]any{p.Name: v})
		}
	}
	for range pairs {
		set := map[string]any{}
		for _, i := range rng.Perm(len(values))[:min(2, len(values))] {
			set[a.Spec.Params[i].Name] = values[i][rng.IntN(len(values[i]))]
		}
		if len(set) == 2 {
			out = append(out, set)
		}
	}
	return out
}

// extremes are the values of a parameter at its bounds, at those of the model, at what
// is small and large in a system of n processes d apart, and, where processes may
// differ, lists that differ most.
func extremes(a *algo.Algorithm, p *algo.Param, n int, d time.Duration) (out []any) {
	const most = int64(1<<53 - 1) // that a file can hold
	switch p.Type {
	case algo.Bool:
		return []any{false, true}
	case algo.Enum:
		for _, c := range p.Choices {
			out = append(out, c)
		}
		return out
	case algo.Int:
		for _, v := range numbers(a, p, n, d, -most, most, 0, 1, int64(n)-1, int64(n), int64(n)+1,
			1<<32) {
			out = append(out, v)
		}
	case algo.Duration:
		usual := int64(a.Spec.Defaults(algo.Network{Nodes: n, Latency: d, Bounded: true})[p.Name].(time.Duration))
		for _, v := range numbers(a, p, n, d, 0, 20*usual, int64(tick), int64(d), usual/2, 2*usual) {
			out = append(out, time.Duration(v))
		}
	case algo.Float:
		return []any{p.Min, p.Max}
	default:
		panic("say what the extremes of a " + p.Type.String() + " are")
	}
	if p.PerProcess && n > 1 {
		out = append(out, lists(out, n)...)
	}
	return out
}

// numbers are values of a parameter that is one, between bounds of its own or those
// given: the bounds, where the model ends, and what is given.
func numbers(a *algo.Algorithm, p *algo.Param, n int, d time.Duration, least, most int64,
	given ...int64) (out []int64) {
	typed := func(v int64) any {
		if p.Type == algo.Duration {
			return time.Duration(v)
		}
		return v
	}
	whole := func(v any, otherwise int64) int64 {
		switch v := v.(type) {
		case int64:
			return v
		case time.Duration:
			return int64(v)
		}
		return otherwise
	}
	least, most = whole(p.Min, least), whole(p.Max, most)
	if p.Process {
		most = min(most, int64(n))
	}
	given = append(given, least, most)
	sound := func(v int64) bool {
		c := corner{alg: a, set: map[string]any{p.Name: typed(v)}, nodes: n, d: d}
		plan, err := c.schedule().Plan()
		if err != nil {
			return false
		}
		_, params := plan.Beyond()
		return len(params) == 0
	}
	if usual := whole(a.Spec.Defaults(algo.Network{Nodes: n, Latency: d, Bounded: true})[p.Name], 0); sound(usual) {
		for _, end := range []int64{least, most} {
			given = append(given, edge(usual, end, sound))
		}
	}
	slices.Sort(given)
	return slices.DeleteFunc(slices.Compact(given), func(v int64) bool {
		return v < least || v > most || p.Check(typed(v)) != nil
	})
}

// edge is the last sound value on the way from one that is to another.
func edge(from, to int64, sound func(int64) bool) int64 {
	for !sound(to) {
		middle := from + (to-from)/2
		if middle == from {
			return from
		}
		if sound(middle) {
			from = middle
		} else {
			to = middle
			if to-from == 1 || from-to == 1 {
				return from
			}
		}
	}
	return to
}

// lists give processes different values: one process, every other one, and all the
// others, of the least and the greatest, and of the two around 0.
func lists(values []any, n int) (out []any) {
	pairs := [][2]any{{values[0], values[len(values)-1]}}
	if i := slices.Index(values, any(int64(0))); i >= 0 && i+1 < len(values) {
		pairs = append(pairs, [2]any{values[i], values[i+1]})
	}
	for _, pair := range pairs {
		for _, turn := range []func(i int) bool{
			func(i int) bool { return i == 0 }, func(i int) bool { return i > 0 },
			func(i int) bool { return i == n-1 }, func(i int) bool { return i < n-1 },
			func(i int) bool { return i%2 == 0 },
		} {
			list := make([]any, n)
			for i := range list {
				list[i] = pair[0]
				if turn(i) {
					list[i] = pair[1]
				}
			}
			if !slices.ContainsFunc(out, func(v any) bool { return slices.Equal(v.([]any), list) }) {
				out = append(out, list)
			}
		}
	}
	return out
}

// schedule is one in which nothing happens.
func (c *corner) schedule() *Schedule {
	m := &maker{alg: c.alg, options: &Options{}, rng: rand.New(rand.NewPCG(1, 1))}
	s := &Schedule{
		Algorithm: c.alg, Params: c.set, Nodes: c.nodes, Shape: m.shape(), Latency: link.Constant(c.d),
	}
	m.detector(s, c.d)
	return s
}

// A walk goes through corners.
type walk struct {
	schedules             int // of each
	within, beyond, tried int
}

// visit tries a corner: nothing is broken in the model, and who is beyond it is told
// which parameter is to blame.
func (w *walk) visit(c *corner) {
	p, err := c.schedule().Plan()
	if err != nil {
		c.Errorf("%v: %v", c, err)
		return
	}
	if _, why := p.Beyond(); len(why) > 0 {
		w.beyond++
		if !slices.ContainsFunc(c.alg.Spec.Params, func(p algo.Param) bool {
			return c.set[p.Name] != nil && strings.Contains(why[0], p.Name)
		}) {
			c.Errorf("%v is beyond the model, since %q: names no parameter that is set", c, why)
		}
		return
	}
	w.within++
	if c.storms(p.Params) {
		return
	}
	w.scenarios(c)
	if c.nodes > 1 {
		w.search(c)
	}
}

// storms says whether the algorithm goes on for ever, at a pace at which its messages
// are all that there is to see: it takes for ever to look at.
func (c *corner) storms(p algo.Params) bool {
	for _, v := range p {
		if t, ok := v.(time.Duration); ok && c.alg.Spec.Perpetual && t > 0 && t < c.d/10 {
			return true
		}
	}
	return false
}

// search explores what the algorithm survives with the parameters of the corner. What
// chance makes of the latency may be beyond the model, and so may the records of how long
// recoveries take; such a schedule does not count.
func (w *walk) search(c *corner) {
	seed := harness.Derive(1, c.String(), uint64(c.nodes))
	m := &maker{
		alg: c.alg, rng: rand.New(rand.NewPCG(seed, seed)),
		options: &Options{Params: c.set, Nodes: []int{c.nodes}, Latency: c.d, Faults: Survived},
	}
	var s *Schedule
	var delicate moments
	for i := range w.schedules {
		if i%family == 0 || len(delicate) == 0 {
			s = m.draw()
		} else {
			s = m.vary(s, delicate)
		}
		delicate = delicate[:0]
		p, err := s.Plan()
		if err != nil {
			c.Fatalf("%v: %v", c, err)
		}
		if _, params := p.Beyond(); len(params) > 0 || !s.within() {
			continue
		}
		w.tried++
		b, err := s.run(c.Context(), "", &delicate)
		if err != nil {
			c.Fatalf("%v: %v", c, err)
		}
		if b != nil && b.beyond == "" {
			f := &Find{Rule: b.rule, Text: b.text, Found: Found{First: s, Schedule: s, InModel: true}}
			text, err := f.File()
			c.Errorf("%v: schedule %d: %s: %s\n%s%v", c, i, b.rule, b.text, text, err)
			return
		}
	}
}

// patience is for how long a trial may go on: much longer than any time-out, if it is
// to come to an end.
func (c *corner) patience() time.Duration {
	if !check.PromisesEnd(c.alg) {
		return time.Second
	}
	return (400*c.schedule().unit() + time.Minute).Truncate(time.Millisecond)
}

// scenarios runs those that experiments are made of, as an experiment.
func (w *walk) scenarios(c *corner) {
	kinds := []string{"burst", "closed", "sequential"}
	if c.alg.Problem == algo.Election {
		kinds = []string{"cold-start"}
		if c.nodes > 1 {
			kinds = append(kinds, "leader-crash", "leader-restart")
		}
	}
	for _, kind := range kinds {
		over := experiment.Overrides{Set: []string{
			"transport=sim", fmt.Sprint("nodes=", c.nodes), fmt.Sprint("network.latency=", c.d),
			"scenario.kind=" + kind, "repetitions=1", fmt.Sprint("time_limit=", c.patience()),
		}}
		if kind == "closed" || kind == "sequential" {
			over.Set = append(over.Set, "scenario.requests=12", "scenario.warmup=0")
		}
		for name, v := range c.set {
			over.Set = append(over.Set, "params."+name+"="+written(v))
		}
		e, err := experiment.Build([]string{c.alg.ID}, "", over)
		if err != nil {
			c.Errorf("%v: %s: %v", c, kind, err)
			continue
		}
		p := e.Trials()[0].Plan
		if !p.InModel {
			continue
		}
		w.tried++
		b, err := judge(c.Context(), &p, false, "", nil)
		if err != nil || b != nil {
			c.Errorf("%v: %s: %+v, %v", c, kind, cmp.Or(b, &breach{}), err)
		}
	}
}
