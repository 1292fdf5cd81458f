package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/report/export"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func printComparison(w io.Writer, r *compare.Report, format string) error {
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
		return markdownComparison(w, r)
	}
	return textComparison(w, r)
}

// comparisonTable lays out the rows of one metric as benchstat does.
func comparisonTable(r *compare.Report, metric string) *table {
	t := &table{}
	for _, name := range r.Columns {
		t.column(name, isNumberColumn(r, name))
	}
	t.column("base", true)
	t.column("new", true)
	t.column("change", true)
	t.column("test", false)
	t.column("p", true)
	t.column("n", true)
	t.column("verdict", false)
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Metric != metric {
			continue
		}
		var cells []string
		for _, f := range row.Cell {
			cells = append(cells, f.Value)
		}
		t.add(append(cells, figureText(row.Base), figureText(row.New), changeText(row),
			string(row.Test), probability(row), sizes(row), string(row.Verdict))...)
	}
	for _, g := range r.Geomeans {
		if g.Metric == metric && g.Cells > 1 {
			cells := make([]string, len(r.Columns))
			cells[0] = "geomean"
			t.add(append(cells, "", "", compare.Percent(g.Change), "", "", "", "")...)
		}
	}
	return t
}

func isNumberColumn(r *compare.Report, name string) bool {
	for i := range r.Rows {
		for _, f := range r.Rows[i].Cell {
			if f.Name == name && !isNumber(f.Value) {
				return false
			}
		}
	}
	return true
}

// figureText is a median with its interval; of an exact comparison, a mean.
func figureText(f compare.Figure) string {
	if f.N+f.Censored == 0 {
		return "none"
	}
	center := compare.OrBeyond(f.Center) + new(compare.Legend).Mark(f.Doubt)
	if math.IsNaN(f.Low) && math.IsNaN(f.High) {
		return center
	}
	return center + " " + compare.Interval(f.Low, f.High)
}

func changeText(row *compare.Row) string {
	if row.Exact && row.Differing == 0 || row.Verdict == compare.Same {
		return ""
	}
	text := compare.Percent(row.Change)
	if p := row.Paired; p != nil && p.SameRatio {
		return text + " exactly"
	}
	if !math.IsNaN(row.ChangeLow) || !math.IsNaN(row.ChangeHigh) {
		text += fmt.Sprintf(" [%s, %s]", compare.Percent(row.ChangeLow), compare.Percent(row.ChangeHigh))
	}
	return text
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

// metricsOf are the metrics of the rows, in their order.
func metricsOf(r *compare.Report) []string {
	var out []string
	for i := range r.Rows {
		if n := len(out); n == 0 || out[n-1] != r.Rows[i].Metric {
			out = append(out, r.Rows[i].Metric)
		}
	}
	return out
}

// legend says what the figures are.
func legend(r *compare.Report) string {
	used := map[compare.Test]int{}
	few := 0
	doubts := &compare.Legend{}
	for i := range r.Rows {
		used[r.Rows[i].Test]++
		for _, f := range []compare.Figure{r.Rows[i].Base, r.Rows[i].New} {
			doubts.Mark(f.Doubt)
		}
		if r.Rows[i].Verdict == compare.TooFew {
			few++
		}
	}
	var parts []string
	if len(r.Rows) > used[compare.Exact] {
		parts = append(parts, "figures: median over trials [95 % interval]; =: equal in every trial")
	}
	if slices.ContainsFunc(r.Rows, func(row compare.Row) bool {
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

func textComparison(w io.Writer, r *compare.Report) error {
	fmt.Fprintf(w, "base  %s\nnew   %s\n", sideText(r.Base), sideText(r.New))
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "careful: %s\n", text)
	}
	for _, metric := range metricsOf(r) {
		fmt.Fprintf(w, "\n%s\n", metric)
		comparisonTable(r, metric).write(w)
	}
	fmt.Fprintf(w, "\n%s\n", legend(r))
	for _, text := range r.Findings() {
		fmt.Fprintln(w, text)
	}
	for i, text := range remarks(r) {
		fmt.Fprintf(w, "[%d] %s\n", i+1, text)
	}
	for _, text := range r.Open {
		fmt.Fprintf(w, "inconclusive: %s\n", text)
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
func markdownComparison(w io.Writer, r *compare.Report) error {
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "> **careful**: %s\n\n", escapeMarkdown(text))
	}
	fmt.Fprintf(w, "### Conclave: %s\n\n", conclusion(r))
	for _, text := range r.Failures {
		fmt.Fprintf(w, "- **fails**: %s\n", escapeMarkdown(text))
	}
	for _, text := range r.Open {
		fmt.Fprintf(w, "- **inconclusive**: %s\n", escapeMarkdown(text))
	}
	if len(r.Failures)+len(r.Open) > 0 {
		fmt.Fprintln(w)
	}
	for _, text := range r.Findings() {
		fmt.Fprintf(w, "- %s\n", escapeMarkdown(text))
	}
	if len(r.Findings()) > 0 {
		fmt.Fprintln(w)
	}
	changed := *r
	changed.Rows, changed.Geomeans = nil, nil
	for _, row := range r.Rows {
		if row.Verdict != compare.Same && row.Verdict != compare.Unclear {
			changed.Rows = append(changed.Rows, row)
		}
	}
	for _, metric := range metricsOf(&changed) {
		fmt.Fprintf(w, "**%s**\n\n", metric)
		comparisonTable(&changed, metric).markdown(w)
	}
	fmt.Fprintf(w, "<details><summary>all figures</summary>\n\n")
	fmt.Fprintf(w, "base: %s  \nnew: %s\n\n", escapeMarkdown(sideText(r.Base)),
		escapeMarkdown(sideText(r.New)))
	for _, metric := range metricsOf(r) {
		fmt.Fprintf(w, "**%s**\n\n", metric)
		comparisonTable(r, metric).markdown(w)
	}
	for _, text := range append(strings.Split(legend(r), "\n"), remarks(r)...) {
		fmt.Fprintf(w, "- %s\n", escapeMarkdown(text))
	}
	_, err := fmt.Fprintf(w, "\n</details>\n")
	return err
}

// escapeMarkdown keeps text from being read as a table, a tag or a mention.
func escapeMarkdown(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "'",
		"@", "&#64;", "[", `\[`, "]", `\]`, "~", `\~`).Replace(text)
}

// markdown writes the table for a forge.
func (t *table) markdown(w io.Writer) {
	line := func(cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.head)
	rule := make([]string, len(t.head))
	for i, right := range t.right {
		rule[i] = "---"
		if right {
			rule[i] = "---:"
		}
	}
	line(rule)
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = escapeMarkdown(cell)
		}
		line(cells)
	}
	fmt.Fprintln(w)
}
