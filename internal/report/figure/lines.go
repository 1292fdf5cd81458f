package figure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// spans is how far apart values must be for an axis in decades: beyond it, the small
// ones cannot be read on a linear one.
const spans = 300

// A point is a cell's median, and its interval where it has one.
type point struct{ x, y, low, high float64 }

// A line is a label's points, ascending, and what it claims.
type line struct {
	label  int
	name   string
	points []point
	claims map[int]plotter.XYs // by claim and end
}

// lineFigures draw a metric against a column: one figure for each panel, all with the
// same scale.
func lineFigures(d *report.Data, metric, x int) (out []picture) {
	m := d.Metrics[metric]
	along, file := "algorithm", m.Name
	if x != none {
		along, file = d.Columns[x].Name, m.Name+"-"+d.Columns[x].Name
	}
	list := panels(d, x)
	all := make([][]line, len(list))
	var every []line
	for i, p := range list {
		all[i] = linesOf(d, p.cells, metric, x)
		every = append(every, all[i]...)
	}
	s, any := scaleOf(every)
	if !any {
		return nil
	}
	for i, p := range list {
		if len(all[i]) == 0 {
			continue
		}
		plot := newPlot(along, titled(m))
		s.apply(plot)
		if x == none {
			names := make([]string, len(all[i]))
			for k := range all[i] {
				names[k] = all[i][k].name
				for j := range all[i][k].points {
					all[i][k].points[j].x = float64(k)
				}
				for _, xys := range all[i][k].claims {
					for j := range xys {
						xys[j].X = float64(k)
					}
				}
			}
			nominal(plot, names)
		}
		var entries []entry
		for k := range all[i] {
			all[i][k].bands(plot, &s)
		}
		claimed := false
		for k := range all[i] {
			claimed = all[i][k].draw(plot, &s) || claimed
			entries = append(entries, entry{all[i][k].name, lookOf(all[i][k].label), lineAndMark})
		}
		if claimed {
			entries = append(entries, entry{"claimed", look{color: gray, dash: dotted}, onlyLine})
		}
		out = append(out, picture{file + p.name, height, entries, plot})
	}
	return out
}

// titled is a metric with its unit, unless its name says that already.
func titled(m *metric.Metric) string {
	if m.Unit == metric.OfMessages || m.Unit == metric.Bytes {
		return m.Name
	}
	return m.Name + " (" + string(m.Unit) + ")"
}

var dotted = []vg.Length{0.8, 1.6}

