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
	"github.com/conclave-bench/conclave/internal/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// pgfplots writes for each metric a picture that can be compiled as it is, with an axis for each
// level of what else varies, and for each of its lines a table with the ends of the intervals
// relative to the median, as error bars want them. It looks as the figures of a report do.
func pgfplots(s *selection) ([]File, error) {
	var files []File
	for _, m := range s.metrics {
		v := s.view()
		if err := v.Lay(m, s.Draw.X, s.Draw.Series); err != nil {
			return nil, err
		}
		if v.X == report.None { // what there is one point of each stands along the axis
			v.Along(v.Series, report.None)
		}
		charts := s.charts(v, m)
		for i := range charts {
			picture, err := s.picture(v, m, charts, i)
			if err != nil {
				return nil, err
			}
			for _, p := range charts[i].panels {
				for _, l := range p.lines {
					files = append(files, File{Name: l.file + ".dat", Data: l.table})
				}
			}
			files = append(files, File{Name: charts[i].file + ".tex", Data: picture})
		}
	}
	if len(files) == 0 {
		return nil, s.empty()
	}
	return files, nil
}

// A chart is what one picture shows.
type chart struct {
	file   string
	held   []metric.Field
	panels []panel
}

// A panel is what one pair of axes shows.
type panel struct {
	title string // "" if there is one alone
	lines []line // in the order of their levels
}

// A line is cells that differ along the axis alone.
type line struct {
	level       int
	title, file string
	cells       []int // of the run
	table       []byte
}

// view is all cells of the run, of which those are left out that are not selected: the looks of
// lines do not depend on which are.
func (s *selection) view() *report.View {
	v := &report.View{Rows: make([][]int, len(s.all)), Mixed: compare.Mixed(s.run.Table)}
	designs := make([][]metric.Field, len(s.all))
	for k, c := range s.all {
		designs[k] = append([]metric.Field{{Name: "label", Value: view.Label(c.Design)}},
			view.Place(c.Design, s.columns)...)
	}
	for i, of := range metric.ColumnsOf(designs...) {
		c := report.Column{Name: of.Name, Values: of.Values}
		c.Order()
		for k, cell := range s.all {
			if slices.Contains(s.cells, cell) {
				v.Rows[k] = append(v.Rows[k], slices.Index(c.Values, designs[k][i].Value))
			}
		}
		v.Columns = append(v.Columns, c)
	}
	return v
}

// charts are those of a metric that have a point, with the tables of their lines.
func (s *selection) charts(v *report.View, m *metric.Metric) (out []chart) {
	var files, tables []string
	all := s.all
	for _, c := range v.Charts() {
		one := chart{held: c.Held}
		name := m.Name
		for _, f := range c.Held {
			name += "-" + f.Name + "-" + f.Value
		}
		for _, cells := range c.Panels {
			p := panel{title: cells.Title}
			for _, k := range cells.Cells {
				if math.IsNaN(all[k].Describe(m.Name).Median) {
					continue
				}
				level, title := 0, m.InWords()
				if v.Series != report.None {
					level = v.Rows[k][v.Series]
					title = v.Columns[v.Series].Values[level]
				}
				at, found := slices.BinarySearchFunc(p.lines, level,
					func(l line, level int) int { return cmp.Compare(l.level, level) })
				if !found {
					p.lines = slices.Insert(p.lines, at, line{level: level, title: title})
				}
				p.lines[at].cells = append(p.lines[at].cells, k)
			}
			if len(p.lines) == 0 { // an empty axis is an error there
				continue
			}
			place := ""
			for _, i := range v.Split {
				place += "-" + v.Columns[i].Name + "-" + v.Columns[i].Values[v.Rows[cells.Cells[0]][i]]
			}
			for i := range p.lines {
				l := &p.lines[i]
				slices.SortStableFunc(l.cells, func(a, b int) int {
					return cmp.Compare(v.Place(a), v.Place(b))
				})
				l.table = s.data(v, p, i, m)
				name := m.Name
				if v.Series != report.None {
					name += "-" + l.title
				}
				tables = append(tables, name+place)
			}
			one.panels = append(one.panels, p)
		}
		if len(one.panels) > 0 {
			out, files = append(out, one), append(files, name)
		}
	}
	files, tables = report.FileNames(files), report.FileNames(tables)
	for c := range out {
		out[c].file = files[c]
		for p := range out[c].panels {
			for l := range out[c].panels[p].lines {
				out[c].panels[p].lines[l].file, tables = tables[0], tables[1:]
			}
		}
	}
	return out
}

