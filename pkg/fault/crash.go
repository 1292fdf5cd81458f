package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// Crash is the name of the fault by which a process loses all but what it saved.
const Crash = "crash"

func init() {
	Register(Fault{
		Name: Crash, Doc: "loses all but what it saved; for: restarts after that",
		Takes: []string{"who", "for"}, One: []string{"who"},
		Outside: func(x Executor, i *Instruction) { x.Crash(i.Node, i.At) },
		Undo:    Restart,
		Breaks: func(e *Event, _ time.Duration) Assumption {
			if e.For > 0 {
				return Recovery
			}
			return 0
		},
		Down:   func(*Event, []Event) bool { return true },
		Record: trace.Crash,
		Words:  func(r *trace.Record, _ Args) string { return fmt.Sprintf("p%d crashes", r.Process) },
		Draw:   drawCrash,
	})
}
