package outcome

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Document is what a command says of the run at its end.
func (o *Outcome) Document(verb string) *answer.Document {
	e, code := o.Experiment, o.Tally.Code()
	d := answer.New(verb, e.Name)
	d.Exit = code
	d.Verdict, _ = answer.VerdictOf(code)
	if o.finished > 0 {
		notes := o.table(d)
		d.Say("")
		o.rank(d)
		for _, text := range append([]string{"n: trials with status ok; figures: " +
			view.FigureNote(o.Stopping.Rule().Method())}, notes...) {
			d.Add(answer.Note{Text: text, Line: text, Of: []string{"cells"}})
		}
		d.Add(answer.Facts{{Name: "statuses", Value: o.judgements(), Line: "trials: " + o.judgements()}})
		o.variance(d)
	}
	facts := answer.Facts{
		{Name: "name", Value: e.Name}, {Name: "dir", Value: o.Dir}, {Name: "seed", Value: e.Seed},
		{Name: "planned", Value: o.Stopping.Planned()}, {Name: "finished", Value: o.finished},
		{Name: "complete", Value: o.finished == o.Stopping.Planned()},
	}
	if o.finished > 0 {
		facts[1].Line = "results: " + o.Dir
	}
	d.Add(facts)
	if len(o.traced) > 0 {
		text := results.LeftOut(o.traced)
		d.Add(answer.Note{Text: text, Line: text})
	}
	o.judged(d)
	o.failures(d)
	if o.Tally.Err != nil {
		aside := func(text string) {
			d.Add(answer.Note{Kind: "interrupted", Text: text, Line: text, Aside: true})
		}
		aside(o.Tally.Err.Error())
		aside(fmt.Sprintf("%s are kept; continue with: %s", Progress(e, o.finished, o.Stopping.Planned()),
			program.Command(append([]string{"run", "--resume", o.Dir}, o.Again...)...)))
	}
	return d
}

// Progress is how far a run is, in words: under a rule, the cells that are not at their end may
// need fewer trials than are planned for them.
func Progress(e *experiment.Experiment, finished, planned int) string {
	if e.Until != nil && finished < planned {
		return fmt.Sprintf("%d of at most %d trials", finished, planned)
	}
	return fmt.Sprintf("%d of %d trials", finished, planned)
}

// table adds a row for each cell: what differs between them, and the figures that an
// experimenter looks at first. The notes explain the figures.
func (o *Outcome) table(d *answer.Document) (notes []string) {
	e, rule, legend := o.Experiment, o.Stopping.Record(), &view.Legend{}
	t, beyond := d.Table("cells", o.columns()...), false
	t.Main, t.Keys = true, 1+len(view.Varying(e.Designs()))
	for i := range o.cells {
		c, cell := &o.cells[i], &e.Cells[i]
		label := answer.Shown{Value: cell.Label, Text: cell.Label}
		if !c.within(cell) {
			label.Text += " *"
		}
		row := []answer.Value{cell.Number, label}
		for i, name := range e.Columns {
			if name != "label" {
				row = append(row, designValue(cell.Design[i].Value))
			}
		}
		row = append(row, cell.Patience(), c.Statuses[trace.OK])
		for _, m := range o.Metrics {
			s := c.Describe(m)
			row = append(row, answer.Shown{Value: Estimate(s),
				Text: legend.Estimate(metric.Named(m), s, c.Statuses[trace.OK])})
		}
		if rule != nil {
			row = append(row, ended(&rule.Rule, &rule.Cells[i]))
		}
		row = append(row, o.count(c, cell), c.within(cell))
		for _, status := range trace.Statuses() {
			row = append(row, c.Statuses[status])
		}
		row = append(row, c.Marked)
		for i := range asides {
			row = append(row, c.asides[i])
		}
		t.Row(row...)
		beyond = beyond || !c.within(cell)
	}
	if len(o.cells) > mostRows {
		if wide, of := o.wide(d); wide {
			t.Only = answer.Programs
			notes = append(notes, fmt.Sprintf("the table shows only %s, of %s; all figures with "+
				"intervals: %s", of, console.Plural(len(o.cells), "cell", "cells"),
				program.Command("report", o.Dir)))
		}
	}
	o.rule(d, rule)
	notes = append(notes, legend.Notes()...)
	if beyond {
		notes = append(notes, "*: in_model=false: conditions exceed what the algorithm promises to handle")
	}
	for i := range asides {
		if slices.ContainsFunc(o.cells, func(c cell) bool { return c.asides[i] > 0 }) {
			notes = append(notes, asides[i].name+": "+asides[i].means)
		}
	}
	return notes
}

