package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A variant is one cell while it is being put together.
type variant struct {
	*draft
	contender *contender
	leaves    map[string]*config.Leaf
	params    map[string]any
	origins   map[string]config.Place // of params
	values    map[string]value        // what the sweep says, by key
	remarks   []string                // on this cell, for the experimenter
}

// A value is a swept one as it stands in the design: a duration in milliseconds,
// or with its unit where not all values of its key are durations.
type value struct{ ms, plain string }

func (v value) of(ms bool) string {
	if ms {
		return v.ms
	}
	return v.plain
}

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
		d.Add(d.leaves["repetitions"].Raw.At, "repetitions", "%d of %d cells, want at most %d trials",
			e.Repetitions, cells, maxTrials)
		return nil
	}
	thresholds := d.thresholds
	d.checkUntil()
	d.checkBus()
	e.Overrides, e.Notes = d.overrides(), d.notes
	sum := newSummary(d)
	var variants []*variant
	for _, c := range d.contenders {
		d.each(c, func(at []int) {
			v := d.variant(c, at)
			v.addCell(&e, sum)
			variants = append(variants, v)
		})
	}
	sum.unused(d)
	d.distinct(&e)
	if d.Count() > 0 {
		return nil
	}
	e.design(variants, d.axes)
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

// settle puts the values of the keys that count to where they go.
func (d *draft) settle(leaves map[string]*config.Leaf, counts func(key string) bool) {
	*d.settings = settings{files: d.files}
	d.Schema.Leaves(func(key string, f *config.Field) {
		if l := leaves[key]; l != nil && l.Value != nil && counts(key) {
			f.Of.Set(l.Value)
		}
	})
}

// variant applies the values at a position of the axes.
func (d *draft) variant(c *contender, at []int) *variant {
	v := &variant{draft: d, contender: c, leaves: maps.Clone(d.leaves),
		params: maps.Clone(c.Params), origins: maps.Clone(c.origins), values: map[string]value{}}
	for i, k := range at {
		if k < 0 {
			continue
		}
		for j := range d.axes[i].keys {
			s := &d.axes[i].keys[j]
			if given, ok := s.value(k, c); ok {
				v.params[s.param], v.origins[s.param] = given, s.raw[k].At
				v.values[s.key] = value{formatValue(given), writeParam(c.param(s.param), given).Bare()}
			}
			for _, ch := range s.sets[k] {
				v.apply(&ch)
			}
		}
	}
	v.complete()
	v.settle(v.leaves, v.counts)
	if k := harness.DetectorOf(v.Detector.Kind); k != nil {
		for i := range k.Keys {
			v.follow("detector.", &k.Keys[i])
		}
	}
	return v
}

// value is what the parameter is for c at position i, if c has it.
func (s *swept) value(i int, c *contender) (any, bool) {
	if s.param == "" {
		return nil, false
	}
	v, ok := s.given[i][c]
	return v, ok
}

func (v *variant) apply(c *change) {
	l := c.leaf
	if l == nil {
		l = v.Change(c.field, c.key, v.leaves[c.key], c.rest, c.value)
	}
	v.leaves[c.key] = l
	v.values[c.full()] = c.column()
}

// column is the value as it stands in the design.
func (c *change) column() value {
	text := c.meant().Bare()
	out := value{text, text}
	if d, ok := c.meant().Duration(); ok {
		out.ms = milliseconds(d)
	}
	return out
}

// complete fills in the defaults that follow from other values.
func (v *variant) complete() {
	v.fill(v.leaves, "scenario.kind", harness.UsualScenario(v.contender.alg.Problem))
	k := kindOf(v.leaves["scenario.kind"].Value)
	detector := harness.PerfectDetector(0)
	if k != nil && k.Scripted {
		detector = harness.NoDetector()
	}
	v.fill(v.leaves, "detector.kind", detector.Kind)
	if k != nil && k.Duration > 0 {
		v.fill(v.leaves, "scenario.duration", k.Duration.String())
	}
	if k != nil && slices.Contains(k.Keys, "requests") &&
		(v.leaves["scenario.duration"] == nil || !slices.Contains(k.Keys, "duration")) {
		v.fill(v.leaves, "scenario.requests", "100")
	}
}

func kindOf(name any) *harness.ScenarioKind {
	text, _ := name.(string)
	return harness.ScenarioOf(text)
}

// follow gives a key of the harness the value that follows from others in the plan.
func (v *variant) follow(prefix string, k *harness.Key) {
	key := prefix + k.Name
	if k.Follows != nil && v.leaves[key] == nil {
		v.fill(v.leaves, key, fmt.Sprint(k.Follows(&v.Plan)))
		v.Schema.Leaf(key).Of.Set(v.leaves[key].Value)
	}
}

