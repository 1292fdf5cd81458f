package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An outcome is what a run came to, cell by cell.
type outcome struct {
	experiment *experiment.Experiment
	dir        string
	host       string   // command of the host program; "" without
	machine    string   // as --machine calls it; "" without
	queue      string   // address of NATS, as --queue names it; "" without
	hosts      string   // file of several machines, as --hosts names it; "" without
	metrics    []string // of the table
	cells      []cellOutcome
	statuses   map[trace.Status]int
	finished   int
	violations []results.Trial                 // within the model, the first of them
	errors     []results.Trial                 // likewise
	first      map[trace.Status]*results.Trial // that counts against the run, by status
	tally      tally
	notes      []string
	stopping   *runner.Stopping
	misses     []compare.Miss   // of the thresholds
	held       []compare.Held   // those over operations, kept or not
	ranking    *compare.Ranking // of the algorithms; nil: there is none
	spreads    []compare.Spread // of several rounds on real nodes
}

type cellOutcome struct {
	method   stats.Method
	statuses map[trace.Status]int
	marked   int
	asides   [len(asides)]int          // how many of its trials with status ok each aside is about
	beyond   int                       // trials that are beyond the model
	samples  map[string]results.Sample // what its trials observed of each metric of the table
	clocks   float64                   // largest clock_error_us
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
	{metric.SettledShare, 0, "never settled", "no leader that the scenario struck had led for settle; " +
		"see leader_wait_ms and settled_share"},
	{metric.HastenedShare, 1, "hastened", "a process had missed the leader, or given it up, before it " +
		"crashed: the times of elections and outages leave such trials out; see hastened_share"},
}

// mostTold bounds how many trials are told in words. All of them are counted.
const mostTold = 10

// briefMetrics are the metrics of the table; the files have them all. Where what
// goes wrong lasts, it is the span and not the single election that counts.
func briefMetrics(e *experiment.Experiment) []string {
	table := metric.Brief
	for _, c := range e.Cells {
		if t := check.Brief(c.Plan.Scenario.Declared()); t != metric.Brief {
			table = t
		}
	}
	return metric.Names(metric.Shown(e.Problem, table))
}

// outcomeOf reads what the folder holds. Its figures are those of summary.csv.
func outcomeOf(e *experiment.Experiment, dir string) (*outcome, error) {
	o := newOutcome(e, dir)
	return o, runner.EachTrial(e, dir, o.add)
}

// newOutcome knows no trial yet.
func newOutcome(e *experiment.Experiment, dir string) *outcome {
	o := &outcome{
		experiment: e, dir: dir, metrics: briefMetrics(e), cells: make([]cellOutcome, len(e.Cells)),
		statuses: map[trace.Status]int{}, first: map[trace.Status]*results.Trial{},
		tally:    tally{allow: e.Allow},
		stopping: runner.NewStopping(e),
	}
	for i := range o.cells {
		o.cells[i] = cellOutcome{method: o.stopping.Rule().Method(), statuses: map[trace.Status]int{},
			samples: map[string]results.Sample{}}
		for _, name := range o.metrics {
			o.cells[i].samples[name] = results.Sample{}
		}
	}
	return o
}

// hold holds the finished run against the thresholds of its experiment, looks whether the
// machine was the same throughout, ranks the algorithms, and says what the trials that had
// to be repeated may have hidden.
func (o *outcome) hold() error {
	e := o.experiment
	if e.Shard.Of > 0 {
		o.tally.part = true
		o.notes = append(o.notes, results.Shard{Index: e.Shard.Index, Of: e.Shard.Of}.Note())
		return nil
	}
	if o.tally.err != nil || len(e.Thresholds) == 0 && e.Virtual() && len(e.Algorithms) < 2 {
		return nil
	}
	frugal(false)
	t, err := results.ReadTable(o.dir)
	if err == nil {
		o.misses, o.held, err = compare.Misses(t, e.Thresholds)
		o.tally.missed = len(o.misses)
		o.notes = append(o.notes, compare.Drifts(t)...)
		o.notes = append(o.notes, compare.ReplacedNotes(t)...)
		o.ranking, o.spreads = compare.Rank(t), compare.Spreads(t)
	}
	return err
}

