package diagram

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Sizes on the page, in pixels.
const (
	rowWidth    = 1040.0
	gutter      = 52.0 // left of the lines, for the names of processes
	margin      = 16.0
	axis        = 30.0 // below the last line, for the time
	mostArrows  = 2500 // that are drawn at once
	mostLanes   = 48
	arrowLength = 8.0
)

// layers of a drawing, from the bottom to the top.
const (
	ground = iota
	lines
	bars
	arrows
	marks
	texts
	layers
)

// An item is a piece of the drawing. It is drawn in each row that it touches.
type item struct {
	from, to float64
	text     string
}

// A drawing is a diagram that is becoming an SVG.
type drawing struct {
	*Diagram
	scale   *scale
	rows    []row
	procs   []uint32
	spacing float64
	top     float64 // above the first line of a row: room for what concerns the network
	arrows  []*message
	items   [layers][]item
	board   *board
	kinds   []int           // that occur, as classes
	signs   map[string]bool // of the legend, that occur
	notes   []string        // what is left out

	subtitle string
}

// SVG writes the space-time diagram, and returns what it leaves out, a sentence each.
func (d *Diagram) SVG(w io.Writer) ([]string, error) {
	c := &drawing{Diagram: d, board: newBoard(), signs: map[string]bool{}}
	c.choose()
	c.subtitle = c.about()
	c.layOut()
	c.drawNetwork()
	c.drawLanes()
	c.drawMarks()
	c.drawMessages()
	_, err := io.WriteString(w, c.page())
	return c.notes, err
}

