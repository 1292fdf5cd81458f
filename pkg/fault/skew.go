package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Skewing is what skew alone says: by how much the clock is ahead; below 0: behind.
type Skewing struct{ By time.Duration }

// Params declares the fields.
func (s *Skewing) Params() []param.Param {
	return []param.Param{{Name: "by", Doc: byDoc, At: &s.By, Min: -time.Hour, Max: time.Hour, Required: true,
		Example: "20ms", With: "at: 1s, do: skew, node: 3"}}
}

func init() {
	Register(Fault{
		Name: "skew", Doc: "its clock is ahead by this much, or behind if negative; for: until then",
		Takes: []string{"who", "by", "for"}, Args: &Skewing{}, One: []string{"who"},
		Inside: func(p Process, now time.Duration, i *Instruction) {
			p.ClockOffset(now, own[Skewing](i.Args).By)
		},
		Breaks: func(*Event, time.Duration) Assumption { return ClockReads },
		Clock:  true,
		State:  &State{"fault", "has a clock that is off"},
		Words: func(r *trace.Record, a Args) string {
			switch by := own[Skewing](a).By; {
			case by > 0:
				return fmt.Sprintf("the clock of p%d is %v ahead", r.Process, by)
			case by < 0:
				return fmt.Sprintf("the clock of p%d is %v behind", r.Process, -by)
			}
			return fmt.Sprintf("the clock of p%d is right again", r.Process)
		},
		Draw: func(d *Draw) Event {
			by := pick[time.Duration](d, -10, -1, 1, 10) * d.Latency
			return Event{Node: d.Process(), For: d.Span(), Args: Args{&Skewing{by}}}
		},
	})
}
