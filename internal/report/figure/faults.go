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
func faultFigures(d *report.Data, v *report.View) (out []picture) {
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
		top := nice(1.02 * most)
		p := picture{name: "faults-" + fault.Name, x: fault.Title + ", requested", y: "achieved"}
		pane := pane{x: axis{min: 0, max: top}, y: axis{min: 0, max: top}}
		pane.drawn = append(pane.drawn, &plotter.Line{XYs: plotter.XYs{{}, {X: top, Y: top}},
			LineStyle: asAsked.line()})
		for _, at := range slices.Sorted(maps.Keys(points)) {
			pane.drawn = append(pane.drawn, &plotter.Scatter{XYs: points[at], GlyphStyle: lookOf(at).glyph()})
			p.legend = append(p.legend, entry{names[at], lookOf(at), onlyMark})
		}
		p.legend = append(p.legend, entry{"as requested", asAsked, onlyLine})
		p.panes = append(p.panes, pane)
		out = append(out, p)
	}
	return out
}
