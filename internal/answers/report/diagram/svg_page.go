package diagram

import (
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// page puts the rows below each other, with a title above and a legend below.
func (c *drawing) page() string {
	width := 0.0
	for _, r := range c.rows {
		width = math.Max(width, r.to-r.from)
	}
	width = math.Max(width+gutter, math.Min(textWidth(c.trace.Title, 16), rowWidth)) + 2*margin
	var body svg.Writer
	y := margin + 14
	body.Put(`<text class="t" x="%v" y="%v">%v</text>`+"\n", margin, y,
		escape(short(c.trace.Title, 110)))
	for _, text := range wrap(c.subtitle, width-2*margin) {
		y += 16
		body.Put(`<text class="dim" x="%v" y="%v">%v</text>`+"\n", margin, y, escape(text))
	}
	y += 6
	high := c.height() + axis
	for _, r := range c.rows {
		c.row(&body, r, y, high)
		y += high + 4
	}
	y = c.legend(&body, y+10, width)
	for _, note := range c.notes {
		for _, text := range wrap(note, width-2*margin) {
			y += 15
			body.Put(`<text class="dim" x="%v" y="%v">%v</text>`+"\n", margin, y, escape(text))
		}
	}
	y += margin
	var out svg.Writer
	out.WriteString(svg.Head("st", oneLine(c.trace.Title), width, y))
	out.Put("<desc>%s</desc>\n<style>%s%s</style>\n", escape(c.subtitle), style, classes())
	out.Put(`<path class="bg" d="M0 0H%vV%vH0z"/>`+"\n", width, y)
	return out.String() + body.String() + "</svg>\n"
}

// classes are those of the colours and dashes.
func classes() string {
	var b svg.Writer
	for i := range kindColours {
		b.Put(".st .k%d{color:var(--k%d)}\n", i, i)
	}
	for i, dash := range dashes {
		if dash != "" {
			b.Put(".st .d%d .m{stroke-dasharray:%s}\n", i, dash)
		}
	}
	for i := range leaderColours {
		b.Put(".st .l%d{fill:var(--l%d)}\n", i, i)
	}
	for i := range groupColours {
		b.Put(".st .g%d{fill:var(--g%d)}\n", i, i)
	}
	return b.String()
}

// row draws a part of the line. What reaches beyond its ends is clipped.
func (c *drawing) row(out *svg.Writer, r row, y, high float64) {
	for _, p := range c.procs {
		out.Put(`<text class="p" x="%v" y="%v">p%d</text>`, margin+gutter-16, y+c.y(p)+4, p)
	}
	before, after := 10.0, 10.0
	if r.to == c.rows[len(c.rows)-1].to {
		after = margin
	}
	wide := r.to - r.from + before + after
	out.Put("\n"+`<svg x="%v" y="%v" width="%v" height="%v" viewBox="%v 0 %v %v">`+"\n",
		margin+gutter-before, y, wide, high, r.from-before, wide, high)
	for layer, items := range c.items {
		for _, i := range items {
			seen := i.to >= r.from-before && i.from <= r.to+after
			if layer == texts { // a text stands in one row
				seen = c.rowAt(i.from) == r
			}
			if seen {
				out.WriteString(i.text)
				out.WriteByte('\n')
			}
		}
	}
	out.WriteString("</svg>\n")
}

// wrap breaks a text into lines of a width.
func wrap(text string, width float64) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && textWidth(line+" "+word, 11) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// legend explains what is drawn, and nothing else. It returns where it ends.
func (c *drawing) legend(out *svg.Writer, y, width float64) float64 {
	x := margin
	entry := func(sample, text string) {
		wide := 40 + textWidth(text, 11) + 14
		if x+wide > width-margin && x > margin {
			x, y = margin, y+19
		}
		out.Put(`<g transform="translate(%v %v)">%v<text x="36" y="4">%v</text></g>`+"\n", x, y,
			sample, escape(text))
		x += wide
	}
	slices.Sort(c.kinds)
	for _, kind := range c.kinds {
		name := "HEARTBEAT"
		if kind < len(c.trace.Kinds) {
			name = c.trace.Kinds[kind]
		}
		entry(svg.Paint(`<g class="k%d d%d">`, kind%kindColours, kind%len(dashes))+
			`<path class="m" d="M2 0H24"/><path class="h" d="M30 0l-8 -3.3v6.6z"/></g>`,
			short(oneLine(name), 32))
	}
	for _, e := range legendEntries {
		if c.signs[e.sign] {
			entry(e.sample, e.text)
		}
	}
	return y + 8
}

// signOf is how records of a type are marked, for the legend: from the height y.
func signOf(t trace.Type, y int) string {
	return svg.Paint(`<path class="%v" d="M16 %d%v"/>`, signs[t].class, y, signs[t].path)
}

// legendEntries are in the order in which they are explained.
var legendEntries = []struct{ sign, sample, text string }{
	{"lost", `<g class="k7"><path class="m" d="M2 0H18"/><path class="x" d="M14 -4l8 8m0 -8l-8 8"/></g>`,
		"lost"},
	{"undelivered",
		`<g class="k7"><path class="m" d="M2 0H22"/><circle class="ring" cx="26" cy="0" r="3.6"/></g>`,
		"reached a process that was down"},
	{"pending", `<g class="k7 open"><path class="m" d="M2 0H30"/></g>`, "still in flight at the end"},
	{"late", `<path class="late" d="M4 0H28"/>`, "late: from due to handled"},
	{"elect", signOf(trace.Elect, 0), "starts an election"},
	{"leader", `<path class="l1" d="M2 -6H30v12H2z"/>`, "takes the named one for the leader"},
	{"self", `<path class="l1 self" d="M2 -6H30v12H2z"/>`, "leads"},
	{"wait", `<path class="wait" d="M2 0H30"/>`, "waits for the critical section"},
	{"cs", `<path class="cs" d="M2 -5.5H30v11H2z"/>`, "is in the critical section"},
	{"two", `<path class="two" d="M4 -6H28v12H4z"/>`, "two are in the critical section"},
	{"timer", signOf(trace.Timeout, -4), "a timer fires"},
	{"suspect", signOf(trace.Suspect, -5), "suspects"},
	{"restore", signOf(trace.Restore, -5), "trusts again"},
	{"save", signOf(trace.Save, -5), "saves its state"},
	{"log", signOf(trace.Log, -5), "notes"},
	{"unsound", signOf(trace.Unsound, -5), "its invariant does not hold"},
	{"do", signOf(trace.Do, 0), "is instructed to do something"},
	{"crash", signOf(trace.Crash, 0), "crashes"},
	{"off", `<path class="off" d="M2 0H30"/>`, "is down"},
	{"up", signOf(trace.Up, 0), "is up again"},
	{"pause", `<path class="pause" d="M2 0H30"/>`, "is paused"},
	{"slow", `<path class="slow" d="M2 0H30"/>`, "is slow"},
	{"fault", `<path class="fault" d="M2 0H30"/>`, "is under another fault"},
	{"band", `<path class="band" d="M2 -7H30v14H2z"/><path class="edge" d="M2 -7v14"/>`,
		"links are cut or flaky"},
	{"break", `<path class="lane" d="M2 0H13M19 0H30"/><path class="gap" d="M15 -5l-4 10m5 0l4 -10"/>`,
		"time cut short"},
	{"event", `<circle class="hot" cx="16" cy="0" r="7"/>`, "the event"},
}
