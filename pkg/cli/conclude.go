package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// conclude prints what a run came to and returns its exit code as an error.
func (s *streams) conclude(o *outcome, asJSON bool) error {
	code := o.tally.code()
	if asJSON {
		if err := writeJSON(s.out, o.report(code)); err != nil {
			return err
		}
	} else if o.finished > 0 {
		o.print(s.text())
	}
	for _, text := range o.failures() {
		s.say(text)
	}
	if o.tally.err != nil {
		s.say(o.tally.err.Error())
		again := program.Command("run", "--resume", o.dir)
		if o.queue != "" {
			again += " --queue " + program.Quote(o.queue)
		}
		if o.hosts != "" {
			again += " --hosts " + program.Quote(o.hosts)
		}
		if o.host != "" {
			again += " --host " + program.Quote(o.host)
		}
		if o.machine != "" {
			again += " --machine " + program.Quote(o.machine)
		}
		s.say(fmt.Sprintf("%s are kept; go on with: %s",
			progressOf(o.experiment, o.finished, o.stopping.Planned()), again))
	}
	if code == Good {
		return nil
	}
	return exit(code)
}

// warnings are the notes of the run and what its statuses call for, each with
// its remedy.
func (o *outcome) warnings() []string {
	e := o.experiment
	out := slices.Clone(o.notes)
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
	t := &o.tally
	say(t.timeouts > e.Allow.Timeout, "%s within the model did not end (allow.timeout is %d; "+
		"time_limit is %v): %s; raise time_limit if they only needed longer",
		report.Plural(t.timeouts, "trial", "trials"), e.Allow.Timeout, e.TimeLimit,
		o.example(trace.TimedOut))
	say(t.invalid > e.Allow.Invalid, "%s stayed invalid after %s (allow.invalid is %d): %s; use "+
		"fewer nodes or an idle machine, or raise retries", report.Plural(t.invalid, "trial", "trials"),
		report.Plural(e.Retries, "retry", "retries"), e.Allow.Invalid, o.example(trace.Invalid))
	if e.Allow.TooMarked(t.marked, t.ok) {
		say(true, "%d of %s with status ok are marked (allow.marked is %g %%): %s; use fewer "+
			"nodes or an idle machine", t.marked, report.Plural(t.ok, "trial", "trials"), 100**e.Allow.Marked,
			o.example(trace.OK))
	}
	say(t.unknown > 0, "%s could not be judged: %s; a longer scenario gives something to judge",
		report.Plural(t.unknown, "trial", "trials"), o.example(trace.Unknown))
	say(o.statuses[trace.Unstable] > 0, "%s had more requests than were granted, and count in no figure: %s",
		report.Plural(o.statuses[trace.Unstable], "trial", "trials"), o.example(trace.Unstable))
	return out
}

// print writes the end of a run for people.
func (o *outcome) print(w io.Writer) {
	t, notes := o.table()
	t.Write(w)
	fmt.Fprintln(w)
	o.rank(w)
	fmt.Fprintf(w, "n: trials with status ok; figures: %s\n",
		compare.FigureNote(o.stopping.Rule().Method()))
	for _, text := range notes {
		fmt.Fprintln(w, text)
	}
	for _, s := range o.spreads {
		fmt.Fprintf(w, "variance: %v\n", s)
	}
	fmt.Fprintf(w, "results: %s\n", o.dir)
	for i, text := range o.warnings() {
		fmt.Fprintf(w, "[%d] %s\n", i+1, text)
	}
	for _, t := range o.violations {
		fmt.Fprintf(w, "violation: %s: %s\n  reproduce: %s\n",
			o.experiment.Cells[t.Cell-1].Algorithm, t.Reason,
			program.Command("replay", o.dir, "--trial", strconv.Itoa(t.Trial)))
	}
	for i := range o.held {
		fmt.Fprintf(w, "over operations: %v\n", &o.held[i])
	}
	for _, m := range o.misses {
		fmt.Fprintf(w, "threshold: %v\n", m)
	}
	if more := o.tally.violations - len(o.violations); more > 0 {
		fmt.Fprintf(w, "and %s with status violation in trials.csv\n",
			report.Plural(more, "more trial", "more"))
	}
}

// mostRanked is how many sentences of the ranking the terminal gets.
const mostRanked = 12

// rank says which algorithms are the faster.
func (o *outcome) rank(w io.Writer) {
	if o.ranking == nil {
		return
	}
	sentences, more := o.ranking.Sentences(mostRanked)
	fmt.Fprintln(w, o.ranking.Head())
	for _, text := range sentences {
		fmt.Fprintln(w, "  "+text)
	}
	if more > 0 {
		fmt.Fprintf(w, "  and %d more: %s\n", more, program.Command("report", o.dir))
	}
}

