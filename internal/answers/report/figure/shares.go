package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// spreadFigures draw the distribution of single operations, and its tail, for each
// panel of cells that differ in the label alone.
func spreadFigures(d *report.Data, v *report.View) (out []chart.Chart) {
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
			var curves []curve
			for _, c := range p.cells {
				for i := range c.Spreads {
					if s := &c.Spreads[i]; s.Metric == name && len(s.Values) > 0 {
						curves = append(curves, curve{c, s, chart.LookOf(c.Design[v.Label()])})
					}
				}
			}
			out = append(out, distribution(d, v, name, p.name, curves)...)
		}
	}
	return out
}

// A curve is the distribution of a time in a cell.
type curve struct {
	of   *report.Cell
	s    *report.Spread
	look chart.Look
}

// distribution draws curves of a metric, and their tails; nothing if no time is above 0.
func distribution(d *report.Data, v *report.View, name, place string, curves []curve) []chart.Chart {
	var ecdfs, tails []chart.Pane
	var entries [][]chart.Entry
	box, doubt, hollow := bounds{math.Inf(1), math.Inf(-1), 10}, 0.0, hollows{view: v}
	parts, names := chart.Parted(curves)
	for i, part := range parts {
		ecdf, tail := chart.Pane{Title: names[i]}, chart.Pane{Title: names[i]}
		entries = append(entries, nil)
		for _, c := range part {
			entries[i] = append(entries[i], chart.Entry{Text: c.of.Label, Look: c.look})
			box.add(&c, &ecdf, &tail)
			hollow.add(c.of)
			doubt = max(doubt, stats.Doubtful(c.s.Values[0], doubtIn(d, c.of, name)))
		}
		ecdfs, tails = append(ecdfs, ecdf), append(tails, tail)
	}
	if !chart.Finite(box.low) {
		return nil
	}
	for i := range parts {
		box.apply(&ecdfs[i], &tails[i])
	}
	var notes []string
	if doubt > 0 {
		notes = append(notes, "below "+chart.Number(doubt)+" ms: "+view.DoubtNote(doubt))
	}
	notes = append(notes, hollow.notes()...)
	title := metric.Named(name).Title()
	out := []chart.Chart{
		{Name: "ecdf-" + name + place, X: title + chart.LogScale, Y: "operations (share)", Panes: ecdfs,
			Notes: notes},
		{Name: "tail-" + name + place, X: "percentile, reversed log", Y: title, Panes: tails, Notes: notes},
	}
	for i := range out {
		out[i].AddParts(names, entries)
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

// add draws a curve into both panes. It goes up in steps; an axis in decades has no place for 0. Its mark
// stands where half of the operations have ended, or as many as ever do.
func (b *bounds) add(c *curve, ecdf, tail *chart.Pane) {
	var steps, slow plotter.XYs
	s, last, middle := c.s, 0.0, len(c.s.Values)-1
	for i, v := range s.Values {
		slow = append(slow, plotter.XY{X: 1 / s.Still(i), Y: v})
		if v > 0 {
			b.low = min(b.low, v)
			steps = append(steps, plotter.XY{X: v, Y: last}, plotter.XY{X: v, Y: s.At(i)})
		}
		if s.At(i) >= 0.5 && v > 0 {
			middle = min(middle, i)
		}
		b.high = max(b.high, v)
		last = s.At(i)
	}
	b.size = max(b.size, float64(s.N))
	glyph := c.look.Glyph(len(c.of.Caveats) > 0)
	draw := func(p *chart.Pane, way, at plotter.XYs) {
		p.Drawn = append(p.Drawn, &plotter.Line{XYs: way, LineStyle: c.look.Line()},
			&plotter.Scatter{XYs: at, GlyphStyle: glyph})
	}
	var at plotter.XYs
	if s.Values[middle] > 0 {
		at = plotter.XYs{{X: s.Values[middle], Y: s.At(middle)}}
	}
	draw(ecdf, steps, at)
	draw(tail, slow, slow[middle:middle+1])
}

func (b *bounds) apply(ecdf, tail *chart.Pane) {
	low, high := b.low/1.1, b.high*1.1
	ticks := chart.Decades(low, high)
	if b.high/b.low < 20 { // hardly a decade: round values instead
		ticks = chart.Rounds(low, high, func(string) float64 { return 1. / 8 })
	}
	ticks = ticks[1 : len(ticks)-1] // the ends are not round
	if last := len(ticks) - 1; last > 1 && ticks[last].At > high/1.2 {
		ticks[last].Text = "" // it would reach beyond the figure
	}
	ecdf.X = chart.Axis{Min: low, Max: high, Log: true, Ticks: ticks}
	ecdf.Y = chart.Axis{Min: 0, Max: 1}
	tail.X = chart.Axis{Min: 1, Max: math.Pow(10, math.Ceil(math.Log10(b.size))), Log: true}
	for k := 1.0; k <= tail.X.Max; k *= 10 {
		tick := chart.Tick{At: k, Text: chart.Number(100 - 100/k)}
		if k*10 > tail.X.Max && len(tick.Text) > len("99.9") {
			tick.Text = "" // it would reach beyond the figure
		}
		tail.X.Ticks = append(tail.X.Ticks, tick)
	}
	tail.Y = chart.Axis{Min: 0, Max: chart.Nice(b.high)}
}

// kindFigures draw what a trial sends, by kind: a bar for each label.
func kindFigures(d *report.Data, v *report.View) (out []chart.Chart) {
	for _, p := range groups(d, v) {
		var bars chart.Bars
		var names []chart.Tick
		most := 0.0
		for i := len(p.cells) - 1; i >= 0; i-- { // the first on top
			c, sum := p.cells[i], 0.0
			if len(c.Kinds) == 0 {
				continue
			}
			var parts []chart.Part
			for _, k := range c.Kinds {
				sum += k.Sent
				parts = append(parts, chart.Part{Name: d.Kinds[k.Kind], Size: k.Sent})
			}
			most = max(most, sum)
			names = append(names, chart.Tick{At: float64(len(names)), Text: c.Label})
			bars = append(bars, parts)
		}
		if most == 0 {
			continue
		}
		out = append(out, chart.Chart{Name: "kinds" + p.name, X: "messages sent in a trial, mean",
			Tall: vg.Length(len(names)) * 0.2 * vg.Inch,
			Panes: []chart.Pane{{X: chart.Axis{Max: chart.Nice(most)}, Drawn: []plot.Plotter{bars},
				Y: chart.Axis{Min: -0.6, Max: float64(len(names)) - 0.4, Ticks: names, Names: true}}}})
	}
	return out
}
