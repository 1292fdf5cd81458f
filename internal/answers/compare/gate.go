package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// judge corrects the tests for their number and gives each row its verdict.
func (r *Report) judge(o *Options) {
	if o.Prove == 0 { // whose intervals need no correction
		r.choose(o.Alpha)
	}
	var rows []*Row
	var p []float64
	r.each(func(row *Row) {
		rows, p = append(rows, row), append(p, row.P)
		if !math.IsNaN(row.P) {
			r.Tests++
		}
	})
	signed := signed(rows)
	r.families(rows, p, signed)
	for i, adjusted := range stats.StepDown(p, signed, bootstrapSeed) {
		row := rows[i]
		row.Adjusted = adjusted
		if row.Verdict == NoVerdict && !math.IsNaN(row.P) {
			row.Verdict = row.verdict(o)
		}
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; !r.partial(row.Metric) {
			r.mean(row)
		}
	}
	if o.Prove == 0 {
		r.weakness(o.Alpha)
	}
}

// families adjusts the P of tests that exchange the same trials for each other.
func (r *Report) families(rows []*Row, p []float64, signed []stats.Signed) {
	number := 0
	for i := range r.Rows {
		for _, over := range []string{"", experiment.OverOperations} {
			family := r.Rows[i].family(over)
			if len(family) < 2 {
				continue
			}
			number++
			for k, adjusted := range exchanged(family) {
				at := slices.Index(rows, family[k])
				p[at], signed[at].Family = adjusted, number
			}
		}
	}
}

// choose compares rows of real nodes by ranks whose pairs are too few to be significant among
// so many tests, unless others show the same, where ranks can be. That is a matter of
// numbers, and not of what was found, so that it costs no false alarm; that ranks know nothing
// of shared luck makes them blunter, never wrong. Simulated pairs share all of their luck, so
// that ranks would see next to nothing of what they see.
func (r *Report) choose(alpha float64) {
	tests := r.reaching()
	few, enough, unit, key := 0, 0, "", ""
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Paired == nil || row.minP()*tests <= alpha || row.minRankP()*tests > alpha ||
			row.cells.simulated() {
			continue
		}
		few, enough = few+1, max(enough, row.enough(alpha/tests))
		unit, key = row.unit()
		row.byRanks(row.units(row.cells.base), row.units(row.cells.new))
	}
	if few > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("too few pairs to be significant after correction (tests: "+
			"%.0f): compared by ranks, which do not find small changes; pairs need %d %s on each side: "+
			"raise %s, or compare less with --metrics or --where", tests, enough, unit, key))
	}
}

// reaching is how many tests can have as small a P as their numbers allow, apart from each other. In pairs
// the others of a metric cannot: the mean has its least P where the typical change has it, and of a
// quantile no test has, since most pairs lie on one side of it.
func (r *Report) reaching() (tests float64) {
	for i := range r.Rows {
		for _, row := range r.Rows[i].all() {
			if !math.IsNaN(row.P) && (row == &r.Rows[i] || row.Paired == nil) {
				tests++
			}
		}
	}
	return tests
}

// weakness notes that there are too few trials for as many tests: whoever reads
// "no difference" should know that none could have been found.
func (r *Report) weakness(alpha float64) {
	var likeliest *Row // to find anything
	others := 0.0      // tests without pairs, which are counted whatever they show
	r.each(func(row *Row) {
		if !math.IsNaN(row.P) && row.Paired == nil {
			others++
		}
		if !math.IsNaN(row.P) && (likeliest == nil || row.minP() < likeliest.minP()) {
			likeliest = row
		}
	})
	tests := r.reaching()
	if tests == 0 || likeliest.minP()*tests <= alpha {
		return
	}
	unit, key := likeliest.unit()
	what := "no difference, however large, could have been found"
	if likeliest.Paired != nil && likeliest.minP()*(1+others) <= alpha {
		what = "a difference in a single row could hardly have been found, only one that many rows share,"
	}
	r.Notes = append(r.Notes, fmt.Sprintf("too few %s: %s after correction (tests: %d); it takes %d %s on "+
		"each "+
		"side: raise %s, or compare less with --metrics or --where", unit, what, r.Tests,
		likeliest.enough(alpha/tests), unit, key))
}

