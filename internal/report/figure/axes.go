package figure

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A tick is a place on an axis and what is written there.
type tick struct {
	at   float64
	text string
	low  bool // the text stands in a second row, below those of its neighbours
}

// An axis goes from min to max.
type axis struct {
	min, max float64
	log      bool
	// ticks are the places that have a mark; nil: round values. Where their texts would overlap
	// some are left out, the first and the last not.
	ticks []tick
	names bool // the ticks are names, for which the axis makes room
}

// logScale stands behind the title of an axis in decades.
const logScale = ", log scale"

// scaled is a as the library's plotters want it.
func (a *axis) scaled() (out plot.Axis) {
	out.Min, out.Max, out.Scale = a.min, a.max, plot.LinearScale{}
	if a.log {
		out.Scale = plot.LogScale{}
	}
	return out
}

// marked are the ticks of an axis of that length, on which a text takes as much room as size
// says. Those without room have no text.
func (a *axis) marked(length vg.Length, size func(string) vg.Length) []tick {
	ticks := slices.Clone(a.ticks)
	switch {
	case ticks != nil:
	case a.log:
		ticks = decades(a.min, a.max)
	default:
		ticks = rounds(a.min, a.max, func(text string) float64 {
			return float64((size(text) + textsApart + 2) / length)
		})
	}
	a.texts(ticks, length, size)
	return ticks
}

// textsApart is the room between two texts of an axis.
const textsApart = 4

// texts leaves those ticks their texts that have room for them.
func (a *axis) texts(ticks []tick, length vg.Length, size func(string) vg.Length) {
	scale := a.scaled()
	place := func(t tick) vg.Length { return vg.Length(scale.Norm(t.at)) * length }
	var taken [][2]vg.Length
	fits := func(t tick) bool {
		half := size(t.text)/2 + textsApart/2
		from, to := place(t)-half, place(t)+half
		for _, other := range taken {
			if from < other[1] && to > other[0] {
				return false
			}
		}
		taken = append(taken, [2]vg.Length{from, to})
		return true
	}
	order := make([]int, len(ticks)) // the ends first, then the powers of ten
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		switch {
		case i == 0 || i == len(ticks)-1:
			return 0
		case a.log && math.Abs(math.Log10(ticks[i].at)-math.Round(math.Log10(ticks[i].at))) < 1e-9:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
	for _, i := range order {
		if ticks[i].text != "" && !fits(ticks[i]) {
			ticks[i].text = ""
		}
	}
}

// steps are those between round values, by power of ten.
var steps = []float64{1, 2, 2.5, 5}

// rounds are round values from low to high, as many as there is room for, and both ends. need
// is the share of the axis that a text takes. A step that leads from end to end is preferred.
func rounds(low, high float64, need func(string) float64) (out []tick) {
	room := func(step float64) bool {
		widest := max(need(number(low)), need(number(high)), need(number(math.Ceil(low/step)*step)),
			need(number(math.Floor(high/step-1)*step)))
		return (high-low)/step*widest <= 1
	}
	even := func(v, step float64) bool { return math.Abs(v/step-math.Round(v/step)) < 1e-6 }
	step := stepOf(low, high, func(step float64) bool {
		return room(step) && even(low, step) && even(high, step)
	})
	if step >= high-low {
		step = stepOf(low, high, room)
	}
	out = append(out, tick{at: low, text: number(low)})
	for k := math.Floor(low/step) + 1; k*step < high-step/1e6; k++ {
		if v := k * step; v > low+step/1e6 {
			out = append(out, tick{at: v, text: number(v)})
		}
	}
	return append(out, tick{at: high, text: number(high)})
}

// stepOf is the smallest round step of which enough says that it will do.
func stepOf(low, high float64, enough func(float64) bool) float64 {
	for power := math.Floor(math.Log10((high - low) / 100)); ; power++ {
		for _, k := range steps {
			if step := k * math.Pow(10, power); enough(step) || step >= high-low {
				return step
			}
		}
	}
}

// decades are the ticks of a logarithmic axis: the powers of ten, two and five times them, and
// both ends.
func decades(low, high float64) (out []tick) {
	out = append(out, tick{at: low, text: number(low)})
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, k := range []float64{1, 2, 5} {
			if v := k * math.Pow(10, power); v > low*(1+1e-9) && v < high*(1-1e-9) {
				out = append(out, tick{at: v, text: number(v)})
			}
		}
	}
	return append(out, tick{at: high, text: number(high)})
}

