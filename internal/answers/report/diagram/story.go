package diagram

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A story is the records of a trial put together: messages with both of their
// ends, and states with theirs.
type story struct {
	records  trace.List
	nodes    int
	messages []message
	byEnd    map[int]int // index of a record that ends a message → its index
	lanes    []lane      // by process - 1
	network  lane        // its partitions and flaky links
}

// A message is one copy from its sending to what became of it.
type message struct {
	from, to  uint32
	kind      uint8
	plane     uint8
	copy      uint8
	fate      fate
	why       uint64 // of one that was lost: the record's Arg
	send, end int    // records; -1: none
	origin    int    // the record of sending; of a second copy, that of the first
	sent, at  time.Duration
}

// A fate is what became of a message.
type fate uint8

const (
	pending fate = iota // on its way when the trial ended
	delivered
	lost
	undelivered // its receiver was down
)

// A span is what a process, or the network, is in the middle of from an instant to another.
type span struct {
	what     what
	from, to time.Duration
	record   int // that began it; -1: it was so at the start

	state  *fault.State // of faulty: what a fault put the process into
	leader uint32       // of names: the process that is named
	term   uint64
	text   string // of cut and flaky: which links
}

// What a span may be.
type what uint8

const (
	down   what = iota
	waits       // for the critical section
	inside      // in the critical section
	names       // another process, or itself, the leader
	faulty
	cut
	flaky
)

// kind says what the network is in the middle of.
func (s *span) kind() string {
	if s.what == flaky {
		return "flaky: "
	}
	return "cut: "
}

// groups are the sides of a partition; none: links are cut, or flaky.
func (s *span) groups() [][]uint32 {
	change, err := link.ParseChange(s.text)
	if err != nil || s.what != cut {
		return nil
	}
	return change.Groups
}

// side is on which side of a partition process p is, from 0; -1: on that of the others. It is false where
// there are no sides.
func (s *span) side(p uint32) (side int, sided bool) {
	groups := s.groups()
	return slices.IndexFunc(groups, func(g []uint32) bool { return slices.Contains(g, p) }), len(groups) > 0
}

// sides are those of a partition, or the links, in words.
func (s *span) sides() string {
	text := strings.ReplaceAll(s.text, "|", " | ")
	if len(s.groups()) == 1 {
		text += " | others"
	}
	return text
}

// forever is the end of what did not end.
const forever = time.Duration(math.MaxInt64)

// A lane is what a process, or the network, goes through.
type lane struct {
	begins      time.Duration // when it joined
	spans, open []span        // ended, in the order of their ends; and not ended
}

// of are the spans of a kind.
func (l *lane) of(w what) []span {
	return slices.DeleteFunc(slices.Clone(l.spans), func(s span) bool { return s.what != w })
}

// now is what the process is in the middle of; nil: nothing of that kind.
func (l *lane) now(w what) *span {
	if i := slices.IndexFunc(l.open, func(s span) bool { return s.what == w }); i >= 0 {
		return &l.open[i]
	}
	return nil
}

// begin opens a span.
func (l *lane) begin(s span) { l.open = append(l.open, s) }

// end closes the spans that match. To name somebody for no time at all is nothing to see.
func (l *lane) end(at time.Duration, match func(span) bool) {
	l.open = slices.DeleteFunc(l.open, func(s span) bool {
		if !match(s) {
			return false
		}
		if s.to = at; s.what != names || at > s.from {
			l.spans = append(l.spans, s)
		}
		return true
	})
}

func is(w what) func(span) bool { return func(s span) bool { return s.what == w } }

// alive matches what ends with the life of a process.
func alive(s span) bool { return s.what != down }

// A copyKey names a copy of a message.
type copyKey struct {
	from, to, incarnation uint32
	seq                   uint64
	plane, copy           uint8
}

// keyOf is the message that r is about.
func keyOf(r *trace.Record) copyKey {
	k := copyKey{r.Peer, r.Process, r.Incarnation, r.Seq, r.Plane, r.Copy}
	if r.Type == trace.Send || r.Type == trace.Duplicate {
		k.from, k.to = r.Process, r.Peer
	}
	return k
}

