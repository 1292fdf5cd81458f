package figure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/conclave-bench/conclave/internal/answers/chart"
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
	p, any := frontPicture(name, x, y, limit, fronts)
	if !any {
		return nil, nil
	}
	return chart.Write(dir, []chart.Chart{p}, 0, 0)
}

// DrawFronts is the picture that WriteFronts draws, as SVG; nil if there is nothing to draw.
func DrawFronts(name, x, y string, limit float64, fronts []Front) ([]byte, error) {
	p, any := frontPicture(name, x, y, limit, fronts)
	if !any {
		return nil, nil
	}
	return p.Render("svg", 0, 0)
}

func frontPicture(name, x, y string, limit float64, fronts []Front) (p chart.Chart, any bool) {
	left, right, top := limit, limit, 0.0
	for _, f := range fronts {
		for _, t := range f.Points {
			if !chart.Finite(t.X) || !chart.Finite(t.Y) {
				continue
			}
			any = true
			right, top = max(right, t.X), max(top, t.Y)
			if t.X > 0 {
				left = min(left, t.X)
			}
			if chart.Finite(t.YHigh) {
				top = max(top, t.YHigh)
			}
		}
	}
	if !any {
		return p, false
	}
	first, last := math.Floor(math.Log10(left))-1, math.Ceil(math.Log10(right)+0.05)
	border := chart.Look{Color: chart.Gray, Dash: chart.Dotted}
	p = chart.Chart{Name: name, X: x + chart.LogScale, Y: y}
	var entries [][]chart.Entry
	level := 0
	parts, names := chart.Parted(fronts)
	for i, part := range parts {
		pane := chart.Pane{Title: names[i], X: chart.Axis{Min: math.Pow(10, first), Max: math.Pow(10, last),
			Log: true}, Y: chart.Axis{Min: 0, Max: chart.Nice(top)}}
		pane.Drawn = append(pane.Drawn, &plotter.Line{LineStyle: border.Line(),
			XYs: plotter.XYs{{X: limit, Y: 0}, {X: limit, Y: pane.Y.Max}}})
		entries = append(entries, nil)
		for _, f := range part {
			drawFront(&pane, chart.LookOf(level), f)
			entries[i] = append(entries[i], chart.Entry{Text: f.Name, Look: chart.LookOf(level)})
			level++
		}
		p.Panes = append(p.Panes, pane)
	}
	p.AddParts(names, entries, chart.Entry{Text: "budget", Look: border, Shows: chart.OnlyLine})
	return p, true
}

// drawFront adds the line of a front, with the intervals of its points.
func drawFront(p *chart.Pane, look chart.Look, f Front) {
	points := slices.DeleteFunc(slices.Clone(f.Points), func(t Tradeoff) bool {
		return !chart.Finite(t.X) || !chart.Finite(t.Y)
	})
	if len(points) == 0 {
		return
	}
	slices.SortFunc(points, func(a, b Tradeoff) int { return cmp.Compare(a.X, b.X) })
	var xys plotter.XYs
	for _, t := range points {
		x := max(t.X, p.X.Min)
		xys = append(xys, plotter.XY{X: x, Y: t.Y})
		if chart.Finite(t.YLow) && chart.Finite(t.YHigh) {
			p.Drawn = append(p.Drawn, &chart.Whisker{X: x, Look: look, Low: max(t.YLow, 0),
				High: min(t.YHigh, p.Y.Max)})
		}
		low, high := max(t.XLow, p.X.Min), min(t.XHigh, p.X.Max)
		if chart.Finite(low) && chart.Finite(high) {
			p.Drawn = append(p.Drawn, &plotter.Line{XYs: plotter.XYs{{X: low, Y: t.Y}, {X: high, Y: t.Y}},
				LineStyle: draw.LineStyle{Color: look.Color, Width: vg.Length(0.6)}})
		}
	}
	p.Drawn = append(p.Drawn, &plotter.Line{XYs: xys, LineStyle: look.Line()},
		&plotter.Scatter{XYs: xys, GlyphStyle: look.Glyph(false)})
}
