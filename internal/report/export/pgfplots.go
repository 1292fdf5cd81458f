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
	"github.com/conclave-bench/conclave/internal/report/figure"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// pgfplots writes for each metric a picture that can be compiled as it is, with an axis for each
// level of what else varies, and for each of its lines a table with the ends of the intervals
// relative to the median, as error bars want them.
func pgfplots(s *selection) ([]File, error) {
	var files []File
	for _, m := range s.metrics {
		v, err := s.view(m)
		if err != nil {
			return nil, err
		}
		axis := ""
		if v.X != report.None {
			axis = v.Columns[v.X].Name
		}
		panels := s.panels(v, axis, m)
		if len(panels) == 0 { // an empty axis is an error there
			continue
		}
		for _, p := range panels {
			for _, l := range p.lines {
				if len(l.cells) == 0 {
					continue
				}
				files = append(files, File{Name: l.file + ".dat", Data: l.table})
			}
		}
		name := report.FileNames([]string{m.Name})[0] + ".tex"
		files = append(files, File{Name: name, Data: s.axes(panels, axis, m)})
	}
	if len(files) == 0 {
		return nil, s.empty()
	}
	return files, nil
}

// A panel is what one pair of axes shows.
type panel struct {
	title string // "" if there is one alone
	lines []line
}

// A line is cells that differ along the axis alone.
type line struct {
	title, file string
	cells       []*results.Cell
	table       []byte
}

// view lays the selected cells out as the figures of a report have them.
func (s *selection) view(m *metric.Metric) (v *report.View, err error) {
	v = &report.View{Rows: make([][]int, len(s.cells))}
	for _, name := range append([]string{"label"}, s.columns...) {
		c := report.Column{Name: name, Numeric: true}
		for _, cell := range s.cells {
			value := s.valueOf(cell, name)
			if !slices.Contains(c.Values, value) {
				c.Values, c.Numeric = append(c.Values, value), c.Numeric && isNumber(value)
			}
		}
		for k, cell := range s.cells {
			v.Rows[k] = append(v.Rows[k], slices.Index(c.Values, s.valueOf(cell, name)))
		}
		v.Columns = append(v.Columns, c)
	}
	x, series := v.Main(m), v.Label()
	if s.X != "" {
		if x, err = v.Find("x", s.X); err != nil {
			return nil, err
		}
	}
	if s.Series != "" {
		if series, err = v.Find("series", s.Series); err != nil {
			return nil, err
		}
	}
	if x == series {
		return nil, report.Mistaken("--x and --series are both %s: choose another for one of them",
			v.Columns[x].Name)
	}
	v.Along(x, series)
	return v, nil
}

// valueOf is what a cell has in a column, or its label.
func (s *selection) valueOf(c *results.Cell, column string) string {
	if column == "label" {
		return head(c)
	}
	return c.Get(column)
}

// panels are those of a metric that have a point, with the tables of their lines.
func (s *selection) panels(v *report.View, axis string, m *metric.Metric) (out []panel) {
	var names []string
	var lines []line // each panel has all of them, in one order: a line looks alike everywhere
	for _, row := range v.Rows {
		title := v.Columns[v.Series].Values[row[v.Series]]
		if !slices.ContainsFunc(lines, func(l line) bool { return l.title == title }) {
			lines = append(lines, line{title: title})
		}
	}
	for _, c := range v.Charts() {
		for _, cells := range c.Panels {
			p := panel{title: cells.Title, lines: slices.Clone(lines)}
			for _, f := range c.Held {
				p.title += ", " + report.Level(f.Name, f.Value)
			}
			for _, k := range cells.Cells {
				title := v.Columns[v.Series].Values[v.Rows[k][v.Series]]
				i := slices.IndexFunc(p.lines, func(l line) bool { return l.title == title })
				p.lines[i].cells = append(p.lines[i].cells, s.cells[k])
			}
			plotted := false
			for i := range p.lines {
				l := &p.lines[i]
				var any bool
				l.table, any = s.data(axis, *l, p.title, m)
				plotted = plotted || any
			}
			if !plotted {
				continue
			}
			for _, l := range p.lines {
				name := m.Name + "-" + l.title
				for _, i := range v.Split {
					name += "-" + v.Columns[i].Name + "-" + v.Columns[i].Values[v.Rows[cells.Cells[0]][i]]
				}
				names = append(names, name)
			}
			out = append(out, p)
		}
	}
	names = report.FileNames(names)
	for i := range out {
		for k := range out[i].lines {
			out[i].lines[k].file, names = names[0], names[1:]
		}
	}
	return out
}

// looks tell lines apart in print: the colours of Okabe and Ito, marks and dashes.
const looks = `
    {solid, mark=*, color={rgb,255:red,0;green,114;blue,178}},
    {densely dashed, mark=square*, color={rgb,255:red,213;green,94;blue,0}},
    {densely dotted, mark=triangle*, color={rgb,255:red,0;green,158;blue,115}},
    {dashdotted, mark=o, color={rgb,255:red,204;green,121;blue,167}},
    {solid, mark=square, color={rgb,255:red,230;green,159;blue,0}},
    {densely dashed, mark=triangle, color={rgb,255:red,86;green,180;blue,233}},
    {densely dotted, mark=x, color=black}`

