package export

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// latex writes a tabular for the packages booktabs and siunitx: a row for each
// cell, and for each metric the median and the ends of its interval, aligned at
// the decimal point. The caption and what floats around it are the author's.
func latex(s *selection) ([]File, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% %s\n", s.origin())
	b.WriteString("% Needs \\usepackage{booktabs,siunitx}.\n" +
		"% Medians over trials with their 95 % intervals, " + s.run.Until().Method().Words() +
		"; n: trials with status ok;\n" +
		"% below a metric: those of them with a value, and behind a + those that timed out or never\n" +
		"% recovered, which count as larger; " + view.BeyondLimit + ": the median lies among those.\n" +
		"% Bold: the whole interval is better than those of all others in the same place.\n")
	legend := &view.Legend{}
	columns, groups := s.columnsOfTable(legend)
	for _, note := range legend.Notes() {
		b.WriteString("% " + note + ".\n")
	}
	comments := make([]string, len(s.cells))
	for i, c := range s.cells {
		comments[i] = view.Statuses(c)
	}
	tabular(&b, columns, groups, comments)
	return []File{{Name: s.base() + ".tex", Data: b.Bytes()}}, nil
}

// tabular writes the table, of whose columns the last ones are those of groups; a comment
// stands behind each row.
func tabular(b *bytes.Buffer, columns []*texColumn, groups []texGroup, comments []string) {
	b.WriteString("\\begin{tabular}{%\n")
	for _, c := range columns {
		fmt.Fprintf(b, "  %s%% %s\n", c.format(), printable(c.name))
	}
	b.WriteString("}\n\\toprule\n")
	headline(b, columns, groups)
	b.WriteString("\\midrule\n")
	for row, comment := range comments {
		fields := make([]string, len(columns))
		for i, c := range columns {
			fields[i] = c.cells[row]
		}
		fmt.Fprintf(b, "%s \\\\ %% %s\n", strings.Join(fields, " & "), comment)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
}

// A texGroup is columns under one heading.
type texGroup struct {
	title   string
	columns []*texColumn
}

// A texColumn is a column of the table, whose cells are what stands in the source.
type texColumn struct {
	name          string
	cells         []string
	number        bool
	whole, behind int    // digits before and behind the decimal point
	behindText    string // what stands behind some numbers
}

// format declares the column. Bold digits need the weight to be detected.
func (c *texColumn) format() string {
	if !c.number {
		return "l"
	}
	text := ""
	if c.behindText != "" {
		text = ",table-space-text-post={" + c.behindText + "}"
	}
	return fmt.Sprintf("S[table-format=%d.%d,detect-weight%s]", c.whole, c.behind, text)
}

// add adds a number as it is to be printed.
func (c *texColumn) add(text string) {
	whole, behind, _ := strings.Cut(text, ".")
	c.whole, c.behind = max(c.whole, len(whole)), max(c.behind, len(behind))
	c.cells = append(c.cells, text)
}

// mark puts a mark, or none, behind the last number.
func (c *texColumn) mark(mark string) {
	if mark != "" {
		c.cells[len(c.cells)-1] += "{" + mark + "}"
		c.behindText = mark
	}
}

// put adds what is no number, in braces, which keep siunitx from reading it.
func (c *texColumn) put(text string) { c.cells = append(c.cells, "{"+text+"}") }

// figure adds v with so many decimals, or what stands for a missing one.
func (c *texColumn) figure(v float64, decimals int, missing string) {
	if math.IsNaN(v) {
		c.put(missing)
	} else {
		c.add(strconv.FormatFloat(v, 'f', decimals, 64))
	}
}

// columnsOfPlace are those that say which cell a row is about.
func (s *selection) columnsOfPlace() (all []*texColumn) {
	label := &texColumn{name: "label"}
	for _, c := range s.cells {
		label.cells = append(label.cells, tex(view.Label(c.Design)))
	}
	all = []*texColumn{label}
	for _, name := range s.columns {
		column := &texColumn{name: name}
		column.number = !slices.ContainsFunc(s.cells, func(c *results.Cell) bool {
			return c.Get(name) != "" && !isNumber(c.Get(name))
		})
		for _, c := range s.cells {
			switch {
			case !column.number:
				column.cells = append(column.cells, tex(c.Get(name)))
			case c.Get(name) == "":
				column.put("")
			default:
				column.add(c.Get(name))
			}
		}
		all = append(all, column)
	}
	return all
}

// columnsOfTable are all columns, and those of each metric.
func (s *selection) columnsOfTable(l *view.Legend) (all []*texColumn, metrics []texGroup) {
	all = s.columnsOfPlace()
	count := &texColumn{name: "n", number: true}
	for _, c := range s.cells {
		count.add(strconv.Itoa(c.Count(trace.OK)))
	}
	all = append(all, count)
	for _, m := range s.metrics {
		columns := s.estimates(m, l)
		metrics = append(metrics, texGroup{m.Title(), columns})
		all = append(all, columns...)
	}
	return all, metrics
}

// estimates are the columns of a metric: three, and a fourth where its n is not that of
// the rows.
func (s *selection) estimates(m *metric.Metric, l *view.Legend) []*texColumn {
	median := &texColumn{name: "median", number: true}
	low, high := &texColumn{name: "low", number: true}, &texColumn{name: "high", number: true}
	summaries := make([]stats.Summary, len(s.cells))
	figures := make([][3]float64, len(s.cells))
	for i, c := range s.cells {
		d := c.Describe(m.Name)
		summaries[i], figures[i] = d, [3]float64{d.Median, d.CILow, d.CIHigh}
	}
	decimals := decimalsOf(figures)
	for i, d := range summaries {
		missing, open := "n/a", "n/a"
		if d.Censored > 0 {
			missing = tex(view.BeyondLimit)
		}
		if !math.IsNaN(d.CILow) { // the other end lies among the time-outs
			open = "\\ldots"
		}
		median.figure(d.Median, decimals, missing)
		median.mark(l.Mark(d.Doubtful()))
		low.figure(d.CILow, decimals, open)
		high.figure(d.CIHigh, decimals, open)
		if !math.IsNaN(d.Median) && s.stands(i, m, summaries) {
			median.cells[i] = "\\bfseries " + median.cells[i]
		}
	}
	columns := []*texColumn{median, low, high}
	if own := s.ownN(summaries); own != nil {
		columns = append(columns, own)
	}
	return columns
}

// ownN is the column with the n of a metric; nil if every row says it already.
func (s *selection) ownN(summaries []stats.Summary) *texColumn {
	column, differs := &texColumn{name: "n", number: true}, false
	for i, d := range summaries {
		own := view.OwnN(d, s.cells[i].Count(trace.OK))
		differs = differs || own != ""
		if text := cmp.Or(own, strconv.Itoa(d.N)); d.Censored > 0 {
			column.put(text)
		} else {
			column.add(text)
		}
	}
	if !differs {
		return nil
	}
	return column
}

// decimalsOf is how many decimals figures with intervals need, so that the smallest figure has
// four digits: three at most, and no more than it takes to write all of them.
func decimalsOf(figures [][3]float64) int {
	smallest := math.Inf(1)
	for _, f := range figures {
		if v := math.Abs(f[0]); v > 0 {
			smallest = min(smallest, v)
		}
	}
	if math.IsInf(smallest, 1) {
		return 0
	}
	most, needed := min(max(3-int(math.Floor(math.Log10(smallest))), 0), 3), 0
	for _, f := range figures {
		for _, v := range f {
			_, digits, _ := strings.Cut(strconv.FormatFloat(v, 'f', most, 64), ".")
			needed = max(needed, len(strings.TrimRight(digits, "0")))
		}
	}
	return needed
}

// stands says whether the interval of a cell is better as a whole than those of all
// other labels in the same place. A median alone may be ahead by chance, and what broke
// a promise is ahead of nothing.
func (s *selection) stands(i int, m *metric.Metric, summaries []stats.Summary) bool {
	rivals, larger := 0, m.Better == metric.Higher
	if s.cells[i].Count(trace.Violated) > 0 {
		return false
	}
	for j, d := range summaries {
		if i == j || !slices.Equal(s.place(s.cells[i]), s.place(s.cells[j])) {
			continue
		}
		rivals++
		if larger && !(summaries[i].CILow > d.CIHigh) || !larger && !(summaries[i].CIHigh < d.CILow) {
			return false // also where an end does not exist
		}
	}
	return rivals > 0
}

// headline writes the titles of groups above their columns, and the names of columns.
func headline(b *bytes.Buffer, columns []*texColumn, groups []texGroup) {
	first := len(columns)
	for _, g := range groups {
		first -= len(g.columns)
	}
	b.WriteString(strings.Repeat("& ", first-1))
	for _, g := range groups {
		fmt.Fprintf(b, "& \\multicolumn{%d}{c}{%s} ", len(g.columns), tex(g.title))
	}
	b.WriteString("\\\\\n")
	for _, g := range groups {
		fmt.Fprintf(b, "\\cmidrule(lr){%d-%d}", first+1, first+len(g.columns))
		first += len(g.columns)
	}
	b.WriteString("\n")
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = "{" + tex(experiment.Title(c.name)) + "}"
	}
	fmt.Fprintf(b, "%s \\\\\n", strings.Join(names, " & "))
}

// tex escapes text for LaTeX. What is not ASCII is named by its code point, for
// which fonts have which signs is not for us to know.
func tex(text string) string {
	var b strings.Builder
	for _, r := range printable(text) {
		if r > '~' {
			fmt.Fprintf(&b, "U+%04X", r)
		} else {
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("[", `{[}`, "]", `{]}`).Replace(answer.Latex(b.String()))
}
