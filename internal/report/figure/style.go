package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe and Ito, without its yellow. What a colour tells, a marker and
// dashes tell again.
var (
	palette = []color.RGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7,
			0xff},
		{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x00, 0x00, 0xff},
	}
	marks = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.SquareGlyph{}, draw.RingGlyph{},
	}
	dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}}

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
	return look{palette[label%len(palette)], marks[label%len(marks)], dashes[label%len(dashes)]}
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

func style(size vg.Length, of text.Style) text.Style {
	of.Font = sans(size)
	return of
}

// newPlot is an empty plot in the house's style.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = style(8, a.Label.TextStyle)
		a.Tick.Label = style(8, a.Tick.Label)
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.6, 0.6
		a.Tick.Length = 3
		a.Padding = 3
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	return p
}

// addGrid adds lines at the values of the vertical axis.
func addGrid(p *plot.Plot) {
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color, grid.Horizontal.Width = faint, 0.4
	p.Add(grid)
}

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
)

const (
	legendRow = 10
	swatch    = 22
)

var legendText = text.Style{Color: color.Black, Font: sans(8), Handler: plot.DefaultTextHandler,
	YAlign: text.YCenter}

// arrange puts the entries into rows no wider than room, and returns where each
// stands, from the upper left corner, and the height of all.
func arrange(entries []entry, room vg.Length) (at []vg.Point, tall vg.Length) {
	x, y := vg.Length(0), vg.Length(0)
	for _, e := range entries {
		w := swatch + 3 + legendText.Width(e.text)
		if x > 0 && x+w > room {
			x, y = 0, y+legendRow
		}
		at = append(at, vg.Point{X: x, Y: y})
		x += w + 8
		tall = y + legendRow + 3
	}
	return at, tall
}

// drawLegend writes the entries along the top of c.
func drawLegend(c draw.Canvas, entries []entry, at []vg.Point) {
	for i, e := range entries {
		x, y := c.Min.X+at[i].X, c.Max.Y-at[i].Y-legendRow/2
		if e.shows != onlyMark {
			c.StrokeLine2(e.look.line(), x, y, x+swatch, y)
		}
		if e.shows != onlyLine {
			c.DrawGlyph(e.look.glyph(), vg.Point{X: x + swatch/2, Y: y})
		}
		c.FillText(legendText, vg.Point{X: x + swatch + 3, Y: y}, e.text)
	}
}

// placed are ticks at the values of an axis from low to high, of which those that would
// overlap another have no text.
func placed(values []float64, low, high float64) plot.ConstantTicks {
	const room = 10 // texts beside each other
	var out plot.ConstantTicks
	last := math.Inf(-1)
	least := (high - low) / room
	for _, v := range values {
		t := plot.Tick{Value: v}
		if v-last >= least {
			t.Label, last = number(v), v
		}
		out = append(out, t)
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

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
