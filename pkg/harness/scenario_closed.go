package harness

import (
	"cmp"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name: "closed", Doc: "every process thinks, requests, holds and releases, repeatedly",
		Example: "scenario: {kind: closed, requests: 20}",
		Problem: algo.MutualExclusion, Plot: &Closed{},
		Usual: always, Omits: true, Steady: true,
	})
}

// Closed is the scenario in which every process requests again after its entry.
type Closed struct {
	Calm
	Duration      time.Duration // no request after it; 0: no bound
	Requests      int           // entries in all; 0: no bound
	Think         link.Latency  // from release to the next request
	Hold          link.Latency
	Sessions      int
	SessionChoice string
	Warmup        int // entries that are not measured
}

// Params declares the fields.
func (c *Closed) Params() []param.Param {
	return append(append([]param.Param{
		duration(&c.Duration, ""), requests(&c.Requests, &c.Duration),
		{Name: "think", Example: "20ms", Title: "time between entries", Default: "10ms",
			Doc: "from release to the next request", At: &c.Think},
	}, c.entries().params()...), warmup(&c.Warmup))
}

func (c *Closed) entries() entries           { return entries{&c.Hold, &c.Sessions, &c.SessionChoice} }
func (c *Closed) Lasts() time.Duration       { return c.Duration }
func (c *Closed) Total() int                 { return c.Requests }
func (c *Closed) Unmeasured() int            { return c.Warmup }
func (c *Closed) Check(p *Plan, wrong Wrong) { checkLoad(p, wrong) }
func (c *Closed) scene() scene               { return loaded{} }
func (c *Closed) load() *load                { return &load{quota: c.quota, gap: c.gap} }

func (c *Closed) Together(p *Plan) int { return min(p.Clients(), c.Operations(p)) }

func (c *Closed) Operations(p *Plan) int {
	return cmp.Or(c.Requests, int(c.Duration/max(p.cycle(c.Think.Average()), time.Microsecond))+1)
}

func (c *Closed) Takes(p *Plan, _ time.Duration) time.Duration {
	if c.Duration > 0 {
		return c.Duration
	}
	return p.count() * p.cycle(c.Think.Average())
}

func (c *Closed) quota(s *Setup, id algo.ID) uint64 {
	if c.Requests == 0 {
		return math.MaxUint64
	}
	quota := uint64(c.Requests / s.Clients())
	if int(id) <= c.Requests%s.Clients() { // in all: the first processes take one more
		quota++
	}
	return quota
}

func (c *Closed) gap(s *Setup, id algo.ID, incarnation uint32, k uint64, _ time.Duration) time.Duration {
	return c.Think.Draw(s.workload(id, incarnation, k))
}
