package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// shown are the rows that people are shown: what changed, without counts that nobody asked
// for, unless they fail; of metrics that were asked for, or of a run that all is asked of, every one.
// The others are counted. Of the statistics of one metric those that say the same are shown once.
func (r *Report) shown() (rows []*Row, same, minor int) {
	for i := range r.Rows {
		row := &r.Rows[i]
		failing, loud := false, false
		for _, of := range row.all() {
			failing = failing || of.Failure != "" || of.open() != ""
			loud = loud || !of.quiet()
		}
		switch {
		case !r.asked && !failing && !loud:
			same++
			continue
		case !r.asked && !failing && row.Minor:
			minor++
			continue
		}
		begun := len(rows)
		for _, of := range row.all() {
			silent := of.Why != "" || loud && of.quiet() && of.open() == "" && of.Stat != Middle
			if len(row.Others) == 0 || !silent && !slices.ContainsFunc(rows[begun:], of.repeats) {
				rows = append(rows, of)
			}
		}
	}
	return rows, same, minor
}

// repeats says whether the row has the verdict of another one of its metric, and a change that is within
// the other's interval.
func (row *Row) repeats(other *Row) bool {
	return row.Verdict == other.Verdict && row.Proof.Outcome == other.Proof.Outcome &&
		row.Over == other.Over &&
		!(row.Change < other.ChangeLow-rounding || row.Change > other.ChangeHigh+rounding)
}

// rounding is by how much equal changes may differ.
const rounding = 1e-9

// quiet says whether there is nothing in the row that somebody should see who did not ask for it.
func (row *Row) quiet() bool {
	return row.Verdict == Same || row.Verdict == Unclear || row.Verdict == TooFew
}

// hidden says what the table leaves out.
func hidden(same, minor int) []string {
	var parts []string
	if same > 0 {
		parts = append(parts, fmt.Sprintf("%s no difference", console.Plural(same, "comparison shows",
			"comparisons show")))
	}
	if minor > 0 {
		parts = append(parts, fmt.Sprintf("%s of other metrics changed",
			console.Plural(minor, "count", "counts")))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, ", and ") + ": --metrics all"}
}

// changeText is the change with its interval; where trials have no value in one of the runs,
// how many, since nothing can be said about the others alone.
func (row *Row) changeText() (change, interval string) {
	without := func(n int, of string) string {
		verb := "have"
		if n == 1 {
			verb = "has"
		}
		return fmt.Sprintf("%d of %s %s no value%s", n, console.Plural(row.Pairs, "trial", "trials"), verb,
			of)
	}
	switch base, new := row.Base, row.New; {
	case new.N+new.Censored == 0:
		return "no trial has a value", ""
	case base.N+base.Censored == 0:
		return "no trial of the base has a value", ""
	case row.Lost > 0:
		return without(row.Lost, ""), ""
	case row.Found > 0:
		return without(row.Found, " in the base"), ""
	case row.Exact && row.Differing == 0, row.Verdict == Same:
		return "", ""
	}
	change = view.Percent(row.Change)
	if p := row.Paired; p != nil && p.SameRatio {
		return change + " exactly", ""
	}
	if !math.IsNaN(row.ChangeLow) || !math.IsNaN(row.ChangeHigh) {
		interval = fmt.Sprintf("[%s, %s]", view.Percent(row.ChangeLow), view.Percent(row.ChangeHigh))
	}
	return change, interval
}

// sizes are the trials behind a row: of the base and, if they differ, of the new
// run; of a comparison of pairs how many of them differ.
func (row *Row) sizes() string {
	if p := row.Paired; p != nil {
		text := fmt.Sprintf("%d/%d", p.N-p.Equal, p.N)
		var but []string
		if p.Censored > 0 {
			but = append(but, fmt.Sprintf("%d %s", p.Censored, metric.Named(row.Metric).Cut()))
		}
		if p.Left > 0 {
			but = append(but, fmt.Sprintf("%d left out", p.Left))
		}
		if len(but) > 0 {
			text += " (" + strings.Join(but, ", ") + ")"
		}
		return text
	}
	if row.Exact {
		return fmt.Sprintf("%d/%d", row.Differing, row.Pairs)
	}
	if row.InRounds() && row.Test != NoTest {
		a, b := row.Tested()
		return fmt.Sprintf("%d+%d", a, b)
	}
	side := func(f Figure) string {
		if f.Censored > 0 {
			return fmt.Sprintf("%d (%d %s)", f.N+f.Censored, f.Censored, metric.Named(row.Metric).Cut())
		}
		return fmt.Sprint(f.N)
	}
	return besides(side(row.Base), side(row.New))
}

