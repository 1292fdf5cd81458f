package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Ranking says of the algorithms of one run which is the faster, by how much and how
// sure that is: of each two that were run in the same place of the sweep.
type Ranking struct {
	Metric *metric.Metric
	// Instead is the metric that leads the tables, where it is not this one: it means different
	// outages for different algorithms of the run.
	Instead *metric.Metric
	Duels   []*Duel
	Notes   []string // what is not ranked, and why
	Tests   int      // comparisons that Holm's correction counts

	columns []string
	word    func(column string) string // what stands before the value of a column in sentences
}

// A Duel compares two algorithms that differ in nothing but their label.
type Duel struct {
	Place      []metric.Field // where they were run, of what the run varies
	Slow, Fast string         // labels; where no difference is shown, as they came out
	Best       bool           // one of them has the smallest median in this place
	Paired     bool           // pairs of trials that met the same luck are compared
	N, NFast   int            // trials of Slow, and of Fast; of pairs the same
	Left       int            // trials without a partner
	Cut        int            // of those compared, how many the time limit ended
	// Ratio is that of Slow to Fast, or, if Apart, the difference in the metric's unit. Low
	// and High are the ends of its 95 % interval. NaN: it does not exist.
	Ratio, Low, High float64
	Apart            bool
	Exact            bool // every pair differs by Ratio
	Equal            bool // no pair differs
	P, Adjusted      float64

	// Doubt is what clocks can be wrong by, if that is more than the median of one of them or, if
	// Apart, than the difference; else 0.
	Doubt float64

	of    *metric.Metric
	never string // which of the two never recovered, and how often; "" for other metrics
	tests int
	where string // Place in words, with a colon; "" if nothing else is varied
}

// mostDuels bounds how many there are: nobody reads more, and each takes its time.
const mostDuels = 2000

// Rank ranks the algorithms of a run. It is nil if nothing is to be ranked: there is one
// algorithm alone, or no time by which algorithms of the problem are ranked.
func Rank(t *results.Table) *Ranking {
	return RankIn(t, func(column string) string { return column + "=" })
}

// RankIn is Rank with words of its own for the columns that say where algorithms were run:
// what stands before their values.
func RankIn(t *results.Table, word func(column string) string) *Ranking {
	r := &Ranking{word: word}
	if r.Metric, r.Instead = rankedBy(t); r.Metric == nil {
		return nil
	}
	var places [][]metric.Field
	groups := map[string][]*results.Cell{}
	columns := view.VaryingIn(t)
	r.columns = columns
	all := 0
	for _, c := range t.Cells() {
		place := view.Place(c.Design, columns)
		key := view.Name(place, columns)
		if groups[key] == nil {
			places = append(places, place)
		}
		all += len(groups[key])
		groups[key] = append(groups[key], c)
	}
	switch {
	case all == 0:
		return nil
	case all > mostDuels:
		r.Notes = append(r.Notes, fmt.Sprintf("%d pairs of algorithms are too many to be ranked "+
			"(more than %d)", all, mostDuels))
		return r
	}
	for _, place := range places {
		r.group(place, groups[view.Name(place, columns)])
	}
	if len(r.Duels)+len(r.Notes) == 0 {
		return nil
	}
	p := make([]float64, len(r.Duels))
	for i, d := range r.Duels {
		p[i] = d.P
		if !math.IsNaN(d.P) {
			r.Tests++
		}
	}
	for i, adjusted := range stats.Holm(p) {
		r.Duels[i].Adjusted, r.Duels[i].tests = adjusted, r.Tests
	}
	return r
}

// rankedBy is the metric that the algorithms of a run are ranked by. Where they mean
// different outages by their downtime, it is a downtime that means one thing for all.
func rankedBy(t *results.Table) (m, instead *metric.Metric) {
	var problem algo.Problem
	for _, c := range t.Cells() {
		p := algo.Problem(c.Get("problem"))
		if problem != "" && p != problem {
			return nil, nil
		}
		problem = p
	}
	known := t.Known()
	m = metric.Ranked(problem)
	if m == nil {
		return nil, nil
	}
	if one := m.Common(); one != nil && Mixed(t) && slices.Contains(known, one.Name) {
		return one, m
	}
	if !slices.Contains(known, m.Name) {
		return nil, nil
	}
	return m, nil
}

// Mixed says whether the algorithms of the tables mean different outages by theirs.
func Mixed(tables ...*results.Table) bool {
	services := map[algo.Service]bool{}
	for _, t := range tables {
		for _, c := range t.Cells() {
			service := algo.Agreed // of one that is not linked in nobody knows
			if a, err := algo.Lookup(c.Get("algorithm")); err == nil {
				service = a.Spec.Service
			}
			services[service] = true
		}
	}
	return len(services) > 1
}

