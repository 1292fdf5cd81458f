package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/report/export"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func printComparison(w io.Writer, r *compare.Report, format string, asked bool) error {
	switch format {
	case "json":
		return writeJSON(w, r.Document())
	case "junit":
		b, err := export.Comparison(r)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	case "markdown":
		return markdownComparison(w, r, asked)
	}
	return textComparison(w, r, asked)
}

// comparisonTable lays out rows as benchstat does: what changed and by how much, then how sure
// that is. If it is brief, medians stand without their intervals.
func comparisonTable(r *compare.Report, rows []compare.Row, brief bool) *console.Table {
	t := &console.Table{}
	for _, name := range r.Columns {
		t.Column(name, isNumberColumn(r, name))
	}
	t.Column("metric", false)
	t.Keyed(len(t.Head))
	t.Column("verdict", false)
	for _, name := range []string{"base", "new", "change", "95 %", "p", "n"} {
		t.Column(name, true)
	}
	t.Column("test", false)
	figure := figureText
	if brief {
		figure = center
	}
	for i := range rows {
		row := &rows[i]
		var cells []string
		for _, f := range row.Cell {
			cells = append(cells, f.Value)
		}
		change, interval := changeText(row)
		t.Add(append(cells, row.Metric, verdictText(row), figure(row.Base), figure(row.New), change,
			interval, probability(row), sizes(row), string(row.Test))...)
	}
	for _, g := range r.Geomeans {
		if g.Cells > 1 && g.Change != 0 && slices.ContainsFunc(rows, func(row compare.Row) bool {
			return row.Metric == g.Metric
		}) {
			cells := make([]string, len(t.Head))
			cells[0], cells[len(r.Columns)], cells[len(r.Columns)+4] = "geomean", g.Metric,
				compare.Percent(g.Change)
			t.Add(cells...)
		}
	}
	t.DropEmpty()
	return t
}

// rowsFor are the rows that people are shown: what changed, without counts that nobody asked
// for, unless they fail; of metrics that were asked for, or of a run that all is asked of, every one.
// The others are counted.
func rowsFor(r *compare.Report, asked bool) (rows []compare.Row, same, minor int) {
	for _, row := range r.Rows {
		v := row.Verdict
		quiet := v == compare.Same || v == compare.Unclear || v == compare.TooFew
		switch {
		case asked || row.Failure != "" || row.Proof.Outcome == compare.Inconclusive:
			rows = append(rows, row)
		case quiet:
			same++
		case row.Minor:
			minor++
		default:
			rows = append(rows, row)
		}
	}
	return rows, same, minor
}

// hidden says what the table leaves out.
func hidden(same, minor int) string {
	var parts []string
	if same > 0 {
		parts = append(parts, fmt.Sprintf("%s no difference", report.Plural(same, "comparison shows",
			"comparisons show")))
	}
	if minor > 0 {
		parts = append(parts, fmt.Sprintf("%s of other metrics changed",
			report.Plural(minor, "count", "counts")))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", and ") + ": --metrics all"
}

// verdictText is the verdict, never blank.
func verdictText(row *compare.Row) string {
	if row.Verdict == compare.NoVerdict {
		return "none"
	}
	return string(row.Verdict)
}

func isNumberColumn(r *compare.Report, name string) bool {
	for i := range r.Rows {
		for _, f := range r.Rows[i].Cell {
			if f.Name == name && !console.IsNumber(f.Value) {
				return false
			}
		}
	}
	return true
}

// figureText is a median with its interval; of an exact comparison, a mean.
func figureText(f compare.Figure) string {
	text := center(f)
	if math.IsNaN(f.Low) && math.IsNaN(f.High) {
		return text
	}
	return text + " " + compare.Interval(f.Low, f.High)
}

// center is figureText without the interval.
func center(f compare.Figure) string {
	if f.N+f.Censored == 0 {
		return "none"
	}
	return compare.OrBeyond(f.Center) + new(compare.Legend).Mark(f.Doubt)
}

