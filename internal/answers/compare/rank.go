package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Ranking says of the algorithms of one run which is the faster, by how much and how
// sure that is: in each place of the sweep, and over all of it. All comparisons of two algorithms are one
// family of tests, corrected for each other by stats.StepDownMax: the trials of a repetition share their seed
// in all places, so that its pairs are swapped together.
type Ranking struct {
	Metric *metric.Metric
	// Instead is the metric that leads the tables, where it is not this one: it means different
	// outages for different algorithms of the run.
	Instead   *metric.Metric
	Standings []*Standing // over the sweep first, if it has several places
	Notes     []string    // what is not ranked, and why; what ran the algorithms, where it differs
	Tests     int         // comparisons that are corrected for
	// AsSet says that time-outs are those of the file or of the algorithms, and are not tuned: times
	// compare those, too.
	AsSet bool

	columns []string
	word    func(column string) string // what stands before the value of a column in sentences
}

// A Standing is how algorithms stand to each other in one place of the sweep, or over all of it.
type Standing struct {
	Place  []metric.Field // nil over the sweep, or where there is one place alone
	Over   int            // of the sweep: how many places it has
	Labels []string       // the fastest first, as it came out
	Duels  []*Duel        // of each two of them
	// Never says of algorithms that never recovered in some trials, in how many.
	Never []string

	where string // the place in words, with a colon
}

// A Duel compares two algorithms that differ in nothing but their label.
type Duel struct {
	Place      []metric.Field // where they were run, of what the run varies
	Slow, Fast string         // labels; where no difference is shown, as they came out
	Paired     bool           // pairs of trials of one seed are compared
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

	// Effect is the size of the effect: in pairs their rank biserial correlation, else Cliff's delta; 1 if
	// every value of Slow is the larger.
	Effect float64

	agree       bool      // of pairs: Slow is slower in each
	differences []float64 // of pairs, for stats.StepDownMax
	keys        []luckKey // likewise, in their order

	of    *metric.Metric
	never string // which of the two never recovered, and how often; "" for other metrics
	tests int
	where string // Place in words, with a colon; "" if nothing else is varied
}

// mostDuels bounds how many there are: nobody reads more, and each takes its time.
const mostDuels = 2000

// mostUnjudged is the share of trials without a verdict from which on a cell is not ranked: its figures
// are of those that are left, and these are not left at random.
const mostUnjudged = 0.1

// Rank ranks the algorithms of a run by the main time of their problem. It is nil if nothing is to be
// ranked: there is one algorithm alone, or no such time.
func Rank(t *results.Table) *Ranking { return RankIn(t, plainly) }

// RankIn is Rank with words of its own for the columns that say where algorithms were run:
// what stands before their values.
func RankIn(t *results.Table, word func(column string) string) *Ranking {
	r := &Ranking{word: word}
	r.Metric, r.Instead = rankedBy(t)
	return r.of(t)
}

// RankBy is Rank by a given metric. It is nil, too, if algorithms cannot be ranked by that.
func RankBy(t *results.Table, m *metric.Metric) *Ranking {
	if !m.Ranks() || !slices.Contains(t.Known(), m.Name) {
		return nil
	}
	return (&Ranking{Metric: m, word: plainly}).of(t)
}

// plainly is how columns are called by default.
func plainly(column string) string { return column + "=" }

