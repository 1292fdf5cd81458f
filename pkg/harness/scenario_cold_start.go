package harness

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name:    "cold-start",
		Doc:     "k initiators start an election at the same instant; no process leads before",
		Example: "scenario: {kind: cold-start, initiators: 1}",
		Problem: algo.Election, Plot: &ColdStart{},
		Usual: func(survived bool) bool { return !survived },
	})
}

// ColdStart is the scenario in which no process leads at the start.
type ColdStart struct {
	Calm
	Initiators int // 0: all
}

// Params declares the fields.
func (c *ColdStart) Params() []param.Param { return []param.Param{initiators(&c.Initiators)} }

func (c *ColdStart) Begin() int                 { return c.Initiators }
func (c *ColdStart) Check(p *Plan, wrong Wrong) { checkInitiators(p, wrong) }
func (c *ColdStart) scene() scene               { return fromNothing{} }

type fromNothing struct{ plain }

func (fromNothing) plan(d *Coordinator) []Instruction { return d.atOnce(DoElect) }