// failures are the trials that could not be run, for standard error.
func (o *outcome) failures() (out []string) {
	for _, t := range o.errors {
		text := fmt.Sprintf("trial %d could not be run: %s: %s", t.Trial,
			o.experiment.Cells[t.Cell-1].Algorithm, t.Reason)
		if o.experiment.Virtual() {
			text += "\n  what came before: " +
				program.Command("replay", o.dir, "--trial", strconv.Itoa(t.Trial), "--events")
		}
		out = append(out, text)
	}
	if more := o.tally.errors - len(o.errors); more > 0 {
		out = append(out, fmt.Sprintf("and %d more with status error in trials.csv", more))
	}
	return out
}

// The machine's form of the end of a run. A figure that does not exist is null.
type (
	runReport struct {
		Schema   int                  `json:"schema_version"`
		Name     string               `json:"name"`
		Dir      string               `json:"dir"`
		Seed     uint64               `json:"seed"`
		Planned  int                  `json:"planned"`
		Finished int                  `json:"finished"`
		Complete bool                 `json:"complete"`
		ExitCode int                  `json:"exit_code"`
		Statuses map[trace.Status]int `json:"statuses"`
		Cells    []cellReport         `json:"cells"`
		// Stopping says why each cell ended, if a rule decided.
		Stopping   *results.Stopping `json:"stopping,omitempty"`
		Violations []trialReport     `json:"violations"`
		Errors     []trialReport     `json:"errors"`
		Misses     []missReport      `json:"thresholds_missed"`
		// Held are the figures of all thresholds over operations.
		Held     []heldReport `json:"over_operations,omitempty"`
		Warnings []string     `json:"warnings"`
		// Ranking compares each two algorithms, if there are several.
		Ranking *rankingReport `json:"ranking,omitempty"`
		// Variance is how much of it lies between rounds, of a run that has several.
		Variance []spreadReport `json:"variance,omitempty"`
	}
	spreadReport struct {
		Metric  string   `json:"metric"`
		Cells   int      `json:"cells"` // whose variances are known
		Rounds  int      `json:"rounds"`
		Trials  int      `json:"trials"` // of a cell in a round
		Share   float64  `json:"between_rounds"`
		Low     *float64 `json:"ci_low"`
		High    *float64 `json:"ci_high"`
		RoundMS *float64 `json:"round_ms"` // to start one, for each cell
		TrialMS *float64 `json:"trial_ms"`
		Best    *int     `json:"best_trials"` // in a round; null: unknown, or as many as one likes
		Text    string   `json:"text"`
	}
	rankingReport struct {
		Metric string       `json:"metric"`
		Tests  int          `json:"tests"` // that the correction counts
		Pairs  []duelReport `json:"pairs"`
		Notes  []string     `json:"notes"`
	}
	duelReport struct {
		Place    map[string]string `json:"place"`
		Slower   string            `json:"slower"`
		Faster   string            `json:"faster"`
		Shown    bool              `json:"shown"` // that they differ
		SameLuck bool              `json:"same_luck"`
		N        int               `json:"n"`
		Ratio    *float64          `json:"ratio"`      // null: there is none, or
		Apart    *float64          `json:"difference"` // this stands in its place
		Low      *float64          `json:"ci_low"`
		High     *float64          `json:"ci_high"`
		P        *float64          `json:"p"` // corrected
		Doubt    float64           `json:"clock_doubt_ms,omitempty"`
		Text     string            `json:"text"`
	}
	cellReport struct {
		Cell     int                     `json:"cell"`
		Design   map[string]string       `json:"design"`
		InModel  bool                    `json:"in_model"`
		Statuses map[trace.Status]int    `json:"statuses"`
		Marked   int                     `json:"marked"`                  // of those with status ok
		Restless int                     `json:"never_settled,omitempty"` // likewise
		Hastened int                     `json:"hastened,omitempty"`      // likewise
		Metrics  map[string]metricReport `json:"metrics"`
	}
	metricReport struct {
		N        int      `json:"n"`
		Censored int      `json:"censored"`
		Median   *float64 `json:"median"`
		CILow    *float64 `json:"ci_low"`
		CIHigh   *float64 `json:"ci_high"`
		Doubt    float64  `json:"clock_doubt_ms,omitempty"` // what clocks can be wrong by, if that is more
	}
	missReport struct {
		Cell   int      `json:"cell"`
		Metric string   `json:"metric"`
		Stat   string   `json:"stat"`
		Value  *float64 `json:"value"` // null: it does not exist
		Text   string   `json:"text"`
	}
	heldReport struct {
		Cell       int      `json:"cell"`
		Metric     string   `json:"metric"`
		Stat       string   `json:"stat"`
		Value      *float64 `json:"value"` // null: it does not exist
		CILow      *float64 `json:"ci_low"`
		CIHigh     *float64 `json:"ci_high"`
		Operations int      `json:"operations"`
		Pending    int      `json:"pending"`
		Trials     int      `json:"trials"`
		Effect     *float64 `json:"design_effect"`
		Doubt      float64  `json:"clock_doubt_ms,omitempty"`
		Text       string   `json:"text"`
	}
	trialReport struct {
		Trial     int    `json:"trial"`
		Cell      int    `json:"cell"`
		Algorithm string `json:"algorithm"`
		Reason    string `json:"reason"`
	}
)

