package export

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// mostLines is how many lines of the ranking a page gets.
const mostLines = 100

// markdown writes the table of bench run, and how the algorithms rank.
func markdown(s *selection) ([]File, error) {
	var b bytes.Buffer
	names := slices.Concat([]string{"algorithm"}, s.columns, []string{"n"}, metric.Names(s.metrics),
		[]string{"trials"})
	legend, table := &view.Legend{}, &console.Table{}
	for i, name := range names {
		table.Column(inText(name), i > len(s.columns) && i < len(names)-1)
	}
	for _, c := range s.cells {
		row := []string{view.Label(c.Design)}
		for _, name := range s.columns {
			row = append(row, c.Get(name))
		}
		row = append(row, strconv.Itoa(c.Count(trace.OK)))
		for _, m := range s.metrics {
			row = append(row, legend.Estimate(m, c.Describe(m.Name), c.Count(trace.OK)))
		}
		table.Add(append(row, view.Statuses(c))...)
	}
	table.Markdown(&b, inText)
	notes := append([]string{"n: trials with status ok; figures: " +
		view.FigureNote(s.run.Until().Method())}, legend.Notes()...)
	b.WriteString(strings.Join(notes, "; ") + ".\n")
	for _, r := range s.rankings() {
		fmt.Fprintf(&b, "\n%s:\n\n", inText(r.Head()))
		lines, more := r.Lines(mostLines)
		for _, text := range lines {
			fmt.Fprintf(&b, "- %s\n", inText(text))
		}
		if more > 0 {
			fmt.Fprintf(&b, "- and %d more, which --where COLUMN=VALUE selects\n", more)
		}
		fmt.Fprintf(&b, "\n%s.\n", inText(r.Legend()))
	}
	b.WriteString(s.listed())
	fmt.Fprintf(&b, "\n<sub>%s</sub>\n", inText(s.origin()))
	return []File{{Name: s.base() + ".md", Data: b.Bytes()}}, nil
}

// rankings are those by the metrics that were asked for, as far as algorithms can be ranked by them; if
// none was, that by the main time.
func (s *selection) rankings() (out []*compare.Ranking) {
	t := view.Filter(s.run.Table, s.Where)
	if len(s.Metrics) == 0 {
		out = append(out, compare.Rank(t))
	}
	for _, name := range s.Metrics {
		out = append(out, compare.RankBy(t, metric.Named(name)))
	}
	return slices.DeleteFunc(out, func(r *compare.Ranking) bool { return r == nil })
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
