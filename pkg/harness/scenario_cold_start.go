package harness

import "github.com/conclave-bench/conclave/pkg/algo"

// ColdStart is the name of the scenario in which nobody leads at the start.
const ColdStart = "cold-start"

func init() {
	RegisterScenario(ScenarioKind{
		Name:    ColdStart,
		Doc:     "k initiators start an election at the same instant; nobody leads before",
		Example: "scenario: {kind: cold-start, initiators: 1}",
		Problem: algo.Election, Keys: []string{"initiators"},
		Usual: func(survived bool) bool { return !survived },
		Check: checkInitiators,
		scene: func() scene { return fromNothing{} },
	})
}

type fromNothing struct{ plain }

func (fromNothing) plan(d *Coordinator) []Instruction { return d.atOnce(DoElect) }
