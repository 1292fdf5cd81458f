package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Partition is the name of the scenario in which the network falls apart and heals.
const Partition = "partition"

func init() {
	RegisterScenario(ScenarioKind{
		Name:    Partition,
		Doc:     "the network falls apart after the leader has settled, and heals after duration",
		Example: "scenario: {kind: partition, duration: 300ms}",
		Problem: algo.Election, Keys: []string{"settle", "shape", "duration"},
		Lasting: true, Draws: trace.Parted, Cause: []trace.Type{trace.Heal}, Table: metric.Lasting,
		Measured: func(o trace.Origin) bool { return o.Loss() || o == trace.Mended },
		Events: func(p *Plan, settled time.Duration) []Event {
			e := Event{At: settled, Do: DoCut, Shape: p.Scenario.Shape, For: p.Scenario.Duration}
			e.Led = e.ByLeader()
			return []Event{e}
		},
		Duration: 2 * time.Second, Place: leads, Check: checkLed("the network falls apart"),
		Operations: func(*Plan) int { return 2 },
		Takes: func(p *Plan, election time.Duration) time.Duration {
			s := &p.Scenario
			return p.middle() + s.Duration + p.Detector.Notice() + election
		},
	})
}
