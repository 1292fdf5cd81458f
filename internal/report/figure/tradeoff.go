package figure

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Tradeoff is a point of two figures of which less is better, with their intervals. An end
// that is not known is NaN.
type Tradeoff struct{ X, XLow, XHigh, Y, YLow, YHigh float64 }

// A Front is what an algorithm offers: the points of which no other is as good in both.
type Front struct {
	Name   string
	Points []Tradeoff
}

// WriteFronts draws fronts into dir in every format, with a line at the limit of X, which is
// logarithmic, and returns the names of the files. A rate X of 0 stands at the left end.
func WriteFronts(dir, name, x, y string, limit float64, fronts []Front) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p, any := frontPicture(name, x, y, limit, fronts)
	if !any {
		return nil, nil
	}
	for _, format := range formats {
		file := name + "." + format
		if err := p.save(filepath.Join(dir, file), format, 0, 0); err != nil {
			return names, fmt.Errorf("figure: %s: %w", file, err)
		}
		names = append(names, file)
	}
	return names, nil
}

func frontPicture(name, x, y string, limit float64, fronts []Front) (p picture, any bool) {
	left, right, top := limit, limit, 0.0
	for _, f := range fronts {
		for _, t := range f.Points {
			if !finite(t.X) || !finite(t.Y) {
				continue
			}
			any = true
			right, top = max(right, t.X), max(top, t.Y)
			if t.X > 0 {
				left = min(left, t.X)
			}
			if finite(t.YHigh) {
				top = max(top, t.YHigh)
			}
		}
	}
	if !any {
		return p, false
	}
	first, last := math.Floor(math.Log10(left))-1, math.Ceil(math.Log10(right)+0.05)
	pane := pane{x: axis{min: math.Pow(10, first), max: math.Pow(10, last), log: true},
		y: axis{min: 0, max: nice(top)}}
	border := look{color: gray, dash: dotted}
	pane.drawn = append(pane.drawn, &plotter.Line{LineStyle: border.line(),
		XYs: plotter.XYs{{X: limit, Y: 0}, {X: limit, Y: pane.y.max}}})
	p = picture{name: name, x: x + logScale, y: y}
	for i, f := range fronts {
		drawFront(&pane, lookOf(i), f)
		p.legend = append(p.legend, entry{f.Name, lookOf(i), lineAndMark})
	}
	p.legend = append(p.legend, entry{"budget", border, onlyLine})
	p.panes = append(p.panes, pane)
	return p, true
}

// drawFront adds the line of a front, with the intervals of its points.
func drawFront(p *pane, look look, f Front) {
	points := slices.DeleteFunc(slices.Clone(f.Points), func(t Tradeoff) bool {
		return !finite(t.X) || !finite(t.Y)
	})
	if len(points) == 0 {
		return
	}
	slices.SortFunc(points, func(a, b Tradeoff) int { return cmp.Compare(a.X, b.X) })
	var xys plotter.XYs
	for _, t := range points {
		x := max(t.X, p.x.min)
		xys = append(xys, plotter.XY{X: x, Y: t.Y})
		if finite(t.YLow) && finite(t.YHigh) {
			p.drawn = append(p.drawn, &whisker{x, max(t.YLow, 0), min(t.YHigh, p.y.max), look})
		}
		low, high := max(t.XLow, p.x.min), min(t.XHigh, p.x.max)
		if finite(low) && finite(high) {
			p.drawn = append(p.drawn, &plotter.Line{XYs: plotter.XYs{{X: low, Y: t.Y}, {X: high, Y: t.Y}},
				LineStyle: draw.LineStyle{Color: look.color, Width: vg.Length(0.6)}})
		}
	}
	p.drawn = append(p.drawn, &plotter.Line{XYs: xys, LineStyle: look.line()},
		&plotter.Scatter{XYs: xys, GlyphStyle: look.glyph()})
}
