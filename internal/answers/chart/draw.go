package chart

import (
	"bytes"
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
)

// formats are the kinds of files that Write makes of each figure.
var formats = []string{"svg", "pdf", "png"}

// usualWidth is a column of the ACM's and most other papers.
const usualWidth = 3.33 * vg.Inch

// Length reads a length with its unit, as 85mm; "" is 0.
func Length(text string) (vg.Length, error) {
	if text == "" {
		return 0, nil
	}
	const least, most = 30 * vg.Millimeter, 1000 * vg.Millimeter
	if strings.Trim(text, "0123456789.") == "" {
		return 0, fmt.Errorf("expected a length with its unit, as 85mm")
	}
	l, err := vg.ParseLength(text)
	if err != nil || !(l >= least && l <= most) {
		return 0, fmt.Errorf("expected a length from 30mm to 1000mm, in mm, cm, in or pt, as 85mm")
	}
	return l, nil
}

// A Chart is a figure before it is in a format: panes beside and below each other, with the
// same axes.
type Chart struct {
	Name   string // of the file, without its ending
	X, Y   string // titles of the axes
	Panes  []Pane
	Legend []Entry
	Parts  int       // columns of the legend, one for each part of the lines; 0: as many as there is room for
	Notes  []string  // what a reader has to know: what is held, where an axis starts
	Tall   vg.Length // of a pane; 0: what looks well
	// Wider is by how much the texts of notes and legend are wider in the font of another program.
	Wider vg.Length
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

// A layout is where the parts of a chart stand.
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
func (p *Chart) lay(width, height vg.Length) (layout, error) {
	l, err := p.layWith(p.Notes, width, height)
	if err != nil {
		return l, err
	}
	if more := p.unlabelled(&l); len(more) > 0 {
		return p.layWith(slices.Concat(p.Notes, more), width, height)
	}
	return l, nil
}

// layWith is the layout with those notes.
func (p *Chart) layWith(notes []string, width, height vg.Length) (l layout, err error) {
	if width == 0 {
		width = usualWidth
	}
	l.width, l.columns = width, 1
	inner := width - left - right
	if n := len(p.Panes); n > 1 {
		l.head = paneTitle
		l.columns = min(n, max(1, int((inner-30)/95)))
		l.rows = (n + l.columns - 1) / l.columns
		l.columns = (n + l.rows - 1) / l.rows // without holes, if it can be
	}
	l.rows = (len(p.Panes) + l.columns - 1) / l.columns
	rows := vg.Length(l.rows)
	place := func(tall vg.Length) {
		all := max(tall, leastTall)*rows + (l.head+l.xRoom)*(rows-1)
		l.y = even(p.Y, titleText, all)
		l.yTitle = titleRow * vg.Length(len(l.y))
		l.yRoom, l.xRoom = 0, 0
		for i := range p.Panes {
			l.yRoom = max(l.yRoom, p.Panes[i].yRoom(tall))
		}
		l.wide = (inner - l.yTitle - l.yRoom - paneGap*vg.Length(l.columns-1)) / vg.Length(l.columns)
		for i := range p.Panes {
			l.xRoom = max(l.xRoom, p.Panes[i].xRoom(l.wide))
		}
		l.tall = tall
	}
	texts := inner / max(p.Wider, 1)
	l.notes = even(strings.Join(notes, "; "), smallText, texts)
	l.legendAt, l.legend = arrange(p.Legend, texts, p.Parts)
	rest := bottom + top + titleText.Font.Size + 6 + noteRow*vg.Length(len(l.notes)) + l.legend
	if l.legend > 0 {
		rest += 3
	}
	place(100)
	if height == 0 {
		tall := p.Tall
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
		return l, &Cramped{p.Name, height, least}
	}
	return l, nil
}

// Cramped is a chart that has no room in the height that someone asks for.
type Cramped struct {
	Chart       string
	Given, Want vg.Length
}

func (c *Cramped) Error() string {
	return fmt.Sprintf("--height %.0fmm leaves no room for the axes of %s: expected %.0fmm or more, "+
		"or fewer lines or panels by --where", c.Given/vg.Millimeter, c.Chart,
		math.Ceil(float64(c.Want/vg.Millimeter)))
}

// Write draws charts into dir, each in every format, and returns the names of the files.
func Write(dir string, charts []Chart, width, height vg.Length) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range charts {
		for _, format := range formats {
			name := charts[i].Name + "." + format
			file, err := charts[i].Render(format, width, height)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), file, 0o644)
			}
			if err != nil {
				return names, fmt.Errorf("figure: %s: %w", name, err)
			}
			names = append(names, name)
		}
	}
	return names, nil
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

// Render is the chart as a file of a format. A width or height of 0 is what looks well.
func (p *Chart) Render(format string, width, height vg.Length) (file []byte, err error) {
	// The library panics where an axis cannot show a value.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	l, err := p.lay(width, height)
	if err != nil {
		return nil, err
	}
	canvas, err := newCanvas(l.width, l.height, format)
	if err != nil {
		return nil, err
	}
	c := draw.New(canvas)
	c.FillPolygon(white, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	p.draw(draw.Crop(c, left, -right, bottom, -top), &l)
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

func (p *Chart) draw(c draw.Canvas, l *layout) {
	x, y := c.Min.X+l.yTitle+l.yRoom, c.Max.Y
	for i := range p.Panes {
		column := vg.Length(i % l.columns)
		if i > 0 && column == 0 {
			y -= l.head + l.tall + l.xRoom
		}
		at := c
		at.Min.X = x + column*(l.wide+paneGap)
		at.Max = vg.Point{X: at.Min.X + l.wide, Y: y - l.head}
		at.Min.Y = at.Max.Y - l.tall
		p.Panes[i].draw(at, column == 0)
	}
	y -= l.head + l.tall + l.xRoom
	middle := (y + l.xRoom + c.Max.Y - l.head) / 2
	s := titleText
	s.XAlign, s.YAlign = text.XCenter, text.YTop
	c.FillText(s, vg.Point{X: (x + c.Max.X) / 2, Y: y - 1}, p.X)
	y -= s.Font.Size + 6
	for _, line := range l.notes {
		n := smallText
		n.Color, n.XAlign, n.YAlign = Gray, text.XRight, text.YTop
		c.FillText(n, vg.Point{X: c.Max.X, Y: y}, line)
		y -= noteRow
	}
	s.Rotation = math.Pi / 2
	for i, line := range l.y {
		c.FillText(s, vg.Point{X: c.Min.X + titleRow*vg.Length(i), Y: middle}, line)
	}
	c.Max.Y = c.Min.Y + l.legend
	drawLegend(c, p.Legend, l.legendAt)
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

// Finite says whether v can be drawn.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
