package algotest_test

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"

	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// The conformance kit runs outside of tests, too.
func ExampleVerify() {
	err := algotest.Verify("mutex/naimi-trehel", algotest.Options{Schedules: 20})
	fmt.Println(err)
	// Output: <nil>
}

// A scenario is simulated, and its outcome looked at.
func ExampleSimulate() {
	plan, err := algotest.Plan("mutex/naimi-trehel", 3,
		harness.Scenario{Plot: &harness.Burst{Initiators: 3}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := algotest.Simulate(plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Verdict.Status, out.Verdict.Totals.Sent, "messages")
	// Output:
	// ok 5 messages
}
