package fault

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// Pause is the name of the fault that stops a process without its notice.
const Pause = "pause"

var paused = &State{"pause", "is paused"}

func init() {
	Register(Fault{
		Name: Pause, Doc: "is suspended (SIGSTOP) without noticing; for: resumes after that",
		Takes: []string{"who", "for"}, One: []string{"who"},
		Outside: func(x Executor, i *Instruction) { x.Pause(i.Node) },
		Undo:    Resume,
		Breaks:  func(*Event, time.Duration) Assumption { return Speed },
		Down: func(e *Event, all []Event) bool { // never resumed: as good as crashed
			return e.For == 0 && !slices.ContainsFunc(all, func(o Event) bool { return o.Do == Resume })
		},
		Stops:  true,
		Record: trace.Pause, State: paused,
		Words: func(r *trace.Record, _ Args) string { return fmt.Sprintf("p%d is paused", r.Process) },
		Draw:  func(d *Draw) Event { return Event{Node: d.Process(), For: d.Span()} },
	})
}
