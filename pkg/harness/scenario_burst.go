package harness

import (
	"cmp"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Burst is the name of the scenario in which processes request at the same instant.
const Burst = "burst"

func init() {
	RegisterScenario(ScenarioKind{
		Name: Burst, Doc: "k processes request at the same instant",
		Example: "scenario: {kind: burst, initiators: 2}",
		Problem: algo.MutualExclusion, Keys: []string{"initiators", "hold", "sessions", "session_choice"},
		Never:      []string{"light"},
		Check:      checkInitiators,
		Operations: func(p *Plan) int { return cmp.Or(p.Scenario.Initiators, p.Nodes) }, Takes: inTurn,
		scene: func() scene { return together{} },
	})
}

type together struct{ plain }

func (together) plan(d *Coordinator) []Instruction { return d.atOnce(DoRequest) }

func (together) quiet(d *Coordinator, _ time.Duration, _ uint64, _ bool) { d.finish() }

func (together) released(d *Coordinator, _ time.Duration) {
	k := d.setup.Scenario.Initiators
	if d.setup.Alg.Spec.Perpetual && (d.released == k || k == 0 && d.released == d.setup.Nodes) {
		d.finish()
	}
}
