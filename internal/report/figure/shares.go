package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/conclave-bench/conclave/internal/report"
)

// spreadFigures draw the distribution of single operations, and its tail, for each
// panel of cells that differ in the label alone.
func spreadFigures(d *report.Data) (out []picture) {
	label := column(d, "label")
	for _, p := range panels(d, none) {
		var metrics []string
		for _, c := range p.cells {
			for _, s := range c.Spreads {
				if len(s.Values) > 0 && !slices.Contains(metrics, s.Metric) {
					metrics = append(metrics, s.Metric)
				}
			}
		}
		for _, metric := range metrics {
			ecdf := newPlot(metric+" (ms), log", "operations (share)")
			tail := newPlot("percentile, reversed log", metric+" (ms)")
			var entries []entry
			box := bounds{math.Inf(1), math.Inf(-1), 10}
			for _, c := range p.cells {
				for _, s := range c.Spreads {
					if s.Metric != metric || len(s.Values) == 0 {
						continue
					}
					look := lookOf(c.Design[label])
					entries = append(entries, entry{c.Label, look, onlyLine})
					box.add(&s, look, ecdf, tail)
				}
			}
			if !finite(box.low) {
				continue // nothing above 0
			}
			box.apply(ecdf, tail)
			out = append(out, picture{"ecdf-" + metric + p.name, height, entries, ecdf},
				picture{"tail-" + metric + p.name, height, entries, tail})
		}
	}
	return out
}

// bounds are the extent of distributions: of their values above 0, and of their size.
type bounds struct{ low, high, size float64 }

// add draws a distribution into both plots. It goes up in steps; an axis in decades has
// no place for 0.
func (b *bounds) add(s *report.Spread, l look, ecdf, tail *plot.Plot) {
	var steps, slow plotter.XYs
	n, last := float64(s.N), 0.0
	for i, v := range s.Values {
		slow = append(slow, plotter.XY{X: 1 / s.Still(i), Y: v})
		if v > 0 {
			b.low = min(b.low, v)
			steps = append(steps, plotter.XY{X: v, Y: last}, plotter.XY{X: v, Y: s.At(i)})
		}
		b.high = max(b.high, v)
		last = s.At(i)
	}
	b.size = max(b.size, n)
	ecdf.Add(&plotter.Line{XYs: steps, LineStyle: l.line()})
	tail.Add(&plotter.Line{XYs: slow, LineStyle: l.line()})
}

func (b *bounds) apply(ecdf, tail *plot.Plot) {
	ecdf.X.Scale, ecdf.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	ecdf.X.Min, ecdf.X.Max = b.low/1.1, b.high*1.1
	if b.high/b.low < 20 { // hardly a decade: round values instead
		s := plot.DefaultTicks{}.Ticks(ecdf.X.Min, ecdf.X.Max) // which are apart though all values be equal
		s = slices.DeleteFunc(s, func(t plot.Tick) bool { return t.Value <= 0 })
		ecdf.X.Tick.Marker = plot.ConstantTicks(s)
	}
	ecdf.Y.Min, ecdf.Y.Max = 0, 1
	tail.X.Scale = plot.LogScale{}
	tail.X.Min, tail.X.Max = 1, math.Pow(10, math.Ceil(math.Log10(b.size)))
	var ticks plot.ConstantTicks
	for k := 1.0; k <= tail.X.Max; k *= 10 {
		ticks = append(ticks, plot.Tick{Value: k, Label: number(100 - 100/k)})
	}
	tail.X.Tick.Marker = ticks
	tail.Y.Min, tail.Y.Max = 0, nice(b.high)
}

// kindFigures draw what a trial sends, by kind: a bar for each label.
func kindFigures(d *report.Data) (out []picture) {
	for _, p := range panels(d, none) {
		b := &bars{data: d}
		var names []string
		most := 0.0
		for i := len(p.cells) - 1; i >= 0; i-- { // the first on top
			c, sum := p.cells[i], 0.0
			if len(c.Kinds) == 0 {
				continue
			}
			for _, k := range c.Kinds {
				sum += k.Sent
			}
			most = max(most, sum)
			names, b.cells = append(names, c.Label), append(b.cells, c)
		}
		if len(b.cells) == 0 || most == 0 {
			continue
		}
		plot := newPlot("messages sent in a trial, mean", "")
		plot.Add(b)
		plot.NominalY(names...)
		plot.Y.Tick.Label = style(7, plot.Y.Tick.Label)
		plot.X.Min, plot.X.Max = 0, nice(most)
		plot.Y.Min, plot.Y.Max = -0.6, float64(len(names))-0.4
		tall := 0.55*vg.Inch + vg.Length(len(names))*0.2*vg.Inch
		out = append(out, picture{"kinds" + p.name, tall, nil, plot})
	}
	return out
}

// bars are stacked: a part for each kind, with its name where there is room.
type bars struct {
	data  *report.Data
	cells []*report.Cell
}

// Plot implements plot.Plotter.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	s := text.Style{Font: sans(6), Handler: plot.DefaultTextHandler, XAlign: text.XCenter,
		YAlign: text.YCenter}
	for i, cell := range b.cells {
		from := 0.0
		y, half := ty(float64(i)), min(ty(0.38)-ty(0), 6)
		for k, kind := range cell.Kinds {
			x1, x2 := tx(from), tx(from+kind.Sent)
			from += kind.Sent
			corners := []vg.Point{{X: x1, Y: y - half}, {X: x2, Y: y - half}, {X: x2, Y: y + half}, {X: x1,
				Y: y + half}}
			fill := palette[k%len(palette)]
			c.FillPolygon(fill, corners)
			c.StrokeLines(draw.LineStyle{Color: white, Width: 0.5}, append(corners, corners[0]))
			name := b.data.Kinds[kind.Kind]
			if s.Width(name)+3 > x2-x1 {
				continue
			}
			s.Color = color.White
			if k%len(palette) >= 3 && k%len(palette) <= 5 { // the light ones
				s.Color = color.Black
			}
			c.FillText(s, vg.Point{X: (x1 + x2) / 2, Y: y}, name)
		}
	}
}
