package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Links is which links are cut, and whether any are flaky, by the records of a trial.
type Links struct {
	Nodes     uint32
	Cuts      link.Cuts
	Apart     bool // some link is cut
	Ever      bool // some link is, or was
	Overrides int  // for which links are flaky
}

// Record takes in what happens to links.
func (l *Links) Record(r *trace.Record) {
	switch r.Type {
	case trace.Cut, trace.Heal:
		change, _ := link.ParseChange(r.Text) // written by this program
		change.At, change.Heal = r.At, r.Type == trace.Heal
		l.Cuts.Add(change)
		l.Apart = (!change.Heal || r.Text != "") && l.severed(r.At)
		l.Ever = l.Ever || l.Apart
	case trace.Flaky:
		if r.Text != "" {
			l.Overrides++
		} else if l.Overrides > 0 {
			l.Overrides--
		}
	}
}

// severed says whether any link is cut at now.
func (l *Links) severed(now time.Duration) bool {
	for p := uint32(1); p <= l.Nodes; p++ {
		for q := uint32(1); q <= l.Nodes; q++ {
			if p != q && l.Cuts.Severed(p, q, now, now) {
				return true
			}
		}
	}
	return false
}

// OneWay says whether a link is cut at now that is not cut in the other direction.
func (l *Links) OneWay(now time.Duration) bool {
	for p := uint32(1); p <= l.Nodes && l.Apart; p++ {
		for q := p + 1; q <= l.Nodes; q++ {
			if l.Cuts.Severed(p, q, now, now) != l.Cuts.Severed(q, p, now, now) {
				return true
			}
		}
	}
	return false
}
