package figure

import (
	"maps"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/report"
)

// asAsked is the line on which what was asked for is what happened.
var asAsked = look{color: gray, dash: []vg.Length{3, 2}}

// faultFigures draw what was achieved of each fault against what was asked for: a point
// for each cell, the mean over its trials. Both axes are the same.
func faultFigures(d *report.Data) (out []picture) {
	label := column(d, "label")
	for i, fault := range d.Faults {
		points, names, most := map[int]plotter.XYs{}, map[int]string{}, 0.0
		for k := range d.Cells {
			c := &d.Cells[k]
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
		plot, top := newPlot(fault.Title+", requested", "achieved"), nice(1.02*most)
		plot.X.Min, plot.X.Max, plot.Y.Min, plot.Y.Max = 0, top, 0, top
		addGrid(plot)
		plot.Add(&plotter.Line{XYs: plotter.XYs{{}, {X: top, Y: top}}, LineStyle: asAsked.line()})
		var entries []entry
		for _, at := range slices.Sorted(maps.Keys(points)) {
			plot.Add(&plotter.Scatter{XYs: points[at], GlyphStyle: lookOf(at).glyph()})
			entries = append(entries, entry{names[at], lookOf(at), onlyMark})
		}
		entries = append(entries, entry{"as requested", asAsked, onlyLine})
		out = append(out, picture{"faults-" + fault.Name, height, entries, plot})
	}
	return out
}