// counts says whether a key goes into the plan of this cell: of a scenario's keys, and
// a detector's, those of its kind do.
func (v *variant) counts(key string) bool {
	head, rest, _ := strings.Cut(key, ".")
	switch {
	case head == "scenario" && rest != "kind":
		k := kindOf(v.leaves["scenario.kind"].Value)
		return k != nil && (rest == "expect" || slices.Contains(k.Keys, rest))
	case key == "faults.downtime" || key == "faults.max_down":
		rate, _ := v.leaves["faults.crash_rate"].Value.(float64)
		return rate > 0
	case head == "detector" && rest != "kind":
		kind, _ := v.leaves["detector.kind"].Value.(string)
		d := harness.DetectorOf(kind)
		return d != nil && slices.Contains(d.KeyNames(), rest)
	}
	return true
}

// means says whether a key changes anything in this cell.
func (v *variant) means(key string) bool {
	if v.contender.alg.Problem == algo.Election && slices.Contains(ofEntries, key) {
		return v.leaves[key].Explicit() // which is reported where scripts are checked
	}
	return v.counts(key)
}

// ofEntries are the keys of a script that mean nothing in an election.
var ofEntries = []string{"scenario.holder", "scenario.hold"}

// addCell makes the plan and puts the cell behind the others.
func (v *variant) addCell(e *Experiment, sum *summary) {
	plan := v.plan()
	e.Cells = append(e.Cells, Cell{
		Number: len(e.Cells) + 1, Algorithm: plan.Algorithm, Label: plan.Label, Plan: plan,
	})
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
				"varies means nothing there; zip it with the one that it depends on", first, i+1, p.Label)
			return
		}
		seen[string(b)] = i + 1
	}
}

// fixedColumns are the first ones of every design.
var fixedColumns = []string{"problem", "algorithm", "label", "transport", "nodes", "topology",
	"scenario", "latency_model", "latency_ms", "loss", "duplication", "crash_rate"}

// covered are the keys that the fixed columns show, and the column that shows
// one whole where the fixed ones do not tell two values apart.
var covered = map[string]string{
	"nodes": "", "topology": "topology_shape", "topology.kind": "",
	"network.loss":    "network_loss",
	"network.latency": "network_latency", "network.latency.distribution": "",
	"network.duplication": "", "faults.crash_rate": "", "scenario.kind": "",
}

// design gives every cell a value for each column.
func (e *Experiment) design(variants []*variant, axes []axis) {
	keys, durations := sweptKeys(axes)
	e.columns(variants, keys, durations, false)
	seen := map[string]bool{}
	for i := range e.Cells {
		b, _ := json.Marshal(e.Cells[i].Design)
		if seen[string(b)] {
			e.columns(variants, keys, durations, true)
			return
		}
		seen[string(b)] = true
	}
}

// sweptKeys are the keys of the sweep in order, and whether all their values are
// durations.
func sweptKeys(axes []axis) (keys []string, durations map[string]bool) {
	durations = map[string]bool{}
	see := func(key string, isDuration bool) {
		was, ok := durations[key]
		if !ok {
			keys = append(keys, key)
		}
		durations[key] = isDuration && (was || !ok)
	}
	for _, a := range axes {
		for _, s := range a.keys {
			for i := range s.raw {
				for _, v := range s.givenInOrder(i) {
					_, is := v.(time.Duration)
					see(s.key, is)
				}
				for _, c := range s.sets[i] {
					_, is := c.value.Duration()
					see(c.full(), is)
				}
			}
		}
	}
	return keys, durations
}

func (s *swept) givenInOrder(i int) (out []any) {
	if s.param == "" {
		return nil
	}
	for _, v := range s.given[i] {
		out = append(out, v)
	}
	return out
}

// columns fills in the design; all adds the columns that show values whole.
func (e *Experiment) columns(variants []*variant, keys []string, durations map[string]bool,
	all bool) {
	e.Columns = slices.Clone(fixedColumns)
	var shown []string
	for _, k := range keys {
		column, fixed := covered[k]
		switch {
		case !fixed:
			column = strings.ReplaceAll(k, ".", "_")
			if durations[k] {
				column += "_ms"
			}
		case column == "" || !all:
			continue
		}
		shown = append(shown, k)
		e.Columns = append(e.Columns, column)
	}
	for i, v := range variants {
		cell := &e.Cells[i]
		cell.Design = v.fixed(e, &cell.Plan)
		for j, k := range shown {
			cell.Design = append(cell.Design,
				metric.Field{Name: e.Columns[len(fixedColumns)+j],
					Value: v.values[k].of(durations[k] && covered[k] == "")})
		}
	}
}

// formatValue is a parameter's value as it stands in a column of the design.
func formatValue(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return milliseconds(v)
	case float64:
		return config.FormatFloat(v)
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = formatValue(x)
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

func milliseconds(d time.Duration) string { return config.FormatFloat(float64(d) / 1e6) }
