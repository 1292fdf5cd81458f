package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Statistic is what a row compares of two distributions, by the name that tables have.
type Statistic string

// The statistics besides quantiles, which are called p50, p90 and so on.
const (
	Typical Statistic = "typical" // the change of a typical pair, which has no figure on one side alone
	Mean    Statistic = "mean"
	Middle  Statistic = "p50"
)

// quantile is which one it is, 0 if it is none.
func (s Statistic) quantile() float64 { return quantiles[s] }

var quantiles = map[Statistic]float64{
	Middle: 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p10": 0.1, "p1": 0.01,
}

// statisticNames lists them all.
func statisticNames() []string {
	out := []string{string(Typical), string(Mean)}
	for _, s := range slices.SortedFunc(maps.Keys(quantiles), func(a, b Statistic) int {
		return cmp.Compare(quantiles[a], quantiles[b])
	}) {
		out = append(out, string(s))
	}
	return out
}

// statisticsOf are those that are compared of a metric besides the typical change: its middle, its mean,
// and how bad the worst values are. A pooled figure is a mean alone.
func statisticsOf(m *metric.Metric) []Statistic {
	switch {
	case m.Kind.Pooled():
		return []Statistic{Mean}
	case m.Better == metric.Higher:
		return []Statistic{Middle, Mean, "p10", "p1"}
	}
	return []Statistic{Middle, Mean, "p90", "p99"}
}

// An observer says what a trial saw of a metric: nothing, one value, or those of its operations, of which
// +Inf is known only to be larger than all others.
type observer func(*results.Trial) []float64

// ofTrials sees one value in each trial.
func ofTrials(m *metric.Metric) observer {
	return func(t *results.Trial) []float64 {
		if v := observed(t, m); !math.IsNaN(v) {
			return []float64{v}
		}
		return nil
	}
}

// A part is what a trial says of a mean.
type part func(*results.Trial) stats.Part

// exposed is the value of a trial, which weighs as much as the metric has it.
func exposed(m *metric.Metric) part {
	return func(t *results.Trial) stats.Part {
		return stats.Part{Value: observed(t, m), Weight: t.Exposure(m)}
	}
}

// averaged is the mean over a trial's observations of what each is worth.
func (see observer) averaged(worth func(float64) float64) part {
	return func(t *results.Trial) stats.Part {
		values := see(t)
		sum := 0.0
		for _, v := range values {
			sum += worth(v)
		}
		return stats.Part{Value: sum / float64(len(values)), Weight: float64(len(values))}
	}
}

// groups are the observations of a cell that are independent of each other: of trials or, if the row is
// of rounds, of these.
func (row *Row) groups(c *results.Cell, see observer) (out [][]float64) {
	for _, trials := range row.members(c) {
		var seen []float64
		for _, t := range trials {
			seen = append(seen, see(t)...)
		}
		out = append(out, seen)
	}
	return out
}

// beside compares the statistics of what both cells of the row observed, over trials or over operations,
// in pairs if the row does.
func (row *Row) beside(over string, see observer, of []Statistic) {
	base, new := row.groups(row.cells.base, see), row.groups(row.cells.new, see)
	both := slices.Concat(slices.Concat(base...), slices.Concat(new...))
	slices.Sort(both)
	if len(both) == 0 {
		return
	}
	known, _ := slices.BinarySearch(both, math.Inf(1))
	limit := math.Inf(1)
	if known > 0 && known < len(both) {
		limit = both[known-1]
	}
	same := slices.EqualFunc(base, new, slices.Equal[[]float64])
	for _, s := range of {
		other := &Row{see: see, Cell: row.Cell, Design: row.Design, Metric: row.Metric, of: row.of,
			cells: row.cells, lucky: row.lucky, rounds: row.rounds, counts: row.counts, Minor: row.Minor,
			sameLuck: row.sameLuck, Stat: s, Over: over, Delta: row.Delta, Uneven: math.NaN()}
		other.unknown()
		if p := s.quantile(); p > 0 {
			other.quantiles(p, see, base, new, both, row.Paired != nil)
		} else {
			other.restricted(see, base, new, limit, row.Paired != nil)
		}
		if same && other.Why == "" {
			other.Verdict, other.Change = Same, 0
		}
		other.Base.doubt(row.cells.base.Doubt(row.of))
		other.New.doubt(row.cells.new.Doubt(row.of))
		other.widen()
		row.Others = append(row.Others, other)
	}
}

