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
			var ecdf, tail chart.Pane
			var entries []chart.Entry
			box, doubt := bounds{math.Inf(1), math.Inf(-1), 10}, 0.0
			for _, c := range p.cells {
				for _, s := range c.Spreads {
					if s.Metric != name || len(s.Values) == 0 {
						continue
					}
					look := chart.LookOf(c.Design[v.Label()])
					entries = append(entries, chart.Entry{Text: c.Label, Look: look, Shows: chart.OnlyLine})
					box.add(&s, look, &ecdf, &tail)
					doubt = max(doubt, stats.Doubtful(s.Values[0], doubtIn(d, c, name)))
				}
			}
			if !chart.Finite(box.low) {
				continue // nothing above 0
			}
			box.apply(&ecdf, &tail)
			var notes []string
			if doubt > 0 {
				notes = append(notes, "below "+chart.Number(doubt)+" ms: "+view.DoubtNote(doubt))
			}
			title := metric.Named(name).Title()
			out = append(out,
				chart.Chart{Name: "ecdf-" + name + p.name, X: title + logScale, Y: "operations (share)",
					Panes: []chart.Pane{ecdf}, Legend: entries, Notes: notes},
				chart.Chart{Name: "tail-" + name + p.name, X: "percentile, reversed log", Y: title,
					Panes: []chart.Pane{tail}, Legend: entries, Notes: notes})
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
func (b *bounds) add(s *report.Spread, l chart.Look, ecdf, tail *chart.Pane) {
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
	ecdf.Drawn = append(ecdf.Drawn, &plotter.Line{XYs: steps, LineStyle: l.Line()})
	tail.Drawn = append(tail.Drawn, &plotter.Line{XYs: slow, LineStyle: l.Line()})
}

func (b *bounds) apply(ecdf, tail *chart.Pane) {
	ecdf.X = chart.Axis{Min: b.low / 1.1, Max: b.high * 1.1, Log: true}
	if b.high/b.low < 20 { // hardly a decade: round values instead
		ecdf.X.Ticks = chart.Rounds(b.low/1.1, b.high*1.1, func(string) float64 { return 1. / 8 })
		ecdf.X.Ticks = ecdf.X.Ticks[1 : len(ecdf.X.Ticks)-1] // the ends are not round
	}
	ecdf.Y = chart.Axis{Min: 0, Max: 1}
	tail.X = chart.Axis{Min: 1, Max: math.Pow(10, math.Ceil(math.Log10(b.size))), Log: true}
	for k := 1.0; k <= tail.X.Max; k *= 10 {
		tail.X.Ticks = append(tail.X.Ticks, chart.Tick{At: k, Text: chart.Number(100 - 100/k)})
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