// group compares each two of the cells of one place, the smaller median first.
func (r *Ranking) group(place []metric.Field, cells []*results.Cell) {
	type entrant struct {
		*results.Cell
		median float64
	}
	var list []entrant
	var without []string
	for _, c := range cells {
		values, censored := c.Sample(r.Metric.Name)
		broken := c.Count(trace.Violated)
		switch {
		case broken > 0:
			r.Notes = append(r.Notes, fmt.Sprintf("%s%s is not ranked: it broke a promise (trials: %d)",
				r.at(place), view.Label(c.Design), broken))
		case len(values)+censored == 0:
			without = append(without, fmt.Sprintf("%s%s is not ranked: no trial has a value of %s",
				r.at(place), view.Label(c.Design), r.Metric.Name))
		default:
			m := stats.Describe(values, censored).Median
			if math.IsNaN(m) { // among the time-outs
				m = math.Inf(1)
			}
			list = append(list, entrant{c, m})
		}
	}
	if len(list) > 0 { // else there was nothing to recover from
		r.Notes = append(r.Notes, without...)
	}
	slices.SortStableFunc(list, func(a, b entrant) int { return cmp.Compare(a.median, b.median) })
	for i, fast := range list {
		for _, slow := range list[i+1:] {
			d := duel(fast.Cell, slow.Cell, r.Metric)
			d.where = r.at(place)
			d.Place, d.Best = place, i == 0
			for _, c := range []entrant{fast, slow} {
				d.Doubt = max(d.Doubt, stats.Doubtful(c.median, c.Doubt(r.Metric)))
				if d.Apart {
					d.Doubt = max(d.Doubt, stats.Doubtful(d.Ratio, c.Doubt(r.Metric)))
				}
			}
			r.Duels = append(r.Duels, d)
		}
	}
}

// duel compares two cells: in pairs, if they have enough, and else by the ranks of all trials.
func duel(fast, slow *results.Cell, m *metric.Metric) *Duel {
	d := &Duel{of: m}
	if m.Open != "" {
		d.never = strings.Join(slices.Concat(never(slow, m), never(fast, m)), ", ")
	}
	if p := Pair(fast, slow, m); p.enough(DefaultAlpha) {
		d.inPairs(p)
		if d.Ratio < 1 && !d.Apart || d.Ratio < 0 || math.IsNaN(d.Ratio) && !p.larger() {
			fast, slow = slow, fast
			d.inPairs(Pair(fast, slow, m))
		}
	} else {
		d.byRanks(trialsOf(fast, m.Name), trialsOf(slow, m.Name))
	}
	d.Slow, d.Fast = view.Label(slow.Design), view.Label(fast.Design)
	return d
}

// never says how often the trials of a cell never recovered; nothing if all did.
func never(c *results.Cell, m *metric.Metric) []string {
	values, censored := c.Sample(m.Name)
	if censored == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s never recovered in %d of %d", view.Label(c.Design), censored,
		len(values)+censored)}
}

func (d *Duel) inPairs(p Pairing) {
	d.Paired, d.N, d.NFast, d.Left, d.Cut, d.P = true, p.N, p.N, p.Left, p.Censored, p.P
	d.Equal = p.Equal == p.N
	noRatio := math.IsNaN(p.Ratio) && math.IsNaN(p.RatioLow) && math.IsNaN(p.RatioHigh)
	if d.Apart = noRatio || p.SameShift && !p.SameRatio; d.Apart {
		d.Ratio, d.Low, d.High, d.Exact = p.Shift, p.ShiftLow, p.ShiftHigh, p.SameShift
	} else {
		d.Ratio, d.Low, d.High, d.Exact = p.Ratio, p.RatioLow, p.RatioHigh, p.SameRatio
	}
	d.Exact = d.Exact && !math.IsNaN(d.Ratio) // pairs of time-outs are alike in nothing that is known
}

// byRanks compares trials that have no partners.
func (d *Duel) byRanks(fast, slow []float64) {
	d.N, d.NFast = len(slow), len(fast)
	for _, v := range slices.Concat(fast, slow) {
		if math.IsInf(v, 1) {
			d.Cut++
		}
	}
	d.Ratio, d.Low, d.High = stats.RatioInterval(fast, slow, stats.Confidence, bootstrapSeed)
	if d.P = stats.MannWhitney(fast, slow).P; min(d.N, d.NFast) < stats.MinimumBootstrap {
		d.P = math.NaN() // no test could tell anything
	}
}

// none is what Ratio is where there is no difference.
func (d *Duel) none() float64 {
	if d.Apart {
		return 0
	}
	return 1
}

// apart says whether the interval leaves no room for equality.
func (d *Duel) apart() bool { return d.Low > d.none() || d.High < d.none() }

// Shown says whether a difference is shown: the interval excludes equality, and the test
// is significant among all that were made.
func (d *Duel) Shown() bool { return d.apart() && d.Adjusted <= DefaultAlpha }

