package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars lie across, from the lowest: each is stacked of parts, which have their names in them where
// there is room.
type Bars [][]Part

// A Part is a part of a bar.
type Part struct {
	Name string
	Size float64
}

// Plot implements plot.Plotter.
func (b Bars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	s := sized(6)
	s.XAlign, s.YAlign = text.XCenter, text.YCenter
	for i, parts := range b {
		from := 0.0
		y, half := ty(float64(i)), min(ty(0.38)-ty(0), 6)
		for k, part := range parts {
			x1, x2 := tx(from), tx(from+part.Size)
			from += part.Size
			corners := []vg.Point{{X: x1, Y: y - half}, {X: x2, Y: y - half}, {X: x2, Y: y + half}, {X: x1,
				Y: y + half}}
			fill := palette[k%len(palette)]
			c.FillPolygon(fill, corners)
			c.StrokeLines(draw.LineStyle{Color: white, Width: 0.5}, append(corners, corners[0]))
			if s.Width(part.Name)+3 > x2-x1 {
				continue
			}
			s.Color = color.White
			if k%len(palette) >= 3 && k%len(palette) <= 5 { // the light ones
				s.Color = color.Black
			}
			c.FillText(s, vg.Point{X: (x1 + x2) / 2, Y: y}, part.Name)
		}
	}
}
