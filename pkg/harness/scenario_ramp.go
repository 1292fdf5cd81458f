package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name: "ramp", Doc: "open load whose rate rises in steps, to find the rate that is served at most",
		Example: "scenario: {kind: ramp, from: 50, to: 100, duration: 500ms}",
		Problem: algo.MutualExclusion, Plot: &Ramp{},
		Table: metric.Rising,
	})
}

// Ramp is the scenario in which requests arrive at a rate that rises.
type Ramp struct {
	Calm
	Duration      time.Duration
	Hold          link.Latency
	Sessions      int
	SessionChoice string
	From, To      float64 // requests per second of the first step, and of the last
	Steps         int     // at least 2
}

// Params declares the fields.
func (r *Ramp) Params() []param.Param {
	last := rate("to", "requests per second at last", "requests per second of the last step", &r.To)
	last.Example = "100"
	return append(append([]param.Param{duration(&r.Duration, "5s")}, r.entries().params()...),
		rate("from", "requests per second at first",
			"requests per second of the first step, of all processes together", &r.From),
		last, param.Param{Name: "steps", Example: "10", Default: "20", Min: 2, Max: 10_000, Doc: "of a " +
			"ramp, equally long",
			At: &r.Steps})
}

func (r *Ramp) entries() entries                { return entries{&r.Hold, &r.Sessions, &r.SessionChoice} }
func (r *Ramp) Lasts() time.Duration            { return r.Duration }
func (r *Ramp) RateAt(at time.Duration) float64 { return r.StepRate(r.StepAt(at)) }
func (r *Ramp) MeanRate() float64               { return (r.From + r.To) / 2 }
func (r *Ramp) Together(p *Plan) int            { return min(p.Clients(), r.Operations(p)) }

func (r *Ramp) Operations(*Plan) int { return int(r.MeanRate()*r.Duration.Seconds()) + 1 }
func (r *Ramp) scene() scene         { return loaded{} }
func (r *Ramp) load() *load          { return &load{gap: r.gap, open: true} }

func (r *Ramp) Takes(p *Plan, _ time.Duration) time.Duration {
	return max(r.Duration, p.count()*p.cycle(0))
}

// Check checks that the load rises, and that what is requested can be served in time.
func (r *Ramp) Check(p *Plan, wrong Wrong) {
	if r.From == 0 || r.To == 0 {
		wrong("scenario."+map[bool]string{true: "from", false: "to"}[r.From == 0],
			"missing; a ramp needs it, as {from: 50, to: 500} requests per second")
		return
	}
	if r.From >= r.To {
		wrong("scenario.to", "%v requests per second is not above scenario.from, %v", r.To, r.From)
	}
	if r.Duration >= p.TimeLimit {
		wrong("scenario.duration", "%v is not below the time_limit %v; raise that", r.Duration, p.TimeLimit)
		return
	}
	requests, hold := r.MeanRate()*r.Duration.Seconds(), r.Hold.Average()
	if takes := requests * hold.Seconds(); takes > p.TimeLimit.Seconds() {
		wrong("scenario.to", "%v requests per second: about %.0f requests, held for %v each, take %.3gs, "+
			"beyond the time_limit %v; all are served before the trial ends", r.To, requests, hold, takes,
			p.TimeLimit)
	}
}

// StepRate is how many requests per second step i makes, from 0 on: all steps last equally long,
// and each is as much above the one before it.
func (r *Ramp) StepRate(i int) float64 {
	return r.From + float64((r.To-r.From)*float64(i)/float64(r.Steps-1))
}

// StepAt is the step at an instant; behind the end the last one.
func (r *Ramp) StepAt(at time.Duration) int {
	return min(int(float64(at)/float64(r.Duration)*float64(r.Steps)), r.Steps-1)
}

// StepEnd is the instant at which step i ends.
func (r *Ramp) StepEnd(i int) time.Duration {
	return time.Duration(float64(r.Duration) / float64(r.Steps) * float64(i+1))
}

// gap is the time from an arrival at one process to the next, if the rate changes from
// step to step: each step takes its share of a gap that would have the mean 1 at rate 1.
func (r *Ramp) gap(s *Setup, id algo.ID, incarnation uint32, k uint64, from time.Duration) time.Duration {
	left, at := unitGap(s, id, incarnation, k), from
	for i := r.StepAt(from); ; i++ {
		rate := r.StepRate(i) / float64(s.Clients()) / float64(time.Second) // per nanosecond, of one process
		end, gap := r.StepEnd(i), left/rate
		if gap < float64(end-at) || i == r.Steps-1 {
			return at - from + time.Duration(min(gap, float64(100*r.Duration)))
		}
		if end > at {
			left -= float64(float64(end-at) * rate)
			at = end
		}
	}
}
