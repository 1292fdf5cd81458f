package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// logScale stands behind the title of an axis in decades.
const logScale = ", log scale"

// A Group is a chart of lines, and the cells that it shows.
type Group struct {
	chart.Chart
	Held   []metric.Field // values that all cells have
	Places []string       // of each pane: what its cells have, for the names of files
	File   string         // its name elsewhere
	points int
}

// lineFigures draw a metric as a view lays out the cells: one figure for each chart, all with
// the same scale, one pane for each panel.
func lineFigures(d *report.Data, v *report.View, m int, o *Options) (out []chart.Chart) {
	list := Lines(d, v, m, report.MostPanels, o)
	if !o.All { // the one that shows most comes first
		slices.SortStableFunc(list, func(a, b Group) int { return cmp.Compare(b.points, a.points) })
	}
	for _, g := range list[:min(len(list), mostFigures)] {
		out = append(out, g.Chart)
	}
	return out
}

// Lines are the charts of a metric as a view lays out the cells, all with the same scale, with so
// many panes at most in each.
func Lines(d *report.Data, v *report.View, m, most int, o *Options) (out []Group) {
	type panel struct {
		title string
		lines []chart.Line
	}
	var all [][]panel // by chart
	var every []chart.Line
	crowded := false
	for _, c := range v.Charts() {
		var panels []panel
		one := Group{Held: c.Held}
		end := func() {
			if len(panels) > 0 {
				all, out = append(all, panels), append(out, one)
			}
			panels, one = nil, Group{Held: c.Held}
		}
		for _, p := range c.Panels {
			lines := linesOf(d, v, p.Cells, m)
			if len(lines) == 0 {
				continue
			}
			if len(panels) == most {
				end()
			}
			panels, every = append(panels, panel{p.Title, lines}), append(every, lines...)
			one.Places = append(one.Places, place(v, p.Cells[0]))
			crowded = crowded || len(lines) > mostClaimed
			for _, l := range lines {
				one.points += len(l.Points)
			}
		}
		end()
	}
	if len(out) == 0 {
		return nil
	}
	for i := range every {
		if crowded {
			clear(every[i].Claims)
		}
	}
	s := chart.ScaleOf(every, o.YMin, o.YMax)
	s.Sideways = v.X == report.None
	for i, panels := range all {
		g := &out[i]
		g.Name, g.Notes = nameOf(v, d.Metrics[m], slices.Concat(o.Where, g.Held))
		g.Notes = append(g.Notes, s.Notes()...)
		title(&g.Chart, &s, v, d.Metrics[m])
		doubt, claimed := 0.0, false
		for _, p := range panels {
			claimed = g.Add(&s, p.title, p.lines) || claimed
			for _, l := range p.lines {
				for _, q := range l.Points {
					doubt = max(doubt, q.Doubt)
				}
			}
		}
		if doubt > 0 {
			g.Notes = append(g.Notes, view.DoubtNote(doubt))
		}
		entries(&g.Chart, &s, v)
		if claimed {
			g.Legend = append(g.Legend, chart.Entry{Text: "claimed",
				Look: chart.Look{Color: chart.Gray, Dash: chart.Dotted}, Shows: chart.OnlyLine})
		}
	}
	return out
}

// place is what a cell has in the columns that part the cells, for the name of a file.
func place(v *report.View, cell int) (text string) {
	for _, i := range v.Split {
		text += "-" + v.Columns[i].Name + "-" + v.Columns[i].Values[v.Rows[cell][i]]
	}
	return text
}

// nameOf is what the file of a metric is called, and what a reader has to know of the cells.
func nameOf(v *report.View, m *metric.Metric, held []metric.Field) (name string, notes []string) {
	name = m.Name
	if v.X != report.None {
		name += "-" + v.Columns[v.X].Name
	}
	if v.Series != report.None && v.Series != v.Label() {
		name += "-by-" + v.Columns[v.Series].Name
	}
	for _, f := range held {
		name += "-" + f.Name + "-" + f.Value
		notes = append(notes, report.Level(f.Name, f.Value))
	}
	if v.Mixed && m.Common() != nil {
		notes = append(notes, ownOutages)
	}
	return name, notes
}

// ownOutages is said where lines beside each other do not mean the same.
const ownOutages = "each algorithm by its own definition of an outage"

// linesOf are the lines through cells, those of each series.
func linesOf(d *report.Data, v *report.View, cells []int, m int) []chart.Line {
	var out []chart.Line
	for _, k := range cells {
		c := &d.Cells[k]
		f := c.Figures[m]
		if !chart.Finite(f.Median) {
			continue
		}
		level, name := 0, d.Metrics[m].InWords()
		if v.Series != report.None {
			level = v.Rows[k][v.Series]
			name = v.Columns[v.Series].Values[level]
		}
		at := slices.IndexFunc(out, func(l chart.Line) bool { return l.Level == level })
		if at < 0 {
			at = len(out)
			out = append(out, chart.Line{Level: level, Name: name, Claims: map[int]plotter.XYs{}})
		}
		p := chart.Point{X: v.Place(k), Y: f.Median, Low: f.CILow, High: f.CIHigh, Doubt: f.Doubtful(),
			Mark: new(view.Legend).Mark(f.Doubtful()), Cell: k}
		out[at].Points = append(out[at].Points, p)
		for _, b := range c.Bounds {
			if d.Claims[b.Claim].Metric != d.Metrics[m].Name {
				continue
			}
			for end, y := range []float64{b.Lo, b.Hi} {
				key := 2*b.Claim + end
				out[at].Claims[key] = append(out[at].Claims[key], plotter.XY{X: p.X, Y: y})
			}
		}
	}
	for _, l := range out {
		slices.SortStableFunc(l.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	}
	slices.SortFunc(out, func(a, b chart.Line) int { return cmp.Compare(a.Level, b.Level) })
	return out
}

// title gives the axes of a chart their titles, and fits the horizontal one.
func title(c *chart.Chart, s *chart.Scale, v *report.View, m *metric.Metric) {
	value := m.Title()
	if s.Y.Log {
		value += logScale
	}
	if s.Sideways {
		c.X = value
		return
	}
	column := v.Columns[v.X]
	if column.Numeric {
		s.Along(nil)
	} else {
		s.Along(column.Values)
	}
	c.X, c.Y = experiment.Title(column.Name), value
	if s.X.Log {
		c.X += logScale
	}
}

// mostClaimed is how many lines may have their claims beside them: those of more would hide
// what was measured.
const mostClaimed = 6

// entries names the lines in the legend, under a heading unless it is plain what they are.
func entries(c *chart.Chart, s *chart.Scale, v *report.View) {
	shown := c.Shown()
	if s.Sideways { // the lines have their names beside them
		c.Tall = max(40, 12*vg.Length(len(shown)))
		return
	}
	shows := chart.LineAndMark
	if s.X.Names {
		shows = chart.OnlyMark
	}
	if v.Series != v.Label() && v.Series != report.None {
		c.Legend = append(c.Legend, chart.Entry{Text: experiment.Title(v.Columns[v.Series].Name) + ":",
			Shows: chart.OnlyText})
	}
	for _, l := range shown {
		c.Legend = append(c.Legend, chart.Entry{Text: l.Name, Look: chart.LookOf(l.Level), Shows: shows})
	}
}
