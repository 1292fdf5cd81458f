package host

import (
	"errors"
	"time"

	"github.com/conclave-bench/conclave/internal/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A merge hands out the records of all nodes and of the host in the order of
// their instants. A node's own are in order already.
type merge struct {
	queue   harness.Queue[int] // the sources, by their next record
	sources []source
	rec     trace.Record
}

// A source is a stream of records with some of them read ahead.
type source struct {
	reader *telemetry.Reader // nil: all that there is stands in ahead
	next   uint64
	ahead  []trace.Record
	id     algo.ID
}

const readAhead = 512

func newMerge(t *trial) *merge {
	m := &merge{}
	own := t.records
	for _, c := range t.children() {
		m.sources = append(m.sources, source{reader: c.reader, id: c.id})
	}
	m.sources = append(m.sources, source{ahead: own})
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

var errEnough = errors.New("enough for now")

// offer puts source i into the queue by its next record, if it has one.
func (m *merge) offer(i int) {
	s := &m.sources[i]
	if len(s.ahead) == 0 && s.reader != nil {
		var err error
		s.next, err = s.reader.EachFrom(s.next, func(r *trace.Record, text string) error {
			if len(s.ahead) == readAhead {
				return errEnough
			}
			s.ahead = append(s.ahead, *r)
			s.ahead[len(s.ahead)-1].Text = text
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			// A gap: seen, and told, when outcomes read all of it.
			s.reader = nil
		}
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
