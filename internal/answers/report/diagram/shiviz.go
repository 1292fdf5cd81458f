package diagram

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// manyEvents is as many as ShiViz shows without trouble.
const manyEvents = 2000

// networkHost is the host of what happens to links.
const networkHost = "network"

// shiViz writes a log with vector clocks. A process that comes back is a new host,
// p3#2, since no clock may begin again. The clocks count what the log shows and
// nothing else, so that every window is whole in itself.
func (d *Diagram) shiViz(w io.Writer) ([]string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "=== %s ===\n", oneLine(d.trace.Title))
	c := clocks{hosts: make([]string, d.story.nodes), sent: map[int]clock{}}
	for p := range c.hosts {
		c.hosts[p] = fmt.Sprintf("p%d", p+1)
	}
	c.now = make([]clock, d.story.nodes)
	lost := d.lostSends()
	events := 0
	for i := range d.trace.Records {
		r := &d.trace.Records[i]
		if r.Type == trace.Up && r.Incarnation > 0 {
			c.hosts[r.Process-1] = fmt.Sprintf("p%d#%d", r.Process, r.Incarnation+1)
		}
		if !d.kept[i] || !own(r) && r.Process != 0 {
			continue
		}
		now, host := &c.network, networkHost
		if own(r) {
			now, host = &c.now[r.Process-1], c.hosts[r.Process-1]
		}
		if m, ok := d.story.byEnd[i]; ok {
			now.merge(c.sent[d.story.messages[m].origin])
		}
		now.tick(host)
		if r.Type == trace.Send {
			c.sent[i] = slices.Clone(*now)
		}
		text := fmt.Sprintf("%s at %v%s", sentence(r, d.trace.Kinds), r.At.Round(time.Microsecond), lost[i])
		fmt.Fprintf(&out, "%s %s\n%s\n", host, now, oneLine(text))
		events++
	}
	var notes []string
	if events > manyEvents {
		notes = append(notes, fmt.Sprintf("%d events are many for ShiViz, which handles about %d well: "+
			"choose "+
			"fewer with --from and --to", events, manyEvents))
	}
	_, err := io.WriteString(w, out.String())
	return notes, err
}

// lostSends says of the records of sending what became of messages that nobody
// received: their end is no event of any process.
func (d *Diagram) lostSends() map[int]string {
	out := map[int]string{}
	for i := range d.story.messages {
		m := &d.story.messages[i]
		switch {
		case m.fate == lost:
			out[m.origin] += " (lost" + reasons[m.why] + ")"
		case m.fate == undelivered:
			out[m.origin] += fmt.Sprintf(" (p%d was down)", m.to)
		}
	}
	return out
}

// clocks are the vector clocks of all hosts.
type clocks struct {
	hosts   []string // by process - 1: its name in its present life
	now     []clock  // likewise
	network clock
	sent    map[int]clock // by the record of sending
}

// A clock counts the events of each host, in the order of their names. A process
// takes it along when it comes back: what it does then comes after its earlier life.
type clock []count

type count struct {
	host string
	n    int
}

func (c *clock) at(host string) *count {
	byHost := func(k count, host string) int { return strings.Compare(k.host, host) }
	i, found := slices.BinarySearchFunc(*c, host, byHost)
	if !found {
		*c = slices.Insert(*c, i, count{host, 0})
	}
	return &(*c)[i]
}

func (c *clock) tick(host string) { c.at(host).n++ }

func (c *clock) merge(other clock) {
	for _, o := range other {
		k := c.at(o.host)
		k.n = max(k.n, o.n)
	}
}

// String is the clock as a JSON object. Names of hosts need no quoting.
func (c *clock) String() string {
	var b strings.Builder
	for i, k := range *c {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s":%d`, k.host, k.n)
	}
	return "{" + b.String() + "}"
}
