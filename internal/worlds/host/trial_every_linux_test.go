package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// seeds is over how many simulated trials a trial on nodes is held against: a
// thousand at night.
var seeds = map[bool]uint64{true: 1000, false: 300}[slowtest.Night()]

// TestTrial_EveryAlgorithm: without failures, nodes send of each kind as many
// messages as some simulated trial does: exactly as many where all simulated
// trials agree, with latencies that vary by half. Every process begins, or
// requests, so that nothing else is left to chance. By default every third algorithm runs, with
// CONCLAVE_SLOW all of them, and at night with three and eight processes as well.
func TestTrial_EveryAlgorithm(t *testing.T) {
	t.Parallel()
	sizes := []int{5}
	switch {
	case slowtest.Night():
		sizes = []int{3, 5, 8}
	case testing.Short():
		sizes = []int{3}
	}
	for i, a := range algo.All() {
		if strings.Contains(a.ID, "/test-") || i%slowtest.Times(3, 1) != 0 {
			continue
		}
		t.Run(a.Spec.Name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			m := newMachine(t, 8)
			for _, n := range sizes {
				if needs := a.Spec.Needs.Nodes; needs != nil && needs(n) != nil {
					continue
				}
				for _, s := range failureFree(a, n) {
					t.Run(fmt.Sprintf("%s n=%d", s.Kind(), n), func(t *testing.T) {
						p := varied(t, a.ID, n, s)
						all := ensemble(t, p)
						got := run(t, m, p, all.holds)
						t.Logf("%v in %v; %s", got.Kinds, got.End.At, all)
					})
				}
			}
		})
	}
}

// failureFree is the scenarios without failures in which every process takes part.
func failureFree(a *algo.Algorithm, n int) []harness.Scenario {
	if a.Problem == algo.Election {
		return []harness.Scenario{{Plot: &harness.ColdStart{}}}
	}
	hold := link.Constant(ms(1))
	return []harness.Scenario{
		{Plot: &harness.Sequential{Requests: n, Requesters: "in-turn", Hold: hold}},
		{Plot: &harness.Burst{Hold: hold}},
	}
}

// varied is a plan whose latencies vary by half. Time-outs follow from a latency
// that no busy machine adds to.
func varied(t *testing.T, id string, n int, s harness.Scenario) harness.Plan {
	t.Helper()
	p := plan(t, id, n, s, nil)
	p.Network.Latency = link.Uniform(ms(2), ms(6))
	a, err := algo.Lookup(id)
	must(t, err)
	net := p.Known()
	net.Latency = ms(30)
	params, errs := a.Spec.Resolve(nil, net)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	p.Params = params
	return p
}

// bounds is the least and the most of each kind that was sent.
type bounds []struct {
	kind   string
	lo, hi int64
}

// ensemble simulates the plan with many seeds.
func ensemble(t *testing.T, p harness.Plan) bounds {
	t.Helper()
	var all bounds
	for p.Seed = seeds; p.Seed > 0; p.Seed-- {
		s, err := p.Setup()
		must(t, err)
		s.Virtual = true
		judge := check.NewJudge(s)
		end := sim.Run(s, judge)
		v := judge.Finish(end)
		if v.Status != trace.OK {
			t.Fatalf("simulated with seed %d: %s: %s", p.Seed, v.Status, v.Reason)
		}
		if all == nil {
			all = make(bounds, len(v.Kinds))
			for i, k := range v.Kinds {
				all[i].kind, all[i].lo, all[i].hi = k.Name, k.Sent, k.Sent
			}
		}
		for i, k := range v.Kinds {
			all[i].lo, all[i].hi = min(all[i].lo, k.Sent), max(all[i].hi, k.Sent)
		}
	}
	return all
}

// holds says whether the counts of o lie within the bounds.
func (b bounds) holds(o outcome) error {
	if o.Status != trace.OK {
		return fmt.Errorf("on nodes: %s: %s", o.Status, o.Reason)
	}
	for i, k := range o.Kinds {
		if k.Sent < b[i].lo || k.Sent > b[i].hi {
			return fmt.Errorf("%d %s sent, simulated %d to %d", k.Sent, k.Name, b[i].lo, b[i].hi)
		}
	}
	return nil
}

func (b bounds) String() string {
	var out []string
	for _, k := range b {
		out = append(out, fmt.Sprintf("%s %d-%d", k.kind, k.lo, k.hi))
	}
	return strings.Join(out, ", ")
}