// number is v on an axis.
func number(v float64) string {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // it was written so
	if a := math.Abs(f); a >= 1e6 || a > 0 && a < 1e-3 {
		short := strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-")
		return short.Replace(strconv.FormatFloat(f, 'e', -1, 64))
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// A pane is one pair of axes and what is drawn between them.
type pane struct {
	title string
	x, y  axis
	drawn []plot.Plotter
}

const (
	tickLength = 3
	textAfter  = 2 // between a tick and its text
)

var (
	axisLine = draw.LineStyle{Color: black, Width: 0.6}
	gridLine = draw.LineStyle{Color: faint, Width: 0.4}
)

// yRoom is what the texts of the vertical axis take beside it.
func (p *pane) yRoom(tall vg.Length) (widest vg.Length) {
	for _, t := range p.y.marked(tall, upright) {
		widest = max(widest, ticksText.Width(t.text))
	}
	return widest + tickLength + textAfter
}

// upright is the room of a text on a vertical axis.
func upright(string) vg.Length { return ticksText.Font.Size }

// slanted says whether the names of the horizontal axis have no room beside each other.
func (p *pane) slanted(wide vg.Length) bool {
	if !p.x.names {
		return false
	}
	for _, t := range p.x.ticks {
		if ticksText.Width(t.text)+4 > wide/vg.Length(len(p.x.ticks)) {
			return true
		}
	}
	return false
}

// xTicks are those of a horizontal axis so wide. A swept value whose text has no room beside its
// neighbours has it below them.
func (p *pane) xTicks(wide vg.Length) []tick {
	ticks := p.x.marked(wide, p.size(wide))
	if p.x.ticks == nil || p.x.names {
		return ticks
	}
	second := slices.Clone(p.x.ticks)
	for i := range second {
		if ticks[i].text != "" {
			second[i].text = ""
		}
	}
	p.x.texts(second, wide, p.size(wide))
	for i, t := range second {
		if t.text != "" {
			ticks[i].text, ticks[i].low = t.text, true
		}
	}
	return ticks
}

// size is the room of a text on a horizontal axis so wide.
func (p *pane) size(wide vg.Length) func(string) vg.Length {
	if p.slanted(wide) {
		return upright
	}
	return ticksText.Width
}

// slant is that of names which have no room beside each other.
const slant = math.Pi / 3

// xRoom is what the texts of the horizontal axis take below it.
func (p *pane) xRoom(wide vg.Length) (tall vg.Length) {
	tall = ticksText.Font.Size
	if slices.ContainsFunc(p.xTicks(wide), func(t tick) bool { return t.low }) {
		tall *= 2
	}
	if p.slanted(wide) {
		for _, t := range p.x.ticks {
			tall = max(tall, vg.Length(math.Sin(slant))*ticksText.Width(t.text)+4)
		}
	}
	return tall + tickLength + textAfter
}

// draw draws the axes along the edges of c, and into it what is between them; named says
// whether the vertical axis has its texts.
func (p *pane) draw(c draw.Canvas, named bool) {
	of := plot.New()
	of.X, of.Y = p.x.scaled(), p.y.scaled()
	tx, ty := of.Transforms(&c)
	for _, t := range p.y.marked(c.Max.Y-c.Min.Y, upright) {
		y := ty(t.at)
		if !p.y.names && t.text != "" {
			c.StrokeLine2(gridLine, c.Min.X, y, c.Max.X, y)
		}
		c.StrokeLine2(axisLine, c.Min.X-tickLength, y, c.Min.X, y)
		if named {
			s := ticksText
			s.XAlign, s.YAlign = text.XRight, text.YCenter
			c.FillText(s, vg.Point{X: c.Min.X - tickLength - textAfter, Y: y}, t.text)
		}
	}
	slanted := p.slanted(c.Max.X - c.Min.X)
	for _, t := range p.xTicks(c.Max.X - c.Min.X) {
		x := tx(t.at)
		c.StrokeLine2(axisLine, x, c.Min.Y-tickLength, x, c.Min.Y)
		s := ticksText
		s.XAlign, s.YAlign = text.XCenter, text.YTop
		if slanted {
			s.Rotation, s.XAlign, s.YAlign = slant, text.XRight, text.YCenter
		}
		y := c.Min.Y - tickLength - textAfter
		if t.low {
			y -= ticksText.Font.Size
		}
		c.FillText(s, vg.Point{X: x, Y: y}, t.text)
	}
	for _, d := range p.drawn {
		d.Plot(c, of)
	}
	c.StrokeLine2(axisLine, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	c.StrokeLine2(axisLine, c.Min.X, c.Min.Y, c.Min.X, c.Max.Y)
	if p.title != "" {
		s := ticksText
		s.XAlign, s.YAlign = text.XCenter, text.YBottom
		c.FillText(s, vg.Point{X: c.Center().X, Y: c.Max.Y + 2.5}, p.title)
	}
}
