package chart

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

// A Tick is a place on an axis and what is written there.
type Tick struct {
	At   float64
	Text string
	Low  bool // the text stands in a second row, below those of its neighbours
}

// An Axis goes from Min to Max.
type Axis struct {
	Min, Max float64
	Log      bool
	// Ticks are the places that have a mark; nil: round values. Where their texts would overlap
	// some are left out, the first and the last not.
	Ticks []Tick
	Names bool // the ticks are names, for which the axis makes room
}

// LogScale stands behind the title of an axis in decades.
const LogScale = ", log scale"

// scaled is a as the library's plotters want it.
func (a *Axis) scaled() (out plot.Axis) {
	out.Min, out.Max, out.Scale = a.Min, a.Max, plot.LinearScale{}
	if a.Log {
		out.Scale = plot.LogScale{}
	}
	return out
}

// marked are the ticks of an axis of that length, on which a text takes as much room as size
// says. Those without room have no text.
func (a *Axis) marked(length vg.Length, size func(string) vg.Length) []Tick {
	ticks := slices.Clone(a.Ticks)
	switch {
	case ticks != nil:
	case a.Log:
		ticks = Decades(a.Min, a.Max)
	default:
		ticks = Rounds(a.Min, a.Max, func(text string) float64 {
			return float64((size(text) + textsApart + 2) / length)
		})
	}
	a.texts(ticks, length, size)
	return ticks
}

// textsApart is the room between two texts of an axis.
const textsApart = 4

