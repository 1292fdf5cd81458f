package fault

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Drop is the name of the fault by which a certain message is lost.
const Drop = "drop"

func init() {
	Register(Fault{
		Name: Drop, Was: "lose",
		Doc:   "drops the count-th message of a kind and the times-1 after it; who: its sender",
		Takes: []string{"kind", "count", "times", "who"},
		One:   []string{"kind"}, Who: []string{},
		Rule:   newOmission,
		Breaks: func(*Event, time.Duration) Assumption { return Loss },
	})
}

// An Omission is a rule by which certain messages are lost: the First-th to the
// Last-th that fits.
type Omission struct {
	Kind        uint8
	Senders     []algo.ID // nil: all
	At          time.Duration
	First, Last uint64
}

func newOmission(e *Event, kind uint8) Omission {
	o := Omission{Kind: kind, Senders: e.Nodes, At: e.At, First: uint64(max(e.Count, 1))}
	if e.Node != algo.None {
		o.Senders = []algo.ID{e.Node}
	}
	o.Last = o.First + uint64(max(e.Times, 1)) - 1
	return o
}

// Fits says whether the rule counts the message.
func (o *Omission) Fits(from algo.ID, plane, kind uint8, sent time.Duration) bool {
	return plane == trace.Data && kind == o.Kind && sent >= o.At &&
		(len(o.Senders) == 0 || slices.Contains(o.Senders, from))
}

// Loses says whether the k-th message that fits is lost.
func (o *Omission) Loses(k uint64) bool { return k >= o.First && k <= o.Last }

// Missed is how many messages the rule was to lose and did not, if so many have
// fitted it.
func (o *Omission) Missed(fitted uint64) int {
	return int(o.Last - max(min(fitted, o.Last), o.First-1))
}
