package export

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// mostSentences is how many of the ranking a page gets.
const mostSentences = 100

// markdown writes the table of bench run, and what it says of the algorithms.
func markdown(s *selection) ([]File, error) {
	var b bytes.Buffer
	columns := slices.Concat([]string{"algorithm"}, s.columns, []string{"n"}, metric.Names(s.metrics),
		[]string{"trials"})
	legend, rows := &compare.Legend{}, [][]string{}
	for _, c := range s.cells {
		row := []string{head(c)}
		for _, name := range s.columns {
			row = append(row, c.Get(name))
		}
		row = append(row, strconv.Itoa(c.Count(trace.OK)))
		for _, m := range s.metrics {
			row = append(row, legend.Estimate(m, describe(c, m), c.Count(trace.OK)))
		}
		rows = append(rows, append(row, statuses(c)))
	}
	markdownTable(&b, columns, rows, func(i int) bool { return i > len(s.columns) && i < len(columns)-1 })
	notes := append([]string{"n: trials with status ok; figures: " +
		compare.FigureNote(s.run.Until().Method())}, legend.Notes()...)
	b.WriteString("\n" + strings.Join(notes, "; ") + ".\n")
	if r := s.ranking(); r != nil {
		fmt.Fprintf(&b, "\n%s:\n\n", inText(r.Head()))
		sentences, more := r.Sentences(mostSentences)
		for _, text := range sentences {
			fmt.Fprintf(&b, "- %s\n", inText(text))
		}
		if more > 0 {
			fmt.Fprintf(&b, "- and %d more, which --where COLUMN=VALUE selects\n", more)
		}
	}
	fmt.Fprintf(&b, "\n<sub>%s</sub>\n", inText(s.origin()))
	return []File{{Name: s.base() + ".md", Data: b.Bytes()}}, nil
}

// markdownTable writes a table, some of whose columns are of numbers.
func markdownTable(b *bytes.Buffer, head []string, rows [][]string, number func(column int) bool) {
	line := func(fields []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(fields, " | ")) }
	marks := make([]string, len(head))
	for i := range marks {
		marks[i] = "---"
		if number(i) {
			marks[i] = "---:"
		}
	}
	for i, row := range append([][]string{head}, rows...) {
		fields := make([]string, len(row))
		for k, f := range row {
			fields[k] = inText(f)
		}
		if line(fields); i == 0 {
			line(marks)
		}
	}
}

// ranking is that of the selected cells.
func (s *selection) ranking() *compare.Ranking {
	t := *s.run.Table
	if len(s.cells) == len(t.Cells()) {
		return compare.Rank(&t)
	}
	t.Trials = nil
	for _, c := range s.cells {
		for _, trial := range c.Trials {
			t.Trials = append(t.Trials, *trial)
		}
	}
	return compare.Rank(&t)
}

// inText escapes what Markdown or HTML would take for its own. The brackets of an interval are
// none of a link, and stay.
func inText(text string) string { return escapes.Replace(printable(text)) }

var escapes = func() *strings.Replacer {
	pairs := []string{"](", `\](`, "][", `\][`, "]:", `\]:`, "://", `\://`, "www.", `www\.`}
	for _, r := range "\\`*_<>&#|~" {
		pairs = append(pairs, string(r), `\`+string(r))
	}
	return strings.NewReplacer(pairs...)
}()