// differInPatience says whether algorithms are compared whose time-outs differ, and are not tuned.
func (o *Outcome) differInPatience() bool {
	cells := o.Experiment.Cells
	return o.Experiment.AsSet != "" && slices.ContainsFunc(cells, func(c experiment.Cell) bool {
		return c.Patience() != cells[0].Patience()
	})
}

// mostRows is how many cells people see in a table with a row for each.
const mostRows = 40

// wide adds a table of one metric, that by which the algorithms are ranked, or else the first: with the
// values of the swept key that has the most of them as columns. It fails where nothing is swept, or that
// would be as long.
func (o *Outcome) wide(d *answer.Document) (ok bool, of string) {
	if len(o.Metrics) == 0 {
		return false, ""
	}
	if of = o.Metrics[0]; o.ranking != nil {
		of = o.ranking.Metric.Name
	}
	e := o.Experiment
	varying := slices.DeleteFunc(slices.Clone(view.Varying(e.Designs())), func(name string) bool {
		return name == "label"
	})
	across, most := "", []string(nil)
	for _, name := range varying {
		var values []string
		for i := range e.Cells {
			if v := metric.Get(e.Cells[i].Design, name); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) <= mostAcross && len(values) > len(most) {
			across, most = name, values
		}
	}
	if len(most) < 2 {
		return false, of
	}
	down := slices.DeleteFunc(varying, func(name string) bool { return name == across })
	columns := []answer.Column{{Name: "label", Head: "algorithm", Kind: answer.Words}}
	for _, name := range down {
		columns = append(columns, answer.Column{Name: name, Kind: answer.Words})
	}
	if o.differInPatience() {
		columns = append(columns, answer.Column{Name: "time_out", Kind: answer.Words})
	}
	for _, v := range most {
		columns = append(columns, answer.Column{Name: v, Kind: answer.Number})
	}
	var rows [][]answer.Value
	at := map[string]int{}
	for i := range e.Cells {
		cell := &e.Cells[i]
		row := []answer.Value{cell.Label}
		for _, name := range down {
			row = append(row, metric.Get(cell.Design, name))
		}
		if o.differInPatience() {
			row = append(row, cell.Patience())
		}
		key := fmt.Sprint(row)
		if _, known := at[key]; !known {
			at[key] = len(rows)
			rows = append(rows, append(row, make([]answer.Value, len(most))...))
		}
		rows[at[key]][len(row)+slices.Index(most, metric.Get(cell.Design, across))] = o.brief(i, of)
	}
	if len(rows) > mostRows {
		return false, of
	}
	d.Add(answer.Text(of + ", by " + across + ":"))
	t := d.Table("wide", columns...)
	t.Only, t.Keys = answer.People, len(columns)-len(most)
	for _, row := range rows {
		t.Row(row...)
	}
	return true, of
}

// mostAcross is how many values of a key fit beside each other.
const mostAcross = 12

// brief is the figure of a cell without its interval, and whether all of its trials count.
func (o *Outcome) brief(i int, of string) string {
	c, cell := &o.cells[i], &o.Experiment.Cells[i]
	s := c.Describe(of)
	text := view.OrBeyond(s.Center())
	if n := s.N + s.Censored; n == 0 {
		text = "none"
	}
	trials := 0
	for _, n := range c.Statuses {
		trials += n
	}
	if c.Statuses[trace.OK] < trials {
		text += fmt.Sprintf(" ok %d/%d", c.Statuses[trace.OK], trials)
	}
	if !c.within(cell) {
		text += " *"
	}
	return text
}

