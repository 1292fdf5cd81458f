package harness

import (
	"cmp"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// Ramp is the name of the scenario in which requests arrive at a rate that rises.
const Ramp = "ramp"

func init() {
	RegisterScenario(ScenarioKind{
		Name: Ramp, Doc: "open load whose rate rises in steps, to find the rate that is served at most",
		Example: "scenario: {kind: ramp, from: 50, to: 100, duration: 500ms}",
		Problem: algo.MutualExclusion, Keys: []string{"from", "to", "steps", "duration", "hold",
			"sessions", "session_choice"},
		Rate:  func(s *Scenario, at time.Duration) float64 { return s.StepRate(s.StepAt(at)) },
		Table: metric.Rising, load: &load{gap: rising},
		Duration: 5 * time.Second, Check: checkRamp,
		Operations: func(p *Plan) int { return int(p.Scenario.MeanRate()*p.Scenario.Duration.Seconds()) + 1 },
		Takes: func(p *Plan, _ time.Duration) time.Duration {
			return max(p.Scenario.Duration, p.count()*p.cycle())
		},
	})
}

// checkRamp checks that the load rises, and that what is requested can be served in time.
func checkRamp(p *Plan, wrong Wrong) {
	s := &p.Scenario
	if s.From == 0 || s.To == 0 {
		wrong("scenario."+map[bool]string{true: "from", false: "to"}[s.From == 0],
			"missing; a ramp needs it, as {from: 50, to: 500} requests per second")
		return
	}
	if s.From >= s.To {
		wrong("scenario.to", "%v requests per second is not above scenario.from, %v", s.To, s.From)
	}
	if s.Duration >= p.TimeLimit {
		wrong("scenario.duration", "%v is not below the time_limit %v; raise that", s.Duration, p.TimeLimit)
		return
	}
	requests, hold := s.MeanRate()*s.Duration.Seconds(), s.Hold.Average()
	if takes := requests * hold.Seconds(); takes > p.TimeLimit.Seconds() {
		wrong("scenario.to", "%v requests per second: about %.0f requests, held for %v each, take %.3gs, "+
			"beyond the time_limit %v; all are served before the trial ends", s.To, requests, hold, takes,
			p.TimeLimit)
	}
}

// MeanRate is how many requests per second open load makes, over all of it.
func (s *Scenario) MeanRate() float64 {
	return cmp.Or(s.Rate, (s.From+s.To)/2)
}

// StepRate is how many requests per second step i of a ramp makes, from 0 on: all steps
// last equally long, and each is as much above the one before it.
func (s *Scenario) StepRate(i int) float64 {
	return s.From + float64((s.To-s.From)*float64(i)/float64(s.Steps-1))
}

// StepAt is the step of a ramp at an instant; behind its end the last one.
func (s *Scenario) StepAt(at time.Duration) int {
	return min(int(float64(at)/float64(s.Duration)*float64(s.Steps)), s.Steps-1)
}

// StepEnd is the instant at which step i ends.
func (s *Scenario) StepEnd(i int) time.Duration {
	return time.Duration(float64(s.Duration) / float64(s.Steps) * float64(i+1))
}

// rising is the time from an arrival at one process to the next, if the rate changes from
// step to step: each step takes its share of a gap that would have the mean 1 at rate 1.
func rising(s *Setup, id algo.ID, incarnation uint32, k uint64, from time.Duration) time.Duration {
	r, left, at := &s.Scenario, unitGap(s, id, incarnation, k), from
	for i := r.StepAt(from); ; i++ {
		rate := r.StepRate(i) / float64(s.Nodes) / float64(time.Second) // per nanosecond, of one process
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
