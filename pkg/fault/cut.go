package fault

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Cut is the name of the fault by which no message passes.
const Cut = "cut"

func init() {
	Register(Fault{
		Name: Cut, Also: "partition",
		Doc:   "cuts the links between groups, the given links, or a shape",
		Takes: []string{"groups", "links", "shape", "who", "for"},
		One:   []string{"groups", "links", "shape"},
		Network: func(i *Instruction, at time.Duration) Effect {
			return Effect{Change: &link.Change{At: at, Groups: i.Groups, Links: i.Links}}
		},
		Aim: func(s Situation, e *Event, _ time.Duration) (Instruction, bool) {
			if e.Shape == "" {
				return Instruction{Groups: e.Groups, Links: e.Links}, true
			}
			groups, links, ok := e.divide(s)
			return Instruction{Groups: groups, Links: links}, ok
		},
		Undo:   Heal,
		Breaks: func(*Event, time.Duration) Assumption { return Partition },
		Record: trace.Cut,
		Words:  func(r *trace.Record, _ Args) string { return "links are cut: " + r.Text },
		Draw: func(d *Draw) Event {
			if d.chance(4) {
				return Event{Links: d.link(), For: d.Span()}
			}
			var side []uint32
			for _, p := range d.Rand.Perm(d.Nodes)[:1+d.Rand.IntN(d.Nodes-1)] {
				side = append(side, uint32(p+1))
			}
			slices.Sort(side)
			return Event{Groups: [][]uint32{side}, For: d.Span()}
		},
	})
}
