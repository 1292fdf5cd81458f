package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// MostLines is how many lines a pane has at most: of more nobody follows one.
const MostLines = 6

// Parted are lines in as many parts as it takes, about as long as each other, for a pane each, and what
// each is called, as "1 of 3"; "" if one pane has all.
func Parted[T any](lines []T) (parts [][]T, names []string) {
	n := max(1, (len(lines)+MostLines-1)/MostLines)
	for i := range n {
		parts, names = append(parts, lines[i*len(lines)/n:(i+1)*len(lines)/n]), append(names, "")
		if n > 1 {
			names[i] = fmt.Sprintf("%d of %d", i+1, n)
		}
	}
	return parts, names
}

// A Point is a value, and its interval where it has one: else Low is NaN. An end that is not known
// is infinite.
type Point struct {
	X, Y, Low, High float64
	Doubt           float64 // what clocks can be wrong by, if that is more than Y; else 0
	Mark            string  // beside it; "": none
	Hollow          bool    // its mark is, and a note says why
	Cell            int     // whose it is
}

// A Line is the points of an algorithm, or of another series, ascending, and what it claims.
type Line struct {
	Level  int // of its column; its look follows from it
	Name   string
	File   string // of its table, without the ending, where a format has one
	Points []Point
	Claims map[int]plotter.XYs // by claim and end
}

// A Scale is what charts of one quantity have in common.
type Scale struct {
	X, Y   Axis
	xs     []float64
	zoomed bool // the vertical axis does not begin at 0
	// Sideways charts have a row for each line: nothing varies but the series.
	Sideways bool
}

// ScaleOf fits the points, with the ends of the vertical axis that someone asks for; nil: as the
// values want them. Claims widen the scale by half at most: what is worst for an algorithm would
// hide what it did.
func ScaleOf(lines []Line, yMin, yMax *float64) (s Scale) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.Points {
			s.xs = append(s.xs, p.X)
			for _, y := range []float64{p.Y, p.Low, p.High} {
				if Finite(y) {
					low, high = min(low, y), max(high, y)
				}
			}
		}
	}
	slices.Sort(s.xs)
	s.xs = slices.Compact(s.xs)
	if s.Y.Log = apart(low, high) && !(yMin != nil && *yMin <= 0); !s.Y.Log && apart(low, high) {
		low = 0 // an axis that goes below 0 has no decades
	}
	measured := high
	for _, l := range lines {
		for _, xys := range l.Claims {
			for _, xy := range xys {
				if xy.Y <= 1.5*measured {
					high = max(high, xy.Y)
				}
			}
		}
	}
	s.Y.Min, s.Y.Max = ends(low, high)
	if yMin != nil {
		s.Y.Min = *yMin
	}
	if yMax != nil {
		s.Y.Max = *yMax
	}
	s.zoomed = s.Y.Min > 0 && !s.Y.Log
	return s
}

// besides is how much of the horizontal axis lies to the left of the first value, and to the
// right of the last one: their marks are not cut off.
const besides = 0.07

// Along makes the horizontal axis one of the points' values, or of names, of which they are the
// numbers.
func (s *Scale) Along(names []string) {
	s.X = Axis{}
	first, last := s.xs[0], s.xs[len(s.xs)-1]
	if names != nil {
		s.X.Names, s.X.Ticks = true, []Tick{}
		s.X.Min, s.X.Max = first-0.5, last+0.5
		for _, at := range s.xs {
			s.X.Ticks = append(s.X.Ticks, Tick{At: at, Text: names[int(at)]})
		}
		return
	}
	// Values by factors, as 1, 10 and 100, would lie on each other at the left.
	s.X.Log = first > 0 && last/first >= 50
	switch {
	case s.X.Log:
		pad := math.Pow(last/first, besides)
		s.X.Min, s.X.Max = first/pad, last*pad
	case first == last:
		pad := max(math.Abs(first)*0.1, 0.5)
		s.X.Min, s.X.Max = first-pad, last+pad
	default:
		pad := (last - first) * besides
		s.X.Min, s.X.Max = first-pad, last+pad
	}
	if len(s.xs) <= 20 {
		for _, at := range s.xs {
			s.X.Ticks = append(s.X.Ticks, Tick{At: at, Text: Number(at)})
		}
	}
}

