// Package figure draws the charts of a report for print: as wide as a column of a
// paper, for readers who do not see every colour and for printers that have none.
// The files are the same to the byte for the same data.
package figure

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// formats are the kinds of files that Write makes of each figure.
var formats = []string{"svg", "pdf", "png"}

// usualWidth is a column of the ACM's and most other papers.
const usualWidth = 3.33 * vg.Inch

// mostFigures bounds how many figures a metric gets, one for each combination of
// what has no axis of its own.
const mostFigures = 30

// Options say what is drawn. Without any, it is the few charts that answer what the experiment
// asks.
type Options struct {
	All        bool         // whatever there is, in place of that
	Metrics    []string     // drawn; empty: those that answer the question
	X          string       // column of the horizontal axis; "": the main one of each metric
	Series     string       // column that has a line for each value; "": the algorithm
	Where      metric.Where // only cells of which all hold
	YMin, YMax *float64     // ends of the vertical axis; nil: as the values want them
	// Width and Height are those of a figure; 0: a column of a paper, and what looks well.
	Width, Height vg.Length
}

// Length reads a length with its unit, as 85mm; "" is 0.
func Length(text string) (vg.Length, error) {
	if text == "" {
		return 0, nil
	}
	const least, most = 30 * vg.Millimeter, 1000 * vg.Millimeter
	if strings.Trim(text, "0123456789.") == "" {
		return 0, fmt.Errorf("want a length with its unit, as 85mm")
	}
	l, err := vg.ParseLength(text)
	if err != nil || !(l >= least && l <= most) {
		return 0, fmt.Errorf("want a length from 30mm to 1000mm, in mm, cm, in or pt, as 85mm")
	}
	return l, nil
}

// A picture is a figure before it is in a format: panes beside and below each other, with the
// same axes.
type picture struct {
	name   string // of the file, without its ending
	x, y   string // titles of the axes
	panes  []pane
	legend []entry
	notes  []string  // what a reader has to know: what is held, where an axis starts
	tall   vg.Length // of a pane; 0: what looks well
	// wider is by how much the texts of notes and legend are wider in the font of another program.
	wider vg.Length
}

