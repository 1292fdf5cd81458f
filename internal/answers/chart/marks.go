package chart

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Mark is the shape of the points of a line. All are areas: filled they tell lines apart, and hollow
// they are kept for points that a reader has to doubt.
type Mark struct {
	tex     string     // what TikZ calls it
	turn    int        // degrees by which TikZ turns it, counter-clockwise
	corners []vg.Point // from its middle; nil: those of the circle of radius 1, which is as large
}

var marks = []Mark{
	{tex: "*"},
	{tex: "square*", corners: []vg.Point{{X: -0.92, Y: 0.92}, {X: 0.92, Y: 0.92}, {X: 0.92, Y: -0.92},
		{X: -0.92, Y: -0.92}}},
	{tex: "triangle*", corners: polygon(3, 90)},
	{tex: "diamond*", corners: polygon(4, 90)},
	{tex: "triangle*", turn: 180, corners: polygon(3, 270)},
	{tex: "triangle*", turn: 270, corners: polygon(3, 0)},
	{tex: "triangle*", turn: 90, corners: polygon(3, 180)},
	{tex: "pentagon*", corners: polygon(5, 90)},
}

// polygon is a regular one with a corner at an angle in degrees, about as large as the circle of radius 1.
func polygon(corners int, first float64) (out []vg.Point) {
	radius := map[int]float64{3: 1.35, 4: 1.3, 5: 1.15}[corners]
	for i := range corners {
		sin, cos := math.Sincos((first + float64(360*i)/float64(corners)) * math.Pi / 180)
		// Rounded, so that files do not depend on the machine.
		out = append(out, vg.Point{X: vg.Length(math.Round(1000*float64(radius*cos)) / 1000),
			Y: vg.Length(math.Round(1000*float64(radius*sin)) / 1000)})
	}
	return out
}

// onPage is the radius of the circle on a page, in pixels.
const onPage = 3.5

// path is the mark as a path of SVG from its middle, in pixels.
func (m *Mark) path() string {
	if m.corners == nil {
		const circle = "m-%[1]g 0a%[1]g %[1]g 0 1 0 %[2]g 0a%[1]g %[1]g 0 1 0 -%[2]g 0z"
		return fmt.Sprintf(circle, onPage, 2*onPage)
	}
	var b strings.Builder
	var last vg.Point
	for i, corner := range m.corners {
		step := corner.Sub(last)
		fmt.Fprintf(&b, "%c%.2f %.2f", "ml"[min(i, 1)], float64(step.X*onPage), float64(-step.Y*onPage))
		last = corner
	}
	return b.String() + "z"
}

// turned is an option of TikZ.
func (m *Mark) turned() string {
	if m.turn == 0 {
		return ""
	}
	return fmt.Sprintf(", rotate=%d", m.turn)
}

// A glyph draws a mark.
type glyph struct {
	*Mark
	hollow bool
}

// DrawGlyph implements draw.GlyphDrawer.
func (g glyph) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	if g.Mark == nil {
		return
	}
	var p vg.Path
	if g.corners == nil {
		p.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
		p.Arc(at, style.Radius, 0, 2*math.Pi)
	}
	for i, corner := range g.corners {
		to := at.Add(corner.Scale(style.Radius))
		if i == 0 {
			p.Move(to)
		} else {
			p.Line(to)
		}
	}
	p.Close()
	if !g.hollow {
		c.Fill(p)
		return
	}
	c.SetColor(white)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: hollowLine})
	c.Stroke(p)
}

// hollowLine is how wide the outline of a hollow mark is.
const hollowLine = 0.8
