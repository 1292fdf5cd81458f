package diagram

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A sign is how records of a type are marked on the line of their process. The path
// begins at that point of the line, or below it.
type sign struct {
	name  string // in the legend
	class string
	path  string
	below bool // marks below the line stand beside each other
}

// signs are the records that are marked; the others are bars, or nothing to see.
var signs = map[trace.Type]sign{
	trace.Crash:   {"crash", "x", "m-6 -6l12 12m0 -12l-12 12", false},
	trace.Up:      {"up", "hollow", "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", false},
	trace.Elect:   {"elect", "mark", "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", false},
	trace.Do:      {"do", "mark", "m-4 -5l8 5l-8 5z", false},
	trace.Timeout: {"timer", "tri", "m0 1l4 7h-8z", true},
	trace.Suspect: {"suspect", "mark", "m0 1l4 4l-4 4l-4 -4z", true},
	trace.Restore: {"restore", "hollow", "m0 1l4 4l-4 4l-4 -4z", true},
	trace.Log:     {"log", "hollow", "m-3 2h6v6h-6z", true},
	trace.Unsound: {"unsound", "x", "m-3 2l6 6m0 -6l-6 6", true},
	trace.Save:    {"save", "mark", "m-2.5 3h5v5h-5z", true},
}

// noted is what stands beside a mark.
func noted(r *trace.Record) string {
	switch r.Type {
	case trace.Timeout, trace.Log, trace.Unsound, trace.Do:
		return short(oneLine(r.Text), 24)
	case trace.Suspect:
		return fmt.Sprintf("suspects p%d", r.Peer)
	case trace.Restore:
		return fmt.Sprintf("trusts p%d", r.Peer)
	}
	return ""
}

// drawMarks draws what happens to a process at an instant.
func (c *drawing) drawMarks() {
	taken := map[uint32]float64{} // how far marks below each line reach
	for i := range c.trace.Records {
		r := &c.trace.Records[i]
		if c.win.Event == i+1 {
			c.ring(r)
		}
		s, marked := signs[r.Type]
		if !marked || !c.kept[i] || !c.visible(r.At) || c.lane(r.Process) < 0 ||
			r.Type == trace.Up && r.Incarnation == 0 {
			continue
		}
		x, y := c.scale.of(r.At), c.y(r.Process)
		if s.below {
			if last, some := taken[r.Process]; some {
				x = math.Max(x, last+8.5)
			}
			taken[r.Process] = x
			if c.scale.of(r.At) < x-26 { // too many at one instant to stand beside each other
				continue
			}
		}
		c.legendOf(s.name)
		if s.below {
			c.board.take(chain(x, y+5, 6, 6, 0))
		}
		says := harness.Words(r, c.trace.Kinds, c.trace.detail(i).Message) + " at " +
			r.At.Round(time.Microsecond).String() + c.changed(i)
		c.add(marks, x-6, x+6, `<g>%v<path class="%v" d="M%v %v%v"/></g>`, title(says), s.class, x, y,
			s.path)
		if text := noted(r); text != "" && c.spacing >= 46 {
			for _, below := range []float64{19, 29} {
				if c.write(text, x-4, y+below, false) {
					break
				}
			}
		}
	}
}

// ring shows where the event stands whose past is drawn.
func (c *drawing) ring(r *trace.Record) {
	if r.Process == 0 || c.lane(r.Process) < 0 {
		return
	}
	x, y := c.scale.of(r.At), c.y(r.Process)
	c.legendOf("event")
	c.add(marks, x-11, x+11, `<g>%v<circle class="hot" cx="%v" cy="%v" r="10"/></g>`,
		title(fmt.Sprintf("event %d: %s", c.win.Event, sentence(r, c.trace.Kinds))), x, y)
}

// A point is a place on the page.
type point struct{ x, y float64 }

func (p point) towards(q point, share float64) point {
	return point{p.x + (q.x-p.x)*share, p.y + (q.y-p.y)*share}
}

// An arrow is where a message is drawn: from one end to the other, both of which may
// stand at the edge of what is drawn. What goes the same way at the same time is bent,
// by pulling at the middle.
type arrow struct {
	*message
	start, pull, end point
	bent             bool
	whole            bool       // it arrives within what is drawn
	others           []*message // that look the same
}

