// Package compare says what changed between two runs: cell by cell and metric by
// metric, how much, how sure that is, and whether it fails a gate.
//
// Where both runs are simulations of one experiment with the same seeds, counts are
// compared exactly, trial by trial: a difference is the program's doing and needs no
// test. Everything else is compared in seed-matched pairs of trials, by the
// signed ranks of their differences (Wilcoxon), or, where there are no such pairs, by the
// ranks of all trials (Mann and Whitney). Of runs in rounds on real nodes, rounds take the
// place of trials. Of runs over several machines, only what was on one of them is compared:
// pairs are made, and ranks counted, within machines (van Elteren). That is corrected for the
// number of comparisons (Westfall and Young's step-down method, Holm's where there are no
// pairs), and called a change only when it is significant and larger than a practical
// threshold.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// What bench compare takes unless told otherwise. Medians of identical programs on
// real processes were seen to differ by 8 % from run to run on a busy machine of two
// cores; a threshold below that raises alarms about the machine.
const (
	DefaultAlpha     = 0.05
	DefaultThreshold = 0.10
)

// Options say how to compare.
type Options struct {
	Alpha     float64  // family-wise probability of a false alarm; 0: DefaultAlpha
	Threshold float64  // least change of a median that matters, as a fraction; 0: any
	Metrics   []string // empty: the main ones of each problem; AllMetrics: every one
	Ignore    []string // columns of the design by which cells are not told apart
	Where     metric.Where
	// Conditions replace the default gate, which is any change for the worse.
	Conditions []Condition
	// Strict fails a changed count also when it is for the better or when the
	// experiments differ, and a cell of the base that the new run lacks.
	Strict bool
	NoGate bool // nothing fails
	// Over is experiment.OverOperations where the operations of trials are compared, and not their means;
	// Stat is the quantile of them that alone is; "": all statistics.
	Over, Stat string
	// Prove, if it is positive, replaces the default gate: nothing passes unless it is shown
	// to be no worse than by this part of the base.
	Prove float64
}

// AllMetrics stands for every metric that both runs have.
const AllMetrics = "all"

// bootstrapSeed is one for all, so that equal runs compare equal.
const bootstrapSeed = 0

// A Test is how a row was compared.
type Test string

// The tests.
const (
	Exact Test = "exact"
	Pairs Test = "pairs"
	Ranks Test = "ranks"
	// The same of rounds in place of trials.
	RoundPairs Test = "round pairs"
	RoundRanks Test = "round ranks"
	// The ranks of trials, or of rounds, within each of several machines.
	MachineRanks Test = "machine ranks"
	// Of means: trials, or rounds, in pairs, or without partners.
	MeanPairs Test = "mean pairs"
	Means     Test = "means"
	// Of quantiles likewise.
	TailPairs Test = "tail pairs"
	Tails     Test = "tails"
	NoTest    Test = "" // nothing to test: equal in every trial, or nothing to compare with
)

// Tests are those that a row can be compared by, the usual ones first.
func Tests() []Test {
	return []Test{Pairs, Ranks, RoundPairs, RoundRanks, MachineRanks, MeanPairs, Means, TailPairs,
		Tails, Exact}
}

var testWords = map[Test]string{
	Exact: "counts of simulations with equal seeds, in the mean; n: trials that differ",
	Pairs: "trials of equal seeds, by the signs of their differences (signed ranks); " +
		"change: that of a typical pair (Hodges-Lehmann); n: pairs that differ",
	RoundPairs: "rounds, each by the centre of its trials of equal seeds, by the signs of their " +
		"differences (signed ranks); change: that of a typical round (Hodges-Lehmann); n: rounds that differ",
	Ranks: "trials without partners, by their ranks (Mann-Whitney); change: that of the medians",
	RoundRanks: "rounds, each by the median of its trials, by their ranks (Mann-Whitney); change: that of " +
		"the medians of all trials",
	MachineRanks: "trials (of several rounds: medians of rounds) without partners, by their ranks within " +
		"each machine (van Elteren); change: the typical one within machines (Hodges-Lehmann)",
	MeanPairs: "trials of equal seeds, or rounds, by permutation within pairs; change: that of the " +
		"mean over all trials together; n: pairs that differ",
	Means: "trials without partners, or rounds, by exchanging them at random, within each machine if " +
		"there are several; change: that of the mean over all trials together",
	TailPairs: "trials of equal seeds, or rounds, by permutation within pairs: how many values lie " +
		"beyond the quantile of both runs together (McNemar); n: pairs that differ in that",
	Tails: "trials without partners, or rounds, by exchanging them at random: how many values lie beyond " +
		"the quantile of both runs together (Fisher)",
}