// columns are those of the table: people see of the design what varies.
func (o *Outcome) columns() []answer.Column {
	e := o.Experiment
	programs := func(name string, kind answer.Kind) answer.Column {
		return answer.Column{Name: name, Kind: kind, Only: answer.Programs}
	}
	out := []answer.Column{programs("cell", answer.Count),
		{Name: "label", Head: "algorithm", Kind: answer.Words}}
	varies := view.Varying(e.Designs())
	for i, name := range e.Columns {
		if name == "label" {
			continue
		}
		c := programs(name, answer.Number)
		if slices.Contains(varies, name) {
			c.Only = answer.Everybody
		}
		if slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool {
			return !console.IsNumber(c.Design[i].Value)
		}) {
			c.Kind = answer.Words
		}
		out = append(out, c)
	}
	patience := programs("time_out", answer.Words)
	if o.differInPatience() {
		patience.Only = answer.Everybody
	}
	out = append(out, patience, answer.Column{Name: "n", Kind: answer.Count})
	for _, m := range o.Metrics {
		out = append(out, answer.Column{Name: m, Kind: answer.Figure, Unit: string(metric.Named(m).Unit)})
	}
	if o.Stopping.Record() != nil {
		out = append(out, answer.Column{Name: "until", Kind: answer.Words})
	}
	trials := programs("trials", answer.Words)
	if o.Whole {
		trials.Only = answer.Everybody
	}
	out = append(out, trials, programs("in_model", answer.Flag))
	for _, status := range trace.Statuses() {
		out = append(out, programs("trials_"+string(status), answer.Count))
	}
	out = append(out, programs("marked", answer.Count))
	for i := range asides {
		out = append(out, programs(strings.ReplaceAll(asides[i].name, " ", "_"), answer.Count))
	}
	return out
}

// designValue is a value of the design, a number where it is one.
func designValue(text string) answer.Value {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return answer.Shown{Value: v, Text: text}
	}
	return text
}

// Estimate is a figure with its interval.
func Estimate(s stats.Summary) answer.Estimate {
	return answer.Estimate{Value: s.Center(), Low: s.CILow, High: s.CIHigh, N: s.N, Censored: s.Censored,
		Doubt: s.Doubtful()}
}

// hidden appends a table that only programs read.
func hidden(d *answer.Document, name, columns string) *answer.Table {
	t := d.Table(name, answer.Columns(answer.Everybody, columns)...)
	t.Only = answer.Programs
	return t
}

// rule adds why each cell ended, if a rule decided.
func (o *Outcome) rule(d *answer.Document, rule *results.Stopping) {
	if rule == nil {
		return
	}
	d.Add(answer.Facts{{Name: "until_metric", Value: rule.Metric}, {Name: "until_ci", Value: rule.CI},
		{Name: "until_confidence", Value: rule.Confidence}, {Name: "until_anytime", Value: rule.Anytime},
		{Name: "until_min", Value: rule.Min}, {Name: "until_max", Value: rule.Max}})
	t := hidden(d, "stopping", "cell:count repetitions:count stopped half_width:number")
	for _, c := range rule.Cells {
		t.Row(c.Cell, c.Repetitions, c.Stopped, pointed(c.HalfWidth))
	}
}

func pointed(v *float64) answer.Value {
	if v == nil {
		return nil
	}
	return *v
}

// warnings are the notes of the run and what its statuses call for, each with
// its remedy.
func (o *Outcome) warnings() []string {
	e := o.Experiment
	out := slices.Clone(o.Notes)
	say := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(e.Repetitions < 6, "an interval of the median needs 6 trials in a cell, and there are %d; "+
		"set repetitions to 6 or more", e.Repetitions)
	say(!e.Virtual() && e.Rounds > 1 && e.Rounds < stats.MinimumGroups,
		"an interval of the median that respects rounds needs %d of them, and there are %d; "+
			"set rounds to %d or more", stats.MinimumGroups, e.Rounds, stats.MinimumGroups)
	// First what explains the exit code, then what the run is a part of and what the ranking rests on.
	part := results.Shard{Index: e.Shard.Index, Of: e.Shard.Of}.Note()
	weight := func(text string) int { return slices.Index([]string{"", e.AsSet, part}, text) }
	slices.SortStableFunc(out, func(a, b string) int { return weight(b) - weight(a) })
	return append(o.excesses(), out...)
}