func (o *outcome) report(code int) runReport {
	e := o.experiment
	r := runReport{
		Schema: 1, Name: e.Name, Dir: o.dir, Seed: e.Seed, Planned: o.stopping.Planned(),
		Finished: o.finished, ExitCode: code, Statuses: o.statuses,
		Violations: o.trials(o.violations), Errors: o.trials(o.errors), Misses: []missReport{},
		Warnings: append([]string{}, o.warnings()...), Stopping: o.stopping.Record(),
	}
	for _, m := range o.misses {
		r.Misses = append(r.Misses, missReport{m.Number, m.Threshold.Metric, m.Threshold.Stat,
			results.Finite(m.Value), m.String()})
	}
	for i := range o.held {
		r.Held = append(r.Held, heldOf(&o.held[i]))
	}
	r.Complete = r.Finished == r.Planned
	r.Ranking = rankingOf(o.ranking)
	for _, s := range o.spreads {
		finite := results.Finite
		one := spreadReport{s.Metric, s.Cells, s.Rounds, s.Trials, s.Share, finite(s.Low), finite(s.High),
			finite(s.RoundMS), finite(s.TrialMS), nil, s.String()}
		if s.Best > 0 && !s.Unbounded() {
			one.Best = &s.Best
		}
		r.Variance = append(r.Variance, one)
	}
	for i := range o.cells {
		cell, c := &e.Cells[i], &o.cells[i]
		metrics := map[string]metricReport{}
		for _, name := range o.metrics {
			metrics[name] = metricOf(c.Describe(name))
		}
		r.Cells = append(r.Cells, cellReport{
			Cell: cell.Number, Design: metric.ByName(cell.Design), InModel: c.within(cell),
			Statuses: c.Statuses, Marked: c.Marked, Metrics: metrics,
			Restless: c.asides[0], Hastened: c.asides[1],
		})
	}
	return r
}

func rankingOf(r *compare.Ranking) *rankingReport {
	if r == nil {
		return nil
	}
	out := &rankingReport{r.Metric.Name, r.Tests, []duelReport{}, append([]string{}, r.Notes...)}
	for _, d := range r.Duels {
		one := duelReport{
			Place: metric.ByName(d.Place), Slower: d.Slow, Faster: d.Fast, Shown: d.Shown(),
			SameLuck: d.Paired, N: d.N, Ratio: results.Finite(d.Ratio), Low: results.Finite(d.Low),
			High: results.Finite(d.High), P: results.Finite(d.Adjusted), Text: d.String(), Doubt: d.Doubt,
		}
		if d.Apart {
			one.Ratio, one.Apart = nil, one.Ratio
		}
		out.Pairs = append(out.Pairs, one)
	}
	return out
}

func metricOf(s stats.Summary) metricReport {
	return metricReport{s.N, s.Censored, results.Finite(s.Median), results.Finite(s.CILow),
		results.Finite(s.CIHigh), s.Doubtful()}
}

func heldOf(h *compare.Held) heldReport {
	t, finite := &h.Tail, results.Finite
	r := heldReport{
		Cell: h.Number, Metric: h.Threshold.Metric, Stat: h.Threshold.Stat, Value: finite(h.Value),
		Operations: t.N, Pending: t.Censored, Trials: t.Groups, Effect: finite(t.Effect), Text: h.String(),
		Doubt: stats.Doubtful(h.Value, t.Doubt),
	}
	if h.Quantile() {
		r.CILow, r.CIHigh = finite(t.Low), finite(t.High)
	}
	return r
}

func (o *outcome) trials(list []results.Trial) []trialReport {
	out := []trialReport{}
	for _, t := range list {
		out = append(out, trialReport{t.Trial, t.Cell, o.experiment.Cells[t.Cell-1].Algorithm,
			t.Reason})
	}
	return out
}