// operations are how many there are behind a row, "" if it is over trials.
func (row *Row) operations() string {
	if row.Over == "" {
		return ""
	}
	return besides(fmt.Sprint(row.Base.N+row.Base.Censored), fmt.Sprint(row.New.N+row.New.Censored))
}

// besides are two numbers, once if they are one.
func besides(a, b string) string {
	if a == b {
		return a
	}
	return a + "+" + b
}

// legend says what the figures are.
func (r *Report) legend(rows []*Row) []string {
	used := map[Test]int{}
	few := 0
	doubts := &view.Legend{}
	for i := range rows {
		used[rows[i].Test]++
		for _, f := range []Figure{rows[i].Base, rows[i].New} {
			doubts.Mark(f.Doubt)
		}
		if rows[i].Verdict == TooFew {
			few++
		}
	}
	var parts []string
	if len(rows) > used[Exact] {
		parts = append(parts, "base, new: the statistic of each run [95 % interval]; typical: a change "+
			"within pairs, which no single run has; =: equal in every trial")
	}
	limits := map[string]bool{}
	for _, row := range rows {
		text := fmt.Sprintf("mean of %s: restricted to %s, the longest that ended, since some were cut off",
			row.Metric, console.Number(row.Limit))
		if row.Stat == Mean && !math.IsInf(row.Limit, 1) && !limits[text] {
			limits[text] = true
			parts = append(parts, text)
		}
	}
	if slices.ContainsFunc(rows, func(row *Row) bool {
		return row.Base.Censored+row.New.Censored > 0
	}) {
		parts = append(parts, "trials that timed out count as larger than all others; "+view.BeyondLimit+
			": the figure lies among those")
	}
	if r.Tests > 0 {
		parts = append(parts, fmt.Sprintf("p: corrected for %s; worse, better: "+
			"p at most %v and more than %s; small: the whole interval is within that; unclear: "+
			"may be more; ~: no difference found", console.Plural(r.Tests, "test", "tests"),
			r.Alpha, view.Share(r.Threshold)))
	}
	for _, t := range Tests() {
		if used[t] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %v", string(t), t))
		}
	}
	parts = append(parts, doubts.Notes()...)
	if few > 0 {
		parts = append(parts, "n/a: too few trials or rounds for any test; raise repetitions or rounds")
	}
	return parts
}

// String is the run and how its trials ended.
func (s *Side) String() string {
	var words []string
	for _, status := range trace.Statuses() {
		if n := s.Statuses[status]; n > 0 {
			words = append(words, fmt.Sprintf("%s %d", status, n))
		}
	}
	if words == nil {
		return s.Path + ": no trials"
	}
	return fmt.Sprintf("%s: %s (%s)", s.Path, console.Plural(s.Trials, "trial", "trials"),
		strings.Join(words, ", "))
}

// remarks are the cells without a partner and the notes.
func (r *Report) remarks() []string {
	var out []string
	for _, name := range r.Missing {
		out = append(out, "only in the base: "+name)
	}
	for _, name := range r.Extra {
		out = append(out, "only in the new run: "+name)
	}
	return append(out, r.Notes...)
}

// nothingCompared is the verdict on runs without a row in common.
const nothingCompared = "nothing to compare"

// conclusion is the comparison in one line.
func (r *Report) conclusion() string {
	count := map[Verdict]int{}
	for i := range r.Rows {
		count[r.Rows[i].gravest().Verdict]++
	}
	var parts []string
	for _, v := range []Verdict{Worse, Better, Changed, Unsure, Small, TooFew} {
		if n := count[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if n := count[NoVerdict]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d not compared", n))
	}
	text := strings.Join(parts, ", ")
	switch {
	case len(r.Rows) == 0:
		text = nothingCompared
	case text == "":
		text = "no difference"
	}
	if len(r.Failures) > 0 {
		text += fmt.Sprintf("; fails: %d", len(r.Failures))
	}
	if len(r.Open) > 0 {
		text += fmt.Sprintf("; inconclusive: %d", len(r.Open))
	}
	switch {
	case !r.Gated || len(r.Failures)+len(r.Open) > 0 || len(r.Rows) == 0:
		return text
	case r.Prove > 0:
		return text + "; passes: nothing is worse by more than " + view.Share(r.Prove)
	}
	return text + "; passes"
}
