package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	Register(Fault{
		Name: "skew", Doc: "its clock is ahead by this much, or behind if negative; for: until then",
		Args: []Arg{who, {Name: "by", Type: TypeDuration, Min: -float64(time.Hour), Max: float64(time.Hour),
			Needed: true, Example: "20ms"}, lasts},
		One: []string{"who"},
		Inside: func(p Process, now time.Duration, i *Instruction) {
			p.ClockOffset(now, i.Args.Duration("by"))
		},
		Breaks: func(*Event, time.Duration) Assumption { return ClockReads },
		State:  &State{"fault", "has a clock that is off"},
		Words: func(r *trace.Record, a Args) string {
			switch by := a.Duration("by"); {
			case by > 0:
				return fmt.Sprintf("the clock of p%d is %v ahead", r.Process, by)
			case by < 0:
				return fmt.Sprintf("the clock of p%d is %v behind", r.Process, -by)
			}
			return fmt.Sprintf("the clock of p%d is right again", r.Process)
		},
		Draw: func(d *Draw) Event {
			by := pick[time.Duration](d, -10, -1, 1, 10) * d.Latency
			return Event{Node: d.Process(), For: d.Span(), Args: By(by)}
		},
	})
}
