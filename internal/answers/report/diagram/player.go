package diagram

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/report/player"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// mostPlayed is how many events a page can be stepped through, and mostText how long, in
// runes, what a message holds or a variable's value is there.
const (
	mostPlayed = 200_000
	mostText   = 2000
)

// html writes the page to step through the trial. The window's event is where it opens.
func (d *Diagram) html(w io.Writer) ([]string, error) {
	p := d.play()
	return p.Notes, player.Write(w, p)
}

// A playing makes the data of a page.
type playing struct {
	*player.Data
	*Diagram
	words  map[string]int
	fields map[string]int // the algorithm's, by name
	now    [][]string     // by process - 1: the value of each field
}

// play makes the data of the page: every event from one instant to another, and what the
// processes hold before it.
func (d *Diagram) play() *player.Data {
	from, to := d.played()
	p := &playing{Diagram: d, words: map[string]int{}, fields: map[string]int{},
		now: make([][]string, d.story.nodes),
		Data: &player.Data{Title: d.trace.Title, Verdict: d.trace.Verdict, Back: d.trace.Back,
			Notes: []string{}, Nodes: d.story.nodes, First: from + 1, Open: from + 1,
			Detector: d.win.Detector,
			Kinds:    append(slices.Clone(d.trace.Kinds), "HEARTBEAT"),
			Fields:   []player.Field{{Name: "process"}, {Name: "leader"}, {Name: "section"}}}}
	if n := len(d.trace.Records); to-from < n {
		p.Notes = append(p.Notes, fmt.Sprintf("events %d to %d of %d", from+1, to, n))
	}
	if d.trace.Note != "" {
		p.Notes = append(p.Notes, d.trace.Note)
	}
	if d.win.Event > 0 {
		p.Open = min(max(d.win.Event, from+1), to)
	}
	for t := trace.None; ; t++ {
		if _, known := trace.TypeOf(t.String()); !known && t > 0 {
			break
		}
		p.Types = append(p.Types, player.Type{Name: t.String(),
			Own: own(&trace.Record{Type: t, Process: 1}), Jump: jumps[t]})
	}
	p.start()
	for i := range d.trace.Records[:to] {
		if i == from {
			p.baseline()
		}
		p.event(i, i-from)
	}
	p.messages(from, to)
	p.bands()
	for _, b := range d.trace.Breaches {
		if b.Record >= from && b.Record < to {
			p.Breaches = append(p.Breaches, b.Record-from, p.word(b.Text))
		}
	}
	return p.Data
}

var jumps = map[trace.Type]player.Jump{
	trace.Crash: player.Fault, trace.Cut: player.Fault, trace.Pause: player.Fault, trace.Slow: player.Fault,
	trace.Flaky: player.Fault, trace.Fault: player.Fault, trace.Granted: player.Entry,
}

// played are the records of the page: those of the window's time, and of too many the
// first, or those that lead to its event.
func (d *Diagram) played() (from, to int) {
	list := d.trace.Records
	for to = len(list); d.win.To != 0 && to > 0 && list[to-1].At > d.win.To; {
		to--
	}
	for from < to && d.win.From != 0 && list[from].At < d.win.From {
		from++
	}
	if most := cmp.Or(d.win.Most, mostPlayed); to-from > most {
		from = max(from, min(d.win.Event-most/2, to-most))
		to = from + most
	}
	return from, to
}

func (p *playing) word(text string) int {
	text = short(oneLine(text), mostText)
	i, known := p.words[text]
	if !known {
		i = len(p.Words)
		p.words[text] = i
		p.Words = append(p.Words, text)
	}
	return i
}

// start is how things are before the first record.
func (p *playing) start() {
	for q := range p.now {
		p.set(q+1, player.Alive, "up", -1)
		if d := p.story.lanes[q].of(down); len(d) > 0 && d[0].record < 0 {
			p.set(q+1, player.Alive, "down", -1)
		} else if p.trace.Leader != 0 {
			p.set(q+1, player.Leader, fmt.Sprintf("p%d", p.trace.Leader), -1)
		}
	}
}

// baseline is what the fields hold before the first event of the page.
func (p *playing) baseline() {
	p.Changes, p.Initial = nil, nil
	for q, values := range p.now {
		for field, value := range values {
			if value != "" {
				p.Initial = append(p.Initial, q+1, field, p.word(value))
			}
		}
	}
}

// set notes that a field of process q changes at event i of the page.
func (p *playing) set(q, field int, value string, i int) {
	now := &p.now[q-1]
	for len(*now) <= field {
		*now = append(*now, "")
	}
	if (*now)[field] != value {
		(*now)[field] = value
		if i >= 0 {
			p.Changes = append(p.Changes, i, field, p.word(value))
		}
	}
}

