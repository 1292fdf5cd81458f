package harness

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestScenarios: each is declared in full, and an unknown one is refused.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for i := range Scenarios {
		k := &Scenarios[i]
		if k.Name == "" || k.Doc == "" || k.Keys == nil || k.scene == nil || ScenarioOf(k.Name) != k {
			t.Errorf("%s: %+v, want all that is declared of a scenario", k.Name, k)
		}
		if k.load != nil && k.Problem != algo.MutualExclusion || k.Arrivals && k.load == nil {
			t.Errorf("%s: a load of problem %q, with arrivals %v", k.Name, k.Problem, k.Arrivals)
		}
	}
	p := Plan{Algorithm: "election/test-puppet", Nodes: 1, Shape: algo.Shape{Kind: "complete"},
		Scenario: Scenario{Kind: "picnic"}}
	if _, err := p.Setup(); err == nil || err.Error() != `plan: no scenario is called "picnic"` {
		t.Errorf("an unknown scenario: %v", err)
	}
}