// bend is how far arrows of the same way are pulled apart, and hairsbreadth how far
// apart arrows may be and still seem to go the same way.
const (
	bend         = 22
	hairsbreadth = 4
)

func (c *drawing) arrowOf(m *message) arrow {
	from, to := point{c.scale.of(m.sent), c.y(m.from)}, point{c.scale.of(m.at), c.y(m.to)}
	a := arrow{message: m, start: from, end: to, whole: m.at <= c.to}
	if way := float64(m.at - m.sent); way > 0 {
		if m.sent < c.from {
			a.start.y = from.towards(to, float64(c.from-m.sent)/way).y
		}
		if m.at > c.to {
			a.end.y = from.towards(to, float64(c.to-m.sent)/way).y
		}
	}
	a.pull = a.start.towards(a.end, 0.5)
	return a
}

// bendBy pulls an arrow aside that has so many others of its way before it.
func (a *arrow) bendBy(others int) {
	a.bent = others > 0
	if length := math.Hypot(a.end.x-a.start.x, a.end.y-a.start.y); length > 0 {
		a.pull.x -= (a.end.y - a.start.y) / length * bend * float64(others)
		a.pull.y += (a.end.x - a.start.x) / length * bend * float64(others)
	}
}

// along is the point at a share of the way.
func (a *arrow) along(share float64) point {
	return a.start.towards(a.pull, share).towards(a.pull.towards(a.end, share), share)
}

// path is the way up to a share of it.
func (a *arrow) path(share float64) string {
	to := a.along(share)
	if !a.bent {
		return svg.Paint("M%v %vL%v %v", a.start.x, a.start.y, to.x, to.y)
	}
	pull := a.start.towards(a.pull, share)
	return svg.Paint("M%v %vQ%v %v %v %v", a.start.x, a.start.y, pull.x, pull.y, to.x,
		to.y)
}

// thin is how many messages may all have names. Of more, one of those that were sent
// together has one, so that the arrows can still be seen.
const thin = 150

// drawMessages draws an arrow for each message, and names as many as there is room
// for: of those that were sent together, the first one before the others.
func (c *drawing) drawMessages() {
	type fan struct {
		from        uint32
		sent        time.Duration
		plane, kind uint8
	}
	fanOf := func(a *arrow) fan { return fan{a.from, a.sent, a.plane, a.kind} }
	type way struct {
		from, to uint32
		x0, x1   int // in steps that the eye can hardly tell apart
	}
	same := map[way]int{}
	first := map[message]int{} // by what makes messages look alike: the arrow of both
	var all []arrow
	for _, m := range c.arrows {
		alike := message{from: m.from, to: m.to, kind: m.kind, plane: m.plane, fate: m.fate,
			sent: m.sent, at: m.at}
		if i, known := first[alike]; known {
			all[i].others = append(all[i].others, m)
			continue
		}
		a := c.arrowOf(m)
		w := way{m.from, m.to, int(a.start.x / hairsbreadth), int(a.end.x / hairsbreadth)}
		if w.x0 == w.x1 { // to and fro is the same way
			w.from, w.to = min(m.from, m.to), max(m.from, m.to)
		}
		a.bendBy(same[w])
		first[alike] = len(all)
		all = append(all, a)
		same[w]++
	}
	for i := range all {
		c.drawMessage(&all[i])
	}
	named := map[fan]bool{}
	var others []*arrow
	for i := range all {
		if a := &all[i]; !named[fanOf(a)] && c.name(a) {
			named[fanOf(a)] = true
		} else {
			others = append(others, a)
		}
	}
	unnamed := 0
	for _, a := range others {
		if done := len(c.arrows) <= thin && c.name(a); !done && !named[fanOf(a)] {
			unnamed++
		}
	}
	if unnamed > 0 {
		c.leaveOut("%s no room for a name: colour and dash show the kind; hover over an arrow for details",
			console.Plural(unnamed, "message has", "messages have"))
	}
}

