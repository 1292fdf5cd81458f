package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Result is what came out of a case: one trial if it is exact, many if it is
// statistical.
type Result struct {
	Plan   harness.Plan    // of the last
	Trials []trial.Outcome // of many without their records
}

// Checks are what only the algorithm's own tests can look at: an expectation
// by name, and what is wrong with what came out.
type Checks map[string]func(*Result, json.RawMessage) error

// Run runs the case. It returns the expectations that nothing here can check, and
// all that is not as expected, joined; Mistakes if the case cannot be run at all.
func (c *Reference) Run(own ...Checks) (unchecked []string, err error) {
	if err := c.Load(); err != nil {
		return nil, err
	}
	r, missed, err := simulate(c.Experiment)
	if err != nil {
		return nil, err
	}
	var errs []error
	switch {
	case !c.Negative:
		errs = missed
	case missed == nil:
		errs = append(errs, fmt.Errorf("%d trials have the expected outcome, and at least one must not: "+
			"the case is negative", len(r.Trials)))
	}
	if c.sound != nil {
		_, missed, err := simulate(c.sound)
		if err != nil {
			return nil, err
		}
		for _, err := range missed {
			errs = append(errs, fmt.Errorf("with %s: %w", strings.Join(c.Unless, ", "), err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Inside)) {
		seen := false
		for _, checks := range own {
			if f := checks[name]; f != nil {
				seen = true
				want, _ := json.Marshal(c.Inside[name]) // as it was read
				if err := f(r, want); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", name, err))
				}
			}
		}
		if !seen {
			unchecked = append(unchecked, name)
		}
	}
	return unchecked, errors.Join(errs...)
}

// simulate runs the trials of an experiment. Missed is what of the first that does not
// lead to what is expected, promises included, came otherwise.
func simulate(e *experiment.Experiment) (r *Result, missed []error, err error) {
	r = &Result{}
	for _, t := range e.Trials() {
		t.Plan.Trial = "case"
		o, err := trial.Simulate(t.Plan)
		if err != nil {
			return nil, nil, err
		}
		if o.Status == trace.Failed || o.Status == trace.Invalid {
			return nil, nil, fmt.Errorf("%s: %s", o.Status, o.Reason)
		}
		if missed == nil {
			which := ""
			if e.Most() > 1 {
				which = fmt.Sprintf(" (trial %d of %d)", t.Number, e.Most())
			}
			for _, text := range o.Missed {
				missed = append(missed, errors.New(text+which))
			}
			if n := len(o.Violations) - len(o.Missed); n > 0 {
				missed = append(missed, errors.New(o.Violations[0]+which))
			}
		}
		if e.Most() > 1 {
			o.Trace = nil
		}
		r.Plan, r.Trials = t.Plan, append(r.Trials, o)
	}
	return r, missed, nil
}
