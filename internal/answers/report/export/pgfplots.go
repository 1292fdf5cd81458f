package export

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// pgfplots writes for each metric a picture that can be compiled as it is, with an axis for each
// level of what else varies, and for each of its lines a table with the ends of the intervals
// relative to the median, as error bars want them. It looks as the figures of a report do.
func pgfplots(s *selection) ([]File, error) {
	var files []File
	var instead []string // of pictures that would show nothing
	for _, m := range s.metrics {
		v := s.view()
		if err := v.Lay(m, s.Draw.X, s.Draw.Series); err != nil {
			return nil, err
		}
		if v.X == report.None { // what there is one point of each stands along the axis
			v.Along(v.Series, report.None)
		}
		d := &report.Data{Metrics: []*metric.Metric{m}, Cells: make([]report.Cell, len(v.Rows))}
		for k, row := range v.Rows {
			if row != nil {
				d.Cells[k].Figures = append(d.Cells[k].Figures, s.all[k].Describe(m.Name))
				d.Cells[k].Caveats = view.Caveats(s.all[k])
			}
		}
		about := strings.TrimSpace(s.origin() + "\n" + s.comments("%"))
		charts := figure.Lines(d, v, 0, math.MaxInt, &s.Draw)
		nameFiles(charts, v, m)
		for i := range charts {
			c := &charts[i]
			if len(c.Panes) == 0 {
				instead = append(instead, c.File+": "+strings.Join(c.Notes, "; "))
				continue
			}
			for _, p := range c.Panes {
				for k, l := range p.Lines {
					files = append(files, File{Name: l.File + ".dat", Data: s.data(v, d, &p, k)})
				}
			}
			picture, err := c.TeX(s.Draw.Width, s.Draw.Height, about, tex)
			if errors.As(err, new(*chart.Cramped)) {
				err = report.Mistaken("%v", err)
			}
			if err != nil {
				return nil, err
			}
			files = append(files, File{Name: c.File + ".tex", Data: picture})
		}
	}
	switch {
	case len(files)+len(instead) == 0:
		return nil, s.empty()
	case len(files) == 0:
		return nil, report.Mistaken("no figure: %s", strings.Join(instead, "; "))
	}
	files[0].Notes = instead
	return files, nil
}

// nameFiles gives charts, and the tables of their lines, the names of their files, and marks the lines
// that hold a doubtful median.
func nameFiles(charts []figure.Group, v *report.View, m *metric.Metric) {
	var files, tables []string
	var lines []*chart.Line
	for i := range charts {
		c := &charts[i]
		name := m.Name
		for _, f := range c.Held {
			name += "-" + f.Name + "-" + f.Value
		}
		files = append(files, name)
		for k, p := range c.Panes {
			for at := range p.Lines {
				name := m.Name
				if v.Series != report.None {
					name += "-" + p.Lines[at].Name
				}
				lines, tables = append(lines, &p.Lines[at]), append(tables, name+c.Places[k])
			}
		}
		if v.Series == report.None {
			c.Legend = nil
		}
		for k := range c.Legend {
			c.Legend[k].Mark, c.Legend[k].Comments = lineMark(c.Panes, c.Legend[k].Text)
		}
	}
	for i, name := range report.FileNames(files) {
		charts[i].File = name
	}
	for i, name := range report.FileNames(tables) {
		lines[i].File = name
	}
}

// view is all cells of the run, of which those are left out that are not selected: the looks of
// lines do not depend on which are.
func (s *selection) view() *report.View {
	v := &report.View{Rows: make([][]int, len(s.all))}
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

// lineMark marks a line some of whose medians are marked, and says why.
func lineMark(panes []chart.Pane, name string) (mark string, comments []string) {
	legend := &view.Legend{}
	for _, p := range panes {
		for _, l := range p.Lines {
			if l.Name != name {
				continue
			}
			for _, q := range l.Points {
				mark = cmp.Or(mark, legend.Mark(q.Doubt))
			}
		}
	}
	for _, note := range legend.Notes() {
		comments = append(comments, fmt.Sprintf("%s: a figure %s", printable(name), note))
	}
	return mark, comments
}

// data is the table of a line of a panel.
func (s *selection) data(v *report.View, from *report.Data, p *chart.Pane, at int) []byte {
	number := func(v float64) string {
		if math.IsNaN(v) {
			return "nan"
		}
		return results.Number(v)
	}
	l, axis := &p.Lines[at], v.Columns[v.X]
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n# %s; x: %s\nx figure minus plus low high n censored hollow\n",
		s.origin(), printable(strings.Join(slices.DeleteFunc([]string{l.Name, p.Title, from.Metrics[0].Name},
			func(part string) bool { return part == "" }), "; ")), printable(axis.Name))
	for _, q := range l.Points {
		c, d := s.run.Cells()[q.Cell], &from.Cells[q.Cell].Figures[0]
		if doubt := d.Doubtful(); doubt > 0 {
			fmt.Fprintf(&b, "# %s: the figure %s\n", s.name(c), view.DoubtNote(doubt))
		}
		x := q.X
		if !axis.Numeric {
			fmt.Fprintf(&b, "# %s: %s\n", number(x), printable(axis.Values[int(x)]))
			x += chart.Dodge(at, len(p.Lines))
		}
		row := []string{number(x)}
		middle := d.Center()
		for _, v := range []float64{middle, middle - d.CILow, d.CIHigh - middle, d.CILow, d.CIHigh} {
			row = append(row, number(v))
		}
		hollow := math.NaN()
		if q.Hollow {
			hollow = middle
		}
		row = append(row, strconv.Itoa(d.N), strconv.Itoa(d.Censored), number(hollow))
		b.WriteString(strings.Join(row, " ") + "\n")
	}
	return b.Bytes()
}
