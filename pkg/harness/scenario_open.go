package harness

import (
	"cmp"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name:    "open",
		Doc:     "requests arrive as a Poisson process, for duration or until requests have come",
		Example: "scenario: {kind: open, rate: 50, requests: 20}",
		Problem: algo.MutualExclusion, Plot: &Open{},
		Steady: true,
	})
}

// Open is the scenario in which requests arrive at a rate.
type Open struct {
	Calm
	Duration      time.Duration // no request after it; 0: no bound
	Requests      int           // entries in all; 0: no bound
	Hold          link.Latency
	Sessions      int
	SessionChoice string
	Rate          float64 // requests per second in all
	Warmup        int     // entries that are not measured
}

// Params declares the fields.
func (o *Open) Params() []param.Param {
	return append(append([]param.Param{duration(&o.Duration, ""), requests(&o.Requests, &o.Duration)},
		o.entries().params()...),
		rate("rate", "requests per second", "requests per second, of all processes together", &o.Rate),
		warmup(&o.Warmup))
}

func (o *Open) entries() entries             { return entries{&o.Hold, &o.Sessions, &o.SessionChoice} }
func (o *Open) Lasts() time.Duration         { return o.Duration }
func (o *Open) Total() int                   { return o.Requests }
func (o *Open) Unmeasured() int              { return o.Warmup }
func (o *Open) RateAt(time.Duration) float64 { return o.Rate }
func (o *Open) MeanRate() float64            { return o.Rate }
func (o *Open) scene() scene                 { return loaded{} }

func (o *Open) load() *load {
	l := &load{gap: o.gap, open: true}
	if o.Requests > 0 {
		l.last = o.last
	}
	return l
}

func (o *Open) Check(p *Plan, wrong Wrong) {
	if o.Rate == 0 {
		wrong("scenario.rate", "missing; an open workload needs it, as rate: 50")
	}
	checkLoad(p, wrong)
}

func (o *Open) Together(p *Plan) int { return min(p.Clients(), o.Operations(p)) }

func (o *Open) Operations(*Plan) int {
	return cmp.Or(o.Requests, int(o.Rate*o.Duration.Seconds())+1)
}

func (o *Open) Takes(*Plan, time.Duration) time.Duration {
	if o.Duration > 0 {
		return o.Duration
	}
	return time.Duration(float64(o.Requests) / o.Rate * float64(time.Second))
}

// gap is the time between two arrivals at one process: the k-th in the life of one
// incarnation. So each process has a Poisson stream of its own, and all of them together
// are one of the whole rate.
func (o *Open) gap(s *Setup, id algo.ID, incarnation uint32, k uint64, _ time.Duration) time.Duration {
	mean := float64(s.Clients()) / o.Rate // seconds between two arrivals of one process
	return time.Duration(unitGap(s, id, incarnation, k) * mean * float64(time.Second))
}

// unitGap is the k-th gap of a Poisson process of rate 1 at one incarnation of a process.
func unitGap(s *Setup, id algo.ID, incarnation uint32, k uint64) float64 {
	return -exact.Log1p(-float64(s.workload(id, incarnation, k)>>11) * 0x1p-53)
}

// last is the instant and the process of the last arrival: the Requests-th of
// all processes together, of their first incarnations. It follows from the plan alone,
// so that every node knows it.
func (o *Open) last(s *Setup) (at time.Duration, by algo.ID) {
	var streams Queue[algo.ID]
	made := make([]uint64, s.Clients()+1)
	push := func(p algo.ID, from time.Duration) {
		streams.Push(from+o.gap(s, p, 0, made[p], from), Application, p, p)
		made[p]++
	}
	for _, p := range s.Graph.Peers()[:s.Clients()] {
		push(p, 0)
	}
	for range o.Requests {
		if at, by = streams.Pop(); at > s.TimeLimit { // later ones will not be made
			break
		}
		push(by, at)
	}
	return at, by
}
