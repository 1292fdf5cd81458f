package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Throttling is what throttle says: the part of the time that the programs run.
type Throttling struct{ Share float64 }

// Params declares the field.
func (t *Throttling) Params() []param.Param {
	return []param.Param{{Name: "share", Doc: "throttle: the part of one processor that it gets",
		At: &t.Share, Min: 0.01, Max: 0.99, Required: true, Example: "0.2",
		With: "at: 1s, do: throttle, who: server-leader"}}
}

func init() {
	Register(Fault{
		Name: "throttle", Doc: "a server of a system gets that share of a processor; for: until then",
		Takes: []string{"who", "share", "for"}, Args: &Throttling{}, One: []string{"who"}, Served: true,
		Inside: func(p Process, now time.Duration, i *Instruction) {
			share := 0.0
			if !i.Undo {
				share = own[Throttling](i.Args).Share
			}
			p.Throttle(now, share)
		},
		Breaks: func(*Event, time.Duration) Assumption { return Speed },
		State:  &State{"fault", "gets a part of a processor"},
		Words: func(r *trace.Record, a Args) string {
			if a.Own == nil {
				return fmt.Sprintf("p%d gets all of a processor again", r.Process)
			}
			return fmt.Sprintf("p%d gets %v of a processor", r.Process, own[Throttling](a).Share)
		},
	})
}
