package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

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

// columnsOfPlace are those that say which cell a row is about. What is beyond the algorithm's model is
// marked.
func (s *selection) columnsOfPlace() (all []*texColumn) {
	label := &texColumn{name: "label"}
	for _, c := range s.cells {
		text := tex(view.Label(c.Design))
		if !c.InModel() {
			text += `$^{\dag}$`
		}
		label.cells = append(label.cells, text)
	}
	all = []*texColumn{label}
	for _, name := range s.columns {
		if s.same(name) {
			continue
		}
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
