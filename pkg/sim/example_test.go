package sim_test

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// Three processes ask for the critical section at once. The trial is stopped on the way.
func ExampleSimulation() {
	burst := harness.Scenario{Plot: &harness.Burst{Initiators: 3}}
	plan, err := algotest.Plan("mutex/naimi-trehel", 3, burst, nil)
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
	trial := sim.New(setup, judge)
	for trial.Now() < time.Millisecond {
		e, _ := trial.Step()
		fmt.Println(e)
	}
	fmt.Println("pending:")
	for _, e := range trial.Pending() {
		fmt.Println(e)
	}
	for _, p := range setup.Graph.Peers() {
		fmt.Println(p, trial.Process(p).Variables)
	}
	end := trial.Run()
	fmt.Println(end.Reason, "at", end.At, judge.Finish(end).Status)
	// Output:
	// 0s p1: request
	// 0s p2: request
	// 0s p3: request
	// 1ms p1: REQUEST from p2
	// pending:
	// 1ms p1: REQUEST from p3
	// 1ms p1: release
	// 1 [{father 2} {next 2} {tokenPresent true} {requestingCS true}]
	// 2 [{father 0} {next 0} {tokenPresent false} {requestingCS true}]
	// 3 [{father 0} {next 0} {tokenPresent false} {requestingCS true}]
	// finished at 5ms ok
}
