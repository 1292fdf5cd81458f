package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A label names lines that lie on each other, of which a reader sees one alone.
type label struct {
	names string
	lines []string // of text
	box   vg.Rectangle
	free  bool // there is a place for it, which is box; else a note has to say it
}

const (
	covers   = 2.5 // how near to each other marks are of which one hides the other
	labelGap = 4   // between a line and its label
	labelRow = 8
)

// labels are those of the lines of a pane so large, in points from its lower left corner.
func (p *Pane) labels(wide, tall vg.Length) (out []label) {
	if p.X.Names || p.Y.Names { // they stand beside each other
		return nil
	}
	along, up := p.X.scaled(), p.Y.scaled()
	ways := make([][]vg.Point, len(p.Lines))
	for k, l := range p.Lines {
		for _, q := range l.Points {
			ways[k] = append(ways[k], vg.Point{X: wide * vg.Length(along.Norm(q.X)),
				Y: tall * vg.Length(up.Norm(q.Y))})
		}
	}
	var taken []vg.Rectangle
	for _, group := range coinciding(ways) {
		var names []string
		for _, k := range group {
			names = append(names, p.Lines[k].Name)
		}
		l := label{names: strings.Join(names, ", ")}
		l.lines = even(l.names, smallText, wide-2*labelGap)
		l.place(ways, ways[group[0]], taken, vg.Point{X: wide, Y: tall})
		if l.free {
			taken = append(taken, l.box)
		}
		out = append(out, l)
	}
	return out
}

// coinciding are the groups of lines, by their numbers, that lie on each other wherever two of them have
// a point at the same place.
func coinciding(ways [][]vg.Point) (out [][]int) {
	on := func(a, b []vg.Point) bool {
		shared := 0
		for _, p := range a {
			i := slices.IndexFunc(b, func(q vg.Point) bool { return q.X == p.X })
			switch {
			case i < 0:
			case math.Abs(float64(b[i].Y-p.Y)) >= covers:
				return false
			default:
				shared++
			}
		}
		return shared > 0
	}
	seen := make([]bool, len(ways))
	for k := range ways {
		group := []int{k}
		for i := k + 1; i < len(ways) && !seen[k]; i++ {
			if !seen[i] && on(ways[k], ways[i]) {
				group, seen[i] = append(group, i), true
			}
		}
		if len(group) > 1 {
			out = append(out, group)
		}
	}
	return out
}

// place finds a place beside a line that no line crosses, the rightmost above or below it.
func (l *label) place(ways [][]vg.Point, way []vg.Point, taken []vg.Rectangle, pane vg.Point) {
	size := vg.Point{Y: labelRow * vg.Length(len(l.lines))}
	for _, line := range l.lines {
		size.X = max(size.X, smallText.Width(line))
	}
	for left := pane.X - size.X - 1; left >= 1; left -= 4 {
		low, high := span(way, left, left+size.X)
		for _, bottom := range []vg.Length{high + labelGap, low - labelGap - size.Y} {
			corner := vg.Point{X: left, Y: bottom}
			box := vg.Rectangle{Min: corner, Max: corner.Add(size)}
			hit := func(other vg.Rectangle) bool {
				return box.Min.X < other.Max.X && other.Min.X < box.Max.X && box.Min.Y < other.Max.Y &&
					other.Min.Y < box.Max.Y
			}
			if bottom < 1 || box.Max.Y > pane.Y || slices.ContainsFunc(taken, hit) {
				continue
			}
			crossed := slices.ContainsFunc(ways, func(w []vg.Point) bool {
				low, high := span(w, left, left+size.X)
				return low < box.Max.Y+2 && high > box.Min.Y-2
			})
			if !crossed {
				l.box, l.free = box, true
				return
			}
		}
	}
}

// span is how low and how high a way is between two places; beyond its ends it is nowhere.
func span(way []vg.Point, from, to vg.Length) (low, high vg.Length) {
	low, high = vg.Length(math.Inf(1)), vg.Length(math.Inf(-1))
	add := func(p vg.Point) {
		if p.X >= from-2 && p.X <= to+2 {
			low, high = min(low, p.Y), max(high, p.Y)
		}
	}
	for i, p := range way {
		if add(p); i == 0 {
			continue
		}
		for _, x := range []vg.Length{from, to} { // where the way enters and leaves
			if a := way[i-1]; a.X < x && x < p.X {
				add(vg.Point{X: x, Y: a.Y + (p.Y-a.Y)*(x-a.X)/(p.X-a.X)})
			}
		}
	}
	return low, high
}

// drawLabels writes the labels of p.
func (p *Pane) drawLabels(c draw.Canvas) {
	s := smallText
	s.XAlign, s.YAlign = text.XRight, text.YTop
	for _, l := range p.labels(c.Max.X-c.Min.X, c.Max.Y-c.Min.Y) {
		for i, line := range l.lines {
			if l.free {
				at := c.Min.Add(vg.Point{X: l.box.Max.X, Y: l.box.Max.Y - labelRow*vg.Length(i)})
				c.FillText(s, at, line)
			}
		}
	}
}

// unlabelled say which lines lie on each other where there is no room to write it beside them.
func (p *Chart) unlabelled(l *layout) (out []string) {
	for i := range p.Panes {
		pane := &p.Panes[i]
		for _, label := range pane.labels(l.wide, l.tall) {
			if label.free {
				continue
			}
			text := "on each other: " + label.names
			if pane.Title != "" {
				text = fmt.Sprintf("on each other (%s): %s", pane.Title, label.names)
			}
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}