// Write draws charts of d into dir, each in every format, and returns the names of the files.
// The error is a *report.Mistake where other options would do.
func Write(d *report.Data, dir string, o Options) (names []string, err error) {
	list, err := pictures(d, &o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, p := range list {
		for _, format := range formats {
			name := p.name + "." + format
			if err := p.save(filepath.Join(dir, name), format, o.Width, o.Height); err != nil {
				return names, fmt.Errorf("figure: %s: %w", name, err)
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// pictures are the figures of d, in order, each with a name of its own.
func pictures(d *report.Data, o *Options) (out []picture, err error) {
	v, err := d.View(o.Where)
	if err != nil {
		return nil, err
	}
	if !v.Any() {
		return nil, nil
	}
	for i, w := range o.Where {
		if w.Name == "algorithm" { // as the axes call it
			o.Where[i] = metric.Field{Name: "label", Value: w.Value[strings.LastIndexByte(w.Value, '/')+1:]}
		}
	}
	if o.All {
		for i, m := range d.Metrics {
			if m.In(metric.Main) && happens(d, i) {
				v.Along(v.Main(m), v.Label())
				out = append(out, lineFigures(d, v, i, o)...)
			}
		}
		v.Along(report.None, v.Label())
		out = slices.Concat(out, spreadFigures(d, v), kindFigures(d, v), faultFigures(d, v))
	} else if out, err = chosen(d, v, o); err != nil {
		return nil, err
	}
	names := make([]string, len(out))
	for i := range out {
		names[i] = out[i].name
	}
	for i, name := range report.FileNames(names) {
		out[i].name = name
	}
	return out, nil
}

// chosen are the figures that the options name, or else the few that answer the question.
func chosen(d *report.Data, v *report.View, o *Options) (out []picture, err error) {
	asked := len(o.Metrics) > 0 || o.X != "" || o.Series != ""
	metrics := d.Question()
	if len(o.Metrics) > 0 {
		if metrics, err = named(d, o.Metrics); err != nil {
			return nil, err
		}
	}
	for _, m := range metrics {
		if err := v.Lay(m, o.X, o.Series); err != nil {
			return nil, err
		}
		if asked {
			if err := v.Whole(); err != nil {
				return nil, err
			}
		}
		list := lineFigures(d, v, slices.Index(d.Metrics, m), o)
		if len(list) == 0 && asked {
			return nil, report.Mistaken("--metric %s: no cell that is shown has a figure of it", m.Name)
		}
		if !asked && len(list) > 1 {
			list = list[:1]
		}
		out = append(out, list...)
	}
	return out, nil
}

// named are the metrics of those names.
func named(d *report.Data, names []string) (out []*metric.Metric, err error) {
	known := metric.Names(d.Metrics)
	for _, name := range names {
		i := slices.Index(known, name)
		switch now := metric.Renamed(name); {
		case i >= 0:
			out = append(out, d.Metrics[i])
		case now != "":
			return nil, report.Mistaken("--metric %s: %s", name, now)
		case metric.Named(name) != nil:
			return nil, report.Mistaken("--metric %s: no cell has a figure of it (has: %s)", name,
				strings.Join(known, ", "))
		default:
			return nil, report.Mistaken("--metric %s: unknown metric%s (has: %s)", name,
				algo.Hint(name, known), strings.Join(known, ", "))
		}
	}
	return out, nil
}

// happens says whether a metric that counts is more than 0 in some cell.
func happens(d *report.Data, i int) bool {
	return d.Metrics[i].Kind != metric.Count ||
		slices.ContainsFunc(d.Cells, func(c report.Cell) bool { return c.Figures[i].Max > 0 })
}

// A group is cells of different labels that have all else in common.
type group struct {
	name  string // "", or what that is, for the name of the file
	cells []*report.Cell
}

// groups are the cells of a view without an axis.
func groups(d *report.Data, v *report.View) (out []group) {
	for _, c := range v.Charts() {
		for _, p := range c.Panels {
			g := group{}
			for _, i := range v.Split {
				g.name += "-" + d.Columns[i].Name + "-" + d.Columns[i].Values[v.Rows[p.Cells[0]][i]]
			}
			for _, k := range p.Cells {
				g.cells = append(g.cells, &d.Cells[k])
			}
			out = append(out, g)
		}
	}
	return out[:min(len(out), mostFigures)]
}

// Room around and between what is drawn.
const (
	left, right, bottom, top = 2, 7, 2, 4

	paneGap   = 10 // between panes beside each other
	paneTitle = 15 // above each
	noteRow   = 9
	titleRow  = 12
	leastTall = 36 // of a pane; less shows nothing
)

// A layout is where the parts of a picture stand.
type layout struct {
	width, height vg.Length
	columns, rows int
	wide, tall    vg.Length // of a pane
	yTitle, yRoom vg.Length // left of the panes
	xRoom, head   vg.Length // below and above each
	y, notes      []string  // in lines
	legendAt      []vg.Point
	legend        vg.Length
}

// lay finds the layout of p.
func (p *picture) lay(width, height vg.Length) (l layout, err error) {
	if width == 0 {
		width = usualWidth
	}
	l.width, l.columns = width, 1
	inner := width - left - right
	if n := len(p.panes); n > 1 {
		l.head = paneTitle
		l.columns = min(n, max(1, int((inner-30)/95)))
		l.rows = (n + l.columns - 1) / l.columns
		l.columns = (n + l.rows - 1) / l.rows // without holes, if it can be
	}
	l.rows = (len(p.panes) + l.columns - 1) / l.columns
	rows := vg.Length(l.rows)
	place := func(tall vg.Length) {
		all := max(tall, leastTall)*rows + (l.head+l.xRoom)*(rows-1)
		l.y = even(p.y, titleText, all)
		l.yTitle = titleRow * vg.Length(len(l.y))
		l.yRoom, l.xRoom = 0, 0
		for i := range p.panes {
			l.yRoom = max(l.yRoom, p.panes[i].yRoom(tall))
		}
		l.wide = (inner - l.yTitle - l.yRoom - paneGap*vg.Length(l.columns-1)) / vg.Length(l.columns)
		for i := range p.panes {
			l.xRoom = max(l.xRoom, p.panes[i].xRoom(l.wide))
		}
		l.tall = tall
	}
	texts := inner / max(p.wider, 1)
	l.notes = even(strings.Join(p.notes, "; "), smallText, texts)
	l.legendAt, l.legend = arrange(p.legend, texts)
	rest := bottom + top + titleText.Font.Size + 6 + noteRow*vg.Length(len(l.notes)) + l.legend
	if l.legend > 0 {
		rest += 3
	}
	place(100)
	if height == 0 {
		tall := p.tall
		if tall == 0 {
			tall = min(max(0.55*l.wide, 65), 160)
		}
		place(tall)
		l.height = rest + rows*(l.head+l.tall+l.xRoom)
		return l, nil
	}
	place((height-rest)/rows - l.head - l.xRoom)
	l.height = height
	if l.tall < leastTall {
		least := rest + rows*(l.head+leastTall+l.xRoom)
		return l, report.Mistaken("--height %.0fmm leaves no room for the axes of %s: want %.0fmm or more, "+
			"or fewer lines or panels by --where", height/vg.Millimeter, p.name,
			math.Ceil(float64(least/vg.Millimeter)))
	}
	return l, nil
}

// wrapped is a text in lines no longer than room.
func wrapped(of string, style text.Style, room vg.Length) (lines []string) {
	for _, word := range strings.Fields(of) {
		if n := len(lines); n > 0 && style.Width(lines[n-1]+" "+word) <= room {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// even is a text in as many lines as it takes, each about as long as the others.
func even(of string, style text.Style, room vg.Length) (lines []string) {
	lines = wrapped(of, style, room)
	for most := room; len(lines) > 1; most -= 2 {
		shorter := wrapped(of, style, most)
		if len(shorter) > len(lines) || most < room/4 {
			break
		}
		lines = shorter
	}
	return lines
}

// save draws p into a file.
func (p *picture) save(path, format string, width, height vg.Length) (err error) {
	// The library panics where an axis cannot show a value.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	l, err := p.lay(width, height)
	if err != nil {
		return err
	}
	canvas, err := newCanvas(l.width, l.height, format)
	if err != nil {
		return err
	}
	c := draw.New(canvas)
	c.FillPolygon(white, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	p.draw(draw.Crop(c, left, -right, bottom, -top), &l)
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

func (p *picture) draw(c draw.Canvas, l *layout) {
	x, y := c.Min.X+l.yTitle+l.yRoom, c.Max.Y
	for i := range p.panes {
		column := vg.Length(i % l.columns)
		if i > 0 && column == 0 {
			y -= l.head + l.tall + l.xRoom
		}
		at := c
		at.Min.X = x + column*(l.wide+paneGap)
		at.Max = vg.Point{X: at.Min.X + l.wide, Y: y - l.head}
		at.Min.Y = at.Max.Y - l.tall
		p.panes[i].draw(at, column == 0)
	}
	y -= l.head + l.tall + l.xRoom
	middle := (y + l.xRoom + c.Max.Y - l.head) / 2
	s := titleText
	s.XAlign, s.YAlign = text.XCenter, text.YTop
	c.FillText(s, vg.Point{X: (x + c.Max.X) / 2, Y: y - 1}, p.x)
	y -= s.Font.Size + 6
	for _, line := range l.notes {
		n := smallText
		n.Color, n.XAlign, n.YAlign = gray, text.XRight, text.YTop
		c.FillText(n, vg.Point{X: c.Max.X, Y: y}, line)
		y -= noteRow
	}
	s.Rotation = math.Pi / 2
	for i, line := range l.y {
		c.FillText(s, vg.Point{X: c.Min.X + titleRow*vg.Length(i), Y: middle}, line)
	}
	c.Max.Y = c.Min.Y + l.legend
	drawLegend(c, p.legend, l.legendAt)
}

// newCanvas is what a figure is drawn on; a PNG has the dots that print takes.
func newCanvas(w, h vg.Length, format string) (vg.CanvasWriterTo, error) {
	switch format {
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(300))}, nil
	case "pdf":
		return newPDF(w, h), nil
	}
	return draw.NewFormattedCanvas(w, h, format)
}

// finite says whether v can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