func (c *drawing) drawMessage(a *arrow) {
	kind := c.kindClass(a.message)
	class := fmt.Sprintf("k%d d%d", kind%kindColours, kind%len(dashes))
	if a.copy > 0 {
		class += " again"
	}
	near := a.along(0.98) // where it comes from at its end
	length := math.Max(math.Hypot(a.end.x-near.x, a.end.y-near.y), 1e-9)
	ux, uy := (a.end.x-near.x)/length, (a.end.y-near.y)/length
	whole := math.Max(math.Hypot(a.end.x-a.start.x, a.end.y-a.start.y), arrowLength)
	share, tip := 1.0, ""
	switch {
	case a.fate == lost && a.whole:
		c.legendOf("lost")
		share = lostAt
		x := a.along(share)
		c.board.take(chain(x.x, x.y, 6, 6, 0))
		tip = svg.Paint(`<path class="x" d="M%v %vl8 8m0 -8l-8 8"/>`, x.x-4, x.y-4)
	case a.fate == undelivered && a.whole:
		c.legendOf("undelivered")
		tip = svg.Paint(`<circle class="ring" cx="%v" cy="%v" r="3.6"/>`, a.end.x, a.end.y)
	case a.fate == pending:
		c.legendOf("pending")
		class += " open"
	case a.whole:
		share = 1 - (arrowLength-2)/whole
		bx, by := a.end.x-ux*arrowLength, a.end.y-uy*arrowLength
		tip = svg.Paint(`<path class="h" d="M%v %vL%v %vL%v %vz"/>`, a.end.x, a.end.y, bx-uy*3.3,
			by+ux*3.3, bx+uy*3.3, by-ux*3.3)
		if late := a.late(c.trace.Records); late > 0 {
			tip += c.lateness(a, late)
		}
	}
	says := c.words(a.message)
	for _, m := range a.others {
		says += "; " + c.words(m)
	}
	c.add(arrows, min(a.start.x, a.end.x)-4, max(a.start.x, a.end.x)+4,
		`<g class="%v">%v<path class="m" d="%v"/>%v</g>`, class, title(says), a.path(share), tip)
}

// lostAt is the share of its way at which a lost message ends.
const lostAt = 0.6

// lateness is a bar on the receiver's line, from when the message was due. What could
// hardly be seen is not drawn.
func (c *drawing) lateness(a *arrow, late time.Duration) string {
	x := c.scale.of(max(a.at-late, c.from))
	if a.end.x-x < 1.5 {
		return ""
	}
	c.legendOf("late")
	return svg.Paint(`<path class="late" d="M%v %vH%v"/>`, x, a.end.y, a.end.x)
}

// shares of an arrow at which its name may stand, the best first.
var shares = []float64{0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75, 0.18, 0.82}

// name writes the kind of a message along its arrow, if there is room.
func (c *drawing) name(a *arrow) bool {
	const size = 10.0
	text := short(oneLine(harness.KindName(a.plane, a.kind, c.trace.Kinds)), 28)
	if n := len(a.others); n > 0 {
		text += fmt.Sprintf(" ×%d", n+1)
	}
	width := textWidth(text, size)
	most := 1.0
	if a.fate == lost {
		most = lostAt
	}
	dx, dy := a.end.x-a.start.x, a.end.y-a.start.y
	if most*math.Hypot(dx, dy) < width+2*arrowLength {
		return false
	}
	angle, beside := math.Atan2(dy, dx), 4.0
	if a.bent { // on the outer side
		beside = -11
	}
	for _, crossing := range []bool{false, true} {
		for _, share := range shares {
			at := a.along(share * most)
			x, y := at.x+math.Sin(angle)*beside, at.y-math.Cos(angle)*beside
			reach := width / 2 * math.Abs(math.Sin(angle))
			if !crossing && c.crosses(y, reach+4) || !c.within(x, width*math.Cos(angle)+8) {
				continue
			}
			discs := chain(x, y, width, size, angle)
			if !c.board.free(discs) {
				continue
			}
			c.board.take(discs)
			kind := c.kindClass(a.message)
			c.add(texts, x, x,
				`<text class="l k%d" transform="translate(%v %v)rotate(%v)" dy=".1em">%v</text>`,
				kind%kindColours, x, y, angle*180/math.Pi, escape(text))
			return true
		}
	}
	return false
}

// crosses says whether text around y touches the line of a process.
func (c *drawing) crosses(y, reach float64) bool {
	for _, p := range c.procs {
		if math.Abs(c.y(p)-y) < reach {
			return true
		}
	}
	return false
}
