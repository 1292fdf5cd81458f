package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// network is which links are cut, and whether any are flaky.
type network struct {
	nodes     uint32
	cuts      link.Cuts
	apart     bool // some link is cut
	ever      bool // some link is, or was
	overrides int  // for which links are flaky
}

func (n *network) record(r *trace.Record) {
	switch r.Type {
	case trace.Cut, trace.Heal:
		change, _ := link.ParseChange(r.Text) // written by this program
		change.At, change.Heal = r.At, r.Type == trace.Heal
		n.cuts.Add(change)
		n.apart = (!change.Heal || r.Text != "") && n.severed(r.At)
		n.ever = n.ever || n.apart
	case trace.Flaky:
		if r.Text != "" {
			n.overrides++
		} else if n.overrides > 0 {
			n.overrides--
		}
	}
}

// severed says whether any link is cut at now.
func (n *network) severed(now time.Duration) bool {
	for p := uint32(1); p <= n.nodes; p++ {
		for q := uint32(1); q <= n.nodes; q++ {
			if p != q && n.cuts.Severed(p, q, now, now) {
				return true
			}
		}
	}
	return false
}

// oneWay says whether a link is cut at now that is not cut in the other direction.
func (n *network) oneWay(now time.Duration) bool {
	for p := uint32(1); p <= n.nodes && n.apart; p++ {
		for q := p + 1; q <= n.nodes; q++ {
			if n.cuts.Severed(p, q, now, now) != n.cuts.Severed(q, p, now, now) {
				return true
			}
		}
	}
	return false
}
