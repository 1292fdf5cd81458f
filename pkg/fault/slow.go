package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Slow is the name of the fault by which each event takes a process a while.
const Slow = "slow"

// Slowing is what slow alone says: by how much longer each event takes.
type Slowing struct{ By time.Duration }

// SlowBy is the argument of an event of slow.
func SlowBy(d time.Duration) Args { return Args{&Slowing{d}} }

// Params declares the fields.
func (s *Slowing) Params() []param.Param {
	return []param.Param{{Name: "by", Doc: byDoc, At: &s.By, Min: time.Microsecond, Max: time.Hour,
		Required: true, Example: "20ms", With: "at: 1s, do: slow, node: 3"}}
}

func init() {
	Register(Fault{
		Name: Slow, Doc: "every event takes it an extra time",
		Takes: []string{"who", "by", "for"}, Args: &Slowing{}, One: []string{"who"},
		Outside: func(x Executor, i *Instruction) { x.Slow(i.Node, own[Slowing](i.Args).By) },
		Breaks:  func(*Event, time.Duration) Assumption { return Speed },
		Clock:   true,
		Record:  trace.Slow, State: &State{"slow", "is slow"},
		Over: func(r *trace.Record) bool { return r.Arg == 0 },
		Words: func(r *trace.Record, _ Args) string {
			if r.Arg == 0 {
				return fmt.Sprintf("p%d is slow no longer", r.Process)
			}
			return fmt.Sprintf("p%d takes %v longer for each event", r.Process, time.Duration(r.Arg))
		},
		Draw: func(d *Draw) Event { return Event{Node: d.Process(), For: d.Span(), Args: SlowBy(d.Latency)} },
	})
}
