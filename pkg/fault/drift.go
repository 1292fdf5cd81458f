package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Drift is the name of the fault by which a clock runs at another rate.
const Drift = "drift"

// Drifting is what drift alone says: the rate of the clock, 1 for that of real time.
type Drifting struct{ Factor float64 }

// Params declares the fields.
func (d *Drifting) Params() []param.Param {
	return []param.Param{{Name: "factor", Doc: "drift: how many times as fast its clock " +
		"runs", At: &d.Factor, Min: 0.01, Max: 100.0, Required: true,
		Example: "1.1", With: "at: 1s, do: drift, node: 3"}}
}

func init() {
	Register(Fault{
		Name: Drift, Doc: "its clock and its timers run factor times as fast; for: until then",
		Takes: []string{"who", "factor", "for"}, Args: &Drifting{}, One: []string{"who"},
		Inside: func(p Process, now time.Duration, i *Instruction) {
			rate := 1.0
			if !i.Undo {
				rate = own[Drifting](i.Args).Factor
			}
			p.ClockRate(now, rate)
		},
		Breaks: func(*Event, time.Duration) Assumption { return ClockRates },
		Clock:  true,
		State:  &State{"fault", "has a clock that is too fast or too slow"},
		Words: func(r *trace.Record, a Args) string {
			if a.Own == nil {
				return fmt.Sprintf("the clock of p%d runs as all others again", r.Process)
			}
			return fmt.Sprintf("the clock of p%d runs %v times as fast", r.Process, own[Drifting](a).Factor)
		},
		Draw: func(d *Draw) Event {
			factor := pick(d, 0.2, 0.5, 0.9, 1.1, 2, 5)
			return Event{Node: d.Process(), For: d.Span(), Args: Args{&Drifting{factor}}}
		},
	})
}