func (o *outcome) add(t *results.Trial) {
	o.stopping.Add(t)
	c := &o.cells[t.Cell-1]
	c.statuses[t.Status]++
	if t.Marked() {
		c.marked++
		o.tally.marked++
		o.note(t)
	}
	if !t.InModel {
		c.beyond++
	}
	o.statuses[t.Status]++
	o.finished++
	for _, name := range o.metrics {
		v, seen := t.Observe(name)
		c.samples[name].Add(t.Start(), v, seen)
	}
	for i := range asides {
		if v, kind := t.Observe(asides[i].of.Name); kind == results.Observed && v == asides[i].value {
			c.asides[i]++
		}
	}
	if v, kind := t.Observe(metric.ClockError.Name); kind == results.Observed {
		c.clocks = max(c.clocks, v)
	}
	switch t.Status {
	case trace.OK:
		o.tally.ok++
	case trace.TimedOut:
		alg, _ := algo.Lookup(o.experiment.Cells[t.Cell-1].Algorithm) // linked in, or nothing would have run
		if t.InModel && check.PromisesEnd(alg) {
			o.tally.timeouts++
			o.note(t)
		}
	case trace.Violated:
		if t.InModel {
			o.tally.violations++
			o.violations = keep(o.violations, t)
		}
	case trace.Failed:
		o.tally.errors++
		o.errors = keep(o.errors, t)
	case trace.Invalid:
		o.tally.invalid++
		o.note(t)
	case trace.Unstable:
		o.note(t)
	default:
		o.tally.unknown++
		o.note(t)
	}
}

func (o *outcome) note(t *results.Trial) {
	if o.first[t.Status] == nil {
		o.first[t.Status] = t
	}
}

// example is the first trial of a status, for a warning about all of them.
func (o *outcome) example(status trace.Status) string {
	t := o.first[status]
	if t == nil || t.Reason == "" {
		return "the reason stands in trials.csv"
	}
	return fmt.Sprintf("trial %d: %s", t.Trial, short(t.Reason))
}

// short is a text that may be long, for a line that should not be.
func short(text string) string {
	const most = 160
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "..."
}

func keep(list []results.Trial, t *results.Trial) []results.Trial {
	if len(list) < mostTold {
		list = append(list, *t)
	}
	return list
}

// describe condenses a metric of a cell.
func (c *cellOutcome) describe(name string) stats.Summary {
	d := c.samples[name].Describe(c.method)
	d.Doubt = metric.Named(name).Doubt(c.clocks)
	return d
}

// table is a row for each cell: what differs between them, and the figures that
// an experimenter looks at first. The notes explain the figures.
func (o *outcome) table() (t *console.Table, notes []string) {
	d := designOf(o.experiment)
	t = &console.Table{}
	legend := &compare.Legend{}
	t.Column("algorithm", false)
	d.head(t, o.experiment)
	t.Keyed(len(t.Head))
	t.Column("n", true)
	for _, m := range o.metrics {
		t.Column(m, true)
	}
	rule := o.stopping.Record()
	if rule != nil {
		t.Column("until", false)
	}
	t.Column("trials", false)
	for i := range o.cells {
		c, cell := &o.cells[i], &o.experiment.Cells[i]
		row := append([]string{cell.Label}, d.values(cell)...)
		row = append(row, fmt.Sprint(c.statuses[trace.OK]))
		for _, m := range o.metrics {
			row = append(row, legend.Estimate(metric.Named(m), c.describe(m), c.statuses[trace.OK]))
		}
		if rule != nil {
			row = append(row, ended(&rule.Rule, &rule.Cells[i]))
		}
		t.Add(append(row, o.count(c, cell))...)
	}
	notes = legend.Notes()
	if slices.ContainsFunc(o.experiment.Cells, func(c experiment.Cell) bool {
		return !o.cells[c.Number-1].within(&c)
	}) {
		notes = append(notes, "*: in_model=false: more was asked of the algorithm than it promises")
	}
	for i := range asides {
		if slices.ContainsFunc(o.cells, func(c cellOutcome) bool { return c.asides[i] > 0 }) {
			notes = append(notes, asides[i].name+": "+asides[i].means)
		}
	}
	return t, notes
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
func (o *outcome) count(c *cellOutcome, cell *experiment.Cell) string {
	var parts []string
	total := 0
	for _, status := range trace.Statuses() {
		if n := c.statuses[status]; n > 0 {
			part := fmt.Sprintf("%s %d", status, n)
			if status == trace.OK {
				part += c.but()
			}
			parts = append(parts, part)
			total += n
		}
	}
	most := ""
	if o.experiment.Until != nil {
		most = "at most "
	}
	if missing := o.stopping.Repetitions(cell.Number) - total; missing > 0 {
		parts = append(parts, fmt.Sprintf("not run %s%d", most, missing))
	}
	text := strings.Join(parts, ", ")
	switch {
	case !cell.Plan.InModel:
		text += " *"
	case c.beyond > 0:
		text += fmt.Sprintf(" (%d *)", c.beyond)
	}
	return text
}

// but says what is to be known of the trials with status ok.
func (c *cellOutcome) but() string {
	var parts []string
	if c.marked > 0 {
		parts = append(parts, fmt.Sprintf("marked %d", c.marked))
	}
	for i := range asides {
		if c.asides[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", asides[i].name, c.asides[i]))
		}
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// within says whether all of the cell is within the model, by its plan and by its trials.
func (c *cellOutcome) within(cell *experiment.Cell) bool { return cell.Plan.InModel && c.beyond == 0 }
