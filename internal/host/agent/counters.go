package agent

import (
	"time"

	"github.com/conclave-bench/conclave/internal/host/control"
	"github.com/conclave-bench/conclave/internal/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// Counters implements Agent. It reads what the nodes share in memory: no message
// disturbs them.
func (l *Local) Counters(links bool) ([]Counters, error) {
	s := l.session
	s.counters, s.links = s.counters[:0], s.links[:0]
	for _, n := range s.nodes {
		r := n.reader.Load()
		if r == nil {
			continue
		}
		c := readCounters(n.Ref, r)
		if links {
			first := len(s.links)
			s.links = appendLinks(s.links, r, s.Nodes)
			c.Links = s.links[first:]
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
	}
}

// appendLinks appends the links of a node in a trial of so many nodes.
func appendLinks(list []Link, r *telemetry.Reader, nodes int) []Link {
	for i := range nodes {
		first := control.WordPeers + control.PeerWords*i
		link := Link{
			Peer: algo.ID(i + 1),
			Sent: r.Word(first + control.PeerSent), Got: r.Word(first + control.PeerGot),
		}
		if link.Sent != 0 {
			link.SentAt = time.Duration(r.Word(first + control.PeerSentAt))
		}
		if link.Sent != 0 || link.Got != 0 {
			list = append(list, link)
		}
	}
	return list
}
