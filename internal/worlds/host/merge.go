package host

import (
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A merge hands out the records of all nodes and of the host in the order of
// their instants. A node's own are in order already.
type merge struct {
	trial   *trial
	queue   harness.Queue[int] // the sources, by their next record
	sources []source
	rec     trace.Record
	causal  *causes // nil: clocks alone decide
}

// Causes have a message come after it was sent, where it may be faster than clocks are known: over a real
// network between several hosts. A source whose next record is of such a message waits for the sending.
// Its instants then are at most as wrong as the clocks.
type causes struct {
	sent    map[stream]uint64 // the last number that was handed out
	waiting map[stream][]int  // sources
	last    time.Duration     // when the last record was that was handed out
}

// A stream is messages that are numbered one after the other.
type stream struct {
	from, to, incarnation uint32
	plane                 uint8
}

// streamOf is that of the message that a record of its sender, or of its receiver, is about.
func streamOf(r *trace.Record) (of stream, receiver bool) {
	of = stream{from: r.Peer, to: r.Process, incarnation: r.Incarnation, plane: r.Plane}
	switch r.Type {
	case trace.Send, trace.Duplicate:
		of.from, of.to = of.to, of.from
		return of, false
	}
	return of, true
}

// A source is a stream of records with some of them read ahead.
type source struct {
	node  *node // nil: all that there is stands in ahead
	next  uint64
	page  []trace.Record
	ahead []trace.Record // the rest of page
	id    algo.ID
}

func newMerge(t *trial) *merge {
	m := &merge{trial: t}
	if t.setup.Network.Real && len(t.sites) > 1 {
		m.causal = &causes{sent: map[stream]uint64{}, waiting: map[stream][]int{}, last: math.MinInt64}
	}
	t.eachJournal(func(n *node, _ *agent.Journal) {
		m.sources = append(m.sources, source{node: n, id: n.ID})
	})
	m.sources = append(m.sources, source{ahead: t.records})
	for i := range m.sources {
		m.offer(i)
	}
	return m
}

// insert adds a record that nobody wrote down. It must not be before the last
// one that was handed out.
func (m *merge) insert(r trace.Record) {
	m.sources = append(m.sources, source{ahead: []trace.Record{r}, id: algo.ID(r.Process)})
	m.offer(len(m.sources) - 1)
}

// offer puts source i into the queue by its next record, if it has one.
func (m *merge) offer(i int) {
	s := &m.sources[i]
	if len(s.ahead) == 0 && s.node != nil {
		// An error is a gap: seen, and told, when outcomes read all of it.
		s.page, s.next, _ = m.trial.recordsOf(s.node, s.next, s.page[:0])
		s.ahead = s.page
	}
	if len(s.ahead) == 0 {
		return
	}
	r := &s.ahead[0]
	if m.causal != nil && r.Type.IsMessage() {
		if of, receiver := streamOf(r); receiver && r.Seq > m.causal.sent[of] {
			m.causal.waiting[of] = append(m.causal.waiting[of], i)
			return
		}
	}
	m.push(i)
}

func (m *merge) push(i int) {
	s := &m.sources[i]
	at := s.ahead[0].At
	if m.causal != nil {
		at = max(at, m.causal.last)
	}
	m.queue.Push(at, harness.Delivery, s.id, i)
}

// handedOut lets those go on that have waited for the record.
func (c *causes) handedOut(m *merge) {
	c.last = m.rec.At
	if !m.rec.Type.IsMessage() {
		return
	}
	of, receiver := streamOf(&m.rec)
	if receiver || m.rec.Seq <= c.sent[of] {
		return
	}
	c.sent[of] = m.rec.Seq
	list := c.waiting[of]
	delete(c.waiting, of)
	for _, i := range list {
		if m.sources[i].ahead[0].Seq > m.rec.Seq {
			c.waiting[of] = append(c.waiting[of], i)
		} else {
			m.push(i)
		}
	}
}

// giveUp lets the source go on whose next record is the first: no record of a sending is there, since the
// sender died before it had written it down. It says whether a source waits.
func (c *causes) giveUp(m *merge) bool {
	first, found := stream{}, -1
	for of, list := range c.waiting {
		for _, i := range list {
			if found < 0 || m.before(i, found) {
				first, found = of, i
			}
		}
	}
	if found < 0 {
		return false
	}
	c.waiting[first] = slices.DeleteFunc(c.waiting[first], func(i int) bool { return i == found })
	if len(c.waiting[first]) == 0 {
		delete(c.waiting, first)
	}
	m.push(found)
	return true
}

// before says whether the next record of source i is before that of source j.
func (m *merge) before(i, j int) bool {
	a, b := m.sources[i].ahead[0].At, m.sources[j].ahead[0].At
	return a < b || a == b && i < j
}

// next is the next record; nil at the end. It is valid until the next call.
func (m *merge) next() (*trace.Record, error) {
	if m.queue.Len() == 0 && (m.causal == nil || !m.causal.giveUp(m)) {
		return nil, nil
	}
	var at time.Duration
	at, i := m.queue.Pop()
	s := &m.sources[i]
	m.rec = s.ahead[0]
	m.rec.At = at
	s.ahead = s.ahead[1:]
	if m.causal != nil {
		m.causal.handedOut(m)
	}
	m.offer(i)
	return &m.rec, nil
}
