package algotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Checks are what only the algorithm's own tests can look at: an expectation
// by name, and what is wrong with what came out.
type Checks map[string]func(*Result, json.RawMessage) error

// Cases runs every conformance case of algorithm id, each as a subtest. Own are the
// expectations that nothing but the algorithm's own tests can check.
func Cases(t *testing.T, id string, own ...Checks) {
	t.Helper()
	list, err := ReferenceCases(id)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		c := &list[i]
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			unchecked, err := c.Run(own...)
			if err != nil {
				t.Errorf("%v\nformula: %s\nnote: %s", err, c.Formula, c.Note)
			}
			if unchecked != nil {
				t.Errorf("nothing checks %s", strings.Join(unchecked, ", "))
			}
		})
	}
	if len(list) == 0 {
		t.Fatalf("there are no cases for %s", id)
	}
}

// Mistakes is what is wrong with the case itself, if it cannot be run or compared
// as it stands.
func (c *Reference) Mistakes() (found Mistakes) {
	add := func(m *Mistake) {
		m.Line, m.Case = c.Line, c.ID
		found = append(found, m)
	}
	if _, m := c.plan(0); m != nil {
		add(m)
	}
	alg, err := algo.Lookup(c.AlgorithmID())
	if err != nil {
		return found // plan has said so
	}
	if len(c.Expect) == 0 {
		add(wrong("expect", `nothing, want what the case leads to, as {"sent": 6}`))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Expect)) {
		key := "expect." + name
		e, ok := expect(alg, name)
		if !ok {
			if near := algo.Nearest(name, slices.Collect(maps.Keys(expectations))); near != "" {
				add(wrong(key, "unknown expectation; did you mean %q?", near))
			}
			continue
		}
		if err := e.read(c.Expect[name]); err != nil {
			add(wrong(key, "%v", err))
		} else if name == "sent_by_kind" {
			kinds := alg.Codec.Kinds()[:len(alg.Spec.Messages)]
			want, _ := kindBounds(c.Expect[name]) // it was read
			for _, kind := range slices.Sorted(maps.Keys(want)) {
				if !slices.Contains(kinds, kind) {
					add(unknown(key, "message", kind, kinds))
				}
			}
		}
	}
	return found
}

// expect is what an expectation of that name means for algorithm alg.
func expect(alg *algo.Algorithm, name string) (expectation, bool) {
	if e, ok := expectations[name]; ok {
		return e, true
	}
	return ofKind(alg, name)
}

// Run runs the case. It returns the expectations that nothing here can check, and
// all that is not as expected, joined; Mistakes if the case cannot be run at all.
func (c *Reference) Run(own ...Checks) (unchecked []string, err error) {
	if m := c.Mistakes(); m != nil {
		return nil, m
	}
	alg, err := algo.Lookup(c.AlgorithmID())
	if err != nil {
		return nil, err
	}
	r, err := c.simulate()
	if err != nil {
		return nil, err
	}
	errs := []error{r.broken()}
	for _, name := range slices.Sorted(maps.Keys(c.Expect)) {
		e, ok := expect(alg, name)
		for _, checks := range own {
			if f := checks[name]; f != nil {
				e.check, ok = f, true
			}
		}
		if !ok {
			unchecked = append(unchecked, name)
			continue
		}
		if err := e.check(r, c.Expect[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		if sound := c.sound(); sound != nil {
			r, err := sound.simulate()
			if err != nil {
				return nil, err
			}
			if err := e.check(r, json.RawMessage("0")); err != nil {
				errs = append(errs, fmt.Errorf("%s: as the algorithm should be used: %w", name, err))
			}
		}
	}
	return unchecked, errors.Join(errs...)
}

// sound is the case with links and parameters as the algorithm needs them, if it
// counts over many trials how often it fails without: there it must never fail.
func (c *Reference) sound() *Reference {
	if !c.negative() || c.Scenario.Channels == "" {
		return nil
	}
	s := *c
	s.Scenario.Params = nil
	s.Scenario.Channels = strings.TrimPrefix(s.Scenario.Channels, nonFIFO)
	return &s
}

// simulate runs the trials of the case.
func (c *Reference) simulate() (*Result, error) {
	r := Result{Case: c}
	for seed := range c.seeds() {
		p, err := c.Plan(seed)
		if err != nil {
			return nil, err
		}
		o, err := Simulate(p)
		if err != nil {
			return nil, err
		}
		if r.Plan = p; c.Scenario.Channels != "" { // many: keep what is counted
			o.Trace = slices.Clip(slices.DeleteFunc(o.Trace,
				func(rec trace.Record) bool { return rec.Plane == trace.Detection }))
		}
		r.Trials = append(r.Trials, o)
	}
	return &r, nil
}

// broken is what no case expects: a trial that could not be run, or a promise that
// was broken within the model.
func (r *Result) broken() error {
	for _, o := range r.Trials {
		if o.Status == check.Error || o.Status == check.Invalid ||
			o.Status == check.Violation && r.Plan.InModel {
			return fmt.Errorf("%s: %s", o.Status, o.Reason)
		}
	}
	return nil
}
