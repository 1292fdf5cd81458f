package bully_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
)

func TestX(t *testing.T) {
	for n := 3; n <= 8; n++ {
		p, err := algotest.Plan("election/bully", n, harness.Scenario{Kind: "script", Events: []harness.Event{{Do: "suspect", Node: 1}}},
			map[string]any{"t_answer": 2 * time.Millisecond, "t_coordinator": 4 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		p.Leader, p.Crashed = algo.ID(n), []algo.ID{algo.ID(n)}
		o, err := algotest.Simulate(p)
		fmt.Println(n, o.Status, o.Reason, o.Totals, o.Kinds, o.End, o.Operations, err, n*n-n-1)
		p, _ = algotest.Plan("election/bully", n, harness.Scenario{Kind: "leader-crash", Settle: 50 * time.Millisecond}, nil)
		o, err = algotest.Simulate(p)
		fmt.Println(n, o.Status, o.Reason, o.Totals, o.Kinds, o.End, o.Metrics, err)
	}
}
