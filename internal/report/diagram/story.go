package diagram

import (
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
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
	bands    []band      // partitions and flaky links
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

// A span is a state of a process, or of the network, from an instant to another.
type span struct {
	from, to time.Duration
	record   int // that began it; -1: it was so at the start
}

// forever is the end of what did not end.
const forever = time.Duration(math.MaxInt64)

// A lane is the states that a process goes through.
type lane struct {
	down    []span
	states  []state // what faults put it into
	waits   []span  // for the critical section
	inside  []span
	leaders []belief
	begins  time.Duration // when it joined
}

// A state is a span in which a process is what a fault made it.
type state struct {
	span
	*fault.State
}

// A belief is a span in which a process takes another, or itself, for the leader.
type belief struct {
	span
	leader uint32
	term   uint64
}

// A band is a span in which links are cut, or have other properties.
type band struct {
	span
	flaky bool
	text  string
}

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
	c := cursor{
		story: s, open: map[copyKey]int{}, now: make([]present, s.nodes),
		end: s.records[len(s.records)-1].At,
	}
	c.start(t.Leader)
	for i := range s.records {
		c.record(i, &s.records[i])
	}
	for p := range s.lanes {
		c.stop(uint32(p+1), forever)
		c.close(&s.lanes[p].down, &c.now[p].downSince, forever)
	}
	for _, b := range c.bands {
		s.bands = append(s.bands, band{span{b.from, forever, b.record}, b.flaky, b.text})
	}
	slices.SortStableFunc(s.bands, func(a, b band) int { return int(a.from - b.from) })
	return s
}

// A cursor goes over the records and knows what is open.
type cursor struct {
	*story
	open  map[copyKey]int // messages by what names them
	now   []present
	bands []band
	end   time.Duration
}

// present is what a process is in the middle of.
type present struct {
	downSince, waitSince, insideSince *span
	states                            []state
	belief                            *belief
}

// start is how things are before the first record: everybody up names the leader;
// whoever does not join before it does anything else is down.
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
		switch {
		case !joined[p] && slices.Contains(joined, true):
			c.lanes[p].begins = first
			c.now[p].downSince = &span{from: first, record: -1}
		case leader != 0:
			begins := c.lanes[p].begins
			c.now[p].belief = &belief{span: span{from: begins, record: -1}, leader: leader}
		}
	}
}

func (c *cursor) record(i int, r *trace.Record) {
	if r.Type.IsMessage() {
		c.message(i, r)
		return
	}
	if r.Process == 0 {
		c.network(i, r)
		return
	}
	lane, st := &c.lanes[r.Process-1], &c.now[r.Process-1]
	here := func() *span { return &span{from: r.At, record: i} }
	if s, over := fault.StateOf(r); s != nil {
		c.leave(r.Process, s, r.At)
		if !over {
			st.states = append(st.states, state{*here(), s})
		}
		return
	}
	switch r.Type {
	case trace.Crash:
		c.stop(r.Process, r.At)
		st.downSince = here()
	case trace.Up:
		c.close(&lane.down, &st.downSince, r.At)
	case trace.Request:
		st.waitSince = here()
	case trace.Granted:
		c.close(&lane.waits, &st.waitSince, r.At)
		st.insideSince = here()
	case trace.Released:
		c.close(&lane.inside, &st.insideSince, r.At)
	case trace.Elected:
		if b := st.belief; b != nil && b.leader == r.Peer && b.term == r.Arg {
			break // it says so again
		}
		c.believe(r.Process, r.At)
		if r.Peer != 0 {
			st.belief = &belief{*here(), r.Peer, r.Arg}
		}
	}
}

// close ends the span at open, if there is one.
func (c *cursor) close(list *[]span, open **span, at time.Duration) {
	if *open != nil {
		(*open).to = at
		*list = append(*list, **open)
		*open = nil
	}
}

// leave ends the state of p; nil: all of them.
func (c *cursor) leave(p uint32, which *fault.State, at time.Duration) {
	lane, st := &c.lanes[p-1], &c.now[p-1]
	st.states = slices.DeleteFunc(st.states, func(s state) bool {
		ended := which == nil || s.State == which
		if ended {
			s.to = at
			lane.states = append(lane.states, s)
		}
		return ended
	})
}

func (c *cursor) believe(p uint32, at time.Duration) {
	if st := &c.now[p-1]; st.belief != nil {
		if st.belief.to = at; at > st.belief.from {
			c.lanes[p-1].leaders = append(c.lanes[p-1].leaders, *st.belief)
		}
		st.belief = nil
	}
}

// stop ends whatever p is in the middle of, but being down.
func (c *cursor) stop(p uint32, at time.Duration) {
	lane, st := &c.lanes[p-1], &c.now[p-1]
	c.believe(p, at)
	c.leave(p, nil, at)
	c.close(&lane.waits, &st.waitSince, at)
	c.close(&lane.inside, &st.insideSince, at)
}

// network follows what is cut and flaky. A heal ends the cut of the same links, and
// one that names none ends all.
func (c *cursor) network(i int, r *trace.Record) {
	ends := r.Type == trace.Heal || r.Type == trace.Flaky && r.Text == ""
	if r.Type == trace.Cut || r.Type == trace.Flaky && !ends {
		c.bands = append(c.bands, band{span{r.At, 0, i}, r.Type == trace.Flaky, r.Text})
	}
	if !ends {
		return
	}
	c.bands = slices.DeleteFunc(c.bands, func(b band) bool {
		ended := b.flaky == (r.Type == trace.Flaky) && (r.Text == "" || r.Text == b.text)
		if ended {
			b.to = r.At
			c.story.bands = append(c.story.bands, b)
		}
		return ended
	})
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
