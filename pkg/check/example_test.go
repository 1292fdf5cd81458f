package check_test

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"

	_ "github.com/conclave-bench/conclave/plugins/election/bully"
)

// The judge reads the records of a trial, and says what it is worth.
func ExampleJudge() {
	plan, err := algotest.Plan("election/bully", 5, harness.Scenario{Plot: &harness.ColdStart{Initiators: 1}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	setup, err := plan.Setup()
	if err != nil {
		fmt.Println(err)
		return
	}
	setup.Virtual = true // instants are exact
	judge := check.NewJudge(setup)
	v := judge.Finish(sim.Run(setup, judge))
	fmt.Println(v.Status, v.Totals.Sent, "messages")
	for _, o := range v.Operations {
		fmt.Printf("p%d leads after %v\n", o.Process, o.End)
	}
	// Output:
	// ok 14 messages
	// p5 leads after 2ms
}
