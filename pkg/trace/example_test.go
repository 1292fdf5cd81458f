package trace_test

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"

	_ "github.com/conclave-bench/conclave/plugins/mutex/central"
)

// A sink is handed each record of a trial as it happens.
func ExampleSinkFunc() {
	plan, err := algotest.Plan("mutex/central", 2, harness.Scenario{Plot: &harness.Burst{Initiators: 2}}, nil)
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
	sim.Run(setup, trace.SinkFunc(func(r *trace.Record) {
		switch r.Type {
		case trace.Granted, trace.Released:
			fmt.Printf("%v p%d %v\n", r.At, r.Process, r.Type)
		}
	}))
	// Output:
	// 0s p1 granted
	// 1ms p1 released
	// 2ms p2 granted
	// 3ms p2 released
}