// Notes tell what of the axes would mislead a reader who overlooks it.
func (s *Scale) Notes() []string {
	if s.zoomed {
		return []string{"the vertical axis starts at " + Number(s.Y.Min)}
	}
	return nil
}

// Add draws lines into a pane of their own, and says whether something is claimed there. Part is which
// of the lines these are, as "1 of 3", where one pane has no room for all.
func (c *Chart) Add(s *Scale, title, part string, lines []Line) (claimed bool) {
	title = strings.Trim(title+", "+part, ", ")
	p := Pane{Title: title, part: part, X: s.X, Y: s.Y, Lines: lines}
	switch {
	case s.Sideways:
		p.X, p.Y = s.Y, Axis{Min: -0.5, Max: float64(len(lines)) - 0.5, Names: true, Ticks: []Tick{}}
		for k := range lines {
			row := float64(len(lines) - 1 - k) // the first on top
			p.Y.Ticks = append(p.Y.Ticks, Tick{At: row, Text: lines[k].Name})
			claimed = s.mark(&p, &lines[k], lines[k].Points[0], row) || claimed
		}
		slices.Reverse(p.Y.Ticks)
	case s.X.Names:
		for k := range lines {
			for _, q := range lines[k].Points {
				claimed = s.mark(&p, &lines[k], q, q.X+Dodge(k, len(lines))) || claimed
			}
		}
	default:
		for k := range lines {
			lines[k].bands(&p, s)
		}
		for k := range lines {
			claimed = lines[k].draw(&p, s) || claimed
		}
	}
	c.Panes = append(c.Panes, p)
	return claimed
}

// PartOf is the part of the lines in which that of a level stands; "" where each pane has all.
func (c *Chart) PartOf(level int) string {
	for _, p := range c.Panes {
		if slices.ContainsFunc(p.Lines, func(l Line) bool { return l.Level == level }) {
			return p.part
		}
	}
	return ""
}

