package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Churn is the name of the scenario in which processes crash and restart for a while.
const Churn = "churn"

func init() {
	RegisterScenario(ScenarioKind{
		Name: Churn, Doc: "processes crash and restart for duration, as the block faults says",
		Example: "scenario: {kind: churn, duration: 1s}, faults: {crash_rate: 2, downtime: 50ms}",
		Problem: algo.Election, Keys: []string{"duration"},
		Lasting: true, Steady: true, OfFaults: true, Rank: 1,
		Measured: trace.Origin.Loss, Table: metric.Lasting,
		Ends:     func(s *Scenario) time.Duration { return s.Duration },
		Never:    []string{"best", "light"}, // they are of one election among processes that stay up
		Duration: 5 * time.Second, Place: leads, Check: checkLed(""),
		Takes: func(p *Plan, _ time.Duration) time.Duration { return p.Scenario.Duration },
	})
}
