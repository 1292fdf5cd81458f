package diagram

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// stretch is where a span stands; false if it stands outside of what is drawn.
func (c *drawing) stretch(s span) (x0, x1 float64, seen bool) {
	if s.to < c.from || s.from > c.to {
		return 0, 0, false
	}
	x0, x1 = c.scale.of(max(s.from, c.from)), c.scale.of(min(s.to, c.to))
	return x0, max(x1, x0+2), true
}

// during is a span in words.
func during(s span) string {
	if s.to == forever {
		return fmt.Sprintf("from %v on", s.from.Round(time.Microsecond))
	}
	return fmt.Sprintf("%v to %v", s.from.Round(time.Microsecond), s.to.Round(time.Microsecond))
}

// drawNetwork draws partitions and flaky links, the time, and where it is cut short.
func (c *drawing) drawNetwork() {
	for _, b := range c.story.network.spans {
		c.drawBand(&b)
	}
	bottom := c.height()
	for _, t := range c.scale.ticks() {
		c.add(ground, t.x, t.x, `<path class="grid" d="M%v %vV%v"/>`, t.x, c.top, bottom)
		if c.within(t.x, textWidth(t.text, 10)) {
			c.add(texts, t.x, t.x, `<text class="tick" x="%v" y="%v">%v</text>`, t.x,
				bottom+15, t.text)
		}
	}
	for _, i := range c.scale.broken {
		x := (c.scale.x[i] + c.scale.x[i+1]) / 2
		left := c.scale.at[i+1] - c.scale.at[i]
		c.legendOf("break")
		text := fmt.Sprintf("%v in which nothing is drawn", left.Round(time.Microsecond))
		var b svg.Writer
		for _, p := range c.procs {
			y := c.y(p)
			b.Put(`<path class="hole" d="M%v %vh5l-4 10h-5z"/>`, x-0.5, y-5)
			b.Put(`<path class="gap" d="M%v %vl-4 10m5 0l4 -10"/>`, x-0.5, y-5)
		}
		c.add(marks, x-5, x+5, `<g>%v%v</g>`, title(text), b.String())
	}
	for i := range c.trace.Records {
		r := &c.trace.Records[i]
		if !c.kept[i] || r.Process != 0 || !c.visible(r.At) {
			continue
		}
		switch r.Type {
		case trace.Cause:
			c.edge(r, "measured from here")
		case trace.Heal:
			c.edge(r, "heal")
		}
	}
}

// edge marks an instant across all lines.
func (c *drawing) edge(r *trace.Record, text string) {
	x := c.scale.of(r.At)
	c.add(lines, x, x, `<g>%v<path class="edge" d="M%v %vV%v"/></g>`,
		title(sentence(r, c.trace.Kinds)+" at "+r.At.Round(time.Microsecond).String()), x, c.top-4,
		c.height())
	c.write(text, x+3, c.top-7, false)
}

// drawBand shades the time of a partition, each side in a colour of its own, or that
// of flaky links.
func (c *drawing) drawBand(b *span) {
	x0, x1, seen := c.stretch(*b)
	if !seen {
		return
	}
	c.legendOf("band")
	var out svg.Writer
	for _, p := range c.procs {
		class := "band"
		if side, sided := b.side(p); sided {
			class = fmt.Sprintf("g%d", (side+groupColours)%groupColours)
		}
		out.Put(`<path class="%v" d="M%v %vH%vV%vH%vz"/>`, class, x0,
			c.y(p)-c.spacing/2, x1, c.y(p)+c.spacing/2, x0)
	}
	c.add(ground, x0, x1, `<g>%v%v</g>`, title(b.kind()+b.text+", "+during(*b)), out.String())
	if b.from >= c.from {
		c.add(lines, x0, x0, `<path class="edge" d="M%v %vV%v"/>`, x0, c.top-4, c.height())
	}
	what, sides := b.kind(), b.sides()
	for _, text := range []string{what + sides, what + short(sides, 40), what + short(sides, 14)} {
		if c.write(text, x0+3, c.top-7, false) {
			return
		}
	}
}

// noteSize is that of the classes n and b, in pixels.
const noteSize = 9.5

// write puts a text that begins at x where nothing else stands, and says whether it
// could. Centred text stands around x.
func (c *drawing) write(text string, x, y float64, centred bool) bool {
	width := textWidth(text, noteSize)
	class, middle, anchor := "n", x+width/2, ""
	if centred {
		class, middle, anchor = "b", x, ` text-anchor="middle"`
	}
	discs := chain(middle, y-noteSize*0.35, width, noteSize, 0)
	if !c.within(middle, width) || !c.board.free(discs) {
		return false
	}
	c.board.take(discs)
	c.add(texts, middle, middle, `<text class="%v" x="%v" y="%v"%v>%v</text>`, class, x, y, anchor,
		escape(text))
	return true
}