// Shown are the lines of all panes, each once.
func (c *Chart) Shown() (out []Line) {
	for _, p := range c.Panes {
		for _, l := range p.Lines {
			if !slices.ContainsFunc(out, func(other Line) bool { return other.Level == l.Level }) {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b Line) int { return cmp.Compare(a.Level, b.Level) })
	return out
}

// Dodge is by how much the k-th of n lines is drawn beside its place on an axis of names, on which
// beside means nothing. On an axis of numbers each mark stands at its value.
func Dodge(k, n int) float64 {
	if n < 2 {
		return 0
	}
	return 0.6 * (float64(k)/float64(n-1) - 0.5)
}

// mark adds a point that stands at a place of an axis of names, and what is claimed there.
func (s *Scale) mark(p *Pane, l *Line, q Point, at float64) (claimed bool) {
	c := &course{points: []Point{q}, look: LookOf(l.Level), alone: true, sideways: s.Sideways}
	c.points[0].X = at
	if Finite(q.Low) {
		c.points[0].Low, c.points[0].High = s.inside(q.Low, s.Y.Min), s.inside(q.High, s.Y.Max)
	}
	for _, key := range slices.Sorted(maps.Keys(l.Claims)) {
		for _, xy := range l.Claims[key] {
			if xy.X == q.X && xy.Y >= s.Y.Min && xy.Y <= s.Y.Max {
				c.claims = append(c.claims, xy.Y)
			}
		}
	}
	p.Drawn = append(p.Drawn, c)
	return len(c.claims) > 0
}

// inside keeps y on the axis: an end that is not known goes to the end of the axis.
func (s *Scale) inside(y, unknown float64) float64 {
	if !Finite(y) {
		y = unknown
	}
	return min(max(y, s.Y.Min), s.Y.Max)
}

// bands draws the intervals: a band where neighbours have one, a whisker elsewhere.
func (l *Line) bands(p *Pane, s *Scale) {
	look := LookOf(l.Level)
	for i := 0; i < len(l.Points); i++ {
		var lower, upper plotter.XYs
		for ; i < len(l.Points) && Finite(l.Points[i].Low); i++ {
			q := l.Points[i]
			lower = append(lower, plotter.XY{X: q.X, Y: s.inside(q.Low, s.Y.Min)})
			upper = append(upper, plotter.XY{X: q.X, Y: s.inside(q.High, s.Y.Max)})
		}
		switch len(lower) {
		case 0:
			continue
		case 1:
			p.Drawn = append(p.Drawn, &Whisker{lower[0].X, lower[0].Y, upper[0].Y, look})
			continue
		}
		slices.Reverse(upper)
		band, err := plotter.NewPolygon(append(lower, upper...))
		if err != nil {
			continue // no point of it is infinite
		}
		band.Color, band.LineStyle.Width = look.pale(), 0
		p.Drawn = append(p.Drawn, band)
	}
}

// draw adds the line over what is claimed of it, and says whether something is.
func (l *Line) draw(p *Pane, s *Scale) (claimed bool) {
	look := LookOf(l.Level)
	for _, key := range slices.Sorted(maps.Keys(l.Claims)) {
		xys := slices.DeleteFunc(slices.Clone(l.Claims[key]),
			func(q plotter.XY) bool { return q.Y < s.Y.Min || q.Y > s.Y.Max })
		slices.SortFunc(xys, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		if len(xys) == 0 {
			continue
		}
		if len(xys) == 1 { // a stroke where there is no line
			w := 0.03 * (s.X.Max - s.X.Min)
			xys = plotter.XYs{{X: max(xys[0].X-w, s.X.Min), Y: xys[0].Y}, {X: xys[0].X + w, Y: xys[0].Y}}
		}
		claimed = true
		p.Drawn = append(p.Drawn, &plotter.Line{XYs: xys, LineStyle: look.claim()})
	}
	p.Drawn = append(p.Drawn, &course{points: l.Points, look: look})
	return claimed
}

// A course is a line through points, with their marks; or points that stand alone on an axis
// of names, each with its interval and with what is claimed there.
type course struct {
	points          []Point
	claims          []float64
	look            Look
	alone, sideways bool
}

// Plot implements plot.Plotter.
func (l *course) Plot(c draw.Canvas, p *plot.Plot) {
	along, values := p.Transforms(&c)
	point := func(x, y vg.Length) vg.Point { return vg.Point{X: x, Y: y} }
	if l.sideways {
		along, values = values, along
		point = func(x, y vg.Length) vg.Point { return vg.Point{X: y, Y: x} }
	}
	var at []vg.Point
	for _, q := range l.points {
		x := along(q.X)
		for _, v := range l.claims {
			c.StrokeLines(l.look.claim(), []vg.Point{point(x-5, values(v)), point(x+5, values(v))})
		}
		if l.alone && Finite(q.Low) {
			strokeInterval(c, l.look, x, values(q.Low), values(q.High), l.sideways)
		}
		at = append(at, point(x, values(q.Y)))
	}
	if !l.alone {
		c.StrokeLines(l.look.Line(), c.ClipLinesXY(at)...)
	}
	for i, q := range l.points {
		q.draw(c, at[i], l.look)
	}
}

// draw draws the mark of a point and its label.
func (q *Point) draw(c draw.Canvas, at vg.Point, look Look) {
	if !c.Contains(at) {
		return
	}
	c.DrawGlyph(look.Glyph(q.Hollow), at)
	if q.Mark != "" {
		c.FillText(smallText, at.Add(vg.Point{X: 3, Y: 3}), q.Mark)
	}
}

// A Whisker is the interval of a point that stands alone.
type Whisker struct {
	X, Low, High float64
	Look         Look
}

// Plot implements plot.Plotter.
func (w *Whisker) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	strokeInterval(c, w.Look, tx(w.X), ty(w.Low), ty(w.High), false)
}

// strokeInterval draws an interval with its ends at a place of the other axis.
func strokeInterval(c draw.Canvas, l Look, at, low, high vg.Length, sideways bool) {
	s := draw.LineStyle{Color: l.Color, Width: 0.8}
	for _, end := range [][4]vg.Length{{at, low, at, high}, {at - 2.5, low, at + 2.5, low}, {at - 2.5, high,
		at + 2.5, high}} {
		if sideways {
			end = [4]vg.Length{end[1], end[0], end[3], end[2]}
		}
		c.StrokeLine2(s, end[0], end[1], end[2], end[3])
	}
}