// tell puts the records together.
func tell(t *Trace) *story {
	s := &story{records: t.Records, nodes: t.Nodes, byEnd: map[int]int{}}
	for i := range s.records {
		s.nodes = max(s.nodes, int(s.records[i].Process), int(s.records[i].Peer))
	}
	s.lanes = make([]lane, s.nodes)
	c := cursor{story: s, open: map[copyKey]int{}, end: s.records[len(s.records)-1].At}
	c.start(t.Leader)
	for i := range s.records {
		c.record(i, &s.records[i])
	}
	for p := range s.lanes {
		s.lanes[p].end(forever, func(span) bool { return true })
	}
	s.network.end(forever, func(span) bool { return true })
	slices.SortStableFunc(s.network.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return s
}

// A cursor goes over the records and knows what is open.
type cursor struct {
	*story
	open map[copyKey]int // messages by what names them
	end  time.Duration
}

// start is how things are before the first record: every process that is up names the leader; one
// that does not join before it does anything else is down.
func (c *cursor) start(leader uint32) {
	joined := make([]bool, c.nodes)
	first := c.records[0].At
	for i := range c.records {
		if r := &c.records[i]; r.Type == trace.Up && r.Incarnation == 0 && r.Process > 0 {
			joined[r.Process-1] = true
			c.lanes[r.Process-1].begins = r.At
		}
	}
	for p := range joined {
		l := &c.lanes[p]
		switch {
		case !joined[p] && slices.Contains(joined, true):
			l.begins = first
			l.begin(span{what: down, from: first, record: -1})
		case leader != 0:
			l.begin(span{what: names, from: l.begins, record: -1, leader: leader})
		}
	}
}

func (c *cursor) record(i int, r *trace.Record) {
	if r.Type.IsMessage() {
		c.message(i, r)
		return
	}
	here := span{from: r.At, record: i}
	if r.Process == 0 {
		c.disturb(here, r)
		return
	}
	l := &c.lanes[r.Process-1]
	begin := func(w what) {
		l.open = slices.DeleteFunc(l.open, is(w)) // a record of its end is missing
		here.what = w
		l.begin(here)
	}
	if state, over := fault.StateOf(r); state != nil {
		l.end(r.At, func(s span) bool { return s.state == state })
		if here.what, here.state = faulty, state; !over {
			l.begin(here)
		}
		return
	}
	switch r.Type {
	case trace.Crash:
		l.end(r.At, alive)
		begin(down)
	case trace.Up:
		l.end(r.At, is(down))
	case trace.Request:
		begin(waits)
	case trace.Granted:
		l.end(r.At, is(waits))
		begin(inside)
	case trace.Released:
		l.end(r.At, is(inside))
	case trace.Elected:
		if s := l.now(names); s != nil && s.leader == r.Peer && s.term == r.Arg {
			break // it says so again
		}
		l.end(r.At, is(names))
		if here.leader, here.term = r.Peer, r.Arg; r.Peer != 0 {
			begin(names)
		}
	}
}

// disturb follows what is cut and flaky. A heal ends the cut of the same links, and one that names
// none ends all.
func (c *cursor) disturb(here span, r *trace.Record) {
	here.what, here.text = cut, r.Text
	if r.Type == trace.Flaky {
		here.what = flaky
	}
	switch {
	case r.Type == trace.Heal || r.Type == trace.Flaky && r.Text == "":
		c.network.end(r.At, func(s span) bool {
			return s.what == here.what && (r.Text == "" || r.Text == s.text)
		})
	case r.Type == trace.Cut || r.Type == trace.Flaky:
		c.network.begin(here)
	}
}

// message joins the ends of messages.
func (c *cursor) message(i int, r *trace.Record) {
	key := keyOf(r)
	at, known := c.open[key]
	if r.Type == trace.Send || r.Type == trace.Duplicate || !known {
		at = len(c.messages)
		c.open[key] = at
		m := message{
			from: key.from, to: key.to, kind: r.Kind, plane: r.Plane, copy: r.Copy,
			send: -1, end: -1, origin: -1, sent: r.Sent, at: max(c.end, r.Due),
		}
		switch r.Type {
		case trace.Send:
			m.send, m.origin = i, i
		case trace.Duplicate:
			m.send = i
			key.copy = 0
			if first, known := c.open[key]; known {
				m.origin = c.messages[first].origin
			}
		}
		c.messages = append(c.messages, m)
	}
	m := &c.messages[at]
	switch r.Type {
	case trace.Deliver:
		m.fate = delivered
	case trace.Lose:
		m.fate, m.why = lost, r.Arg
	case trace.Undelivered:
		m.fate = undelivered
	default:
		return
	}
	m.end, m.at = i, r.At
	c.byEnd[i] = at
}

// late is how long after it was due a message was handled.
func (m *message) late(records trace.List) time.Duration {
	if m.fate != delivered {
		return 0
	}
	return time.Duration(records[m.end].Arg)
}

// past marks the records that could have led to record last: what its process did
// before, what those did before whose messages it received, and so on. What was
// done to the network is marked as well, for it shows why messages were lost.
func (s *story) past(last int, kept []bool) {
	before := make([][]int, s.nodes) // the own records of each process
	for i := range s.records {
		if r := &s.records[i]; own(r) {
			before[r.Process-1] = append(before[r.Process-1], i)
		}
	}
	next := make([]int, s.nodes) // how many of before are marked
	todo := []int{last}
	if r := &s.records[last]; !own(r) {
		kept[last], todo = true, nil
		if m, ok := s.byEnd[last]; ok && s.messages[m].origin >= 0 {
			todo = []int{s.messages[m].origin}
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p := s.records[i].Process - 1
		for ; next[p] < len(before[p]) && before[p][next[p]] <= i; next[p]++ {
			k := before[p][next[p]]
			kept[k] = true
			if m, ok := s.byEnd[k]; ok && s.messages[m].origin >= 0 {
				todo = append(todo, s.messages[m].origin)
			}
		}
	}
	for i := range last {
		switch r := &s.records[i]; {
		case r.Process == 0:
			kept[i] = true
		case r.Type == trace.Lose || r.Type == trace.Undelivered:
			origin := s.messages[s.byEnd[i]].origin
			kept[i] = origin >= 0 && kept[origin]
		}
	}
}
