package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
)

var churn = ScenarioKind{
	Name: Churn, Doc: "processes crash and restart for duration, as the block faults says",
	Problem: algo.Election, Keys: []string{"duration"},
	Lasting: true, Steady: true, Timed: true,
	Never:    []string{"best", "light"}, // they are of one election among processes that stay up
	Duration: 5 * time.Second, Place: leads, Check: checkLed(""), Operations: once,
	Takes: func(p *Plan, _ time.Duration) time.Duration { return p.Scenario.Duration },
	scene: func() scene { return churning{} },
}

type churning struct{ plain }

func (churning) plan(d *Coordinator) []Instruction {
	return []Instruction{{At: d.setup.Scenario.Duration, Do: fault.Finish}}
}

func (churning) quiet(*Coordinator, time.Duration, uint64, bool) {} // it ends at its instant

func (churning) told() bool { return false }
