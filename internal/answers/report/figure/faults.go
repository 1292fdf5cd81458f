package figure

import (
	"maps"
	"slices"

	"gonum.org/v1/plot"
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
		points, names, most := map[int][]plot.Plotter{}, map[int]string{}, 0.0
		hollow := hollows{view: v}
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
				points[at], names[at] = append(points[at], &plotter.Scatter{
					XYs:        plotter.XYs{{X: a.Asked, Y: a.Mean}},
					GlyphStyle: chart.LookOf(at).Glyph(len(c.Caveats) > 0)}), c.Label
				hollow.add(c)
				most = max(most, a.Asked, a.Mean)
			}
		}
		if len(points) == 0 {
			continue
		}
		top := chart.Nice(1.02 * most)
		p := chart.Chart{Name: "faults-" + fault.Name, X: fault.Title + ", requested", Y: "achieved",
			Notes: hollow.notes()}
		var entries [][]chart.Entry
		parts, titles := chart.Parted(slices.Sorted(maps.Keys(points)))
		for k, part := range parts {
			pane := chart.Pane{Title: titles[k], X: chart.Axis{Min: 0, Max: top},
				Y: chart.Axis{Min: 0, Max: top}}
			pane.Drawn = append(pane.Drawn, &plotter.Line{XYs: plotter.XYs{{}, {X: top, Y: top}},
				LineStyle: asAsked.Line()})
			entries = append(entries, nil)
			for _, at := range part {
				pane.Drawn = append(pane.Drawn, points[at]...)
				entries[k] = append(entries[k], chart.Entry{Text: names[at], Look: chart.LookOf(at),
					Shows: chart.OnlyMark})
			}
			p.Panes = append(p.Panes, pane)
		}
		p.AddParts(titles, entries,
			chart.Entry{Text: "as requested", Look: asAsked, Shows: chart.OnlyLine})
		out = append(out, p)
	}
	return out
}
