package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// LeaderReturn is the name of the scenario in which the highest process comes back to another leader.
const LeaderReturn = "leader-restart"

func init() {
	RegisterScenario(ScenarioKind{
		Name:    LeaderReturn,
		Doc:     "the highest process, down at the start, restarts while the next one leads",
		Example: "scenario: {kind: leader-restart}",
		Problem: algo.Election, Keys: []string{"settle"}, Draws: trace.CameBack,
		Cause: []trace.Type{trace.Up},
		Place: func(p *Plan) { p.Crashed, p.Leader = []algo.ID{algo.ID(p.Nodes)}, algo.ID(p.Nodes)-1 },
		Check: checkLed("the highest process comes back to another leader"),
		Events: func(p *Plan, settled time.Duration) []Event {
			return []Event{{At: settled, Do: DoRestart, Nodes: p.Crashed, Led: true}}
		},
		Takes: func(p *Plan, election time.Duration) time.Duration { return p.middle() + election },
	})
}
