package figure

import (
	"image/color"
	"math"

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
	// Filled marks and hollow ones take turns: of two that lie on each other both can be seen.
	marks = []struct {
		draw.GlyphDrawer
		tex string // what TikZ calls it
	}{
		{draw.CircleGlyph{}, "*"}, {draw.SquareGlyph{}, "square"}, {draw.PyramidGlyph{}, "triangle*"},
		{draw.RingGlyph{}, "o"}, {draw.BoxGlyph{}, "square*"}, {draw.TriangleGlyph{}, "triangle"},
		{draw.CrossGlyph{}, "x"}, {draw.PlusGlyph{}, "+"},
	}
	dashes = [][]vg.Length{nil, {5, 2}, {2.5, 1.5}, {6, 2, 1.5, 2}, {6, 1.5, 1.5, 1.5, 1.5, 1.5}}

	black = color.RGBA{A: 0xff}
	white = color.RGBA{0xff, 0xff, 0xff, 0xff}
	gray  = color.RGBA{0x66, 0x66, 0x66, 0xff}
	faint = color.RGBA{0xd8, 0xd8, 0xd8, 0xff}
)

// A look is how a label is drawn, the same in every figure.
type look struct {
	color color.RGBA
	mark  draw.GlyphDrawer
	dash  []vg.Length
}

func lookOf(label int) look {
	return look{palette[label%len(palette)], marks[label%len(marks)].GlyphDrawer, dashes[label%len(dashes)]}
}

func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: 1.1, Dashes: l.dash}
}

func (l look) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: 2, Shape: l.mark}
}

// pale is the colour of an interval's band: mixed with white and not transparent, for
// printers and viewers disagree about what lies over what.
func (l look) pale() color.RGBA {
	mix := func(v uint8) uint8 { return uint8(255 - (255-int(v))*3/20) }
	return color.RGBA{mix(l.color.R), mix(l.color.G), mix(l.color.B), 0xff}
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

// An entry of a legend.
type entry struct {
	text  string
	look  look
	shows parts
}

// parts are what is drawn of a look.
type parts int

const (
	lineAndMark parts = iota
	onlyLine
	onlyMark
	onlyText // the heading of others
)

const (
	legendRow = 9.5
	swatch    = 15
)

func (e *entry) width() vg.Length {
	if e.shows == onlyText {
		return smallText.Width(e.text)
	}
	return swatch + 3 + smallText.Width(e.text)
}

// arrange puts the entries beside each other, or, if one row does not take them, into as many
// columns as fit into room. It returns where each stands, from the upper left corner, and
// the height of all.
func arrange(entries []entry, room vg.Length) (at []vg.Point, tall vg.Length) {
	const apart = 6
	var x vg.Length
	for _, e := range entries {
		at = append(at, vg.Point{X: x})
		x += e.width() + apart
	}
	if len(entries) == 0 || x-apart <= room {
		return at, vg.Length(min(len(entries), 1)) * legendRow
	}
	for columns := len(entries); ; columns-- {
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
func drawLegend(c draw.Canvas, entries []entry, at []vg.Point) {
	s := smallText
	s.YAlign = text.YCenter
	for i, e := range entries {
		x, y := c.Min.X+at[i].X, c.Max.Y-at[i].Y-legendRow/2
		if e.shows == onlyText {
			c.FillText(s, vg.Point{X: x, Y: y}, e.text)
			continue
		}
		if e.shows != onlyMark {
			c.StrokeLine2(e.look.line(), x, y, x+swatch, y)
		}
		if e.shows != onlyLine {
			c.DrawGlyph(e.look.glyph(), vg.Point{X: x + swatch/2, Y: y})
		}
		c.FillText(s, vg.Point{X: x + swatch + 3, Y: y}, e.text)
	}
}

// nice is the next round number that is not below v.
func nice(v float64) float64 {
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
