package harness

import (
	"cmp"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Open is the name of the scenario in which requests arrive at a rate.
const Open = "open"

func init() {
	RegisterScenario(ScenarioKind{
		Name:    Open,
		Doc:     "requests arrive as a Poisson process, for duration or until requests have come",
		Example: "scenario: {kind: open, rate: 50, requests: 20}",
		Problem: algo.MutualExclusion, Keys: []string{"requests", "duration", "rate", "hold",
			"sessions", "session_choice", "warmup"},
		Rate:   func(s *Scenario, _ time.Duration) float64 { return s.Rate },
		Steady: true, load: &load{gap: poisson, last: lastOfPoisson},
		Check: func(p *Plan, wrong Wrong) {
			if p.Scenario.Rate == 0 {
				wrong("scenario.rate", "missing; an open workload needs it, as rate: 50")
			}
			checkLoad(p, wrong)
		},
		Operations: func(p *Plan) int {
			s := &p.Scenario
			return cmp.Or(s.Requests, int(s.Rate*s.Duration.Seconds())+1)
		},
		Takes: func(p *Plan, _ time.Duration) time.Duration {
			s := &p.Scenario
			if s.Duration > 0 {
				return s.Duration
			}
			return time.Duration(float64(s.Requests) / s.Rate * float64(time.Second))
		},
	})
}

// poisson is the time between two arrivals at one process: the k-th in the life of one
// incarnation. So each process has a Poisson stream of its own, and all of them together
// are one of the whole rate.
func poisson(s *Setup, id algo.ID, incarnation uint32, k uint64, _ time.Duration) time.Duration {
	mean := float64(s.Nodes) / s.Scenario.Rate // seconds between two arrivals of one process
	return time.Duration(unitGap(s, id, incarnation, k) * mean * float64(time.Second))
}

// unitGap is the k-th gap of a Poisson process of rate 1 at one incarnation of a process.
func unitGap(s *Setup, id algo.ID, incarnation uint32, k uint64) float64 {
	return -math.Log1p(-float64(s.workload(id, incarnation, k)>>11) * 0x1p-53)
}

// lastOfPoisson is the instant and the process of the last arrival: the Requests-th of
// all processes together, of their first incarnations. It follows from the plan alone,
// so that every node knows it.
func lastOfPoisson(s *Setup) (at time.Duration, by algo.ID) {
	var streams Queue[algo.ID]
	made := make([]uint64, s.Nodes+1)
	push := func(p algo.ID, from time.Duration) {
		streams.Push(from+poisson(s, p, 0, made[p], from), Application, p, p)
		made[p]++
	}
	for _, p := range s.Graph.Peers() {
		push(p, 0)
	}
	for range s.Scenario.Requests {
		if at, by = streams.Pop(); at > s.TimeLimit { // later ones will not be made
			break
		}
		push(by, at)
	}
	return at, by
}
