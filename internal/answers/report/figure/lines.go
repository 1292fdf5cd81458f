package figure

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Group is a chart of lines, and the cells that it shows.
type Group struct {
	chart.Chart
	Held   []metric.Field // values that all cells have
	Places []string       // of each pane: what its cells have, for the names of files
	// Folded are sentences in place of panes that would show nothing.
	Folded []string
	File   string // its name elsewhere
	points int
}

// lineFigures draw a metric as a view lays out the cells: one figure for each chart, all with
// the same scale, one pane for each panel.
func lineFigures(d *report.Data, v *report.View, m int, o *Options) (list []Group) {
	list = Lines(d, v, m, report.MostPanels, o)
	if !o.All { // the one that shows most comes first
		slices.SortStableFunc(list, func(a, b Group) int { return cmp.Compare(b.points, a.points) })
	}
	return list[:min(len(list), mostFigures)]
}

// A panel is lines between one pair of axes.
type panel struct {
	title, place string
	part         string // of all lines, as "1 of 3"; "": it has all
	lines        []chart.Line
}

// Lines are the charts of a metric as a view lays out the cells, all with the same scale, with so
// many panes at most in each. A chart whose panes would all show nothing has sentences alone.
func Lines(d *report.Data, v *report.View, m, most int, o *Options) (out []Group) {
	var all [][]panel // by chart
	var every []chart.Line
	crowded := false
	for _, c := range v.Charts() {
		measured := func(p report.Panel) bool { return len(linesOf(d, v, p.Cells, m)) > 0 }
		if !slices.ContainsFunc(c.Panels, measured) {
			continue
		}
		panels, folded, many := panelsOf(d, v, &c, m)
		crowded = crowded || many
		for more := true; more; more = len(panels) > 0 {
			some := panels[:min(len(panels), most)]
			one := Group{Held: c.Held, Folded: folded}
			for _, p := range some {
				one.Places = append(one.Places, p.place)
				every = append(every, p.lines...)
				for _, l := range p.lines {
					one.points += len(l.Points)
				}
			}
			all, out = append(all, some), append(out, one)
			panels, folded = panels[len(some):], nil
		}
	}
	for i := range every {
		if crowded {
			clear(every[i].Claims)
		}
	}
	var s chart.Scale
	if len(every) > 0 {
		s = chart.ScaleOf(every, o.YMin, o.YMax)
	}
	s.Sideways = v.X == report.None
	for i, panels := range all {
		g := &out[i]
		g.Name, g.Notes = nameOf(v, d.Metrics[m], slices.Concat(o.Where, g.Held))
		if g.Notes = append(g.Notes, g.Folded...); len(panels) == 0 {
			continue
		}
		g.Notes = append(g.Notes, s.Notes()...)
		title(&g.Chart, &s, v, d.Metrics[m])
		doubt, claimed := 0.0, false
		hollow := hollows{view: v}
		for _, p := range panels {
			hollow.lines(d, &p)
			claimed = g.Add(&s, p.title, p.part, p.lines) || claimed
			for _, l := range p.lines {
				for _, q := range l.Points {
					doubt = max(doubt, q.Doubt)
				}
			}
		}
		if doubt > 0 {
			g.Notes = append(g.Notes, view.DoubtNote(doubt))
		}
		g.Notes = append(g.Notes, hollow.notes()...)
		entries(&g.Chart, &s, v)
		if claimed {
			g.Legend = append(g.Legend, chart.Entry{Text: "claimed",
				Look: chart.Look{Color: chart.Gray, Dash: chart.Dotted}, Shows: chart.OnlyLine})
		}
	}
	return out
}

// panelsOf are the panels of a chart that show something, each with as many lines as it has room for, and
// a sentence for each of the others. Many says whether claims would hide what was measured.
func panelsOf(d *report.Data, v *report.View, c *report.Chart, m int) (out []panel, folded []string,
	many bool) {
	var levels []int
	said := map[string][]string{} // what is the same: of which panels
	for _, p := range c.Panels {
		lines := linesOf(d, v, p.Cells, m)
		if text := same(d, p.Cells, m); text != "" {
			if said[text] = append(said[text], p.Title); len(said[text]) == 1 {
				folded = append(folded, text)
			}
			continue
		}
		many = many || len(lines) > mostClaimed
		out = append(out, panel{title: p.Title, place: place(v, p.Cells[0]), lines: lines})
		for _, l := range lines {
			if !slices.Contains(levels, l.Level) {
				levels = append(levels, l.Level)
			}
		}
	}
	for i, text := range folded {
		if titles := said[text]; len(titles) < len(c.Panels) {
			folded[i] = strings.Join(titles, ", ") + ": " + text
		}
	}
	if v.X == report.None || len(levels) <= chart.MostLines { // without an axis each has a row of its own
		return out, folded, many
	}
	slices.Sort(levels)
	var parted []panel
	parts, names := chart.Parted(levels)
	for _, p := range out {
		for i, some := range parts {
			part := panel{p.title, p.place, names[i], nil}
			for _, l := range p.lines {
				if slices.Contains(some, l.Level) {
					part.lines = append(part.lines, l)
				}
			}
			if len(part.lines) > 0 {
				parted = append(parted, part)
			}
		}
	}
	return parted, folded, many
}

// same is a sentence in place of a panel in which a reader would see nothing: no cell has a figure, or
// every trial has the same value. Else it is "".
func same(d *report.Data, cells []int, m int) string {
	value := math.NaN()
	for _, k := range cells {
		f := d.Cells[k].Figures[m]
		switch {
		case f.N+f.Censored == 0:
			continue
		case f.Censored > 0 || f.Min != f.Max || !math.IsNaN(value) && f.Min != value:
			return ""
		}
		value = f.Min
	}
	if math.IsNaN(value) {
		return "no trial has a value of " + d.Metrics[m].InWords()
	}
	return d.Metrics[m].Title() + " is " + console.Number(value) + " in every trial"
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
	return name, notes
}

// linesOf are the lines through cells, those of each series.
func linesOf(d *report.Data, v *report.View, cells []int, m int) []chart.Line {
	var out []chart.Line
	for _, k := range cells {
		c := &d.Cells[k]
		f := c.Figures[m]
		if !chart.Finite(f.Center()) {
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
		p := chart.Point{X: v.Place(k), Y: f.Center(), Low: f.CILow, High: f.CIHigh, Doubt: f.Doubtful(),
			Mark: new(view.Legend).Mark(f.Doubtful()), Cell: k, Hollow: len(c.Caveats) > 0}
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
		value += chart.LogScale
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
		c.X += chart.LogScale
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
	var names []string
	var parts [][]chart.Entry
	for _, l := range shown {
		if of := c.PartOf(l.Level); parts == nil || of != names[len(names)-1] {
			names, parts = append(names, of), append(parts, nil)
		}
		last := &parts[len(parts)-1]
		*last = append(*last, chart.Entry{Text: l.Name, Look: chart.LookOf(l.Level), Shows: shows})
	}
	c.AddParts(names, parts)
}