// verdict is that of the row's statistic: no more than its interval allows.
func (row *Row) verdict(o *Options) Verdict {
	sure, apart := row.Adjusted <= o.Alpha, row.ChangeLow > 0 || row.ChangeHigh < 0
	beyond := math.Abs(row.Change) > o.Threshold
	open := math.IsNaN(row.ChangeLow) && math.IsNaN(row.ChangeHigh)
	switch {
	case row.minP() > o.Alpha:
		return TooFew
	case !sure && beyond && apart:
		return Unsure
	case !sure:
		return Unclear
	case -row.ChangeLow <= o.Threshold && row.ChangeHigh <= o.Threshold:
		return Small
	case math.IsNaN(row.Change), beyond && (apart || open) && row.larger() == (row.Change > 0):
		return judged(row.of, row.larger())
	}
	return Unsure
}

// larger says whether the new values tend to be larger. Where time-outs leave no
// median, the ranks still tell.
func (row *Row) larger() bool {
	switch {
	case row.Paired != nil:
		return row.Paired.larger()
	case row.strata != nil:
		return row.Delta > 0
	}
	if math.IsNaN(row.Change) {
		return row.Delta > 0
	}
	return row.New.Center > row.Base.Center
}

// partial says whether the runs have values in different numbers of trials in a cell: a mean
// over those that are left would praise the run that lost the rest.
func (r *Report) partial(metric string) bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool {
		a, b := row.Base.N*len(row.cells.new.Trials), row.New.N*len(row.cells.base.Trials)
		return row.Metric == metric && (row.Lost+row.Found > 0 || !row.Exact && a != b)
	})
}

// mean takes the row into the geometric mean of its metric.
func (r *Report) mean(row *Row) {
	ratio := row.Change + 1
	if !(ratio > 0) || math.IsInf(ratio, 0) {
		return
	}
	i := slices.IndexFunc(r.Geomeans, func(g Geomean) bool { return g.Metric == row.Metric })
	if i < 0 {
		i, r.Geomeans = len(r.Geomeans), append(r.Geomeans, Geomean{Metric: row.Metric})
	}
	g := &r.Geomeans[i]
	logs := float64(exact.Log1p(g.Change)*float64(g.Cells)) + exact.Log(ratio)
	g.Cells++
	g.Change = exact.Expm1(logs / float64(g.Cells))
}

// gate finds what fails.
func (r *Report) gate(m *matching, o *Options) {
	if o.Prove > 0 {
		r.prove(o)
	} else {
		r.each(func(row *Row) {
			if broken := row.Verdict == Worse || o.Strict && row.Exact && row.Differing > 0; broken &&
				len(o.Conditions) == 0 {
				row.Failure = row.describe(m)
			}
			for _, c := range o.Conditions {
				if c.covers(row) && row.breaks(&c, o.Alpha) {
					row.Failure = row.describe(m) + fmt.Sprintf(" (%s)", c)
				}
			}
		})
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if text := row.told(func(row *Row) string { return row.Failure }); text != "" {
			r.Failures = append(r.Failures, r.Title(row)+": "+text)
		}
		if text := row.told((*Row).open); text != "" {
			r.Open = append(r.Open, r.Title(row)+": "+text)
		}
	}
	r.gateCells(m, o)
}

// told is what is to be said of the metric of a row in a sentence: of the statistic that says it most
// surely, with the names of the others.
func (row *Row) told(say func(*Row) string) string {
	var first *Row
	var said []*Row
	for _, of := range append([]*Row{row}, row.Others...) {
		if say(of) == "" {
			continue
		}
		if said = append(said, of); first == nil || of.Adjusted < first.Adjusted {
			first = of
		}
	}
	if first == nil {
		return ""
	}
	text := first.name() + ": " + say(first)
	var likewise []string
	for _, of := range said {
		if of != first {
			likewise = append(likewise, of.brief())
		}
	}
	if likewise != nil {
		text += "; likewise " + strings.Join(likewise, ", ")
	}
	return text
}

// brief is the statistic with its figures.
func (row *Row) brief() string {
	text := string(row.Stat)
	if row.Stat == Typical {
		text = "a typical pair (" + view.Percent(row.Change) + ")"
	} else {
		text += " " + median(row.Base) + " -> " + median(row.New)
	}
	if row.Over != "" {
		text += " over " + row.Over
	}
	return text
}