// doubt has the interval take in what values can be wrong by.
func (f *Figure) doubt(by float64) {
	f.Doubt = stats.Doubtful(f.Center, by)
	f.Low, f.High = stats.Widen(f.Low, f.High, by)
}

// widen has the interval of the change take in what the clocks of each side can be wrong by.
func (row *Row) widen() {
	low, high := stats.WidenRatio(1+row.ChangeLow, 1+row.ChangeHigh, row.New.Center,
		row.cells.new.Doubt(row.of), row.Base.Center, row.cells.base.Doubt(row.of))
	row.ChangeLow, row.ChangeHigh = low-1, high-1
}

// unknown empties the figures of the row's test.
func (row *Row) unknown() {
	none := math.NaN()
	row.Change, row.ChangeLow, row.ChangeHigh, row.P, row.Adjusted = none, none, none, none, none
}

// whole compares the means over all parts, in pairs or not.
func (row *Row) whole(of part, paired bool) stats.Change {
	if paired {
		p := row.pairs(row.cells.base, row.cells.new, row.cells.lucky, of)
		row.Paired, row.P, row.Test = &p, p.P, MeanPairs
		return p.Change
	}
	var change stats.Change
	row.P, change = stats.PooledGroups(row.parts(row.cells.base, of), row.parts(row.cells.new, of),
		stats.Confidence, bootstrapSeed)
	row.Paired, row.Test = nil, Means
	return change
}

// restricted compares the means of values, each of which counts as the limit at most: where some were cut
// off, the mean of all is not known, and that up to the longest that was seen is.
func (row *Row) restricted(see observer, base, new [][]float64, limit float64, paired bool) {
	row.Limit = limit
	row.Base, row.New = meanFigure(base, limit), meanFigure(new, limit)
	if min(row.Base.Seen, row.New.Seen) < stats.MinimumBootstrap {
		row.Verdict, row.Why = TooFew, fmt.Sprintf("%d are too few: it takes %d",
			min(row.Base.Seen, row.New.Seen), stats.MinimumBootstrap)
		return
	}
	if row.elsewhere(paired) {
		return
	}
	row.score = see.averaged(func(v float64) float64 { return min(v, limit) })
	change := row.whole(row.score, paired)
	row.Change, row.ChangeLow, row.ChangeHigh = change.Relative(row.Base.Center)
}

// meanFigure is the mean of groups up to a limit.
func meanFigure(groups [][]float64, limit float64) Figure {
	f := Figure{Low: math.NaN(), High: math.NaN()}
	var values []float64
	single := true
	for _, g := range groups {
		single = single && len(g) <= 1
		for _, v := range g {
			if math.IsInf(v, 1) {
				f.Censored++
			}
			values = append(values, min(v, limit))
		}
	}
	f.Seen = len(slices.DeleteFunc(slices.Clone(groups), func(g []float64) bool { return len(g) == 0 }))
	f.N = len(values) - f.Censored
	d := stats.Describe(values, 0)
	if f.Center = d.Mean; single {
		f.Low, f.High = stats.MeanInterval(values, stats.Confidence, bootstrapSeed)
	}
	return f
}