// changeText is the change with its interval; where trials have no value in one of the runs,
// how many, since nothing can be said about the others alone.
func changeText(row *compare.Row) (change, interval string) {
	without := func(n int, of string) string {
		verb := "have"
		if n == 1 {
			verb = "has"
		}
		return fmt.Sprintf("%d of %s %s no value%s", n, report.Plural(row.Pairs, "trial", "trials"), verb, of)
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
	case row.Exact && row.Differing == 0, row.Verdict == compare.Same:
		return "", ""
	}
	change = compare.Percent(row.Change)
	if p := row.Paired; p != nil && p.SameRatio {
		return change + " exactly", ""
	}
	if !math.IsNaN(row.ChangeLow) || !math.IsNaN(row.ChangeHigh) {
		interval = fmt.Sprintf("[%s, %s]", compare.Percent(row.ChangeLow), compare.Percent(row.ChangeHigh))
	}
	return change, interval
}

func probability(row *compare.Row) string {
	if math.IsNaN(row.Adjusted) {
		return ""
	}
	return compare.P(row.Adjusted)
}

// sizes are the trials behind a row: of the base and, if they differ, of the new
// run; of a comparison of pairs how many of them differ.
func sizes(row *compare.Row) string {
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
	if row.InRounds() && row.Test != compare.NoTest {
		a, b := row.Tested()
		return fmt.Sprintf("%d+%d", a, b)
	}
	side := func(f compare.Figure) string {
		if f.Censored > 0 {
			return fmt.Sprintf("%d (%d %s)", f.N+f.Censored, f.Censored, metric.Named(row.Metric).Cut())
		}
		return fmt.Sprint(f.N)
	}
	a, b := side(row.Base), side(row.New)
	if a == b {
		return a
	}
	return a + "+" + b
}

// legend says what the figures are.
func legend(r *compare.Report, rows []compare.Row) string {
	used := map[compare.Test]int{}
	few := 0
	doubts := &compare.Legend{}
	for i := range rows {
		used[rows[i].Test]++
		for _, f := range []compare.Figure{rows[i].Base, rows[i].New} {
			doubts.Mark(f.Doubt)
		}
		if rows[i].Verdict == compare.TooFew {
			few++
		}
	}
	var parts []string
	if len(rows) > used[compare.Exact] {
		parts = append(parts, "figures: median over trials [95 % interval]; =: equal in every trial")
	}
	if slices.ContainsFunc(rows, func(row compare.Row) bool {
		return row.Base.Censored+row.New.Censored > 0
	}) {
		parts = append(parts, "trials that timed out count as larger than all others; "+compare.BeyondLimit+
			": the median lies among those")
	}
	if r.Tests > 0 {
		parts = append(parts, fmt.Sprintf("p: corrected for %s; worse, better: "+
			"p at most %v and more than %s; ~: no difference found", report.Plural(r.Tests, "test", "tests"),
			r.Alpha, percentOf(r.Threshold)))
	}
	for _, t := range compare.Tests() {
		if used[t] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %v", string(t), t))
		}
	}
	parts = append(parts, doubts.Notes()...)
	if few > 0 {
		parts = append(parts, "n/a: too few trials, or rounds, for any test; raise repetitions, or rounds")
	}
	return strings.Join(parts, "\n")
}

func sideText(s compare.Side) string {
	var words []string
	for _, status := range trace.Statuses() {
		if n := s.Statuses[status]; n > 0 {
			words = append(words, fmt.Sprintf("%s %d", status, n))
		}
	}
	return fmt.Sprintf("%s: %s (%s)", s.Path, report.Plural(s.Trials, "trial", "trials"),
		strings.Join(words, ", "))
}

// remarks are the cells without a partner and the notes.
func remarks(r *compare.Report) []string {
	var out []string
	for _, name := range r.Missing {
		out = append(out, "in the base alone: "+name)
	}
	for _, name := range r.Extra {
		out = append(out, "in the new run alone: "+name)
	}
	return append(out, r.Notes...)
}