// event takes in a record, which is event i of the page; before its first one, i is
// negative.
func (p *playing) event(index, i int) {
	r := &p.trace.Records[index]
	detail := p.trace.detail(index)
	if q := int(r.Process); q > 0 {
		p.state(r, q, i)
		for _, c := range detail.Changes {
			field, known := p.fields[c.Name]
			if !known {
				field = len(p.Fields)
				p.fields[c.Name] = field
				p.Fields = append(p.Fields, player.Field{Name: c.Name, Own: true})
			}
			p.set(q, field, c.After, i)
		}
	}
	if i < 0 {
		return
	}
	at := int64(r.At)
	if i > 0 {
		at -= int64(p.trace.Records[index-1].At)
	}
	e := &p.Events
	e.At, e.Type = append(e.At, at), append(e.Type, int(r.Type))
	e.Process, e.Message = append(e.Process, r.Process), append(e.Message, -1)
	e.Text = append(e.Text, p.word(sentence(r, p.trace.Kinds)))
	holds := -1
	if detail.Message != "" {
		holds = p.word(detail.Message)
	}
	e.Holds = append(e.Holds, holds)
}

// state follows what the trial knows of process q.
func (p *playing) state(r *trace.Record, q, i int) {
	alive, leader, section := p.now[q-1][player.Alive], "", ""
	if state, over := fault.StateOf(r); state != nil {
		words := strings.TrimPrefix(state.Words, "is ")
		parts := strings.Split(alive, ", ")
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == words })
		if !over {
			parts = append(parts, words)
		}
		p.set(q, player.Alive, strings.Join(parts, ", "), i)
	}
	switch r.Type {
	case trace.Up:
		if p.set(q, player.Alive, "up", i); r.Incarnation == 0 && p.trace.Leader != 0 {
			leader = fmt.Sprintf("p%d", p.trace.Leader)
		}
		p.set(q, player.Leader, leader, i)
		p.set(q, player.Section, "", i)
	case trace.Crash:
		p.set(q, player.Alive, "down", i)
		for field := player.Leader; field < len(p.now[q-1]); field++ {
			p.set(q, field, "", i)
		}
	case trace.Request, trace.Granted, trace.Released:
		section = map[trace.Type]string{trace.Request: "waits", trace.Granted: "inside"}[r.Type]
		if section != "" && r.Peer != 0 {
			section += fmt.Sprintf(", session %d", r.Peer)
		}
		p.set(q, player.Section, section, i)
	case trace.Elected:
		if leader = "none"; r.Peer != 0 {
			leader = fmt.Sprintf("p%d", r.Peer)
		}
		if r.Arg > 0 {
			leader += fmt.Sprintf(", term %d", r.Arg)
		}
		p.set(q, player.Leader, leader, i)
	}
}

// bands are what is cut and flaky, and which side each process is on.
func (p *playing) bands() {
	p.Bands = []player.Band{}
	end := time.Duration(0)
	if n := len(p.trace.Records); n > 0 {
		end = p.trace.Records[n-1].At
	}
	for _, s := range p.story.network.spans {
		b := player.Band{From: int64(s.from), To: int64(min(s.to, end)), Text: s.kind() + s.sides(),
			Sides: []int{}}
		for q := range p.story.nodes {
			if side, sided := s.side(uint32(q + 1)); sided {
				b.Sides = append(b.Sides, side)
			}
		}
		p.Bands = append(p.Bands, b)
	}
}

// messages are those with an end among records from to to.
func (p *playing) messages(from, to int) {
	within := func(record int) int {
		if record < from || record >= to {
			return -1
		}
		return record - from
	}
	out := &p.Messages
	for i := range p.story.messages {
		m := &p.story.messages[i]
		send, end := within(m.send), within(m.end)
		if send < 0 && end < 0 {
			continue
		}
		for _, event := range []int{send, end} {
			if event >= 0 {
				p.Events.Message[event] = len(out.From)
			}
		}
		kind := int(m.kind)
		if kind >= len(p.trace.Kinds) {
			kind = len(p.trace.Kinds)
		}
		out.From, out.To = append(out.From, m.from), append(out.To, m.to)
		out.Kind, out.Fate = append(out.Kind, kind), append(out.Fate, int(m.fate))
		out.Send, out.End = append(out.Send, send), append(out.End, end)
		out.Origin = append(out.Origin, within(m.origin))
		out.Sent, out.Ended = append(out.Sent, int64(m.sent)), append(out.Ended, int64(m.at))
		watch := 0
		if m.plane == trace.Detection {
			watch = 1
		}
		out.Watch = append(out.Watch, watch)
	}
}