// String says what the test compares.
func (t Test) String() string { return cmp.Or(testWords[t], "nothing to test") }

// A Verdict is what one comparison came to.
type Verdict string

// The verdicts. Worse and better are beyond chance and beyond the threshold; in
// an exact comparison any difference is.
const (
	Same    Verdict = "="     // equal in every trial
	Unclear Verdict = "~"     // no difference that the test could tell from chance
	Small   Verdict = "small" // beyond chance, and its whole interval is within the threshold
	// Unsure is a change that may be beyond the threshold: either it is beyond chance and its interval
	// reaches beyond the threshold, or it is beyond the threshold and only its interval leaves out 0.
	Unsure    Verdict = "unclear"
	Worse     Verdict = "worse"
	Better    Verdict = "better"
	Changed   Verdict = "changed" // beyond chance, of what neither direction is better
	TooFew    Verdict = "n/a"     // too few trials for any test
	NoVerdict Verdict = ""        // nothing to compare in one of the runs
)

// A Report is the comparison of two runs.
type Report struct {
	Base, New Side
	Columns   []string // of the design, in which the compared cells differ
	Rows      []Row    // metric by metric, cells in the order of the base
	Geomeans  []Geomean
	Missing   []string       // cells of the base that the new run lacks
	Extra     []string       // and the reverse
	Warnings  []string       // what to know before the verdicts: the machines, or their load, differ
	Notes     []string       // what to know when reading it, each a sentence
	Failures  []string       // of the gate, each a sentence that names the cell
	Open      []string       // what was to be proved, and is neither proved nor refuted; likewise
	Statuses  []StatusChange // cells whose trials ended otherwise, what is worse first
	// CellFailures are those of Failures that are about no row.
	CellFailures []CellFailure
	Gated        bool // what is worse fails
	Tests        int  // comparisons that are corrected for
	Alpha        float64
	Threshold    float64 // as the Options have it
	Prove        float64 // likewise

	asked    bool      // for metrics: every row of them is shown
	measured int       // rows whose base has values
	settings []setting // in which the experiments differ
}

// A CellFailure is what fails about a cell, whatever the metric.
type CellFailure struct{ Cell, Text string }

// A StatusChange is a cell whose trials ended otherwise in the new run.
type StatusChange struct {
	Cell  string
	Text  string // as "ok 10 -> 7, violation 0 -> 3"
	Worse string // what is worse about that; "": nothing that is beyond chance
}

// String is the change in words.
func (s StatusChange) String() string {
	if s.Worse != "" {
		return s.Cell + ": " + s.Worse + ": " + s.Text
	}
	return s.Cell + ": " + s.Text
}

// statuses finds the cells whose trials ended otherwise.
func (r *Report) statuses(m *matching, o *Options) {
	for _, p := range m.pairs {
		if text := statusChange(p); text != "" {
			r.Statuses = append(r.Statuses, StatusChange{view.Name(p.base.Design, r.Columns), text,
				setback(p, r.exact(p, o))})
		}
	}
	slices.SortStableFunc(r.Statuses, func(a, b StatusChange) int {
		return cmp.Compare(min(len(b.Worse), 1), min(len(a.Worse), 1))
	})
}

// Findings are the differences beyond chance that pairs of trials show, in words: but for those that
// are among the failures, which say the same.
func (r *Report) Findings() (out []string) {
	for i := range r.Rows {
		row := &r.Rows[i]
		differs := slices.Contains([]Verdict{Small, Unsure, Worse, Better, Changed}, row.Verdict)
		if differs && row.Failure == "" && row.ofPairs() {
			out = append(out, fmt.Sprintf("%s: %s: %v", r.Title(row), row.Metric, row.Paired))
		}
	}
	return out
}

// Title names the row's cell.
func (r *Report) Title(row *Row) string { return view.Name(row.Design, r.Columns) }

// sides are what the command line calls the two runs.
var sides = [...]string{"BASE", "NEW"}

// A Side is one of the two runs.
type Side struct {
	Path, Name string
	Trials     int
	Statuses   map[trace.Status]int // trials by status
	Started    time.Time            // zero: nobody knows
	Took       time.Duration        // all trials together
}