// excesses say of what there is too much: they explain the exit code.
func (o *Outcome) excesses() (out []string) {
	e, t := o.Experiment, &o.Tally
	say := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(t.Timeouts > e.Allow.Timeout, "%s within the model did not end (allow.timeout is %d; "+
		"time_limit is %v): %s; raise time_limit if they only needed longer",
		console.Plural(t.Timeouts, "trial", "trials"), e.Allow.Timeout, e.TimeLimit,
		o.example(trace.TimedOut))
	say(t.Invalid > e.Allow.Invalid, "%s stayed invalid after %s (allow.invalid is %d): %s; %s",
		console.Plural(t.Invalid, "trial", "trials"), console.Plural(e.Retries, "retry", "retries"),
		e.Allow.Invalid, o.example(trace.Invalid), view.RemedyFor(o.reason(trace.Invalid)).Do)
	if e.Allow.TooMarked(t.Marked, t.OK) {
		say(true, "%d of %s with status ok are marked (allow.marked is %g %%): %s; use fewer "+
			"nodes or an idle machine", t.Marked, console.Plural(t.OK, "trial", "trials"),
			100**e.Allow.Marked, o.example(trace.OK))
	}
	say(t.Unknown > 0, "%s could not be judged: %s; a longer scenario gives something to judge",
		console.Plural(t.Unknown, "trial", "trials"), o.example(trace.Unknown))
	say(o.statuses[trace.Unstable] > 0, "%s had more requests than were granted, and count in no figure: %s",
		console.Plural(o.statuses[trace.Unstable], "trial", "trials"), o.example(trace.Unstable))
	return out
}

// mostRanked is how many lines of the ranking the terminal gets.
const mostRanked = 8

// rank says which algorithms are the faster.
func (o *Outcome) rank(d *answer.Document) {
	r := o.ranking
	if r == nil {
		return
	}
	lines, more := r.Lines(mostRanked)
	for _, text := range lines {
		d.Say(text)
	}
	if more > 0 {
		d.Say(fmt.Sprintf("and %d more: %s", more, program.Command("report", o.Dir)))
	}
	d.Say(r.Head())
	if len(r.Standings) > 0 {
		labels := r.Standings[0].Labels
		d.Say(r.Legend() + "; two in detail: " +
			program.Command("compare", "RUN", labels[0], labels[len(labels)-1]))
	}
	orders := hidden(d, "orders", "metric place:map places:count order")
	for _, s := range r.Standings {
		orders.Row(r.Metric.Name, metric.ByName(s.Place), max(s.Over, 1), s.String())
	}
	compare.Table(d, []*compare.Ranking{r}, func(*compare.Duel) bool { return true })
	d.Add(answer.Facts{{Name: "ranking_tests", Value: r.Tests}})
	for _, text := range r.Notes {
		d.Add(answer.Note{Text: text, Of: []string{"ranking"}, Only: answer.Programs})
	}
}

// variance adds how much of it lies between rounds, of a run that has several.
func (o *Outcome) variance(d *answer.Document) {
	if len(o.spreads) == 0 {
		return
	}
	t := hidden(d, "variance", "metric cells:count rounds:count trials:count "+
		"between_rounds:number ci_low:number ci_high:number "+
		"round_ms:number trial_ms:number best_trials:count")
	for _, s := range o.spreads {
		var best answer.Value
		if s.Best > 0 && !s.Unbounded() {
			best = s.Best
		}
		t.Row(s.Metric, s.Cells, s.Rounds, s.Trials, s.Share, s.Low, s.High, s.RoundMS, s.TrialMS, best)
		d.Add(answer.Note{Kind: "variance", Text: s.String(), Of: []string{"variance"}})
	}
}

