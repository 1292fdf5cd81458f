package harness

import "github.com/conclave-bench/conclave/pkg/algo"

var coldStart = ScenarioKind{
	Name:    ColdStart,
	Doc:     "k initiators start an election at the same instant; nobody leads before",
	Problem: algo.Election, Keys: []string{"initiators"}, Usual: true,
	Check: checkInitiators, Operations: once, Takes: anElection,
	scene: func() scene { return fromNothing{} },
}

type fromNothing struct{ plain }

func (fromNothing) plan(d *Coordinator) []Instruction { return d.atOnce(DoElect) }
