package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name:    "leader-restart",
		Doc:     "the highest process, down at the start, restarts while the next one leads",
		Example: "scenario: {kind: leader-restart}",
		Problem: algo.Election, Plot: &LeaderRestart{}, Draws: trace.CameBack,
	})
}

// LeaderRestart is the scenario in which the highest process comes back to another leader.
type LeaderRestart struct {
	Calm
	Settle time.Duration // before the restart; 0: LeastSettle
}

// Params declares the fields.
func (c *LeaderRestart) Params() []param.Param { return []param.Param{settle(&c.Settle)} }

func (c *LeaderRestart) Settling() *time.Duration { return &c.Settle }
func (c *LeaderRestart) Cause() []trace.Type      { return []trace.Type{trace.Up} }

func (c *LeaderRestart) Place(p *Plan) {
	p.Crashed, p.Leader = []algo.ID{algo.ID(p.Nodes)}, algo.ID(p.Nodes)-1
}

func (c *LeaderRestart) Check(p *Plan, wrong Wrong) {
	checkLed(p, wrong, "the highest process comes back to another leader", 1)
}

func (c *LeaderRestart) Happens(p *Plan, settled time.Duration) []Event {
	return []Event{{At: settled, Do: DoRestart, Nodes: p.Crashed, Led: true}}
}

func (c *LeaderRestart) Takes(p *Plan, election time.Duration) time.Duration {
	return p.middle() + election
}