// nominal makes the axis one of names, upright where they would overlap.
func nominal(p *plot.Plot, names []string) {
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	p.X.Tick.Label = style(7, p.X.Tick.Label)
	if len(names) > 3 {
		p.X.Tick.Label.Rotation = math.Pi / 3
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

func linesOf(d *report.Data, cells []*report.Cell, metric, x int) []line {
	label := column(d, "label")
	var out []line
	for _, c := range cells {
		f := c.Figures[metric]
		if !finite(f.Median) {
			continue
		}
		at := slices.IndexFunc(out, func(l line) bool { return l.label == c.Design[label] })
		if at < 0 {
			at = len(out)
			out = append(out, line{label: c.Design[label], name: c.Label, claims: map[int]plotter.XYs{}})
		}
		p := point{0, f.Median, f.CILow, f.CIHigh}
		if x != none {
			p.x, _ = strconv.ParseFloat(d.Columns[x].Values[c.Design[x]], 64) // the column is one of numbers
		}
		out[at].points = append(out[at].points, p)
		for _, b := range c.Bounds {
			if d.Claims[b.Claim].Metric != d.Metrics[metric].Name {
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
	slices.SortFunc(out, func(a, b line) int { return cmp.Compare(a.label, b.label) })
	return out
}

// A scale is what the figures of a metric have in common.
type scale struct {
	log                      bool
	left, right, bottom, top float64
	xs                       []float64
}

// scaleOf fits the points. Claims widen the scale by half at most: what is worst for
// an algorithm would hide what it did.
func scaleOf(lines []line) (s scale, any bool) {
	s = scale{left: math.Inf(1), right: math.Inf(-1), bottom: math.Inf(1), top: math.Inf(-1)}
	for _, l := range lines {
		for _, p := range l.points {
			any = true
			s.xs = append(s.xs, p.x)
			s.left, s.right = min(s.left, p.x), max(s.right, p.x)
			for _, y := range []float64{p.y, p.low, p.high} {
				if finite(y) {
					s.bottom, s.top = min(s.bottom, y), max(s.top, y)
				}
			}
		}
	}
	slices.Sort(s.xs)
	s.xs = slices.Compact(s.xs)
	s.log = s.bottom > 0 && s.top/s.bottom > spans
	measured := s.top
	for _, l := range lines {
		for _, xys := range l.claims {
			for _, xy := range xys {
				if xy.Y <= 1.5*measured {
					s.top = max(s.top, xy.Y)
				}
			}
		}
	}
	if s.log {
		s.bottom, s.top = math.Pow(10, math.Floor(math.Log10(s.bottom))), math.Pow(10,
			math.Ceil(math.Log10(s.top)))
	} else {
		s.bottom, s.top = 0, nice(s.top)
	}
	pad := (s.right - s.left) * 0.04
	if pad == 0 {
		pad = max(math.Abs(s.left)*0.1, 0.5)
	}
	s.left, s.right = s.left-pad, s.right+pad
	return s, any
}

func (s *scale) apply(p *plot.Plot) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = s.left, s.right, s.bottom, s.top
	if len(s.xs) <= 12 {
		p.X.Tick.Marker = placed(s.xs, s.left, s.right)
	}
	if s.log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		p.Y.Label.Text += ", log"
	}
	addGrid(p)
}

// inside keeps y on the axis: what no one knows the end of goes to its end.
func (s *scale) inside(y, unknown float64) float64 {
	if !finite(y) {
		y = unknown
	}
	return min(max(y, s.bottom), s.top)
}

// bands draws the intervals: a band where neighbours have one, a whisker elsewhere.
func (l *line) bands(p *plot.Plot, s *scale) {
	look := lookOf(l.label)
	known := func(q point) bool { return finite(q.low) }
	for i := 0; i < len(l.points); i++ {
		if !known(l.points[i]) {
			continue
		}
		var lower, upper plotter.XYs
		for ; i < len(l.points) && known(l.points[i]); i++ {
			q := l.points[i]
			lower = append(lower, plotter.XY{X: q.x, Y: s.inside(q.low, s.bottom)})
			upper = append(upper, plotter.XY{X: q.x, Y: s.inside(q.high, s.top)})
		}
		if len(lower) == 1 {
			p.Add(&whisker{lower[0].X, lower[0].Y, upper[0].Y, look})
			continue
		}
		slices.Reverse(upper)
		band, err := plotter.NewPolygon(append(lower, upper...))
		if err != nil {
			continue // no point of it is infinite
		}
		band.Color, band.LineStyle.Width = look.pale(), 0
		p.Add(band)
	}
}

// draw adds the line over what is claimed of it, and says whether something is.
func (l *line) draw(p *plot.Plot, s *scale) (claimed bool) {
	look := lookOf(l.label)
	for _, key := range slices.Sorted(maps.Keys(l.claims)) {
		xys := slices.DeleteFunc(slices.Clone(l.claims[key]),
			func(q plotter.XY) bool { return q.Y < s.bottom || q.Y > s.top })
		slices.SortFunc(xys, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		if len(xys) == 0 {
			continue
		}
		if len(xys) == 1 { // a stroke where there is no line
			w := 0.03 * (s.right - s.left)
			xys = plotter.XYs{{X: xys[0].X - w, Y: xys[0].Y}, {X: xys[0].X + w, Y: xys[0].Y}}
		}
		claimed = true
		p.Add(&plotter.Line{XYs: xys, LineStyle: draw.LineStyle{Color: look.color, Width: 0.8,
			Dashes: dotted}})
	}
	xys := make(plotter.XYs, len(l.points))
	for i, q := range l.points {
		xys[i] = plotter.XY{X: q.x, Y: s.inside(q.y, s.top)}
	}
	p.Add(&plotter.Line{XYs: xys, LineStyle: look.line()},
		&plotter.Scatter{XYs: xys, GlyphStyle: look.glyph()})
	return claimed
}

// A whisker is the interval of a point that stands alone.
type whisker struct {
	x, low, high float64
	look         look
}

// Plot implements plot.Plotter.
func (w *whisker) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	x, low, high := tx(w.x), ty(w.low), ty(w.high)
	s := draw.LineStyle{Color: w.look.color, Width: 0.8}
	c.StrokeLine2(s, x, low, x, high)
	c.StrokeLine2(s, x-2.5, low, x+2.5, low)
	c.StrokeLine2(s, x-2.5, high, x+2.5, high)
}