// picture is one of the charts, all of which have the same scale: a group of axes beside and below
// each other.
func (s *selection) picture(v *report.View, m *metric.Metric, charts []chart, at int) ([]byte, error) {
	var points []figure.Point
	for _, c := range charts {
		for _, p := range c.panels {
			for _, l := range p.lines {
				for _, k := range l.cells {
					d := s.all[k].Describe(m.Name)
					points = append(points, figure.Point{X: v.Place(k), Y: d.Median,
						Low: d.CILow, High: d.CIHigh, Doubt: d.Doubtful()})
				}
			}
		}
	}
	var titles []string
	var lines []line // of all panels
	for _, p := range charts[at].panels {
		titles = append(titles, p.title)
		for _, l := range p.lines {
			i, found := slices.BinarySearchFunc(lines, l.level,
				func(l line, level int) int { return cmp.Compare(l.level, level) })
			if !found {
				lines = slices.Insert(lines, i, line{level: l.level, title: l.title})
			}
			lines[i].cells = append(lines[i].cells, l.cells...)
		}
	}
	var levels []int
	for _, l := range lines {
		levels = append(levels, l.level)
	}
	f, err := figure.NewFrame(v, m, charts[at].held, titles, levels, points, &s.Draw)
	if err != nil {
		return nil, err
	}
	b := &bytes.Buffer{}
	fmt.Fprintf(b, "%% %s\n", s.origin())
	b.WriteString("% Needs \\usepackage{pgfplots}, \\usepgfplotslibrary{groupplots} and\n" +
		"% \\pgfplotsset{compat=1.16}. From another folder:\n" +
		"% \\pgfplotsset{table/search path={FOLDER}}.\n\\begin{tikzpicture}[\n")
	for _, l := range lines {
		fmt.Fprintf(b, "  look %d/.style={%s},\n", l.level, figure.TeX(l.level))
	}
	b.WriteString("  text of axis/.style={inner sep=0, font=\\footnotesize},\n]\n")
	s.open(b, f)
	for i, p := range charts[at].panels {
		fmt.Fprintf(b, "\\nextgroupplot[title={%s}]\n", tex(p.title))
		if i == 0 && v.Series != report.None {
			s.legend(b, f, lines, m)
		}
		for k, l := range p.lines {
			beside := fmt.Sprintf("xshift=%.2fbp", float64(figure.Shift(k, len(p.lines))))
			if f.X.Names {
				beside = "only marks"
			}
			fmt.Fprintf(b, "\\addplot[look %d, forget plot, %s, error bars/.cd, y dir=both, y explicit]\n"+
				"  table[x=x, y=median, y error plus=plus, y error minus=minus] {%s.dat};\n",
				l.level, beside, l.file)
		}
	}
	s.close(b, f)
	return b.Bytes(), nil
}

// open begins the group of axes.
func (s *selection) open(b *bytes.Buffer, f *figure.Frame) {
	columns := "-1" // as many as there are
	if f.LegendRows > 1 {
		columns = fmt.Sprintf("%d, transpose legend", f.LegendRows)
	}
	fmt.Fprintf(b, "\\begin{groupplot}[\n"+
		"  group style={group size=%d by %d, horizontal sep=%.2fbp, vertical sep=%.2fbp,\n"+
		"    yticklabels at=edge left},\n"+
		"  scale only axis, width=%.2fbp, height=%.2fbp, axis x line*=bottom, axis y line*=left,\n"+
		"  tick align=outside, major tick length=3bp, minor tick length=3bp, tick style={black},\n"+
		"  ymajorgrids, grid style={black!15},\n%s%s"+
		"  tick label style={align=center, font=\\scriptsize, inner sep=2bp},\n"+
		"  title style={font=\\scriptsize, yshift=-1.2ex},\n"+
		"  every axis plot/.append style={line width=.8pt, mark size=1.7pt},\n"+
		"  error bars/error bar style={solid, line width=.4pt}, unbounded coords=discard,\n"+
		"  legend columns=%s, legend cell align=left, legend style={draw=none,\n"+
		"    fill=none, inner sep=0, font=\\scriptsize, at={(0,0)}, anchor=north west, xshift=-%.2fbp,\n"+
		"    yshift=-%.2fbp, nodes={inner xsep=1.5bp, inner ysep=0.8pt}, \n"+
		"    /tikz/every even column/.append style={column sep=4bp}},\n]\n",
		f.Columns, f.Rows, float64(f.Across), float64(f.Down), float64(f.Wide), float64(f.Tall),
		texSide("x", &f.X), texSide("y", &f.Y), columns, float64(f.Left-f.Edge),
		float64(f.Ends)+float64(float64(f.Rows-1)*float64(f.Down+f.Tall)))
}

// onAxis is a place on an axis.
func onAxis(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }

// texSide is an axis as keys of pgfplots.
func texSide(name string, a *figure.Side) string {
	var at, texts, bare []string
	for i, v := range a.At {
		if a.Texts[i] == "" {
			bare = append(bare, onAxis(v))
			continue
		}
		text := tex(a.Texts[i])
		if a.Low[i] {
			text = `\vphantom{0}\\` + text
		}
		at, texts = append(at, onAxis(v)), append(texts, "{"+text+"}")
	}
	out := fmt.Sprintf("  %[1]smin=%[2]s, %[1]smax=%[3]s, %[1]stick={%[4]s}, %[1]sticklabels={%[5]s},\n",
		name, onAxis(a.Min), onAxis(a.Max), strings.Join(at, ","), strings.Join(texts, ","))
	if a.Log {
		out += "  " + name + "mode=log,\n"
	}
	if len(bare) > 0 {
		out += fmt.Sprintf("  minor %stick={%s},\n", name, strings.Join(bare, ","))
	} else {
		out += fmt.Sprintf("  minor %s tick style={draw=none},\n", name)
	}
	if a.Slanted {
		out += "  " + name + "ticklabel style={rotate=60, anchor=east},\n"
	}
	return out
}

