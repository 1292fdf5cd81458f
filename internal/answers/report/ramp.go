package report

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Step is what a cell's trials with status ok or timeout did in a step of a ramp.
type Step struct {
	Offered float64 // requests per second that it asks for
	Granted float64 // entries per second
	Waiting float64 // ms: mean wait of the requests that came in it; NaN: none came
}

// A climb gathers the steps of a cell.
type climb struct {
	harness.Ramp
	came, granted []int
	waited        []time.Duration
}

// climbOf is nil unless the load of c rises, as the run says.
func climbOf(t *results.Table, c *results.Cell) *climb {
	of := func(key string) float64 { return compare.Setting(t, c, "scenario."+key) }
	s := harness.Ramp{From: of("from"), To: of("to"), Steps: int(of("steps")),
		Duration: time.Duration(of("duration") * float64(time.Millisecond))}
	k := harness.ScenarioOf(c.Get("scenario"))
	if k == nil || !k.Has("steps") || s.Steps < 2 || s.Duration <= 0 || s.From == s.To {
		return nil
	}
	return &climb{s, make([]int, s.Steps), make([]int, s.Steps), make([]time.Duration, s.Steps)}
}

// add takes an entry.
func (c *climb) add(op trace.Operation) {
	if c == nil || op.Status != trace.Completed {
		return
	}
	i := c.StepAt(op.Cause)
	c.came[i]++
	c.waited[i] += op.End - op.Cause
	if op.End <= c.Duration {
		c.granted[c.StepAt(op.End)]++
	}
}

// steps are those of so many trials.
func (c *climb) steps(trials int) (out []Step) {
	if c == nil || trials == 0 {
		return nil
	}
	each := (c.Duration / time.Duration(c.Steps)).Seconds() * float64(trials)
	for i := range c.Steps {
		s := Step{c.StepRate(i), float64(c.granted[i]) / each, math.NaN()}
		if c.came[i] > 0 {
			s.Waiting = float64(c.waited[i]) / float64(time.Millisecond) / float64(c.came[i])
		}
		out = append(out, s)
	}
	return out
}
