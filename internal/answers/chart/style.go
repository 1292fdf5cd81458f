package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe and Ito, without its yellow. What a colour tells, a marker and dashes tell
// again. The numbers of them have no common factor: any two of five lines differ in all three,
// and any two of 35 in two of them at least.
var (
	palette = []color.RGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7,
			0xff},
		{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x00, 0x00, 0xff},
	}
	// What stands for them on a dark page, where the originals are too dark to tell.
	dark = []string{"#4da3e0", "#f0803c", "#22c296", "#e09bc4", "#f2b544", "#8fd0f5", "#e8ecf1"}

	dashes = [][]vg.Length{nil, {5, 2}, {2.5, 1.5}, {6, 2, 1.5, 2}, {6, 1.5, 1.5, 1.5, 1.5, 1.5}}

	// Dotted is what claims are, and no line that was measured.
	Dotted = []vg.Length{0.6, 1.8}

	black = color.RGBA{A: 0xff}
	white = color.RGBA{0xff, 0xff, 0xff, 0xff}
	// Gray is the colour of axes and labels.
	Gray  = color.RGBA{0x66, 0x66, 0x66, 0xff}
	faint = color.RGBA{0xd8, 0xd8, 0xd8, 0xff}
)

// A Look is how a label is drawn, the same in every figure.
type Look struct {
	Color color.RGBA
	Mark  *Mark // nil: lines alone look so
	Dash  []vg.Length
}

// LookOf is the look of the label of that number.
func LookOf(label int) Look {
	return Look{palette[label%len(palette)], &marks[label%len(marks)], dashes[label%len(dashes)]}
}

// Colors are those of labels on a light page and on a dark one.
func Colors() [][2]string {
	colors := make([][2]string, len(palette))
	for i, c := range palette {
		colors[i] = [2]string{fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B), dark[i]}
	}
	return colors
}

// Looks are all of them for a page, which draws in pixels.
func Looks() any {
	long := [][]float64{}
	for _, dash := range dashes {
		pixels := []float64{}
		for _, d := range dash {
			pixels = append(pixels, 1.6*float64(d))
		}
		long = append(long, pixels)
	}
	shapes := []map[string]string{}
	for i := range marks {
		shapes = append(shapes, map[string]string{"path": marks[i].path()})
	}
	return map[string]any{"colors": Colors(), "marks": shapes, "dashes": long}
}

// Line is the style of its lines.
func (l Look) Line() draw.LineStyle {
	return draw.LineStyle{Color: l.Color, Width: 1.1, Dashes: l.Dash}
}

// Glyph is the style of its points. Hollow ones are those that a reader has to doubt, as a note says.
func (l Look) Glyph(hollow bool) draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.Color, Radius: 2, Shape: glyph{l.Mark, hollow}}
}

// claim is the style of what is claimed.
func (l Look) claim() draw.LineStyle {
	return draw.LineStyle{Color: l.Color, Width: 0.7, Dashes: Dotted}
}

// pale is the colour of an interval's band: mixed with white and not transparent, for
// printers and viewers disagree about what lies over what.
func (l Look) pale() color.RGBA {
	mix := func(v uint8) uint8 { return uint8(255 - (255-int(v))*3/20) }
	return color.RGBA{mix(l.Color.R), mix(l.Color.G), mix(l.Color.B), 0xff}
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// sized is text of that size. A column of a paper is set in 8 to 10 pt; less than 7 pt cannot be
// read there.
func sized(size vg.Length) text.Style {
	return text.Style{Color: black, Font: sans(size), Handler: plot.DefaultTextHandler}
}

var (
	titleText = sized(8)
	ticksText = sized(7.5)
	smallText = sized(7)
)

// An Entry of a legend.
type Entry struct {
	Text     string
	Look     Look
	Shows    Parts
	Mark     string   // behind the text, in TeX
	Comments []string // on it, in TeX
}

// Parts are what is drawn of a look.
type Parts int

const (
	LineAndMark Parts = iota
	OnlyLine
	OnlyMark
	OnlyText // the heading of others
)

// AddParts adds the entries of lines that stand in parts of those names, each under its name in a
// column of its own, and behind them more.
func (c *Chart) AddParts(names []string, parts [][]Entry, more ...Entry) {
	if len(parts) < 2 {
		c.Legend = append(append(c.Legend, slices.Concat(parts...)...), more...)
		return
	}
	var columns [][]Entry
	longest := 0
	for i, part := range parts {
		columns = append(columns, append([]Entry{{Text: names[i] + ":", Shows: OnlyText}}, part...))
		longest = max(longest, len(columns[i]))
	}
	if len(more) > 0 {
		columns = append(columns, append([]Entry{{Shows: OnlyText}}, more...))
	}
	for _, column := range columns {
		c.Legend = append(c.Legend, column...)
		for range longest - len(column) { // each is filled
			c.Legend = append(c.Legend, Entry{Shows: OnlyText})
		}
	}
	c.Parts = len(columns)
}

const (
	legendRow = 9.5
	swatch    = 15
)

func (e *Entry) width() vg.Length {
	if e.Shows == OnlyText {
		return smallText.Width(e.Text)
	}
	return swatch + 3 + smallText.Width(e.Text)
}

// arrange puts the entries beside each other, or, if one row does not take them, into as many
// columns as fit into room, and no more than most unless that is 0. It returns where each stands, from
// the upper left corner, and the height of all.
func arrange(entries []Entry, room vg.Length, most int) (at []vg.Point, tall vg.Length) {
	const apart = 6
	var x vg.Length
	for _, e := range entries {
		at = append(at, vg.Point{X: x})
		x += e.width() + apart
	}
	if len(entries) == 0 || x-apart <= room && most == 0 {
		return at, vg.Length(min(len(entries), 1)) * legendRow
	}
	for columns := cmp.Or(most, len(entries)); ; columns-- {
		rows := (len(entries) + columns - 1) / columns
		var left, wide vg.Length
		for i := range entries { // down and then across, as one reads names
			if i%rows == 0 {
				left, wide = left+wide, 0
			}
			at[i] = vg.Point{X: left, Y: vg.Length(i%rows) * legendRow}
			wide = max(wide, entries[i].width()+apart)
		}
		if columns == 1 || left+wide-apart <= room {
			return at, vg.Length(rows) * legendRow
		}
	}
}

// drawLegend writes the entries along the top of c.
func drawLegend(c draw.Canvas, entries []Entry, at []vg.Point) {
	s := smallText
	s.YAlign = text.YCenter
	for i, e := range entries {
		x, y := c.Min.X+at[i].X, c.Max.Y-at[i].Y-legendRow/2
		if e.Shows == OnlyText {
			c.FillText(s, vg.Point{X: x, Y: y}, e.Text)
			continue
		}
		if e.Shows != OnlyMark {
			c.StrokeLine2(e.Look.Line(), x, y, x+swatch, y)
		}
		if e.Shows != OnlyLine {
			c.DrawGlyph(e.Look.Glyph(false), vg.Point{X: x + swatch/2, Y: y})
		}
		c.FillText(s, vg.Point{X: x + swatch + 3, Y: y}, e.Text)
	}
}

// Nice is the next round number that is not below v.
func Nice(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10} {
		if k*power >= v*(1-1e-9) {
			return k * power
		}
	}
	return 10 * power
}

// below is the next power of ten, or two or five times one, that is not above v.
func below(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{5, 2} {
		if k*power <= v*(1+1e-9) {
			return k * power
		}
	}
	return power
}