// drawLanes draws the lines of the processes, and what they are in the middle of.
func (c *drawing) drawLanes() {
	for _, p := range c.procs {
		lane := &c.story.lanes[p-1]
		y := c.y(p)
		at := max(lane.begins, c.from)
		for _, down := range lane.of(down) {
			if down.from > at {
				c.line(p, "lane", at, min(down.from, c.to))
			}
			c.line(p, "off", max(down.from, c.from), min(down.to, c.to))
			at = max(at, down.to)
		}
		c.line(p, "lane", at, c.to)
		for _, s := range lane.of(waits) {
			c.during(p, s, "wait", "waits for the critical section")
		}
		for _, s := range lane.of(faulty) {
			c.during(p, s, s.state.Sign, s.state.Words)
		}
		for _, s := range lane.of(inside) {
			if x0, x1, seen := c.stretch(s); seen {
				c.legendOf("cs")
				where := "the critical section"
				if session := c.session(s); session != 0 {
					where += fmt.Sprintf(" in session %d", session)
				}
				says := fmt.Sprintf("p%d is in %s, %s", p, where, during(s))
				c.add(bars, x0, x1, `<g>%v<path class="cs" d="M%v %vH%vv11H%vz"/></g>`, title(says), x0,
					y-5.5, x1, x0)
			}
		}
		for _, s := range lane.of(names) {
			c.drawBelief(p, y, &s)
		}
	}
	c.drawTogether()
}

func (c *drawing) line(p uint32, class string, from, to time.Duration) {
	if from > to || from > c.to || to < c.from {
		return
	}
	x0, x1 := c.scale.of(from), c.scale.of(to)
	c.add(lines, x0, x1, `<path class="%v" d="M%v %vH%v"/>`, class, x0, c.y(p), x1)
	if class == "off" {
		c.legendOf("off")
	}
}

// during draws a time in which p is in a state, whose sign is also its class.
func (c *drawing) during(p uint32, s span, sign, says string) {
	if x0, x1, seen := c.stretch(s); seen {
		c.legendOf(sign)
		c.add(bars, x0, x1, `<g>%v<path class="%v" d="M%v %vH%v"/></g>`,
			title(fmt.Sprintf("p%d %s, %s%s", p, says, during(s), c.changed(s.record))), sign, x0, c.y(p), x1)
	}
}

// drawBelief draws whom p takes for the leader as a bar above its line, with a frame
// if it is p itself.
func (c *drawing) drawBelief(p uint32, y float64, b *span) {
	x0, x1, seen := c.stretch(*b)
	if !seen {
		return
	}
	high, above := 13.0, 23.0
	if c.spacing < 46 {
		high, above = 5, 10
	}
	class, term := fmt.Sprintf("l%d", int(b.leader)%leaderColours), ""
	if b.term > 0 {
		term = fmt.Sprintf(", term %d", b.term)
	}
	says := fmt.Sprintf("p%d takes p%d for the leader%s, %s", p, b.leader, term, during(*b))
	called := []string{fmt.Sprintf("p%d%s", b.leader, term), fmt.Sprintf("p%d", b.leader)}
	c.legendOf("leader")
	if b.leader == p {
		class += " self"
		says = fmt.Sprintf("p%d leads%s, %s", p, term, during(*b))
		called = []string{fmt.Sprintf("p%d leads%s", p, term), called[0], called[1]}
		c.legendOf("self")
	}
	c.add(bars, x0, x1, `<g>%v<path class="%v" d="M%v %vH%vv%vH%vz"/></g>`, title(says), class, x0,
		y-above, x1, high, x0)
	if high < 10 {
		return
	}
	for _, r := range c.rows { // each row says it again
		from, to := max(x0, r.from), min(x1, r.to)
		for _, name := range called {
			if width := textWidth(name, noteSize); width+4 <= to-from {
				x := min((from+to)/2, from+60)
				if from > x0 || width/2 > x-from {
					x = from + width/2 + 4
				}
				if c.write(name, x, y-above+10, true) {
					break
				}
			}
		}
	}
}

// drawTogether frames the times in which two processes are in the critical section that should
// not be there together.
func (c *drawing) drawTogether() {
	barred := c.barred()
	for i, p := range c.procs {
		for _, q := range c.procs[i+1:] {
			for _, a := range c.story.lanes[p-1].of(inside) {
				for _, b := range c.story.lanes[q-1].of(inside) {
					both := span{from: max(a.from, b.from), to: min(a.to, b.to)}
					x0, x1, seen := c.stretch(both)
					if !seen || !barred[[2]int{min(a.record, b.record), max(a.record, b.record)}] {
						continue
					}
					c.legendOf("two")
					c.add(marks, x0, x1, `<g>%v<path class="two" d="M%v %vH%vV%vH%vz"/></g>`,
						title(fmt.Sprintf("p%d and p%d are in the critical section, %s", p, q, during(both))),
						x0, c.y(p)-10, x1, c.y(q)+10, x0)
				}
			}
		}
	}
}

// barred are the pairs of entries, by their records, of which the former should have kept the
// latter out.
func (c *drawing) barred() map[[2]int]bool {
	var all []span
	for i := range c.story.lanes {
		all = append(all, c.story.lanes[i].of(inside)...)
	}
	slices.SortFunc(all, func(a, b span) int { return a.record - b.record })
	room := c.trace.Room
	room.Places = max(room.Places, 1)
	out := map[[2]int]bool{}
	var there []span
	for _, b := range all {
		there = slices.DeleteFunc(there, func(a span) bool { return a.to <= b.from })
		door := room.Door(c.session(b))
		for _, a := range there {
			if door.Bars(c.session(a)) && b.to > b.from {
				out[[2]int{a.record, b.record}] = true
			}
		}
		there = append(there, b)
	}
	return out
}

// session is that of an entry; 0: there are none.
func (c *drawing) session(s span) algo.Session { return algo.Session(c.trace.Records[s.record].Peer) }
