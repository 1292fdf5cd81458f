package figure

import (
	"maps"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
)

// asAsked is the line on which what was asked for is what happened.
var asAsked = chart.Look{Color: chart.Gray, Dash: []vg.Length{3, 2}}

// faultFigures draw what was achieved of each fault against what was asked for: a point
// for each cell, the mean over its trials. Both axes are the same.
func faultFigures(d *report.Data, v *report.View) (out []chart.Chart) {
	label := v.Label()
	for i, fault := range d.Faults {
		points, names, most := map[int]plotter.XYs{}, map[int]string{}, 0.0
		for k := range d.Cells {
			c := &d.Cells[k]
			if v.Rows[k] == nil {
				continue
			}
			for _, a := range c.Achieved {
				if a.Fault != i {
					continue
				}
				at := c.Design[label]
				points[at], names[at] = append(points[at], plotter.XY{X: a.Asked, Y: a.Mean}), c.Label
				most = max(most, a.Asked, a.Mean)
			}
		}
		if len(points) == 0 {
			continue
		}
		top := chart.Nice(1.02 * most)
		p := chart.Chart{Name: "faults-" + fault.Name, X: fault.Title + ", requested", Y: "achieved"}
		pane := chart.Pane{X: chart.Axis{Min: 0, Max: top}, Y: chart.Axis{Min: 0, Max: top}}
		pane.Drawn = append(pane.Drawn, &plotter.Line{XYs: plotter.XYs{{}, {X: top, Y: top}},
			LineStyle: asAsked.Line()})
		for _, at := range slices.Sorted(maps.Keys(points)) {
			pane.Drawn = append(pane.Drawn,
				&plotter.Scatter{XYs: points[at], GlyphStyle: chart.LookOf(at).Glyph()})
			p.Legend = append(p.Legend, chart.Entry{Text: names[at], Look: chart.LookOf(at),
				Shows: chart.OnlyMark})
		}
		p.Legend = append(p.Legend, chart.Entry{Text: "as requested", Look: asAsked, Shows: chart.OnlyLine})
		p.Panes = append(p.Panes, pane)
		out = append(out, p)
	}
	return out
}
