package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Counters implements Agent. It reads what the nodes share in memory: no message
// disturbs them. Of links it knows from what they wrote down, each record of which it reads
// once.
func (l *Local) Counters(links bool) ([]Counters, error) {
	s := l.session
	s.counters = s.counters[:0]
	for _, n := range s.nodes {
		r := n.reader.Load()
		if r == nil {
			continue
		}
		c := readCounters(n.Ref, r)
		if links {
			var err error
			if c.Links, err = n.readLinks(r); err != nil {
				return nil, err
			}
		}
		if s.counters = append(s.counters, c); c.Busy() && !n.killed {
			break
		}
	}
	return s.counters, nil
}

func readCounters(n Ref, r *telemetry.Reader) Counters {
	return Counters{
		Node:     n,
		Activity: r.Word(control.WordActivity),
		Timers:   r.Word(control.WordTimers),
		Planned:  r.Word(control.WordPlanned),
		Inside:   r.Word(control.WordInside) != 0,
		Pending:  r.Word(control.WordPending),
		Executed: r.Word(control.WordExecuted),
		Reports:  r.Word(control.WordReports),
		LastDue:  time.Duration(r.Word(control.WordLastDue)),
		Sent:     r.Word(control.WordSent),
		Got:      r.Word(control.WordGot),
	}
}

// readLinks reads on in what the node has written down, and returns what is known of its
// links: those that carried something, by the peer's ID.
func (n *node) readLinks(r *telemetry.Reader) ([]Link, error) {
	if n.links == nil {
		n.links = map[algo.ID]*Link{}
	}
	var err error
	if r.Len() > n.read {
		n.read, err = r.EachFrom(n.read, n.noteLink)
	}
	list := make([]Link, 0, len(n.links))
	for _, l := range n.links {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Link) int { return cmp.Compare(a.Peer, b.Peer) })
	return list, err
}

// noteLink notes what a record says of a link.
func (n *node) noteLink(r *trace.Record) error {
	ends := r.Type == trace.Deliver || r.Type == trace.Lose || r.Type == trace.Undelivered
	sends := r.Type == trace.Send || r.Type == trace.Duplicate
	if r.Plane != trace.Data || !ends && !sends {
		return nil
	}
	l := n.links[algo.ID(r.Peer)]
	if l == nil {
		l = &Link{Peer: algo.ID(r.Peer)}
		n.links[l.Peer] = l
	}
	if sends {
		l.Sent, l.SentAt = max(l.Sent, copyOf(r)), r.Sent
	} else { // those of a link may have overtaken each other
		l.Got = max(l.Got, copyOf(r))
	}
	return nil
}
