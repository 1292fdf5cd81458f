// Package figure draws the charts of a report for print: as wide as a column of a
// paper, for readers who do not see every colour and for printers that have none.
// SVG and PNG are the same to the byte for the same data; PDF is not, for it holds
// the time at which it was made.
package figure

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// formats are the kinds of files that Write makes of each figure.
var formats = []string{"svg", "pdf", "png"}

const (
	width  = 3.33 * vg.Inch // a column of the ACM's and most other papers
	height = 1.9 * vg.Inch  // and that of the legend
)

// mostPanels bounds how many figures a metric gets, one for each combination of
// what has no axis of its own.
const mostPanels = 30

// A picture is a figure before it is in a format.
type picture struct {
	name   string // of the file, without its ending
	height vg.Length
	legend []entry
	plot   *plot.Plot
}

// Write draws the charts of d into dir, each in every format, and returns the names
// of the files.
func Write(d *report.Data, dir string) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, p := range pictures(d) {
		for _, format := range formats {
			name := p.name + "." + format
			if err := p.save(filepath.Join(dir, name), format); err != nil {
				return names, fmt.Errorf("figure: %s: %w", name, err)
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// pictures are the figures of d, in order.
func pictures(d *report.Data) (out []picture) {
	for i, m := range d.Metrics {
		if !m.In(metric.Main) || !happens(d, i) {
			continue
		}
		for _, x := range variables(d, m) {
			out = append(out, lineFigures(d, i, x)...)
		}
	}
	out = slices.Concat(out, spreadFigures(d), kindFigures(d), faultFigures(d))
	names := make([]string, len(out))
	for i := range out {
		names[i] = out[i].name
	}
	for i, name := range report.FileNames(names) {
		out[i].name = name
	}
	return out
}

// happens says whether a metric that counts is more than 0 in some cell.
func happens(d *report.Data, i int) bool {
	return d.Metrics[i].Kind != metric.Count ||
		slices.ContainsFunc(d.Cells, func(c report.Cell) bool { return c.Figures[i].Max > 0 })
}

// none is the variable of an axis that has one place for each algorithm.
const none = -1

// variables are the columns that a metric is drawn against: the number of nodes, or
// else the column with most values; and of what fails, the rate of the failures.
func variables(d *report.Data, m *metric.Metric) []int {
	best, rate := none, none
	for i, c := range d.Columns {
		if !c.Numeric || len(c.Values) < 2 || c.Name == "label" {
			continue
		}
		if best == none || c.Name == "nodes" || d.Columns[best].Name != "nodes" &&
			len(c.Values) > len(d.Columns[best].Values) {
			best = i
		}
		if rate == none && slices.Contains([]string{"crash_rate", "loss", "duplication"}, c.Name) {
			rate = i
		}
	}
	if rate != none && rate != best && m.OfSpans() {
		return []int{best, rate}
	}
	return []int{best}
}

// A panel is the cells of one figure: all that differ in the label and along the
// axis alone.
type panel struct {
	name  string // "", or what its cells have in common, for the name of the file
	cells []*report.Cell
}

// panels parts the cells of d by the columns that tell cells of one label apart that
// stand at one place of the axis x.
func panels(d *report.Data, x int) (out []panel) {
	label := column(d, "label")
	var splits []int
	for i := range d.Columns {
		seen := map[[2]int]int{}
		for k := range d.Cells {
			c := &d.Cells[k]
			at := [2]int{c.Design[label], 0}
			if x != none {
				at[1] = c.Design[x]
			}
			if first, known := seen[at]; !known {
				seen[at] = c.Design[i]
			} else if i != x && first != c.Design[i] {
				splits = append(splits, i)
				break
			}
		}
	}
	for k := range d.Cells {
		name := ""
		for _, i := range splits {
			name += "-" + d.Columns[i].Name + "-" + d.Columns[i].Values[d.Cells[k].Design[i]]
		}
		at := slices.IndexFunc(out, func(p panel) bool { return p.name == name })
		if at < 0 {
			at = len(out)
			out = append(out, panel{name: name})
		}
		out[at].cells = append(out[at].cells, &d.Cells[k])
	}
	return out[:min(len(out), mostPanels)]
}

func column(d *report.Data, name string) int {
	return slices.IndexFunc(d.Columns, func(c report.Column) bool { return c.Name == name })
}

// save draws p into a file.
func (p *picture) save(path, format string) (err error) {
	// The library panics where an axis cannot show a value.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	const left, right, bottom, top = 2, 6, 2, 3
	at, tall := arrange(p.legend, width-left-right)
	canvas, err := newCanvas(width, p.height+tall, format)
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.FillPolygon(white, []vg.Point{whole.Min, {X: whole.Max.X, Y: whole.Min.Y}, whole.Max,
		{X: whole.Min.X, Y: whole.Max.Y}})
	inner := draw.Crop(whole, left, -right, bottom, -top)
	drawLegend(inner, p.legend, at)
	drawPlot(p.plot, draw.Crop(inner, 0, 0, 0, -tall))
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(file); err != nil {
		file.Close() // the first error says more
		return err
	}
	return file.Close()
}

// drawPlot draws p on c. The library keeps room for the name of an axis around the middle
// of its values, and writes it in the middle of the axis. On a logarithmic axis the middle
// of the values is near the upper end, and half of the figure would stay empty: there the
// name is written apart.
func drawPlot(p *plot.Plot, c draw.Canvas) {
	y := &p.Y.Label
	if _, log := p.Y.Scale.(plot.LogScale); log {
		rest := *p
		rest.Y.Label.Text = ""
		descent := y.TextStyle.FontExtents().Descent
		high := y.TextStyle.Height(y.Text)
		right := draw.Crop(c, high+descent+y.Padding, 0, 0, 0)
		upright, axis := y.TextStyle, rest.DataCanvas(right)
		upright.Rotation += math.Pi / 2
		c.FillText(upright, vg.Point{X: c.Min.X + high - descent, Y: axis.Center().Y}, y.Text)
		p, c = &rest, right
	}
	p.Draw(c)
}

// newCanvas is what a figure is drawn on; a PNG has the dots that print takes.
func newCanvas(w, h vg.Length, format string) (vg.CanvasWriterTo, error) {
	if format == "png" {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(300))}, nil
	}
	return draw.NewFormattedCanvas(w, h, format)
}

// finite says whether v can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
