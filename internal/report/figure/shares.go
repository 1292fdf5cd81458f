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

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// spreadFigures draw the distribution of single operations, and its tail, for each
// panel of cells that differ in the label alone.
func spreadFigures(d *report.Data, v *report.View) (out []picture) {
	for _, p := range groups(d, v) {
		var metrics []string
		for _, c := range p.cells {
			for _, s := range c.Spreads {
				if len(s.Values) > 0 && !slices.Contains(metrics, s.Metric) {
					metrics = append(metrics, s.Metric)
				}
			}
		}
		for _, name := range metrics {
			var ecdf, tail pane
			var entries []entry
			box, doubt := bounds{math.Inf(1), math.Inf(-1), 10}, 0.0
			for _, c := range p.cells {
				for _, s := range c.Spreads {
					if s.Metric != name || len(s.Values) == 0 {
						continue
					}
					look := lookOf(c.Design[v.Label()])
					entries = append(entries, entry{c.Label, look, onlyLine})
					box.add(&s, look, &ecdf, &tail)
					doubt = max(doubt, stats.Doubtful(s.Values[0], doubtIn(d, c, name)))
				}
			}
			if !finite(box.low) {
				continue // nothing above 0
			}
			box.apply(&ecdf, &tail)
			var notes []string
			if doubt > 0 {
				notes = append(notes, "below "+number(doubt)+" ms: "+compare.DoubtNote(doubt))
			}
			title := metric.Named(name).Title()
			out = append(out,
				picture{name: "ecdf-" + name + p.name, x: title + logScale, y: "operations (share)",
					panes: []pane{ecdf}, legend: entries, notes: notes},
				picture{name: "tail-" + name + p.name, x: "percentile, reversed log", y: title,
					panes: []pane{tail}, legend: entries, notes: notes})
		}
	}
	return out
}

// doubtIn is by how much the times of a metric can be wrong in a cell.
func doubtIn(d *report.Data, c *report.Cell, name string) float64 {
	i := slices.IndexFunc(d.Metrics, func(m *metric.Metric) bool { return m.Name == name })
	if i < 0 {
		return 0
	}
	return c.Figures[i].Doubt
}

// bounds are the extent of distributions: of their values above 0, and of their size.
type bounds struct{ low, high, size float64 }

// add draws a distribution into both panes. It goes up in steps; an axis in decades has
// no place for 0.
func (b *bounds) add(s *report.Spread, l look, ecdf, tail *pane) {
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
	ecdf.drawn = append(ecdf.drawn, &plotter.Line{XYs: steps, LineStyle: l.line()})
	tail.drawn = append(tail.drawn, &plotter.Line{XYs: slow, LineStyle: l.line()})
}

func (b *bounds) apply(ecdf, tail *pane) {
	ecdf.x = axis{min: b.low / 1.1, max: b.high * 1.1, log: true}
	if b.high/b.low < 20 { // hardly a decade: round values instead
		ecdf.x.ticks = rounds(b.low/1.1, b.high*1.1, func(string) float64 { return 1. / 8 })
		ecdf.x.ticks = ecdf.x.ticks[1 : len(ecdf.x.ticks)-1] // the ends are not round
	}
	ecdf.y = axis{min: 0, max: 1}
	tail.x = axis{min: 1, max: math.Pow(10, math.Ceil(math.Log10(b.size))), log: true}
	for k := 1.0; k <= tail.x.max; k *= 10 {
		tail.x.ticks = append(tail.x.ticks, tick{at: k, text: number(100 - 100/k)})
	}
	tail.y = axis{min: 0, max: nice(b.high)}
}

// kindFigures draw what a trial sends, by kind: a bar for each label.
func kindFigures(d *report.Data, v *report.View) (out []picture) {
	for _, p := range groups(d, v) {
		b := &bars{data: d}
		var names []tick
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
			names, b.cells = append(names, tick{at: float64(len(names)), text: c.Label}), append(b.cells, c)
		}
		if len(b.cells) == 0 || most == 0 {
			continue
		}
		out = append(out, picture{name: "kinds" + p.name, x: "messages sent in a trial, mean",
			tall: vg.Length(len(names)) * 0.2 * vg.Inch,
			panes: []pane{{x: axis{min: 0, max: nice(most)}, drawn: []plot.Plotter{b},
				y: axis{min: -0.6, max: float64(len(names)) - 0.4, ticks: names, names: true}}}})
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
	s := sized(6)
	s.XAlign, s.YAlign = text.XCenter, text.YCenter
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