// judged adds warnings, broken promises and thresholds.
func (o *Outcome) judged(d *answer.Document) {
	if o.finished == 0 {
		return
	}
	notes := folded(o.warnings())
	var lines []string
	for i, text := range notes {
		lines = append(lines, fmt.Sprintf("[%d] %s", i+1, text))
	}
	shown := short(lines)
	if o.Whole {
		shown = len(lines)
	}
	for i, text := range notes {
		d.Add(answer.Note{Text: text, Line: lines[i], Long: i >= shown})
	}
	if more := len(notes) - shown; more > 0 {
		d.Add(answer.Facts{{Name: "notes_left_out", Value: more,
			Line: fmt.Sprintf("and %s: --notes, or %s", console.Plural(more, "more note", "more notes"),
				program.Command("report", o.Dir))}})
	}
	told := map[string]int{}
	for i := range o.Violations {
		told[o.alike(&o.Violations[i])]++
	}
	for i := range o.Violations {
		t := &o.Violations[i]
		text, n := o.algorithm(t)+": "+t.Reason, told[o.alike(t)]
		if delete(told, o.alike(t)); n == 0 {
			continue
		} else if n > 1 {
			text += fmt.Sprintf(" (and alike in %s)", console.Plural(n-1, "more trial", "more trials"))
		}
		d.Add(answer.Note{Kind: "violation", Text: text,
			Hint: program.Command("replay", o.Dir, "--trial", strconv.Itoa(t.Trial))})
	}
	o.trials(d, "violations", o.Violations)
	o.overOperations(d)
	t := hidden(d, "thresholds_missed", "cell:count metric stat value:number text")
	for i := range o.misses {
		m := &o.misses[i]
		t.Row(m.Number, m.Threshold.Metric, m.Threshold.Stat, m.Value, m.Miss())
		d.Add(answer.Note{Kind: "threshold", Text: m.Miss()})
	}
	if more := o.Tally.Violations - len(o.Violations); more > 0 {
		d.Say(fmt.Sprintf("and %s with status violation in trials.csv",
			console.Plural(more, "more trial", "more")))
	}
}

// alike is what trials have in common whose reasons differ in numbers alone.
func (o *Outcome) alike(t *results.Trial) string {
	return o.algorithm(t) + numbers.ReplaceAllString(t.Reason, "#")
}

func (o *Outcome) algorithm(t *results.Trial) string { return o.Experiment.Cells[t.Cell-1].Algorithm }

// overOperations adds the figures of all thresholds over operations.
func (o *Outcome) overOperations(d *answer.Document) {
	if len(o.held) == 0 {
		return
	}
	t := hidden(d, "over_operations", "cell:count metric stat value:number ci_low:number "+
		"ci_high:number operations:count pending:count trials:count "+
		"design_effect:number clock_doubt_ms:number")
	for i := range o.held {
		h, tail := &o.held[i], &o.held[i].Tail
		var low, high answer.Value
		if h.Quantile() {
			low, high = tail.Low, tail.High
		}
		t.Row(h.Number, h.Threshold.Metric, h.Threshold.Stat, h.Value, low, high, tail.N, tail.Censored,
			tail.Groups, tail.Effect, doubtful(stats.Doubtful(h.Value, tail.Doubt)))
		d.Add(answer.Note{Kind: "over operations", Text: h.String(), Of: []string{"over_operations"}})
	}
}

// Failures are the trials that could not be run, in lines.
func (o *Outcome) Failures() []string {
	d := answer.New("", "")
	o.failures(d)
	return d.Asides(true)
}

// failures adds the trials that could not be run, which a terminal has on standard error.
func (o *Outcome) failures(d *answer.Document) {
	for i := range o.errors {
		t := &o.errors[i]
		n := answer.Note{Kind: "error", Text: o.algorithm(t) + ": " + t.Reason, Aside: true,
			Line: fmt.Sprintf("trial %d could not be run: %s: %s", t.Trial, o.algorithm(t), t.Reason)}
		if transport.Repeats(o.Experiment.Transport) {
			n.Line += "\n  what came before: " +
				program.Command("replay", o.Dir, "--trial", strconv.Itoa(t.Trial), "--events")
		}
		d.Add(n)
	}
	o.trials(d, "errors", o.errors)
	if more := o.Tally.Errors - len(o.errors); more > 0 {
		text := fmt.Sprintf("and %d more with status error in trials.csv", more)
		d.Add(answer.Note{Kind: "error", Text: text, Line: text, Aside: true})
	}
}

// trials adds some trials, for programs.
func (o *Outcome) trials(d *answer.Document, name string, list []results.Trial) {
	t := hidden(d, name, "trial:count cell:count algorithm reason")
	for i := range list {
		t.Row(list[i].Trial, list[i].Cell, o.algorithm(&list[i]), list[i].Reason)
	}
}

// doubtful is what clocks can be wrong by; nothing where that is less than the figure.
func doubtful(v float64) answer.Value {
	if v == 0 {
		return nil
	}
	return v
}