// open is why a proof is open; "" unless it is.
func (row *Row) open() string {
	if row.Proof.Outcome == Inconclusive {
		return row.Proof.Why
	}
	return ""
}

// gateCells finds what fails about whole cells, whatever the metric.
func (r *Report) gateCells(m *matching, o *Options) {
	fail := func(cell, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		r.CellFailures = append(r.CellFailures, CellFailure{cell, text})
		r.Failures = append(r.Failures, cell+": "+text)
	}
	for _, p := range m.pairs {
		name := view.Name(p.base.Design, r.Columns)
		text, worse := statusChange(p), setback(p, r.exact(p, o))
		switch {
		case worse != "" && len(o.Conditions) == 0:
			fail(name, "%s: %s", worse, text)
		case o.Strict && sameLuck(p) && text != "":
			fail(name, "statuses changed: %s", text)
		}
		if kinds := shifts(p); o.Strict && sameLuck(p) && len(kinds) > 0 {
			fail(name, "messages by kind: %s", listed(kinds))
		}
		if n := len(p.same); o.Strict && sameLuck(p) && n < len(p.base.Trials) {
			fail(name, "the new run lacks trials: %d of %d have a partner", n, len(p.base.Trials))
		}
	}
	if o.Strict {
		for _, name := range r.Missing {
			fail(name, "the new run has no such cell")
		}
	}
}

// breaks says whether the row fails a condition: beyond chance, unless it is
// exact, and beyond the limit.
func (row *Row) breaks(c *Condition, alpha float64) bool {
	if row.New.N+row.New.Censored == 0 { // nothing keeps a condition by being absent
		return row.Base.N+row.Base.Censored > 0
	}
	difference := row.difference(c.Limit.Percent)
	if row.Exact {
		return row.Differing > 0 && c.exceeds(row.Base.Center, difference)
	}
	if !(row.Adjusted <= alpha) {
		return false
	}
	if math.IsNaN(difference) { // time-outs have taken a median away
		return row.Delta > 0 != c.Less && row.New.Censored != row.Base.Censored
	}
	return c.exceeds(row.Base.Center, difference)
}

// describe says in words what changed.
func (row *Row) describe(m *matching) string {
	if row.New.N+row.New.Censored == 0 {
		return fmt.Sprintf("%s -> none: no trial of the new run has a value", median(row.Base))
	}
	if row.Exact {
		text := fmt.Sprintf("%s -> %s in the mean (%s), in %d of %d trials", console.Number(row.Base.Center),
			console.Number(row.New.Center), view.Percent(row.Change), row.Differing, row.Pairs)
		for _, p := range m.pairs {
			if kinds := shifts(p); len(kinds) > 0 && slices.Equal(p.base.Design, row.Design) {
				return text + ": " + listed(kinds)
			}
		}
		return text
	}
	if row.ofPairs() {
		text := fmt.Sprintf("%v, p %s after correction", row.Paired, view.P(row.Adjusted)) + row.doubt()
		if row.Stat == Typical {
			return text
		}
		return median(row.Base) + " -> " + median(row.New) + ": " + text
	}
	text := fmt.Sprintf("%s -> %s (%s", median(row.Base), median(row.New), view.Percent(row.Change))
	if !math.IsNaN(row.ChangeLow) {
		text += fmt.Sprintf(" [%s, %s]", view.Percent(row.ChangeLow), view.Percent(row.ChangeHigh))
	}
	by := string(row.Test)
	switch {
	case row.Test == Ranks, row.Test == RoundRanks:
		by = "ranks"
	case row.strata != nil:
		by = "ranks within machines"
	}
	return text + fmt.Sprintf("), p %s by %s after correction", view.P(row.Adjusted), by) + row.doubt()
}

// doubt explains the marks of the row's figures in a sentence.
func (row *Row) doubt() string { return view.DoubtIn(row.Base.Doubt, row.New.Doubt) }

func median(f Figure) string {
	if math.IsNaN(f.Center) && f.Censored > 0 {
		return "beyond the time limit"
	}
	return console.Number(f.Center) + new(view.Legend).Mark(f.Doubt)
}

func listed(kinds []shift) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = k.String()
	}
	return strings.Join(words, ", ")
}
