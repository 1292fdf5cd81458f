package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Frame is a figure without what is drawn in it, for a program that draws it itself: it looks as
// those of this package do.
type Frame struct {
	X, Y  Side
	Notes []string // below the axes, in lines
	// Heading says what the entries of the legend are; "": they say it themselves.
	Heading    string
	LegendRows int

	Width, Height vg.Length
	Columns, Rows int       // of panes
	Wide, Tall    vg.Length // of each
	Across, Down  vg.Length // between them
	// Left and Top are the room between the first pane and the edges of the figure. The texts below
	// the last one begin so far below it.
	Left, Top                    vg.Length
	Edge, TitleRow               vg.Length // between the edge and the first text; from line to line
	TitleBelow, NotesBelow, Ends vg.Length
}

// A Side is an axis of all panes.
type Side struct {
	Title    []string // in lines
	Min, Max float64
	Log      bool
	At       []float64 // ticks
	Texts    []string  // of each; "": it has no room
	Low      []bool    // the text of each stands in a second row
	Names    bool      // the ticks are names, and lines between them mean nothing
	Slanted  bool
	Room     vg.Length // of the texts
}

// A Point is the median of a cell, with its interval and what clocks can be wrong by, if that is
// more.
type Point struct{ X, Y, Low, High, Doubt float64 }

// NewFrame is the frame of panes with those titles, held at some values, with a line for each of
// the levels of the view's series. The points are those of all figures that have one scale.
func NewFrame(v *report.View, m *metric.Metric, held []metric.Field, titles []string, levels []int,
	points []Point, o *Options) (*Frame, error) {
	all := line{}
	for _, p := range points {
		all.points = append(all.points, point{p.X, p.Y, p.Low, p.High, p.Doubt})
	}
	s := scaleOf([]line{all}, o)
	p := s.picture(v, m)
	p.wider = 1.2 // Computer Modern, the widest that papers are set in
	p.name, p.notes = nameOf(v, m, slices.Concat(o.Where, held))
	p.notes = append(p.notes, s.notes()...)
	if doubt := doubtOf([]line{all}); doubt > 0 {
		p.notes = append(p.notes, compare.DoubtNote(doubt))
	}
	for _, title := range titles {
		p.panes = append(p.panes, pane{title: title, x: s.x, y: s.y})
	}
	var shown []line
	if v.Series != report.None {
		for _, level := range levels {
			shown = append(shown, line{level: level, name: v.Columns[v.Series].Values[level]})
		}
	}
	f := &Frame{Heading: p.entries(v, shown, lineAndMark)}
	l, err := p.lay(o.Width, o.Height)
	if err != nil {
		return nil, err
	}
	first := &p.panes[0]
	f.X, f.Y = side(&first.x, first.xTicks(l.wide), l.xRoom),
		side(&first.y, first.y.marked(l.tall, upright), l.yRoom)
	f.X.Title, f.Y.Title, f.X.Slanted = []string{p.x}, l.y, first.slanted(l.wide)
	f.Notes, f.Width, f.Height = l.notes, l.width, l.height
	f.Columns, f.Rows, f.Wide, f.Tall = l.columns, l.rows, l.wide, l.tall
	f.Across, f.Down = paneGap, l.head+l.xRoom
	f.Edge, f.TitleRow = left, titleRow
	f.Left, f.Top = left+l.yTitle+l.yRoom, top+l.head
	f.TitleBelow, f.NotesBelow = l.xRoom+1, l.xRoom+1+titleText.Font.Size+6
	f.Ends = f.NotesBelow + noteRow*vg.Length(len(l.notes)) + 2
	f.LegendRows = max(1, int(math.Round(float64(l.legend/legendRow))))
	return f, nil
}

func side(a *axis, ticks []tick, room vg.Length) Side {
	s := Side{Min: a.min, Max: a.max, Log: a.log, Names: a.names, Room: room}
	for _, t := range ticks {
		s.At, s.Texts, s.Low = append(s.At, t.at), append(s.Texts, t.text), append(s.Low, t.low)
	}
	return s
}

// TeX is the look of a label as options of TikZ.
func TeX(label int) string {
	l := lookOf(label)
	out := fmt.Sprintf("color={rgb,255:red,%d;green,%d;blue,%d}, mark=%s,\n"+
		"    mark options={solid, line width=.5pt}", l.color.R, l.color.G, l.color.B,
		marks[label%len(marks)].tex)
	if l.dash == nil {
		return out + ", solid"
	}
	var parts []string
	for i, d := range l.dash {
		parts = append(parts, fmt.Sprintf("%s %gbp", []string{"on", "off"}[i%2], float64(d)))
	}
	return out + ", dash pattern=" + strings.Join(parts, " ")
}

// Shift is by how much the k-th of n lines is drawn beside where it is.
func Shift(k, n int) vg.Length {
	return min(mostApart, 8/vg.Length(n)) * (vg.Length(k) - vg.Length(n-1)/2)
}

// Dodge is the same in units of an axis of names.
func Dodge(k, n int) float64 {
	if n < 2 {
		return 0
	}
	return 0.6 * (float64(k)/float64(n-1) - 0.5)
}

// ends are those of an axis that someone asks for; NaN: as the values want it.
func ends(o *Options) (least, most float64) {
	least, most = math.NaN(), math.NaN()
	if o.YMin != nil {
		least = *o.YMin
	}
	if o.YMax != nil {
		most = *o.YMax
	}
	return least, most
}