// texts leaves those ticks their texts that have room for them.
func (a *Axis) texts(ticks []Tick, length vg.Length, size func(string) vg.Length) {
	scale := a.scaled()
	place := func(t Tick) vg.Length { return vg.Length(scale.Norm(t.At)) * length }
	var taken [][2]vg.Length
	fits := func(t Tick) bool {
		half := size(t.Text)/2 + textsApart/2
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
		case a.Log && math.Abs(math.Log10(ticks[i].At)-math.Round(math.Log10(ticks[i].At))) < 1e-9:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
	for _, i := range order {
		if ticks[i].Text != "" && !fits(ticks[i]) {
			ticks[i].Text = ""
		}
	}
}

// steps are those between round values, by power of ten.
var steps = []float64{1, 2, 2.5, 5}

// Rounds are round values from low to high, as many as there is room for, and both ends. need
// is the share of the axis that a text takes. A step that leads from end to end is preferred.
func Rounds(low, high float64, need func(string) float64) (out []Tick) {
	room := func(step float64) bool {
		widest := max(need(Number(low)), need(Number(high)), need(Number(math.Ceil(low/step)*step)),
			need(Number(math.Floor(high/step-1)*step)))
		return (high-low)/step*widest <= 1
	}
	even := func(v, step float64) bool { return math.Abs(v/step-math.Round(v/step)) < 1e-6 }
	step := stepOf(low, high, func(step float64) bool {
		return room(step) && even(low, step) && even(high, step)
	})
	if step >= high-low {
		step = stepOf(low, high, room)
	}
	out = append(out, Tick{At: low, Text: Number(low)})
	for k := math.Floor(low/step) + 1; k*step < high-step/1e6; k++ {
		if v := k * step; v > low+step/1e6 {
			out = append(out, Tick{At: v, Text: Number(v)})
		}
	}
	return append(out, Tick{At: high, Text: Number(high)})
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

// Decades are the ticks of a logarithmic axis: the powers of ten, two and five times them, and
// both ends.
func Decades(low, high float64) (out []Tick) {
	out = append(out, Tick{At: low, Text: Number(low)})
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, k := range []float64{1, 2, 5} {
			if v := k * math.Pow(10, power); v > low*(1+1e-9) && v < high*(1-1e-9) {
				out = append(out, Tick{At: v, Text: Number(v)})
			}
		}
	}
	return append(out, Tick{At: high, Text: Number(high)})
}

// Number is v on an axis.
func Number(v float64) string {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // it was written so
	if a := math.Abs(f); a >= 1e6 || a > 0 && a < 1e-3 {
		short := strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-")
		return short.Replace(strconv.FormatFloat(f, 'e', -1, 64))
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// A Pane is one pair of axes and what is drawn between them.
type Pane struct {
	Title string
	X, Y  Axis
	Lines []Line // what is drawn, in data
	Drawn []plot.Plotter
	part  string // of the lines of its chart; "": all
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
func (p *Pane) yRoom(tall vg.Length) (widest vg.Length) {
	for _, t := range p.Y.marked(tall, upright) {
		widest = max(widest, ticksText.Width(t.Text))
	}
	return widest + tickLength + textAfter
}

// upright is the room of a text on a vertical axis.
func upright(string) vg.Length { return ticksText.Font.Size }

// slanted says whether the names of the horizontal axis have no room beside each other.
func (p *Pane) slanted(wide vg.Length) bool {
	if !p.X.Names {
		return false
	}
	for _, t := range p.X.Ticks {
		if ticksText.Width(t.Text)+4 > wide/vg.Length(len(p.X.Ticks)) {
			return true
		}
	}
	return false
}

// xTicks are those of a horizontal axis so wide. A swept value whose text has no room beside its
// neighbours has it below them.
func (p *Pane) xTicks(wide vg.Length) []Tick {
	ticks := p.X.marked(wide, p.size(wide))
	if p.X.Ticks == nil || p.X.Names {
		return ticks
	}
	second := slices.Clone(p.X.Ticks)
	for i := range second {
		if ticks[i].Text != "" {
			second[i].Text = ""
		}
	}
	p.X.texts(second, wide, p.size(wide))
	for i, t := range second {
		if t.Text != "" {
			ticks[i].Text, ticks[i].Low = t.Text, true
		}
	}
	return ticks
}

// size is the room of a text on a horizontal axis so wide.
func (p *Pane) size(wide vg.Length) func(string) vg.Length {
	if p.slanted(wide) {
		return upright
	}
	return ticksText.Width
}

// slant is that of names which have no room beside each other.
const slant = math.Pi / 3

// xRoom is what the texts of the horizontal axis take below it.
func (p *Pane) xRoom(wide vg.Length) (tall vg.Length) {
	tall = ticksText.Font.Size
	if slices.ContainsFunc(p.xTicks(wide), func(t Tick) bool { return t.Low }) {
		tall *= 2
	}
	if p.slanted(wide) {
		for _, t := range p.X.Ticks {
			tall = max(tall, vg.Length(math.Sin(slant))*ticksText.Width(t.Text)+4)
		}
	}
	return tall + tickLength + textAfter
}

// draw draws the axes along the edges of c, and into it what is between them; named says
// whether the vertical axis has its texts.
func (p *Pane) draw(c draw.Canvas, named bool) {
	of := plot.New()
	of.X, of.Y = p.X.scaled(), p.Y.scaled()
	tx, ty := of.Transforms(&c)
	for _, t := range p.Y.marked(c.Max.Y-c.Min.Y, upright) {
		y := ty(t.At)
		if !p.Y.Names && t.Text != "" {
			c.StrokeLine2(gridLine, c.Min.X, y, c.Max.X, y)
		}
		c.StrokeLine2(axisLine, c.Min.X-tickLength, y, c.Min.X, y)
		if named {
			s := ticksText
			s.XAlign, s.YAlign = text.XRight, text.YCenter
			c.FillText(s, vg.Point{X: c.Min.X - tickLength - textAfter, Y: y}, t.Text)
		}
	}
	slanted := p.slanted(c.Max.X - c.Min.X)
	for _, t := range p.xTicks(c.Max.X - c.Min.X) {
		x := tx(t.At)
		c.StrokeLine2(axisLine, x, c.Min.Y-tickLength, x, c.Min.Y)
		s := ticksText
		s.XAlign, s.YAlign = text.XCenter, text.YTop
		if slanted {
			s.Rotation, s.XAlign, s.YAlign = slant, text.XRight, text.YCenter
		}
		y := c.Min.Y - tickLength - textAfter
		if t.Low {
			y -= ticksText.Font.Size
		}
		c.FillText(s, vg.Point{X: x, Y: y}, t.Text)
	}
	for _, d := range p.Drawn {
		d.Plot(c, of)
	}
	p.drawLabels(c)
	c.StrokeLine2(axisLine, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	c.StrokeLine2(axisLine, c.Min.X, c.Min.Y, c.Min.X, c.Max.Y)
	if p.Title != "" {
		s := ticksText
		s.XAlign, s.YAlign = text.XCenter, text.YBottom
		c.FillText(s, vg.Point{X: c.Center().X, Y: c.Max.Y + 2.5}, p.Title)
	}
}

// spans is how far apart values must be for an axis in decades: beyond it, the small
// ones cannot be read on a linear one.
const spans = 100

// together is how near to the largest value the smallest must be, at least, for an axis that
// does not begin at 0: lines that all lie near the top could not be distinguished.
const together = 0.4

// apart says whether values are so far from each other that their axis is logarithmic.
func apart(low, high float64) bool { return low > 0 && high/low > spans }

// ends are those of the axis that shows the values from low to high. The lower one is 0 unless the
// values lie together far above.
func ends(low, high float64) (least, most float64) {
	switch {
	case apart(low, high):
		return below(low), Nice(high)
	case low < high && low >= together*high:
		step := stepOf(low, high, func(step float64) bool { return (high-low)/step <= 5 })
		return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step
	case low < 0:
		return -Nice(-low), Nice(high)
	}
	return 0, Nice(high)
}
