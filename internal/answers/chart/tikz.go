package chart

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// TeX is the chart for pgfplots, which reads its lines from tables: a group of axes beside and below
// each other. It looks as it does in the other formats. escape makes a text one of TeX; origin is a
// comment.
func (c *Chart) TeX(width, height vg.Length, origin string, escape func(string) string) ([]byte, error) {
	c.Wider = 1.2 // Computer Modern, the widest that papers are set in
	l, err := c.lay(width, height)
	if err != nil {
		return nil, err
	}
	b := &tikz{chart: c, layout: &l, escape: escape}
	b.put("%% %s\n", origin)
	b.WriteString("% Needs \\usepackage{pgfplots}, \\usepgfplotslibrary{groupplots} and\n" +
		"% \\pgfplotsset{compat=1.16}. From another folder:\n" +
		"% \\pgfplotsset{table/search path={FOLDER}}.\n\\begin{tikzpicture}[\n")
	for _, l := range c.Shown() {
		b.put("  look %d/.style={%s},\n", l.Level, TeX(l.Level))
	}
	b.WriteString("  text of axis/.style={inner sep=0, font=\\footnotesize},\n]\n")
	b.open()
	for i, p := range c.Panes {
		b.put("\\nextgroupplot[title={%s}]\n", escape(p.Title))
		if i == 0 {
			b.entries()
		}
		for _, l := range p.Lines {
			joined := ""
			if p.X.Names {
				joined = ", only marks"
			}
			b.put("\\addplot[look %d, forget plot%s, error bars/.cd, y dir=both, y explicit]\n"+
				"  table[x=x, y=figure, y error plus=plus, y error minus=minus] {%s.dat};\n",
				l.Level, joined, l.File)
			if slices.ContainsFunc(l.Points, func(q Point) bool { return q.Hollow }) {
				b.put("\\addplot[look %d, forget plot, only marks, every mark/.append style={fill=white}]\n"+
					"  table[x=x, y=hollow] {%s.dat};\n", l.Level, l.File)
			}
		}
		b.labels(&p)
	}
	b.close()
	return b.Bytes(), nil
}

type tikz struct {
	bytes.Buffer
	chart  *Chart
	layout *layout
	escape func(string) string
}

func (b *tikz) put(format string, args ...any) { fmt.Fprintf(b, format, args...) }

// edge is how far the texts of the vertical axis reach to the left.
func (b *tikz) edge() float64 { return float64(b.layout.yTitle + b.layout.yRoom) }

// notesBelow is how far below the panes the notes begin.
func (b *tikz) notesBelow() float64 { return float64(b.layout.xRoom + 1 + titleText.Font.Size + 6) }

// open begins the group of axes.
func (b *tikz) open() {
	l, first := b.layout, &b.chart.Panes[0]
	columns := "-1" // as many as there are
	if rows := math.Round(float64(l.legend / legendRow)); rows > 1 {
		columns = fmt.Sprintf("%v, transpose legend", rows)
	}
	down := l.head + l.xRoom
	below := b.notesBelow() + float64(noteRow*vg.Length(len(l.notes))) + 2
	b.put("\\begin{groupplot}[\n"+
		"  group style={group size=%d by %d, horizontal sep=%.2fbp, vertical sep=%.2fbp,\n"+
		"    yticklabels at=edge left},\n"+
		"  scale only axis, width=%.2fbp, height=%.2fbp, axis x line*=bottom, axis y line*=left,\n"+
		"  tick align=outside, major tick length=3bp, minor tick length=3bp, tick style={black},\n"+
		"  ymajorgrids, grid style={black!15},\n%s%s"+
		"  tick label style={align=center, font=\\scriptsize, inner sep=2bp},\n"+
		"  title style={font=\\scriptsize, yshift=-1.2ex},\n"+
		"  every axis plot/.append style={line width=.8pt, mark size=1.7pt},\n"+
		"  error bars/error bar style={solid, line width=.4pt}, unbounded coords=discard,\n"+
		"  legend columns=%s, legend cell align=left, legend style={draw=none,\n"+
		"    fill=none, inner sep=0, font=\\scriptsize, at={(0,0)}, anchor=north west, xshift=-%.2fbp,\n"+
		"    yshift=-%.2fbp, nodes={inner xsep=1.5bp, inner ysep=0.8pt}, \n"+
		"    /tikz/every even column/.append style={column sep=4bp}},\n]\n",
		l.columns, l.rows, float64(paneGap), float64(down), float64(l.wide), float64(l.tall),
		b.side("x", &first.X, first.xTicks(l.wide), first.slanted(l.wide)),
		b.side("y", &first.Y, first.Y.marked(l.tall, upright), false), columns, b.edge(),
		below+float64(float64(l.rows-1)*float64(down+l.tall)))
}

