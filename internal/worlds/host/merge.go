package host

import (
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
	if len(s.ahead) > 0 {
		m.queue.Push(s.ahead[0].At, harness.Delivery, s.id, i)
	}
}

// next is the next record; nil at the end. It is valid until the next call.
func (m *merge) next() (*trace.Record, error) {
	if m.queue.Len() == 0 {
		return nil, nil
	}
	var at time.Duration
	at, i := m.queue.Pop()
	s := &m.sources[i]
	m.rec = s.ahead[0]
	m.rec.At = at
	s.ahead = s.ahead[1:]
	m.offer(i)
	return &m.rec, nil
}