// A Figure is what one run says about a metric in a cell. NaN: there is no such figure.
type Figure struct {
	N, Censored       int
	Seen              int     // trials, or rounds, that have any
	Center, Low, High float64 // the row's statistic, and its 95 % interval
	Effect            float64 // over operations: the design effect; NaN: unknown
	Doubt             float64 // what the clocks can be wrong by, if that is more than Center; else 0
}

// A Row compares one metric in one cell: its first statistic, and beside it the Others.
type Row struct {
	Stat      Statistic
	Over      string         // what the statistic is taken over, if not over trials
	Limit     float64        // to which values count in a mean, if some were cut off; else infinite
	Others    []*Row         // whose Others are nil
	Why       string         // of a verdict TooFew, in words
	Cell      []metric.Field // the columns of the report
	Design    []metric.Field // all of them, of the base
	Metric    string
	of        *metric.Metric
	Exact     bool // counts of equal seeds: Differing of Pairs trials differ
	Pairs     int
	Differing int
	// Lost and Found are the trials of those that differ of which only the base, or only the new
	// run, has a value: there is nothing to subtract.
	Lost, Found int
	Minor       bool // no metric of the question, nor one that was asked for: here because it changed

	Base, New Figure
	// NaN in what follows is a figure that does not exist.
	Change                float64 // as a fraction: of the statistic
	ChangeLow, ChangeHigh float64 // 95 % interval, by the bootstrap; of pairs by the test
	Delta                 float64 // Cliff's: 1 if every new value is larger than every old one
	P, Adjusted           float64 // of the test, before and after the correction
	Test                  Test
	Paired                *Pairing // where Test is Pairs

	see   observer // what the statistic is of; nil: the values of trials
	score part     // what the statistic is the mean of; nil: ranks are compared

	sameLuck bool // a count of equal seeds, but of experiments that differ
	cells    pair
	lucky    bool // most trials have a partner of the same seed
	rounds   bool // both cells are of several rounds, which are compared in place of trials
	// How many of each side are compared, machine by machine, or at once where these are no factor: values of
	// trials or, of rounds, their medians.
	counts [][2]int

	// Machines are what changed on each, where both cells have trials of several; Uneven is the
	// P of the test that it is the same on all, corrected for the number of rows.
	Machines []MachineChange
	Uneven   float64
	strata   *stats.Stratified // where Test is MachineRanks

	Verdict Verdict
	Failure string // of the gate, in words; "": none
	Proof   Proof  // of what was to be proved
}

// A Geomean is the geometric mean of a metric's ratios over all cells that have one.
type Geomean struct {
	Metric string
	Cells  int
	Change float64 // as a fraction
}

// Compare compares two runs. The error says why they cannot be compared.
func Compare(base, new *results.Table, o Options) (*Report, error) {
	all, asked := slices.Contains(o.Metrics, AllMetrics), len(o.Metrics) > 0
	if all {
		o.Metrics = slices.DeleteFunc(slices.Clone(base.Known()), func(name string) bool {
			return !slices.Contains(new.Known(), name)
		})
	}
	m, why, err := o.begin(&base, &new)
	switch {
	case err != nil:
		return nil, err
	case why != "":
		return o.nothing(base, new, why), nil
	}
	r := &Report{
		Base: sideOf(base), New: sideOf(new), Notes: m.notes, Alpha: o.Alpha, Threshold: o.Threshold,
		Prove: o.Prove, asked: asked || o.Over != "",
		Columns: m.columns(), settings: differences(base, new),
	}
	r.lack(m)
	if o.Over == experiment.OverOperations {
		if err := r.measureOperations(m, &o, base, new); err != nil {
			return nil, err
		}
	} else {
		r.measure(m, &o, all)
	}
	if r.measured == 0 {
		return nil, fmt.Errorf("nothing to compare with: no trial of BASE (%s) has a value in the cells "+
			"that both runs have; a base needs trials with status ok", base.Path)
	}
	if o.Prove > 0 && o.Over == "" {
		r.proveOperations(base, new, &o)
	}
	r.judge(&o)
	r.statuses(m, &o)
	if r.Gated = !o.NoGate; r.Gated {
		r.gate(m, &o)
	}
	if text := roundsNote(m); text != "" {
		r.Notes = append(r.Notes, text)
	}
	r.context(base, new)
	r.machines(m, base, new)
	r.uneven()
	return r, nil
}

