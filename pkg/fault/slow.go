package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// Slow is the name of the fault by which each event takes a process a while.
const Slow = "slow"

func init() {
	Register(Fault{
		Name: Slow, Doc: "every event takes it an extra time",
		Args: []Arg{who, {Name: "by", Type: TypeDuration, Min: float64(time.Microsecond),
			Max: float64(time.Hour), Needed: true, Example: "20ms"}, lasts},
		One:     []string{"who"},
		Outside: func(w World, i *Instruction) { w.Slow(i.Node, i.Args.Duration("by")) },
		Breaks:  func(*Event, time.Duration) Assumption { return Speed },
		Record:  trace.Slow, State: &State{"slow", "is slow"},
		Over: func(r *trace.Record) bool { return r.Arg == 0 },
		Words: func(r *trace.Record, _ Args) string {
			if r.Arg == 0 {
				return fmt.Sprintf("p%d is slow no longer", r.Process)
			}
			return fmt.Sprintf("p%d takes %v longer for each event", r.Process, time.Duration(r.Arg))
		},
		Draw: func(d *Draw) Event { return Event{Node: d.Process(), For: d.Span(), Args: By(d.Latency)} },
	})
}
