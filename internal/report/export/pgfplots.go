package export

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// pgfplots writes for each metric a picture that can be compiled as it is, and for
// each of its lines a table with the ends of the intervals relative to the median,
// as error bars want them.
func pgfplots(s *selection) ([]File, error) {
	axis := s.axis()
	lines := s.lines(axis)
	titles := make([]string, len(lines))
	for i, l := range lines {
		titles[i] = l.title
	}
	var files []File
	for _, m := range s.metrics {
		var data []string
		for _, title := range titles {
			data = append(data, m.Name+"-"+title)
		}
		data = report.FileNames(data)
		plotted := false
		picture := &bytes.Buffer{}
		s.beginAxis(picture, axis, m)
		for i, l := range lines {
			table, any := s.data(axis, l, m)
			plotted = plotted || any
			files = append(files, File{Name: data[i] + ".dat", Data: table})
			fmt.Fprintf(picture, "\\addplot+[error bars/.cd, y dir=both, y explicit]\n"+
				"  table[x=x, y=median, y error plus=plus, y error minus=minus] {%s.dat};\n"+
				"\\addlegendentry{%s}\n", data[i], tex(l.title)+s.lineMark(picture, l, m))
		}
		picture.WriteString("\\end{axis}\n\\end{tikzpicture}\n")
		if !plotted { // an empty axis is an error there
			files = files[:len(files)-len(lines)]
			continue
		}
		name := report.FileNames([]string{m.Name})[0] + ".tex"
		files = append(files, File{Name: name, Data: picture.Bytes()})
	}
	if len(files) == 0 {
		return nil, s.empty()
	}
	return files, nil
}

// A line is the cells that differ in the axis alone.
type line struct {
	title string
	cells []*results.Cell
}

// axis is the column along which a metric is drawn: the number of nodes if it
// varies, else the first column of numbers that does; "" if there is none.
func (s *selection) axis() string {
	numbers := func(name string) bool {
		first := s.cells[0].Get(name)
		return slices.ContainsFunc(s.cells, func(c *results.Cell) bool { return c.Get(name) != first }) &&
			!slices.ContainsFunc(s.cells, func(c *results.Cell) bool { return !isNumber(c.Get(name)) })
	}
	if slices.Contains(s.columns, "nodes") && numbers("nodes") {
		return "nodes"
	}
	for _, name := range s.columns {
		if numbers(name) {
			return name
		}
	}
	return ""
}

// lines groups the cells by what is not the axis.
func (s *selection) lines(axis string) []line {
	var out []line
	for _, c := range s.cells {
		title := head(c)
		for _, name := range s.columns {
			if name != axis {
				title += ", " + name + "=" + c.Get(name)
			}
		}
		i := slices.IndexFunc(out, func(l line) bool { return l.title == title })
		if i < 0 {
			i, out = len(out), append(out, line{title: title})
		}
		out[i].cells = append(out[i].cells, c)
	}
	return out
}

func (s *selection) beginAxis(b *bytes.Buffer, axis string, m *metric.Metric) {
	fmt.Fprintf(b, "%% %s\n", s.origin())
	b.WriteString("% Needs \\usepackage{pgfplots} and \\pgfplotsset{compat=1.16}. From another folder:\n" +
		"% \\pgfplotsset{table/search path={FOLDER}}.\n" +
		"\\begin{tikzpicture}\n\\begin{axis}[\n")
	label := axis
	if axis == "" {
		label = "cell"
	}
	fmt.Fprintf(b, "  xlabel={%s}, ylabel={%s},\n", tex(experiment.Title(label)), tex(m.Title()))
	b.WriteString("  xtick=data, unbounded coords=discard,\n" +
		"  legend pos=outer north east, legend cell align=left,\n]\n")
}

// lineMark marks a line some of whose medians are marked, after comments on each of them.
func (s *selection) lineMark(b *bytes.Buffer, l line, m *metric.Metric) string {
	legend := &compare.Legend{}
	mark := ""
	for _, c := range l.cells {
		mark = cmp.Or(mark, legend.Mark(describe(c, m).Doubtful()))
	}
	for _, note := range legend.Notes() {
		fmt.Fprintf(b, "%% %s: a median %s\n", printable(l.title), note)
	}
	return mark
}

// data is the table of a line, and whether it has any point. Without an axis,
// cells stand in their order.
func (s *selection) data(axis string, l line, m *metric.Metric) (table []byte, any bool) {
	number := func(v float64) string {
		if math.IsNaN(v) {
			return "nan"
		}
		return results.Number(v)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n# %s; x: %s\nx median minus plus low high n censored\n",
		s.origin(), printable(l.title+"; "+m.Name), printable(axis))
	for _, c := range l.cells {
		if doubt := describe(c, m).Doubtful(); doubt > 0 {
			fmt.Fprintf(&b, "# %s: the median %s\n", s.name(c), compare.DoubtNote(doubt))
		}
		x := c.Get(axis)
		if axis == "" {
			x = strconv.Itoa(1 + slices.Index(s.cells, c))
		}
		d := describe(c, m)
		any = any || !math.IsNaN(d.Median)
		row := []string{x}
		for _, v := range []float64{d.Median, d.Median - d.CILow, d.CIHigh - d.Median, d.CILow, d.CIHigh} {
			row = append(row, number(v))
		}
		row = append(row, strconv.Itoa(d.N), strconv.Itoa(d.Censored))
		b.WriteString(strings.Join(row, " ") + "\n")
	}
	return b.Bytes(), any
}