// begin leaves of both runs what is compared, and matches their cells. Why says in words that this is
// nothing.
func (o *Options) begin(base, new **results.Table) (m *matching, why string, err error) {
	o.Alpha = cmp.Or(o.Alpha, DefaultAlpha)
	if err := o.check(*base, *new); err != nil {
		return nil, "", err
	}
	if why, err = o.choose(base, new); err != nil || why != "" {
		return nil, why, err
	}
	if m, err = match(*base, *new, o.Ignore); err == nil {
		err = m.onMachines(o.Ignore)
	}
	if err == nil {
		err = o.covered(m)
	}
	return m, "", err
}

// choose leaves of both runs what Where takes. It says in words that this is nothing, and fails if a run
// has no trials whatever it takes.
func (o *Options) choose(base, new **results.Table) (nothing string, err error) {
	for side, t := range []*results.Table{*base, *new} {
		if len(t.Trials) == 0 {
			return "", fmt.Errorf("%s (%s): no trial to compare", sides[side], t.Path)
		}
	}
	*base, *new = view.Filter(*base, o.Where), view.Filter(*new, o.Where)
	lacks := ""
	switch none := [2]bool{len((*base).Trials) == 0, len((*new).Trials) == 0}; none {
	case [2]bool{}:
		return "", nil
	case [2]bool{true, false}:
		lacks = "in BASE "
	case [2]bool{false, true}:
		lacks = "in NEW "
	}
	nothing = lacks + view.None(o.Where) + ": nothing is compared"
	if len(o.Conditions) > 0 { // a gate that nothing passes through is not a gate
		return "", answer.Mistaken("condition %q: %s", o.Conditions[0].text, nothing)
	}
	return nothing, nil
}

// nothing is the report on runs of which one at least has no cells.
func (o *Options) nothing(base, new *results.Table, why string) *Report {
	m := &matching{key: base.Design, missing: base.Cells(), extra: new.Cells()}
	r := &Report{Base: sideOf(base), New: sideOf(new), Notes: []string{why}, Alpha: o.Alpha, Gated: !o.NoGate,
		Threshold: o.Threshold, Prove: o.Prove, Columns: m.columns()}
	r.lack(m)
	if r.Gated {
		r.gate(m, o)
	}
	if r.Prove > 0 && len(r.Open) == 0 {
		r.Open = []string{why}
	}
	return r
}

// lack notes the cells that only one run has.
func (r *Report) lack(m *matching) {
	for _, c := range m.missing {
		r.Missing = append(r.Missing, view.Name(c.Design, r.Columns))
	}
	for _, c := range m.extra {
		r.Extra = append(r.Extra, view.Name(c.Design, r.Columns))
	}
}

// check refuses names that neither run knows.
func (o *Options) check(base, new *results.Table) error {
	known := append(base.Known(), new.Metrics...)
	unknown := func(name string) error {
		if slices.Contains(known, name) {
			return nil
		}
		if why := cmp.Or(base.Lacks(name), new.Lacks(name)); why != "" {
			return errors.New(why)
		}
		return &metric.NameError{Kind: "metric", Name: name, Known: known}
	}
	for _, name := range o.Metrics {
		if err := unknown(name); err != nil {
			return err
		}
	}
	columns := view.Columns(base, new)
	if err := o.Where.Check(columns); err != nil {
		return fmt.Errorf("--where: %w", err)
	}
	for _, name := range o.Ignore {
		if _, err := metric.ColumnNamed(columns, name); err != nil {
			return fmt.Errorf("--ignore: %w", err)
		}
	}
	for _, c := range o.Conditions {
		err := unknown(c.Metric)
		if err == nil {
			err = c.Where.Check(columns)
		}
		if err != nil {
			return fmt.Errorf("condition %q: %w", c.text, err)
		}
	}
	return nil
}

// covered refuses conditions that are about no cell: a gate that nothing passes
// through is not a gate.
func (o *Options) covered(m *matching) error {
	var designs [][]metric.Field
	for _, p := range m.pairs {
		designs = append(designs, p.base.Design)
	}
	for _, c := range o.Conditions {
		if slices.ContainsFunc(designs, c.Where.Covers) {
			continue
		}
		err := c.Where.Check(metric.ColumnsOf(designs...))
		if err == nil {
			_, where, _ := strings.Cut(c.text, "where ")
			wrong := &metric.NameError{Kind: "combination", Name: where}
			for _, d := range designs {
				wrong.Known = append(wrong.Known, view.Name(d, m.columns()))
			}
			err = wrong
		}
		return fmt.Errorf("condition %q: %w", c.text, err)
	}
	return nil
}