// String is the sentence.
func (d *Duel) String() string { return d.sentence() + view.DoubtIn(d.Doubt) }

func (d *Duel) sentence() string {
	where := d.where
	switch {
	case d.Equal && d.Paired:
		return fmt.Sprintf("%sno difference between %s and %s in any of %d trials%s", where, d.Fast, d.Slow,
			d.N, d.luck())
	case math.IsNaN(d.P):
		return fmt.Sprintf("%sno verdict on %s and %s: %s, and an interval takes %d", where, d.Fast, d.Slow,
			d.sizes(), stats.MinimumBootstrap)
	case d.Shown():
		verb := fmt.Sprintf(d.of.Slower, d.amount())
		return where + d.Slow + " " + verb + " " + d.Fast + ", " + d.sizes() + d.luck()
	}
	text := fmt.Sprintf("%sno difference shown between %s and %s (%s), %s%s", where, d.Slow, d.Fast,
		d.estimate(), d.sizes(), d.luck())
	if d.apart() {
		text += fmt.Sprintf("; the interval alone would show one, but p is %s after correction for %d "+
			"comparisons", view.P(d.Adjusted), d.tests)
		if least := d.leastN(); least > d.N {
			text += fmt.Sprintf(", of which %d trials could show one", least)
		}
	}
	return text
}

// leastN is how many pairs a significant difference takes among so many comparisons.
func (d *Duel) leastN() int {
	n := 1
	for d.Paired && stats.MinPairedP(n)*float64(d.tests) > DefaultAlpha {
		n++
	}
	return n
}

// amount is by how much: "1.3 [1.2, 1.4] times", "exactly 2 ms".
func (d *Duel) amount() string {
	unit := " times"
	if d.Apart {
		unit = " ms"
	}
	switch {
	case d.Exact:
		return "exactly " + console.Number(d.Ratio) + unit
	case math.IsNaN(d.Ratio):
		return "at least " + d.number(d.Low) + unit
	}
	return d.withInterval() + unit
}

func (d *Duel) withInterval() string {
	if math.IsNaN(d.Low) && math.IsNaN(d.High) {
		return d.number(d.Ratio) + " [n/a]"
	}
	return fmt.Sprintf("%s [%s, %s]", d.number(d.Ratio), d.number(d.Low), d.number(d.High))
}

// estimate is the same where no difference is shown.
func (d *Duel) estimate() string {
	if d.Apart {
		return "apart " + d.withInterval() + " ms"
	}
	return "ratio " + d.withInterval()
}

// number has as many digits as tell the ends of the interval from no difference.
func (d *Duel) number(v float64) string {
	if math.IsNaN(v) {
		return "..."
	}
	if d.Apart {
		return console.Number(v)
	}
	decimals := 2
	for _, end := range []float64{d.Low, d.High} {
		for d.apart() && decimals < 6 && end != 1 && math.Abs(end-1) < 0.5*math.Pow(10, -float64(decimals)) {
			decimals++
		}
	}
	if math.Abs(v) >= 100 {
		return console.Number(v)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

func (d *Duel) sizes() string {
	text := fmt.Sprintf("n = %d each", d.N)
	if d.N != d.NFast {
		text = fmt.Sprintf("n = %d and %d", d.N, d.NFast)
	}
	if d.Left > 0 {
		text += fmt.Sprintf(" (%d more cannot be paired)", d.Left)
	}
	if d.Cut > 0 {
		text += " (" + cmp.Or(d.never, fmt.Sprintf("%d cut off by the time limit", d.Cut)) + ")"
	}
	return text
}

func (d *Duel) luck() string {
	if d.Paired {
		return ", same luck"
	}
	return ""
}

// at names a place in front of a sentence.
func (r *Ranking) at(place []metric.Field) string {
	if len(place) == 0 {
		return ""
	}
	return view.Worded(place, r.columns, ", ", r.word) + ": "
}

// Head says what the sentences are about, with metrics by their names.
func (r *Ranking) Head() string {
	return r.HeadIn(func(m *metric.Metric) string { return m.Name })
}

// HeadIn is Head with words of its own for metrics.
func (r *Ranking) HeadIn(word func(*metric.Metric) string) string {
	text := "by " + word(r.Metric)
	if r.Instead != nil {
		text += ", since " + word(r.Instead) + " means different outages for different algorithms here"
	}
	return text + ": " + r.Metric.Doc
}

// Sentences are at most so many of the sentences: first those about the fastest of each
// place. More says how many there are besides.
func (r *Ranking) Sentences(most int) (out []string, more int) {
	for _, best := range []bool{true, false} {
		for _, d := range r.Duels {
			if d.Best == best {
				out = append(out, d.String())
			}
		}
	}
	out = append(out, r.Notes...)
	if len(out) > most {
		return out[:most], len(out) - most
	}
	return out, 0
}