// of ranks the algorithms of t by the metric; nil if there is nothing to be ranked.
func (r *Ranking) of(t *results.Table) *Ranking {
	if r.Metric == nil {
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
	r.AsSet = AsSet(t, r.Metric)
	var ranked [][]*results.Cell
	for _, place := range places {
		cells, without := r.fit(place, groups[view.Name(place, columns)])
		if len(cells) > 0 { // else there was nothing to recover from
			r.Notes = append(r.Notes, without...)
		}
		ranked = append(ranked, cells)
		if len(cells) > 1 {
			r.Standings = append(r.Standings, r.standing(place, cells))
		}
	}
	if text := hostingsDiffer(ranked); text != "" {
		r.Notes = append(r.Notes, text)
	}
	if over := r.overSweep(ranked); over != nil {
		r.Standings = slices.Insert(r.Standings, 0, over)
	}
	if len(r.Standings)+len(r.Notes) == 0 {
		return nil
	}
	r.correct()
	return r
}

// AsSetNote says so of time-outs that bench tune has not set.
const AsSetNote = "time-outs as set, not tuned"

// AsSet says whether a metric of a run depends on time-outs that are not tuned: a time, or a share of it.
func AsSet(t *results.Table, m *metric.Metric) bool {
	if !m.Kind.Censored() && !slices.Contains(m.Exposure, metric.Duration.Name) {
		return false
	}
	e, err := experiment.Parse("config.yaml", t.Config, experiment.Overrides{})
	return err == nil && e.AsSet != ""
}

// correct adjusts the tests of all duels for each other: those of pairs by swapping all pairs of a
// repetition together, the others, of which a run of one seed has none, by their number.
func (r *Ranking) correct() {
	var duels []*Duel
	var signed []stats.Signed
	number, others := numbering{}, 0
	for _, s := range r.Standings {
		for _, d := range s.Duels {
			of := stats.Signed{}
			switch {
			case math.IsNaN(d.P):
			case d.Paired:
				of.Differences = d.differences
				for _, key := range d.keys {
					of.Keys = append(of.Keys, number.of(key))
				}
				r.Tests++
			default:
				others++
				r.Tests++
			}
			duels, signed = append(duels, d), append(signed, of)
		}
	}
	own, adjusted := stats.StepDownMax(signed, bootstrapSeed)
	for i, d := range duels {
		d.Adjusted, d.tests = math.NaN(), r.Tests
		switch {
		case math.IsNaN(d.P):
		case d.Paired:
			d.P, d.Adjusted = own[i], min(1, adjusted[i]*float64(1+others))
		default:
			d.Adjusted = min(1, d.P*float64(r.Tests))
		}
	}
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
	if one := m.Common(); one != nil && view.Mixed(view.Designs(t.Cells())) {
		m, instead = one, m
	}
	if !slices.Contains(known, m.Name) {
		return nil, nil
	}
	return m, instead
}

// fit are the cells that can be ranked, the smallest median first, and why others are not.
func (r *Ranking) fit(place []metric.Field, cells []*results.Cell) (fit []*results.Cell, without []string) {
	medians := map[*results.Cell]float64{}
	for _, c := range cells {
		values, censored := c.Sample(r.Metric.Name)
		broken, unjudged := view.CaveatOf(c, view.Broken), view.CaveatOf(c, view.Unjudged)
		not := func(format string, args ...any) string {
			return r.at(place) + view.Label(c.Design) + " is not ranked: " + fmt.Sprintf(format, args...)
		}
		switch {
		case broken.Trials > 0:
			r.Notes = append(r.Notes, not("%v", broken))
		case len(values)+censored == 0:
			without = append(without, not("no trial has a value of %s", r.Metric.Name))
		case float64(unjudged.Trials) > float64(mostUnjudged*float64(len(c.Trials))):
			without = append(without, not("%v, and those that have one may differ from them", unjudged))
		default:
			m := c.Describe(r.Metric.Name).Center()
			if math.IsNaN(m) { // among the time-outs
				m = math.Inf(1)
			}
			medians[c] = m
			fit = append(fit, c)
		}
	}
	slices.SortStableFunc(fit, func(a, b *results.Cell) int { return cmp.Compare(medians[a], medians[b]) })
	return fit, without
}

// standing compares each two of the cells of one place, which are sorted.
func (r *Ranking) standing(place []metric.Field, cells []*results.Cell) *Standing {
	s := &Standing{Place: place, where: r.at(place)}
	for i, fast := range cells {
		s.Labels = append(s.Labels, view.Label(fast.Design))
		s.Never = append(s.Never, never(fast, r.Metric)...)
		for _, slow := range cells[i+1:] {
			d := duel(fast, slow, r.Metric)
			d.where, d.Place = s.where, place
			d.widen(fast, slow)
			s.Duels = append(s.Duels, d)
		}
	}
	return s
}

// mostSweptDoubt is by what share of a figure clocks may be wrong where algorithms are ranked over a sweep.
const mostSweptDoubt = 0.01

// overSweep compares each two algorithms that are ranked in all of several places, repetition by
// repetition: by the geometric mean of their values in all places, for these share the seed of the
// repetition. It is nil if there are no such two, or one place alone.
func (r *Ranking) overSweep(places [][]*results.Cell) *Standing {
	if len(places) < 2 {
		return nil
	}
	s := &Standing{Over: len(places), where: fmt.Sprintf("over the %d points of the sweep: ", len(places))}
	values := map[string]map[luckKey]float64{} // by label and repetition, sums of logarithms
	seenIn := map[string]map[luckKey]int{}     // likewise, in how many places
	hosts := map[string]map[luckKey]string{}   // likewise, the machines of the places
	count := map[string]int{}
	for _, cells := range places {
		for _, c := range cells {
			if c.Doubt(r.Metric) > mostSweptDoubt*c.Describe(r.Metric.Name).Center() {
				return nil // its interval would have to take that in, at each place by another share
			}
			none := func(t *results.Trial) bool { return observed(t, r.Metric) == 0 }
			if slices.ContainsFunc(c.Trials, none) {
				continue // a geometric mean says nothing of it
			}
			label, seen := view.Label(c.Design), map[luckKey]int{}
			if count[label]++; values[label] == nil {
				values[label], seenIn[label] = map[luckKey]float64{}, map[luckKey]int{}
				hosts[label] = map[luckKey]string{}
				s.Labels = append(s.Labels, label)
			}
			for _, t := range c.Trials {
				key := repetitionOf(t, seen)
				values[label][key] += exact.Log(observed(t, r.Metric))
				seenIn[label][key]++
				hosts[label][key] += t.Host + "\n"
			}
		}
	}
	s.Labels = slices.DeleteFunc(s.Labels, func(label string) bool { return count[label] < len(places) })
	center := map[string]float64{}
	for _, label := range s.Labels {
		maps.DeleteFunc(values[label], func(key luckKey, _ float64) bool {
			return seenIn[label][key] < len(places)
		})
		var known []float64
		for _, v := range values[label] {
			if !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		slices.Sort(known)
		center[label] = stats.Quantile(known, 0.5)
	}
	slices.SortStableFunc(s.Labels, func(a, b string) int { return cmp.Compare(center[a], center[b]) })
	for i, fast := range s.Labels {
		for _, slow := range s.Labels[i+1:] {
			there := maps.Clone(values[slow]) // of what ran on the same machine in each place
			maps.DeleteFunc(there, func(key luckKey, _ float64) bool {
				return hosts[fast][key] != hosts[slow][key]
			})
			d := acrossPlaces(fast, slow, values[fast], there, s.Over)
			d.of, d.where = r.Metric, s.where
			s.Duels = append(s.Duels, d)
		}
	}
	if len(s.Duels) == 0 {
		return nil
	}
	return s
}

// acrossPlaces compares two algorithms by the means of logarithms, whose sums over places are given.
func acrossPlaces(fast, slow string, a, b map[luckKey]float64, places int) *Duel {
	var keys []luckKey
	for key := range a {
		if _, both := b[key]; both {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, luckKey.compare)
	side := func(of map[luckKey]float64) []float64 {
		out := make([]float64, len(keys))
		for i, key := range keys {
			out[i] = exact.Exp(of[key] / float64(places))
		}
		return out
	}
	d := &Duel{Fast: fast, Slow: slow}
	p := Pairing{Paired: stats.Pairs(side(a), side(b), stats.Confidence)}
	if p.larger() || p.Tendency == 0 {
		d.inPairs(p)
	} else {
		d.Fast, d.Slow = slow, fast
		p.Paired = stats.Pairs(side(b), side(a), stats.Confidence)
		d.inPairs(p)
	}
	d.keys = keys
	if d.N < stats.MinimumBootstrap {
		d.P = math.NaN()
	}
	return d
}

// duel compares two cells: in pairs, and by the ranks of all trials where most have no partner. Of a few
// pairs nothing is said, even if time-outs leave enough for ranks: tests by ranks cost those of pairs as much
// as Bonferroni's method says.
func duel(fast, slow *results.Cell, m *metric.Metric) *Duel {
	d := &Duel{of: m}
	p, lucky := Pair(fast, slow, m), luckyPairs(fast, slow)
	switch {
	case p.enough(DefaultAlpha):
		d.inPairs(p)
		if d.Ratio < 1 && !d.Apart || d.Ratio < 0 || math.IsNaN(d.Ratio) && !p.larger() {
			fast, slow = slow, fast
			d.inPairs(Pair(fast, slow, m))
		}
		d.keys = lucks(luckyPairs(fast, slow))
	case 2*len(lucky) >= max(len(fast.Trials), len(slow.Trials)):
		d.inPairs(p)
		d.P = math.NaN()
	default:
		d.byRanks(trialsOf(fast, m.Name), trialsOf(slow, m.Name))
		d.byMachines(fast, slow)
	}
	d.never = strings.Join(slices.Concat(never(slow, m), never(fast, m)), ", ")
	d.Slow, d.Fast = view.Label(slow.Design), view.Label(fast.Design)
	if rest := d.both(luckyPairs(fast, slow)); d.never != "" && d.Paired && rest != nil {
		d.never += "; where both did, " + rest.claim()
	}
	return d
}

// both is what the pairs show in which both ended; nil if they are too few.
func (d *Duel) both(pairs [][2]*results.Trial) *Duel {
	fast, slow := d.Fast, d.Slow
	var x, y []float64
	for _, p := range pairs {
		if a, b := observed(p[0], d.of), observed(p[1], d.of); a > 0 && b > 0 && !math.IsInf(a+b, 1) {
			x, y = append(x, a), append(y, b)
		}
	}
	p := stats.Pairs(x, y, stats.Confidence)
	if p.N < stats.MinimumBootstrap || math.IsNaN(p.Ratio) {
		return nil
	}
	if p.Ratio < 1 {
		p, fast, slow = stats.Pairs(y, x, stats.Confidence), slow, fast
	}
	return &Duel{of: d.of, Fast: fast, Slow: slow, Ratio: p.Ratio, Low: p.RatioLow, High: p.RatioHigh,
		Exact: p.SameRatio}
}

// lucks are the keys of pairs.
func lucks(pairs [][2]*results.Trial) (out []luckKey) {
	seen := map[luckKey]int{}
	for _, p := range pairs {
		out = append(out, repetitionOf(p[0], seen))
	}
	return out
}

// repetitionOf is the key of the trials that share a seed in all places, on whatever machines: their pairs
// are swapped together.
func repetitionOf(t *results.Trial, seen map[luckKey]int) luckKey {
	anywhere := results.Trial{Seed: t.Seed}
	return luckOf(&anywhere, seen)
}

// never says how often the trials of a cell never recovered; nothing if all did.
func never(c *results.Cell, m *metric.Metric) []string {
	values, censored := c.Sample(m.Name)
	if censored == 0 || m.Open == "" {
		return nil
	}
	n := len(values) + censored
	text := fmt.Sprintf("%s never recovered in %d of %d", view.Label(c.Design), censored, n)
	if lo, hi := stats.BinomialInterval(censored, n, stats.Confidence); censored < n {
		text += fmt.Sprintf(" [%s, %s]", share(lo), share(hi))
	}
	return []string{text}
}

func (d *Duel) inPairs(p Pairing) {
	d.Paired, d.N, d.NFast, d.Left, d.Cut, d.P = true, p.N, p.N, p.Left, p.Censored, p.P
	d.Equal, d.differences, d.Effect = p.Equal == p.N, p.Differences, p.Tendency
	d.agree = p.Rises == p.N
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
	rank := stats.MannWhitney(fast, slow)
	if d.P, d.Effect = rank.P, rank.Delta; min(d.N, d.NFast) < stats.MinimumBootstrap {
		d.P = math.NaN() // no test could tell anything
	}
}

// byMachines has the ranks be those within machines, where several ran both: a machine is a block.
func (d *Duel) byMachines(fast, slow *results.Cell) {
	var a, b [][]float64
	for _, host := range hostsOf(fast.Trials) {
		here := func(t *results.Trial) bool { return t.Host == host }
		x, y := on(fast, here), on(slow, here)
		if len(x.Trials) > 0 && len(y.Trials) > 0 {
			a, b = append(a, trialsOf(x, d.of.Name)), append(b, trialsOf(y, d.of.Name))
		}
	}
	if len(a) < 2 {
		return
	}
	s := stats.Stratify(a, b, stats.Confidence)
	d.Ratio, d.Low, d.High, d.Effect = s.Ratio, s.RatioLow, s.RatioHigh, s.Delta
	if !math.IsNaN(d.P) {
		d.P = s.P
	}
}

// widen has the interval take in what the clocks can be wrong by in the trials of each.
func (d *Duel) widen(fast, slow *results.Cell) {
	var center, doubt [2]float64
	for i, c := range []*results.Cell{slow, fast} {
		center[i], doubt[i] = c.Describe(d.of.Name).Center(), c.Doubt(d.of)
		d.Doubt = max(d.Doubt, stats.Doubtful(center[i], doubt[i]))
		if d.Apart {
			d.Doubt = max(d.Doubt, stats.Doubtful(d.Ratio, doubt[i]))
		}
	}
	both := doubt[0] + doubt[1]
	if d.Exact = d.Exact && both == 0; d.Apart {
		d.Low, d.High = d.Low-both, d.High+both
		return
	}
	d.Low, d.High = stats.WidenRatio(d.Low, d.High, center[0], doubt[0], center[1], doubt[1])
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

// unmeasured says whether only the order is known: in each pair the slower one is slower, but beyond its
// limit, so that nobody knows by how much.
func (d *Duel) unmeasured() bool { return d.Paired && d.agree && math.IsNaN(d.Ratio) && !d.apart() }

// Shown says whether a difference is shown: the interval excludes equality, or each pair does, and the
// test is significant among all that were made.
func (d *Duel) Shown() bool { return (d.apart() || d.unmeasured()) && d.Adjusted <= DefaultAlpha }

// String is the sentence.
func (d *Duel) String() string { return d.sentence() + view.DoubtIn(d.Doubt) }

func (d *Duel) sentence() string {
	where := d.where
	switch {
	case d.N == 0 && d.never != "":
		return fmt.Sprintf("%sno order of %s and %s: %s", where, d.Slow, d.Fast, d.never)
	case d.Equal && d.Paired:
		return fmt.Sprintf("%sno difference between %s and %s in any of %s", where, d.Fast, d.Slow, d.sizes())
	case math.IsNaN(d.P):
		return fmt.Sprintf("%sno verdict on %s and %s: %s; an interval takes %d", where, d.Fast, d.Slow,
			d.sizes(), stats.MinimumBootstrap)
	case d.Shown():
		return where + d.claim() + "; " + d.sizes()
	case d.never != "":
		return fmt.Sprintf("%sno order of %s and %s: %s; %s", where, d.Slow, d.Fast, d.never, d.sizes())
	case d.Paired && d.agree:
		return fmt.Sprintf("%sall %d pairs agree that %s; too few for a verdict: %s", where, d.N, d.claim(),
			d.adjusted())
	case d.apart():
		return fmt.Sprintf("%sunclear whether %s; %s; %s", where, d.claim(), d.sizes(), d.adjusted())
	}
	return fmt.Sprintf("%sno difference was found between %s and %s (%s); %s", where, d.Slow, d.Fast,
		d.estimate(), d.sizes())
}

// adjusted is the p-value among all comparisons of the run.
func (d *Duel) adjusted() string {
	return fmt.Sprintf("adjusted p %s (%s)", view.P(d.Adjusted),
		console.Plural(d.tests, "comparison", "comparisons"))
}

// claim is that the one has more of the metric than the other, and how much more.
func (d *Duel) claim() string {
	words := d.of.Versus()
	if d.unmeasured() {
		more := strings.ReplaceAll(strings.Replace(words.Apart, "%s ", "", 1), "%%", "%")
		return d.Slow + " " + more + " " + d.Fast + ", by an unknown amount: it exceeds the limit"
	}
	text := words.Ratio
	if d.Apart {
		text = words.Apart
	}
	return d.Slow + " " + fmt.Sprintf(text, d.amount()) + " " + d.Fast
}

// Explained is the sentence with the test, its p, and the size of the effect.
func (d *Duel) Explained() string {
	text := d.sentence()
	if !math.IsNaN(d.P) {
		test, effect := "Mann and Whitney", "Cliff's delta"
		if d.Paired {
			test = "Student's t of pairs, by permutation within pairs"
			effect = "matched-pairs rank biserial correlation"
		}
		text += fmt.Sprintf(". Test: %s, p %s, adjusted for %s (Westfall and Young) %s; %s %s", test,
			view.P(d.P), console.Plural(d.tests, "comparison", "comparisons"), view.P(d.Adjusted), effect,
			strconv.FormatFloat(math.Abs(d.Effect), 'f', 2, 64))
	}
	return text + view.DoubtIn(d.Doubt)
}

// amount is how much more that is: "1.30x [1.20, 1.40]", "exactly 2 ms".
func (d *Duel) amount() string {
	unit := d.unit()
	switch {
	case d.Exact:
		return "exactly " + console.Number(d.Ratio) + unit
	case math.IsNaN(d.Ratio):
		return "at least " + d.number(d.Low) + unit
	}
	return d.withInterval(unit)
}

// unit is that of Ratio.
func (d *Duel) unit() string {
	if !d.Apart {
		return "x"
	}
	switch d.of.Unit {
	case metric.Milliseconds, metric.Microseconds, metric.Bytes:
		return " " + d.of.Unit.Sign()
	}
	return ""
}

// Times is by how much the slower one is slower, in short: "1.3×", "+2 ms".
func (d *Duel) Times() string {
	v := d.Ratio
	if d.unmeasured() {
		return "> limit"
	}
	if math.IsNaN(v) {
		v = d.Low
	}
	if d.Apart {
		return "+" + console.Number(v) + d.unit()
	}
	return d.number(v) + "×"
}

func (d *Duel) withInterval(unit string) string {
	if math.IsNaN(d.Low) && math.IsNaN(d.High) {
		return d.number(d.Ratio) + unit + " [n/a]"
	}
	behind := ""
	if d.Apart { // the unit of all three
		unit, behind = "", unit
	}
	return fmt.Sprintf("%s%s [%s, %s]%s", d.number(d.Ratio), unit, d.number(d.Low), d.number(d.High), behind)
}

// estimate is the same where no difference is shown.
func (d *Duel) estimate() string {
	if d.Apart {
		return "difference " + d.withInterval(d.unit())
	}
	return "ratio " + d.withInterval("")
}

// number has as many digits as tell the ends of the interval from no difference, and so have the others.
func (d *Duel) number(v float64) string {
	if math.IsNaN(v) {
		return "..."
	}
	if d.Apart || math.Abs(v) >= 100 {
		return console.Number(v)
	}
	decimals := 2
	for _, end := range []float64{d.Low, d.High} {
		for d.apart() && decimals < 6 && end != 1 && math.Abs(end-1) < 0.5*exact.Pow(10, -float64(decimals)) {
			decimals++
		}
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// sizes are the trials behind the sentence.
func (d *Duel) sizes() string {
	text := fmt.Sprintf("n = %d each", d.N)
	switch {
	case d.Paired:
		text = console.Plural(d.N, "seed-matched pair", "seed-matched pairs")
	case d.N != d.NFast:
		text = fmt.Sprintf("n = %d and %d", d.N, d.NFast)
	}
	if d.Left > 0 {
		text += fmt.Sprintf(" (%d more cannot be paired)", d.Left)
	}
	if d.Cut > 0 && (d.never == "" || d.Shown()) {
		text += " (" + cmp.Or(d.never, fmt.Sprintf("%d cut off by the time limit", d.Cut)) + ")"
	}
	return text
}

// at names a place in front of a sentence.
func (r *Ranking) at(place []metric.Field) string {
	if len(place) == 0 {
		return ""
	}
	return view.Worded(place, r.columns, ", ", r.word) + ": "
}

// Head says what is ranked, with metrics by their names.
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

// Lines are at most so many lines of the ranking: by how much algorithms differ over the sweep, their order
// in each place, and what is not ranked. More says how many there are besides.
func (r *Ranking) Lines(most int) (out []string, more int) {
	out = r.Answer()
	said := strings.Join(out, "\n")
	for _, s := range r.Standings {
		never := slices.DeleteFunc(slices.Clone(s.Never), func(text string) bool {
			return strings.Contains(said, text) // by the sentence on two algorithms
		})
		if len(never) > 0 {
			out = append(out, s.where+strings.Join(never, ", "))
		}
	}
	if text := r.Power(); text != "" {
		out = append(out, text)
	}
	out = append(out, r.Notes...)
	if len(out) > most {
		return out[:most], len(out) - most
	}
	return out, 0
}

// Answer is which algorithm is the faster, in sentences: over the sweep, or in the one place that there is,
// by how much; then the order in each place, with those places together in which it is the same.
func (r *Ranking) Answer() (out []string) {
	if len(r.Standings) == 0 {
		return nil
	}
	first, rest := r.Standings[0], r.Standings[1:]
	if len(first.Labels) > 2 {
		out = append(out, first.String())
	}
	if d := first.Duel(first.Labels[0], first.Labels[len(first.Labels)-1]); d != nil {
		out = append(out, d.String())
	}
	if first.Over == 0 && len(rest) > 0 { // there is none over the sweep
		rest = r.Standings
		out = nil
	}
	var orders []string
	places := map[string][]string{}
	for _, s := range rest {
		order := s.order()
		if places[order] == nil {
			orders = append(orders, order)
		}
		places[order] = append(places[order], s.Where())
	}
	for _, order := range orders {
		where := strings.Join(places[order], "; ")
		if len(places[order]) == len(rest) && len(rest) > 1 {
			where = fmt.Sprintf("at each of the %d points", len(rest))
		} else if more := len(places[order]) - mostPlaces; more > 0 {
			where = fmt.Sprintf("%s; and %d more", strings.Join(places[order][:mostPlaces], "; "), more)
		}
		out = append(out, where+": "+order)
	}
	return r.qualified(out)
}

// qualified are sentences of which the first says whether time-outs are tuned.
func (r *Ranking) qualified(out []string) []string {
	if r.AsSet && len(out) > 0 {
		out[0] += "; " + AsSetNote
	}
	return out
}

// mostPlaces is how many places with one order are named.
const mostPlaces = 6

// Power says what so few trials can show among so many comparisons; "" if that is much.
func (r *Ranking) Power() string {
	n := math.MaxInt
	for _, s := range r.Standings {
		for _, d := range s.Duels {
			n = min(n, d.N)
		}
	}
	if len(r.Standings) == 0 || n == 0 || stats.StudentSize(n, r.Tests, DefaultAlpha) < 2 {
		return ""
	}
	return PowerText(n, r.Tests)
}

// PowerText says what n trials of each algorithm can show among so many comparisons of two.
func PowerText(n, tests int) string {
	least := 2
	for stats.MinPairedP(least) > DefaultAlpha {
		least++
	}
	comparisons := console.Plural(tests, "comparison", "comparisons")
	enough := least
	for stats.StudentSize(enough, tests, DefaultAlpha) > 1 {
		enough++
	}
	if n < least {
		return fmt.Sprintf("%s cannot show any difference between two algorithms: it takes %d, and %d for a "+
			"difference of one standard deviation (%s)",
			console.Plural(n, "repetition", "repetitions"), least, enough, comparisons)
	}
	text := fmt.Sprintf("%d repetitions show a difference between two algorithms of %s standard deviations "+
		"of the difference between trials of one seed (%s)", n,
		strconv.FormatFloat(stats.StudentSize(n, tests, DefaultAlpha), 'g', 2, 64), comparisons)
	if n < enough {
		text += fmt.Sprintf("; %d show one standard deviation", enough)
	}
	return text
}

// Duel is that of two labels; nil if they are not compared.
func (s *Standing) Duel(a, b string) *Duel {
	for _, d := range s.Duels {
		if d.Fast == a && d.Slow == b || d.Fast == b && d.Slow == a {
			return d
		}
	}
	return nil
}

// Ahead says whether a is shown to be faster than b.
func (s *Standing) Ahead(a, b string) bool {
	d := s.Duel(a, b)
	return d != nil && d.Fast == a && d.Shown()
}

// Groups are the algorithms in order, such that all of one group are shown to be faster than all of the
// next ones.
func (s *Standing) Groups() (out [][]string) {
	from := 0
	for cut := 1; cut <= len(s.Labels); cut++ {
		apart := true
		for _, a := range s.Labels[from:cut] {
			for _, b := range s.Labels[cut:] {
				apart = apart && s.Ahead(a, b)
			}
		}
		if apart {
			out = append(out, s.Labels[from:cut])
			from = cut
		}
	}
	return out
}

// Rank is the least and the largest rank that an algorithm can have, as far as is shown: 1 is the fastest.
func (s *Standing) Rank(label string) (least, most int) {
	least, most = 1, len(s.Labels)
	for _, other := range s.Labels {
		if s.Ahead(other, label) {
			least++
		}
		if s.Ahead(label, other) {
			most--
		}
	}
	return least, most
}

// String is the order in a line: "bully < {raft, ring-list} < zab-fle". Algorithms in braces that are
// nevertheless shown to differ are followed by the ranks that they can have.
func (s *Standing) String() string { return s.where + s.order() }

func (s *Standing) order() string {
	var words []string
	for _, group := range s.Groups() {
		if len(group) == 1 {
			words = append(words, group[0])
			continue
		}
		inner := make([]string, len(group))
		differ := slices.ContainsFunc(group, func(a string) bool {
			return slices.ContainsFunc(group, func(b string) bool { return s.Ahead(a, b) })
		})
		for i, label := range group {
			inner[i] = label
			if least, most := s.Rank(label); differ {
				inner[i] += fmt.Sprintf(" %d-%d", least, most)
			}
		}
		words = append(words, "{"+strings.Join(inner, ", ")+"}")
	}
	doubt := 0.0
	for _, d := range s.Duels {
		doubt = max(doubt, d.Doubt)
	}
	return strings.Join(words, " < ") + view.DoubtIn(doubt)
}

// Where is the place in words; "" if there is no other.
func (s *Standing) Where() string { return strings.TrimSuffix(s.where, ": ") }

// Table adds those duels of rankings that keep names, for programs.
func Table(d *answer.Document, rankings []*Ranking, keep func(*Duel) bool) {
	t := d.Table("ranking", answer.Columns(answer.Everybody, "metric place:map slower faster shown:flag "+
		"seed_matched:flag n:count ratio:number difference:number ci_low:number ci_high:number p:number "+
		"clock_doubt_ms:number text places:count effect:number")...)
	t.Only = answer.Programs
	for _, r := range rankings {
		for _, s := range r.Standings {
			for _, duel := range s.Duels {
				if keep(duel) {
					r.row(t, s, duel)
				}
			}
		}
	}
}

// row adds one of the duels.
func (r *Ranking) row(t *answer.Table, s *Standing, d *Duel) {
	ratio, apart, doubt := answer.Value(d.Ratio), answer.Value(nil), answer.Value(nil)
	if d.Apart {
		ratio, apart = apart, ratio
	}
	if d.Doubt != 0 {
		doubt = d.Doubt
	}
	t.Row(r.Metric.Name, metric.ByName(d.Place), d.Slow, d.Fast, d.Shown(), d.Paired, d.N, ratio, apart,
		d.Low, d.High, d.Adjusted, doubt, d.String(), max(s.Over, 1), d.Effect)
}

// Explain are the sentences on two algorithms, in all places.
func (r *Ranking) Explain(a, b string) (out []string) {
	for _, s := range r.Standings {
		if d := s.Duel(a, b); d != nil {
			out = append(out, d.Explained())
		}
	}
	return r.qualified(out)
}

// Legend says how to read the orders of the ranking, as far as it has them.
func (r *Ranking) Legend() string {
	var orders string
	for _, s := range r.Standings {
		orders += s.order() + "\n"
	}
	better := "is faster"
	if r.Metric.More.Ratio == "" {
		better = "has the lower value"
	}
	text := "a < b: a " + better + " (family-wise error at most 5 %)"
	if strings.Contains(orders, "{") {
		text += "; {a, b}: no order is shown"
	}
	if ranked.MatchString(orders) {
		text += "; numbers: possible ranks"
	}
	return text
}

// ranked finds the ranks that the algorithms of a group can have.
var ranked = regexp.MustCompile(` \d+-\d+[,}]`)
