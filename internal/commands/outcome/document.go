package outcome

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/stats"
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
	o.judged(d)
	o.failures(d)
	if o.Tally.Err != nil {
		aside := func(text string) {
			d.Add(answer.Note{Kind: "interrupted", Text: text, Line: text, Aside: true})
		}
		aside(o.Tally.Err.Error())
		aside(fmt.Sprintf("%s are kept; go on with: %s", Progress(e, o.finished, o.Stopping.Planned()),
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
		row := []answer.Value{cell.Number, cell.Label}
		for i, name := range e.Columns {
			if name != "label" {
				row = append(row, designValue(cell.Design[i].Value))
			}
		}
		row = append(row, c.Statuses[trace.OK])
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
	o.rule(d, rule)
	notes = legend.Notes()
	if beyond {
		notes = append(notes, "*: in_model=false: more was asked of the algorithm than it promises")
	}
	for i := range asides {
		if slices.ContainsFunc(o.cells, func(c cell) bool { return c.asides[i] > 0 }) {
			notes = append(notes, asides[i].name+": "+asides[i].means)
		}
	}
	return notes
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
	out = append(out, answer.Column{Name: "n", Kind: answer.Count})
	for _, m := range o.Metrics {
		out = append(out, answer.Column{Name: m, Kind: answer.Figure, Unit: string(metric.Named(m).Unit)})
	}
	if o.Stopping.Record() != nil {
		out = append(out, answer.Column{Name: "until", Kind: answer.Words})
	}
	out = append(out, answer.Column{Name: "trials", Kind: answer.Words}, programs("in_model", answer.Flag))
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

// Estimate is a median with its interval.
func Estimate(s stats.Summary) answer.Estimate {
	return answer.Estimate{Value: s.Median, Low: s.CILow, High: s.CIHigh, N: s.N, Censored: s.Censored,
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
	t := &o.Tally
	say(t.Timeouts > e.Allow.Timeout, "%s within the model did not end (allow.timeout is %d; "+
		"time_limit is %v): %s; raise time_limit if they only needed longer",
		console.Plural(t.Timeouts, "trial", "trials"), e.Allow.Timeout, e.TimeLimit,
		o.example(trace.TimedOut))
	say(t.Invalid > e.Allow.Invalid, "%s stayed invalid after %s (allow.invalid is %d): %s; use "+
		"fewer nodes or an idle machine, or raise retries", console.Plural(t.Invalid, "trial", "trials"),
		console.Plural(e.Retries, "retry", "retries"), e.Allow.Invalid, o.example(trace.Invalid))
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

// mostRanked is how many sentences of the ranking the terminal gets.
const mostRanked = 12

// rank says which algorithms are the faster.
func (o *Outcome) rank(d *answer.Document) {
	r := o.ranking
	if r == nil {
		return
	}
	sentences, more := r.Sentences(mostRanked)
	d.Say(r.Head())
	for _, text := range sentences {
		d.Say("  " + text)
	}
	if more > 0 {
		d.Say(fmt.Sprintf("  and %d more: %s", more, program.Command("report", o.Dir)))
	}
	t := hidden(d, "ranking", "metric place:map slower faster shown:flag same_luck:flag "+
		"n:count ratio:number difference:number ci_low:number "+
		"ci_high:number p:number clock_doubt_ms:number text")
	for _, duel := range r.Duels {
		ratio, apart := answer.Value(duel.Ratio), answer.Value(nil)
		if duel.Apart {
			ratio, apart = apart, ratio
		}
		t.Row(r.Metric.Name, metric.ByName(duel.Place), duel.Slow, duel.Fast, duel.Shown(), duel.Paired,
			duel.N, ratio, apart, duel.Low, duel.High, duel.Adjusted, doubtful(duel.Doubt), duel.String())
	}
	d.Add(answer.Facts{{Name: "ranking_tests", Value: r.Tests}})
	for _, text := range r.Notes {
		d.Add(answer.Note{Text: text, Of: []string{"ranking"}, Only: answer.Programs})
	}
}

// doubtful is what clocks can be wrong by; nothing where that is less than the figure.
func doubtful(v float64) answer.Value {
	if v == 0 {
		return nil
	}
	return v
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
	for i, text := range o.warnings() {
		d.Add(answer.Note{Text: text, Line: fmt.Sprintf("[%d] %s", i+1, text)})
	}
	for i := range o.Violations {
		t := &o.Violations[i]
		d.Add(answer.Note{Kind: "violation", Text: o.algorithm(t) + ": " + t.Reason,
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
		if o.Experiment.Virtual() {
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