// labels writes those of a pane.
func (b *tikz) labels(p *Pane) {
	wide, tall := b.layout.wide, b.layout.tall
	for _, l := range p.labels(wide, tall) {
		if !l.free {
			continue
		}
		var lines []string
		for _, line := range l.lines {
			lines = append(lines, b.escape(line))
		}
		b.put("\\node[anchor=north east, align=right, inner sep=0, font=\\scriptsize] at\n"+
			"  (rel axis cs:%.3f,%.3f) {%s};\n", float64(l.box.Max.X/wide), float64(l.box.Max.Y/tall),
			strings.Join(lines, `\\`))
	}
}

// side is an axis as keys of pgfplots.
func (b *tikz) side(name string, a *Axis, ticks []Tick, slanted bool) string {
	place := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	var at, texts, bare []string
	for _, t := range ticks {
		if t.Text == "" {
			bare = append(bare, place(t.At))
			continue
		}
		text := b.escape(t.Text)
		if t.Low {
			text = `\vphantom{0}\\` + text
		}
		at, texts = append(at, place(t.At)), append(texts, "{"+text+"}")
	}
	out := fmt.Sprintf("  %[1]smin=%[2]s, %[1]smax=%[3]s, %[1]stick={%[4]s}, %[1]sticklabels={%[5]s},\n",
		name, place(a.Min), place(a.Max), strings.Join(at, ","), strings.Join(texts, ","))
	if a.Log {
		out += "  " + name + "mode=log,\n"
	}
	if len(bare) > 0 {
		out += fmt.Sprintf("  minor %stick={%s},\n", name, strings.Join(bare, ","))
	} else {
		out += fmt.Sprintf("  minor %s tick style={draw=none},\n", name)
	}
	if slanted {
		out += "  " + name + "ticklabel style={rotate=60, anchor=east},\n"
	}
	return out
}

// entries are the legend, which names the lines, whether or not the first pane has them.
func (b *tikz) entries() {
	shown := b.chart.Shown()
	for _, e := range b.chart.Legend {
		if e.Shows == OnlyText {
			b.put("\\addlegendimage{empty legend}\\addlegendentry{%s}\n", b.escape(e.Text))
			continue
		}
		only := ""
		if e.Shows == OnlyMark {
			only = ", only marks"
		}
		i := slices.IndexFunc(shown, func(l Line) bool { return l.Name == e.Text })
		for _, comment := range e.Comments {
			b.put("%% %s\n", comment)
		}
		b.put("\\addlegendimage{look %d%s}\\addlegendentry{%s}\n", shown[i].Level, only,
			b.escape(e.Text)+e.Mark)
	}
}

// close ends the group, writes the texts beside it, and makes the picture as large as it was asked
// to be.
func (b *tikz) close() {
	l := b.layout
	b.WriteString("\\end{groupplot}\n")
	last := fmt.Sprintf("group c1r%d.south west", l.rows)
	b.put("\\coordinate (corner) at (%s -| group c%dr1.south east);\n", last, l.columns)
	b.put("\\path (%s) -- (corner) node[midway, anchor=north, yshift=-%.2fbp, text of axis] {%s};\n",
		last, float64(l.xRoom+1), b.escape(b.chart.X))
	for i, text := range l.y {
		b.put("\\path (group c1r1.north west) -- (%s) node[midway, anchor=north,\n"+
			"  xshift=-%.2fbp, rotate=90, text of axis] {%s};\n", last,
			b.edge()-float64(float64(i)*titleRow), b.escape(text))
	}
	if len(l.notes) > 0 {
		var notes []string
		for _, line := range l.notes {
			notes = append(notes, b.escape(line))
		}
		b.put("\\node[anchor=north east, yshift=-%.2fbp, align=right, inner sep=0,\n"+
			"  font=\\scriptsize, text=black!60] at (corner) {%s};\n", b.notesBelow(),
			strings.Join(notes, `\\`))
	}
	b.put("\\pgfresetboundingbox\n\\path[use as bounding box] (group c1r1.north west)\n"+
		"  ++(-%.2fbp,%.2fbp) rectangle ++(%.2fbp,-%.2fbp);\n\\end{tikzpicture}\n", left+b.edge(),
		float64(top+l.head), float64(l.width), float64(l.height))
}

// TeX is the look of a label as options of TikZ.
func TeX(label int) string {
	l := LookOf(label)
	out := fmt.Sprintf("color={rgb,255:red,%d;green,%d;blue,%d}, mark=%s,\n"+
		"    mark options={solid, line width=.5pt%s}", l.Color.R, l.Color.G, l.Color.B, l.Mark.tex,
		l.Mark.turned())
	if l.Dash == nil {
		return out + ", solid"
	}
	var parts []string
	for i, d := range l.Dash {
		parts = append(parts, fmt.Sprintf("%s %gbp", []string{"on", "off"}[i%2], float64(d)))
	}
	return out + ", dash pattern=" + strings.Join(parts, " ")
}
