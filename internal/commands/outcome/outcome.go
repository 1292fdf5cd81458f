// Package outcome is what a run came to: its cells with the figures that people look at first, what went
// wrong, which algorithm is faster, and the exit code that follows.
package outcome

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Outcome is what a run came to, cell by cell.
type Outcome struct {
	Experiment *experiment.Experiment
	Dir        string
	Again      []string // flags with which an interrupted run is resumed, and their values
	Notes      []string
	Whole      bool     // people see all notes, and how the trials of each cell ended
	Metrics    []string // of the table
	Tally      Tally
	Stopping   *runner.Stopping
	Violations []results.Trial // within the model, the first of them

	cells    []cell
	statuses map[trace.Status]int
	finished int
	errors   []results.Trial                 // the first of them
	first    map[trace.Status]*results.Trial // that counts against the run, by status
	misses   []compare.Held                  // of the thresholds
	held     []compare.Held                  // those over operations, kept or not
	ranking  *compare.Ranking                // of the algorithms; nil: there is none
	spreads  []compare.Spread                // of several rounds on real nodes
	traced   []results.Traced                // where traces were left out
}

// A cell is what the trials of one came to.
type cell struct {
	*view.Cell
	asides [len(asides)]int // how many of its trials with status ok each aside is about
}

// An aside is what a reader has to know of a trial although its status is ok: a metric of it
// has a certain value.
type aside struct {
	of    *metric.Metric
	value float64
	name  string
	means string
}

var asides = [...]aside{
	{metric.SettledShare, 0, "never settled", "no leader had led for settle when the scenario struck it; " +
		"see leader_wait_ms and settled_share"},
	{metric.HastenedShare, 1, "hastened", "a process had suspected or given up the leader before it " +
		"crashed: times of elections and outages exclude such trials; see hastened_share"},
}

// MostTold bounds how many trials are described in words. All of them are counted.
const MostTold = 10

// Of reads what the folder holds. Its figures are those of summary.csv.
func Of(e *experiment.Experiment, dir string) (*Outcome, error) {
	o := New(e, dir)
	if m, err := results.ReadManifest(dir); err == nil { // a run that was killed has none
		o.traced = m.Traced
	}
	if e.Keep == trace.KeepSummary {
		return o, o.fold()
	}
	return o, runner.EachTrial(e, dir, o.Add)
}

// fold takes in what is kept of each cell instead of trials.
func (o *Outcome) fold() error {
	t, err := results.ReadCells(o.Dir)
	if err != nil {
		return err
	}
	for _, c := range t.Cells() {
		if c.Number < 1 || c.Number > len(o.cells) {
			return fmt.Errorf("%s: cell %d, but the run has %d cells", o.Dir, c.Number, len(o.cells))
		}
		to := &o.cells[c.Number-1]
		to.Cell = view.FoldedCell(c)
		for i := range asides {
			if y := c.Fold.Metrics[asides[i].of.Name]; y != nil {
				to.asides[i] = y.Values.Equal(asides[i].value)
			}
		}
		for status, n := range to.Statuses {
			o.statuses[status] += n
			o.finished += n
		}
		o.Tally.OK += c.Count(trace.OK)
		o.Tally.Marked += c.Fold.Marked
		for _, x := range c.Fold.Failures {
			t := x.Example()
			t.Cell, t.Design = c.Number, c.Design
			o.judge(&t, x.Count)
		}
	}
	return nil
}

// New knows no trial yet.
func New(e *experiment.Experiment, dir string) *Outcome {
	designs := e.Designs()
	o := &Outcome{
		Experiment: e, Dir: dir, Metrics: metric.Names(view.Brief(designs)),
		cells:    make([]cell, len(e.Cells)),
		statuses: map[trace.Status]int{}, first: map[trace.Status]*results.Trial{},
		Tally: Tally{Allow: e.Allow}, Stopping: runner.NewStopping(e),
	}
	for i := range o.cells {
		o.cells[i].Cell = view.NewCell(designs[i], o.Stopping.Rule().Method(), o.Metrics)
	}
	return o
}

// Hold holds the finished run against the thresholds of its experiment, looks whether the
// machine was the same throughout, ranks the algorithms, and says what the trials that had
// to be repeated may have hidden.
func (o *Outcome) Hold() error {
	e := o.Experiment
	if e.Shard.Of > 0 {
		o.Tally.Part = true
		o.Notes = append(o.Notes, results.Shard{Index: e.Shard.Index, Of: e.Shard.Of}.Note())
		return nil
	}
	if o.Tally.Err != nil || len(e.Thresholds) == 0 && e.Virtual() && len(e.Algorithms) < 2 {
		return nil
	}
	if e.Keep == trace.KeepSummary {
		o.Notes = append(o.Notes, foldedNote)
		return nil
	}
	t, err := results.ReadTable(o.Dir)
	if err == nil {
		err = o.hold(t)
	}
	return err
}

// foldedNote says what is absent where no single trial is kept.
const foldedNote = "keep: summary: no single trial is kept, so algorithms are not ranked, and pooled means " +
	"have no intervals; quantiles are off by less than 0.1 %"

// hold is Hold of the tables of a run.
func (o *Outcome) hold(t *results.Table) (err error) {
	o.misses, o.held, err = compare.Misses(t, o.Experiment.Thresholds)
	o.Tally.Missed = len(o.misses)
	o.Notes = append(o.Notes, compare.Drifts(t)...)
	o.Notes = append(o.Notes, compare.ReplacedNotes(t)...)
	o.ranking, o.spreads = compare.Rank(t), compare.Spreads(t)
	return err
}