func textComparison(w io.Writer, r *compare.Report, asked bool) error {
	w = &console.Folding{W: w}
	fmt.Fprintf(w, "base  %s\nnew   %s\n", sideText(r.Base), sideText(r.New))
	for _, text := range r.Warnings {
		fmt.Fprintln(w, "careful: "+text)
	}
	if len(r.Statuses) > 0 {
		fmt.Fprintln(w, "\nTrials that ended otherwise:")
		for _, change := range r.Statuses {
			fmt.Fprintf(w, "  %v\n", change)
		}
	}
	rows, same, minor := rowsFor(r, asked)
	if len(rows) > 0 {
		fmt.Fprintln(w)
		comparisonTable(r, rows, !asked).Write(w)
	}
	fmt.Fprintln(w)
	if text := hidden(same, minor); text != "" {
		fmt.Fprintln(w, text)
	}
	if text := legend(r, rows); text != "" {
		fmt.Fprintln(w, text)
	}
	for _, text := range r.Findings() {
		fmt.Fprintln(w, text)
	}
	for i, text := range remarks(r) {
		fmt.Fprintf(w, "[%d] %s\n", i+1, text)
	}
	_, err := fmt.Fprintf(w, "%s\n", conclusion(r))
	return err
}

// conclusion is the comparison in one line.
func conclusion(r *compare.Report) string {
	count := map[compare.Verdict]int{}
	for i := range r.Rows {
		count[r.Rows[i].Verdict]++
	}
	var parts []string
	for _, v := range []compare.Verdict{compare.Worse, compare.Better, compare.Changed, compare.Small,
		compare.TooFew} {
		if n := count[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if n := count[compare.NoVerdict]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d not compared", n))
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "no difference"
	}
	if len(r.Failures) > 0 {
		text += fmt.Sprintf("; fails: %d", len(r.Failures))
	}
	if len(r.Open) > 0 {
		text += fmt.Sprintf("; inconclusive: %d", len(r.Open))
	}
	switch {
	case !r.Gated || len(r.Failures)+len(r.Open) > 0:
		return text
	case r.Prove > 0:
		return text + "; passes: nothing is worse by more than " + percentOf(r.Prove)
	}
	return text + "; passes"
}

// markdownComparison is for a pull request: what changed in the open, all figures
// folded away.
func markdownComparison(w io.Writer, r *compare.Report, asked bool) error {
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "> **careful**: %s\n\n", console.Markdown(text))
	}
	fmt.Fprintf(w, "### Conclave: %s\n\n", conclusion(r))
	for _, text := range r.Failures {
		fmt.Fprintf(w, "- **fails**: %s\n", console.Markdown(text))
	}
	for _, text := range r.Open {
		fmt.Fprintf(w, "- **inconclusive**: %s\n", console.Markdown(text))
	}
	if len(r.Failures)+len(r.Open) > 0 {
		fmt.Fprintln(w)
	}
	for _, change := range r.Statuses {
		if !slices.ContainsFunc(r.CellFailures, func(f compare.CellFailure) bool {
			return f.Cell == change.Cell
		}) {
			fmt.Fprintf(w, "- %s\n", console.Markdown(change.String()))
		}
	}
	for _, text := range r.Findings() {
		fmt.Fprintf(w, "- %s\n", console.Markdown(text))
	}
	if len(r.Findings())+len(r.Statuses) > 0 {
		fmt.Fprintln(w)
	}
	rows, same, minor := rowsFor(r, asked)
	if len(rows) > 0 {
		comparisonTable(r, rows, false).Markdown(w)
	}
	if text := hidden(same, minor); text != "" {
		fmt.Fprintf(w, "%s\n\n", text)
	}
	fmt.Fprintf(w, "<details><summary>all figures</summary>\n\n")
	fmt.Fprintf(w, "base: %s  \nnew: %s\n\n", console.Markdown(sideText(r.Base)),
		console.Markdown(sideText(r.New)))
	comparisonTable(r, r.Rows, false).Markdown(w)
	for _, text := range append(strings.Split(legend(r, r.Rows), "\n"), remarks(r)...) {
		fmt.Fprintf(w, "- %s\n", console.Markdown(text))
	}
	_, err := fmt.Fprintf(w, "\n</details>\n")
	return err
}
