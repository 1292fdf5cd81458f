package atlas

import (
	"fmt"
	"math"

	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
)

// An Atlas is the entries of one elector.
type Atlas struct {
	Label   string
	Entries []Entry
}

// Sizes of the picture, in pixels.
const (
	margin  = 16.0
	tile    = 66.0 // of a graph
	caption = 14.0 // below it, for its share
	gap     = 4.0
	perRow  = 15
	radius  = 23.0 // of the circle on which the vertices stand
	dot     = 3.6
)

// style draws each class in a colour and a dash of its own: colour alone does not reach
// everybody.
const style = `.at{fill:#1f2328;
font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif}
.at .bg{fill:#fff}
.at .t{font-size:15px;font-weight:600}
.at .l{font-size:12px}
.at .s{font-size:10px;text-anchor:middle}
.at .name{font-size:11px;font-weight:700;text-anchor:middle}
.at .c0{--c:#0072b2;--p:#e3f0f8}
.at .c1{--c:#b36b00;--p:#fdf0d5}
.at .c2{--c:#b3261e;--p:#fbe4e2}
.at .tile{fill:var(--p)}
.at .e{stroke:var(--c);stroke-width:1.6;fill:none}
.at .c1 .e{stroke-dasharray:4 2}
.at .c2 .e{stroke-dasharray:1.5 2}
.at .v{stroke:var(--c);stroke-width:7.2;stroke-linecap:round}
.at .lead{fill:#fff;stroke:var(--c);stroke-width:2}
.at .h{fill:var(--c)}
`

// A picture is one that is being drawn.
type picture struct {
	svg.Writer
	y float64
}

// SVG is a picture of all graphs of each elector, each in the colour of its class, with the
// share below.
func SVG(atlases []Atlas, about string) []byte {
	p := &picture{y: margin}
	most := 0
	for _, a := range atlases {
		most = max(most, len(a.Entries))
	}
	wide := math.Max(float64(min(most, perRow))*(tile+gap)-gap, 640)
	used := map[string]bool{}
	for i := range atlases {
		p.panel(&atlases[i], used)
	}
	p.legend(used, about)
	var out svg.Writer
	width, height := wide+2*margin, p.y+margin
	out.Put("%s\n<style>\n%s</style>\n", svg.Head("at", about, width, height), style)
	out.Put(`<path class="bg" d="M0 0H%vV%vH0z"/>`+"\n", width, height)
	return []byte(out.String() + p.String() + "</svg>\n")
}

// panel draws the graphs of one elector.
func (p *picture) panel(a *Atlas, used map[string]bool) {
	p.y += 15
	n := Count(a.Entries)
	p.Put(`<text class="t" x="%v" y="%v">%s</text>`+"\n", margin, p.y, svg.Escape(a.Label))
	p.y += 17
	p.Put(`<text class="l" x="%v" y="%v">%d serves · %d flaps · %d never</text>`+"\n", margin, p.y,
		n[Serves], n[Flaps], n[Never])
	p.y += 8
	for i := range a.Entries {
		x := margin + float64(i%perRow)*(tile+gap)
		p.entry(&a.Entries[i], x, p.y+float64(float64(i/perRow)*(tile+caption+gap)), used)
	}
	rows := (len(a.Entries) + perRow - 1) / perRow
	p.y += float64(float64(rows)*(tile+caption+gap)) + 10
}

// entry draws one graph, its leader on top, with its share below.
func (p *picture) entry(e *Entry, x, y float64, used map[string]bool) {
	g := &e.Graph
	p.Put(`<g class="c%d"><title>%s: %v, share %s</title>`, int(e.Class()), g, e.Class(), Decimal(e.Share()))
	p.Put(`<rect class="tile" x="%v" y="%v" width="%v" height="%v" rx="5"/>`, x, y, tile, tile)
	at := func(v int) (float64, float64) {
		sin, cos := math.Sincos(2 * math.Pi * float64(v-1) / float64(g.Vertices))
		return x + tile/2 + float64(radius*sin), y + tile/2 + 1 - float64(radius*cos)
	}
	var lines, heads, dots picture
	for _, l := range g.Links() {
		x1, y1 := at(l[0])
		x2, y2 := at(l[1])
		if l[0] < l[1] || !g.Has(l[1], l[0]) {
			lines.Put("M%v %vL%v %v", x1, y1, x2, y2)
		}
		if g.Directed {
			heads.head(x1, y1, x2, y2)
		}
	}
	for v := 2; v <= g.Vertices; v++ {
		cx, cy := at(v)
		dots.Put("M%v %vh.01", cx, cy)
	}
	for _, path := range []struct {
		class string
		of    *picture
	}{{"e", &lines}, {"h", &heads}, {"v", &dots}} {
		if path.of.Len() > 0 {
			p.Put(`<path class="%s" d="%s"/>`, path.class, path.of.String())
		}
	}
	cx, cy := at(1)
	p.Put(`<circle class="lead" cx="%v" cy="%v" r="%v"/>`, cx, cy, dot+1)
	if name := g.Name(); name != "" {
		used[name] = true
		p.Put(`<text class="name" x="%v" y="%v">%s</text>`, x+9, y+14, letter(name))
	}
	p.Put(`<text class="s" x="%v" y="%v">%s</text></g>`+"\n", x+tile/2, y+tile+11, Decimal(e.Share()))
}

// head draws the head of an arrow before its end's vertex.
func (p *picture) head(x1, y1, x2, y2 float64) {
	length := math.Hypot(x2-x1, y2-y1)
	ux, uy := (x2-x1)/length, (y2-y1)/length
	tipX, tipY := x2-float64(ux*5), y2-float64(uy*5)
	backX, backY := tipX-float64(ux*7), tipY-float64(uy*7)
	p.Put("M%v %vL%v %vL%v %vz", tipX, tipY, backX-float64(uy*3.5), backY+float64(ux*3.5),
		backX+float64(uy*3.5), backY-float64(ux*3.5))
}

// letter marks a graph that has a name.
func letter(name string) string {
	for i := range Shapes {
		if Shapes[i].Name == name {
			return string(rune('A' + i))
		}
	}
	return ""
}

// legend says what the colours, the circle and the letters mean.
func (p *picture) legend(used map[string]bool, about string) {
	line := func(text string, indent float64) {
		p.Put(`<text class="l" x="%v" y="%v">%s</text>`+"\n", margin+indent, p.y, svg.Escape(text))
		p.y += 17
	}
	p.y += 4
	for c, class := range Classes {
		p.Put(`<g class="c%d"><rect class="tile" x="%v" y="%v" width="34" height="14" rx="3"/>`+
			`<path class="e" d="M%v %vh22"/></g>`, c, margin, p.y-11, margin+6, p.y-4)
		line(class.Name+": "+class.Doc, 42)
	}
	p.Put(`<g class="c0"><circle class="lead" cx="%v" cy="%v" r="%v"/></g>`, margin+17, p.y-4, dot+1)
	line("the leader at first; below each graph: the share, the mean over the seeds", 42)
	for i := range Shapes {
		if s := &Shapes[i]; used[s.Name] {
			p.Put(`<text class="name" x="%v" y="%v">%s</text>`, margin+17, p.y, letter(s.Name))
			line(s.Name, 42)
		}
	}
	line(about, 0)
}

// Decimal writes a share for people.
func Decimal(share float64) string {
	switch share {
	case 0:
		return "0"
	case 1:
		return "1"
	}
	// What is less than all never reads as all.
	return fmt.Sprintf("%.3f", math.Min(math.Max(share, 0.001), 0.999))
}
