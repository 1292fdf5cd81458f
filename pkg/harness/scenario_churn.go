package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name: "churn", Doc: "processes crash and restart for duration, as the block faults says",
		Example: "scenario: {kind: churn, duration: 1s}, faults: {crash_rate: 2, downtime: 50ms}",
		Problem: algo.Election, Plot: &Churn{},
		Lasting: true, Steady: true, OfFaults: true, Rank: 1,
		Measured: trace.Origin.Loss, Table: metric.Lasting,
		// They are of one election among processes that stay up.
		Never: []string{"best", "light", "one begins"},
	})
}

// Churn is the scenario in which processes crash and restart for a while.
type Churn struct {
	led
	Duration time.Duration
}

// Params declares the fields.
func (c *Churn) Params() []param.Param { return []param.Param{duration(&c.Duration, "5s")} }

func (c *Churn) Lasts() time.Duration                     { return c.Duration }
func (c *Churn) Ends() time.Duration                      { return c.Duration }
func (c *Churn) Check(p *Plan, wrong Wrong)               { checkLed(p, wrong, "", 1) }
func (c *Churn) Takes(*Plan, time.Duration) time.Duration { return c.Duration }
