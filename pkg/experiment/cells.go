package experiment

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// experiment makes the cells; it is complete only if nothing was reported.
func (d *draft) experiment() *Experiment {
	cells := 0
	for _, c := range d.contenders {
		cells += d.combinations(c)
	}
	d.settle(d.leaves, func(string) bool { return true })
	if cells > maxCells {
		d.Add(d.leaves["sweep"].Raw.At, "sweep", "more than %d cells; vary fewer keys", maxCells)
		return nil
	}
	e := d.settings.Experiment
	if cells*e.Repetitions > maxTrials {
		d.Add(d.leaves["repetitions"].Raw.At, "repetitions", "%d of %d cells, expected at most %d trials",
			e.Repetitions, cells, maxTrials)
		return nil
	}
	thresholds := d.thresholds
	d.checkUntil()
	d.checkKeep()
	d.checkRounds()
	d.checkBus()
	d.checkLibraries()
	e.Overrides, e.Notes = d.overrides(), d.notes
	sum := newSummary(d)
	var variants []*variant
	numbers := map[string]int{} // of the cells, by their plans
	for _, c := range d.contenders {
		d.each(c, func(at []int) {
			if v := d.variant(c, at); v.addCell(&e, sum, numbers) {
				variants = append(variants, v)
			}
		})
	}
	sum.unused(d)
	if d.repeated != "" {
		d.Add(d.leaves["sweep"].Raw.At, "sweep", "%s", d.repeated)
	}
	if d.Count() > 0 {
		return nil
	}
	if text := e.atDefaults(d.owned()); text != "" {
		e.AsSet = text
		e.Notes = append(e.Notes, text)
	}
	if text := e.tooMany(runtime.NumCPU()); text != "" {
		e.Notes = append(e.Notes, text)
	}
	e.design(variants, d.axes)
	if u := e.Until; u != nil {
		d.checkHosted(d.untilAt(), "repetitions.until.metric", u.Metric, nil, &e)
	}
	if d.checkThresholds(thresholds, &e); d.Count() > 0 {
		return nil
	}
	for _, t := range thresholds {
		e.Thresholds = append(e.Thresholds, t.Threshold)
	}
	e.Algorithms = sum.algorithms()
	e.resolved = sum.text()
	return &e
}

// addCell makes the plan and puts the cell behind the others, if it is to have one.
func (v *variant) addCell(e *Experiment, sum *summary, numbers map[string]int) bool {
	v.checkOwn()
	plan := v.plan()
	if v.repeats(e, &plan, numbers) {
		return false
	}
	e.Cells = append(e.Cells, Cell{
		Number: len(e.Cells) + 1, Algorithm: plan.Algorithm, Label: plan.Label, Plan: plan,
	})
	e.TimeLimit = max(e.TimeLimit, plan.TimeLimit)
	sum.note(v, &plan)
	note := func(text string) {
		text = plan.Label + ": " + text
		if len(e.Notes) < 20 && !slices.Contains(e.Notes, text) {
			e.Notes = append(e.Notes, text)
		}
	}
	for _, reason := range plan.OutOfModel {
		note(reason + "; the rows are marked in_model=false")
	}
	for _, text := range v.remarks {
		note(text)
	}
	if set, err := v.contender.alg.Spec.SetOf(v.contender.Set); err == nil {
		if text := set.Refusal(plan.Params); text != "" {
			note(text)
		}
	}
	return true
}

// repeats says whether the cell is to be left out, since one with the same plan is there already: numbers has
// those so far, by plans in JSON. To run the same trials again is a mistake, unless the cells differ in
// faults of servers alone, and the algorithm has no servers.
func (v *variant) repeats(e *Experiment, plan *harness.Plan, numbers map[string]int) bool {
	b, err := json.Marshal(plan)
	if err != nil {
		v.Add(v.top(), "", "cell %d: %v", len(e.Cells)+1, err)
		return false
	}
	first := numbers[string(b)]
	switch {
	case first == 0:
		numbers[string(b)] = len(e.Cells) + 1
		return false
	case v.spared:
		e.Notes = append(e.Notes, plan.Label+" has no servers: it runs once for all faults of servers")
		e.Notes = slices.Compact(e.Notes)
	case v.repeated == "":
		v.repeated = fmt.Sprintf("cells %d and %d of %s are the same: a key that varies has no effect "+
			"there; zip it with the key that it depends on", first, len(e.Cells)+1, plan.Label)
	}
	return v.spared
}