// axes is the picture: one axis, or a group of them beside and below each other.
func (s *selection) axes(panels []panel, axis string, m *metric.Metric) []byte {
	b := &bytes.Buffer{}
	fmt.Fprintf(b, "%% %s\n", s.origin())
	b.WriteString("% Needs \\usepackage{pgfplots}, \\usepgfplotslibrary{groupplots} and\n" +
		"% \\pgfplotsset{compat=1.16}. From another folder:\n" +
		"% \\pgfplotsset{table/search path={FOLDER}}.\n\\begin{tikzpicture}\n")
	label := "cell"
	if axis != "" {
		label = experiment.Title(axis)
	}
	least, most, log := s.ends(panels, m)
	mode := ""
	if log {
		mode = ", ymode=log"
	} else if least > 0 {
		fmt.Fprintf(b, "%% The vertical axis starts at %s.\n", results.Number(least))
	}
	common := fmt.Sprintf("  ylabel={%s}, ymin=%s, ymax=%s%s,\n  cycle list={%s},\n"+
		"  xtick=data, unbounded coords=discard, scale only axis, tick label style={font=\\footnotesize},\n",
		tex(m.Title()), results.Number(least), results.Number(most), mode, looks)
	legend := "legend cell align=left, legend columns=3, legend style={draw=none, font=\\footnotesize"
	if len(panels) == 1 {
		fmt.Fprintf(b, "\\begin{axis}[\n  xlabel={%s},\n%s  width=.8\\linewidth, height=.45\\linewidth,\n"+
			"  %s, at={(.5,-.3)}, anchor=north},\n]\n", tex(label), common, legend)
		s.plot(b, panels, 0, m)
		b.WriteString("\\end{axis}\n\\end{tikzpicture}\n")
		return b.Bytes()
	}
	const beside = 2
	rows := (len(panels) + beside - 1) / beside
	name := "legend:" + m.Name
	fmt.Fprintf(b, "\\begin{groupplot}[\n%s  width=.37\\linewidth, height=.28\\linewidth,\n"+
		"  group style={group size=%d by %d, horizontal sep=1em, vertical sep=3.5em,\n"+
		"    ylabels at=edge left, yticklabels at=edge left},\n"+
		"  title style={font=\\footnotesize, yshift=-1ex},\n  %s},\n]\n", common, beside, rows, legend)
	for i, p := range panels {
		named := ""
		if i == 0 {
			named = ", legend to name={" + name + "}"
		}
		fmt.Fprintf(b, "\\nextgroupplot[title={%s}%s]\n", tex(p.title), named)
		s.plot(b, panels, i, m)
	}
	below := fmt.Sprintf("(group c1r%d.south east)", rows)
	fmt.Fprintf(b, "\\end{groupplot}\n\\node[anchor=north, yshift=-3.5ex] at %s {%s};\n"+
		"\\node[anchor=north, yshift=-7ex] at %s\n  {\\pgfplotslegendfromname{%s}};\n\\end{tikzpicture}\n",
		below, tex(label), below, name)
	return b.Bytes()
}

// plot draws the lines of a panel; the first one names them, with the marks of all panels.
func (s *selection) plot(b *bytes.Buffer, panels []panel, panel int, m *metric.Metric) {
	for k, l := range panels[panel].lines {
		table := "coordinates {}" // it has no point here
		if len(l.cells) > 0 {
			table = "[error bars/.cd, y dir=both, y explicit]\n" +
				"  table[x=x, y=median, y error plus=plus, y error minus=minus] {" + l.file + ".dat}"
		}
		fmt.Fprintf(b, "\\addplot+%s;\n", table)
		if panel > 0 {
			continue
		}
		all := line{title: l.title}
		for _, p := range panels {
			all.cells = append(all.cells, p.lines[k].cells...)
		}
		fmt.Fprintf(b, "\\addlegendentry{%s}\n", tex(l.title)+s.lineMark(b, all, m))
	}
}

// ends are those of the vertical axis that all panels have in common.
func (s *selection) ends(panels []panel, m *metric.Metric) (least, most float64, log bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, l := range p.lines {
			for _, c := range l.cells {
				d := describe(c, m)
				for _, v := range []float64{d.Median, d.CILow, d.CIHigh} {
					if !math.IsNaN(v) && !math.IsInf(v, 0) {
						low, high = min(low, v), max(high, v)
					}
				}
			}
		}
	}
	return figure.Range(low, high)
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
func (s *selection) data(axis string, l line, place string, m *metric.Metric) (table []byte, any bool) {
	number := func(v float64) string {
		if math.IsNaN(v) {
			return "nan"
		}
		return results.Number(v)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n# %s; x: %s\nx median minus plus low high n censored\n",
		s.origin(), printable(strings.Join(slices.DeleteFunc([]string{l.title, place, m.Name},
			func(part string) bool { return part == "" }), "; ")), printable(axis))
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
