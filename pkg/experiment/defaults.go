package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/param"
)

// atDefaults says in one line that algorithms are compared at the defaults of what decides
// how soon each of them notices a crash, and how often it is wrong; "" if they are not. Owned is
// whether some have failure detectors of their own.
func (e *Experiment) atDefaults(owned bool) string {
	noticing := map[string]bool{} // algorithms, and whether one of their time-outs is at its default
	timeouts, detector := false, false
	for i := range e.Cells {
		c := &e.Cells[i]
		a, err := algo.Lookup(c.Algorithm)
		if err != nil || a.Spec.Survives.Crashes == nil || c.Plan.Scenario.Declared().Scripted {
			continue
		}
		noticing[c.Algorithm] = true
		timeouts = timeouts || defaultTimeouts(a, &c.Plan)
		if a.Spec.Needs.Detector != algo.NoDetector || a.Problem == algo.Election {
			detector = detector || defaultDetector(&c.Plan)
		}
	}
	const why = " at their defaults: differences in time may reflect them, not the algorithms; tune them " +
		"with: " +
		"bench tune FILE"
	switch {
	case len(noticing) < 2, e.tuned(owned):
		return ""
	case timeouts && detector:
		return "time-outs and detectors are" + why
	case timeouts:
		return "time-outs are" + why
	}
	return ""
}

// defaultTimeouts says whether one of the algorithm's durations is its default.
func defaultTimeouts(a *algo.Algorithm, p *harness.Plan) bool {
	defaults := a.Spec.Defaults(p.Known())
	for _, param := range a.Spec.Params {
		if param.Type == algo.Duration && reflect.DeepEqual(p.Params[param.Name], defaults[param.Name]) {
			return true
		}
	}
	return false
}

// defaultDetector says whether all durations of the detector are the defaults of its kind.
func defaultDetector(p *harness.Plan) bool {
	return !slices.ContainsFunc(p.Detector.Params(), func(d param.Param) bool {
		_, isDuration := d.At.(*time.Duration)
		return isDuration && d.Preset() != "" && !d.IsDefault()
	})
}

// tuned says whether each algorithm sets how long its leader's silence is borne, as in the file
// that bench tune writes. A detector that all share is not tuned to any of them.
func (e *Experiment) tuned(owned bool) bool {
	return !slices.ContainsFunc(e.Cells, func(c Cell) bool {
		a, err := algo.Lookup(c.Algorithm)
		if err != nil {
			return true
		}
		if patience := a.Spec.Tuned(algo.Patience, c.Plan.Params); patience != nil {
			preset := a.Spec.Defaults(c.Plan.Known())[patience.Name]
			return reflect.DeepEqual(c.Plan.Params[patience.Name], preset)
		}
		key := c.Plan.Detector.Tuned()
		return !owned || key == nil || key.IsDefault()
	})
}

// Patience is how long the algorithm of a cell bears the silence of a leader, by its own time-out or by that
// of the detector, or how late a detector is that makes no mistakes; "" if nothing in the cell says that.
func (c *Cell) Patience() string {
	a, err := algo.Lookup(c.Algorithm)
	if err != nil {
		return ""
	}
	if p := a.Spec.Tuned(algo.Patience, c.Plan.Params); p != nil {
		if d, _ := c.Plan.Params[p.Name].(time.Duration); d > 0 {
			return d.String()
		}
	}
	p := c.Plan.Detector.Tuned()
	if params := c.Plan.Detector.Params(); p == nil && len(params) > 0 {
		p = &params[0] // how late a detector that makes no mistakes is
	}
	if p == nil || a.Spec.Needs.Detector == algo.NoDetector && a.Problem != algo.Election {
		return ""
	}
	return fmt.Sprint(p.Value())
}