// quantiles compares a quantile by how many observations of each side lie beyond that of both sides
// together: in pairs that is McNemar's test (Note on the Sampling Error of the Difference Between
// Correlated Proportions, Psychometrika 12, 1947), else Fisher's. Where there are too few for an interval
// of the quantile, it is not compared.
func (row *Row) quantiles(p float64, see observer, base, new [][]float64, both []float64, paired bool) {
	a := stats.GroupedQuantile(base, p, stats.Confidence)
	b := stats.GroupedQuantile(new, p, stats.Confidence)
	row.Base, row.New = tailFigure(&a), tailFigure(&b)
	for i, t := range []*stats.Tail{&a, &b} {
		if t.Refused() {
			row.Verdict, row.Why = TooFew, refusal(t, i)
			return
		}
	}
	if row.elsewhere(paired) {
		return
	}
	at := stats.Quantile(both, p)
	row.score = see.averaged(func(v float64) float64 {
		if v > at || math.IsInf(v, 1) {
			return 1
		}
		return 0
	})
	row.whole(row.score, paired)
	row.Test = Tails
	if paired {
		row.Test = TailPairs
		base, new = row.inPairs(see)
	}
	if a.Value == 0 && b.Value == 0 {
		row.Change = 0
		return
	}
	ratio, lo, hi := stats.QuantileRatio(base, new, p, stats.Confidence, paired, bootstrapSeed)
	row.Change, row.ChangeLow, row.ChangeHigh = ratio-1, lo-1, hi-1
}

// elsewhere says whether trials are on several machines and make no pairs: a figure of all of them would
// depend on how many are on which.
func (row *Row) elsewhere(paired bool) bool {
	if len(row.cells.machines) < 2 || paired {
		return false
	}
	row.Verdict, row.Why = TooFew, "trials on several machines are compared in pairs, and some have no "+
		"partner of the same seed and machine: compare one machine at a time, with --where "+
		""+results.HostColumn+"="+
		row.cells.machines[0]
	return true
}

// family are those statistics of the row's metric, over trials or over operations, that are compared by
// exchanging trials, and so are exchanged together.
func (row *Row) family(over string) (out []*Row) {
	for _, of := range row.all() {
		if of.Over == over && of.Paired == nil && !math.IsNaN(of.P) {
			out = append(out, of)
		}
	}
	return out
}

// exchanged are the P of rows of one family, adjusted for each other.
func exchanged(rows []*Row) []float64 {
	var blocks []stats.Block
	first := rows[0]
	see := first.see
	if see == nil {
		see = ofTrials(first.of)
	}
	base, new := first.blocks(first.cells.base), first.blocks(first.cells.new)
	for i := range base {
		var members [][]*results.Trial // trials, or rounds, that have a value
		block := stats.Block{}
		for side, c := range []*results.Cell{base[i], new[i]} {
			for _, trials := range first.members(c) {
				if slices.ContainsFunc(trials, func(t *results.Trial) bool { return len(see(t)) > 0 }) {
					members = append(members, trials)
				}
			}
			if side == 0 {
				block.First = len(members)
			}
		}
		for _, row := range rows {
			block.Scores = append(block.Scores, row.scores(members))
		}
		blocks = append(blocks, block)
	}
	return stats.Exchanged(blocks, bootstrapSeed)
}

// members are the trials of a cell, one by one or in rounds.
func (row *Row) members(c *results.Cell) (out [][]*results.Trial) {
	starts := map[int][]*results.Trial{}
	for _, t := range c.Trials {
		if !row.rounds {
			out = append(out, []*results.Trial{t})
		} else {
			starts[t.Start()] = append(starts[t.Start()], t)
		}
	}
	for _, start := range slices.Sorted(maps.Keys(starts)) {
		out = append(out, starts[start])
	}
	return out
}