func sideOf(t *results.Table) Side {
	s := Side{Path: t.Path, Name: t.Name, Trials: len(t.Trials), Statuses: map[trace.Status]int{}}
	if t.Header != nil {
		s.Started = t.Header.Started
	}
	for _, trial := range t.Trials {
		s.Statuses[trial.Status]++
		if d := trial.Value(metric.Duration) * float64(time.Millisecond); d > 0 { // it was run
			s.Took += time.Duration(d)
		}
	}
	return s
}

// measure makes the rows. Of all metrics, those that say nothing are left out.
func (r *Report) measure(m *matching, o *Options, all bool) {
	var metrics []string
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(metrics, name) {
				metrics = append(metrics, name)
			}
		}
	}
	add(o.Metrics...)
	if len(o.Metrics) == 0 {
		for _, p := range m.pairs {
			add(metric.Names(view.Headlines([][]metric.Field{p.base.Design}))...)
		}
	}
	for _, c := range o.Conditions {
		add(c.Metric)
	}
	asked := len(metrics) // of all others a row shows only if it changed
	if len(o.Metrics) == 0 {
		add(metric.Names(metric.Counts())...)
	}
	for i, name := range metrics {
		var rows []Row
		for _, p := range m.compared {
			row := r.row(metric.Named(name), p, o)
			if row != nil {
				row.widen()
			}
			if row != nil && row.Base.N+row.Base.Censored > 0 {
				r.measured++
			}
			if row != nil && (i < asked || row.Verdict != Same && row.Exact) {
				row.Minor = i >= asked
				rows = append(rows, *row)
			}
		}
		if !all && slices.Contains(o.Metrics, name) || slices.ContainsFunc(rows, Row.says) {
			r.Rows = append(r.Rows, rows...)
		}
	}
}

// says is whether there is anything to see: not zero in every trial of both runs.
func (row Row) says() bool {
	return row.Verdict != Same || row.Base.Center != 0
}

// begin is the row of a metric in a pair of cells, before anything is compared.
func (r *Report) begin(m *metric.Metric, p pair) *Row {
	row := &Row{Metric: m.Name, of: m, Design: p.base.Design, cells: p, Stat: Middle,
		Cell: view.Place(p.base.Design, r.Columns), rounds: p.base.Starts() > 1 && p.new.Starts() > 1}
	if m.Kind.Pooled() {
		row.Stat = Mean
	}
	row.unknown()
	row.Delta, row.Uneven, row.Limit = math.NaN(), math.NaN(), math.Inf(1)
	return row
}

// row compares one metric in one pair of cells; nil if neither has it.
func (r *Report) row(m *metric.Metric, p pair, o *Options) *Row {
	row := r.begin(m, p)
	if m.Kind.Exact() && sameLuck(p) {
		if r.exact(p, o) {
			return row.exactly(p)
		}
		row.sameLuck = true
	}
	a, censoredA := p.base.Sample(m.Name)
	b, censoredB := p.new.Sample(m.Name)
	if len(a)+censoredA+len(b)+censoredB == 0 {
		return nil
	}
	row.Base, row.New = figure(p.base.Describe(m.Name)), figure(p.new.Describe(m.Name))
	row.Change = row.New.Center/row.Base.Center - 1
	if len(a)+censoredA == 0 || len(b)+censoredB == 0 {
		return row
	}
	if all := slices.Concat(a, b); censoredA == censoredB &&
		(slices.Equal(a, b) || censoredA == 0 && slices.Min(all) == slices.Max(all)) {
		row.Verdict, row.Change = Same, 0
		row.lucky = 2*len(p.lucky) >= max(len(p.base.Trials), len(p.new.Trials))
		return row
	}
	if shorter := shorterLimit(r.settings); shorter < 0 && censoredA > 0 || shorter > 0 && censoredB > 0 {
		return row
	}
	base, new := row.units(p.base), row.units(p.new)
	for i := range base {
		row.counts = append(row.counts, [2]int{len(base[i]), len(new[i])})
	}
	paired := row.pairs(p.base, p.new, p.lucky, pooled(m))
	if !paired.enough(o.Alpha) {
		row.byRanks(base, new)
		return row
	}
	row.Paired, row.P, row.Stat, row.Test = &paired, paired.P, Typical, Pairs
	switch {
	case m.Kind.Pooled():
		row.Stat, row.Test = Mean, MeanPairs
	case row.rounds:
		row.Test = RoundPairs
	}
	row.Change, row.ChangeLow, row.ChangeHigh = paired.Relative(row.Base.Center)
	row.Delta = stats.MannWhitney(trialsOf(p.base, m.Name), trialsOf(p.new, m.Name)).Delta
	if len(p.machines) > 1 {
		row.Delta = stats.Stratify(base, new, stats.Confidence).Delta
	}
	row.overTrials()
	return row
}

