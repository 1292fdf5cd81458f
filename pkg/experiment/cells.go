package experiment

import (
	"encoding/json"
	"reflect"
	"runtime"
	"slices"
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
	for _, c := range d.contenders {
		d.each(c, func(at []int) {
			if v := d.variant(c, at); v.addCell(&e, sum) {
				variants = append(variants, v)
			}
		})
	}
	sum.unused(d)
	d.distinct(&e)
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
func (v *variant) addCell(e *Experiment, sum *summary) bool {
	v.checkOwn()
	plan := v.plan()
	same := func(c Cell) bool { return reflect.DeepEqual(&c.Plan, &plan) }
	if v.spared && slices.ContainsFunc(e.Cells, same) {
		e.Notes = append(e.Notes, plan.Label+" has no servers: it runs once for all faults of servers")
		e.Notes = slices.Compact(e.Notes)
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

// distinct refuses two cells that are the same: their trials would be too.
func (d *draft) distinct(e *Experiment) {
	seen := map[string]int{}
	for i := range e.Cells {
		p := e.Cells[i].Plan
		b, err := json.Marshal(&p)
		if err != nil {
			d.Add(d.top(), "", "cell %d: %v", i+1, err)
			continue
		}
		if first := seen[string(b)]; first > 0 {
			d.Add(d.leaves["sweep"].Raw.At, "sweep", "cells %d and %d of %s are the same: a key that "+
				"varies has no effect there; zip it with the key that it depends on", first, i+1, p.Label)
			return
		}
		seen[string(b)] = i + 1
	}
}