// scores are what the row's test adds up over members: by their ranks, those, as van Elteren weighs them;
// else by how much each moves the mean.
func (row *Row) scores(members [][]*results.Trial) []float64 {
	if row.score == nil {
		medians := make([]float64, len(members))
		for i, trials := range members {
			var values []float64
			for _, t := range trials {
				values = append(values, ofTrials(row.of)(t)...)
			}
			slices.Sort(values)
			medians[i] = stats.Quantile(values, 0.5)
		}
		ranks := stats.Midranks(medians)
		for i := range ranks {
			ranks[i] /= float64(len(members) + 1)
		}
		return ranks
	}
	parts := make([]stats.Part, len(members))
	for i, trials := range members {
		of := make([]stats.Part, len(trials))
		for k, t := range trials {
			of[k] = row.score(t)
		}
		parts[i] = stats.Together(of)
	}
	mean := stats.Together(parts).Value
	out := make([]float64, len(parts))
	for i, p := range parts {
		out[i] = float64((p.Value - mean) * p.Weight)
	}
	return out
}

// inPairs are the groups of both cells that belong together.
func (row *Row) inPairs(see observer) (base, new [][]float64) {
	pairs := [][][2]*results.Trial{}
	if row.rounds {
		pairs, _, _ = byRound(row.cells.lucky)
	} else {
		for _, p := range row.cells.lucky {
			pairs = append(pairs, [][2]*results.Trial{p})
		}
	}
	for _, round := range pairs {
		var a, b []float64
		for _, p := range round {
			a, b = append(a, see(p[0])...), append(b, see(p[1])...)
		}
		if len(a) > 0 && len(b) > 0 {
			base, new = append(base, a), append(new, b)
		}
	}
	return base, new
}

// refusal says why a quantile is not compared: what one of the runs has too few of.
func refusal(t *stats.Tail, side int) string {
	run := strings.ToLower(sides[side])
	switch {
	case t.N == 0:
		return "no operation of the " + run + " run counts"
	case t.N == t.Groups:
		return fmt.Sprintf("the %s run has %d trials with a value, and it takes %d", run, t.N, t.Needed)
	}
	return fmt.Sprintf("the operations of the %s run are too few: %s", run, view.Refusal(t))
}

func tailFigure(t *stats.Tail) Figure {
	return Figure{N: t.N - t.Censored, Censored: t.Censored, Seen: t.Groups, Center: t.Value, Low: t.Low,
		High: t.High, Effect: t.Effect}
}

// all are the row and what else is compared of its metric in its cell, in the order in which people read
// them: the figures before what pairs say beside them.
func (row *Row) all() (out []*Row) {
	out = []*Row{row}
	for _, other := range row.Others {
		if out = append(out, other); other.Stat == Middle && other.Over == "" && row.Stat == Typical {
			out[0], out[1] = other, row
		}
	}
	return out
}

// each goes through all statistics of all rows.
func (r *Report) each(do func(*Row)) {
	for i := range r.Rows {
		for _, row := range r.Rows[i].all() {
			do(row)
		}
	}
}

// graveness is the order of verdicts on statistics of one metric, of which the gravest is that on the
// metric.
var graveness = []Verdict{NoVerdict, TooFew, Same, Unclear, Small, Unsure, Changed, Better, Worse}

// gravest is the row of all whose verdict is the gravest; of several the one that is surest.
func (row *Row) gravest() *Row {
	return slices.MaxFunc(row.all(), func(a, b *Row) int {
		return cmp.Or(
			cmp.Compare(min(len(a.Failure), 1), min(len(b.Failure), 1)),
			cmp.Compare(slices.Index(graveness, a.Verdict), slices.Index(graveness, b.Verdict)),
			-cmp.Compare(a.Adjusted, b.Adjusted))
	})
}

// name is the metric with the statistic, where that is not the one that stands for it anyhow.
func (row *Row) name() string {
	text := row.Metric
	named := row.Over != "" || row.Stat != Middle && row.Stat != Typical
	if row.Stat == Mean && (row.of.Kind.Pooled() || row.Exact) {
		named = false
	}
	if named {
		text = string(row.Stat) + " of " + text
	}
	if row.Over == experiment.OverOperations {
		text += " over operations"
	}
	return text
}