// overTrials compares what else there is of the distribution over trials.
func (row *Row) overTrials() {
	others := statisticsOf(row.of)
	if row.Stat == Middle || row.Stat == Mean {
		others = slices.DeleteFunc(others, func(s Statistic) bool { return s == row.Stat })
	}
	row.Others = nil
	row.beside("", ofTrials(row.of), others)
}

// byRanks compares the trials, or the rounds, as if none had a partner.
func (row *Row) byRanks(base, new [][]float64) {
	row.Paired = nil
	if row.of.Kind.Pooled() {
		row.byMeans()
		return
	}
	if len(base) > 1 {
		s := stats.Stratify(base, new, stats.Confidence)
		row.Delta, row.P, row.Stat, row.Test, row.strata = s.Delta, s.P, Typical, MachineRanks, &s
		row.Change, row.ChangeLow, row.ChangeHigh = s.Relative(row.Base.Center)
		row.overTrials()
		return
	}
	a, b := trialsOf(row.cells.base, row.Metric), trialsOf(row.cells.new, row.Metric)
	row.Delta, row.Stat, row.Test = stats.MannWhitney(a, b).Delta, Middle, Ranks
	row.P = stats.MannWhitney(base[0], new[0]).P
	row.Change = row.New.Center/row.Base.Center - 1
	lo, hi := math.NaN(), math.NaN()
	if row.rounds {
		x, y := row.cells.base.ByStart(row.Metric), row.cells.new.ByStart(row.Metric)
		row.Test, row.P = RoundRanks, stats.MannWhitney(centers(x), centers(y)).P // which sorts the rounds
		_, lo, hi = stats.QuantileRatio(x.Groups(), y.Groups(), 0.5, stats.Confidence, false, bootstrapSeed)
	} else if row.Base.Censored+row.New.Censored == 0 {
		_, lo, hi = stats.RatioInterval(a, b, stats.Confidence, bootstrapSeed)
	}
	row.ChangeLow, row.ChangeHigh = lo-1, hi-1
	row.overTrials()
}

// byMeans compares the pooled means of the trials, or of the rounds, as if none had a partner.
func (row *Row) byMeans() {
	base, new := row.cells.base, row.cells.new
	row.Delta = stats.MannWhitney(trialsOf(base, row.Metric), trialsOf(new, row.Metric)).Delta
	row.Stat = Mean
	change := row.whole(exposed(row.of), false)
	row.Change, row.ChangeLow, row.ChangeHigh = change.Relative(row.Base.Center)
}

// trialsOf are the values of the trials of a cell, of which +Inf is larger than all others.
func trialsOf(c *results.Cell, metric string) []float64 {
	values, censored := c.Sample(metric)
	return slices.Concat(values, slices.Repeat([]float64{math.Inf(1)}, censored))
}

// shorterLimit says which run had the shorter time limit: -1 the base, +1 the new
// one, 0 neither. What timed out there may have been less than what the other had the
// time to see; how much less cannot be known, for the limit counts from the start of
// a trial, and not from where a metric begins.
func shorterLimit(all []setting) int {
	for _, s := range all {
		a, errA := time.ParseDuration(s.base)
		b, errB := time.ParseDuration(s.new)
		if s.key == "time_limit" && errA == nil && errB == nil {
			return cmp.Compare(a, b)
		}
	}
	return 0
}

func figure(d stats.Summary) Figure {
	return Figure{N: d.N, Censored: d.Censored, Seen: d.N + d.Censored, Center: d.Center(), Low: d.CILow,
		High: d.CIHigh, Effect: math.NaN(), Doubt: d.Doubtful()}
}