func (c *drawing) leaveOut(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// choose decides which messages and processes are drawn. Too many messages shorten
// what is drawn, at the end, or at the beginning where it leads to an event.
func (c *drawing) choose() {
	d := *c.Diagram
	c.Diagram = &d // the window may become smaller
	all := 0
	for i := range c.story.messages {
		if m := &c.story.messages[i]; c.shown(m) {
			all++
			c.arrows = append(c.arrows, m)
		}
	}
	sort.SliceStable(c.arrows, func(i, j int) bool { return c.arrows[i].sent < c.arrows[j].sent })
	if all > mostArrows {
		which := "first"
		if c.win.Event > 0 {
			which = "last"
			c.arrows = c.arrows[all-mostArrows:]
			d.from = max(d.from, c.arrows[0].sent)
		} else {
			c.arrows = c.arrows[:mostArrows]
			d.to = min(d.to, c.arrows[mostArrows-1].sent)
		}
		c.leaveOut("shows the %s %d of %d messages, from %v to %v: choose others with --from and --to",
			which, mostArrows, all, d.from, d.to)
	}
	c.procs = c.processes()
	if n := len(c.procs); n > mostLanes {
		c.procs = c.busiest()
		before := len(c.arrows)
		c.arrows = slices.DeleteFunc(c.arrows, func(m *message) bool {
			return c.lane(m.from) < 0 || c.lane(m.to) < 0
		})
		c.leaveOut("shows the %d busiest of %d processes, and %d of %d messages", mostLanes, n,
			len(c.arrows), before)
	} else if n < c.story.nodes {
		c.leaveOut("omits %d of %d processes, which have no events", c.story.nodes-n,
			c.story.nodes)
	}
}

// busiest are the processes with the most messages, as many as can be drawn.
func (c *drawing) busiest() []uint32 {
	messages := map[uint32]int{}
	for _, m := range c.arrows {
		messages[m.from]++
		messages[m.to]++
	}
	out := slices.Clone(c.procs)
	slices.SortStableFunc(out, func(p, q uint32) int { return messages[q] - messages[p] })
	out = out[:mostLanes]
	slices.Sort(out)
	return out
}

// lane is which line p has; -1: none.
func (c *drawing) lane(p uint32) int {
	i, found := slices.BinarySearch(c.procs, p)
	if !found {
		return -1
	}
	return i
}

// y is the height of p's line within a row.
func (c *drawing) y(p uint32) float64 {
	return c.top + c.spacing*0.62 + float64(c.lane(p))*c.spacing
}

func (c *drawing) height() float64 {
	return c.top + c.spacing*0.62 + float64(len(c.procs)-1)*c.spacing + math.Max(24, c.spacing*0.4)
}

// visible says whether an instant stands within what is drawn.
func (c *drawing) visible(t time.Duration) bool { return t >= c.from && t <= c.to }

// layOut places the instants and breaks the line into rows.
func (c *drawing) layOut() {
	switch n := len(c.procs); {
	case n <= 4:
		c.spacing = 82
	case n <= 6:
		c.spacing = 70
	case n <= 10:
		c.spacing = 56
	case n <= 16:
		c.spacing = 46
	default:
		c.spacing = 34
	}
	c.top = 4
	for i := range c.trace.Records {
		if c.kept[i] && c.trace.Records[i].Process == 0 {
			c.top = 22
		}
	}
	latency := c.latency()
	if c.win.To == 0 && c.win.Event == 0 {
		c.Diagram.to += latency / 2 // so that what begins at the end can be seen
	}
	instants := []time.Duration{c.from, c.to}
	add := func(t time.Duration) {
		if c.visible(t) {
			instants = append(instants, t)
		}
	}
	for i := range c.trace.Records {
		if c.kept[i] {
			add(c.trace.Records[i].At)
		}
	}
	for _, m := range c.arrows {
		add(m.sent)
		add(m.at)
	}
	c.scale = newScale(instants, latency, len(c.arrows), rowWidth)
	change := map[float64]int{}
	for _, m := range c.arrows {
		change[c.scale.of(m.sent)]++
		change[c.scale.of(m.at)]--
	}
	xs := slices.Sorted(maps.Keys(change))
	flying := make([]int, len(xs)+1)
	for i, x := range xs {
		flying[i+1] = flying[i] + change[x]
	}
	c.rows = c.scale.rows(rowWidth, func(x float64) int {
		i, _ := slices.BinarySearch(xs, x)
		return flying[i]
	})
}

// latency is what a message of the middle takes; 0 if none takes any time.
func (c *drawing) latency() time.Duration {
	var all []time.Duration
	for _, m := range c.arrows {
		if m.fate == delivered && m.at > m.sent {
			all = append(all, m.at-m.sent)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// add puts a piece that reaches from one x to another on a layer.
func (c *drawing) add(layer int, from, to float64, format string, args ...any) {
	c.items[layer] = append(c.items[layer], item{from, to, svg.Paint(format, args...)})
}

// escape is text as it may stand in XML, on one line.
func escape(text string) string { return svg.Escape(oneLine(text)) }

// title is the text that appears when the mouse stands on a piece.
func title(text string) string { return svg.Title(oneLine(text)) }

// rowAt is the row in which x stands.
func (c *drawing) rowAt(x float64) row {
	i := sort.Search(len(c.rows), func(i int) bool { return x <= c.rows[i].to })
	return c.rows[min(i, len(c.rows)-1)]
}

// within says whether a text of that width around x stands in one row; a little may
// reach beyond its ends.
func (c *drawing) within(x, width float64) bool {
	r := c.rowAt(x)
	slack := 8.0
	if len(c.rows) == 1 {
		slack = margin
	}
	return x-width/2 >= r.from-slack && x+width/2 <= r.to+slack
}

// legendOf notes that a sign of the legend occurs.
func (c *drawing) legendOf(sign string) { c.signs[sign] = true }

// kindClass is the class of a message's kind; that of heartbeats is the last one.
func (c *drawing) kindClass(m *message) int {
	kind := int(m.kind)
	if kind >= len(c.trace.Kinds) {
		kind = len(c.trace.Kinds)
	}
	if !slices.Contains(c.kinds, kind) {
		c.kinds = append(c.kinds, kind)
	}
	return kind
}

// counts says what became of the messages that are drawn.
func (c *drawing) counts() string {
	var n [undelivered + 1]int
	for _, m := range c.arrows {
		n[m.fate]++
	}
	text := console.Plural(len(c.arrows), "message", "messages")
	var parts []string
	for _, f := range []fate{delivered, lost, undelivered, pending} {
		if n[f] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[f], fateWords[f]))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

var fateWords = map[fate]string{
	delivered: "delivered", lost: "lost", undelivered: "undeliverable", pending: "in flight",
}

// about says what is drawn.
func (c *drawing) about() string {
	text := fmt.Sprintf("%v to %v; %s", c.from.Round(time.Microsecond), c.to.Round(time.Microsecond),
		c.counts())
	if c.win.Event > 0 {
		r := &c.trace.Records[c.win.Event-1]
		text = fmt.Sprintf("what could have led to event %d, %s; %s", c.win.Event,
			sentence(r, c.trace.Kinds), text)
	}
	watched := func(r trace.Record) bool { return detection(&r) }
	if !c.win.Detector && slices.ContainsFunc(c.trace.Records, watched) {
		text += "; without detectors' messages"
	}
	return text
}
