// Package plan says what an experiment would run, as a document: its cells, how many trials, how long
// they take, and how many of them find a change.
package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Document is what an experiment would run. Found is what it takes to detect a change; nil: nobody asked.
func Document(e *experiment.Experiment, found *Detection) *answer.Document {
	d := answer.New("plan", "The plan of "+e.Name)
	d.Add(facts(e))
	if text := settling(e); text != "" {
		d.Say("settle      " + text)
	}
	d.Say("")
	addCells(d, e)
	if len(e.Notes) > 0 {
		d.Say("")
	}
	for i, n := range e.Notes {
		d.Add(answer.Note{Text: n, Line: fmt.Sprintf("[%d] %s", i+1, n)})
	}
	if found != nil {
		found.add(d, e)
	}
	return d
}

func facts(e *experiment.Experiment) answer.Facts {
	least, most := e.Estimate()
	seconds := func(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
	out := answer.Facts{
		{Name: "name", Value: e.Name,
			Line: fmt.Sprintf("experiment  %s: %s, %s", e.Name, e.Problem, e.Transport)},
		{Name: "problem", Value: string(e.Problem)}, {Name: "transport", Value: e.Transport},
		{Name: "repetitions", Value: e.Repetitions}, {Name: "min_repetitions", Value: e.Fewest},
		{Name: "rounds", Value: e.Rounds},
		{Name: "trials", Value: e.Most(), Line: fmt.Sprintf("trials      %s x %s = %s",
			console.Plural(len(e.Cells), "cell", "cells"), Repetitions(e), Between(e.Least(), e.Most()))},
		{Name: "min_trials", Value: e.Least()},
		{Name: "estimate_s", Value: seconds(most)}, {Name: "min_estimate_s", Value: seconds(least)},
		{Name: "config_sha256", Value: e.Hash()},
	}
	if u := e.Until; u != nil {
		holds := ""
		if u.Anytime {
			holds = ", and that holds whenever it stops (anytime)"
		}
		out = append(out, answer.Fact{Name: "until_metric", Value: u.Metric, Line: fmt.Sprintf(
			"until       %s is known to %s in a cell%s", u.Metric, results.Percent(u.CI), holds)},
			answer.Fact{Name: "until_ci", Value: u.CI}, answer.Fact{Name: "until_anytime", Value: u.Anytime})
	}
	return append(out, answer.Fact{Name: "estimate", Value: HowLong(e), Line: "time        " + HowLong(e)},
		answer.Fact{Name: "seed", Value: e.Seed, Line: fmt.Sprintf("seed        %d", e.Seed)})
}

// addCells adds the cells. settle_ms is how long the leader lives at least before something happens to it,
// period_ms the longest of what it repeats.
func addCells(d *answer.Document, e *experiment.Experiment) {
	design := DesignOf(e)
	columns := slices.Concat([]answer.Column{{Name: "cell", Kind: answer.Count},
		{Name: "algorithm", Kind: answer.Words, Only: answer.People}}, design.Head(e), []answer.Column{
		{Name: "design", Kind: answer.Map, Only: answer.Programs},
		{Name: "trials", Kind: answer.Number, Only: answer.People}, {Name: "in_model", Kind: answer.Flag},
		{Name: "out_of_model", Kind: answer.List, Only: answer.Programs},
		{Name: "settle_ms", Kind: answer.Number, Unit: "ms", Only: answer.Programs},
		{Name: "period_ms", Kind: answer.Number, Unit: "ms", Only: answer.Programs}})
	t := d.Table("cells", columns...)
	t.Keys = 2 + len(design.Columns)
	ms := func(d time.Duration) answer.Value {
		if d == 0 {
			return nil
		}
		return float64(d) / float64(time.Millisecond)
	}
	for i := range e.Cells {
		c := &e.Cells[i]
		row := []answer.Value{c.Number, c.Label}
		for _, v := range design.Values(c) {
			row = append(row, v)
		}
		t.Row(append(row, metric.ByName(c.Design), Between(e.Fewest, e.Repetitions),
			answer.Shown{Value: c.Plan.InModel, Text: fmt.Sprint(c.Plan.InModel)},
			append([]string{}, c.Plan.OutOfModel...), ms(c.Plan.Scenario.Settle()),
			ms(c.Plan.Period().Length))...)
	}
}

// settling is how long the leader of each cell lives at least, in words; "": nothing is
// done to one.
func settling(e *experiment.Experiment) string {
	var all []time.Duration
	for i := range e.Cells {
		if settle := e.Cells[i].Plan.Scenario.Settle(); settle > 0 {
			all = append(all, settle)
		}
	}
	if len(all) == 0 {
		return ""
	}
	if least, most := slices.Min(all), slices.Max(all); least < most {
		return fmt.Sprintf("%v to %v: at least two of what the leader repeats", least, most)
	}
	return all[0].String()
}

// Repetitions is how many each cell has, in words.
func Repetitions(e *experiment.Experiment) string {
	if e.Until != nil {
		return Between(e.Fewest, e.Repetitions) + " repetitions"
	}
	if e.Rounds > 1 {
		return fmt.Sprintf("%d repetitions (in %d rounds)", e.PerCell(), e.Rounds)
	}
	return console.Plural(e.PerCell(), "repetition", "repetitions")
}

// Between is a number that is known within bounds.
func Between(least, most int) string {
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d..%d", least, most)
}

// HowLong is how long all trials take, in words.
func HowLong(e *experiment.Experiment) string {
	least, most := e.Estimate()
	if a, b := About(least), About(most); a != b {
		return a + ", or up to " + strings.TrimPrefix(b, "about ")
	}
	return About(most)
}

// About is an estimated time in words.
func About(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "a second or two"
	case d < 10*time.Second:
		return "about " + d.Round(time.Second).String()
	case d < 10*time.Minute:
		return "about " + d.Round(5*time.Second).String()
	case d < 2*time.Hour:
		return fmt.Sprintf("about %d minutes", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("about %d hours", int(d.Round(time.Hour).Hours()))
}
