// Package plan says what an experiment would run, as a document: its cells, how many trials, how long
// they take, and how many of them find a change.
package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Document is what an experiment would run. Found is what it takes to detect a change; nil: nobody asked.
func Document(e *experiment.Experiment, found *Detection) *answer.Document {
	d := answer.New("plan", "The plan of "+e.Name)
	d.Add(facts(e))
	if text := settling(e); text != "" {
		d.Say("settle      " + text)
	}
	if text := power(e); text != "" {
		d.Say("ranking     " + text)
	}
	d.Say("")
	addCells(d, e)
	if text := bursts(e); text != "" {
		d.Say("\n" + text)
	}
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

// power says what so many repetitions can show among so many pairs of algorithms; "" if there are none, or no
// time by which algorithms of the problem are ranked.
func power(e *experiment.Experiment) string {
	designs := e.Designs()
	columns, places := view.Varying(designs), map[string]int{}
	columns = slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "label" })
	for _, d := range designs {
		places[view.Name(view.Place(d, columns), columns)]++
	}
	tests, fewest := 0, len(designs)
	for _, n := range places {
		tests, fewest = tests+n*(n-1)/2, min(fewest, n)
	}
	if len(places) > 1 {
		tests += fewest * (fewest - 1) / 2 // over the sweep
	}
	if tests == 0 || e.Repetitions == 1 || metric.Ranked(e.Problem) == nil { // one is a demonstration
		return ""
	}
	return compare.PowerText(e.Repetitions, tests)
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
			holds = ", and the interval holds whenever the cell stops (anytime)"
		}
		out = append(out, answer.Fact{Name: "until_metric", Value: u.Metric, Line: fmt.Sprintf(
			"until       %s is known to %s in a cell%s", u.Metric, results.Percent(u.CI), holds)},
			answer.Fact{Name: "until_ci", Value: u.CI}, answer.Fact{Name: "until_anytime", Value: u.Anytime})
	}
	disk := e.Disk()
	memory, beside := e.Memory(), ""
	if e.Virtual() && e.Most() > 1 {
		beside = ", and one runs on each core"
	}
	return append(out, answer.Fact{Name: "estimate", Value: HowLong(e), Line: "time        " + HowLong(e)},
		answer.Fact{Name: "tables_bytes", Value: math.Round(disk.Tables),
			Line: "disk        " + onDisk(e, disk)},
		answer.Fact{Name: "traces_bytes", Value: math.Round(disk.Traces)},
		answer.Fact{Name: "trace_bytes", Value: math.Round(disk.Trace)},
		answer.Fact{Name: "trial_memory_bytes", Value: math.Round(memory),
			Line: "memory      roughly " + console.Bytes(memory) + " for a trial" + beside},
		answer.Fact{Name: "seed", Value: e.Seed, Line: fmt.Sprintf("seed        %d", e.Seed)})
}

// addCells adds the cells, with what follows from the parameters and no record of a trial says: settle_ms is
// how long the leader lives at least before something happens to it, period_ms the longest of what it
// repeats, phase_of the timer or the message by which its phase is told, recovers_ms how long an outage
// lasts at most as a rule, places how many processes the critical section holds.
func addCells(d *answer.Document, e *experiment.Experiment) {
	design := DesignOf(e)
	columns := slices.Concat([]answer.Column{{Name: "cell", Kind: answer.Count},
		{Name: "algorithm", Kind: answer.Words, Only: answer.People}}, design.Head(e), []answer.Column{
		{Name: "design", Kind: answer.Map, Only: answer.Programs},
		{Name: "trials", Kind: answer.Number, Only: answer.People}, {Name: "in_model", Kind: answer.Flag},
		{Name: "out_of_model", Kind: answer.List, Only: answer.Programs},
		{Name: "settle_ms", Kind: answer.Number, Unit: "ms", Only: answer.Programs},
		{Name: "period_ms", Kind: answer.Number, Unit: "ms", Only: answer.Programs},
		{Name: "phase_of", Kind: answer.Words, Only: answer.Programs},
		{Name: "recovers_ms", Kind: answer.Number, Unit: "ms", Only: answer.Programs},
		{Name: "places", Kind: answer.Count, Only: answer.Programs}})
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
		var places answer.Value
		if n := c.Plan.Places(); n > 0 {
			places = n
		}
		t.Row(append(row, metric.ByName(c.Design), Between(e.Fewest, e.Repetitions),
			answer.Shown{Value: c.Plan.InModel, Text: fmt.Sprint(c.Plan.InModel)},
			append([]string{}, c.Plan.OutOfModel...), ms(c.Plan.Scenario.Settle()),
			ms(c.Plan.Period().Length), phaseOf(c), ms(c.Plan.Endless()), places)...)
	}
}

// phaseOf names what tells the phase of a leader; nil: it has none.
func phaseOf(c *experiment.Cell) answer.Value {
	switch period := c.Plan.Period(); {
	case period.Length == 0 || period.Drawn:
		return nil
	case period.Timer == "":
		return results.Heartbeat
	default:
		return string(period.Timer)
	}
}

// manyPairs is how many messages under way at once make a burst worth naming: those of 300 processes.
const manyPairs = 100_000

// bursts names the cells in which messages under way at once grow with the square of the processes; "": there
// is none of a size that matters.
func bursts(e *experiment.Experiment) string {
	var labels []string
	most, nodes := 0.0, 0
	for i := range e.Cells {
		p := &e.Cells[i].Plan
		under := p.Underway()
		if !e.Virtual() || !p.Quadratic() || under < manyPairs {
			continue
		}
		if under > most {
			most, nodes = under, p.Nodes
		}
		if !slices.Contains(labels, e.Cells[i].Label) {
			labels = append(labels, e.Cells[i].Label)
		}
	}
	if labels == nil {
		return ""
	}
	return fmt.Sprintf("careful: %s: messages under way at once grow with the square of nodes, up to "+
		"about %s where nodes is %d; so does the memory of a trial", strings.Join(labels, ", "),
		console.Number(most), nodes)
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

// onDisk is what the run takes of the disk, in words.
func onDisk(e *experiment.Experiment, d experiment.Disk) string {
	text := "about " + console.Bytes(d.Tables)
	switch e.Trace {
	case trace.KeepAll:
		text += ", and roughly " + console.Bytes(d.Traces) + " of traces"
	case trace.KeepFailures:
		text += fmt.Sprintf(", and for each reason of failure up to %d traces of at most %s",
			results.MostAlike, console.Bytes(d.Trace))
	}
	return text
}

// Repetitions is how many each cell has, in words.
func Repetitions(e *experiment.Experiment) string {
	if e.Until != nil {
		return Between(e.Fewest, e.Repetitions) + " repetitions"
	}
	if e.Rounds > 1 {
		return fmt.Sprintf("%d repetitions (in %d rounds)", e.PerCell(), e.Rounds)
	}
	text := console.Plural(e.PerCell(), "repetition", "repetitions")
	if e.Most() < e.PerCell()*len(e.Cells) { // a shard, whose cells have different shares
		text = "up to " + text
	}
	return text
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
