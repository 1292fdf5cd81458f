package figure

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// spans is how far apart values must be for an axis in decades: beyond it, the small
// ones cannot be read on a linear one.
const spans = 100

// together is how near to the largest value the smallest must be, at least, for an axis that
// does not begin at 0: lines that all lie near the top could not be told apart.
const together = 0.4

// A point is a cell's median, and its interval where it has one.
type point struct {
	x, y, low, high float64
	doubt           float64 // what clocks can be wrong by, if that is more than y; else 0
}

// A line is the points of an algorithm, or of another series, ascending, and what it claims.
type line struct {
	level  int // of its column
	name   string
	points []point
	claims map[int]plotter.XYs // by claim and end
}

// lineFigures draw a metric as a view lays out the cells: one figure for each chart, all with
// the same scale, one pane for each panel.
func lineFigures(d *report.Data, v *report.View, m int, o *Options) (out []picture) {
	var every []line
	of := d.Metrics[m]
	type drawn struct {
		chart report.Chart
		lines [][]line // by panel
		most  int      // points
	}
	var list []drawn
	for _, c := range v.Charts() {
		one := drawn{}
		one.chart.Held = c.Held
		for _, p := range c.Panels {
			lines := linesOf(d, v, p.Cells, m)
			if len(lines) == 0 {
				continue
			}
			if len(one.lines) == report.MostPanels {
				list, one = append(list, one), drawn{chart: report.Chart{Held: c.Held}}
			}
			one.chart.Panels, one.lines = append(one.chart.Panels, p), append(one.lines, lines)
			every = append(every, lines...)
			for _, l := range lines {
				one.most += len(l.points)
			}
		}
		if len(one.lines) > 0 {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if !o.All { // the one that shows most comes first
		slices.SortStableFunc(list, func(a, b drawn) int { return cmp.Compare(b.most, a.most) })
	}
	if slices.ContainsFunc(list, func(one drawn) bool {
		return slices.ContainsFunc(one.lines, func(lines []line) bool { return len(lines) > mostClaimed })
	}) {
		for i := range every {
			clear(every[i].claims)
		}
	}
	s := scaleOf(every, o)
	for _, one := range list[:min(len(list), mostFigures)] {
		p := s.picture(v, of)
		p.name, p.notes = nameOf(v, of, slices.Concat(o.Where, one.chart.Held))
		p.notes = append(p.notes, s.notes()...)
		if doubt := doubtOf(slices.Concat(one.lines...)); doubt > 0 {
			p.notes = append(p.notes, compare.DoubtNote(doubt))
		}
		s.fill(&p, v, one.chart.Panels, one.lines)
		out = append(out, p)
	}
	return out
}

// doubtOf is the largest doubt of a point of lines.
func doubtOf(lines []line) (most float64) {
	for _, l := range lines {
		for _, q := range l.points {
			most = max(most, q.doubt)
		}
	}
	return most
}

// question writes the mark beside a point, if it has one.
func question(c draw.Canvas, at vg.Point, doubt float64) {
	if text := new(compare.Legend).Mark(doubt); text != "" {
		c.FillText(smallText, at.Add(vg.Point{X: 3, Y: 3}), text)
	}
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
func linesOf(d *report.Data, v *report.View, cells []int, m int) []line {
	var out []line
	for _, k := range cells {
		c := &d.Cells[k]
		f := c.Figures[m]
		if !finite(f.Median) {
			continue
		}
		level, name := 0, d.Metrics[m].InWords()
		if v.Series != report.None {
			level = c.Design[v.Series]
			name = v.Columns[v.Series].Values[level]
		}
		at := slices.IndexFunc(out, func(l line) bool { return l.level == level })
		if at < 0 {
			at = len(out)
			out = append(out, line{level: level, name: name, claims: map[int]plotter.XYs{}})
		}
		p := point{v.Place(k), f.Median, f.CILow, f.CIHigh, f.Doubtful()}
		out[at].points = append(out[at].points, p)
		for _, b := range c.Bounds {
			if d.Claims[b.Claim].Metric != d.Metrics[m].Name {
				continue
			}
			for end, y := range []float64{b.Lo, b.Hi} {
				key := 2*b.Claim + end
				out[at].claims[key] = append(out[at].claims[key], plotter.XY{X: p.x, Y: y})
			}
		}
	}
	for _, l := range out {
		slices.SortFunc(l.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	slices.SortFunc(out, func(a, b line) int { return cmp.Compare(a.level, b.level) })
	return out
}

// apart says whether values are so far from each other that their axis is logarithmic.
func apart(low, high float64) bool { return low > 0 && high/low > spans }

// Range is the axis that shows the values from low to high: whether it is logarithmic, and its
// ends, of which the lower one is 0 unless the values lie together far above.
func Range(low, high float64) (least, most float64, log bool) {
	switch {
	case apart(low, high):
		return below(low), nice(high), true
	case low < high && low >= together*high:
		step := stepOf(low, high, func(step float64) bool { return (high-low)/step <= 5 })
		return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step, false
	case low < 0:
		return -nice(-low), nice(high), false
	}
	return 0, nice(high), false
}

// A scale is what the figures of a metric have in common.
type scale struct {
	x, y   axis
	xs     []float64
	zoomed bool // the vertical axis does not begin at 0
}

// scaleOf fits the points. Claims widen the scale by half at most: what is worst for
// an algorithm would hide what it did.
func scaleOf(lines []line, o *Options) (s scale) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			s.xs = append(s.xs, p.x)
			for _, y := range []float64{p.y, p.low, p.high} {
				if finite(y) {
					low, high = min(low, y), max(high, y)
				}
			}
		}
	}
	slices.Sort(s.xs)
	s.xs = slices.Compact(s.xs)
	yMin, yMax := ends(o)
	if s.y.log = apart(low, high) && !(yMin <= 0); !s.y.log && apart(low, high) {
		low = 0 // an axis that goes below 0 has no decades
	}
	measured := high
	for _, l := range lines {
		for _, xys := range l.claims {
			for _, xy := range xys {
				if xy.Y <= 1.5*measured {
					high = max(high, xy.Y)
				}
			}
		}
	}
	s.y.min, s.y.max, _ = Range(low, high)
	if finite(yMin) {
		s.y.min = yMin
	}
	if finite(yMax) {
		s.y.max = yMax
	}
	s.zoomed = s.y.min > 0 && !s.y.log
	return s
}

// besides is how much of the horizontal axis lies to the left of the first value, and to the
// right of the last one: the marks of all lines stand there, one beside the other.
const besides = 0.07

// fit makes the horizontal axis one of the column's values.
func (s *scale) fit(column report.Column) {
	if !column.Numeric {
		s.x.names, s.x.ticks = true, []tick{}
		s.x.min, s.x.max = s.xs[0]-0.5, s.xs[len(s.xs)-1]+0.5
		for _, at := range s.xs {
			s.x.ticks = append(s.x.ticks, tick{at: at, text: column.Values[int(at)]})
		}
		return
	}
	first, last := s.xs[0], s.xs[len(s.xs)-1]
	// Values by factors, as 1, 10 and 100, would lie on each other at the left.
	s.x.log = first > 0 && last/first >= 50
	switch {
	case s.x.log:
		pad := math.Pow(last/first, besides)
		s.x.min, s.x.max = first/pad, last*pad
	case first == last:
		pad := max(math.Abs(first)*0.1, 0.5)
		s.x.min, s.x.max = first-pad, last+pad
	default:
		pad := (last - first) * besides
		s.x.min, s.x.max = first-pad, last+pad
	}
	if len(s.xs) <= 20 {
		for _, at := range s.xs {
			s.x.ticks = append(s.x.ticks, tick{at: at, text: number(at)})
		}
	}
}

// notes tell what of the axes would mislead who overlooks it.
func (s *scale) notes() []string {
	if s.zoomed {
		return []string{"the vertical axis starts at " + number(s.y.min)}
	}
	return nil
}

// picture is one without anything in it.
func (s *scale) picture(v *report.View, m *metric.Metric) picture {
	title := m.Title()
	if s.y.log {
		title += logScale
	}
	if v.X == report.None {
		return picture{x: title}
	}
	s.x = axis{}
	s.fit(v.Columns[v.X])
	along := experiment.Title(v.Columns[v.X].Name)
	if s.x.log {
		along += logScale
	}
	return picture{x: along, y: title}
}

// fill draws the lines of each panel into a pane, and names them in the legend.
func (s *scale) fill(p *picture, v *report.View, panels []report.Panel, lines [][]line) {
	var shown []line
	claimed := false
	for i := range panels {
		pane := pane{title: panels[i].Title, x: s.x, y: s.y}
		switch {
		case v.X == report.None:
			claimed = s.beside(&pane, lines[i]) || claimed
		case !v.Columns[v.X].Numeric:
			claimed = s.over(&pane, lines[i]) || claimed
		default:
			for k := range lines[i] {
				lines[i][k].bands(&pane, s)
			}
			for k := range lines[i] {
				claimed = lines[i][k].draw(&pane, s, Shift(k, len(lines[i]))) || claimed
			}
		}
		p.panes = append(p.panes, pane)
		for _, l := range lines[i] {
			if !slices.ContainsFunc(shown, func(other line) bool { return other.level == l.level }) {
				shown = append(shown, l)
			}
		}
	}
	slices.SortFunc(shown, func(a, b line) int { return cmp.Compare(a.level, b.level) })
	if v.X == report.None { // the lines have their names beside them
		p.tall = max(40, 12*vg.Length(len(shown)))
		shown = nil
	}
	shows := lineAndMark
	if v.X != report.None && !v.Columns[v.X].Numeric {
		shows = onlyMark
	}
	p.entries(v, shown, shows)
	if claimed {
		p.legend = append(p.legend, entry{"claimed", look{color: gray, dash: dotted}, onlyLine})
	}
}

// entries names lines in the legend, under a heading unless it is plain what they are.
func (p *picture) entries(v *report.View, lines []line, shows parts) (heading string) {
	if v.Series != v.Label() && len(lines) > 0 && v.Series != report.None {
		heading = experiment.Title(v.Columns[v.Series].Name) + ":"
		p.legend = append(p.legend, entry{heading, look{}, onlyText})
	}
	for _, l := range lines {
		p.legend = append(p.legend, entry{l.name, lookOf(l.level), shows})
	}
	return heading
}

// dotted is what claims are, and no line that was measured.
var dotted = []vg.Length{0.6, 1.8}

// mostClaimed is how many lines may have their claims beside them: those of more would hide
// what was measured.
const mostClaimed = 6

// beside draws each line into a row of its own: nothing varies but the series.
func (s *scale) beside(p *pane, lines []line) (claimed bool) {
	p.x, p.y = s.y, axis{min: -0.5, max: float64(len(lines)) - 0.5, names: true, ticks: []tick{}}
	for k := range lines {
		row := float64(len(lines) - 1 - k) // the first on top
		p.y.ticks = append(p.y.ticks, tick{at: row, text: lines[k].name})
		claimed = s.marks(p, &lines[k], lines[k].points[0], row, true) || claimed
	}
	slices.Reverse(p.y.ticks)
	return claimed
}

// over draws the points of all lines over the names on the horizontal axis, beside each other.
func (s *scale) over(p *pane, lines []line) (claimed bool) {
	for k := range lines {
		for _, q := range lines[k].points {
			claimed = s.marks(p, &lines[k], q, q.x+Dodge(k, len(lines)), false) || claimed
		}
	}
	return claimed
}

// marks adds a point that stands at a place of an axis of names, and what is claimed there.
func (s *scale) marks(p *pane, l *line, q point, at float64, sideways bool) (claimed bool) {
	m := &mark{at: at, value: q.y, doubt: q.doubt, low: math.NaN(), look: lookOf(l.level), sideways: sideways}
	if finite(q.low) {
		m.low, m.high = s.inside(q.low, s.y.min), s.inside(q.high, s.y.max)
	}
	for _, key := range slices.Sorted(maps.Keys(l.claims)) {
		for _, xy := range l.claims[key] {
			if xy.X == q.x && xy.Y >= s.y.min && xy.Y <= s.y.max {
				m.claims = append(m.claims, xy.Y)
			}
		}
	}
	p.drawn = append(p.drawn, m)
	return len(m.claims) > 0
}

// inside keeps y on the axis: what no one knows the end of goes to its end.
func (s *scale) inside(y, unknown float64) float64 {
	if !finite(y) {
		y = unknown
	}
	return min(max(y, s.y.min), s.y.max)
}

// bands draws the intervals: a band where neighbours have one, a whisker elsewhere.
func (l *line) bands(p *pane, s *scale) {
	look := lookOf(l.level)
	known := func(q point) bool { return finite(q.low) }
	for i := 0; i < len(l.points); i++ {
		if !known(l.points[i]) {
			continue
		}
		var lower, upper plotter.XYs
		for ; i < len(l.points) && known(l.points[i]); i++ {
			q := l.points[i]
			lower = append(lower, plotter.XY{X: q.x, Y: s.inside(q.low, s.y.min)})
			upper = append(upper, plotter.XY{X: q.x, Y: s.inside(q.high, s.y.max)})
		}
		if len(lower) == 1 {
			p.drawn = append(p.drawn, &whisker{lower[0].X, lower[0].Y, upper[0].Y, look})
			continue
		}
		slices.Reverse(upper)
		band, err := plotter.NewPolygon(append(lower, upper...))
		if err != nil {
			continue // no point of it is infinite
		}
		band.Color, band.LineStyle.Width = look.pale(), 0
		p.drawn = append(p.drawn, band)
	}
}

// draw adds the line over what is claimed of it, and says whether something is.
func (l *line) draw(p *pane, s *scale, shift vg.Length) (claimed bool) {
	look := lookOf(l.level)
	for _, key := range slices.Sorted(maps.Keys(l.claims)) {
		xys := slices.DeleteFunc(slices.Clone(l.claims[key]),
			func(q plotter.XY) bool { return q.Y < s.y.min || q.Y > s.y.max })
		slices.SortFunc(xys, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		if len(xys) == 0 {
			continue
		}
		if len(xys) == 1 { // a stroke where there is no line
			w := 0.03 * (s.x.max - s.x.min)
			xys = plotter.XYs{{X: max(xys[0].X-w, s.x.min), Y: xys[0].Y}, {X: xys[0].X + w, Y: xys[0].Y}}
		}
		claimed = true
		p.drawn = append(p.drawn, &plotter.Line{XYs: xys, LineStyle: draw.LineStyle{Color: look.color,
			Width: 0.7, Dashes: dotted}})
	}
	t := &course{look: look, shift: shift}
	for _, q := range l.points {
		t.xys, t.doubts = append(t.xys, plotter.XY{X: q.x, Y: q.y}), append(t.doubts, q.doubt)
	}
	p.drawn = append(p.drawn, t)
	return claimed
}

// mostApart is by how much neighbours among lines are shifted against each other, at most: about
// half a mark.
const mostApart = 2.4

// A course is a line through points, with their marks. It is shifted a little, so that lines
// which lie on each other can be told apart.
type course struct {
	xys    plotter.XYs
	doubts []float64
	look   look
	shift  vg.Length
}

// Plot implements plot.Plotter.
func (l *course) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	var points []vg.Point
	for _, xy := range l.xys {
		points = append(points, vg.Point{X: tx(xy.X) + l.shift, Y: ty(xy.Y)})
	}
	c.StrokeLines(l.look.line(), c.ClipLinesXY(points)...)
	for i, at := range points {
		if c.Contains(at) {
			c.DrawGlyph(l.look.glyph(), at)
			question(c, at, l.doubts[i])
		}
	}
}

// A whisker is the interval of a point that stands alone.
type whisker struct {
	x, low, high float64
	look         look
}

// Plot implements plot.Plotter.
func (w *whisker) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	strokeInterval(c, w.look, tx(w.x), ty(w.low), ty(w.high), false)
}

// strokeInterval draws an interval with its ends at a place of the other axis.
func strokeInterval(c draw.Canvas, l look, at, low, high vg.Length, sideways bool) {
	s := draw.LineStyle{Color: l.color, Width: 0.8}
	for _, end := range [][4]vg.Length{{at, low, at, high}, {at - 2.5, low, at + 2.5, low}, {at - 2.5, high,
		at + 2.5, high}} {
		if sideways {
			end = [4]vg.Length{end[1], end[0], end[3], end[2]}
		}
		c.StrokeLine2(s, end[0], end[1], end[2], end[3])
	}
}

// A mark is a point at a place of an axis of names, with its interval and its claims.
type mark struct {
	at, value, low, high float64 // low is NaN: there is no interval
	doubt                float64 // of the point
	claims               []float64
	look                 look
	sideways             bool
}

// Plot implements plot.Plotter.
func (m *mark) Plot(c draw.Canvas, p *plot.Plot) {
	names, values := p.Transforms(&c)
	if m.sideways {
		values, names = names, values
	}
	point := func(at, v vg.Length) vg.Point {
		if m.sideways {
			at, v = v, at
		}
		return vg.Point{X: at, Y: v}
	}
	at := names(m.at)
	for _, v := range m.claims {
		s := draw.LineStyle{Color: m.look.color, Width: 0.7, Dashes: dotted}
		c.StrokeLines(s, []vg.Point{point(at-5, values(v)), point(at+5, values(v))})
	}
	if finite(m.low) {
		strokeInterval(c, m.look, at, values(m.low), values(m.high), m.sideways)
	}
	if g := point(at, values(m.value)); c.Contains(g) {
		c.DrawGlyph(m.look.glyph(), g)
		question(c, g, m.doubt)
	}
}
