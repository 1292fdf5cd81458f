package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var leaderReturn = ScenarioKind{
	Name:    LeaderReturn,
	Doc:     "the highest process, down at the start, restarts while the next one leads",
	Problem: algo.Election, Keys: []string{"settle"}, Draws: trace.CameBack,
	cause:   []trace.Type{trace.Up},
	Place:   func(p *Plan) { p.Crashed, p.Leader = []algo.ID{algo.ID(p.Nodes)}, algo.ID(p.Nodes)-1 },
	Check:   checkLed("the highest process comes back to another leader"),
	Returns: func(*Plan) string { return "scenario " + LeaderReturn }, Operations: once,
	Takes: func(p *Plan, election time.Duration) time.Duration {
		return p.middle() + election
	},
	scene: func() scene { return returning{} },
}

type returning struct{ plain }

func (returning) events(d *Coordinator) []Event {
	return []Event{{At: d.settling(0), Do: DoRestart, Nodes: d.setup.Crashed, Led: true}}
}