// Add counts a trial.
func (o *Outcome) Add(t *results.Trial) {
	o.Stopping.Add(t)
	c := &o.cells[t.Cell-1]
	c.Add(t)
	if t.Marked() {
		o.Tally.Marked++
	}
	o.statuses[t.Status]++
	o.finished++
	for i := range asides {
		if v, kind := t.Observe(asides[i].of.Name); kind == results.Observed && v == asides[i].value {
			c.asides[i]++
		}
	}
	o.judge(t, 1)
	if t.Status == trace.OK {
		o.Tally.OK++
	}
}

// judge counts what speaks against the run: n trials like t.
func (o *Outcome) judge(t *results.Trial, n int) {
	switch t.Status {
	case trace.OK:
		if t.Marked() {
			o.note(t)
		}
	case trace.TimedOut:
		alg, _ := algo.Lookup(o.Experiment.Cells[t.Cell-1].Algorithm) // linked in, or nothing would have run
		if t.InModel && check.PromisesEnd(alg) {
			o.Tally.Timeouts += n
			o.note(t)
		}
	case trace.Violated:
		if t.InModel {
			o.Tally.Violations += n
			o.Violations = keep(o.Violations, t)
		}
	case trace.Failed:
		o.Tally.Errors += n
		o.errors = keep(o.errors, t)
	case trace.Invalid:
		o.Tally.Invalid += n
		o.note(t)
	case trace.Unstable:
		o.note(t)
	default:
		o.Tally.Unknown += n
		o.note(t)
	}
}

func (o *Outcome) note(t *results.Trial) {
	if o.first[t.Status] == nil {
		o.first[t.Status] = t
	}
}

// example is the first trial of a status, for a warning about all of them.
func (o *Outcome) example(status trace.Status) string {
	reason := o.reason(status)
	if reason == "" {
		return "trials.csv has the reason"
	}
	why, _, _ := strings.Cut(reason, "; ") // what follows is the remedy
	return fmt.Sprintf("trial %d: %s", o.first[status].Trial, console.Short(why))
}

// reason is that of the same trial; "": there is none.
func (o *Outcome) reason(status trace.Status) string {
	if t := o.first[status]; t != nil {
		return t.Reason
	}
	return ""
}

func keep(list []results.Trial, t *results.Trial) []results.Trial {
	if len(list) < MostTold {
		list = append(list, *t)
	}
	return list
}

// ended says why a cell ended under the rule, and how wide its interval is.
func ended(rule *results.Rule, c *results.Stopped) string {
	text := cmp.Or(c.Stopped, "not yet") + " " + c.Precision()
	if rule.Anytime {
		text += " " + string(stats.Anytime)
	}
	return text
}

// count is how the trials of a cell ended, and whether the algorithm was asked
// for more than it promises.
func (o *Outcome) count(c *cell, cell *experiment.Cell) string {
	var parts []string
	total := 0
	for _, status := range trace.Statuses() {
		if n := c.Statuses[status]; n > 0 {
			part := fmt.Sprintf("%s %d", status, n)
			if status == trace.OK {
				part += but(c.Marked, c.asides)
			}
			parts = append(parts, part)
			total += n
		}
	}
	most := ""
	if o.Experiment.Until != nil {
		most = "at most "
	}
	if missing := o.Stopping.Repetitions(cell.Number) - total; missing > 0 {
		parts = append(parts, fmt.Sprintf("not run %s%d", most, missing))
	}
	text := strings.Join(parts, ", ")
	switch {
	case !cell.Plan.InModel:
		text += " *"
	case c.Beyond > 0:
		text += fmt.Sprintf(" (%d *)", c.Beyond)
	}
	return text
}

// judgements is how the trials of the run ended, and how many of them the cells still lack.
func (o *Outcome) judgements() string {
	marked, missing := o.Tally.Marked, o.Stopping.Planned()-o.finished
	var about [len(asides)]int
	for i := range o.cells {
		for k, n := range o.cells[i].asides {
			about[k] += n
		}
	}
	var parts []string
	for _, status := range trace.Statuses() {
		if n := o.statuses[status]; n > 0 {
			part := fmt.Sprintf("%s %d", status, n)
			if status == trace.OK {
				part += but(marked, about)
			}
			parts = append(parts, part)
		}
	}
	if missing > 0 && o.Experiment.Until == nil {
		parts = append(parts, fmt.Sprintf("not run %d", missing))
	}
	return strings.Join(parts, ", ")
}

// but says what is to be known of trials with status ok, of which so many are marked, and each aside is
// about so many.
func but(marked int, about [len(asides)]int) string {
	var parts []string
	if marked > 0 {
		parts = append(parts, fmt.Sprintf("marked %d", marked))
	}
	for i := range asides {
		if about[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", asides[i].name, about[i]))
		}
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// within says whether all of the cell is within the model, by its plan and by its trials.
func (c *cell) within(cell *experiment.Cell) bool { return cell.Plan.InModel && c.Beyond == 0 }

// Describe condenses a metric of a cell by its number.
func (o *Outcome) Describe(cell int, metric string) stats.Summary {
	return o.cells[cell-1].Describe(metric)
}

// Count says how the trials of a cell ended, in words.
func (o *Outcome) Count(cell int) string {
	return o.count(&o.cells[cell-1], &o.Experiment.Cells[cell-1])
}

// Ended reports whether the cell needs no further trial.
func (o *Outcome) Ended(cell int) bool {
	trials := 0
	for _, n := range o.cells[cell-1].Statuses {
		trials += n
	}
	return trials >= o.Stopping.Repetitions(cell)
}