// legend names the lines, whether or not the first panel has them.
func (s *selection) legend(b *bytes.Buffer, f *figure.Frame, lines []line, m *metric.Metric) {
	if f.Heading != "" {
		fmt.Fprintf(b, "\\addlegendimage{empty legend}\\addlegendentry{%s}\n", tex(f.Heading))
	}
	for _, l := range lines {
		only := ""
		if f.X.Names {
			only = ", only marks"
		}
		fmt.Fprintf(b, "\\addlegendimage{look %d%s}\\addlegendentry{%s}\n", l.level, only,
			tex(l.title)+s.lineMark(b, l, m))
	}
}

// close ends the group, writes the texts beside it, and makes the picture as large as it was asked
// to be.
func (s *selection) close(b *bytes.Buffer, f *figure.Frame) {
	b.WriteString("\\end{groupplot}\n")
	last := fmt.Sprintf("group c1r%d.south west", f.Rows)
	fmt.Fprintf(b, "\\coordinate (corner) at (%s -| group c%dr1.south east);\n", last, f.Columns)
	fmt.Fprintf(b, "\\path (%s) -- (corner) node[midway, anchor=north, yshift=-%.2fbp, text of axis] {%s};\n",
		last, float64(f.TitleBelow), tex(strings.Join(f.X.Title, " ")))
	for i, text := range f.Y.Title {
		fmt.Fprintf(b, "\\path (group c1r1.north west) -- (%s) node[midway, anchor=north,\n"+
			"  xshift=-%.2fbp, rotate=90, text of axis] {%s};\n", last,
			float64(f.Left-f.Edge)-float64(float64(i)*float64(f.TitleRow)), tex(text))
	}
	if len(f.Notes) > 0 {
		var notes []string
		for _, line := range f.Notes {
			notes = append(notes, tex(line))
		}
		fmt.Fprintf(b, "\\node[anchor=north east, yshift=-%.2fbp, align=right, inner sep=0,\n"+
			"  font=\\scriptsize, text=black!60] at (corner) {%s};\n", float64(f.NotesBelow),
			strings.Join(notes, `\\`))
	}
	fmt.Fprintf(b, "\\pgfresetboundingbox\n\\path[use as bounding box] (group c1r1.north west)\n"+
		"  ++(-%.2fbp,%.2fbp) rectangle ++(%.2fbp,-%.2fbp);\n\\end{tikzpicture}\n", float64(f.Left),
		float64(f.Top), float64(f.Width), float64(f.Height))
}

// lineMark marks a line some of whose medians are marked, after comments on each of them.
func (s *selection) lineMark(b *bytes.Buffer, l line, m *metric.Metric) string {
	legend := &compare.Legend{}
	mark := ""
	for _, k := range l.cells {
		mark = cmp.Or(mark, legend.Mark(s.all[k].Describe(m.Name).Doubtful()))
	}
	for _, note := range legend.Notes() {
		fmt.Fprintf(b, "%% %s: a median %s\n", printable(l.title), note)
	}
	return mark
}

// data is the table of a line of a panel.
func (s *selection) data(v *report.View, p panel, at int, m *metric.Metric) []byte {
	number := func(v float64) string {
		if math.IsNaN(v) {
			return "nan"
		}
		return results.Number(v)
	}
	l, axis := p.lines[at], v.Columns[v.X]
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n# %s; x: %s\nx median minus plus low high n censored\n",
		s.origin(), printable(strings.Join(slices.DeleteFunc([]string{l.title, p.title, m.Name},
			func(part string) bool { return part == "" }), "; ")), printable(axis.Name))
	for _, k := range l.cells {
		c := s.all[k]
		d := c.Describe(m.Name)
		if doubt := d.Doubtful(); doubt > 0 {
			fmt.Fprintf(&b, "# %s: the median %s\n", s.name(c), compare.DoubtNote(doubt))
		}
		x := v.Place(k)
		if !axis.Numeric {
			fmt.Fprintf(&b, "# %s: %s\n", number(x), printable(axis.Values[int(x)]))
			x += figure.Dodge(at, len(p.lines))
		}
		row := []string{number(x)}
		for _, v := range []float64{d.Median, d.Median - d.CILow, d.CIHigh - d.Median, d.CILow, d.CIHigh} {
			row = append(row, number(v))
		}
		row = append(row, strconv.Itoa(d.N), strconv.Itoa(d.Censored))
		b.WriteString(strings.Join(row, " ") + "\n")
	}
	return b.Bytes()
}
